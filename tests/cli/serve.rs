//! The MCP server as a client starts it.

use serde_json::Value;

use crate::program::Program;

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"test","version":"0"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

/// The tools that a server started with these words lists.
fn tools(program: &Program, words: &[&str]) -> Vec<String> {
    let answer = program.run_with_input(words, HELLO).code(0);
    let lines: Vec<Value> = answer
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(lines.iter().all(|line| line["jsonrpc"] == "2.0"), "{}", answer.stdout);
    let listed = lines.iter().find(|line| line["id"] == 2).expect("an answer to tools/list");
    let listed = listed["result"]["tools"].as_array().expect("tools");
    listed.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_session_ends_with_its_input_and_standard_output_is_the_protocol() {
    let program = Program::filled();
    for words in [&["serve"][..], &["serve", "--json", "-vv"], &["serve", "--tools", "skills"]] {
        let names = tools(&program, words);
        for name in ["list_skills", "search_skills", "match_skill", "get_skill", "resolve_skill"] {
            assert!(names.iter().any(|known| known == name), "{words:?}: {name} in {names:?}");
        }
    }
    assert_eq!(tools(&program, &["serve", "--tools", "get_skill"]), ["get_skill"]);
    let program = program.with("REPERTOIRE_SERVER_TOOLS", "list_skills");
    assert_eq!(tools(&program, &["serve"]), ["list_skills"]);
    assert_eq!(tools(&program, &["serve", "--tools", "get_skill"]), ["get_skill"]);
}

#[test]
fn what_stops_the_server_is_told_on_standard_error_only() {
    let program = Program::new();
    for words in [&["serve", "--tools", "get_skil"][..], &["serve", "--tools", "get_skil", "--json"]] {
        let answer = program.run(words).code(2);
        assert!(answer.stdout.is_empty(), "{}", answer.stdout);
        assert!(
            answer.stderr.contains("get_skill") && answer.stderr.lines().count() == 1,
            "{}",
            answer.stderr
        );
    }
    let program = program.with("REPERTOIRE_SERVER_TOOLS", "get_skil");
    program.run(&["serve"]).code(3);
}

#[test]
fn device_tools_are_listed_without_a_phone_and_limited_by_a_pinned_skill() {
    let program = Program::new();
    let listed = tools(&program, &["serve", "--tools", "device"]);
    assert!(listed.len() > 20 && listed.iter().any(|name| name == "tap"), "{listed:?}");
    assert!(!listed.iter().any(|name| name == "list_skills" || name == "use_skill"), "{listed:?}");
    let pinned = tools(&program, &["serve", "--tools", "device", "--skill", "xiaohongshu"]);
    assert!(!pinned.is_empty() && pinned.len() < listed.len(), "{pinned:?}");
    assert!(pinned.iter().all(|name| listed.contains(name)), "{pinned:?}");
    assert_eq!(program.run(&["serve", "--tools", "device"]).code(0).stderr, "");
}

#[test]
fn a_policy_file_that_is_wrong_stops_the_server_with_its_lines() {
    let program = Program::new();
    let file =
        program.write("policy.toml", "[[rule]]\nname = \"a\"\ntools = [\"tapp\"]\ndecide = \"never\"\n");
    let program = program.with("REPERTOIRE_POLICY_FILE", &file);
    let said = program.run(&["serve"]).code(3).stderr;
    for part in ["line 3", "\"tap\"", "line 4", "allow, ask or deny"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn streams_that_fail_end_the_server_with_an_error_and_a_client_that_leaves_does_not() {
    use std::process::Stdio;

    let program = Program::filled();
    let hello = program.write("hello.jsonl", HELLO);
    let run = |words: &[&str], input: Stdio, output: Stdio| {
        let mut command = program.command();
        let done = command.args(words).stdin(input).stdout(output).stderr(Stdio::piped()).output();
        let done = done.expect("it runs");
        (done.status.code(), String::from_utf8(done.stderr).expect("text"))
    };
    let file = |path: &str| Stdio::from(std::fs::File::open(path).expect("a file"));
    let full = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full"));
    for words in [&["serve"][..], &["serve", "--json"]] {
        let (code, said) = run(words, file(&hello), full());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("cannot write the protocol on standard output"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let (code, said) = run(&["serve"], file("/proc/self"), Stdio::null());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot read requests from standard input"), "{said}");
    // With pipes on both sides, as clients start it; the reader is gone before the first answer.
    let mut command = program.command();
    let mut child =
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("an input");
    std::io::Write::write_all(&mut input, HELLO.as_bytes()).expect("it is read");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
