//! What is written down of each call: the audit record, and what authoring learns from.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::device::ElementSelector;

/// One call of a device tool, secrets masked already.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// Canonical name of the tool.
    pub tool: String,
    /// Its arguments under canonical names; a secret is replaced by a marker.
    pub args: Map<String, Value>,
    /// Whether it did what it says.
    pub ok: bool,
    /// Code of the error, where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How long it took, waiting for its turn and for a person included.
    pub duration_ms: u64,
    /// Package in the foreground when it began; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// What stays the same of the element that was hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<ElementSelector>,
    /// Serial of the phone; empty if the call did not get to one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// Id of the active skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// `allow`, `ask` or `deny`; `refused` where the scope did not let it come to a decision.
    pub decision: String,
    /// The rule behind it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// What a person said, where one was asked: `approved`, `standing`, `declined`, `unanswered`, `nobody`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<&'static str>,
}

/// Whoever wants to know of every call: the timeline, an embedder's own audit.
pub trait CallObserver: Send + Sync {
    /// Called once for each call that named a known tool with well-typed arguments, after it ended. Must not block.
    fn on_call(&self, record: &CallRecord);
}

impl<F: Fn(&CallRecord) + Send + Sync> CallObserver for F {
    fn on_call(&self, record: &CallRecord) {
        self(record);
    }
}
