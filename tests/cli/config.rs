//! Settings: precedence, origins, mistakes.

use serde_json::json;

use crate::program::{Program, members};

#[test]
fn every_setting_is_shown_with_its_origin() {
    let program =
        Program::new().with("REPERTOIRE_BUNDLED_MODE", "always").with("REPERTOIRE_SYNC_TOKEN", "hush-hush");
    let file = program.write("c.toml", "[bundled]\nmode = \"never\"\n[storage]\nkeep_generations = 5\n");
    let answer = program.run(&["config", "show", "--config", &file, "--json"]).code(0);
    assert!(!answer.stdout.contains("hush"), "{}", answer.stdout);
    let values = &answer.json()["values"];
    assert_eq!(
        values["bundled.mode"],
        json!({"value": "always", "from": "environment", "place": "REPERTOIRE_BUNDLED_MODE"})
    );
    assert_eq!(
        values["storage.keep_generations"],
        json!({"value": 5, "from": "file", "place": format!("{file}:4")})
    );
    assert_eq!(values["storage.map"], json!({"value": "file", "from": "default"}));
    assert_eq!(values["sync.token"]["value"], "********");
    assert_eq!(values["config"], json!({"value": file, "from": "flag", "place": "--config"}));
    assert_eq!(values["data"]["from"], "environment");
    assert_eq!(members(values).len(), 2 + 37);
    let text = program.run(&["config", "show"]).code(0).stdout;
    assert!(text.contains("sync.token") && !text.contains("hush"), "{text}");
}

#[test]
fn the_configuration_of_the_data_directory_is_used() {
    let program = Program::new();
    let path = program.write("data/config.toml", "[server]\ntools = \"skills\"\n");
    let values = &program.json(&["config", "show"], 0)["values"];
    assert_eq!(
        values["server.tools"],
        json!({"value": "skills", "from": "file", "place": format!("{path}:2")})
    );
}

#[test]
fn mistakes_are_exit_code_3_and_name_line_and_nearest_key() {
    let program = Program::new();
    let rows = [
        ("[sync]\nintervall_s = 3\n", ":2: sync.intervall_s: unknown key; the nearest is sync.interval_s"),
        ("[snyc]\nurl = \"x\"\n", ":1: snyc: unknown section; the nearest is [sync]"),
        ("[storage]\nmap = 3\n", ":2: storage.map"),
        ("[sync]\ntoken = \"x\"\n", "REPERTOIRE_SYNC_TOKEN"),
        ("[tools]\nfile = \"nowhere.json\"\n", "nowhere.json"),
        ("[sync\n", "not valid TOML"),
    ];
    for (text, part) in rows {
        let file = program.write("c.toml", text);
        let answer = program.run(&["--config", &file, "list"]).code(3);
        assert!(answer.stderr.contains(part), "{part} in {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    }
    let answer = Program::new().with("REPERTOIRE_SYNC_URLS", "x").run(&["list"]).code(3);
    assert!(answer.stderr.contains("REPERTOIRE_SYNC_URL"), "{}", answer.stderr);
    let answer = Program::new().with("REPERTOIRE_HOME", "x").run(&["config", "show"]).code(0);
    assert!(answer.stderr.starts_with("warning: "), "{}", answer.stderr);
    let answer = Program::new().with("REPERTOIRE_HOME", "x").run(&["-q", "config", "show"]).code(0);
    assert!(answer.stderr.is_empty(), "{}", answer.stderr);
}

#[test]
fn completions_and_the_manual_work_with_a_broken_configuration() {
    let program = Program::new();
    let file = program.write("c.toml", "nonsense");
    for words in [&["man"][..], &["completions", "bash"], &["--help"], &["--version"]] {
        let all: Vec<&str> = [&["--config", &file], words].concat();
        program.run(&all).code(0);
    }
}

#[test]
fn a_tool_file_extends_the_tools() {
    let program = Program::new();
    let tool = json!({"tools": [{"name": "brew_coffee", "description": "Brews.", "inputSchema": {"type": "object"}}]});
    let file = program.write("tools.json", &tool.to_string());
    let program = program.with("REPERTOIRE_TOOLS_FILE", &file);
    let tools = program.json(&["tools"], 0).to_string();
    assert!(tools.contains("brew_coffee") && tools.contains("launch_app"));
    program.write("tools.json", "{");
    assert!(program.run(&["tools"]).code(3).stderr.contains("tools.json"));
}
