//! `match`: the one skill that should handle a request, or none.

use clap::Args;
use repertoire::catalog::MatchAnswer;
use repertoire::tools::ExactCommand;
use serde::Serialize;

use crate::cli::args::Narrowed;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::summary::Summary;

/// Arguments of `match`.
#[derive(Debug, Args)]
pub(crate) struct Match {
    /// What somebody wants done; several words need no quotes
    #[arg(required = true, value_name = "REQUEST")]
    request: Vec<String>,
    /// Whose skills.
    #[command(flatten)]
    narrowed: Narrowed,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    skill: Option<Summary<'a>>,
    confidence: f32,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact_command: Option<&'a ExactCommand>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Summary<'a>>,
}

impl Match {
    /// Asks. Negative if there is neither a skill nor an exact command.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let mut view = context.view(self.narrowed.subscriptions())?;
        let pin = view.pin()?;
        let found = pin.match_request(&self.request.join(" "))?;
        let answer = Answer {
            skill: found.skill.as_ref().map(Summary::new),
            confidence: found.confidence,
            reason: &found.reason,
            exact_command: found.exact_command.as_ref(),
            candidates: found.candidates.iter().map(Summary::new).collect(),
        };
        context.output.answer(&answer, |out| write(out, &found))?;
        if pin.is_empty() {
            context.output.note("no skills yet; add some with `repertoire import PATH`");
        }
        Ok(Exit::done_if(found.skill.is_some() || found.exact_command.is_some()))
    }
}

fn write(out: &mut Page, found: &MatchAnswer<'_>) {
    if let Some(command) = &found.exact_command {
        let arguments = serde_json::to_string(&command.arguments).unwrap_or_default();
        out.put(Tone::Name, &command.tool).put(Tone::Plain, " ").line(Tone::Plain, &arguments);
    }
    if let Some(skill) = &found.skill {
        out.put(Tone::Name, skill.id())
            .put(Tone::Plain, "  ")
            .put(Tone::Strong, skill.name())
            .line(Tone::Faint, &format!("  confidence {:.2}", found.confidence));
    }
    if found.skill.is_none() && found.exact_command.is_none() {
        out.line(Tone::Careful, "no skill");
    }
    out.field("because", &found.reason);
    for skill in &found.candidates {
        out.put(Tone::Faint, "close: ")
            .put(Tone::Name, skill.id())
            .put(Tone::Plain, "  ")
            .line(Tone::Plain, skill.name());
    }
}
