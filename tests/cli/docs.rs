//! `docs/cli.md` names what the program has, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::help::COMMANDS;
use crate::program::{Program, bare};

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md")).expect("docs/cli.md")
}

#[test]
fn commands_of_program_test_and_document_are_the_same() {
    let done = bare().arg("--help").output().expect("it runs");
    let help = String::from_utf8(done.stdout).expect("text");
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert_eq!(commands, COMMANDS);
    let document = document();
    let section = document.split("\n# Commands\n").nth(1).expect("a section of commands");
    let section = section.split("\n# ").next().expect("its text");
    let documented: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(documented, COMMANDS);
}

#[test]
fn options_of_every_command_are_documented() {
    let document = document();
    for command in COMMANDS {
        let done = bare().args([command, "--help"]).output().expect("it runs");
        let help = String::from_utf8(done.stdout).expect("text");
        for word in help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
            if word.starts_with("--") && word.len() > 2 && !["--help", "--version"].contains(&word) {
                let known = ["--verbose", "--quiet", "--param"].contains(&word);
                assert!(known || document.contains(word), "{command} {word}");
            }
        }
    }
}

#[test]
fn settings_and_defaults_of_program_and_document_are_the_same() {
    let shown = Program::new().json(&["config", "show"], 0);
    let shown: BTreeMap<String, String> = shown["values"]
        .as_object()
        .expect("values")
        .iter()
        .filter(|(key, _)| key.contains('.'))
        .map(|(key, setting)| {
            let value = match &setting["value"] {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Array(_) => String::new(),
                other => other.to_string(),
            };
            (key.clone(), value)
        })
        .collect();
    let document = document();
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")).filter(|row| row.contains('.'));
    let documented: BTreeMap<String, String> = rows
        .filter_map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let key = cells[0].trim_end_matches('`');
            (key.contains('.') && !key.contains(' ')).then(|| (key.to_owned(), cells[2].to_owned()))
        })
        .collect();
    assert_eq!(shown, documented);
}
