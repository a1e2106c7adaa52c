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
    let text = &answer.stdout;
    let parts = [
        "[lint_rejected]: id: this is not valid YAML".to_owned(),
        format!("\n --> {folder}/broken/SKILL.md:2:5\n  |\n2 | id: @\n  |     ^\n"),
        "\nwarning[lint_unavailable]: ".to_owned(),
        format!("\n --> {folder}/tool.skill.json:1:101\n"),
        "\nwarning[lint_alias_is_command]: \"home\" is a device command".to_owned(),
        format!("\n --> {folder}/lamp/SKILL.md:7:5\n  |\n7 |   - home\n  |     ^^^^\n"),
        "\nerror[lint_hidden_character]: U+200B in the text".to_owned(),
        format!(
            "\n  --> {folder}/lamp/SKILL.md:12:4\n   |\n12 | Tap\\u{{200b}} the lamp.\n   |    ^^^^^^^^\n"
        ),
    ];
    for part in parts {
        assert!(text.contains(&part), "{part} in {text}");
    }
    assert!(text.starts_with("error[lint_rejected]: "), "{text}");
    assert_eq!(text.lines().last(), Some("2 errors, 3 warnings, 0 notes"));
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

/// Codes of lint among the warnings of each line of an import.
fn warned(report: &Value) -> Vec<(String, String)> {
    let mut codes = Vec::new();
    for line in report["skills"].as_array().expect("skills") {
        for warning in line["warnings"].as_array().expect("warnings") {
            let code = warning["code"].as_str().unwrap_or_default();
            if code.starts_with("lint_") {
                let place = format!("{}:{}", warning["line"], warning["column"]);
                codes.push((format!("{} {code}", line["id"].as_str().unwrap_or_default()), place));
            }
        }
    }
    codes
}

fn pair(code: &str, place: &str) -> (String, String) {
    (code.to_owned(), place.to_owned())
}

#[test]
fn an_import_tells_what_lint_finds_and_is_not_stopped_by_it() {
    let program = Program::new();
    program.write("in/lamp/SKILL.md", &BAD.replace("Tap the", "Tap\u{200b} the"));
    program.write("in/red.skill.json", "{\"id\": \"red\", \"kind\": \"knowledge\", \"name\": \"Red\",\n \"description\": \"A light. It is red.\",\n \"aliases\": [\"lamp\"], \"content\": \"x\"}");
    let folder = program.path("in").display().to_string();
    let expect = [
        pair("lamp lint_risk_below_tools", "5:1"),
        pair("lamp lint_hidden_character", "12:4"),
        pair("red lint_description_sentences", "2:17"),
        pair("red lint_alias_collision", "3:14"),
    ];
    let checked = program.json(&["import", "--check", &folder], 0);
    assert_eq!(warned(&checked), expect);
    // An alias that is a device command has a warning of its own, which is not told twice.
    assert!(checked.to_string().contains("alias_shadows_builtin"));
    let done = program.run(&["-v", "import", &folder]).code(0);
    for part in
        ["note[lint_description_sentences]", "error[lint_hidden_character]", "12 | Tap\\u{200b} the lamp."]
    {
        assert!(done.stdout.contains(part), "{part} in {}", done.stdout);
    }
    assert!(done.stderr.contains("published a generation"), "{}", done.stderr);
    assert_eq!(
        warned(&program.json(&["import", &folder], 0)),
        expect,
        "unchanged skills keep their warnings"
    );
    let again = program.run(&["import", &folder]).code(0);
    assert!(!again.stdout.contains("lint_"), "what is unchanged is not told again: {}", again.stdout);
    assert!(again.stderr.contains("4 findings more"), "{}", again.stderr);
    program.write("in/red.skill.json", "{\"id\": \"red\", \"kind\": \"knowledge\", \"name\": \"Red\", \"description\": \"A. B.\", \"content\": \"x\", \"aliases\": [\"lamp\"]}");
    let changed = program.run(&["import", &folder]).code(0).stdout;
    assert!(
        changed.contains("lint_alias_collision") && !changed.contains("lint_description_sentences"),
        "{changed}"
    );
    program.write("in/red.skill.json", "{\"id\": \"red\", \"kind\": \"knowledge\", \"name\": \"Red\", \"description\": \"C. D.\", \"content\": \"x\", \"aliases\": [\"lamp\"]}");
    let quiet = program.run(&["-q", "import", &folder]).code(0);
    assert!(!quiet.stdout.contains("lint_") && quiet.stderr.is_empty(), "{}{}", quiet.stdout, quiet.stderr);
}

#[test]
fn an_import_compares_with_what_stands_and_tries_what_it_brings() {
    let program = Program::new();
    let skill = |id: &str, more: &str| {
        format!(
            "{{\"id\": \"{id}\", \"kind\": \"knowledge\", \"name\": \"{id}\", \"description\": \"Shines on what is near.\", \"content\": \"x\"{more}}}"
        )
    };
    let first = program.write("first.skill.json", &skill("lamp", ", \"aliases\": [\"desk light\"]"));
    let more = ", \"aliases\": [\"Desk-Light\"], \"examples\": [\"turn the desk light on\"]";
    let second = program.write("second.skill.json", &skill("torch", more));
    assert_eq!(warned(&program.json(&["import", &first], 0)), []);
    let report = program.json(&["import", &second], 0);
    let codes: Vec<String> = warned(&report).into_iter().map(|(code, _)| code).collect();
    assert_eq!(
        codes,
        ["torch lint_alias_collision"],
        "the skill that comes is told, not the one that stands"
    );
    let third = program.write("third.skill.json", &skill("candle", ", \"examples\": [\"bake a cake\"]"));
    assert_eq!(warned(&program.json(&["import", &third], 0)), []);
    let lost = program
        .write("lost.skill.json", &skill("fire", ", \"examples\": [\"go home\"], \"aliases\": [\"torch\"]"));
    let codes: Vec<String> =
        warned(&program.json(&["import", &lost], 0)).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["fire lint_example_is_command", "fire lint_alias_collision"]);
}
