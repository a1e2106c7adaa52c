//! The built program: what its two streams carry, how it starts and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::filled;

/// Far above what the program needs, for machines that are busy; the figure itself is in `docs/benchmarks.md`.
const FIRST_REPLY_MAX: Duration = Duration::from_secs(5);

struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(data: &std::path::Path, verbose: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_repertoire"))
            .arg("--data")
            .arg(data)
            .args(verbose)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("an output"));
        Self { child, input, output }
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let input = self.input.as_mut().expect("an input");
        input.write_all(format!("{request}\n").as_bytes()).expect("writes");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("reads");
        let answer: Value = serde_json::from_str(&line).expect("a line of JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn greet(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
        });
        self.request(1, "initialize", &params)
    }

    /// Ends the input; answers the exit code, the rest of the output and the log.
    fn end(mut self) -> (Option<i32>, String, String) {
        drop(self.input.take());
        let (mut rest, mut log) = (String::new(), String::new());
        self.output.read_to_string(&mut rest).expect("reads");
        self.child.stderr.take().expect("a log").read_to_string(&mut log).expect("reads");
        (self.child.wait().expect("ends").code(), rest, log)
    }
}

#[test]
fn the_program_answers_soon_and_ends_with_its_input() {
    let (folder, catalog) = filled();
    drop(catalog);
    let started = Instant::now();
    let mut program = Program::start(folder.path(), &[]);
    let answer = program.greet();
    assert!(started.elapsed() < FIRST_REPLY_MAX, "{:?}", started.elapsed());
    assert_eq!(answer["result"]["serverInfo"]["name"], "repertoire");
    let found =
        program.request(2, "tools/call", &json!({"name": "get_skill", "arguments": {"id": "android/wifi"}}));
    assert_eq!(found["result"]["structuredContent"]["skill"]["name"], "Wi-Fi");
    let (code, rest, _) = program.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
}

#[test]
fn the_loudest_log_stays_off_the_output_and_keeps_values_out() {
    let (folder, catalog) = filled();
    drop(catalog);
    let mut program = Program::start(folder.path(), &["-vvv"]);
    program.greet();
    let values = json!({"query": "canary-query", "pin": "canary-pin"});
    program.request(
        2,
        "tools/call",
        &json!({"name": "resolve_skill", "arguments": {"id": "xhs-search", "parameters": values}}),
    );
    program.request(3, "tools/call", &json!({"name": "canary-tool", "arguments": {"x": "canary-value"}}));
    let (code, rest, log) = program.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
    for canary in ["canary-query", "canary-pin", "canary-value"] {
        assert!(!log.contains(canary), "{canary} is in the log:\n{log}");
    }
}

#[test]
fn a_skill_hidden_by_another_process_is_gone_at_the_next_call() {
    let (folder, catalog) = filled();
    drop(catalog);
    let mut program = Program::start(folder.path(), &[]);
    program.greet();
    let params = json!({"name": "get_skill", "arguments": {"id": "android/wifi"}});
    assert_eq!(program.request(2, "tools/call", &params)["result"]["isError"], false);
    let hidden = Command::new(env!("CARGO_BIN_EXE_repertoire"))
        .arg("--data")
        .arg(folder.path())
        .args(["entitlements", "hide", "android/wifi"])
        .output()
        .expect("runs");
    assert!(hidden.status.success(), "{hidden:?}");
    assert_eq!(program.request(3, "tools/call", &params)["result"]["isError"], true);
    assert_eq!(program.end().0, Some(0));
}
