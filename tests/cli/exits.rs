//! Exit codes and error forms.

use crate::program::{Program, bare, members};

/// Runs words on a filled catalog; the code, and a part of the one error line (empty: no error line).
fn check(program: &Program, words: &[&str], code: i32, part: &str) {
    let answer = program.run(words);
    assert_eq!(answer.code, code, "{words:?}: {} {}", answer.stdout, answer.stderr);
    let errors: Vec<&str> = answer.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    if part.is_empty() {
        assert!(errors.is_empty(), "{words:?}: {errors:?}");
    } else {
        assert_eq!(errors.len(), 1, "{words:?}: {}", answer.stderr);
        assert!(errors[0].contains(part) && errors[0].contains("; "), "{words:?}: {}", errors[0]);
        assert!(answer.stdout.is_empty(), "{words:?}: {}", answer.stdout);
    }
}

#[test]
fn every_command_ends_with_its_exit_code_and_one_error_line() {
    let program = Program::filled();
    let file = program.write("notes.txt", "no skill");
    let rows: Vec<(&[&str], i32, &str)> = vec![
        (&["list"], 0, ""),
        (&["list", "--tag", "nothing-has-this"], 0, ""),
        (&["list", "--limit", "0"], 2, "--limit"),
        (&["list", "--limit", "10001"], 2, "--limit"),
        (&["list", "--kind", "thing"], 2, "invalid value 'thing'"),
        (&["list", "--cursor", "no cursor"], 2, "cursor"),
        (&["search", "wifi"], 0, ""),
        (&["search", "zzzzqqqq"], 0, ""),
        (&["search"], 2, "<QUERY>"),
        (&["search", "--limit", "101", "wifi"], 2, "--limit"),
        (&["match", "turn on the wifi"], 0, ""),
        (&["match", "go", "home"], 0, ""),
        (&["match", "zzzz qqqq"], 1, ""),
        (&["get", "wifi"], 0, ""),
        (&["get", "unknown"], 1, "no skill \"unknown\""),
        (&["get", "broken"], 1, "no_such_tool"),
        (&["get", "--", "-odd"], 1, "no skill \"-odd\""),
        (&["get", "-odd"], 2, "-o"),
        (&["get", ""], 1, "no skill"),
        (&["resolve", "web/page", "-p", "address=https://a"], 0, ""),
        (&["resolve", "web/page"], 1, "address"),
        (&["resolve", "web/page", "-p", "address"], 2, "has no `=`"),
        (&["resolve", "web/page", "--params", "[]"], 2, "not a JSON object"),
        (&["resolve", "broken"], 1, "no_such_tool"),
        (&["resolve", "unknown"], 1, "no skill \"unknown\""),
        (&["import", "/nowhere/at/all"], 1, ""),
        (&["import"], 2, "<PATH>"),
        (&["entitlements", "show"], 0, ""),
        (&["entitlements", "grant"], 2, "<SUB>"),
        (&["status"], 0, ""),
        (&["inspect"], 0, ""),
        (&["verify"], 0, ""),
        (&["verify", "/nowhere/at/all"], 2, "/nowhere/at/all"),
        (&["inspect", "/nowhere/at/all"], 2, "/nowhere/at/all"),
        (&["rollback", "learned"], 1, "no earlier generation"),
        (&["rollback", "attic"], 2, "invalid value 'attic'"),
        (&["compact"], 0, ""),
        (&["tools"], 0, ""),
        (&["config", "show"], 0, ""),
        (&["completions", "bash"], 0, ""),
        (&["completions", "cmd"], 2, "invalid value 'cmd'"),
        (&["man"], 0, ""),
        (&["--version"], 0, ""),
        (&["frobnicate"], 2, "unrecognized subcommand"),
        (&["-v", "-q", "list"], 2, "cannot be used with"),
    ];
    for (words, code, part) in rows {
        check(&program, words, code, part);
    }
    check(&program, &["verify", &file], 1, "");
    check(&program, &["import", "--namespace", "Not An Id", &file], 2, "namespace");
}

#[test]
fn no_command_shows_the_help_and_is_a_usage_error() {
    for words in [&[][..], &["entitlements"], &["config"]] {
        let answer = Program::new().run(words).code(2);
        assert!(answer.stderr.contains("Usage: repertoire"), "{}", answer.stderr);
        assert!(answer.stdout.is_empty());
    }
}

#[test]
fn under_json_an_error_is_an_object_on_standard_output() {
    let program = Program::filled();
    let rows: [(&[&str], i32, &str, &[&str]); 6] = [
        (&["get", "unknown"], 1, "skill_not_found", &["code", "hint", "id", "message"]),
        (&["get", "broken"], 1, "skill_unavailable", &["code", "hint", "id", "message", "reasons"]),
        (
            &["resolve", "web/page", "-p", "x=1"],
            1,
            "invalid_parameters",
            &["code", "hint", "message", "problems", "skill"],
        ),
        (&["list", "--limit", "0"], 2, "usage", &["code", "hint", "message"]),
        (&[], 2, "usage", &["code", "hint", "message"]),
        (&["--config", "/nowhere.toml", "list"], 3, "file_failed", &["code", "hint", "message"]),
    ];
    for (words, code, name, expect) in rows {
        let all: Vec<&str> = [words, &["--json"]].concat();
        let answer = program.run(&all).code(code);
        let error = &answer.json()["error"];
        assert_eq!(error["code"], name);
        assert_eq!(members(error), expect, "{error}");
        assert!(!answer.stderr.contains("error:"), "{}", answer.stderr);
    }
}

#[test]
fn an_unknown_a_hidden_and_a_foreign_id_get_the_same_bytes() {
    let program = Program::filled();
    let unknown = program.run(&["get", "wifj", "--json"]).code(1);
    program.run(&["entitlements", "hide", "wifi"]).code(0);
    let hidden = program.run(&["get", "wifi", "--json"]).code(1);
    assert_eq!(hidden.stdout, unknown.stdout.replace("wifj", "wifi"));
    assert_eq!(hidden.stderr, unknown.stderr);
    program.run(&["entitlements", "unhide", "wifi"]).code(0);
    program.run(&["get", "wifi"]).code(0);
}

#[test]
fn a_data_directory_that_cannot_be_used_is_exit_code_4() {
    let program = Program::new();
    let file = program.write("file", "x");
    let inside = format!("{file}/data");
    for data in [file.as_str(), inside.as_str(), "/proc/nowhere"] {
        for command in [&["list"][..], &["entitlements", "hide", "a"], &["status"]] {
            let answer = bare().arg("--data").arg(data).args(command).output().expect("it runs");
            let said = String::from_utf8_lossy(&answer.stderr);
            assert_eq!(answer.status.code(), Some(4), "{data} {command:?}: {said}");
            assert!(said.starts_with("error: ") && said.lines().count() == 1, "{said}");
        }
    }
}

#[test]
fn one_rejected_skill_makes_import_negative_and_the_others_are_there() {
    let program = Program::new();
    program.write("in/wifi/SKILL.md", crate::program::WIFI);
    program.write("in/bad/SKILL.md", "---\nname: bad\n");
    let folder = program.path("in").display().to_string();
    let report = program.json(&["import", &folder], 1);
    assert_eq!(report["counts"]["added"], 1);
    assert_eq!(report["counts"]["rejected"], 1);
    program.run(&["get", "wifi"]).code(0);
    let answer = program.run(&["import", &folder]).code(1);
    assert!(answer.stdout.contains("bad/SKILL.md"), "{}", answer.stdout);
    assert!(answer.stdout.contains("unclosed_front_matter"), "{}", answer.stdout);
}
