//! `sync`: what the platform has, now or from now on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clap::Args;
use indicatif::ProgressBar;
use repertoire::error::counted;
use repertoire::limits::SYNC_COMMAND_S_MAX;
use repertoire::sync::{
    CatalogPage, CatalogRequest, Digest, Due, Engine, EntitlementsDocument, Failure as Trouble, Fetched,
    Outcome, Platform, Round, StatusReport, Wake,
};

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::page::{Page, Tone};
use crate::cli::{progress, syncing};

/// Arguments of `sync`.
#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// Fetch whole catalogs, whatever is here
    #[arg(long)]
    full: bool,
    /// Let content come in again after a rollback
    #[arg(long)]
    resume: bool,
    /// Go on polling until ^C; with --json one line a round
    #[arg(long, conflicts_with = "full")]
    watch: bool,
}

/// Asks for everything.
const BOTH: Due = Due { entitlements: true, catalog: true };

impl Sync {
    /// Syncs. Negative if items were rejected or a catalog is held.
    ///
    /// # Errors
    /// Settings that cannot be used, a data directory that cannot.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let bar = progress::files(&context.output, "syncing");
        let platform = Arc::new(Counting { inner: syncing::platform(context)?, bar: bar.clone() });
        let catalog = context.catalog()?;
        let engine = syncing::engine(context, &catalog, platform)?;
        if self.resume {
            engine.resume()?;
        }
        let runtime = syncing::runtime()?;
        if self.watch {
            bar.finish_and_clear();
            watch(context, &engine, &runtime);
            return Ok(Exit::Done);
        }
        let patience = Duration::from_secs(SYNC_COMMAND_S_MAX);
        let round =
            runtime.block_on(async { tokio::time::timeout(patience, engine.round(BOTH, self.full)).await });
        bar.finish_and_clear();
        let round = round.map_err(|_| {
            let message = format!("no whole answer of the platform within {SYNC_COMMAND_S_MAX} s");
            Failure::new(
                Exit::Network,
                "platform_failed",
                message,
                "try again; `serve` goes on in the background",
            )
        })?;
        context.output.answer(&round, |page| write(page, &round))?;
        Ok(exit_of(&round))
    }
}

/// Polls until the user ends it.
fn watch(context: &Context, engine: &Engine, runtime: &tokio::runtime::Runtime) {
    context.output.note("polling; ^C ends");
    let output = context.output.clone();
    let told = move |round: &Round| {
        // A reader that went away ends the process by its signal or is noticed at the next line.
        let _ = if output.is_json() {
            Output::line(round)
        } else if round.result == Outcome::Unchanged {
            Ok(())
        } else {
            output.part(|page| write(page, round))
        };
    };
    let wake = Wake::default();
    runtime.block_on(async {
        tokio::select! {
            () = engine.run(&wake, &told) => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    });
}

fn exit_of(round: &Round) -> Exit {
    match round.result {
        Outcome::Failed if round.is_data_failure => Exit::Data,
        Outcome::Failed => Exit::Network,
        Outcome::Held => Exit::Negative,
        _ => Exit::done_if(round.rejected.is_empty()),
    }
}

fn write(page: &mut Page, round: &Round) {
    match round.result {
        Outcome::Unchanged => page.line(Tone::Good, "everything is as the platform has it"),
        Outcome::Activated => {
            let (came, went) = (counted(round.items, "item"), counted(round.removed, "item"));
            page.line(Tone::Good, &format!("activated: {came} came, {went} went"));
        }
        Outcome::Held => page.line(
            Tone::Careful,
            "held: content waits (for a second catalog like the last one, or for `sync --resume` after a rollback)",
        ),
        Outcome::Failed => page.line(Tone::Bad, "failed: what was served stays"),
    }
    for (name, error) in &round.errors {
        page.put(Tone::Name, &format!("  {name}: ")).line(Tone::Bad, error);
    }
    for item in &round.rejected {
        let kept = if item.kept_previous { " (its last good version stays)" } else { "" };
        page.put(Tone::Name, &format!("  {}", item.id)).line(Tone::Careful, &format!(" is rejected{kept}"));
        for problem in &item.problems {
            page.line(Tone::Plain, &format!("    {problem}"));
        }
    }
}

/// A platform whose items move a progress bar.
#[derive(Debug)]
struct Counting {
    inner: Arc<dyn Platform>,
    bar: ProgressBar,
}

#[async_trait]
impl Platform for Counting {
    async fn fetch_entitled_skills(&self, request: &CatalogRequest) -> Result<Fetched<CatalogPage>, Trouble> {
        let fetched = self.inner.fetch_entitled_skills(request).await?;
        if let Fetched::Document { document, .. } = &fetched {
            if request.since.is_none()
                && let Some(total) = document.count_total
            {
                self.bar.set_length(total);
            }
            self.bar.inc(document.items.len() as u64);
        }
        Ok(fetched)
    }

    async fn fetch_entitlements(&self, subscription: &str) -> Result<EntitlementsDocument, Trouble> {
        self.inner.fetch_entitlements(subscription).await
    }

    async fn fetch_blob(&self, digest: &Digest, size_max: u64) -> Result<Vec<u8>, Trouble> {
        self.inner.fetch_blob(digest, size_max).await
    }

    async fn report(&self, subscription: &str, report: &StatusReport) -> Result<(), Trouble> {
        self.inner.report(subscription, report).await
    }
}
