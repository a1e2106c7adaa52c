//! x
use clap::Args;
use crate::cli::context::Context;
use crate::cli::output::Output;
use crate::cli::exit::{Exit, Failure};
/// x
#[derive(Debug, Args)]
pub(crate) struct Export {}
impl Export {
    /// x
    pub(crate) fn run(&self, _: &Context) -> Result<Exit, Failure> { Ok(Exit::Done) }
}
