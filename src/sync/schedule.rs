//! When to ask: intervals with jitter, back-off, hints. A plain state machine: it reads no clock and never sleeps.

use crate::limits::{SYNC_BACKOFF_S_MAX, SYNC_RETRY_AFTER_S_MAX, SYNC_WAKE_JITTER_MS_MAX};
use crate::sync::clock::Dice;

/// What to ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The entitlements of every subscription.
    pub entitlements: bool,
    /// The catalog of every subscription.
    pub catalog: bool,
}

/// How a try ended, as far as the next one depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Something failed.
    pub failed: bool,
    /// The platform asks to be left alone so long, in seconds.
    pub retry_after_s: Option<u64>,
    /// The platform refuses (403, 404): asking often does not help.
    pub refused: bool,
}

/// The moments of the next tries.
#[derive(Clone, Debug)]
pub struct Schedule {
    interval_ms: u64,
    entitlements_interval_ms: u64,
    catalog_at_ms: u64,
    entitlements_at_ms: u64,
    /// Nothing is asked before.
    quiet_until_ms: u64,
    failures: u32,
    dice: Dice,
}

impl Schedule {
    /// A schedule that begins now: at once with nothing to show, else somewhere within the first interval, so that many
    /// deployments that start together do not ask together.
    #[must_use]
    pub fn new(
        interval_s: u64,
        entitlements_interval_s: u64,
        is_empty: bool,
        now_ms: u64,
        mut dice: Dice,
    ) -> Self {
        let (catalog_ms, entitlements_ms) = (interval_s * 1_000, entitlements_interval_s * 1_000);
        let mut first = |interval_ms| if is_empty { now_ms } else { now_ms + dice.between(0, interval_ms) };
        Self {
            catalog_at_ms: first(catalog_ms),
            entitlements_at_ms: first(entitlements_ms),
            interval_ms: catalog_ms,
            entitlements_interval_ms: entitlements_ms,
            quiet_until_ms: 0,
            failures: 0,
            dice,
        }
    }

    /// When the next try is due.
    #[must_use]
    pub fn next_ms(&self) -> u64 {
        self.catalog_at_ms.min(self.entitlements_at_ms).max(self.quiet_until_ms)
    }

    /// What is due now.
    #[must_use]
    pub fn due(&self, now_ms: u64) -> Due {
        if now_ms < self.quiet_until_ms {
            return Due::default();
        }
        Due { entitlements: now_ms >= self.entitlements_at_ms, catalog: now_ms >= self.catalog_at_ms }
    }

    /// A hint came: everything is due soon. It does not shorten what the platform asked for.
    pub fn wake(&mut self, now_ms: u64) {
        let soon = now_ms + self.dice.between(0, SYNC_WAKE_JITTER_MS_MAX);
        self.catalog_at_ms = self.catalog_at_ms.min(soon);
        self.entitlements_at_ms = self.entitlements_at_ms.min(soon);
    }

    /// A try of what was due ended.
    pub fn ended(&mut self, tried: Due, ended: Ended, now_ms: u64) {
        if !ended.failed {
            self.failures = 0;
        }
        if tried.catalog {
            self.catalog_at_ms = now_ms + self.jitter(self.interval_ms);
        }
        if tried.entitlements {
            self.entitlements_at_ms = now_ms + self.jitter(self.entitlements_interval_ms);
        }
        if !ended.failed {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        let cap_ms = SYNC_BACKOFF_S_MAX * 1_000;
        let pause_ms = if let Some(asked_s) = ended.retry_after_s {
            let asked_ms = asked_s.min(SYNC_RETRY_AFTER_S_MAX) * 1_000;
            asked_ms + self.dice.between(0, asked_ms / 10 + 1_000)
        } else if ended.refused {
            self.jitter(cap_ms)
        } else {
            // Full jitter: anything up to a bound that doubles.
            let bound_ms = 1_000_u64.saturating_mul(1 << self.failures.min(20));
            self.dice.between(0, bound_ms.min(cap_ms))
        };
        self.quiet_until_ms = now_ms + pause_ms;
        if tried.catalog {
            self.catalog_at_ms = self.quiet_until_ms;
        }
        if tried.entitlements {
            self.entitlements_at_ms = self.quiet_until_ms;
        }
    }

    /// Four to six fifths of an interval.
    fn jitter(&mut self, interval_ms: u64) -> u64 {
        self.dice.between(interval_ms / 5 * 4, interval_ms / 5 * 6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Due = Due { entitlements: true, catalog: true };

    #[test]
    fn p13_a_thousand_clients_that_start_together_spread_their_requests() {
        let base_s = 60;
        let mut clients: Vec<Schedule> =
            (0..1_000).map(|seed| Schedule::new(base_s, 1 << 40, false, 0, Dice::new(seed))).collect();
        let mut per_window = vec![0_u64; 100];
        for client in &mut clients {
            while client.next_ms() < 1_000_000 {
                let now = client.next_ms();
                per_window[usize::try_from(now / 10_000).unwrap()] += 1;
                client.ended(Due { entitlements: false, catalog: true }, Ended::default(), now);
            }
        }
        // Behind the first window of one interval, each ten seconds hold at most one and a half times their share.
        let share = 1_000 * 10 / base_s;
        let most = per_window.iter().skip(6).max().unwrap();
        assert!(*most <= share * 3 / 2, "{most} requests, the share is {share}");
    }

    #[test]
    fn failures_back_off_up_to_a_bound_and_success_ends_it() {
        for seed in 0..50 {
            let mut schedule = Schedule::new(60, 15, true, 0, Dice::new(seed));
            let mut now = 0;
            for count in 1..30_u32 {
                schedule.ended(BOTH, Ended { failed: true, ..Ended::default() }, now);
                let pause = schedule.next_ms() - now;
                assert!(pause <= 1_000 << count.min(20) && pause <= 300_000, "{pause} after {count}");
                now = schedule.next_ms();
                assert_eq!(schedule.due(now), BOTH);
            }
            schedule.ended(BOTH, Ended::default(), now);
            let pause = schedule.next_ms() - now;
            assert!((12_000..=18_000).contains(&pause), "{pause}");
        }
    }

    #[test]
    fn what_the_platform_asks_for_is_obeyed_up_to_an_hour_whatever_hints_come() {
        for (asked, obeyed) in [(10, 10), (3_600, 3_600), (1 << 60, 3_600)] {
            let mut schedule = Schedule::new(60, 15, true, 0, Dice::new(asked));
            schedule.ended(BOTH, Ended { failed: true, retry_after_s: Some(asked), refused: false }, 0);
            schedule.wake(0);
            assert!(schedule.next_ms() >= obeyed * 1_000);
            assert!(schedule.next_ms() <= obeyed * 1_100 + 1_000);
        }
    }

    #[test]
    fn hints_make_everything_due_within_moments() {
        let mut schedule = Schedule::new(60, 15, false, 0, Dice::new(3));
        schedule.ended(BOTH, Ended::default(), 0);
        for _ in 0..100 {
            schedule.wake(5);
        }
        assert_eq!(schedule.due(5 + SYNC_WAKE_JITTER_MS_MAX), BOTH);
    }
}
