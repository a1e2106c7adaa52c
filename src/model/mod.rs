//! The skill model: plain data, its canonical JSON, its rules and its text normalisation.

mod layer;
mod parameter;
mod skill;

pub use layer::{Entry, Layer, Origin};
pub use parameter::{Parameter, ParameterType};
pub use skill::{App, Kind, Resource, Risk, Skill, Status, Step};

// --- interface stubs (owner: model helper; to be moved to files of their own) ---
use crate::error::Problem;
use serde_json::Value;

/// A skill read from JSON, with what was noticed on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The skill.
    pub skill: Skill,
    /// Things accepted with a warning (`unknown_field`, `type_coerced`, ...).
    pub warnings: Vec<Problem>,
}

impl Skill {
    /// Reads the canonical JSON form (leniently: unknown keys and `subscriptions`/`source`/`layer`/`digest` are
    /// kept out with a warning where unknown) and validates it.
    pub fn from_json(value: &Value) -> Result<Reading, Vec<Problem>> {
        let _ = value;
        unimplemented!()
    }
    /// Every rule of the model that this skill breaks; empty if it is sound.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        unimplemented!()
    }
    /// RFC 8785 canonical JSON.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        unimplemented!()
    }
    /// SHA-256 of the canonical JSON.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        unimplemented!()
    }
}

/// Checks the grammar of a skill id.
pub fn check_id(id: &str) -> Result<(), Problem> {
    let _ = id;
    unimplemented!()
}
/// An id made from a written name: NFKC, case fold, runs of other characters to `-`, trimmed.
#[must_use]
pub fn slug(name: &str) -> String {
    let _ = name;
    unimplemented!()
}
/// Text normalisation of lookups: NFKC, full case folding, runs of white space or punctuation to one space, trimmed.
#[must_use]
pub fn normalise(text: &str) -> String {
    let _ = text;
    unimplemented!()
}
