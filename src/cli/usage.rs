//! Help, version, and wrong command lines: one line with what is wrong and what to do.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use repertoire::error::shorten;

use super::exit::{Exit, Failure};
use super::output::{Colour, Output};

/// Shows what the parser says instead of a command: help and version on standard output, the rest as a failure.
pub(crate) fn answer(mut error: clap::Error, words: &[OsString]) -> Exit {
    cut_echoes(&mut error);
    let error = &error;
    let said = Wishes::read(words);
    let output = Output::new(said.json, false, said.colour);
    let text = || {
        let rendered = error.render();
        if output.paints() { rendered.ansi().to_string() } else { rendered.to_string() }
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match Output::own_text(&text()) {
            Ok(()) => return Exit::Done,
            Err(failure) => output.failure(&failure),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !said.json => {
            Output::own_error_text(&error.render().to_string());
        }
        _ => output.failure(&failure(error)),
    }
    Exit::Usage
}

/// Shortens what the parser shows back of the command line.
fn cut_echoes(error: &mut clap::Error) {
    let long: Vec<(ContextKind, String)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => match shorten(text) {
                Cow::Owned(short) => Some((kind, short)),
                Cow::Borrowed(_) => None,
            },
            _ => None,
        })
        .collect();
    for (kind, short) in long {
        error.insert(kind, ContextValue::String(short));
    }
}

/// A parser's error as one of ours. It is told in paragraphs: what is wrong, tips, the usage, where to read on.
fn failure(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("no command is named", "see `repertoire --help`");
    }
    let text = error.render().to_string();
    let mut said = Vec::new();
    let mut tips = Vec::new();
    let mut usage = "repertoire";
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            tips.push(tip.to_owned());
        } else if let Some(rest) = line.strip_prefix("Usage: ") {
            usage = rest;
        } else if !line.starts_with("For more information") {
            said.push(line.strip_prefix("error: ").unwrap_or(line));
        }
    }
    let command: Vec<&str> =
        usage.split(' ').take_while(|word| !word.starts_with(['-', '<', '[']) && *word != "...").collect();
    tips.push(format!("see `{} --help`", command.join(" ")));
    Failure::usage(said.join(" "), tips.join("; "))
}

/// What the wrong command line wants of the output, as far as it can be told.
struct Wishes {
    json: bool,
    colour: Colour,
}

impl Wishes {
    fn read(words: &[OsString]) -> Self {
        let before_values: Vec<&str> =
            words.iter().skip(1).filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
        let named = |word: &str| match word {
            "always" => Colour::Always,
            "never" => Colour::Never,
            _ => Colour::Auto,
        };
        let mut colour = Colour::Auto;
        for (index, word) in before_values.iter().enumerate() {
            if *word == "--color" {
                colour = before_values.get(index + 1).map_or(colour, |word| named(word));
            } else if let Some(word) = word.strip_prefix("--color=") {
                colour = named(word);
            }
        }
        Self { json: before_values.contains(&"--json"), colour }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Arguments;

    fn check(words: &[&str], message: &str, hint: &str) {
        let error = Arguments::try_parse_from(words).unwrap_err();
        let failure = failure(&error);
        assert!(failure.message.contains(message), "{failure:?}");
        assert!(failure.hint.contains(hint), "{failure:?}");
        assert!(!failure.message.contains('\n') && !failure.hint.contains('\n'), "{failure:?}");
        assert_eq!(failure.exit, Exit::Usage);
    }

    #[test]
    fn a_wrong_command_line_is_one_line_with_the_next_step() {
        check(&["repertoire", "serch", "x"], "unrecognized subcommand 'serch'", "'search'");
        check(&["repertoire", "list", "--limt", "3"], "unexpected argument '--limt'", "'--limit'");
        check(&["repertoire", "get"], "<ID>", "see `repertoire get --help`");
        check(&["repertoire", "list", "--kind", "x"], "invalid value 'x'", "see `repertoire");
        check(&["repertoire"], "no command is named", "see `repertoire --help`");
        check(
            &["repertoire", "entitlements", "grant"],
            "<SUB>",
            "see `repertoire entitlements grant --help`",
        );
    }

    #[test]
    fn wishes_end_at_the_double_dash() {
        let read = |words: &[&str]| Wishes::read(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(read(&["repertoire", "get", "--json"]).json);
        assert!(!read(&["repertoire", "get", "--", "--json"]).json);
        assert_eq!(read(&["repertoire", "--color", "never"]).colour, Colour::Never);
        assert_eq!(read(&["repertoire", "--color=always"]).colour, Colour::Always);
    }
}
