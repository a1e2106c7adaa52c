//! One timeline into the learned layer.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::authoring::Authoring;
use crate::catalog::{Amendment, Held};
use crate::error::Result;
use crate::flow::compile;
use crate::learn::{EVIDENCE, Evidence, Refusal, Run, Skeleton, Timeline, anchor, synthesise};
use crate::limits::LEARNED_TWINS_MAX;
use crate::model::{Entry, Layer, Skill};

/// What became of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LearnOutcome {
    /// A new skill.
    Added,
    /// A skill is another one than before: more parameters, or more goals that find it.
    Changed,
    /// The same was seen before; only the count of the evidence grew.
    Unchanged,
    /// Nothing was learned.
    Refused,
}

impl LearnOutcome {
    /// Name as reports show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Refused => "refused",
        }
    }
}

/// What was learned from one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Learnt {
    /// The skill; `None` where nothing was learned.
    pub id: Option<String>,
    /// What became of it.
    pub outcome: LearnOutcome,
    /// Why nothing was learned, or why the skill cannot be used here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The skill's name.
    #[serde(skip)]
    pub name: Option<String>,
    /// How many parameters it has.
    #[serde(skip)]
    pub parameters: usize,
}

impl Learnt {
    fn refused(refusal: &Refusal) -> Self {
        let reason = Some(refusal.to_string());
        Self { id: None, outcome: LearnOutcome::Refused, reason, name: None, parameters: 0 }
    }

    /// The same in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let (id, name) = (self.id.as_deref().unwrap_or_default(), self.name.as_deref().unwrap_or_default());
        let count = crate::error::counted(self.parameters as u64, "parameter");
        match self.outcome {
            LearnOutcome::Added => format!("learned a new skill {id} ({name:?}, {count})"),
            LearnOutcome::Changed => format!("the learned skill {id} changed ({name:?}, {count})"),
            LearnOutcome::Unchanged => format!("the learned skill {id} was confirmed ({name:?}, {count})"),
            LearnOutcome::Refused => {
                format!("nothing was learned: {}", self.reason.as_deref().unwrap_or_default())
            }
        }
    }
}

/// A stored skill that an execution belongs to, or the id of a new one.
struct Home {
    id: String,
    former: Option<(Skill, Evidence)>,
}

impl Authoring {
    /// Learns from a timeline: makes a skill, or generalises the stored one of the same kind. What comes out is durable
    /// when this returns, and seen by every query that begins later.
    ///
    /// A task that did not succeed, or that changed nothing, teaches nothing: the answer says so, and nothing is written.
    ///
    /// Cost: the executions that the skill keeps, a look-up for each skill of the same kind, and one commit.
    ///
    /// # Errors
    /// The learned layer cannot be read or written.
    pub fn learn(&self, timeline: &Timeline) -> Result<Learnt> {
        let registry = self.catalog.registry();
        let run = match Run::of(timeline, registry) {
            Ok(run) => run,
            Err(refusal) => return Ok(Learnt::refused(&refusal)),
        };
        let skeleton = Skeleton::of(&run, registry);
        let mut learnt = Learnt::refused(&Refusal::NothingDone);
        self.catalog.amend(Layer::Learned, &mut |held| {
            let made = self.home(held, &skeleton, &run)?.and_then(|home| self.grow(home, run.clone()));
            let (entry, done) = match made {
                Ok(made) => made,
                Err(refusal) => {
                    learnt = Learnt::refused(&refusal);
                    return Ok(Amendment::default());
                }
            };
            learnt = done;
            let mut amendment = Amendment::default();
            if learnt.outcome == LearnOutcome::Added {
                amendment.removes = self.too_many(held)?;
            }
            amendment.puts.push(entry);
            Ok(amendment)
        })?;
        Ok(learnt)
    }

