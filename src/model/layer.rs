//! Where a skill comes from, and the form in which layers take it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::Skill;

/// One origin of skills, each with its own chain of snapshots. The order is the precedence: the first visible copy
/// of an id wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// From the Subscription Platform.
    Synced,
    /// Imported by the operator.
    Local,
    /// Synthesised here from successful tasks.
    Learned,
    /// The starter set in the binary.
    Bundled,
}

impl Layer {
    /// All layers in precedence order.
    pub const ALL: [Self; 4] = [Self::Synced, Self::Local, Self::Learned, Self::Bundled];

    /// Name as shown and as used in file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Local => "local",
            Self::Learned => "learned",
            Self::Bundled => "bundled",
        }
    }

    /// The `source` that answers show: learned skills say `local-synthesis`.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::Learned => "local-synthesis",
            other => other.name(),
        }
    }

    /// The layer of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// A skill with what surrounds it in a layer: what `update` takes and what sources keep.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The skill.
    pub skill: Skill,
    /// Synced layer: the subscriptions that bring it, sorted. Empty elsewhere.
    pub subscriptions: Vec<String>,
    /// Local layer: the file it was read from.
    pub origin: Option<Origin>,
    /// The file as it was written, where there was one.
    pub source_text: Option<Arc<[u8]>>,
    /// Bytes of `skill.resources`, in the same order.
    pub resources: Vec<Arc<[u8]>>,
}

/// The file that a local skill mirrors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// Real path of the imported root; empty for skills that no mirror touches.
    pub root: String,
    /// Path below the root, with `/`.
    pub path: String,
}

impl Entry {
    /// An entry with nothing around the skill.
    #[must_use]
    pub fn new(skill: Skill) -> Self {
        Self { skill, subscriptions: Vec::new(), origin: None, source_text: None, resources: Vec::new() }
    }
}

impl Origin {
    /// A file below an imported root.
    #[must_use]
    pub fn new(root: impl Into<String>, path: impl Into<String>) -> Self {
        Self { root: root.into(), path: path.into() }
    }
}
