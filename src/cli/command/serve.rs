//! `serve`: the catalog over MCP on standard input and output, or over HTTP.

use std::error::Error as _;
use std::io::IsTerminal as _;

use clap::Args;
use repertoire::authoring::Authoring;
use repertoire::device::FileAccess;
use repertoire::guard::GuardOptions;
use repertoire::mcp::{self, Server, ServerOptions, SessionError, ToolFilter};

use crate::cli::command::serve_http::OverHttp;
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
    /// Repeat every result in full as text, for hosts that show their model the text only
    #[arg(long)]
    full_text: bool,
    /// Speak Streamable HTTP
    #[command(flatten)]
    over_http: OverHttp,
    /// Skill whose allowed tools are never exceeded
    #[arg(
        long,
        value_name = "ID",
        help = "Limit the device tools to those that this skill allows, whatever the model asks [env: REPERTOIRE_SERVER_SKILL]"
    )]
    skill: Option<String>,
    /// Another driver than adb
    #[arg(long, value_name = "DRIVER", hide = true)]
    driver: Option<String>,
}

impl Serve {
    /// Serves until the input ends, over HTTP until the process is asked to end.
    ///
    /// # Errors
    /// Wrong settings and an unusable data directory, before anything is served; a client whose first messages
    /// cannot be answered; input or output that fails otherwise than by being closed.
    pub(crate) fn run(&self, mut context: Context) -> Result<Exit, Failure> {
        if let Some(tools) = &self.tools {
            context.settings.set_flag(Key::SERVER_TOOLS, "--tools", tools)?;
        }
        if let Some(skill) = &self.skill {
            context.settings.set_flag(Key::SERVER_SKILL, "--skill", skill)?;
        }
        let tools = offered(&context)?;
        let catalog = context.catalog()?;
        syncing::beside(&context, &catalog)?;
        let mut guard = GuardOptions::default().policy(context.policy(catalog.registry())?);
        if let Some(skill) = context.settings.text(Key::SERVER_SKILL) {
            guard = guard.pinned(skill);
        }
        let files = FileAccess::Below(context.data.path.join("screenshots"));
        let devices = context.devices(self.driver.as_deref(), files)?;
        let options =
            ServerOptions::default().tools(tools).full_text(self.full_text).devices(devices).guard(guard);
        let options = if context.settings.flag(Key::AUTHORING_ENABLED) {
            options.authoring(Authoring::new(&catalog))
        } else {
            options
        };
        if self.over_http.is_wanted() {
            return self.over_http.run(context, options);
        }
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