    /// Where an execution belongs.
    fn home(&self, held: Held<'_>, skeleton: &Skeleton, run: &Run) -> Result<Result<Home, Refusal>> {
        if skeleton.names_app {
            let former = held.get(&skeleton.id)?.map(read);
            return Ok(Ok(Home { id: skeleton.id.clone(), former }));
        }
        let mut free = None;
        let mut best: Option<(usize, u64, Home)> = None;
        for id in skeleton.ids().take(LEARNED_TWINS_MAX) {
            let Some(entry) = held.get(&id)? else {
                // There may be others behind one that was forgotten.
                free = free.or(Some(id));
                continue;
            };
            let (skill, evidence) = read(entry);
            if let Some(shared) = anchor(run, &evidence.runs, self.catalog.registry()) {
                let tasks = evidence.tasks;
                if best.as_ref().is_none_or(|(most, known, _)| (shared, tasks) > (*most, *known)) {
                    best = Some((shared, tasks, Home { id, former: Some((skill, evidence)) }));
                }
            }
        }
        let new = || free.map(|id| Home { id, former: None }).ok_or(Refusal::TooManyAlike);
        Ok(best.map_or_else(new, |(_, _, home)| Ok(home)))
    }

    /// Adds an execution to a skill.
    fn grow(&self, home: Home, run: Run) -> Result<(Entry, Learnt), Refusal> {
        let Home { id, former } = home;
        let registry = self.catalog.registry();
        let (former, mut evidence) =
            former.map_or_else(Default::default, |(skill, evidence)| (Some(skill), evidence));
        evidence.add(run, &(self.now)());
        let skill = synthesise(&id, &mut evidence, former.as_ref(), registry)?;
        let outcome = match &former {
            None => LearnOutcome::Added,
            Some(former) if is_same(former, &skill) => LearnOutcome::Unchanged,
            Some(_) => LearnOutcome::Changed,
        };
        let unavailable = compile(&skill, registry).unavailable;
        let reasons: Vec<String> = unavailable.iter().map(ToString::to_string).collect();
        let reason = (!reasons.is_empty()).then(|| format!("it cannot be used here: {}", reasons.join("; ")));
        let learnt = Learnt {
            id: Some(id),
            outcome,
            reason,
            name: Some(skill.name.clone()),
            parameters: skill.parameters.len(),
        };
        let mut entry = Entry::new(skill);
        entry.source_text = Some(Arc::from(evidence.write()));
        Ok((entry, learnt))
    }

    /// The ids that go so that one more finds room: the least evidence first, then the longest not seen. Looks at all
    /// skills only where there are too many.
    fn too_many(&self, held: Held<'_>) -> Result<BTreeSet<String>> {
        let over = (held.len() + 1).saturating_sub(self.skills_max);
        let mut all: Vec<(u64, String, String)> = Vec::new();
        if over > 0 {
            held.each_metadata(EVIDENCE, &mut |id, evidence| {
                let tasks = evidence.get("tasks").and_then(Value::as_u64).unwrap_or(0);
                let seen = evidence.get("last_seen").and_then(Value::as_str).unwrap_or_default();
                all.push((tasks, seen.to_owned(), id.to_owned()));
            })?;
            all.sort_unstable();
        }
        Ok(all.into_iter().map(|(_, _, id)| id).take(usize::try_from(over).unwrap_or(usize::MAX)).collect())
    }
}

/// A stored skill with its evidence. Where that cannot be read, the skill itself is what is known.
fn read(entry: Entry) -> (Skill, Evidence) {
    let evidence = entry.source_text.as_deref().and_then(Evidence::from_bytes);
    let evidence = evidence.unwrap_or_else(|| {
        let member = |name: &str| entry.skill.metadata.get(EVIDENCE).and_then(|evidence| evidence.get(name));
        let text = |name: &str| member(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Evidence {
            tasks: member("tasks").and_then(Value::as_u64).unwrap_or(0),
            first_seen: text("first_seen"),
            last_seen: text("last_seen"),
            dropped: true,
            runs: Vec::new(),
        }
    });
    (entry.skill, evidence)
}

/// Whether two skills differ in nothing but the count of their evidence.
fn is_same(former: &Skill, skill: &Skill) -> bool {
    let without = |skill: &Skill| {
        let mut skill = skill.clone();
        skill.metadata.remove(EVIDENCE);
        skill.canonical_json()
    };
    without(former) == without(skill)
}
