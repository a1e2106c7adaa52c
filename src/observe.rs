//! Counts of what happened in this process, for whoever exports them.
//!
//! Any layer counts with one line, `observe::count(Family::DeviceCalls, "tap")`, and knows nothing of metrics;
//! the MCP server over HTTP shows the counts at `/metrics`. A label is a text of the program, never of a caller: the
//! table is as large as the code makes it, and no value of a request can end in it.
//!
//! **Invariant:** counting never fails, never waits for anything but a short lock, and is never asked for a decision.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What is counted. Each family has one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Calls of query tools that were answered, by tool.
    Queries,
    /// Calls of query tools that ended in an error, by its code.
    QueryErrors,
    /// Changes of the catalog that this process took over, by what changed.
    Swaps,
    /// Syncs that failed, by the code of the error.
    SyncErrors,
    /// Decisions about device calls: `allow`, `ask`, `deny`.
    PolicyDecisions,
    /// Device calls, by tool.
    DeviceCalls,
    /// Device calls that failed, by the code of the error.
    DeviceErrors,
    /// HTTP requests that were refused before they reached a tool, by the reason.
    HttpRefusals,
}

impl Family {
    /// All families, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Queries,
        Self::QueryErrors,
        Self::Swaps,
        Self::SyncErrors,
        Self::PolicyDecisions,
        Self::DeviceCalls,
        Self::DeviceErrors,
        Self::HttpRefusals,
    ];

    /// Name of the metric, without a unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queries => "repertoire_queries",
            Self::QueryErrors => "repertoire_query_errors",
            Self::Swaps => "repertoire_swaps",
            Self::SyncErrors => "repertoire_sync_errors",
            Self::PolicyDecisions => "repertoire_policy_decisions",
            Self::DeviceCalls => "repertoire_device_calls",
            Self::DeviceErrors => "repertoire_device_errors",
            Self::HttpRefusals => "repertoire_http_refusals",
        }
    }

    /// Name of its label.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Queries | Self::DeviceCalls => "tool",
            Self::QueryErrors | Self::SyncErrors | Self::DeviceErrors => "code",
            Self::Swaps => "what",
            Self::PolicyDecisions => "decision",
            Self::HttpRefusals => "reason",
        }
    }

    /// One line about it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Queries => "Calls of query tools that were answered",
            Self::QueryErrors => "Calls of query tools that ended in an error",
            Self::Swaps => "Changes of the catalog that this process took over",
            Self::SyncErrors => "Syncs that failed",
            Self::PolicyDecisions => "Decisions about device calls",
            Self::DeviceCalls => "Device calls",
            Self::DeviceErrors => "Device calls that failed",
            Self::HttpRefusals => "HTTP requests that were refused before they reached a tool",
        }
    }
}

static COUNTS: Mutex<BTreeMap<(Family, &'static str), u64>> = Mutex::new(BTreeMap::new());

/// Counts one event.
pub fn count(family: Family, label: &'static str) {
    // A panic between two counts leaves the table as whole as it was.
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry((family, label)).or_insert(0);
    *count = count.saturating_add(1);
}

/// The counts of a family, by label.
#[must_use]
pub fn counts(family: Family) -> Vec<(&'static str, u64)> {
    let counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    counts
        .range((family, "")..)
        .take_while(|((of, _), _)| *of == family)
        .map(|((_, label), n)| (*label, *n))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_by_family_and_label() {
        // A family that no other test of this binary counts into.
        count(Family::PolicyDecisions, "test_b");
        count(Family::PolicyDecisions, "test_a");
        count(Family::PolicyDecisions, "test_b");
        let counted: Vec<_> = counts(Family::PolicyDecisions)
            .into_iter()
            .filter(|(label, _)| label.starts_with("test_"))
            .collect();
        assert_eq!(counted, [("test_a", 1), ("test_b", 2)]);
        assert!(counts(Family::DeviceErrors).iter().all(|(label, _)| !label.starts_with("test_")));
    }

    #[test]
    fn names_are_unique_and_fit_prometheus() {
        for (index, family) in Family::ALL.iter().enumerate() {
            assert!(family.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
            assert!(Family::ALL[..index].iter().all(|earlier| earlier.name() != family.name()));
        }
    }
}
