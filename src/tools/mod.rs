//! The tool registry: which tools exist on this deployment, what they take, what they can do.

// --- interface stubs (owner: tools helper; to be moved to files of their own: spec, registry, table, schema, listing) ---
use crate::error::Problem;
use crate::model::Risk;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a tool does to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Only looks.
    Observe,
    /// Only waits.
    Wait,
    /// Changes something.
    Mutate,
}

/// One tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Canonical name.
    pub name: String,
    /// Other names, each possibly with fixed arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<ToolAlias>,
    /// One sentence for a model.
    pub summary: String,
    /// JSON Schema (draft 2020-12, `type: object`) of the arguments.
    pub parameters: Value,
    /// Other accepted names of arguments: alias to canonical.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub argument_aliases: Map<String, Value>,
    /// What it does.
    pub effect: Effect,
    /// How much harm it can do.
    pub risk: Risk,
}

/// Another name of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolAlias {
    /// The name.
    pub name: String,
    /// Arguments that the name implies.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fixed: Map<String, Value>,
}

/// A name resolved to its tool.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// Arguments that the name implies.
    pub fixed: &'a Map<String, Value>,
}

/// The tools of a deployment. Cheap to share behind an `Arc`.
#[derive(Debug)]
pub struct ToolRegistry {}

impl ToolRegistry {
    /// The built-in table.
    #[must_use]
    pub fn builtin() -> Arc<Self> {
        unimplemented!()
    }
    /// The built-in table extended by a JSON file's text: `{"tools":[ToolSpec]}`, an array of ToolSpec, or the
    /// result of an MCP `tools/list` (whole response, `result` object or bare).
    pub fn with_json(&self, text: &str) -> Result<Arc<Self>, Vec<Problem>> {
        let _ = text;
        unimplemented!()
    }
    /// The tool of that name or alias.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Resolved<'_>> {
        let _ = name;
        unimplemented!()
    }
    /// All tools in table order.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        [].iter()
    }
    /// SHA-256 over everything that validation depends on; equal registries have equal fingerprints.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        unimplemented!()
    }
    /// The nearest known name, for an error message.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let _ = name;
        unimplemented!()
    }
}

/// Checks a complete value against a JSON Schema (the subset in `docs/tools.md`); `pointer` prefixes the fields.
#[must_use]
pub fn check_value(schema: &Value, value: &Value, pointer: &str) -> Vec<Problem> {
    let _ = (schema, value, pointer);
    unimplemented!()
}
