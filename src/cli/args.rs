//! The command line: global options, and one variant for each command.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use repertoire::model::{Kind, Layer, Risk};

use super::command;
use super::output::Colour;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "repertoire",
    version,
    about = "A skill catalog for agents that operate phones",
    long_about = "A skill catalog for agents that operate phones: imports the skills that people write, keeps them in \
                  memory-mapped snapshots, answers which skill fits a request, and serves them over MCP.",
    after_help = AFTER_HELP,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = false
)]
pub(crate) struct Arguments {
    /// Options of every command.
    #[command(flatten)]
    pub(crate) globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done; 1 ran, but the answer is negative; 2 usage; 3 configuration; 4 data directory;
5 network or platform, 6 device.
Start with `repertoire demo`.";

/// Options that every command takes, before or after its name.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Data directory
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help = "Data directory [env: REPERTOIRE_DATA] [default: the platform's data folder]"
    )]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Configuration file [env: REPERTOIRE_CONFIG] [default: config.toml in the data directory]"
    )]
    pub(crate) config: Option<PathBuf>,
    /// Tell more on standard error; twice for details
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Tell nothing but errors on standard error
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When to use colour: auto, always, never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: Colour,
    /// Answer with one JSON object on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take a half-minute tour in a temporary catalog; leaves nothing behind
    Demo(command::demo::Demo),
    /// Serve the catalog over MCP: on standard input and output, or over HTTP
    Serve(command::serve::Serve),
    /// Say who may call the server over HTTP, and with what sight
    Principal(command::principal::Principals),
    /// Fetch what the platform has
    Sync(command::sync::Sync),
    /// List the skills
    List(command::list::List),
    /// Find skills by words
    Search(command::search::Search),
    /// Find the one skill that should handle a request
    Match(command::find::Match),
    /// Show a skill
    Get(command::get::Get),
    /// Fill a flow template in: its steps with all values
    Resolve(command::resolve::Resolve),
    /// Import skills that people wrote: files and folders
    Import(command::import::Import),
    /// Write skills out as files
    Export(command::export::Export),
    /// Look for what is wrong with skills that can be imported
    Lint(command::lint::Lint),
    /// Learn flow templates from the records of successful tasks
    Learn(command::learn::Learn),
    /// Look at learned skills, rename, promote, forget, export them
    Learned(command::learned::Learned),
    /// Show and change what this deployment may see
    Entitlements(command::entitlements::Entitlements),
    /// Show layers, generations, sizes, sync state and entitlements
    Status(command::status::Status),
    /// Show the sections of the snapshot files
    Inspect(command::files::Inspect),
    /// Check every byte of the snapshot files
    Verify(command::files::Verify),
    /// Go back to a layer's previous generation
    Rollback(command::rollback::Rollback),
    /// Remove files that nothing needs any more
    Compact(command::compact::Compact),
    /// List the tools that skills may use
    Tools(command::tools::Tools),
    /// Use a phone by hand: any device tool
    Device(command::device::Device),
    /// Show effective settings and where each came from
    Config(command::config::Config),
    /// Measure the search on a labelled set
    Eval(command::eval::Eval),
    /// Measure how long queries take here
    Bench(command::bench::Bench),
    /// Serve skills from a folder as the Subscription Platform would, for development; or check a platform
    Platform(command::platform::Platform),
    /// Write a shell's completion script
    Completions(command::completions::Completions),
    /// Write the manual page
    Man(command::man::Man),
}

impl Command {
    /// What was typed for it, such as `entitlements hide`.
    pub(crate) fn name(&self) -> String {
        let name = match self {
            Self::Demo(_) => "demo",
            Self::Serve(_) => "serve",
            Self::Principal(command) => return format!("principal {}", command.action_name()),
            Self::Sync(_) => "sync",
            Self::List(_) => "list",
            Self::Search(_) => "search",
            Self::Match(_) => "match",
            Self::Get(_) => "get",
            Self::Resolve(_) => "resolve",
            Self::Import(_) => "import",
            Self::Export(_) => "export",
            Self::Entitlements(command) => return format!("entitlements {}", command.action_name()),
            Self::Status(_) => "status",
            Self::Inspect(_) => "inspect",
            Self::Verify(_) => "verify",
            Self::Rollback(_) => "rollback",
            Self::Compact(_) => "compact",
            Self::Tools(_) => "tools",
            Self::Device(command) => return command.name(),
            Self::Config(_) => "config show",
            Self::Eval(_) => "eval",
            Self::Bench(_) => "bench",
            Self::Lint(_) => "lint",
            Self::Learn(_) => "learn",
            Self::Learned(command) => return format!("learned {}", command.action_name()),
            Self::Platform(command) => command.action_name(),
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        };
        name.to_owned()
    }
}

/// Narrows a query to some of the deployment's subscriptions.
#[derive(Clone, Debug, Args)]
pub(crate) struct Narrowed {
    /// See only what these of the active subscriptions bring, comma-separated; skills that no subscription brings
    /// (local, learned, bundled) show anyway
    #[arg(long, value_name = "SUB,...", value_delimiter = ',')]
    subscriptions: Option<Vec<String>>,
}

impl Narrowed {
    /// The subscriptions; an empty list sees no synced skill at all.
    pub(crate) fn subscriptions(&self) -> Option<BTreeSet<String>> {
        let named = self.subscriptions.as_ref()?;
        Some(named.iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect())
    }
}

/// Reads `knowledge` or `flow_template`.
pub(crate) fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(["knowledge", "flow_template"]).map(|name| match name.as_str() {
        "knowledge" => Kind::Knowledge,
        _ => Kind::FlowTemplate,
    })
}

/// Reads `low`, `medium` or `high`.
pub(crate) fn risk_parser() -> impl TypedValueParser<Value = Risk> {
    PossibleValuesParser::new(["low", "medium", "high"]).map(|name| match name.as_str() {
        "low" => Risk::Low,
        "medium" => Risk::Medium,
        _ => Risk::High,
    })
}

/// Reads a layer's name.
pub(crate) fn layer_parser() -> impl TypedValueParser<Value = Layer> {
    PossibleValuesParser::new(Layer::ALL.map(Layer::name))
        .map(|name| Layer::from_name(&name).unwrap_or(Layer::Local))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_model_value_can_be_named() {
        for name in
            ["knowledge", "flow_template", "low", "medium", "high", "synced", "local", "learned", "bundled"]
        {
            let option = match name {
                "knowledge" | "flow_template" => "--kind",
                "low" | "medium" | "high" => "--risk",
                _ => "--layer",
            };
            let parsed = Arguments::try_parse_from(["repertoire", "list", option, name]).unwrap();
            let Command::List(list) = parsed.command else { panic!("not list") };
            let filter = list.filter.filter();
            let said = match option {
                "--kind" => serde_json::to_string(&filter.kind).unwrap(),
                "--risk" => serde_json::to_string(&filter.risk).unwrap(),
                _ => serde_json::to_string(&filter.layer).unwrap(),
            };
            assert_eq!(said, format!("{name:?}"));
        }
    }
}
