//! The configuration file: read with a limit, parsed with lines.

use std::ops::Range;
use std::path::Path;

use repertoire::Problem;
use repertoire::error::{line_and_column, shorten};
use repertoire::limits::CONFIG_BYTES_MAX;
use toml::de::{DeTable, DeValue};

use super::keys::{Key, TABLE, is_section};
use super::nearest;
use super::value::Value;
use crate::cli::exit::{Exit, Failure};
use crate::cli::input::Purpose;

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    let purpose = Purpose {
        exit: Exit::Configuration,
        what: "the configuration",
        smaller: "check that it is the configuration file",
    };
    purpose.read_text(path, CONFIG_BYTES_MAX)
}

/// Reads settings with their lines; what is wrong goes to `wrong`.
pub(super) fn parse(text: &str, wrong: &mut Vec<Problem>) -> Vec<(Key, Value, u32)> {
    let mut found = Vec::new();
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => {
            let (line, column) = position(text, error.span());
            let message = format!("is not valid TOML: {}", error.message().replace('\n', ", "));
            wrong.push(Problem::new("invalid_toml", "", message).at(line, column));
            return found;
        }
    };
    for (section, content) in &table {
        let (line, column) = position(text, Some(section.span()));
        let name = section.get_ref().as_ref();
        match content.get_ref() {
            DeValue::Table(entries) if is_section(name) => {
                take_section(text, name, entries, &mut found, wrong);
            }
            _ => wrong.push(unknown_section(name).at(line, column)),
        }
    }
    found
}

fn take_section(
    text: &str,
    section: &str,
    entries: &DeTable<'_>,
    found: &mut Vec<(Key, Value, u32)>,
    wrong: &mut Vec<Problem>,
) {
    for (name, value) in entries {
        let (line, column) = position(text, Some(name.span()));
        let read = match Key::find(section, name.get_ref()) {
            Some(key) => Value::from_toml(key, value.get_ref()).map(|value| (key, value, line)),
            None => Err(unknown_key(section, name.get_ref())),
        };
        match read {
            Ok(setting) => found.push(setting),
            Err(problem) => wrong.push(problem.at(line, column)),
        }
    }
}

fn unknown_section(name: &str) -> Problem {
    let name = &*shorten(name);
    let known = TABLE.iter().map(|row| row.section.to_owned());
    // A key on the top level is often one that lost its section.
    let message = match TABLE.iter().find(|row| row.name == name) {
        Some(row) if !is_section(name) => format!("unknown key; it belongs under [{}]", row.section),
        _ if is_section(name) => format!("is a section; write it as [{name}]"),
        _ => format!("unknown section; the nearest is [{}]", nearest(name, known)),
    };
    Problem::new("unknown_key", name, message)
}

fn unknown_key(section: &str, name: &str) -> Problem {
    let written = format!("{section}.{}", shorten(name));
    let near = nearest(&written, TABLE.iter().map(super::keys::Row::key));
    let message = format!("unknown key; the nearest is {near}");
    Problem::new("unknown_key", written, message)
}

/// Line and column of the beginning of a span, both from 1.
fn position(text: &str, span: Option<Range<usize>>) -> (u32, u32) {
    line_and_column(text, span.map_or(0, |span| span.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, line: u32, part: &str) {
        let mut wrong = Vec::new();
        parse(text, &mut wrong);
        let said = wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        assert_eq!(wrong.len(), 1, "{said}");
        assert_eq!(wrong[0].line, Some(line), "{said}");
        assert!(said.contains(part), "{said}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        check("[sync]\nurl = \n", 2, "not valid TOML");
        check("[sync\n", 1, "not valid TOML");
        check("\n\nurl = \"x\"\n", 3, "belongs under [sync]");
        check("sync = 3\n", 1, "write it as [sync]");
        check("[[sync]]\nurl = \"x\"\n", 1, "write it as [sync]");
        check("[sync]\n\ninterval_s = 0\n", 3, "from 1 to 86400");
        check("[sync]\ninterval_s = 1.5\n", 2, "whole number");
        check("[sync]\npublic_keys = [\"a\", 1]\n", 2, "array of strings");
        check("[sync]\nurl = \"a\"\nurl = \"b\"\n", 3, "not valid TOML");
        check("[storage]\nmap = \"disk\"\n", 2, "file, memory");
        check("[authoring]\nenabled = \"true\"\n", 2, "without quotes");
    }

    #[test]
    fn every_key_of_every_section_can_be_set() {
        for key in Key::all() {
            use super::super::keys::Kind;
            let row = key.row();
            let value = match row.kind {
                Kind::Secret => continue,
                Kind::Flag => "true".to_owned(),
                Kind::Number { max, .. } => max.to_string(),
                Kind::List => "[\"a\"]".to_owned(),
                Kind::Text | Kind::Path => "\"a\"".to_owned(),
                Kind::Choice(words) => format!("\"{}\"", words[0]),
            };
            let mut wrong = Vec::new();
            let found = parse(&format!("[{}]\n{} = {value}\n", row.section, row.name), &mut wrong);
            assert_eq!((found.len(), wrong.len()), (1, 0), "{}", row.key());
            assert_eq!((found[0].0, found[0].2), (key, 2));
        }
    }
}
