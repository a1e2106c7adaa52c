//! Learning through the command line: the real binary on timelines in files.
#![cfg(feature = "cli")]

mod groups;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A data directory and the binary.
struct Program {
    folder: TempDir,
    enabled: bool,
}

impl Program {
    fn new(enabled: bool) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), enabled }
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a timeline.
    fn write(&self, name: &str, timeline: &Value) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, timeline.to_string()).expect("a file");
        path.display().to_string()
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("REPERTOIRE_"))
        {
            command.env_remove(name);
        }
        command.env("REPERTOIRE_DATA", self.data());
        command.env("REPERTOIRE_BUNDLED_MODE", "never");
        if self.enabled {
            command.env("REPERTOIRE_AUTHORING_ENABLED", "true");
        }
        let done = command.args(words).output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (done.status.code().unwrap_or(-1), text(done.stdout), text(done.stderr))
    }

    fn json(&self, words: &[&str], code: i32) -> Value {
        let all: Vec<&str> = [&["--json"], words].concat();
        let (got, out, err) = self.run(&all);
        assert_eq!(got, code, "{words:?}: {out}{err}");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// Learns from a timeline and answers its line.
    fn learn(&self, timeline: &Value) -> Value {
        let file = self.write("timeline.json", timeline);
        self.json(&["learn", &file], 0)["learned"][0].clone()
    }
}

/// All bytes of all files below a folder.
fn bytes(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            all.push_str(&bytes(&entry.path()));
        } else {
            all.push_str(&String::from_utf8_lossy(&fs::read(entry.path()).expect("bytes")));
        }
    }
    all
}

fn note(text: &str) -> Value {
    json!({"task": "t", "goal": format!("Write down {text}"), "status": "succeeded", "events": [
        {"tool": "launch_app", "args": {"package": "com.example.notes"}, "ok": true, "app": "com.example.notes"},
        {"tool": "tap", "args": {"text": "New", "x": 10, "y": 20}},
        {"tool": "input_text", "args": {"text": text}},
    ]})
}

#[test]
fn while_it_is_off_nothing_is_done_and_no_file_is_made() {
    let program = Program::new(false);
    let file = program.write("t.json", &note("eggs"));
    for words in [
        vec!["learn", &file],
        vec!["learn", "/not/there"],
        vec!["learned", "list"],
        vec!["learned", "export"],
        vec!["learned", "show", "x"],
        vec!["learned", "promote", "x"],
        vec!["learned", "forget", "x"],
        vec!["learned", "rename", "x", "y"],
    ] {
        let answer = program.json(&words, 3);
        assert_eq!(answer["error"]["code"], "authoring_off", "{words:?}");
        assert!(answer["error"]["hint"].as_str().expect("a hint").contains("REPERTOIRE_AUTHORING_ENABLED"));
    }
    assert!(!program.data().exists(), "no file of it exists");
}

#[test]
fn a_skill_is_learned_shown_renamed_promoted_and_forgotten() {
    let program = Program::new(true);
    assert_eq!(program.json(&["learned", "list"], 0), json!({"learned": []}));
    let first = program.learn(&note("eggs"));
    assert_eq!(first["outcome"], "added");
    let id = first["id"].as_str().expect("an id").to_owned();
    let files = [program.write("a.json", &note("milk")), program.write("b.json", &note("milk"))];
    let both = program.json(&["learn", &files[0], &files[1]], 0);
    assert_eq!(
        both,
        json!({"learned": [{"id": id, "outcome": "changed"}, {"id": id, "outcome": "unchanged"}]})
    );
    let line = program.json(&["learned", "list"], 0)["learned"][0].clone();
    assert_eq!((&line["id"], &line["tasks"], &line["parameters"]), (&json!(id), &json!(3), &json!(["text"])));
    let shown = program.json(&["learned", "show", &id], 0);
    assert_eq!(shown["runs"].as_array().map(Vec::len), Some(2), "each execution once");
    assert_eq!(shown["skill"]["parameters"][0]["name"], "text");
    let exported = program.json(&["learned", "export"], 0);
    assert_eq!(exported["skills"][0]["steps"][2]["args_template"], json!({"text": "{text}"}));
    assert_eq!(exported["skills"][0]["metadata"]["origin"], "local-synthesis");
    let got = program.json(&["get", &id], 0);
    assert_eq!(got["skill"]["layer"], "learned");
    program.json(&["learned", "rename", &id, "Shopping"], 0);
    assert_eq!(program.json(&["list", "--layer", "learned"], 0)["skills"][0]["name"], "Shopping");
    assert_eq!(program.json(&["learned", "promote", &id], 0), json!({"id": id, "outcome": "added"}));
    assert_eq!(program.json(&["get", &id], 0)["skill"]["layer"], "local");
    program.json(&["learned", "forget", &id], 0);
    assert_eq!(program.json(&["learned", "list"], 0), json!({"learned": []}));
    assert_eq!(program.json(&["learned", "forget", &id], 1)["error"]["code"], "skill_not_found");
    assert_eq!(program.json(&["get", &id], 0)["skill"]["layer"], "local", "the promotion stays");
    let (_, text, _) = program.run(&["learned", "list"]);
    assert!(text.is_empty(), "{text}");
}

