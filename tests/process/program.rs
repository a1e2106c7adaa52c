//! The binary on a data directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::skills::Set;

/// A temporary folder with a data directory in it.
pub(crate) struct Program {
    folder: tempfile::TempDir,
    data: PathBuf,
}

impl Program {
    /// With a data directory that does not exist yet.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        Self { folder, data }
    }

    /// With another place for the data directory.
    pub(crate) fn with_data(mut self, data: &Path) -> Self {
        data.clone_into(&mut self.data);
        self
    }

    /// A path in the temporary folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The data directory.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The command with arguments.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("REPERTOIRE_") {
                command.env_remove(name);
            }
        }
        // Hiding and importing must not depend on the starter set.
        command.env("REPERTOIRE_BUNDLED_MODE", "never").arg("--data").arg(&self.data).args(words);
        command.stdin(Stdio::null());
        command
    }

    /// Starts it with nothing to read from it.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Answer {
        Answer::of(words, &self.command(words).output().expect("the program runs"))
    }

    /// Runs it, expects success, and reads its JSON.
    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let all: Vec<&str> = [words, &["--json"]].concat();
        let answer = self.run(&all).code(0);
        serde_json::from_str(&answer.stdout).expect("one JSON object")
    }

    /// Imports a path and expects success.
    #[track_caller]
    pub(crate) fn import(&self, path: &Path) {
        self.run(&["import", text(path)]).code(0);
    }

    /// What `list` says, all pages.
    #[track_caller]
    pub(crate) fn list(&self) -> Set {
        let mut set = Set::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut words = vec!["list", "--limit", "10000"];
            if let Some(cursor) = &cursor {
                words.extend(["--cursor", cursor]);
            }
            let page = self.json(&words);
            for skill in page["skills"].as_array().expect("skills") {
                let member = |name: &str| skill[name].as_str().expect("a text").to_owned();
                assert!(
                    set.insert(member("id"), member("description")).is_none(),
                    "{skill} stands there twice"
                );
            }
            let Some(next) = page.get("next_cursor").and_then(Value::as_str) else { return set };
            cursor = Some(next.to_owned());
        }
    }

    /// The names in the data directory.
    pub(crate) fn files(&self) -> Vec<String> {
        names(&self.data)
    }
}

/// What one call answered.
pub(crate) struct Answer {
    words: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// From what a process left.
    pub(crate) fn of(words: &[&str], output: &Output) -> Self {
        Self {
            words: words.join(" "),
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr.clone()).expect("standard error is UTF-8"),
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn code(self, expect: i32) -> Self {
        let Self { words, code, stdout, stderr } = &self;
        assert_eq!(*code, Some(expect), "{words}\nstdout: {stdout}\nstderr: {stderr}");
        self
    }

    /// Asserts that standard error is one line `error: cause; next step`, and standard output empty.
    #[track_caller]
    pub(crate) fn one_error_line(self) -> Self {
        let Self { words, stdout, stderr, .. } = &self;
        assert!(stdout.is_empty(), "{words}: {stdout}");
        assert_eq!(stderr.lines().count(), 1, "{words}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains("; "), "{words}: {stderr}");
        self
    }
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A path of ours as text.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
