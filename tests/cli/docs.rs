//! `docs/cli.md` names what the program has, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
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

/// The examples of a page: each fenced block below a line `Save as `PATH`:`.
fn examples(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for part in page.split("\nSave as `").skip(1) {
        let (path, rest) = part.split_once("`:\n\n```").expect("a block below the line");
        let (_, rest) = rest.split_once('\n').expect("the language of the block");
        let (text, _) = rest.split_once("\n```").expect("the end of the block");
        found.push((path.to_owned(), format!("{text}\n")));
    }
    found
}

#[test]
fn every_example_of_the_fields_is_imported_without_a_warning_and_holds_every_field() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/fields.md")).expect("a page");
    let examples = examples(&page);
    assert_eq!(examples.len(), 4);
    let program = Program::new();
    for (path, text) in &examples {
        program.write(&format!("in/{path}"), text);
    }
    let report = program.json(&["import", "--full", &program.path("in").display().to_string()], 0);
    assert_eq!(report["counts"]["added"], 5, "{report}");
    let mut seen = BTreeSet::new();
    for line in report["skills"].as_array().expect("skills") {
        assert_eq!(line["warnings"], serde_json::json!([]), "{line}");
        assert!(line.get("unavailable").is_none(), "{line}");
        let skill = line["skill"].as_object().expect("a skill");
        let filled =
            |value: &&serde_json::Value| **value != serde_json::json!([]) && **value != serde_json::json!({});
        seen.extend(skill.iter().filter(|(_, value)| filled(value)).map(|(field, _)| field.clone()));
    }
    let flow = program.json(&["resolve", "compose-sms", "-p", "body=Hi"], 0);
    assert_eq!(flow["steps"][1]["args"], serde_json::json!({"timeout_ms": 1000, "stable_ms": 500}));
    // The table of the canonical form names what the examples hold, and what no example can.
    let table = page.split("A parameter:").next().expect("the first table");
    let documented: BTreeSet<String> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .flat_map(|line| line.split('|').nth(1).unwrap_or_default().split(','))
        .map(|name| name.trim().trim_matches('`').to_owned())
        .collect();
    seen.extend(["resources", "derived_from"].map(str::to_owned));
    assert_eq!(seen, documented);
}
