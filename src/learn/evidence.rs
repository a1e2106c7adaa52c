//! What is kept beside a learned skill: the executions that it was made from, without secrets.

use serde::{Deserialize, Serialize};

use crate::learn::run::Run;
use crate::limits::{EVIDENCE_BYTES_MAX, EVIDENCE_RUNS_MAX};

/// The executions of one skill, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    /// How many tasks there were, those whose execution is not kept included.
    pub(crate) tasks: u64,
    /// Time of the first one.
    pub(crate) first_seen: String,
    /// Time of the last one.
    pub(crate) last_seen: String,
    /// Executions were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dropped: bool,
    /// What is kept, each once.
    pub(crate) runs: Vec<Run>,
}

impl Evidence {
    /// Reads what [`Evidence::write`] wrote; `None` for anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The form that is kept; the oldest executions go where it would be too large.
    pub(crate) fn write(&mut self) -> Vec<u8> {
        loop {
            // Plain data with string keys always serialises.
            let bytes = serde_json::to_vec(self).unwrap_or_default();
            if bytes.len() <= EVIDENCE_BYTES_MAX || self.runs.len() <= 1 {
                return bytes;
            }
            let half = self.runs.len().div_ceil(2);
            self.runs.drain(..half.max(1));
            self.dropped = true;
        }
    }

    /// Adds an execution. Answers false if the same one is there already, of which only the number changes.
    pub(crate) fn add(&mut self, run: Run, now: &str) -> bool {
        if self.tasks == 0 {
            now.clone_into(&mut self.first_seen);
        }
        self.tasks += 1;
        now.clone_into(&mut self.last_seen);
        if self.runs.contains(&run) {
            return false;
        }
        self.runs.push(run);
        let over = self.runs.len().saturating_sub(EVIDENCE_RUNS_MAX);
        self.dropped |= over > 0;
        self.runs.drain(..over);
        true
    }
}
