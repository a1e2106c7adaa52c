//! Maestro flows: a YAML document of configuration and one of commands become a flow template.
//!
//! `reader` walks the commands in order and runs `runFlow` in place; `assemble` makes the skill of what it collected;
//! `convert` says what one command is as a tool call; `words` reads `${NAME}` and tells patterns from plain text;
//! `fields` takes the values of a command apart.
//!
//! Nothing is dropped in silence. A command without a counterpart stays as a step under its own name, so that the
//! skill is unavailable, names it, and becomes available when the deployment has such a tool. What is no straight line
//! of steps (conditions, loops, scripts, expressions) is refused with its line. What only observes is left out with a
//! warning.

mod assemble;
mod config;
mod convert;
mod fields;
mod reader;
mod words;

use std::sync::Arc;

use crate::error::Problem;
use crate::import::maestro::config::{CONFIG_KEYS, Config};
use crate::import::maestro::convert::is_known;
use crate::import::maestro::reader::Reader;
use crate::import::report::{FileContext, FileReport, Format, SkillReport};
use crate::import::text::{Position, prepare};
use crate::import::tree::{Node, Refusal, Value, parse_documents};
use crate::tools::ToolRegistry;

/// Gives a flow that another one runs, by its path below the root with `/`; the problem says why there is none.
pub type FlowFile<'a> = &'a dyn Fn(&str) -> Result<Arc<[u8]>, Box<Problem>>;

/// Reads a Maestro flow; `load` gives the flows that it runs.
///
/// A skill whose commands have no counterpart is kept as unavailable; one that is no straight line of steps, or runs a
/// flow that cannot be had, is refused with the line. Cost: linear in the file and in the flows it runs, at most
/// [`FLOW_INLINES_MAX`](crate::limits::FLOW_INLINES_MAX) of them.
pub fn read_maestro(file: &FileContext<'_>, load: FlowFile<'_>, registry: &ToolRegistry) -> FileReport {
    let skill = match Document::read(file.bytes) {
        Err(problem) => SkillReport::refused(None, vec![*problem]),
        Ok(document) => Reader::new(file.path, load, registry).skill(&document, file),
    };
    FileReport::new(file.path, Some(Format::MaestroFlow), vec![skill])
}

/// A file taken apart.
struct Document {
    /// The comment that the file begins with, on one line.
    comment: String,
    config: Config,
    /// The list of commands.
    commands: Vec<Node>,
    /// Where the list begins.
    position: Position,
}

impl Document {
    fn read(bytes: &[u8]) -> Result<Self, Box<Problem>> {
        let prepared = prepare(bytes)?;
        let mut documents = parse_documents(&prepared.text).map_err(|refusal| match refusal {
            Refusal::Invalid(problem) | Refusal::Final(problem) => problem,
        })?;
        if let Some(extra) = documents.get(2).and_then(Option::as_ref) {
            let message =
                "a flow has two YAML documents, and a third one begins here; make it a file of its own";
            return Err(Box::new(extra.position.mark(Problem::new("invalid_flow", "", message))));
        }
        let second = documents.get_mut(1).and_then(Option::take);
        let first = documents.get_mut(0).and_then(Option::take);
        let commands = match second {
            Some(Node { value: Value::Sequence(items), position, .. }) if !items.is_empty() => {
                (items, position)
            }
            other => {
                let message = "a flow is a configuration (`appId: ...`), a line `---`, and a list of commands; the list \
                               is missing";
                let place = other.map_or(Position::START, |node| node.position);
                return Err(Box::new(place.mark(Problem::new("invalid_flow", "", message))));
            }
        };
        let config = Config::read(first)?;
        let comment = leading_comment(&prepared.text);
        Ok(Self { comment, config, commands: commands.0, position: commands.1 })
    }
}

/// The comment lines that a file begins with, joined.
fn leading_comment(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.trim().is_empty());
    let lines = lines.map_while(|line| line.trim_start().strip_prefix('#'));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Whether bytes are meant as a Maestro flow, before they are parsed: a configuration with `appId` (or nothing but other
/// keys of one and a known command), a line `---`, a list.
pub(crate) fn is_maestro_text(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut lines = text.trim_start_matches('\u{FEFF}').lines().map(str::trim_end);
    let mut keys = Vec::new();
    for line in lines.by_ref() {
        if line == "---" && !keys.is_empty() {
            break;
        }
        if !line.starts_with([' ', '\t', '#', '-', '.', '}', ']', '%']) && !line.is_empty() {
            let Some((key, _)) = line.split_once(':') else { return false };
            keys.push(key.trim_matches(['"', '\'']));
        }
    }
    let Some(first) = lines.find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    else {
        return false;
    };
    let Some(command) = first.trim_start().strip_prefix('-') else { return false };
    let command = command.trim().split(':').next().unwrap_or_default().trim_matches(['"', '\'']);
    keys.contains(&"appId") || (keys.iter().all(|key| CONFIG_KEYS.contains(key)) && is_known(command))
}

#[cfg(test)]
mod tests;
