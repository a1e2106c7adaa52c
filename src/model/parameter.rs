//! A parameter of a flow template.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One declared parameter: what `resolve` takes a value for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Parameter {
    /// `[A-Za-z_][A-Za-z0-9_]{0,63}`.
    pub name: String,
    /// JSON type of the value.
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// Whether a value must be given; true unless stated.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub required: bool,
    /// What the value means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Value taken when none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The only values accepted.
    #[serde(default, rename = "enum", skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Value>>,
    /// Regular expression (linear time) that a string must match somewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// Largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Shortest string, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// Longest string, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// The value is never logged, recorded or learned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// Values that would fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
}

impl Parameter {
    /// A required parameter without limits.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: ParameterType) -> Self {
        Self {
            name: name.into(),
            kind,
            required: true,
            description: String::new(),
            default: None,
            choices: None,
            pattern: None,
            minimum: None,
            maximum: None,
            min_length: None,
            max_length: None,
            secret: false,
            examples: Vec::new(),
        }
    }
}

/// JSON type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterType {
    /// Text.
    String,
    /// Whole number.
    Integer,
    /// Any finite number.
    Number,
    /// `true` or `false`.
    Boolean,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_true(value: &bool) -> bool {
    *value
}
