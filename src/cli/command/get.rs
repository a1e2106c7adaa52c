//! `get`: one skill, whole.

use std::fmt::Write as _;

use clap::Args;
use repertoire::catalog::SkillRef;
use repertoire::error::counted;
use repertoire::model::{Layer, Parameter, Skill, Status, Step};
use repertoire::{Error, Problem};
use serde::Serialize;

use crate::cli::args::Narrowed;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::summary::{kind_word, risk_word};

/// Arguments of `get`.
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// Id of the skill
    id: String,
    /// Whose skills.
    #[command(flatten)]
    narrowed: Narrowed,
}

/// The JSON form: the canonical members, and the place that this copy comes from.
#[derive(Debug, Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    skill: &'a Skill,
    layer: Layer,
    digest: &'a str,
}

/// The JSON answer.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    skill: Whole<'a>,
}

impl Get {
    /// Shows the skill.
    ///
    /// # Errors
    /// Unknown, hidden and foreign ids all say the same; an unavailable skill says why it is.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let mut view = context.view(self.narrowed.subscriptions())?;
        let pin = view.pin()?;
        let Some(found) = pin.get(&self.id)? else {
            return Err(Error::SkillNotFound { id: self.id.clone() }.into());
        };
        let reasons = found.unavailable();
        if !reasons.is_empty() {
            let reasons = reasons.iter().map(Problem::to_string).collect();
            return Err(Error::SkillUnavailable { id: self.id.clone(), reasons }.into());
        }
        let skill = found.to_skill()?;
        let digest = hexadecimal(found.digest());
        let answer = Answer { skill: Whole { skill: &skill, layer: found.layer(), digest: &digest } };
        context.output.answer(&answer, |out| write(out, &found, &skill, &digest))?;
        Ok(Exit::Done)
    }
}

/// Lower-case hexadecimal digits of some bytes.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn write(out: &mut Page, found: &SkillRef<'_>, skill: &Skill, digest: &str) {
    let (tone, risk) = risk_word(found.effective_risk());
    out.put(Tone::Name, &skill.id).put(Tone::Plain, "  ").line(Tone::Strong, &skill.name);
    out.put(Tone::Faint, &format!("{}, {} layer, ", kind_word(skill.kind), found.layer().name()))
        .put(tone, risk)
        .line(Tone::Faint, " risk");
    if let Status::Deprecated { reason, replaced_by } = &skill.status {
        let instead = replaced_by.as_ref().map(|id| format!("; use {id} instead")).unwrap_or_default();
        out.put(Tone::Careful, "deprecated: ").line(Tone::Plain, &format!("{reason}{instead}"));
    }
    // On one line, so that a description cannot pretend to be the fields below it.
    out.line(Tone::Plain, &skill.description.split_whitespace().collect::<Vec<_>>().join(" "));
    write_fields(out, found, skill);
    out.field("digest", digest);
    for parameter in &skill.parameters {
        write_parameter(out, parameter);
    }
    for (index, step) in skill.steps.iter().enumerate() {
        write_step(out, index + 1, step);
    }
    if !skill.content.is_empty() {
        out.end();
        out.block(&skill.content);
    }
}

fn write_fields(out: &mut Page, found: &SkillRef<'_>, skill: &Skill) {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    out.field("version", &skill.version);
    out.field("tags", &skill.tags.join(", "));
    out.field("aliases", &skill.aliases.join(", "));
    out.field("examples", &skill.examples.join(" | "));
    let apps: Vec<&str> = skill.apps.iter().map(|app| app.package.as_str()).collect();
    out.field("apps", &apps.join(", "));
    match found.effective_tools() {
        Some(tools) if tools.is_empty() => out.field("tools", "none"),
        Some(tools) => out.field("tools", &tools.join(", ")),
        None => {}
    }
    out.field("pre-approved elsewhere", &skill.preapproved_tools.join(" "));
    for criterion in &skill.success_criteria {
        out.field("done when", criterion);
    }
    out.field("locale", &text(&skill.locale));
    out.field("updated", &text(&skill.updated_at));
    out.field("author", &text(&skill.author));
    out.field("license", &text(&skill.license));
    out.field("needs", &text(&skill.compatibility));
    let resources: Vec<String> = skill
        .resources
        .iter()
        .map(|file| format!("{} ({})", file.path, counted(file.bytes, "byte")))
        .collect();
    out.field("resources", &resources.join(", "));
    out.field("derived from", &skill.derived_from.join(", "));
}

fn write_parameter(out: &mut Page, parameter: &Parameter) {
    let mut about = vec![parameter.kind.name().to_owned()];
    if !parameter.required {
        about.push("optional".to_owned());
    }
    if let Some(default) = &parameter.default {
        about.push(format!("default {default}"));
    }
    if let Some(choices) = &parameter.choices {
        let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
        about.push(format!("one of {}", choices.join(", ")));
    }
    if parameter.secret {
        about.push("secret".to_owned());
    }
    out.put(Tone::Faint, "parameter ")
        .put(Tone::Name, &parameter.name)
        .put(Tone::Faint, &format!(" ({})", about.join(", ")))
        .put(Tone::Plain, if parameter.description.is_empty() { "" } else { ": " })
        .line(Tone::Plain, &parameter.description);
}

fn write_step(out: &mut Page, number: usize, step: &Step) {
    let arguments = serde_json::to_string(&step.args_template).unwrap_or_default();
    let optional = if step.optional { "  (optional)" } else { "" };
    out.put(Tone::Faint, &format!("{number:>3}. "))
        .put(Tone::Name, &step.tool)
        .put(Tone::Plain, &format!(" {arguments}"))
        .line(Tone::Faint, optional);
    if let Some(note) = &step.note {
        out.put(Tone::Plain, "     ").line(Tone::Faint, note);
    }
}
