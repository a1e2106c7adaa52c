//! Shows each step of the tour as it happens, with the time that it took.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::cli::page::Tone;

/// Column in which times end.
const TIME_COLUMN: usize = 72;

/// One step that was shown.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    title: String,
    command: String,
    result: Vec<String>,
    took_us: u64,
}

/// Where steps are shown.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    output: &'a Output,
    steps: Vec<Step>,
}

impl<'a> Stage<'a> {
    /// An empty stage.
    pub(super) fn new(output: &'a Output) -> Self {
        Self { output, steps: Vec::new() }
    }

    /// What was shown.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Does one step: `command` is how a person would do it, `action` does it and answers the lines to show.
    pub(super) fn step(
        &mut self,
        title: &str,
        command: &str,
        action: impl FnOnce() -> Result<Vec<String>, Failure>,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let result = action()?;
        let took = begun.elapsed();
        let number = self.steps.len() + 1;
        self.output.part(|page| {
            let head = format!("{number:>2}. {title}");
            let time = duration(took);
            let pad = TIME_COLUMN.saturating_sub(head.chars().count() + time.len()).max(1);
            page.put(Tone::Strong, &head).put(Tone::Plain, &" ".repeat(pad)).line(Tone::Good, &time);
            page.put(Tone::Faint, "    $ repertoire ").line(Tone::Name, command);
            for line in &result {
                page.put(Tone::Plain, "    ").line(Tone::Plain, line);
            }
            page.end();
        })?;
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.steps.push(Step { title: title.to_owned(), command: command.to_owned(), result, took_us });
        Ok(())
    }
}

/// A time for people.
fn duration(took: Duration) -> String {
    let us = took.as_micros();
    match us {
        0..10_000 => format!("{us} us"),
        10_000..10_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{} s", us / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_fits() {
        let rows = [
            (0, "0 us"),
            (9_999, "9999 us"),
            (10_000, "10 ms"),
            (9_999_999, "9999 ms"),
            (61_000_000, "61 s"),
        ];
        for (us, expect) in rows {
            assert_eq!(duration(Duration::from_micros(us)), expect);
        }
    }
}
