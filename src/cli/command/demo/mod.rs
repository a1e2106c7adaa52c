//! `demo`: a tour of half a minute through an embedded default, in a folder of its own that is removed afterwards.
//!
//! `tour` is what is shown, `stage` shows and times each step, `samples` are the skills that are imported. Settings and data of the deployment are left alone.

mod samples;
mod stage;
mod tour;

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use self::stage::Stage;
use crate::cli::exit::{Exit, Failure};
use crate::cli::folder::Folder;
use crate::cli::output::Output;
use crate::cli::page::{Page, Tone};

/// Arguments of `demo`: none.
#[derive(Debug, Args)]
pub(crate) struct Demo {}

impl Demo {
    /// Shows the tour.
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let program = std::env::current_exe().map_err(|cause| {
            Failure::new(
                Exit::Negative,
                "file_failed",
                format!("cannot find this program's own file: {cause}"),
                "start it by its path",
            )
        })?;
        let folder = Folder::create("demo")?;
        output.part(|page| {
            page.line(
                Tone::Strong,
                "A tour of Repertoire, in a temporary catalog that leaves nothing behind",
            );
            page.end();
        })?;
        let mut stage = Stage::new(output);
        tour::show(&mut stage, &folder, &program)?;
        folder.remove()?;
        let client = json!({
            "mcpServers": {"repertoire": {"command": program.display().to_string(), "args": ["serve"]}}
        });
        let answer = json!({"steps": stage.steps(), "client": client});
        output.answer(&answer, |page| farewell(page, &program))?;
        Ok(Exit::Done)
    }
}

/// How to go on.
fn farewell(page: &mut Page, program: &Path) {
    page.line(Tone::Strong, "Plug it into an MCP client: put this into the client's configuration");
    page.end();
    let command = Value::from(program.display().to_string());
    page.line(Tone::Plain, r#"    "mcpServers": {"#);
    page.line(Tone::Plain, &format!(r#"      "repertoire": {{ "command": {command}, "args": ["serve"] }}"#));
    page.line(Tone::Plain, "    }");
    page.end();
    page.line(Tone::Strong, "Go on with");
    for (command, about) in [
        ("repertoire list", "the starter skills that are in the binary"),
        ("repertoire import PATH", "your own skills: SKILL.md folders, *.skill.json"),
        ("repertoire match \"REQUEST\"", "which skill should handle a request"),
        ("repertoire status", "what is where"),
        ("repertoire --help", "everything else"),
    ] {
        page.put(Tone::Name, &format!("  {command:<28}")).line(Tone::Faint, about);
    }
}
