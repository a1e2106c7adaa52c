//! `import --watch`: imports again when files change, until it is asked to end.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::Program;

/// Longest wait for something that must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// A watching process; ends with the test.
struct Watching {
    child: Child,
    reports: Receiver<Value>,
}

impl Watching {
    fn start(program: &Program, folder: &str) -> Self {
        let mut child = program
            .command()
            .args(["import", "--watch", "--json", folder])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let out = BufReader::new(child.stdout.take().expect("stdout"));
        let (send, reports) = channel();
        thread::spawn(move || {
            for line in out.lines() {
                let report = serde_json::from_str(&line.expect("text")).expect("one report a line");
                if send.send(report).is_err() {
                    break;
                }
            }
        });
        Self { child, reports }
    }

    fn report(&self) -> Value {
        self.reports.recv_timeout(PATIENCE).expect("a report")
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(id, signal).expect("the signal is sent");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nBody.\n")
}

#[test]
fn changes_are_imported_and_a_signal_ends_the_watch() {
    let program = Program::new();
    program.write("in/a/SKILL.md", &skill("a"));
    let folder = program.path("in").display().to_string();
    let watching = Watching::start(&program, &folder);
    assert_eq!(watching.report()["counts"]["added"], 1);
    program.write("in/b/SKILL.md", &skill("b"));
    assert_eq!(watching.report()["counts"], counts(&[("added", 1), ("unchanged", 1)]));
    fs::remove_dir_all(program.path("in/a")).expect("remove");
    assert_eq!(watching.report()["counts"], counts(&[("removed", 1), ("unchanged", 1)]));
    assert_eq!(watching.end(Signal::INT), Some(0));
    assert_eq!(program.json(&["list"], 0)["total"], 1);
}

#[test]
fn a_burst_of_changes_is_few_imports_and_what_is_wrong_at_the_end_is_the_exit_code() {
    let program = Program::new();
    program.write("in/a/SKILL.md", &skill("a"));
    let folder = program.path("in").display().to_string();
    let watching = Watching::start(&program, &folder);
    watching.report();
    for number in 0..40 {
        program.write(&format!("in/n{number}/SKILL.md"), &skill(&format!("n{number}")));
        thread::sleep(Duration::from_millis(10));
    }
    program.write("in/wrong/SKILL.md", "---\nname: wrong\n---\n");
    let mut reports = 1;
    while watching.report()["counts"]["rejected"] != 1 {
        reports += 1;
    }
    assert!(reports <= 10, "{reports} reports");
    assert_eq!(watching.end(Signal::TERM), Some(1));
    assert_eq!(program.json(&["list"], 0)["total"], 41);
}

fn counts(some: &[(&str, u64)]) -> Value {
    let mut all = serde_json::json!({"added": 0, "changed": 0, "unchanged": 0, "removed": 0, "rejected": 0});
    for (name, count) in some {
        all[*name] = (*count).into();
    }
    all
}
