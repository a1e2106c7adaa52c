//! `lint`: of files, of the catalog, in three forms.

use std::fs;

use serde_json::{Value, json};

use crate::program::{Program, members};

const BAD: &str = "---
id: lamp
title: Lamp
description: Switch the lamp on.
risk: low
aliases:
  - home
allowed_tools:
  - tap
---

Tap the lamp.
";

fn found(answer: &Value) -> Vec<(String, u64)> {
    let line = |finding: &Value| {
        let code = finding["code"].as_str().unwrap_or_default().to_owned();
        (code, finding["line"].as_u64().unwrap_or(0))
    };
    answer["findings"].as_array().expect("findings").iter().map(line).collect()
}

#[test]
fn files_are_looked_at_without_touching_the_catalog() {
    let program = Program::new();
    let file = program.write("in/lamp/SKILL.md", BAD);
    let answer = program.json(&["lint", &file], 0);
    assert_eq!(members(&answer), ["counts", "findings"]);
    assert_eq!(
        found(&answer),
        [("lint_risk_below_tools".to_owned(), 5), ("lint_alias_is_command".to_owned(), 7)]
    );
    assert_eq!(
        members(&answer["findings"][1]),
        ["code", "column", "field", "id", "line", "message", "path", "severity"]
    );
    assert_eq!(answer["findings"][1]["path"], json!(file));
    assert_eq!(answer["counts"], json!({"error": 0, "warning": 2, "note": 0}));
    assert!(!program.path("data").join("CURRENT").exists(), "the data directory is left alone");
}

#[test]
fn lines_are_those_of_a_compiler_and_errors_make_the_answer_negative() {
    let program = Program::new();
    program.write("in/lamp/SKILL.md", &BAD.replace("Tap the", "Tap\u{200b} the"));
    program.write("in/broken/SKILL.md", "---\nid: @\n---\n");
    program.write("in/tool.skill.json", r#"{"id":"tool","kind":"flow_template","name":"Tool","description":"Uses what is not there.","steps":[{"tool":"gone","args_template":{}}]}"#);
    let folder = program.path("in").display().to_string();
    let answer = program.run(&["lint", &folder]).code(1);
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("{folder}/broken/SKILL.md:2:5: error: ")), "{}", answer.stdout);
    assert!(lines[0].ends_with("[yaml_invalid] [lint_rejected]"));
    assert!(
        lines[1].starts_with(&format!("{folder}/tool.skill.json:1:101: warning: "))
            && lines[1].ends_with("[lint_unavailable]"),
        "{}",
        answer.stdout
    );
    assert!(
        lines.iter().any(|line| line.starts_with(&format!("{folder}/lamp/SKILL.md:12:4: error: U+200B")))
    );
    assert_eq!(lines.last(), Some(&"2 errors, 3 warnings, 0 notes"));
    let gone = program.path("gone").display().to_string();
    program.run(&["lint", &gone]).code(1);
}

#[test]
fn sarif_has_a_name_of_its_own_and_goes_before_json() {
    let program = Program::new();
    let file = program.write("lamp/SKILL.md", BAD);
    let one = program.json(&["lint", "--format", "sarif", &file], 0);
    assert_eq!(
        (&one["version"], one["runs"][0]["results"].as_array().map(Vec::len)),
        (&json!("2.1.0"), Some(2))
    );
    assert_eq!(program.run(&["lint", "--sarif", &file]).code(0).json(), one);
    assert_eq!(
        program.run(&["lint", "--format", "json", &file]).code(0).json(),
        program.json(&["lint", &file], 0)
    );
    program.run(&["lint", "--sarif", "--format", "json", &file]).code(2);
}

#[test]
fn without_paths_the_catalog_is_looked_at_with_the_places_of_its_files() {
    let program = Program::new();
    assert_eq!(found(&program.json(&["lint"], 0)), [], "the starter skills are clean");
    let file = program.write("in/lamp/SKILL.md", BAD);
    let folder = program.path("in").display().to_string();
    program.run(&["import", &folder]).code(0);
    let answer = program.json(&["lint"], 0);
    assert_eq!(answer["findings"][1]["line"], 7);
    let path = answer["findings"][1]["path"].as_str().expect("a path");
    assert_eq!(fs::canonicalize(path).expect("it is there"), fs::canonicalize(file).expect("it is there"));
    program.run(&["entitlements", "hide", "lamp"]).code(0);
    assert_eq!(found(&program.json(&["lint"], 0)), [], "what is hidden is not looked at");
}

#[test]
fn skills_of_one_json_file_have_places_of_their_own() {
    let program = Program::new();
    let skill = |id: &str, alias: &str| {
        format!(
            "{{\"id\": \"{id}\", \"kind\": \"knowledge\", \"name\": \"Lamp {id}\", \"content\": \"x\",\n \"aliases\": [\"{alias}\"], \"description\": \"Switch it on.\"}}"
        )
    };
    let array = program
        .write("a.skill.json", &format!("[{},\n{}]", skill("red", "red lamp"), skill("blue", "go home")));
    let answer = program.json(&["lint", &array], 0);
    assert_eq!(found(&answer), [("lint_alias_is_command".to_owned(), 4)]);
    assert_eq!(answer["findings"][0]["column"], 14);
    let lines = program.write("b.skill.jsonl", &skill("green", "home").replace('\n', ""));
    assert_eq!(found(&program.json(&["lint", &lines], 0)), [("lint_alias_is_command".to_owned(), 1)]);
}
