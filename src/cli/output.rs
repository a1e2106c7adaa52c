//! The only place that writes on standard output: results there, everything else on standard error.
//!
//! A closed pipe ends the output quietly. Text that comes from skills is escaped before it gets here (see
//! [`Page`]); JSON is escaped here.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};

use clap::ValueEnum;
use serde::Serialize;

use super::escape;
use super::exit::{Exit, Failure};
use super::page::{Page, Tone};

/// Columns that help and tables take at most.
const WIDTH_MAX: usize = 160;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where and how results and messages are shown.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about two streams")]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    /// Failures go to standard error even as JSON, because standard output belongs to a protocol.
    reserved: bool,
    paint_out: bool,
    paint_err: bool,
    terminal: bool,
    width: Option<usize>,
}

impl Output {
    /// Looks at the terminal and the environment once.
    pub(crate) fn new(json: bool, quiet: bool, colour: Colour) -> Self {
        let terminal = io::stdout().is_terminal();
        Self {
            json,
            quiet,
            reserved: false,
            paint_out: paints(colour, terminal),
            paint_err: paints(colour, io::stderr().is_terminal()),
            terminal,
            width: terminal.then(width),
        }
    }

    /// For a command whose standard output belongs to a protocol.
    pub(crate) fn reserve(&mut self) {
        self.reserved = true;
    }

    /// Whether the result is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether standard output is painted.
    pub(crate) fn paints(&self) -> bool {
        self.paint_out
    }

    /// Whether progress may be drawn: a person is looking at standard error and wants to see it.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Writes a result: `json` with `--json`, else the page that `text` fills.
    pub(crate) fn answer<T: Serialize>(&self, json: &T, text: impl FnOnce(&mut Page)) -> Result<(), Failure> {
        if self.json { self.json(json) } else { self.page(text) }
    }

    /// Writes a page for people, whatever `--json` says.
    pub(crate) fn page(&self, text: impl FnOnce(&mut Page)) -> Result<(), Failure> {
        let mut page = Page::new(self.paint_out, self.width);
        text(&mut page);
        write_out(page.text())
    }

    /// Writes a part of a result for people at once, so that a long command shows where it is; nothing with `--json`.
    pub(crate) fn part(&self, text: impl FnOnce(&mut Page)) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        let mut page = Page::new(self.paint_out, self.width);
        text(&mut page);
        write_out(page.text())
    }

    /// Writes a value as one JSON object; on a terminal with line ends for the eye.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let text =
            if self.terminal { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
        let text = text.map_err(|cause| {
            Failure::new(Exit::Negative, "output_failed", format!("cannot write the result: {cause}"), REPORT)
        })?;
        let mut text = escape::json(text);
        text.push('\n');
        write_out(&text)
    }

    /// Writes a value as one line of JSON, for programs that read line by line also on a terminal.
    pub(crate) fn line<T: Serialize>(value: &T) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(|cause| {
            Failure::new(Exit::Negative, "output_failed", format!("cannot write the result: {cause}"), REPORT)
        })?;
        write_out(&format!("{}\n", escape::json(text)))
    }

    /// Writes text of our own as it is: help, completions, the manual.
    pub(crate) fn own_text(text: &str) -> Result<(), Failure> {
        write_out(text)
    }

    /// Tells a person something beside the result, on standard error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet && !self.json {
            self.message(None, text);
        }
    }

    /// Tells about something that may be a mistake, on standard error.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            self.message(Some((Tone::Careful, "warning: ")), text);
        }
    }

    /// Tells what went wrong beside the command, on standard error; also with `-q`, for which the log keeps only errors.
    pub(crate) fn alarm(&self, text: &str) {
        self.message(Some((Tone::Careful, "warning: ")), text);
    }

    /// Shows why the command failed.
    pub(crate) fn failure(&self, failure: &Failure) {
        if self.json && !self.reserved {
            // A failure of this last write cannot be told to anybody.
            let _ = self.json(&failure.to_json());
        } else {
            let text = match failure.hint.as_str() {
                "" => Cow::Borrowed(failure.message.as_str()),
                hint => Cow::Owned(format!("{}; {hint}", failure.message)),
            };
            self.message(Some((Tone::Bad, "error: ")), &text);
        }
    }

    /// Writes text that is already laid out (help on a wrong command line) on standard error.
    pub(crate) fn own_error_text(text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// One line on standard error. Nothing can be done where that fails.
    fn message(&self, mark: Option<(Tone, &str)>, text: &str) {
        let mut page = Page::new(self.paint_err, None);
        if let Some((tone, mark)) = mark {
            page.put(tone, mark);
        }
        page.line(Tone::Plain, text);
        let _ = io::stderr().lock().write_all(page.text().as_bytes());
    }
}

/// Next step where our own output cannot be made.
const REPORT: &str = "this is a defect of repertoire, please report it";

/// Writes on standard output. A reader that went away is no failure: it has what it wanted.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => Err(Failure::new(
            Exit::Negative,
            "output_failed",
            format!("cannot write the result on standard output: {cause}"),
            "check the disk or the program that reads it",
        )),
        _ => Ok(()),
    }
}

/// Whether to paint on a stream.
fn paints(colour: Colour, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Columns of the terminal.
fn width() -> usize {
    let columns = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
    columns.clamp(40, WIDTH_MAX)
}
