//! The log: on standard error, so that standard output stays the result's.

use std::io::IsTerminal as _;

use repertoire::mcp::LOG_DIRECTIVE;
use tracing_subscriber::EnvFilter;

use super::args::Globals;

/// Environment variable with a filter in the `target=level` form.
const VARIABLE: &str = "REPERTOIRE_LOG";

/// Starts logging: warnings unless the command line or the environment says otherwise; JSON lines with `--json`.
pub(crate) fn start(globals: &Globals) {
    let level = match (globals.quiet, globals.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, 2) => "debug",
        (false, _) => "trace",
    };
    let filter = match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => EnvFilter::try_new(text).unwrap_or_else(|_| EnvFilter::new(level)),
        _ => EnvFilter::new(format!("off,repertoire={level}")),
    };
    let filter = match LOG_DIRECTIVE.parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    };
    let paint = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(paint)
        .with_target(globals.verbose > 1);
    // Only one subscriber can be installed; a second attempt changes nothing, and there is none.
    let _ = if globals.json { log.json().try_init() } else { log.try_init() };
}
