//! `learn`: flow templates from the records of successful tasks.

use std::path::{Path, PathBuf};

use clap::Args;
use repertoire::authoring::{LearnOutcome, Learnt};
use repertoire::learn::Timeline;
use repertoire::limits::TIMELINE_BYTES_MAX;
use repertoire::model::parse_json;
use repertoire::{Error, Problem};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::input::Purpose;
use crate::cli::page::Tone;

/// Arguments of `learn`.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// Timelines: JSON files of one task each, learned from in this order
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    learned: &'a [Learnt],
}

impl Learn {
    /// Reads all files before anything is learned, then learns from each. Negative if nothing was learned from one.
    ///
    /// # Errors
    /// Authoring is off; a file cannot be read or is no timeline.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        context.require_authoring()?;
        let timelines =
            self.files.iter().map(|path| read(path)).collect::<Result<Vec<Timeline>, Failure>>()?;
        let authoring = context.authoring()?;
        let learned =
            timelines.iter().map(|timeline| authoring.learn(timeline)).collect::<Result<Vec<_>, _>>()?;
        context.output.answer(&Answer { learned: &learned }, |out| {
            for (file, learnt) in self.files.iter().zip(&learned) {
                let tone = match learnt.outcome {
                    LearnOutcome::Refused => Tone::Careful,
                    _ => Tone::Good,
                };
                out.put(Tone::Faint, &format!("{}: ", file.display())).line(tone, &learnt.line());
                if let (Some(reason), true) = (&learnt.reason, learnt.id.is_some()) {
                    out.line(Tone::Careful, reason);
                }
            }
        })?;
        Ok(Exit::done_if(learned.iter().all(|learnt| learnt.outcome != LearnOutcome::Refused)))
    }
}

/// Reads a timeline; what it holds is redacted before anything else looks at it.
fn read(path: &Path) -> Result<Timeline, Failure> {
    let purpose = Purpose { exit: Exit::Usage, what: "the timeline", smaller: "record a shorter task" };
    let text = purpose.read_text(path, TIMELINE_BYTES_MAX)?;
    let rejected = |problems: Vec<Problem>| Error::Rejected {
        what: format!("the timeline {}", path.display()),
        problems,
    };
    let timeline = parse_json(&text).and_then(|value| Timeline::from_json(&value));
    Ok(timeline.map_err(rejected)?)
}
