//! `export`: skills as files that `import` reads back.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use repertoire::error::counted;
use repertoire::intake::{self, ExportFormat, ExportReport};
use repertoire::limits::LIST_LIMIT_MAX;
use repertoire::{Catalog, Entry, Filter, Layer, Narrowing, Pin, SkillRef};

use crate::cli::args::layer_parser;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Folder to write into; made if it is not there. Other files in it are left alone
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Format of the files
    #[arg(long, default_value = "json", value_parser = format_parser())]
    format: ExportFormat,
    /// Only skills of this layer
    #[arg(long, value_parser = layer_parser())]
    layer: Option<Layer>,
}

/// Reads the name of a format.
fn format_parser() -> impl TypedValueParser<Value = ExportFormat> {
    PossibleValuesParser::new(["skills-v2", "agent-skills", "json"])
        .map(|name| ExportFormat::from_name(&name).unwrap_or(ExportFormat::Json))
}

impl Export {
    /// Writes what the deployment may see. Negative if a skill could not be written.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let catalog = context.catalog()?;
        let mut view = catalog.view(Narrowing::default());
        let entries = entries(&catalog, &view.pin()?, self.layer)?;
        let report = intake::export(&entries, self.format, &self.folder, catalog.registry())
            .map_err(|cause| Failure::file(Exit::Usage, "write into", &self.folder, &cause))?;
        context.output.answer(&report, |out| write(out, &report))?;
        let losses = report.skills.iter().filter(|line| !line.lost.is_empty()).count();
        if losses > 0 {
            context.output.warn(&format!(
                "{} written without what the format cannot hold (named beside each){}",
                counted(losses as u64, "skill"),
                match self.format {
                    ExportFormat::Json => "; files beside a skill stay with agent-skills and skills-v2",
                    ExportFormat::AgentSkills | ExportFormat::SkillsV2 => "; json holds every field",
                }
            ));
        }
        Ok(Exit::done_if(report.skills.iter().all(|line| line.problems.is_empty())))
    }
}

/// The visible skills, those that are unavailable here included as far as their layer has a source.
fn entries(catalog: &Catalog, pin: &Pin<'_>, layer: Option<Layer>) -> Result<Vec<Entry>, Failure> {
    let mut filter = Filter::default();
    filter.layer = layer;
    let mut entries = Vec::new();
    let mut cursor = None;
    loop {
        let page = pin.list(&filter, LIST_LIMIT_MAX, cursor.as_deref())?;
        for skill in &page.skills {
            entries.push(entry(skill)?);
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    for sourced in [Layer::Local, Layer::Learned] {
        if layer.is_some_and(|layer| layer != sourced) {
            continue;
        }
        for entry in catalog.entries(sourced)? {
            let seen = pin.get(&entry.skill.id)?;
            if seen.is_some_and(|skill| skill.layer() == sourced && !skill.is_available()) {
                entries.push(entry);
            }
        }
    }
    Ok(entries)
}

/// A skill with what surrounds it.
fn entry(found: &SkillRef<'_>) -> Result<Entry, Failure> {
    let mut entry = Entry::new(found.to_skill()?);
    entry.source_text = found.source_text()?.map(Arc::from);
    for resource in &entry.skill.resources {
        if let Some(bytes) = found.resource(&resource.path)? {
            entry.resources.push(Arc::from(bytes));
        }
    }
    Ok(entry)
}

fn write(out: &mut Page, report: &ExportReport) {
    let mut written = 0;
    for line in &report.skills {
        written += usize::from(line.path.is_some());
        if line.lost.is_empty() && line.problems.is_empty() {
            continue;
        }
        out.put(Tone::Name, &line.id);
        if !line.lost.is_empty() {
            out.put(Tone::Careful, "  lost: ").put(Tone::Plain, &line.lost.join(", "));
        }
        for problem in &line.problems {
            out.put(Tone::Bad, "  not written: ").put(Tone::Plain, &problem.to_string());
        }
        out.end();
    }
    out.line(Tone::Strong, &format!("{written} of {} written", counted(report.skills.len() as u64, "skill")));
}
