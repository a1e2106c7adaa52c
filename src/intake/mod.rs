//! Import and export at the edge: walks folders, reads files, and gives the catalog what the pure readers of
//! [`crate::import`] and the mirror plan make of them.
//!
//! An import reads first and commits once: every file is read in parallel into a report, the plan turns the layer's
//! entries and the reports into the new content, and the catalog takes it as one change. If another process commits
//! in between, the files are read again, so that nothing stale is published.
//!
//! Invariant: nothing outside the imported roots is read, nothing outside the given folder is written.

mod advice;
mod export;
mod file;
mod fingerprint;
mod report;
mod resources;
mod settling;
mod walk;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::catalog::{Catalog, Pin};
use crate::entitlement::Narrowing;
use crate::error::{Error, Problem, Result};
use crate::import::{
    Doubt, FileReport, MirrorOptions, Outcome, PassedOver, Plan, RootReading, SkillOutcome, plan,
};
use crate::intake::advice::Phrases;
use crate::intake::file::Reader;
use crate::intake::resources::Budget;
use crate::intake::walk::{Found, Search, Shape};
use crate::model::{Layer, Skill, check_id};
use crate::tools::ToolRegistry;

pub use advice::real_path;
pub use export::{ExportFormat, ExportLine, ExportReport, export};
pub use fingerprint::Fingerprint;
pub use report::{Counts, ImportReport, PassedOverLine, Rejection, ReportLine, full_json};
pub use settling::Settling;

/// Most threads that read files.
const THREADS_MAX: usize = 16;

/// How to import.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent choices, each of them an option of a command")]
pub struct ImportOptions {
    /// Only report; the layer stays as it is.
    pub check: bool,
    /// The report carries every skill in full (as it does with `check`).
    pub full: bool,
    /// Skills that vanished from a root stay in the layer.
    pub keep: bool,
    /// The roots are not read: what was imported from them leaves the layer, whether they are still there or not.
    pub forget: bool,
    /// Prefix of every id.
    pub namespace: Option<String>,
    /// A file that is named itself is JSON lines whatever its name, unless its name or its first line says otherwise;
    /// else a name that says nothing is refused.
    pub any_name: bool,
    /// Lint looks at what is brought; what it finds is among the warnings of the report.
    pub lint: bool,
}

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files read.
    pub done: usize,
    /// Files found.
    pub total: usize,
}

