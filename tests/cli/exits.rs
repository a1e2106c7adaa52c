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
fn a_statement_about_what_is_not_there_is_made_and_noted() {
    let program = Program::filled();
    let catalog = repertoire::Catalog::open(program.path("data")).expect("the catalog opens");
    let skill = serde_json::json!({"id": "bought", "kind": "knowledge", "name": "Bought", "description": "Of sub_1."});
    let mut entry = repertoire::Entry::new(repertoire::Skill::from_json(&skill).expect("sound").skill);
    entry.subscriptions = vec!["sub_1".to_owned()];
    catalog.update(repertoire::Layer::Synced, &mut |_| Ok(Some(vec![entry.clone()]))).expect("it commits");
    let rows: [(&[&str], &str); 12] = [
        (&["entitlements", "hide", "wifi"], ""),
        (&["entitlements", "hide", "bought"], ""),
        (&["entitlements", "hide", "wifj"], "no skill has the id \"wifj\" now"),
        (&["entitlements", "unhide", "bought"], ""),
        (&["entitlements", "grant", "sub_1"], ""),
        (&["entitlements", "grant", "sub_2"], "no skill belongs to \"sub_2\" now"),
        (&["entitlements", "revoke", "sub_3"], "no skill belongs to \"sub_3\" now"),
        (&["list", "--subscriptions", "sub_1,sub_2"], ""),
        (&["list", "--subscriptions", ""], ""),
        (&["list", "--subscriptions", "sub_1,sub_9"], "\"sub_9\" is no active subscription"),
        (&["search", "--subscriptions", "sub_3", "bought"], "\"sub_3\" is no active subscription"),
        (&["get", "bought", "--subscriptions", "sub_1"], ""),
    ];
    for (words, part) in rows {
        let answer = program.run(words).code(0);
        let notes: Vec<&str> = answer
            .stderr
            .lines()
            .filter(|line| line.contains("no skill") || line.contains("no active"))
            .collect();
        assert_eq!(notes.len(), usize::from(!part.is_empty()), "{words:?}: {}", answer.stderr);
        assert!(notes.iter().all(|note| note.contains(part)), "{words:?}: {}", answer.stderr);
    }
    let report = program.json(&["entitlements", "show"], 0);
    assert_eq!(report["hidden"], serde_json::json!(["wifi", "wifj"]));
    assert_eq!(program.run(&["-q", "entitlements", "hide", "wifk"]).code(0).stderr, "");
}

#[test]
fn a_hint_spells_out_the_command_to_type() {
    let program = Program::filled();
    let rows: [(&[&str], i32, &str); 8] = [
        (&["list", "--cursor", "x y"], 2, "see `repertoire list --help`"),
        (&["entitlements", "hide", ""], 2, "see `repertoire entitlements hide --help`"),
        (&["import", "--namespace", "A B", "in"], 2, "see `repertoire import --help`"),
        (&["resolve", "wifi"], 2, "see `repertoire resolve --help`"),
        (&["resolve", "web/page"], 1, "see `repertoire get web/page` for the parameters"),
        (&["resolve", "web/page", "-p", "address"], 2, "write it as -p address=VALUE"),
        (&["resolve", "web/page", "-p", "a b"], 2, "write it as -p 'a b'=VALUE"),
        (&["serve", "--tools", "x"], 2, "see `repertoire serve --help`"),
    ];
    for (words, code, hint) in rows {
        let said = program.run(words).code(code).stderr;
        assert!(said.trim_end().ends_with(&format!("; {hint}")), "{words:?}: {said}");
    }
}

#[test]
fn numbers_agree_with_their_nouns() {
    let program = Program::new();
    program.write("in/wifi/SKILL.md", crate::program::WIFI);
    let folder = program.path("in").display().to_string();
    assert!(program.run(&["import", &folder]).code(0).stdout.contains("1 skill: 1 added\n"));
    assert_eq!(program.run(&["list"]).code(0).stderr, "1 of 1 skill\n");
    assert_eq!(program.run(&["list", "--tag", "none"]).code(0).stderr, "0 of 0 skills\n");
    assert_eq!(program.run(&["search", "wifi"]).code(0).stderr, "1 of 1 matching skill\n");
    let out = program.path("out").display().to_string();
    assert!(program.run(&["export", &out]).code(0).stdout.ends_with("1 of 1 skill written\n"));
    program.write("in/two/SKILL.md", &crate::program::WIFI.replace("id: wifi", "id: two"));
    assert!(program.run(&["import", &folder]).code(0).stdout.contains("2 skills: 1 added, 1 unchanged\n"));
    assert_eq!(program.run(&["list", "--limit", "1"]).code(0).stderr.lines().next(), Some("1 of 2 skills"));
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
