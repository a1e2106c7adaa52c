//! `import`: skills that people wrote, files and folders, into the local layer.

use std::path::PathBuf;

use clap::Args;
use repertoire::catalog::Catalog;
use repertoire::error::counted;
use repertoire::import::Outcome;
use repertoire::intake::{self, Counts, ImportOptions, ImportReport, ReportLine};
use repertoire::limits::{LINT_IMPORT_TOLD_MAX, PROGRESS_FILES_MIN};
use repertoire::lint;
use repertoire::model::Layer;

use crate::cli::context::Context;
use crate::cli::diagnostic::Severity;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::progress;
use crate::cli::roots::Roots;
use crate::cli::watch::Watch;

/// Arguments of `import`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices, each of them an option")]
pub(crate) struct Import {
    /// Files and folders; a folder is mirrored
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only report what would be done, with the skills in full
    #[arg(long)]
    check: bool,
    /// Put the skills in full into the report
    #[arg(long)]
    full: bool,
    /// Keep skills whose files vanished from their folder
    #[arg(long)]
    keep: bool,
    /// Take away what was imported from these paths, whether they are still there or not
    #[arg(long, conflicts_with_all = ["keep", "watch", "namespace", "full"])]
    forget: bool,
    /// Import again whenever files change, until ^C
    #[arg(long)]
    watch: bool,
    /// Put this before every id
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
}

impl Import {
    /// Imports, once or until the process is asked to end. Negative if anything was rejected (at last); the rest is
    /// imported all the same.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let catalog = context.catalog()?;
        if !self.watch {
            return self.import(context, &catalog);
        }
        let mut watch = Watch::start(&self.paths).map_err(|cause| {
            let message = format!("cannot listen for the end of the watch: {cause}");
            Failure::new(Exit::Negative, "watch_failed", message, "import without --watch")
        })?;
        watch.look();
        let mut exit = self.import(context, &catalog)?;
        context.output.note("watching for changes; ^C ends");
        let mut told = String::new();
        while watch.wait() {
            watch.look();
            match self.import(context, &catalog) {
                Ok(done) => {
                    exit = done;
                    told.clear();
                }
                // Another process may hold the catalog for a while: it is tried again, and told once.
                Err(failure) => {
                    watch.again();
                    if failure.message != told {
                        context.output.failure(&failure);
                        told = failure.message;
                    }
                    exit = failure.exit;
                }
            }
        }
        Ok(exit)
    }

    /// One import, with its report.
    fn import(&self, context: &Context, catalog: &Catalog) -> Result<Exit, Failure> {
        let mut options = ImportOptions::default();
        options.check = self.check;
        options.full = self.full;
        options.keep = self.keep;
        options.forget = self.forget;
        options.namespace.clone_from(&self.namespace);
        options.lint = !context.output.is_quiet() || context.output.is_json();
        let starter = shows_starter(catalog)?;
        let bar = progress::files(&context.output, "reading");
        let report = intake::import_paths(catalog, &self.paths, &options, &|progress| {
            if progress.total > PROGRESS_FILES_MIN {
                bar.set_length(progress.total as u64);
                bar.set_position(progress.done as u64);
            }
        });
        bar.finish_and_clear();
        let report = report?;
        let shown = Shown { roots: Roots::of(&self.paths), all: context.output.is_verbose() };
        let mut left_out = 0;
        context.output.answer(&report, |out| left_out = write(out, &report, &shown))?;
        if left_out > 0 {
            let findings = counted(left_out as u64, "finding");
            context.output.note(&format!(
                "lint has {findings} more about these skills; `repertoire lint PATH` shows them all"
            ));
        }
        if self.check {
            context.output.note("nothing was changed (--check)");
        }
        if self.forget && report.skills.is_empty() {
            context.output.note("nothing was imported from there; give the path as it was given to import");
        }
        if !self.forget && self.paths.iter().any(|path| !path.exists()) {
            context.output.note(
                "what a path published that is gone stays; `repertoire import --forget PATH` takes it away",
            );
        }
        let unusable = report.skills.iter().filter(|line| !line.unavailable.is_empty()).count();
        if unusable > 0 {
            let skills = counted(unusable as u64, "skill");
            context.output.note(&format!(
                "{skills} cannot be used with the tools there are, and no list or search shows them; `repertoire get ID` says why"
            ));
        }
        if starter && !shows_starter(catalog)? {
            context.output.note(
                "the starter skills no longer show, now that you have your own; [bundled] mode = \"always\" keeps them",
            );
        }
        Ok(Exit::done_if(report.counts.rejected == 0))
    }
}

