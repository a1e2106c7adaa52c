//! The platform's own timeline.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::limits::SYNC_HISTORY_BYTES_MAX;

/// `{counter}:{random}`: the counter grows each time that the platform is restored, the rest tells two of one counter
/// apart. A platform that names none is at `0:`.
///
/// ```
/// use repertoire::entitlement::History;
///
/// let history: History = "3:9f2c".parse().expect("a history");
/// assert_eq!((history.counter, history.random.as_str()), (3, "9f2c"));
/// assert!(history > History::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct History {
    /// How often the platform was restored.
    pub counter: u64,
    /// Tells two timelines of one counter apart.
    pub random: String,
}

/// A text that names no history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a history; write a whole number, a colon and a short text: 3:9f2c")]
pub struct NotAHistory;

impl FromStr for History {
    type Err = NotAHistory;

    fn from_str(text: &str) -> Result<Self, NotAHistory> {
        if text.len() > SYNC_HISTORY_BYTES_MAX || text.chars().any(char::is_control) {
            return Err(NotAHistory);
        }
        let (counter, random) = text.split_once(':').ok_or(NotAHistory)?;
        if !counter.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotAHistory);
        }
        Ok(Self { counter: counter.parse().map_err(|_| NotAHistory)?, random: random.to_owned() })
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.counter, self.random)
    }
}

impl TryFrom<String> for History {
    type Error = NotAHistory;

    fn try_from(text: String) -> Result<Self, NotAHistory> {
        text.parse()
    }
}

impl From<History> for String {
    fn from(history: History) -> Self {
        history.to_string()
    }
}
