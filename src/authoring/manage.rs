//! What a person does with learned skills: look, rename, promote, forget, export.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::authoring::Authoring;
use crate::catalog::Amendment;
use crate::error::{Error, Problem, Result};
use crate::import::read_json;
use crate::learn::{EVIDENCE, Evidence, ORIGIN, RENAMED, cut};
use crate::limits::NAME_CHARS_MAX;
use crate::model::{Entry, Layer, Origin, Skill};

/// One learned skill in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearnedLine {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Names of its parameters.
    pub parameters: Vec<String>,
    /// How many steps it has.
    pub steps: usize,
    /// How many tasks it was seen in.
    pub tasks: u64,
    /// When it was seen first.
    pub first_seen: String,
    /// When it was seen last.
    pub last_seen: String,
    /// Some step acts by a position on the screen alone.
    pub device_dependent: bool,
    /// The local layer has a copy, which hides this one.
    pub promoted: bool,
}

/// A learned skill with the executions that it was made from.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LearnedSkill {
    /// The skill.
    pub skill: Skill,
    /// The executions that are kept, without secrets, the oldest first: goal, app, calls.
    pub runs: Vec<Value>,
}

/// What a promotion did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promoted {
    /// It is new in the local layer.
    Added,
    /// It replaced an earlier promotion.
    Changed,
    /// The local layer has it already.
    Unchanged,
}

impl Authoring {
    /// All learned skills, in the order of their ids.
    ///
    /// # Errors
    /// The layers cannot be read.
    pub fn list(&self) -> Result<Vec<LearnedLine>> {
        let entries = self.catalog.entries(Layer::Learned)?;
        let line = |entry: Entry| {
            let promoted = self.catalog.held(Layer::Local, |held| held.get(&entry.skill.id))?;
            Ok(line(entry.skill, promoted.is_some_and(|entry| is_promotion(&entry))))
        };
        entries.into_iter().map(line).collect()
    }

    /// One learned skill with its evidence.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`]; the layer cannot be read.
    pub fn show(&self, id: &str) -> Result<LearnedSkill> {
        let entry = self.entry(id)?;
        let evidence = entry.source_text.as_deref().and_then(Evidence::from_bytes).unwrap_or_default();
        // Plain data with string keys always serialises.
        let runs = evidence.runs.iter().filter_map(|run| serde_json::to_value(run).ok()).collect();
        Ok(LearnedSkill { skill: entry.skill, runs })
    }

    /// All learned skills as canonical skills.
    ///
    /// # Errors
    /// The layer cannot be read.
    pub fn export(&self) -> Result<Vec<Skill>> {
        Ok(self.catalog.entries(Layer::Learned)?.into_iter().map(|entry| entry.skill).collect())
    }

    /// Deletes a learned skill with its evidence. The same task is learned anew when it comes again.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`]; the layer cannot be written.
    pub fn forget(&self, id: &str) -> Result<()> {
        self.entry(id)?;
        let amendment = Amendment { removes: BTreeSet::from([id.to_owned()]), ..Amendment::default() };
        self.catalog.amend(Layer::Learned, &mut |_| Ok(amendment.clone())).map(drop)
    }

    /// Gives a learned skill another name, which it keeps whatever is learned later.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`]; [`Error::InvalidArguments`] for a name that is empty or too long; the layer cannot be
    /// written.
    pub fn rename(&self, id: &str, name: &str) -> Result<()> {
        let clean = cut(name, NAME_CHARS_MAX + 1);
        if clean.is_empty() || clean.chars().count() > NAME_CHARS_MAX {
            let problem =
                Problem::new("invalid_value", "name", "a name has some characters, and not too many")
                    .got(name)
                    .allowed(format!("1 to {NAME_CHARS_MAX} characters"));
            return Err(Error::InvalidArguments { problems: vec![problem] });
        }
        self.catalog
            .amend(Layer::Learned, &mut |held| {
                let mut entry = held.get(id)?.ok_or_else(|| Error::SkillNotFound { id: id.to_owned() })?;
                entry.skill.name.clone_from(&clean);
                entry.skill.metadata.insert(RENAMED.to_owned(), Value::Bool(true));
                let mut amendment = Amendment::default();
                amendment.puts.push(entry);
                Ok(amendment)
            })
            .map(drop)
    }

