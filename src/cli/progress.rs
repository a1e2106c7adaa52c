//! Progress of long commands: a bar on a terminal's standard error, nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::Output;

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// A spinner with a message and a count; hidden where nobody looks.
pub(crate) fn spinner(output: &Output, message: &'static str) -> ProgressBar {
    if !output.shows_progress() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {human_pos} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(message);
    bar.enable_steady_tick(TICK);
    bar
}
