//! `learned`: look at learned skills, rename, promote, forget and export them.

use clap::{Args, Subcommand};
use repertoire::authoring::{LearnedLine, LearnedSkill, Promoted};
use repertoire::error::counted;
use repertoire::model::Skill;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::table::Table;

/// Arguments of `learned`.
#[derive(Debug, Args)]
pub(crate) struct Learned {
    /// What to do.
    #[command(subcommand)]
    action: Action,
}

/// What to do with learned skills.
#[derive(Debug, Subcommand)]
enum Action {
    /// List them, with the evidence that there is
    List,
    /// Show one with the executions that it was made from
    Show {
        /// Id of the skill
        id: String,
    },
    /// Copy one into the local layer, where it stays as it is
    Promote {
        /// Id of the skill
        id: String,
    },
    /// Delete one with its evidence
    Forget {
        /// Id of the skill
        id: String,
    },
    /// Give one another name
    Rename {
        /// Id of the skill
        id: String,
        /// The name
        name: String,
    },
    /// Write all of them as canonical skills
    Export,
}

#[derive(Debug, Serialize)]
struct ListAnswer<'a> {
    learned: &'a [LearnedLine],
}

#[derive(Debug, Serialize)]
struct ExportAnswer<'a> {
    skills: &'a [Skill],
}

impl Learned {
    /// What was typed for the action.
    pub(crate) fn action_name(&self) -> &'static str {
        match self.action {
            Action::List => "list",
            Action::Show { .. } => "show",
            Action::Promote { .. } => "promote",
            Action::Forget { .. } => "forget",
            Action::Rename { .. } => "rename",
            Action::Export => "export",
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// Authoring is off; there is no such skill.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let authoring = context.authoring()?;
        let done = |id: &str, outcome: &str, said: String| {
            let answer: Value = json!({"id": id, "outcome": outcome});
            context.output.answer(&answer, |out| out.line(Tone::Good, &said))
        };
        match &self.action {
            Action::List => {
                let lines = authoring.list()?;
                context.output.answer(&ListAnswer { learned: &lines }, |out| list(out, &lines))?;
                if lines.is_empty() {
                    context.output.note("nothing was learned yet");
                }
            }
            Action::Show { id } => {
                let learned = authoring.show(id)?;
                context.output.answer(&learned, |out| show(out, &learned))?;
            }
            Action::Promote { id } => {
                let (outcome, said) = match authoring.promote(id)? {
                    Promoted::Added => ("added", "is a skill of the local layer now"),
                    Promoted::Changed => ("changed", "replaced its earlier promotion"),
                    Promoted::Unchanged => ("unchanged", "is in the local layer already"),
                };
                done(id, outcome, format!("{id} {said}"))?;
            }
            Action::Forget { id } => {
                authoring.forget(id)?;
                done(id, "removed", format!("forgot {id}"))?;
            }
            Action::Rename { id, name } => {
                authoring.rename(id, name)?;
                done(id, "changed", format!("renamed {id}"))?;
            }
            Action::Export => {
                let skills = authoring.export()?;
                context.output.answer(&ExportAnswer { skills: &skills }, |out| {
                    for skill in &skills {
                        out.block(&skill.canonical_json());
                    }
                })?;
            }
        }
        Ok(Exit::Done)
    }
}

fn list(out: &mut Page, lines: &[LearnedLine]) {
    let mut table = Table::new(&["ID", "TASKS", "LAST SEEN", "STEPS", "PARAMETERS", "STATE", "NAME"]);
    for line in lines {
        let state = match (line.promoted, line.device_dependent) {
            (true, _) => (Tone::Good, "promoted"),
            (false, true) => (Tone::Careful, "device dependent"),
            (false, false) => (Tone::Plain, ""),
        };
        table.row([
            (Tone::Name, &line.id),
            (Tone::Plain, &line.tasks.to_string()),
            (Tone::Faint, &line.last_seen),
            (Tone::Plain, &line.steps.to_string()),
            (Tone::Plain, &line.parameters.join(" ")),
            state,
            (Tone::Plain, &line.name),
        ]);
    }
    if !table.is_empty() {
        out.table(&table);
    }
}

fn show(out: &mut Page, learned: &LearnedSkill) {
    let skill = &learned.skill;
    out.put(Tone::Name, &skill.id).put(Tone::Plain, "  ").line(Tone::Strong, &skill.name);
    for parameter in &skill.parameters {
        let kind =
            serde_json::to_value(parameter.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned));
        let secret = if parameter.secret { ", secret" } else { "" };
        out.field(&parameter.name, &format!("{}{secret}", kind.unwrap_or_default()));
    }
    for (number, step) in (1..).zip(&skill.steps) {
        out.put(Tone::Faint, &format!("{number}. ")).put(Tone::Name, &step.tool);
        out.put(Tone::Plain, " ").line(Tone::Plain, &Value::Object(step.args_template.clone()).to_string());
    }
    out.line(Tone::Strong, &counted(learned.runs.len() as u64, "execution"));
    for run in &learned.runs {
        out.line(Tone::Plain, run.get("goal").and_then(Value::as_str).unwrap_or_default());
    }
}
