//! Text of skills that attacks terminals, readers that go away, disks that are full.

use std::io::Read as _;
use std::process::Stdio;

use crate::program::Program;

/// Characters that act on a terminal.
fn acts(text: &str) -> bool {
    text.chars()
        .any(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}'))
}

#[test]
fn text_of_skills_never_acts_on_the_terminal() {
    let program = Program::filled();
    let rows: [&[&str]; 7] = [
        &["list"],
        &["search", "hostile"],
        &["match", "hostile"],
        &["get", "hostile"],
        &["get", "hostile", "--json"],
        &["search", "hostile", "--json"],
        &["get", "\u{1b}[2J"],
    ];
    for words in rows {
        let answer = program.run(words);
        assert!(!acts(&answer.stdout), "{words:?}: {:?}", answer.stdout);
        assert!(!acts(&answer.stderr), "{words:?}: {:?}", answer.stderr);
    }
    let text = program.run(&["get", "hostile"]).code(0).stdout;
    assert!(text.contains("\\u{1b}[2J") && text.contains("\\u{202e}"), "{text}");
    let value = program.json(&["get", "hostile"], 0);
    assert!(value["skill"]["content"].as_str().expect("text").contains("\u{1b}[2J"));
}

#[test]
fn names_of_files_and_refused_text_never_act_on_the_terminal() {
    let program = Program::new();
    let file = program.write("in/\u{1b}[31m/SKILL.md", "---\nname: \u{1b}]0;x\ndescription: a\u{9b}b\n---\n");
    let folder = program.path("in").display().to_string();
    for words in [&["import", &folder][..], &["import", &folder, "--json"], &["import", &file]] {
        let answer = program.run(words).code(1);
        assert!(!acts(&answer.stdout), "{words:?}: {:?}", answer.stdout);
        assert!(!acts(&answer.stderr), "{words:?}: {:?}", answer.stderr);
    }
}

