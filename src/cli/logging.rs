//! The log: on standard error, so that standard output stays the result's.
//!
//! A server and whoever asks for more (`-v`, `REPERTOIRE_LOG`) get the log itself. Any other command keeps the warnings of
//! the library until its end and tells them as its own: a person who lists skills reads a sentence, no log.

use std::fmt::{self, Write as _};
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, PoisonError};

use repertoire::mcp::LOG_DIRECTIVE;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use super::args::Globals;

/// Environment variable with a filter in the `target=level` form.
const VARIABLE: &str = "REPERTOIRE_LOG";
/// Different warnings that a command tells at most.
const TOLD_MAX: usize = 8;

/// What the library warned of while a command ran; empty where the log itself is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    told: Arc<Mutex<Vec<String>>>,
}

impl Log {
    /// The warnings, each once, in order.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, text: String) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < TOLD_MAX && !told.contains(&text) {
            told.push(text);
        }
    }
}

/// Starts logging; `serves` for a command that runs until it is stopped. The log is JSON lines with `--json`.
pub(crate) fn start(globals: &Globals, serves: bool) -> Log {
    let log = Log::default();
    let named = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    if !serves && globals.verbose == 0 && named.is_none() {
        let level = if globals.quiet { LevelFilter::ERROR } else { LevelFilter::WARN };
        let keep = Keep { log: log.clone(), level };
        // Only one subscriber can be installed; a second attempt changes nothing, and there is none.
        let _ = Registry::default().with(keep).try_init();
        return log;
    }
    let level = match (globals.quiet, globals.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, 2) => "debug",
        (false, _) => "trace",
    };
    let filter = match named {
        Some(text) => EnvFilter::try_new(text).unwrap_or_else(|_| EnvFilter::new(level)),
        None => EnvFilter::new(format!("off,repertoire={level}")),
    };
    let filter = match LOG_DIRECTIVE.parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    };
    let paint = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(paint)
        .with_target(globals.verbose > 1);
    // As above.
    let _ = if globals.json { lines.json().try_init() } else { lines.try_init() };
    log
}

/// Keeps what the library warns of.
struct Keep {
    log: Log,
    level: LevelFilter,
}

impl Layer<Registry> for Keep {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, Registry>) {
        let about = event.metadata();
        if about.target().starts_with("repertoire") && *about.level() <= self.level {
            let mut sentence = Sentence::default();
            event.record(&mut sentence);
            self.log.add(sentence.text());
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }
}

/// An event in words: its message, then what caused it.
#[derive(Default)]
struct Sentence {
    message: String,
    cause: String,
}

impl Sentence {
    fn text(self) -> String {
        if self.cause.is_empty() { self.message } else { format!("{}: {}", self.message, self.cause) }
    }
}

impl tracing::field::Visit for Sentence {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        let text = match field.name() {
            "message" => &mut self.message,
            "error" => &mut self.cause,
            // Members for programs; what a person needs is in the message.
            _ => return,
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "{value:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_the_library_are_kept_as_sentences_each_once() {
        let log = Log::default();
        let keep = Keep { log: log.clone(), level: LevelFilter::WARN };
        tracing::subscriber::with_default(Registry::default().with(keep), || {
            for _ in 0..2 {
                tracing::warn!(target: "repertoire::x", error = %"a; b", layer = "local", "it is {}", "mended");
            }
            tracing::error!(target: "repertoire::x", "worse");
            tracing::info!(target: "repertoire::x", "not told");
            tracing::warn!(target: "other", "not ours");
        });
        assert_eq!(log.take(), ["it is mended: a; b", "worse"]);
        assert!(log.take().is_empty());
    }
}
