//! `lint`: what is wrong with skills that can be imported, of files or of this catalog.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use repertoire::catalog::{BundledMode, Catalog, Look, Options};
use repertoire::flow::compile;
use repertoire::intake::{self, ImportOptions, ImportReport};
use repertoire::limits::{LIST_LIMIT_MAX, SKILL_FILE_BYTES_MAX};
use repertoire::lint::{Finding, Severity, Subject, lint, sarif};
use repertoire::{Entry, Filter, Layer, Narrowing, Problem, Skill};
use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::folder::Folder;
use crate::cli::page::{Page, Tone};
use crate::cli::progress;
use crate::cli::roots::Roots;

/// Arguments of `lint`.
#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Files and folders, as for `import`; without any, the skills of this catalog
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to show what was found: text, json, sarif
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    format: Option<Format>,
    /// The same as --format sarif
    #[arg(long, conflicts_with = "format")]
    sarif: bool,
}

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines in the manner of a compiler.
    Text,
    /// One JSON object.
    Json,
    /// A SARIF 2.1.0 log.
    Sarif,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    findings: &'a [Finding],
    counts: Counts,
}

/// Findings by severity.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    error: usize,
    warning: usize,
    note: usize,
}

impl Lint {
    /// Looks. Negative if there is a finding that is an error.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let findings = if self.paths.is_empty() { of_catalog(context)? } else { self.of_paths(context)? };
        let mut counts = Counts::default();
        for finding in &findings {
            *match finding.severity {
                Severity::Note => &mut counts.note,
                Severity::Warning => &mut counts.warning,
                Severity::Error => &mut counts.error,
            } += 1;
        }
        let format = match self.format {
            Some(format) => format,
            None if self.sarif => Format::Sarif,
            None if context.output.is_json() => Format::Json,
            None => Format::Text,
        };
        match format {
            Format::Text => context.output.page(|out| write(out, &findings, counts))?,
            Format::Json => context.output.json(&Answer { findings: &findings, counts })?,
            Format::Sarif => context.output.json(&sarif(&findings))?,
        }
        Ok(Exit::done_if(counts.error == 0))
    }

    /// Puts the files into a temporary catalog, so that they can be matched against each other, and looks at that.
    fn of_paths(&self, context: &Context) -> Result<Vec<Finding>, Failure> {
        let folder = Folder::create("lint")?;
        let options =
            Options::default().registry(context.registry()?).bundled(BundledMode::Never).keep_generations(1);
        let catalog = Catalog::open_with(folder.path().join("data"), options)?;
        let mut findings = Vec::new();
        let roots = Roots::of(&self.paths);
        let bar = progress::files(&context.output, "reading");
        for path in &self.paths {
            let one = [path.clone()];
            let report = intake::import_paths(&catalog, &one, &ImportOptions::default(), &|progress| {
                bar.set_length(progress.total as u64);
                bar.set_position(progress.done as u64);
            })?;
            findings.extend(of_report(&roots, &report));
        }
        bar.finish_and_clear();
        let entries = catalog.entries(Layer::Local)?;
        let texts = json_texts(&entries);
        let subjects: Vec<Subject<'_>> = entries.iter().map(|entry| subject(entry, &roots, &texts)).collect();
        let mut view = catalog.view(Narrowing::default());
        let pin = view.pin()?;
        findings.extend(lint(&subjects, Some(pin.look()), catalog.registry())?);
        drop(catalog);
        folder.remove()?;
        Ok(findings)
    }
}

/// What the import itself refuses, and what cannot be used here.
fn of_report(roots: &Roots, report: &ImportReport) -> Vec<Finding> {
    let mut findings = Vec::new();
    for line in &report.skills {
        let path = roots.shown(&line.root, &line.path);
        let id = line.id.as_deref();
        for problem in line.error.iter().flat_map(|error| &error.problems) {
            findings.push(Finding::rejected(path.clone(), id, problem).with_excerpts(&line.excerpts));
        }
        for problem in &line.unavailable_problems {
            findings.push(Finding::unavailable(path.clone(), id, problem).with_excerpts(&line.excerpts));
        }
    }
    findings
}