#[test]
fn colour_appears_only_when_wanted() {
    let program = Program::filled();
    assert!(program.run(&["--color", "always", "list"]).stdout.contains('\u{1b}'));
    for words in [&["list"][..], &["--color", "never", "list"], &["--color", "auto", "get", "wifi"]] {
        assert!(!program.run(words).stdout.contains('\u{1b}'), "{words:?}");
    }
    assert!(!program.run(&["--color", "always", "--json", "list"]).stdout.contains('\u{1b}'));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let program = Program::new();
    for words in
        [&["man"][..], &["tools", "--json"], &["--help"], &["completions", "zsh"], &["config", "show"]]
    {
        let mut child = program
            .command()
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().expect("stderr").read_to_string(&mut said).expect("text");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{words:?}: {said}");
        assert!(said.is_empty(), "{words:?}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_told() {
    let program = Program::filled();
    for words in [&["man"][..], &["list"], &["list", "--json"], &["get", "gone", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let done = program.command().args(words).stdout(full).output().expect("it runs");
        assert_eq!(done.status.code(), Some(1), "{words:?}");
        let said = String::from_utf8_lossy(&done.stderr);
        let expect = if words.contains(&"get") { "no skill \"gone\"" } else { "cannot write the result" };
        assert!(said.starts_with("error: ") && said.contains(expect), "{words:?}: {said}");
    }
}

#[test]
fn what_is_shown_back_of_a_long_argument_is_short() {
    let program = Program::filled();
    let long = "x".repeat(100_000);
    let option = format!("--{long}");
    let pair = format!("{long}=1");
    let twice = ["resolve", "web/page", "-p", &pair, "-p", &pair];
    let params = format!("{{\"{long}\": 1, \"address\": \"{long}\"}}");
    let params = format!("@{}", program.write("params.json", &params));
    let config = program.write(
        "c.toml",
        &format!("[{long}]\na = 1\n[sync]\n{long} = 1\nurl = 3\n[storage]\nmap = \"{long}\"\n"),
    );
    let rows: [(&[&str], i32); 16] = [
        (&["get", &long], 1),
        (&["resolve", &long], 1),
        (&["list", "--cursor", &long], 2),
        (&["list", "--kind", &long], 2),
        (&["list", "--limit", &long], 2),
        (&["list", &option], 2),
        (&["list", &long], 2),
        (&[&long], 2),
        (&["resolve", "web/page", "-p", &long], 2),
        (&twice, 2),
        (&["resolve", "web/page", "--params", &params], 1),
        (&["import", "--namespace", &long, "in"], 2),
        (&["entitlements", "hide", &long], 2),
        (&["--config", &config, "list"], 3),
        (&["--config", &long, "list"], 3),
        (&["serve", "--tools", &long], 2),
    ];
    for (words, code) in rows {
        let name: Vec<&str> = words.iter().map(|word| &word[..word.len().min(20)]).collect();
        let said = program.run(words).code(code).stderr;
        assert!(
            said.starts_with("error: ") && (said.contains("...") || said.contains("100000 bytes")),
            "{name:?}: {said:.200}"
        );
        assert!(said.len() < 9_000, "{name:?}: {} bytes", said.len());
        let all: Vec<&str> = [words, &["--json"]].concat();
        let answer = program.run(&all).code(code);
        assert!(
            answer.stdout.len() + answer.stderr.len() < 20_000,
            "{name:?}: {} bytes",
            answer.stdout.len()
        );
    }
    // A cursor at the limit is only none; every id that can be is shown whole.
    let id = "y".repeat(128);
    assert!(program.run(&["get", &id]).code(1).stderr.contains(&format!("no skill \"{id}\";")));
}

#[test]
fn a_report_about_endless_names_is_short() {
    let program = Program::new();
    let long = "x".repeat(50_000);
    let json = format!(
        r#"[{{"id": "{long}", "kind": "{long}", "name": "{long}", "description": "d", "{long}": 1, "tags": ["{long}"],
            "locale": "{long}", "status": {{"state": "{long}"}}, "parameters": [{{"name": "{long}", "type": "{long}"}}]}},
            {{"id": "f", "kind": "flow_template", "name": "f", "description": "d", "allowed_tools": ["{0}"],
              "steps": [{{"tool": "tap", "args_template": {{"{0}": "{{{0}}}"}}}}]}}]"#,
        &long[..500]
    );
    program.write("in/a.skill.json", &json);
    let workflow = format!(
        r#"{{"version": 1, "id": "{long}", "title": "t", "{long}": 1, "steps": [{{"tool": "{long}"}}]}}"#
    );
    program.write("in/w.json", &workflow);
    program.write("in/n/SKILL.md", &format!("---\nname: {long}\ndescription: d\n---\nb\n"));
    program.write("in/k/SKILL.md", &format!("---\nname: k\ndescription: d\n{long}: 1\n---\nb\n"));
    let folder = program.path("in").display().to_string();
    let text = program.run(&["import", "--check", &folder]).code(1).stdout;
    for line in text.lines() {
        assert!(line.len() < 1_500, "{} bytes: {line:.300}", line.len());
    }
    // Without --check, since that shows the skills in full.
    let report = program.run(&["import", "--json", &folder]).code(1).stdout;
    assert!(report.len() < 20_000, "{} bytes", report.len());
}

#[test]
fn invisible_characters_are_escaped_once() {
    let program = Program::new();
    program.write("in/a/SKILL.md", "---\nname: \"a\\u200bb\"\ndescription: x\n---\ny\n");
    program.write("in/b.skill.json", "{\"id\": \"b\", \"kind\": \"knowledge\", \"name\": \"a\\u0007b\\u202e\", \"description\": \"x\\u0001\"}");
    let folder = program.path("in").display().to_string();
    let rows: [(&[&str], &str); 4] = [
        (&["get", "a\u{200b}b"], "no skill \"a\\u{200b}b\""),
        (&["list", "--cursor", "a\u{202e}"], "(got \"a\\u{202e}\")"),
        (&["import", "--check", &folder], "(got \"a\\u{200b}b\")"),
        (&["import", "--check", &folder], "\\u{7}"),
    ];
    for (words, part) in rows {
        let answer = program.run(words);
        let said = answer.stdout + &answer.stderr;
        assert!(said.contains(part), "{words:?}: {said}");
        assert!(!said.contains("\\\\u"), "{words:?}: {said}");
    }
}

