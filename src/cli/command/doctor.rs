//! `device doctor`: everything between this program and a screen that can be tapped.

use repertoire::device::adb::{AdbDriver, Finding, Verdict, examine, find_program};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::Tone;
use crate::cli::table::Table;

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    findings: &'a [Finding],
}

/// Checks, and is negative if something cannot work.
pub(super) fn run(context: &Context, serial: Option<&str>) -> Result<Exit, Failure> {
    let driver = AdbDriver::new(context.adb()?);
    let runtime = super::device::runtime()?;
    let findings = runtime.block_on(examine(&driver, find_program().as_deref(), serial));
    runtime.shutdown_background();
    context.output.answer(&Answer { findings: &findings }, |out| {
        let mut table = Table::new(&["CHECK", "PHONE", "", "FOUND"]);
        for finding in &findings {
            let verdict = match finding.verdict {
                Verdict::Good => (Tone::Good, "good"),
                Verdict::Limited => (Tone::Careful, "limited"),
                Verdict::Bad => (Tone::Bad, "bad"),
            };
            table.row([
                (Tone::Name, finding.check),
                (Tone::Plain, &finding.device),
                verdict,
                (Tone::Plain, &finding.found),
            ]);
        }
        out.table(&table);
        for finding in findings.iter().filter(|finding| !finding.hint.is_empty()) {
            out.line(Tone::Plain, &format!("{}: {}", finding.check, finding.hint));
        }
    })?;
    Ok(Exit::done_if(findings.iter().all(|finding| finding.verdict != Verdict::Bad)))
}
