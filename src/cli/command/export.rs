//! x
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use clap::Args;
/// x
#[derive(Debug, Args)]
pub(crate) struct Export {}
impl Export {
    /// x
    pub(crate) fn run(&self, _: &Context) -> Result<Exit, Failure> {
        Ok(Exit::Done)
    }
}
