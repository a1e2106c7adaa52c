//! `completions`: the completion script of a shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use crate::cli::args::Arguments;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Writes the script.
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let mut bytes = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "repertoire", &mut bytes);
        let script = String::from_utf8_lossy(&bytes);
        if output.is_json() {
            output.answer(&json!({"shell": self.shell.to_string(), "script": script}), |_| ())?;
        } else {
            Output::own_text(&script)?;
        }
        Ok(Exit::Done)
    }
}
