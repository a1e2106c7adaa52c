//! x
use clap::Args;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
/// x
#[derive(Debug, Args)]
pub(crate) struct Serve {}
impl Serve {
    /// x
    pub(crate) fn run(&self, mut c: Context) -> Result<Exit, Failure> { c.settings.set_flag(crate::cli::config::Key::SERVER_TOOLS, "a", "b")?; let _ = crate::cli::progress::spinner(&c.output, ""); Ok(Exit::Done) }
}