#[test]
fn huge_and_odd_arguments_are_answered() {
    let program = Program::filled();
    let long = "wifi ".repeat(20_000);
    program.run(&["search", &long]).code(0);
    program.run(&["get", &long]).code(1);
    program.run(&["match", ""]).code(1);
    program.run(&["search", ""]).code(0);
    let deep = format!("{{\"address\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    program.run(&["resolve", "web/page", "--params", &deep[..100_000]]).code(2);
    let file = program.write("deep.json", &deep);
    program.run(&["resolve", "web/page", "--params", &format!("@{file}")]).code(2);
}

#[cfg(unix)]
#[test]
fn hostile_files_are_refused_in_little_memory() {
    const ADDRESS_SPACE_KIB: usize = 640 * 1024;
    let program = Program::new();
    program.write("in/good/SKILL.md", "---\nname: good\ndescription: Good.\n---\nBody.\n");
    program.write("in/tags.skill.json", &format!("{{\"id\":\"a\",\"tags\":[{}1]}}", "1,".repeat(3 << 20)));
    program.write("in/keys.skill.json", &format!("{{{}\"k\":1}}", "\"k\":1,".repeat(1 << 18)));
    let entries = "\"x\",".repeat(1 << 19);
    let lists =
        format!("\"allowed_tools\":[{entries}1],\"derived_from\":[{entries}1],\"aliases\":[\"back\"]");
    program.write("in/lists.skill.json", &format!("{{\"id\":\"l\",{lists}}}"));
    let template = format!("{{\"x\":[{}1]}}", "\"{x}\",".repeat(1 << 20));
    program.write(
        "in/step.skill.json",
        &format!("{{\"id\":\"s\",\"kind\":\"flow_template\",\"steps\":[{{\"tool\":\"tap\",\"args_template\":{template}}}]}}"),
    );
    program.write(
        "in/flow.skill.json",
        &format!("{{\"version\":1,\"parameters\":[{entries}1],\"steps\":[{entries}{{\"tool\":\"tap\"}}]}}"),
    );
    program.write("in/deep.skill.jsonl", &"[".repeat(4 << 20));
    program.write("in/long.skill.json", &format!("{{\"id\":\"{}", "x".repeat(40 << 20)));
    for name in ["in/sparse.skill.json", "in/sparse.skill.jsonl", "in/sparse.json"] {
        let file = std::fs::File::create(program.path(name)).expect("a file");
        file.set_len(1 << 30).expect("a sparse file");
    }
    let folder = program.path("in").display().to_string();
    // The process itself, with a limit that a file read whole, or a list of everything wrong in it, would break.
    let binary = program.command().get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    let limit = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
    command.args(["-c", &limit]).arg(binary).args(["import", "--json", &folder]);
    let done = command.env("REPERTOIRE_DATA", program.path("data")).output().expect("it runs");
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).expect("a report");
    let mut codes: Vec<String> = report["skills"]
        .as_array()
        .expect("skills")
        .iter()
        .map(|line| format!("{} {}", line["path"], line["error"]["code"]).replace('"', ""))
        .collect();
    codes.sort();
    assert_eq!(
        codes,
        [
            "deep.skill.jsonl json_invalid",
            "flow.skill.json missing_field",
            "good/SKILL.md null",
            "keys.skill.json missing_field",
            "lists.skill.json missing_field",
            "long.skill.json too_large",
            "sparse.skill.json json_invalid",
            "sparse.skill.jsonl control_character",
            "step.skill.json missing_field",
            "tags.skill.json too_large",
        ]
    );
}
