//! What must not go back, by subscription: kept in the manifest, apart from the snapshots, so that it survives their
//! quarantine.

use serde::{Deserialize, Serialize};

use crate::catalog::synced::Moment;
use crate::entitlement::History;

/// The highest counters that were ever taken from a platform for one subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trust {
    /// The platform's timeline.
    #[serde(default)]
    pub(crate) history: History,
    /// Highest counter of the content in it.
    #[serde(default)]
    pub(crate) seq: u64,
    /// Highest counter of the entitlements in it.
    #[serde(default)]
    pub(crate) ent_seq: u64,
    /// The last successful check before the last commit: for when the notes are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checked: Option<Moment>,
}

/// How a document's timeline and counter stand to what is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Same timeline, not older.
    Same,
    /// The platform was restored since: counters begin anew.
    Later,
    /// Older, or another timeline of the same number: a rollback.
    Older,
}

impl Trust {
    /// Compares a timeline.
    pub(crate) fn compare(&self, history: &History) -> Standing {
        match history.counter.cmp(&self.history.counter) {
            std::cmp::Ordering::Greater => Standing::Later,
            std::cmp::Ordering::Equal if *history == self.history => Standing::Same,
            // Nothing was taken yet: any timeline is the first one.
            std::cmp::Ordering::Equal
                if *self == Self { checked: self.checked.clone(), ..Self::default() } =>
            {
                Standing::Later
            }
            _ => Standing::Older,
        }
    }

    /// Moves to a timeline that is not older.
    pub(crate) fn follow(&mut self, history: &History) {
        if self.history != *history {
            (self.seq, self.ent_seq) = (0, 0);
            self.history = history.clone();
        }
    }
}