#[test]
fn hidden_learned_skills_are_learned_all_the_same() {
    let program = Program::new(true);
    program.learn(&note("eggs"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
    command.env("REPERTOIRE_DATA", program.data()).env("REPERTOIRE_AUTHORING_VISIBLE", "none");
    let done = command.args(["--json", "list", "--layer", "learned"]).output().expect("it runs");
    let list: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(list["total"], 0);
}

#[test]
fn what_is_no_timeline_is_told_at_once_and_teaches_nothing() {
    let program = Program::new(true);
    let good = program.write("good.json", &note("eggs"));
    let bad = program.write("bad.json", &json!({"goal": " ", "status": "done", "events": [
        {"args": {}}, {"tool": "tap", "args": [1]}, {"tool": "input_text", "args": {"text": "hunter2"}, "ok": "hunter2"}]}));
    let answer = program.json(&["learn", &good, &bad], 1);
    let fields: Vec<&str> = answer["error"]["problems"]
        .as_array()
        .expect("problems")
        .iter()
        .filter_map(|p| p["field"].as_str())
        .collect();
    assert_eq!(fields, ["goal", "status", "/events/0/tool", "/events/1/args", "/events/2/ok"]);
    assert!(!answer.to_string().contains("hunter2"), "{answer}");
    assert_eq!(
        program.json(&["learned", "list"], 0),
        json!({"learned": []}),
        "one bad file, and none is learned from"
    );
    let text = program.folder.path().join("text.json");
    fs::write(&text, "{\"goal\": ").expect("a file");
    assert_eq!(program.json(&["learn", &text.display().to_string()], 1)["error"]["code"], "rejected");
    assert_eq!(program.json(&["learn", "/not/there.json"], 2)["error"]["code"], "file_failed");
    let mut failed = note("eggs");
    failed["status"] = json!("failed");
    let file = program.write("failed.json", &failed);
    let answer = program.json(&["learn", &file], 1)["learned"][0].clone();
    assert_eq!((&answer["id"], &answer["outcome"]), (&Value::Null, &json!("refused")));
    assert!(answer["reason"].as_str().expect("a reason").contains("failed"));
}

#[test]
fn no_secret_is_in_any_file() {
    let program = Program::new(true);
    let secrets = ["Tr0ub4dor&3", "hunter2hunter2", "493817", "118264"];
    for (user, password, code) in [("alice", secrets[0], secrets[2]), ("bob", secrets[1], secrets[3])] {
        program.learn(
            &json!({"goal": format!("Log in as {user} with {password}, code {code}"), "status": "succeeded",
            "note": format!("{password} worked"), "events": [
                {"tool": "launch_app", "args": {"app": "Bank"}},
                {"tool": "input_text", "args": {"field": "User", "text": user}},
                {"tool": "tap", "args": {"target": "Password"}},
                {"tool": "input_text", "args": {"text": "wrong"}, "ok": false, "error": "lost"},
                {"tool": "input_text", "args": {"field": "Password", "text": password}},
                {"tool": "input_text", "args": {"text": code}, "element": {"hint": "One-time code"}},
                {"tool": "tap", "args": {"target": format!("Show {password}")}},
            ]}),
        );
    }
    let all = bytes(&program.data()) + &program.json(&["learned", "export"], 0).to_string();
    for secret in secrets {
        assert!(!all.contains(secret), "{secret}");
    }
    let skill = program.json(&["learned", "export"], 0)["skills"][0].clone();
    let secret: Vec<&str> = skill["parameters"]
        .as_array()
        .expect("parameters")
        .iter()
        .filter(|parameter| parameter["secret"] == true)
        .filter_map(|parameter| parameter["name"].as_str())
        .collect();
    assert_eq!(secret, ["password", "one_time_code"], "{skill}");
}

/// The learning loop: after two executions of a task the third request, worded otherwise, finds the skill, and its
/// steps are what that execution did.
#[test]
fn the_third_request_finds_what_two_executions_taught() {
    let program = Program::new(true);
    let groups = groups::groups();
    let ids: Vec<String> = groups
        .iter()
        .map(|group| {
            program.learn(&group.runs[0].timeline());
            program.learn(&group.runs[1].timeline())["id"].as_str().expect("an id").to_owned()
        })
        .collect();
    let mut missed = Vec::new();
    for (group, id) in groups.iter().zip(&ids) {
        let third = &group.runs[2];
        // A match may be none, which is an exit code of its own.
        let (_, matched, _) = program.run(&["--json", "match", &third.goal]);
        let matched: Value = serde_json::from_str(&matched).expect("JSON");
        let searched = program.json(&["search", &third.goal, "--limit", "1"], 0);
        if matched["skill"]["id"] != json!(id) && searched["skills"][0]["id"] != json!(id) {
            missed.push(third.goal.clone());
        }
        let skill = program.json(&["get", id], 0)["skill"].clone();
        let names: Vec<&str> = skill["parameters"]
            .as_array()
            .map(|all| all.iter().filter_map(|parameter| parameter["name"].as_str()).collect())
            .unwrap_or_default();
        assert_eq!(names.len(), third.values.len(), "{skill}");
        let params: Value = names
            .into_iter()
            .zip(&third.values)
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        let steps = program.json(&["resolve", id, "--params", &params.to_string()], 0)["steps"].clone();
        let resolved: Vec<Value> =
            steps.as_array().expect("steps").iter().map(|step| json!([step["tool"], step["args"]])).collect();
        let done: Vec<Value> = third.calls.iter().map(|(tool, args)| json!([tool, args])).collect();
        assert_eq!(resolved, done, "{}", third.goal);
    }
    assert!(missed.len() * 10 <= groups.len(), "not found: {missed:?}");
}
