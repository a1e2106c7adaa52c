//! A skill in a few words: the form of it that list, search and match share.

use repertoire::catalog::{SkillRef, Why};
use repertoire::model::{Kind, Layer, Risk};
use serde::Serialize;

use super::page::Tone;

/// The JSON members of a listed skill.
#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    kind: Kind,
    tags: Vec<&'a str>,
    risk: Risk,
    effective_risk: Risk,
    layer: Layer,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Vec<Why>>,
}

impl<'a> Summary<'a> {
    /// A listed skill.
    pub(crate) fn new(skill: &SkillRef<'a>) -> Self {
        Self {
            id: skill.id(),
            name: skill.name(),
            description: skill.description(),
            kind: skill.kind(),
            tags: skill.tags().collect(),
            risk: skill.risk(),
            effective_risk: skill.effective_risk(),
            layer: skill.layer(),
            score: None,
            why: None,
        }
    }

    /// A found skill, with what it was found by.
    pub(crate) fn found(skill: &SkillRef<'a>, score: f32, why: Vec<Why>) -> Self {
        Self { score: Some(score), why: Some(why), ..Self::new(skill) }
    }
}

/// A kind in a word for people.
pub(crate) fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Knowledge => "knowledge",
        Kind::FlowTemplate => "flow",
    }
}

/// A risk in a word, with its colour.
pub(crate) fn risk_word(risk: Risk) -> (Tone, &'static str) {
    match risk {
        Risk::Low => (Tone::Good, "low"),
        Risk::Medium => (Tone::Plain, "medium"),
        Risk::High => (Tone::Careful, "high"),
    }
}
