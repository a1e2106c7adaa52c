//! The loop inside a server: elected, scheduled, woken.

use crate::limits::{SYNC_ELECTION_PAUSE_MS, SYNC_SLEEP_MS_MAX};
use crate::sync::Wake;
use crate::sync::clock::Dice;
use crate::sync::engine::{Engine, Round};
use crate::sync::schedule::Schedule;

impl Engine {
    /// Polls until it is dropped. Of all processes on a data directory one polls; the others wait for its end. `told`
    /// hears of every round.
    pub async fn run(&self, wake: &Wake, told: &(dyn Fn(&Round) + Send + Sync)) {
        let _office = loop {
            match self.catalog.elect_poller() {
                Ok(Some(office)) => break office,
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "cannot take the poller's office; trying again"),
            }
            self.clock.sleep(SYNC_ELECTION_PAUSE_MS).await;
        };
        let settings = &self.settings;
        let is_empty = self.catalog.was_never_synced();
        let now_ms = self.clock.now_ms();
        let (interval_s, entitlements_s) = (settings.interval_s, settings.entitlements_interval_s);
        let mut schedule = Schedule::new(interval_s, entitlements_s, is_empty, now_ms, Dice::random());
        loop {
            let now_ms = self.clock.now_ms();
            let due = schedule.due(now_ms);
            if due.catalog || due.entitlements {
                let round = self.round(due, false).await;
                schedule.ended(due, round.ended, self.clock.now_ms());
                told(&round);
                continue;
            }
            // A sleep does not count the time in which the machine slept: look at the clock now and then.
            let pause_ms = schedule.next_ms().saturating_sub(now_ms).clamp(1, SYNC_SLEEP_MS_MAX);
            tokio::select! {
                () = self.clock.sleep(pause_ms) => {}
                () = wake.wait() => schedule.wake(self.clock.now_ms()),
            }
        }
    }
}
