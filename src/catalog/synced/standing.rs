//! How the sync stands, in one word and in the report.

use crate::catalog::Catalog;
use crate::catalog::report::{RejectedItem, SubscriptionSync, SyncStatus};
use crate::catalog::state::State;
use crate::catalog::synced::{Journal, Moment};
use crate::entitlement::Standing;
use crate::error::{Result, shorten};

impl State {
    /// One word for how the catalog stands. `SUSPENDED`: nothing synced may be shown, or the platform says so of every
    /// subscription. `EXPIRED`: no subscription is in force any more, one at least because its time is over. `EMPTY`:
    /// nothing was ever put in. `STALE`: the last check failed or is overdue. Else `READY`.
    pub(crate) fn sync_state(&self) -> &'static str {
        let platform = &self.statements.platform;
        let stands = |standing| platform.values().any(|document| document.status == standing);
        let in_force = platform.keys().any(|name| self.statements.is_active(name));
        if self.suspended {
            "SUSPENDED"
        } else if !in_force && (stands(Standing::Expired) || !self.statements.lapsed.is_empty()) {
            "EXPIRED"
        } else if !in_force && stands(Standing::Suspended) {
            "SUSPENDED"
        } else if self.is_empty() {
            "EMPTY"
        } else if self.is_stale() {
            "STALE"
        } else {
            "READY"
        }
    }

    fn is_stale(&self) -> bool {
        let notes = self.aging.notes();
        if notes.is_empty() {
            return false;
        }
        let Some(now) = self.aging.now() else { return false };
        notes.keys().any(|name| self.aging.is_stale_at(&now, name, &|name| self.checked(name)))
    }

    /// The last check of a subscription that the manifest knows of.
    pub(crate) fn checked(&self, subscription: &str) -> Option<&Moment> {
        self.base.sync.get(subscription).and_then(|trust| trust.checked.as_ref())
    }

    /// Whether what is lapsed now is another set than when this state was made.
    pub(crate) fn has_aged(&self) -> bool {
        self.aging.lapsed(&self.statements, &|name| self.checked(name)) != self.statements.lapsed
    }
}

impl Catalog {
    /// Reads what other processes noted, and looks whether a subscription's time is up. To be called about once a second.
    pub(crate) fn tick_sync(&self) {
        self.inner.aging.refresh();
        if self.opened().is_some_and(|state| state.has_aged()) {
            self.inner.dir.nudge();
        }
    }

    /// The report of the sync.
    pub(crate) fn sync_status(&self, state: &State) -> Result<SyncStatus> {
        self.inner.aging.refresh();
        let base = self.sync_base(None)?;
        let mut status = SyncStatus {
            state: state.sync_state().to_owned(),
            held: state.base.sync_held,
            ..SyncStatus::default()
        };
        let notes = self.inner.aging.notes();
        let mut names: Vec<&String> = notes.keys().chain(state.base.sync.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let now = self.inner.aging.now();
        for name in names {
            let age =
                now.as_ref().and_then(|now| self.inner.aging.age_at(now, name, &|name| state.checked(name)));
            let head = base.journal.shelves.get(name).map(|shelf| &shelf.head);
            status.subscriptions.push(SubscriptionSync {
                id: name.clone(),
                seq: head.map(|head| head.seq),
                ent_seq: state.statements.platform.get(name).map(|document| document.ent_seq),
                age_s: age.map(|age| age.s),
                age_at_least: age.is_some_and(|age| age.at_least),
                last_error: notes.get(name).and_then(|note| note.error.clone()),
                waits_for_second: notes.get(name).is_some_and(|note| note.held.is_some()),
            });
        }
        let all = &status.subscriptions;
        status.seq = all.iter().filter_map(|one| one.seq).max();
        status.ent_seq = all.iter().filter_map(|one| one.ent_seq).max();
        status.age_s = all.iter().filter_map(|one| one.age_s).max();
        status.age_at_least = all.iter().any(|one| one.age_at_least);
        status.last_error = all.iter().find_map(|one| one.last_error.clone());
        status.rejected = rejected(&base.journal);
        Ok(status)
    }
}

/// Every item that was rejected, with reasons.
pub(crate) fn rejected(journal: &Journal) -> Vec<RejectedItem> {
    let mut all = Vec::new();
    for (subscription, shelf) in &journal.shelves {
        for (id, problems) in &shelf.head.rejected {
            let item = shelf.items.get(id);
            all.push(RejectedItem {
                subscription: subscription.clone(),
                id: shorten(id).into_owned(),
                seq: item.map(|item| item.seq),
                kept_previous: item.is_some_and(|item| item.content.is_some()),
                problems: problems.clone(),
            });
        }
    }
    all
}

/// What only the engine asks.
#[cfg(feature = "sync")]
impl Catalog {
    /// This moment, for a check that begins now.
    pub(crate) fn moment(&self) -> Option<Moment> {
        self.inner.aging.now()
    }

    /// Root of a catalog that waits for a second one like it.
    pub(crate) fn waiting_root(&self, subscription: &str) -> Option<crate::model::Digest> {
        self.inner.aging.refresh();
        self.inner.aging.notes().get(subscription).and_then(|note| note.held)
    }

    /// Changes what is noted of a subscription. A disk that takes no notes is told in the log alone: nothing depends on
    /// them but what is said about ages.
    pub(crate) fn note_sync(&self, subscription: &str, change: impl FnOnce(&mut super::Note)) {
        let noted = self.inner.aging.note(|notes| change(notes.entry(subscription.to_owned()).or_default()));
        if let Err(error) = noted {
            tracing::debug!(%error, "the sync cannot be noted");
        }
    }

    /// Notes the end of a try: of a check that succeeded just now, or else how old the last one is by now, so that it is
    /// known over a restart of the machine.
    pub(crate) fn note_check(
        &self,
        subscription: &str,
        checked: bool,
        change: impl FnOnce(&mut super::Note),
    ) {
        if subscription.is_empty() {
            return;
        }
        let now = self.inner.aging.now();
        self.note_sync(subscription, |note| {
            if checked {
                note.checked.clone_from(&now);
            } else if let (Some(last), Some(now)) = (&mut note.checked, now) {
                let age = last.age(&now);
                *last = Moment { age_ms: age.s * 1_000, ..now };
            }
            change(note);
        });
        // What was hidden because nobody could ask shows again.
        self.tick_sync();
    }

    /// Milliseconds since the machine started.
    pub(crate) fn boot_ms(&self) -> u64 {
        self.inner.dir.boot_ms()
    }

    /// Takes the poller's office if it is free.
    pub(crate) fn elect_poller(&self) -> Result<Option<crate::snapshot::Election>> {
        Ok(self.inner.dir.elect()?)
    }

    /// Whether no content ever came from a platform.
    pub(crate) fn was_never_synced(&self) -> bool {
        self.sync_base(None).is_ok_and(|base| base.journal.shelves.is_empty())
    }
}
