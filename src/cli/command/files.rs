//! `inspect` and `verify`: the sections of the snapshot files, and whether every byte is as it was written.

use std::path::{Path, PathBuf};

use clap::Args;
use repertoire::catalog::FileReport;
use serde::Serialize;

use super::status::size;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::input::require_file;
use crate::cli::page::{Page, Tone};
use crate::cli::table::Table;

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// One file of a data directory, or a copy of it; all that the catalog uses unless stated
    file: Option<PathBuf>,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// One file of a data directory, or a copy of it; all that the catalog uses unless stated
    file: Option<PathBuf>,
}

/// The JSON form of both.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    files: &'a [FileReport],
}

impl Inspect {
    /// Shows the sections. Negative if a file cannot be read as a snapshot.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        require(self.file.as_deref())?;
        let files = context.catalog()?.inspect(self.file.as_deref())?;
        show(context, &files, true)
    }
}

impl Verify {
    /// Checks. Negative if there is damage.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        require(self.file.as_deref())?;
        let files = context.catalog()?.verify(self.file.as_deref())?;
        show(context, &files, false)
    }
}

/// Refuses a name that is not that of a file, which is no fault of the data directory.
fn require(file: Option<&Path>) -> Result<(), Failure> {
    file.map_or(Ok(()), require_file)
}

fn show(context: &Context, files: &[FileReport], sections: bool) -> Result<Exit, Failure> {
    context.output.answer(&Answer { files }, |out| {
        for file in files {
            write(out, file, sections);
        }
    })?;
    if files.is_empty() {
        context.output.note("no snapshot file yet");
    }
    Ok(Exit::done_if(files.iter().all(|file| file.ok)))
}

fn write(out: &mut Page, file: &FileReport, sections: bool) {
    let state = if file.ok { (Tone::Good, "ok") } else { (Tone::Bad, "damaged") };
    out.put(Tone::Name, &file.name).put(Tone::Plain, "  ").line(state.0, state.1);
    for problem in &file.problems {
        out.put(Tone::Plain, "  ").line(Tone::Bad, problem);
    }
    if !sections {
        return;
    }
    let mut table = Table::new(&["  SECTION", "OFFSET", "SIZE", "CRC32C", "REQUIRED"]);
    for section in &file.sections {
        table.row([
            (Tone::Plain, &format!("  {}", section.kind)),
            (Tone::Plain, &section.offset.to_string()),
            (Tone::Plain, &size(section.length)),
            (Tone::Faint, &section.crc32c),
            (Tone::Faint, if section.required { "yes" } else { "no" }),
        ]);
    }
    if !table.is_empty() {
        out.table(&table);
    }
}
