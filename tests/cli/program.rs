//! Runs the binary in an environment of its own.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A data directory with the binary on it.
pub(crate) struct Program {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// What one call answered.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    /// With an empty data directory.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder"), environment: Vec::new() }
    }

    /// With the test skills imported.
    pub(crate) fn filled() -> Self {
        let program = Self::new();
        program.write("in/wifi/SKILL.md", WIFI);
        program.write("in/all.skill.json", SKILLS);
        let folder = program.path("in");
        program.run(&["import", &folder.display().to_string()]).code(0);
        program
    }

    /// Adds an environment variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A path in the folder of this test.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file there.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// The command, without arguments but the data directory.
    pub(crate) fn command(&self) -> Command {
        let mut command = bare();
        command.env("REPERTOIRE_DATA", self.path("data"));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs with arguments.
    pub(crate) fn run(&self, words: &[&str]) -> Answer {
        Answer::of(&self.command().args(words).output().expect("the program runs"))
    }

    /// Runs in the program's folder, so that arguments may be relative to it.
    pub(crate) fn run_inside(&self, words: &[&str]) -> Answer {
        let mut command = self.command();
        Answer::of(&command.args(words).current_dir(self.path(".")).output().expect("the program runs"))
    }

    /// Runs with arguments and an input.
    pub(crate) fn run_with_input(&self, words: &[&str], input: &str) -> Answer {
        let mut child = self
            .command()
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        child.stdin.take().expect("an input").write_all(input.as_bytes()).expect("the input is read");
        Answer::of(&child.wait_with_output().expect("the program ends"))
    }

    /// Runs with `--json` and reads the answer.
    pub(crate) fn json(&self, words: &[&str], code: i32) -> Value {
        let all: Vec<&str> = [&["--json"], words].concat();
        let answer = self.run(&all).code(code);
        answer.json()
    }
}

/// The binary in a clean environment.
pub(crate) fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("REPERTOIRE_") {
            command.env_remove(name);
        }
    }
    command.env("COLUMNS", "100").env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

impl Answer {
    /// What a finished process said.
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout.clone()).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr.clone()).expect("standard error is UTF-8"),
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn code(self, expect: i32) -> Self {
        assert_eq!(self.code, expect, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Standard output as one JSON object.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {:?}, stderr {}", self.stdout, self.stderr));
        assert!(value.is_object(), "{value}");
        value
    }
}

/// The names of an object's members, sorted.
pub(crate) fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Whether a folder holds nothing, or is not there.
pub(crate) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// A Skills v2 file.
pub(crate) const WIFI: &str = "---
id: wifi
title: Wi-Fi settings
description: Open the Wi-Fi settings and join a network.
risk: medium
aliases:
  - wireless network
allowed_tools:
  - open_settings_panel
  - tap
examples:
  - turn on the wifi
---

# Wi-Fi

Open the panel and tap the network.
";

/// Canonical JSON: a flow, a skill whose text attacks terminals, one with a tool that does not exist, odd ids.
pub(crate) const SKILLS: &str = r##"[
{"id": "web/page", "kind": "flow_template", "name": "Open a web page", "description": "Open an address in the browser.",
 "tags": ["browser"], "apps": [{"package": "com.android.chrome"}],
 "parameters": [{"name": "address", "type": "string", "description": "the address", "pattern": "^https?://"},
                {"name": "wait_ms", "type": "integer", "required": false, "default": 500, "minimum": 100, "maximum": 15000}],
 "steps": [{"tool": "open_url", "args_template": {"url": "{address}"}},
           {"tool": "wait_for_idle", "args_template": {"timeout_ms": "{wait_ms}"}, "note": "until it is quiet"}]},
{"id": "hostile", "kind": "knowledge", "name": "Hostile", "description": "Goes back\rand \u202egnp.exe hides.",
 "content": "# Body\n\n\u009b31m red \u001b[2J\n"},
{"id": "broken", "kind": "flow_template", "name": "Broken", "description": "Uses a tool that is not there.",
 "steps": [{"tool": "no_such_tool", "args_template": {}}]}
]"##;
