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