/// The texts of the JSON files that skills were read from, by their real path; the catalog does not keep them.
fn json_texts(entries: &[Entry]) -> HashMap<PathBuf, Vec<u8>> {
    let mut texts = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.source_text.is_none()) {
        let Some(path) =
            entry.origin.as_ref().map(intake::real_path).filter(|path| !texts.contains_key(path))
        else {
            continue;
        };
        let small =
            std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= SKILL_FILE_BYTES_MAX);
        // What cannot be read, or is too large for that, only has no lines.
        if let (true, Ok(bytes)) = (small, std::fs::read(&path)) {
            texts.insert(path, bytes);
        }
    }
    texts
}

fn subject<'e>(entry: &'e Entry, roots: &Roots, texts: &'e HashMap<PathBuf, Vec<u8>>) -> Subject<'e> {
    let subject = Subject::new(&entry.skill).with_files(entry.resources.iter().map(AsRef::as_ref));
    let Some(origin) = &entry.origin else { return subject };
    let text = entry.source_text.as_deref();
    let text = text.or_else(|| texts.get(&intake::real_path(origin)).map(Vec::as_slice));
    subject.written(roots.shown(&origin.root, &origin.path), text)
}

/// Looks at what this deployment sees.
fn of_catalog(context: &Context) -> Result<Vec<Finding>, Failure> {
    let catalog = context.catalog()?;
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin()?;
    let local = catalog.entries(Layer::Local)?;
    let (texts, roots) = (json_texts(&local), Roots::default());
    let mut findings = Vec::new();
    for entry in &local {
        let path =
            entry.origin.as_ref().map_or_else(String::new, |origin| roots.shown(&origin.root, &origin.path));
        for problem in &compile(&entry.skill, catalog.registry()).unavailable {
            findings.push(Finding::unavailable(path.clone(), Some(&entry.skill.id), problem));
        }
    }
    let seen = visible(pin.look())?;
    let entries: HashMap<&str, &Entry> = local.iter().map(|entry| (entry.skill.id.as_str(), entry)).collect();
    let subjects: Vec<Subject<'_>> = seen
        .iter()
        .map(|(layer, skill)| match entries.get(skill.id.as_str()) {
            Some(entry) if *layer == Layer::Local => subject(entry, &roots, &texts),
            _ => Subject::new(skill),
        })
        .collect();
    findings.extend(lint(&subjects, Some(pin.look()), catalog.registry())?);
    if seen.is_empty() {
        context.output.note("no skills yet; name files to look at: `repertoire lint PATH`");
    }
    Ok(findings)
}

/// Every skill that is listed.
fn visible(look: &Look) -> Result<Vec<(Layer, Skill)>, Failure> {
    let mut skills = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = look.list(&Filter::default(), LIST_LIMIT_MAX, cursor.as_deref())?;
        for skill in &page.skills {
            skills.push((skill.layer(), skill.to_skill()?));
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(skills);
        }
    }
}

/// Findings in the manner of a compiler, with the lines that they are in, and how many there are.
fn write(out: &mut Page, findings: &[Finding], counts: Counts) {
    for finding in findings {
        let place = finding.path.as_deref().filter(|path| !path.is_empty());
        let place = place.or(finding.id.as_deref()).unwrap_or_default();
        let mut problem = Problem::new(finding.code, "", finding.message.clone());
        (problem.line, problem.column) = (finding.line, finding.column);
        out.diagnostic(finding.severity.into(), place, &problem, finding.excerpt.as_slice());
    }
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let sums =
        [plural(counts.error, "error"), plural(counts.warning, "warning"), plural(counts.note, "note")];
    out.line(Tone::Strong, &sums.join(", "));
}
