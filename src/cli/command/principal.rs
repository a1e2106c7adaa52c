//! `principal`: who may call the MCP server over HTTP, and with what sight.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use repertoire::mcp::ToolFilter;
use repertoire::mcp::http::{
    Principal, PrincipalsError, Token, add_principal, read_principals, remove_principal,
};
use repertoire::{Layer, Narrowing, Problem};
use serde::Serialize;

use crate::cli::args::layer_parser;
use crate::cli::command::serve_http::principals_path;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::Tone;
use crate::cli::table::Table;

/// Arguments of `principal`.
#[derive(Debug, Args)]
pub(crate) struct Principals {
    /// What to do.
    #[command(subcommand)]
    action: Action,
}

/// What to do with principals.
#[derive(Debug, Subcommand)]
enum Action {
    /// Let somebody call, with a new token that is shown this once
    Add(Add),
    /// Show who may call
    List,
    /// Let somebody call no longer, in open sessions too
    Remove {
        /// Name of the principal
        name: String,
    },
}

/// Arguments of `principal add`.
#[derive(Debug, Args)]
struct Add {
    /// Name of the principal, for you alone
    name: String,
    /// Only skills of these subscriptions, with commas between them
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    subscriptions: Option<Vec<String>>,
    /// Only skills of these layers, with commas between them
    #[arg(long, value_name = "LAYERS", value_delimiter = ',', value_parser = layer_parser())]
    layers: Option<Vec<Layer>>,
    /// Only these tools: skills, device, all, or comma-separated names
    #[arg(long, value_name = "WHICH")]
    tools: Option<String>,
    /// Pin the scope of this skill
    #[arg(long, value_name = "ID")]
    skill: Option<String>,
    /// Policy for this principal's device calls
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Let the principal read /metrics
    #[arg(long)]
    metrics: bool,
}

/// A principal in the JSON form.
#[derive(Debug, Serialize)]
struct Line {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscriptions: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layers: Option<BTreeSet<Layer>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<PathBuf>,
    metrics: bool,
}

/// The JSON form of `principal add`.
#[derive(Debug, Serialize)]
struct Added {
    principal: Line,
    token: String,
}

/// The JSON form of `principal list`.
#[derive(Debug, Serialize)]
struct Listed {
    principals: Vec<Line>,
}

/// The JSON form of `principal remove`.
#[derive(Debug, Serialize)]
struct Removed {
    name: String,
    removed: bool,
}

impl Principals {
    /// What was typed for the action.
    pub(crate) fn action_name(&self) -> &'static str {
        match self.action {
            Action::Add(_) => "add",
            Action::List => "list",
            Action::Remove { .. } => "remove",
        }
    }

    /// Changes or shows the file; a running server follows at its next request.
    ///
    /// # Errors
    /// The file is wrong or cannot be written; negative if there is nobody of that name to remove.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let path = principals_path(context);
        match &self.action {
            Action::Add(add) => add.run(context, &path),
            Action::List => list(context, &path),
            Action::Remove { name } => {
                let removed = remove_principal(&path, name).map_err(|error| failure(&path, error))?;
                let said = if removed {
                    format!("{name} may call no longer")
                } else {
                    format!("there is no principal {name:?}")
                };
                let answer = Removed { name: name.clone(), removed };
                let tone = if removed { Tone::Good } else { Tone::Careful };
                context.output.answer(&answer, |out| out.line(tone, &said))?;
                Ok(Exit::done_if(removed))
            }
        }
    }
}

impl Add {
    fn run(&self, context: &Context, path: &std::path::Path) -> Result<Exit, Failure> {
        let token = Token::generate().map_err(|error| {
            Failure::new(Exit::Data, "random_failed", format!("no token can be made: {error}"), "try again")
        })?;
        let mut narrowing = Narrowing::default();
        narrowing.subscriptions = self.subscriptions.as_ref().map(|ids| ids.iter().cloned().collect());
        narrowing.layers = self.layers.as_ref().map(|layers| layers.iter().copied().collect());
        let mut principal = Principal::new(&self.name, token.hash());
        principal.narrowing = narrowing;
        principal.tools = self.tools.as_deref().map(ToolFilter::parse).transpose().map_err(|problems| {
            Failure::usage(format!("--tools: {}", said(&problems)), "").with_problems(&problems)
        })?;
        principal.skill.clone_from(&self.skill);
        principal.policy.clone_from(&self.policy);
        principal.metrics = self.metrics;
        // The folder of the file is the data directory, which the first use makes.
        context.catalog()?;
        add_principal(path, &principal).map_err(|error| failure(path, error))?;
        let answer = Added { principal: Line::of(&principal), token: token.reveal().to_owned() };
        context.output.answer(&answer, |out| {
            out.line(Tone::Plain, token.reveal());
        })?;
        context.output.note(&format!("{} may call with this token; it is not shown again", self.name));
        Ok(Exit::Done)
    }
}

impl Line {
    fn of(principal: &Principal) -> Self {
        Self {
            name: principal.name.clone(),
            subscriptions: principal.narrowing.subscriptions.clone(),
            layers: principal.narrowing.layers.clone(),
            tools: principal.tools.as_ref().map(ToString::to_string),
            skill: principal.skill.clone(),
            policy: principal.policy.clone(),
            metrics: principal.metrics,
        }
    }
}

fn list(context: &Context, path: &std::path::Path) -> Result<Exit, Failure> {
    let principals =
        read_principals(path).map_err(|problems| failure(path, PrincipalsError::Rejected(problems)))?;
    let answer = Listed { principals: principals.iter().map(Line::of).collect() };
    context.output.answer(&answer, |out| {
        let mut table = Table::new(&["NAME", "SUBSCRIPTIONS", "LAYERS", "TOOLS", "SKILL", "METRICS"]);
        for line in &answer.principals {
            let subscriptions = line.subscriptions.as_ref().map(|ids| join(ids.iter().map(String::as_str)));
            let layers = line.layers.as_ref().map(|layers| join(layers.iter().map(|layer| layer.name())));
            table.row([
                (Tone::Name, &line.name),
                (Tone::Plain, subscriptions.as_deref().unwrap_or("all")),
                (Tone::Plain, layers.as_deref().unwrap_or("all")),
                (Tone::Plain, line.tools.as_deref().unwrap_or("all")),
                (Tone::Plain, line.skill.as_deref().unwrap_or_default()),
                (Tone::Faint, if line.metrics { "yes" } else { "" }),
            ]);
        }
        if !table.is_empty() {
            out.table(&table);
        }
    })?;
    if answer.principals.is_empty() {
        context
            .output
            .note("nobody but who has the server's own token; see `repertoire principal add --help`");
    }
    Ok(Exit::Done)
}

fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

fn said(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn failure(path: &std::path::Path, error: PrincipalsError) -> Failure {
    let place = path.display();
    match error {
        PrincipalsError::Rejected(problems) => Failure::configuration(
            format!("{place} is rejected: {}", said(&problems)),
            "correct what is named, or choose another name",
        )
        .with_problems(&problems),
        PrincipalsError::Io(cause) => Failure::file(Exit::Data, "write", path, &cause),
        other => Failure::new(
            Exit::Data,
            "principals_busy",
            format!("cannot change {place}: {other}"),
            "try again when the other change is done",
        ),
    }
}
