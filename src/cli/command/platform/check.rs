//! `platform check`: one line for each thing that a platform must do.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use repertoire::platform::check::{CheckLine, CheckOptions, Outcome, Report, check};
use repertoire::sync::Secret;

use super::{read_secret, wrong_file};
use crate::cli::config::Key;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};

/// Arguments of `platform check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Address of the platform
    #[arg(value_name = "URL", help = "Address of the platform, such as https://platform.example")]
    url: String,
    /// The subscription whose documents are looked at; the first of those in [sync] unless stated
    #[arg(long, value_name = "SUB")]
    subscription: Option<String>,
    /// File with the token of a client; that of [sync] unless stated
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Public key that the documents must be signed with
    #[arg(
        long,
        value_name = "KEY",
        help = "Public key that the documents must be signed with, KEY_ID:BASE64; those of [sync] unless stated"
    )]
    public_key: Vec<String>,
    /// Longest wait for one answer, in seconds
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=300))]
    timeout_s: u64,
}

impl Check {
    /// Asks everything. Negative if a check failed.
    pub(super) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let settings = &context.settings;
        let subscription = match &self.subscription {
            Some(given) => given.clone(),
            None => settings.list(Key::SYNC_SUBSCRIPTIONS).first().cloned().ok_or_else(|| {
                Failure::usage(
                    "it is not said which subscription to look at",
                    "name one with --subscription SUB",
                )
            })?,
        };
        let mut options =
            CheckOptions::new(&self.url, subscription).timeout(Duration::from_secs(self.timeout_s));
        options = options.registry(context.registry()?);
        let token_file = self.token_file.clone().or_else(|| settings.path(Key::SYNC_TOKEN_FILE));
        if let Some(path) = token_file {
            options = options.token(read_secret(&path)?);
        } else if let Some(token) = settings.text(Key::SYNC_TOKEN) {
            options = options.token(Secret::new(token));
        }
        let keys =
            if self.public_key.is_empty() { settings.list(Key::SYNC_PUBLIC_KEYS) } else { &self.public_key };
        options = options.public_keys(keys.to_vec());
        if let Some(path) = settings.path(Key::SYNC_CA_FILE) {
            options = options.ca_file(path);
        }
        let output = &context.output;
        let report = check(&options, &mut |line| {
            // A reader that went away is noticed at the end.
            let _ = output.part(|page| write(page, line));
        });
        let report = report.map_err(|error| wrong_file(&error.to_string()))?;
        output.answer(&report, |page| sums(page, &report))?;
        Ok(Exit::done_if(report.counts.fail == 0))
    }
}

fn write(page: &mut Page, line: &CheckLine) {
    let (tone, word) = match line.outcome {
        Outcome::Pass => (Tone::Good, "pass"),
        Outcome::Fail => (Tone::Bad, "FAIL"),
        Outcome::Skip => (Tone::Faint, "skip"),
    };
    page.put(tone, word).put(Tone::Plain, "  ").put(Tone::Name, &format!("{:<20}", line.check));
    page.line(Tone::Plain, line.about);
    if let Some(found) = &line.found {
        page.put(Tone::Plain, "      ").line(Tone::Careful, found);
    }
    if let Some(advice) = &line.advice {
        page.put(Tone::Plain, "      ").line(Tone::Plain, advice);
    }
}

fn sums(page: &mut Page, report: &Report) {
    let counts = report.counts;
    page.line(
        if counts.fail == 0 { Tone::Good } else { Tone::Bad },
        &format!("{} passed, {} failed, {} skipped", counts.pass, counts.fail, counts.skip),
    );
}