/// Imports files and folders into the `local` layer, each a mirror of its own.
///
/// `progress` is called from the reading threads, after each file. One bad file never stops the others: it is a line
/// of the report. Cost: every file is read once; the skills are in memory until the catalog has taken them, with at
/// most [`IMPORT_RESOURCES_BYTES_MAX`](crate::limits::IMPORT_RESOURCES_BYTES_MAX) of files beside them: skills for
/// whose files that is too little are rejected, and which ones depends on the order in which threads read.
///
/// # Errors
/// [`Error::InvalidArguments`] for a namespace that is no id; what the catalog fails with.
pub fn import_paths(
    catalog: &Catalog,
    paths: &[PathBuf],
    options: &ImportOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<ImportReport> {
    check_namespace(options)?;
    let registry = catalog.registry();
    let read = || read_roots(paths, registry, options, progress);
    // As it is before the change: what stands in other layers is the same after it.
    let mut view = catalog.view(Narrowing::default());
    let standing = if options.lint { Some(view.pin()?) } else { None };
    let look = standing.as_ref().map(Pin::look);
    if options.check {
        let (roots, refused) = read();
        let mut plan = plan(catalog.entries(Layer::Local)?, roots, &mirror_options(options));
        if options.lint {
            advice::together(&plan.entries, &mut plan.outcomes, look)?;
        }
        return Ok(checked(plan, refused));
    }
    let mut first = Some(read());
    let mut answer = ImportReport::default();
    let mut phrases = Phrases::default();
    catalog.update(Layer::Local, &mut |existing| {
        let (roots, refused) = first.take().unwrap_or_else(read);
        let mut plan = plan(existing, roots, &mirror_options(options));
        if options.lint {
            let collided = advice::together(&plan.entries, &mut plan.outcomes, look)?;
            phrases = Phrases::of(&plan.entries, &plan.outcomes, collided);
        }
        answer = report(plan.outcomes, plan.passed_over, refused);
        if options.full {
            let skills = plan
                .entries
                .iter()
                .map(|entry| (entry.skill.id.as_str(), &entry.skill))
                .collect::<HashMap<_, _>>();
            for line in answer.skills.iter_mut().filter(|line| line.is_published()) {
                line.skill = line.id.as_deref().and_then(|id| skills.get(id)).map(|skill| (*skill).clone());
            }
        }
        Ok(plan.changed.then_some(plan.entries))
    })?;
    if let Err(error) = phrases.ask(catalog, &mut answer) {
        // The import is done; what it was to be told beside is not worth its failure.
        tracing::warn!(%error, "the aliases and examples could not be tried");
    }
    Ok(answer)
}

/// Reads roots without a catalog and answers what an import into an empty layer would do.
#[must_use]
pub fn check_paths(paths: &[PathBuf], registry: &ToolRegistry, options: &ImportOptions) -> ImportReport {
    let options = ImportOptions { check: true, ..options.clone() };
    let (roots, refused) = read_roots(paths, registry, &options, &|_| {});
    let mut plan = plan(Vec::new(), roots, &mirror_options(&options));
    if options.lint {
        // Only a look can fail.
        let _ = advice::together(&plan.entries, &mut plan.outcomes, None);
    }
    checked(plan, refused)
}

fn check_namespace(options: &ImportOptions) -> Result<()> {
    let Some(Err(mut problem)) = options.namespace.as_deref().map(check_id) else { return Ok(()) };
    "namespace".clone_into(&mut problem.field);
    Err(Error::InvalidArguments { problems: vec![problem] })
}

fn mirror_options(options: &ImportOptions) -> MirrorOptions {
    MirrorOptions { keep: options.keep, namespace: options.namespace.clone() }
}

/// The report of a check: the skills move into it, since no layer takes them.
fn checked(plan: Plan, refused: Vec<SkillOutcome>) -> ImportReport {
    let mut report = report(plan.outcomes, plan.passed_over, refused);
    let mut skills: HashMap<String, Skill> =
        plan.entries.into_iter().map(|entry| (entry.skill.id.clone(), entry.skill)).collect();
    for line in report.skills.iter_mut().filter(|line| line.folded_into.is_some()) {
        line.skill = line.id.as_deref().and_then(|id| skills.get(id)).cloned();
    }
    for line in report.skills.iter_mut().filter(|line| line.folded_into.is_none() && line.is_published()) {
        line.skill = line.id.as_deref().and_then(|id| skills.remove(id));
    }
    report
}

/// What could not be found at all comes first.
fn report(
    outcomes: Vec<SkillOutcome>,
    passed_over: Vec<PassedOver>,
    mut refused: Vec<SkillOutcome>,
) -> ImportReport {
    refused.extend(outcomes);
    ImportReport::new(refused, passed_over)
}

/// Reads every root; what cannot be found at all is answered as rejected lines.
fn read_roots(
    paths: &[PathBuf],
    registry: &ToolRegistry,
    options: &ImportOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> (Vec<RootReading>, Vec<SkillOutcome>) {
    let mut roots: Vec<(PathBuf, String, Search)> = Vec::new();
    let mut refused = Vec::new();
    if options.forget {
        // An empty reading of a root takes away all that it brought.
        return (paths.iter().map(|path| RootReading::new(root_name(path), Vec::new())).collect(), refused);
    }
    for path in paths {
        match find(path, options.any_name) {
            Ok((real, name, search)) => {
                if !roots.iter().any(|(known, ..)| *known == real) {
                    roots.push((real, name, search));
                }
            }
            Err(problem) => refused.push(SkillOutcome::rejected(path.display().to_string(), *problem)),
        }
    }
    let total = roots.iter().map(|(_, _, search)| search.found.len()).sum();
    tracing::info!(roots = roots.len(), files = total, "reading files");
    let begun = Instant::now();
    let done = AtomicUsize::new(0);
    let tick = || progress(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
    let budget = Budget::default();
    let readings = roots.into_iter().map(|(real, name, search)| {
        let reader = Reader {
            root: &real,
            registry,
            budget: &budget,
            keep_bytes: !options.check,
            lint: options.lint,
        };
        let mut files = read_all(&search.found, reader, &tick);
        files.extend(search.refused.into_iter().map(|(path, problem)| {
            // The root itself has no path below itself.
            let path = if path.is_empty() { ".".to_owned() } else { path };
            FileReport::refused(path, None, problem)
        }));
        let unclear = |(path, problem)| FileReport::doubtful(path, Doubt::Unclear, problem);
        files.extend(search.doubtful.into_iter().map(unclear));
        let mut reading = RootReading::new(name, files);
        reading.unread = search.unread;
        reading.complete = search.complete;
        tracing::debug!(root = %reading.root, files = reading.files.len(), complete = reading.complete, "read a root");
        reading
    });
    let readings = readings.collect();
    tracing::info!(files = total, took_ms = milliseconds(begun), "files are read");
    (readings, refused)
}

/// Milliseconds since then, for the log.
fn milliseconds(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The name under which a root was imported that may be gone: the real path of what there is of it, and the rest.
fn root_name(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = absolute.ancestors().find_map(|known| {
        let rest = absolute.strip_prefix(known).ok()?;
        let real = fs::canonicalize(known).ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    real.unwrap_or(absolute).to_string_lossy().into_owned()
}

/// Finds the files of one argument.
fn find(path: &Path, any_name: bool) -> Result<(PathBuf, String, Search), Box<Problem>> {
    let real = fs::canonicalize(path).map_err(|error| Box::new(walk::unreadable(&error)))?;
    let Some(name) = real.to_str().map(str::to_owned) else {
        let message = "the path is not UTF-8; rename it";
        return Err(Box::new(Problem::new("path_not_utf8", "", message)));
    };
    if real.is_dir() {
        let search = walk::search(&real);
        return Ok((real, name, search));
    }
    let file = walk::folder_name(&real);
    let shape = match shape_by_name(&file) {
        None if any_name => Some(Shape::JsonLines),
        Some(Shape::Json) if any_name && file::begins_with_line(&real) => Some(Shape::JsonLines),
        shape => shape,
    };
    let Some(shape) = shape else {
        let message = "it is no skill file; import a folder, a SKILL.md, a *.skill.json, a *.skill.jsonl or a Maestro flow";
        return Err(Box::new(Problem::new("unknown_format", "", message).got(file)));
    };
    let directory = real.parent().map(walk::folder_name).unwrap_or_default();
    let found = Found { real: real.clone(), path: file, directory, shape, alone: false };
    Ok((real, name, Search { found: vec![found], complete: true, ..Search::default() }))
}

/// How a file that was named itself is read.
fn shape_by_name(name: &str) -> Option<Shape> {
    match walk::shape_in_folder(name) {
        Some(Shape::MaybeWorkflow) => Some(Shape::Json),
        Some(Shape::MaybeFlow) => Some(Shape::Flow),
        None if walk::has_extension(name, "jsonl") => Some(Shape::JsonLines),
        shape => shape,
    }
}

/// Reads files on all processors; the order of the answer is that of the files.
fn read_all(found: &[Found], reader: Reader<'_>, tick: &(dyn Fn() + Sync)) -> Vec<FileReport> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reports = Vec::new();
        while let Some(file) = found.get(next.fetch_add(1, Ordering::Relaxed)) {
            reports.extend(file::read(file, reader));
            tick();
        }
        reports
    };
    if threads < 2 || found.len() < 2 {
        return work();
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(found.len())).map(|_| scope.spawn(work)).collect();
        // A reader that panicked took its reports with it; the panic goes on rather than lose files in silence.
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

impl SkillOutcome {
    /// A path that cannot be read at all.
    fn rejected(path: String, problem: Problem) -> Self {
        Self {
            root: String::new(),
            path,
            id: None,
            outcome: Outcome::Rejected,
            folded_into: None,
            unavailable: Vec::new(),
            warnings: Vec::new(),
            problems: vec![problem],
            excerpts: Vec::new(),
        }
    }
}
