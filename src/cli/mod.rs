//! The command line: reads arguments and settings, runs one command, shows its answer.
//!
//! `args` is what can be written; each file of `command` is one command: it asks the catalog and fills an answer.
//! `output` is the only place that writes on standard output; `exit` maps every failure to an exit code with a cause
//! and a next step; `config` and `place` find settings and data directory.
//!
//! Invariant: standard output carries the result (or, with `--json`, the failure) and nothing else; no text of a skill
//! reaches a terminal unescaped.

mod args;
mod command;
mod config;
mod context;
mod diagnostic;
mod escape;
mod exit;
mod folder;
mod input;
mod logging;
mod output;
mod page;
mod phones;
mod place;
mod progress;
mod roots;
mod summary;
mod syncing;
mod table;
mod usage;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use self::args::{Arguments, Command};
use self::context::Context;
use self::exit::{Exit, Failure};
use self::output::Output;

/// Runs the command that the process was called with.
pub(crate) fn run() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let exit = match Arguments::try_parse_from(&words) {
        Ok(arguments) => execute(&arguments),
        Err(error) => usage::answer(error, &words),
    };
    ExitCode::from(exit as u8)
}

/// Runs a command and shows its failure, if it fails.
fn execute(arguments: &Arguments) -> Exit {
    let globals = &arguments.globals;
    let mut output = Output::new(globals.json, globals.quiet, globals.color).verbose(globals.verbose);
    let serves = matches!(arguments.command, Command::Serve(_));
    if serves {
        output.reserve();
    }
    let logs = serves || matches!(&arguments.command, Command::Platform(command) if command.serves());
    let log = logging::start(globals, logs);
    let done = dispatch(arguments, &output).or_else(|failure| {
        // A server heals at its next query; this process has only this one.
        if failure.code == "storage_damaged" && heal(arguments, &output)? {
            return dispatch(arguments, &output);
        }
        Err(failure)
    });
    for warning in log.take() {
        output.alarm(&warning);
    }
    done.unwrap_or_else(|failure| {
        let failure = failure.of_command(&arguments.command.name());
        output.failure(&failure);
        failure.exit
    })
}

/// Mends the data directory; false if there was nothing to mend.
fn heal(arguments: &Arguments, output: &Output) -> Result<bool, Failure> {
    let context = Context::load(&arguments.globals, output.clone())?;
    Ok(context.catalog()?.heal()? > 0)
}

/// Calls the command. Those that need neither settings nor data work with broken ones, too.
fn dispatch(arguments: &Arguments, output: &Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Completions(command) => return command.run(output),
        Command::Man(command) => return command.run(output),
        Command::Demo(command) => return command.run(output),
        _ => {}
    }
    let context = Context::load(&arguments.globals, output.clone())?;
    match &arguments.command {
        Command::Completions(_) | Command::Man(_) | Command::Demo(_) => Ok(Exit::Done),
        Command::Serve(command) => command.run(context),
        Command::Principal(command) => command.run(&context),
        Command::Sync(command) => command.run(&context),
        Command::List(command) => command.run(&context),
        Command::Search(command) => command.run(&context),
        Command::Match(command) => command.run(&context),
        Command::Get(command) => command.run(&context),
        Command::Resolve(command) => command.run(&context),
        Command::Import(command) => command.run(&context),
        Command::Export(command) => command.run(&context),
        Command::Lint(command) => command.run(&context),
        Command::Learn(command) => command.run(&context),
        Command::Learned(command) => command.run(&context),
        Command::Entitlements(command) => command.run(&context),
        Command::Status(command) => command.run(&context),
        Command::Inspect(command) => command.run(&context),
        Command::Verify(command) => command.run(&context),
        Command::Rollback(command) => command.run(&context),
        Command::Compact(command) => command.run(&context),
        Command::Tools(command) => command.run(&context),
        Command::Device(command) => command.run(&context),
        Command::Config(command) => command.run(&context),
        Command::Eval(command) => command.run(&context),
        Command::Bench(command) => command.run(&context),
        Command::Platform(command) => command.run(&context),
    }
}
