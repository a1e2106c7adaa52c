//! One tool as data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::Risk;
use crate::tools::Constraint;

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

impl Effect {
    /// Name as written in the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Wait => "wait",
            Self::Mutate => "mutate",
        }
    }
}

/// One tool: its names, its arguments, what it does and how much harm it can do.
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
    /// Rules between arguments that a flat schema cannot hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// What it does.
    pub effect: Effect,
    /// How much harm it can do.
    pub risk: Risk,
}

impl ToolSpec {
    /// The schema of one argument by its canonical name; `None` if the tool does not declare it.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.parameters.get("properties")?.get(name)
    }

    /// The canonical name of an argument: itself, or what it is an alias of.
    #[must_use]
    pub fn argument_name<'a>(&'a self, name: &'a str) -> &'a str {
        match self.argument_aliases.get(name) {
            Some(Value::String(canonical)) if self.argument(name).is_none() => canonical,
            _ => name,
        }
    }
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