    /// Copies a learned skill into the local layer, through the import: it stays what it is now, other layers' rules hold
    /// for it, and it says where it came from. No mirror of a folder touches it. The learned one goes on learning behind it.
    ///
    /// # Errors
    /// [`Error::SkillNotFound`]; [`Error::Rejected`] where the local layer has another skill of that id, where the skill
    /// was made with one that this deployment may not see any more, or with every problem that an import finds.
    pub fn promote(&self, id: &str) -> Result<Promoted> {
        let skill = self.entry(id)?.skill;
        self.require_sources(&skill)?;
        let text = skill.canonical_json();
        let rejected = |problems| Error::Rejected { what: format!("skill {id:?}"), problems };
        let mut reports = Vec::new();
        let outcome =
            read_json(&mut text.as_bytes(), self.catalog.registry(), &mut |report| reports.push(report));
        reports.extend(outcome.err().map(|report| *report));
        let missing =
            || vec![Problem::new("json_invalid", "", "the skill was not read back; please report this")];
        let read = reports.into_iter().next().map_or_else(|| Err(missing()), |report| report.result);
        let mut entry = read.map_err(rejected)?;
        entry.source_text = None;
        entry.origin = Some(Origin::new("", ORIGIN));
        let mut promoted = Promoted::Added;
        let committed = self.catalog.amend(Layer::Local, &mut |held| {
            match held.get(id)? {
                None => promoted = Promoted::Added,
                Some(there) if is_promotion(&there) => promoted = Promoted::Changed,
                Some(_) => {
                    let message = "the local layer has another skill of that id; forget one of them";
                    return Err(rejected(vec![Problem::new("duplicate_id", "id", message).got(id)]));
                }
            }
            let mut amendment = Amendment::default();
            amendment.puts.push(entry.clone());
            Ok(amendment)
        })?;
        Ok(if committed.changed { promoted } else { Promoted::Unchanged })
    }

    /// Refuses to bring a skill to the operator's layer whose sources are withdrawn: there it would stay visible.
    fn require_sources(&self, skill: &Skill) -> Result<()> {
        let mut view = self.catalog.view(crate::entitlement::Narrowing::default());
        let pin = view.pin()?;
        let mut problems = Vec::new();
        for source in &skill.derived_from {
            if pin.get(source)?.is_none() {
                let message = "the skill was made with one that this deployment does not see";
                problems.push(Problem::new("source_not_visible", "derived_from", message).got(source));
            }
        }
        let what = format!("skill {:?}", skill.id);
        if problems.is_empty() { Ok(()) } else { Err(Error::Rejected { what, problems }) }
    }

    fn entry(&self, id: &str) -> Result<Entry> {
        let found = self.catalog.held(Layer::Learned, |held| held.get(id))?;
        found.ok_or_else(|| Error::SkillNotFound { id: id.to_owned() })
    }
}

fn is_promotion(entry: &Entry) -> bool {
    entry.origin.as_ref().is_some_and(|origin| origin.root.is_empty() && origin.path == ORIGIN)
}

fn line(skill: Skill, promoted: bool) -> LearnedLine {
    let evidence = skill.metadata.get(EVIDENCE).cloned().unwrap_or_default();
    let text = |name: &str| evidence.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    LearnedLine {
        parameters: skill.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        steps: skill.steps.len(),
        tasks: evidence.get("tasks").and_then(Value::as_u64).unwrap_or(0),
        first_seen: text("first_seen"),
        last_seen: text("last_seen"),
        device_dependent: skill.metadata.get("device_dependent") == Some(&Value::Bool(true)),
        promoted,
        id: skill.id,
        name: skill.name,
    }
}
