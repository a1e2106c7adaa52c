//! When each subscription was checked last, by a clock that never jumps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::RwLock;
use serde::{Deserialize, Serialize};

use crate::entitlement::Statements;
use crate::error::Result;
use crate::limits::SYNC_STALE_INTERVALS;
use crate::model::Digest;
use crate::snapshot::DataDir;

/// A moment, and how old the last successful check was then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// Which start of the machine.
    pub(crate) boot_id: String,
    /// Milliseconds since it.
    pub(crate) boot_ms: u64,
    /// Milliseconds since 1970, by a clock that may be wrong.
    pub(crate) wall_ms: u64,
    /// Age of the check, in milliseconds.
    pub(crate) age_ms: u64,
}

/// How long ago something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Age {
    /// Seconds.
    pub(crate) s: u64,
    /// The machine was started since: it is at least so long ago.
    pub(crate) at_least: bool,
}

impl Moment {
    /// How old a check is that was `age_ms` old at this moment. Within one start of the machine that is exact; after a
    /// restart it is what the clocks still say for sure, where a wall clock that went back says nothing.
    pub(crate) fn age(&self, now: &Self) -> Age {
        let (since_ms, at_least) = if self.boot_id == now.boot_id && !self.boot_id.is_empty() {
            (now.boot_ms.saturating_sub(self.boot_ms), false)
        } else {
            (now.boot_ms.max(now.wall_ms.saturating_sub(self.wall_ms)), true)
        };
        Age { s: self.age_ms.saturating_add(since_ms) / 1_000, at_least }
    }
}

/// What is noted of one subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Note {
    /// The last successful check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checked: Option<Moment>,
    /// Why the last try failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// Seconds between two tries.
    pub(crate) interval_s: u64,
    /// Root of a catalog that was so small that it waits for a second one like it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<Digest>,
}

/// What is noted of all subscriptions, by name.
pub(crate) type Notes = BTreeMap<String, Note>;

/// The notes as this process read them last, with the clock to look at them.
#[derive(Debug, Default)]
pub(crate) struct Aging {
    /// Where they are; nowhere in tests of single states.
    dir: Option<DataDir>,
    notes: RwLock<Arc<Notes>>,
}

impl Aging {
    /// The notes of a directory, not read yet.
    pub(crate) fn new(dir: DataDir) -> Self {
        Self { dir: Some(dir), notes: RwLock::default() }
    }

    /// Reads the notes again; torn ones leave what was known.
    pub(crate) fn refresh(&self) {
        let text = self.dir.as_ref().and_then(DataDir::notes);
        if let Some(read) = text.and_then(|text| serde_json::from_slice::<Notes>(&text).ok()) {
            *self.notes.write() = Arc::new(read);
        }
    }

    /// The notes.
    pub(crate) fn notes(&self) -> Arc<Notes> {
        Arc::clone(&self.notes.read())
    }

    /// Changes the notes, for every process.
    ///
    /// # Errors
    /// The file cannot be written; this process knows them all the same.
    pub(crate) fn note(&self, change: impl FnOnce(&mut Notes)) -> Result<()> {
        self.refresh();
        let mut notes = Notes::clone(&self.notes());
        change(&mut notes);
        let text = serde_json::to_vec(&notes).unwrap_or_default();
        *self.notes.write() = Arc::new(notes);
        match &self.dir {
            Some(dir) => Ok(dir.set_notes(&text)?),
            None => Ok(()),
        }
    }

    /// Now, as the moment of a check.
    pub(crate) fn now(&self) -> Option<Moment> {
        let dir = self.dir.as_ref()?;
        Some(Moment { boot_id: dir.boot_id(), boot_ms: dir.boot_ms(), wall_ms: dir.wall_ms(), age_ms: 0 })
    }

    /// Subscriptions that nobody could check for longer than the platform allows.
    pub(crate) fn lapsed(&self, statements: &Statements, fallback: &Fallback<'_>) -> BTreeSet<String> {
        let denying = statements.platform.iter().filter(|(_, document)| document.denies_on_expiry);
        let mut now = None;
        denying
            .filter_map(|(name, document)| Some((name, document.max_offline_s?)))
            .filter(|(name, max_s)| {
                let Some(now) = now.get_or_insert_with(|| self.now()).as_ref() else { return false };
                // A check that nobody remembers was too long ago.
                self.age_at(now, name, fallback).is_none_or(|age| age.s > *max_s)
            })
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The age of the last check of a subscription; `None` if none is known.
    pub(crate) fn age_at(&self, now: &Moment, subscription: &str, fallback: &Fallback<'_>) -> Option<Age> {
        let notes = self.notes.read();
        let last = notes.get(subscription).and_then(|note| note.checked.as_ref());
        // The younger of both: a commit knows of a check that torn notes have lost.
        let ages = last.into_iter().chain(fallback(subscription)).map(|moment| moment.age(now));
        ages.min_by_key(|age| (age.s, age.at_least))
    }

    /// Whether a subscription's content may be old: the last try failed, or is overdue.
    pub(crate) fn is_stale_at(&self, now: &Moment, subscription: &str, fallback: &Fallback<'_>) -> bool {
        let (failed, interval_s) = match self.notes.read().get(subscription) {
            Some(note) => (note.error.is_some(), note.interval_s),
            None => (false, 0),
        };
        let overdue_s = interval_s.saturating_mul(SYNC_STALE_INTERVALS);
        failed
            || interval_s > 0 && self.age_at(now, subscription, fallback).is_none_or(|age| age.s > overdue_s)
    }
}

/// The moment of the last check that the manifest knows of.
pub(crate) type Fallback<'a> = dyn Fn(&str) -> Option<&'a Moment> + 'a;

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(boot_id: &str, boot_s: u64, wall_s: u64, age_s: u64) -> Moment {
        Moment {
            boot_id: boot_id.to_owned(),
            boot_ms: boot_s * 1_000,
            wall_ms: wall_s * 1_000,
            age_ms: age_s * 1_000,
        }
    }

    #[test]
    fn the_age_ignores_jumps_of_the_wall_clock_within_one_start_of_the_machine() {
        let checked = moment("a", 100, 5_000, 0);
        for wall_s in [0, 5_000, 5_000_000] {
            let age = checked.age(&moment("a", 160, wall_s, 0));
            assert_eq!(age, Age { s: 60, at_least: false }, "{wall_s}");
        }
    }

    #[test]
    fn after_a_restart_the_age_is_a_lower_bound_and_says_so() {
        let noted = moment("a", 100, 5_000, 30);
        for (boot_s, wall_s, expected) in [(20, 5_500, 530), (20, 0, 50), (600, 5_100, 630)] {
            let age = noted.age(&moment("b", boot_s, wall_s, 0));
            assert_eq!(age, Age { s: expected, at_least: true }, "{boot_s} {wall_s}");
        }
    }
}
