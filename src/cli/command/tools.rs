//! `tools`: the tools that skills may use on this deployment.

use clap::Args;
use repertoire::tools::ToolSpec;
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::summary::risk_word;
use crate::cli::table::Table;

/// Arguments of `tools`: none.
#[derive(Debug, Args)]
pub(crate) struct Tools {}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    tools: Vec<&'a ToolSpec>,
}

impl Tools {
    /// Lists.
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let registry = context.registry()?;
        let tools: Vec<&ToolSpec> = registry.specs().collect();
        context.output.answer(&Answer { tools: tools.clone() }, |out| write(out, &tools))?;
        Ok(Exit::Done)
    }
}

fn write(out: &mut Page, tools: &[&ToolSpec]) {
    let mut table = Table::new(&["TOOL", "EFFECT", "RISK", "ALSO", "SUMMARY"]);
    for tool in tools {
        let also: Vec<&str> = tool.aliases.iter().map(|alias| alias.name.as_str()).collect();
        table.row([
            (Tone::Name, &tool.name),
            (Tone::Plain, tool.effect.name()),
            risk_word(tool.risk),
            (Tone::Faint, &also.join(" ")),
            (Tone::Plain, &tool.summary),
        ]);
    }
    out.table(&table);
}
