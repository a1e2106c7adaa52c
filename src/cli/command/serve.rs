//! `serve`: the catalog over MCP on standard input and output.

use std::error::Error as _;
use std::io::IsTerminal as _;

use clap::Args;
use repertoire::mcp::{self, Server, ServerOptions, SessionError, ToolFilter};

use crate::cli::config::{Key, Origin};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::syncing;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Which tools to offer
    #[arg(
        long,
        value_name = "WHICH",
        help = "Which tools to offer: skills, device, all, or comma-separated names [env: REPERTOIRE_SERVER_TOOLS]"
    )]
    tools: Option<String>,
}

impl Serve {
    /// Serves until the input ends.
    ///
    /// # Errors
    /// Wrong settings and an unusable data directory, before anything is served; a client whose first messages
    /// cannot be answered; input or output that fails otherwise than by being closed.
    pub(crate) fn run(&self, mut context: Context) -> Result<Exit, Failure> {
        if let Some(tools) = &self.tools {
            context.settings.set_flag(Key::SERVER_TOOLS, "--tools", tools)?;
        }
        let options = ServerOptions::default().tools(offered(&context)?);
        if context.settings.text(Key::SERVER_TOOLS).is_some_and(|which| which.trim() == "device") {
            context.output.warn(
                "device tools are not part of this version, so that no tool is offered; use `--tools skills` or `all`",
            );
        }
        let catalog = context.catalog()?;
        syncing::beside(&context, &catalog)?;
        if std::io::stdin().is_terminal() {
            context.output.note("serving MCP on standard input and output; an MCP client is to start this");
        }
        mcp::serve_stdio(Server::new(&catalog, options)).map_err(|error| ended(&error))?;
        Ok(Exit::Done)
    }
}

/// A session that ended before its time.
fn ended(error: &SessionError) -> Failure {
    let (code, message, hint) = match error {
        SessionError::Output(cause) => (
            "output_failed",
            format!("cannot write the protocol on standard output: {cause}"),
            "check the disk or the program that reads it",
        ),
        SessionError::Input(cause) => (
            "input_failed",
            format!("cannot read requests from standard input: {cause}"),
            "check what standard input is connected to",
        ),
        other => {
            let cause = other.source().map_or_else(|| other.to_string(), ToString::to_string);
            (
                "serve_failed",
                format!("the MCP session ended: {cause}"),
                "check what the client sends; -vv tells more",
            )
        }
    };
    Failure::new(Exit::Negative, code, message, hint)
}

/// The tools that the flag or the setting names.
fn offered(context: &Context) -> Result<ToolFilter, Failure> {
    let text = context.settings.text(Key::SERVER_TOOLS).unwrap_or("all");
    ToolFilter::parse(text).map_err(|problems| {
        let said = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let (exit, code) = match context.settings.get(Key::SERVER_TOOLS).1 {
            Origin::Flag(_) => (Exit::Usage, "usage"),
            _ => (Exit::Configuration, "configuration"),
        };
        Failure::new(exit, code, said, "see `repertoire serve --help`").with_problems(&problems)
    })
}
