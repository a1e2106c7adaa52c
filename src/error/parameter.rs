//! What is wrong with the values given for a flow template's parameters.

use std::fmt;

use serde::Serialize;
use serde_json::{Number, Value};

use crate::error::shorten;

/// One problem that stops a flow template from being resolved, in the shape that callers are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ParameterProblem {
    /// The parameter; empty where the problem belongs to a step or to the whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parameter: String,
    /// Pointer to the argument of a resolved step (`/steps/2/args/timeout_ms`) that its tool refuses.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// Stable code: `missing`, `wrong_type`, `not_in_enum`, `pattern_mismatch`, `out_of_range`, `too_short`, `too_long`,
    /// `unknown_parameter`, `value_too_large`, `result_too_large`, `damaged_template`, or a code of the tool's schema.
    pub problem: String,
    /// What would have been accepted, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was given, shortened; never told for a secret parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<Value>,
    /// The values that are accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<Value>>,
    /// The pattern that the value must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Smallest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Number>,
    /// Largest number, or size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Number>,
    /// Fewest characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// Most characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// What the parameter means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl ParameterProblem {
    /// A problem with one parameter; a name that is none may be long, and is shortened.
    #[must_use]
    pub fn new(parameter: &str, problem: &str) -> Self {
        Self { parameter: shorten(parameter).into_owned(), problem: problem.to_owned(), ..Self::default() }
    }

    /// Adds what was given: text is cut, arrays and objects are only named.
    #[must_use]
    pub fn got(mut self, value: &Value) -> Self {
        self.got = Some(match value {
            Value::String(text) => Value::String(shorten(text).into_owned()),
            Value::Array(_) => Value::String("an array".to_owned()),
            Value::Object(_) => Value::String("an object".to_owned()),
            other => other.clone(),
        });
        self
    }

    /// Adds what would have been accepted.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }
}

impl fmt::Display for ParameterProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.parameter.is_empty() { &self.field } else { &self.parameter };
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.problem.replace('_', " "))?;
        let mut notes = Vec::new();
        if let Some(got) = &self.got {
            notes.push(format!("got {got}"));
        }
        if let Some(expected) = &self.expected {
            notes.push(format!("expected {expected}"));
        }
        if let Some(allowed) = &self.allowed {
            notes.push(format!(
                "allowed: {}",
                allowed.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
            ));
        }
        if let Some(pattern) = &self.pattern {
            notes.push(format!("pattern {pattern}"));
        }
        let bounds = [
            ("minimum", self.minimum.as_ref().map(Number::to_string)),
            ("maximum", self.maximum.as_ref().map(Number::to_string)),
            ("shortest", self.min_length.map(|length| length.to_string())),
            ("longest", self.max_length.map(|length| length.to_string())),
        ];
        notes.extend(
            bounds.into_iter().filter_map(|(name, bound)| bound.map(|bound| format!("{name} {bound}"))),
        );
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
    }
}