/// Whether the starter skills show.
fn shows_starter(catalog: &Catalog) -> Result<bool, Failure> {
    Ok(catalog.status()?.layers.iter().any(|layer| layer.layer == Layer::Bundled))
}

/// What of a report is shown, and how.
struct Shown {
    roots: Roots,
    /// Also notes, of unchanged skills too, however many there are.
    all: bool,
}

/// Writes what changed or needs a look, in the manner of a compiler, and the sums. Answers how many findings of lint were
/// left out.
fn write(out: &mut Page, report: &ImportReport, shown: &Shown) -> usize {
    let (mut told, mut left_out) = (0, 0);
    for line in &report.skills {
        write_line(out, line, shown, &mut |severity| {
            let new = matches!(line.outcome, Outcome::Added | Outcome::Changed);
            let tells = shown.all || (new && severity != lint::Severity::Note && told < LINT_IMPORT_TOLD_MAX);
            *(if tells { &mut told } else { &mut left_out }) += 1;
            tells
        });
    }
    for file in &report.passed_over {
        let path = shown.roots.shown(&file.root, &file.path);
        out.put(Tone::Careful, "passed over").put(Tone::Plain, "  ").line(Tone::Faint, &path);
        out.diagnostic(Severity::Warning, &path, &file.problem, &file.excerpts);
    }
    out.line(Tone::Strong, &sums(report.counts));
    left_out
}

/// The sums in a sentence; outcomes that did not occur are left out.
pub(crate) fn sums(counts: Counts) -> String {
    let all = [
        (counts.added, "added"),
        (counts.changed, "changed"),
        (counts.unchanged, "unchanged"),
        (counts.removed, "removed"),
        (counts.rejected, "rejected"),
    ];
    let total: usize = all.iter().map(|(count, _)| count).sum();
    let said: Vec<String> =
        all.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    match said.as_slice() {
        [] => "no skill found".to_owned(),
        _ => format!("{}: {}", counted(total as u64, "skill"), said.join(", ")),
    }
}

/// Writes a line, unless nothing is to be said; `tells` decides about each finding of lint.
fn write_line(
    out: &mut Page,
    line: &ReportLine,
    shown: &Shown,
    tells: &mut dyn FnMut(lint::Severity) -> bool,
) {
    let tone = match line.outcome {
        Outcome::Added | Outcome::Changed => Tone::Good,
        Outcome::Removed => Tone::Careful,
        Outcome::Rejected => Tone::Bad,
        Outcome::Unchanged => Tone::Faint,
    };
    let mut warnings = Vec::new();
    for problem in &line.warnings {
        match lint::severity_of(&problem.code) {
            None => warnings.push((Severity::Warning, problem)),
            Some(severity) if tells(severity) => warnings.push((severity.into(), problem)),
            Some(_) => {}
        }
    }
    if line.outcome == Outcome::Unchanged && warnings.is_empty() && line.unavailable.is_empty() {
        return;
    }
    out.put(tone, &format!("{:<9}", line.outcome.name())).put(Tone::Plain, " ");
    if let Some(id) = &line.id {
        out.put(Tone::Name, id).put(Tone::Plain, "  ");
    }
    let path = shown.roots.shown(&line.root, &line.path);
    let folded = line.folded_into.as_ref().map(|path| format!(" (the same as {path})")).unwrap_or_default();
    out.line(Tone::Faint, &format!("{path}{folded}"));
    let excerpts = &line.excerpts;
    for problem in &line.unavailable_problems {
        out.diagnostic(Severity::Unavailable, &path, problem, excerpts);
    }
    for (severity, problem) in warnings {
        out.diagnostic(severity, &path, problem, excerpts);
    }
    for problem in line.error.iter().flat_map(|error| &error.problems) {
        out.diagnostic(Severity::Error, &path, problem, excerpts);
    }
}
