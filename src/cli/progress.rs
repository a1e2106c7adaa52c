//! Progress of long commands: a bar on a terminal's standard error, nothing elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::Output;

/// A bar that counts files; hidden where nobody looks.
pub(crate) fn files(output: &Output, message: &'static str) -> ProgressBar {
    if !output.shows_progress() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:32} {human_pos}/{human_len} files {elapsed}")
    {
        bar.set_style(style);
    }
    bar.set_message(message);
    bar
}
