//! `compact`: removes files that no kept generation needs.

use clap::Args;
use serde::Serialize;

use super::status::size;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::Tone;

/// Arguments of `compact`: none.
#[derive(Debug, Args)]
pub(crate) struct Compact {}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer {
    bytes_freed: u64,
}

impl Compact {
    /// Removes.
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let bytes_freed = context.catalog()?.compact()?;
        let said = format!("{} freed", size(bytes_freed));
        context.output.answer(&Answer { bytes_freed }, |out| out.line(Tone::Good, &said))?;
        Ok(Exit::Done)
    }
}
