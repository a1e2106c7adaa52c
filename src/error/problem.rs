//! One thing that is wrong with an input: the unit of every rejection.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::shorten;
use crate::error::words::cut;
use crate::limits::FIELD_CHARS_MAX;

/// One broken rule in a skill, a template, a call or a file.
///
/// Inputs are never refused for the first fault alone: a reader collects every `Problem` and reports them together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// Stable machine-readable code, for example `missing_field`.
    pub code: String,
    /// Where: a field name or a JSON pointer (`/steps/2/args_template/text`); empty for the whole input.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// What is wrong and what to do about it: one sentence.
    #[serde(rename = "problem")]
    pub message: String,
    /// What was found, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
    /// What would have been accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the line in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Problem {
    /// A problem with a code, a field (shortened to [`FIELD_CHARS_MAX`] characters) and a message.
    #[must_use]
    pub fn new(code: &str, field: impl Into<String>, message: impl Into<String>) -> Self {
        let mut field = field.into();
        // A pointer into an input is as long as the names in it.
        if let Cow::Owned(short) = cut(&field, FIELD_CHARS_MAX) {
            field = short;
        }
        Self {
            code: code.to_owned(),
            field,
            message: message.into(),
            got: None,
            allowed: None,
            line: None,
            column: None,
        }
    }

    /// Adds what was found, shortened to a few words.
    #[must_use]
    pub fn got(mut self, got: impl fmt::Display) -> Self {
        self.got = Some(shorten(&got.to_string()).into_owned());
        self
    }

    /// Adds what would have been accepted.
    #[must_use]
    pub fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    /// Adds the position in the file, both from 1.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)?;
        if let Some(got) = &self.got {
            write!(f, " (got {got:?}")?;
            match &self.allowed {
                Some(allowed) => write!(f, ", allowed: {allowed})")?,
                None => f.write_str(")")?,
            }
        } else if let Some(allowed) = &self.allowed {
            write!(f, " (allowed: {allowed})")?;
        }
        Ok(())
    }
}
