//! The report of an import, in the shape that `--json` prints.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::{Problem, shorten};
use crate::import::{Excerpt, Outcome, PassedOver, SkillOutcome};
use crate::model::{Kind, Skill};

/// What an import did, or would do.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ImportReport {
    /// One line for each skill of each file, then the removed ones.
    pub skills: Vec<ReportLine>,
    /// JSON files of which it cannot be told whether they were meant as skills; they published none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOverLine>,
    /// How many lines have each outcome.
    pub counts: Counts,
}

/// A file that was passed over.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PassedOverLine {
    /// Real path of its root.
    #[serde(skip)]
    pub root: String,
    /// Path below its root.
    pub path: String,
    /// Why it cannot be told what it is.
    #[serde(flatten)]
    pub problem: Problem,
    /// The lines around its place.
    #[serde(skip)]
    pub excerpts: Vec<Excerpt>,
}

/// One skill.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReportLine {
    /// Real path of its root; empty for a root that cannot be read.
    #[serde(skip)]
    pub root: String,
    /// Path below its root; the path as given for a root that cannot be read.
    pub path: String,
    /// The id it is published under, or asks for.
    pub id: Option<String>,
    /// `added`, `changed`, `unchanged`, `removed` or `rejected`.
    #[serde(serialize_with = "outcome_name")]
    pub outcome: Outcome,
    /// Path of the file that holds the same skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded_into: Option<String>,
    /// Why the skill cannot be used with the tools that there are.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "reasons")]
    pub unavailable: Vec<Problem>,
    /// The same with codes and places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable_problems: Vec<Problem>,
    /// The skill, where the report was asked to be full.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "full_skill")]
    pub skill: Option<Skill>,
    /// What was accepted with a warning.
    #[serde(serialize_with = "notes")]
    pub warnings: Vec<Problem>,
    /// Why it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Rejection>,
    /// The lines around the places of all these; of some places only, where there are many.
    #[serde(skip)]
    pub excerpts: Vec<Excerpt>,
}

/// Why a skill was rejected.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Rejection {
    /// Code of the first problem.
    pub code: String,
    /// Every problem.
    pub problems: Vec<Problem>,
}

/// Lines by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// New skills.
    pub added: usize,
    /// Skills with another content than before.
    pub changed: usize,
    /// Skills as they were.
    pub unchanged: usize,
    /// Skills that left the layer.
    pub removed: usize,
    /// Files or skills that were not taken.
    pub rejected: usize,
}

impl ImportReport {
    /// A report of outcomes, without skills.
    pub(crate) fn new(outcomes: Vec<SkillOutcome>, passed_over: Vec<PassedOver>) -> Self {
        let mut counts = Counts::default();
        let skills = outcomes.into_iter().map(|outcome| {
            *match outcome.outcome {
                Outcome::Added => &mut counts.added,
                Outcome::Changed => &mut counts.changed,
                Outcome::Unchanged => &mut counts.unchanged,
                Outcome::Removed => &mut counts.removed,
                Outcome::Rejected => &mut counts.rejected,
            } += 1;
            ReportLine::from(outcome)
        });
        let skills = skills.collect();
        let passed_over = passed_over.into_iter().map(|file| PassedOverLine {
            root: file.root,
            path: file.path,
            problem: file.problem,
            excerpts: file.excerpts,
        });
        Self { skills, passed_over: passed_over.collect(), counts }
    }
}

impl ReportLine {
    /// Whether the layer holds the skill of this line.
    pub(crate) fn is_published(&self) -> bool {
        matches!(self.outcome, Outcome::Added | Outcome::Changed | Outcome::Unchanged)
    }
}

impl From<SkillOutcome> for ReportLine {
    fn from(outcome: SkillOutcome) -> Self {
        let first = outcome.problems.first().map(|problem| problem.code.clone());
        Self {
            root: outcome.root,
            path: outcome.path,
            // Every published id fits; one that was refused may be as long as its file.
            id: outcome.id.map(|id| shorten(&id).into_owned()),
            outcome: outcome.outcome,
            folded_into: outcome.folded_into,
            unavailable_problems: outcome.unavailable.clone(),
            unavailable: outcome.unavailable,
            skill: None,
            warnings: outcome.warnings,
            error: first.map(|code| Rejection { code, problems: outcome.problems }),
            excerpts: outcome.excerpts,
        }
    }
}

/// A skill as reports show it: the canonical members, and the lists that are empty, which the canonical form leaves out.
///
/// # Errors
/// None in practice: every member of a skill has a JSON form.
pub fn full_json(skill: &Skill) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(skill)?;
    if let Value::Object(members) = &mut value {
        let lists =
            ["tags", "aliases", "examples", "apps", "preapproved_tools", "success_criteria", "resources"];
        let flow = ["parameters", "steps"].into_iter().filter(|_| skill.kind == Kind::FlowTemplate);
        for list in lists.into_iter().chain(flow) {
            members.entry(list).or_insert_with(|| Value::Array(Vec::new()));
        }
        members.entry("version").or_insert_with(|| Value::String(skill.version.clone()));
        members.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if skill.kind == Kind::Knowledge {
            members.entry("content").or_insert_with(|| Value::String(String::new()));
        }
    }
    Ok(value)
}

#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn full_skill<S: Serializer>(skill: &Option<Skill>, serializer: S) -> Result<S::Ok, S::Error> {
    let value = skill.as_ref().map(full_json).transpose().map_err(serde::ser::Error::custom)?;
    value.serialize(serializer)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn outcome_name<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.name())
}

fn reasons<S: Serializer>(problems: &[Problem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(ToString::to_string))
}

/// Warnings call their text `message`.
fn notes<S: Serializer>(problems: &[Problem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(|problem| {
        let mut note: BTreeMap<&str, Value> = BTreeMap::new();
        note.insert("code", problem.code.clone().into());
        note.insert("message", problem.message.clone().into());
        if !problem.field.is_empty() {
            note.insert("field", problem.field.clone().into());
        }
        if let (Some(line), Some(column)) = (problem.line, problem.column) {
            note.insert("line", line.into());
            note.insert("column", column.into());
        }
        note
    }))
}
