//! Checked arguments of one call, with the defaults of its schema.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::device::selector::whole;
use crate::tools::{ToolSpec, default_of};

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Args<'a> {
    spec: &'a ToolSpec,
    given: &'a Map<String, Value>,
}

impl<'a> Args<'a> {
    pub(super) fn new(spec: &'a ToolSpec, given: &'a Map<String, Value>) -> Self {
        Self { spec, given }
    }

    /// All that were given.
    pub(super) fn all(self) -> &'a Map<String, Value> {
        self.given
    }

    /// An argument, or its default.
    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        self.given.get(name).or_else(|| default_of(self.spec, name))
    }

    /// Whether the tool has an argument of that name.
    pub(super) fn declares(self, name: &str) -> bool {
        self.spec.argument(name).is_some()
    }

    pub(super) fn text(self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str)
    }

    pub(super) fn flag(self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn number(self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    pub(super) fn count(self, name: &str) -> Option<usize> {
        self.number(name).map(whole)
    }

    /// Milliseconds, where the schema has a default or the caller gave some.
    pub(super) fn ms(self, name: &str, default: u32) -> u32 {
        self.count(name).and_then(|count| u32::try_from(count).ok()).unwrap_or(default)
    }

    pub(super) fn duration(self, name: &str, default_ms: u32) -> Duration {
        Duration::from_millis(u64::from(self.ms(name, default_ms)))
    }
}
