//! Data directories that cannot be used: exit code 4 and one line with the next step.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use crate::program::{Answer, Program, text};
use crate::skills::{skill, write_lines};

/// A user that owns nothing, for tests that run as root.
const NOBODY: u32 = 65_534;

/// Every kind of command fails with code 4 and one line that holds `part`; also as JSON.
#[track_caller]
fn refused(program: &Program, part: &str) {
    let calls: [&[&str]; 5] =
        [&["list"], &["get", "a"], &["import", "."], &["entitlements", "hide", "a"], &["status"]];
    for words in calls {
        let answer = program.run(words).code(4).one_error_line();
        assert!(answer.stderr.contains(part), "{words:?}: {}", answer.stderr);
        let json: Vec<&str> = [words, &["--json"]].concat();
        let answer = program.run(&json).code(4);
        let error: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
        assert!(error["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{error}");
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("the mode can be set");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_data_directory_that_is_a_file_is_refused() {
    let program = Program::new();
    fs::write(program.data(), "mine").expect("a file");
    refused(&program, "data");
    assert_eq!(fs::read(program.data()).expect("still a file"), b"mine");
    let inside = program.data().join("deeper");
    refused(&program.with_data(&inside), "deeper");
}

#[test]
fn a_data_directory_that_others_can_write_is_refused() {
    for (bits, who) in [(0o770, "group"), (0o702, "others"), (0o777, "all")] {
        let program = Program::new();
        let file = program.path("in.skill.jsonl");
        write_lines(&file, std::iter::once(skill("a", "Something.")));
        program.import(&file);
        mode(program.data(), bits);
        refused(&program, "unsafe");
        mode(program.data(), 0o700);
        assert_eq!(program.list().len(), 1, "{who}: nothing was lost");
    }
}

#[test]
fn a_data_directory_of_another_user_is_refused() {
    if !is_root() {
        eprintln!("SKIPPED: only root can give a directory away");
        return;
    }
    let program = Program::new();
    fs::create_dir(program.data()).expect("a folder");
    mode(program.data(), 0o700);
    chown(program.data(), Some(NOBODY), None).expect("it can be given away");
    refused(&program, "unsafe");
}

#[test]
fn a_data_directory_that_cannot_be_written_is_refused() {
    let program = Program::new();
    fs::create_dir(program.data()).expect("a folder");
    mode(program.data(), 0o500);
    if !is_root() {
        return refused(&program, "data");
    }
    // Root may write anywhere: another user tries.
    chown(program.data(), Some(NOBODY), None).expect("it can be given away");
    mode(program.path("").as_path(), 0o755);
    let mut tried = program.command(&["list"]);
    let output = match tried.uid(NOBODY).gid(NOBODY).current_dir("/").output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: another user cannot run the program here: {error}");
            return;
        }
    };
    let answer = Answer::of(&["list"], &output).code(4).one_error_line();
    assert!(
        answer.stderr.contains("Permission denied") && answer.stderr.contains(text(program.data())),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_data_directory_on_a_medium_that_takes_no_writes_is_refused() {
    // Nothing can be created there, whoever asks.
    let program = Program::new().with_data(Path::new("/proc/repertoire/data"));
    refused(&program, "/proc/repertoire");
}

#[test]
fn a_file_of_the_directory_that_is_a_link_is_not_followed() {
    let program = Program::new();
    program.run(&["list"]).code(0);
    let outside = program.path("outside");
    fs::rename(program.data().join("revocations"), &outside).expect("it moves");
    let before = fs::read(&outside).expect("bytes");
    symlink(&outside, program.data().join("revocations")).expect("a link");
    let answer = program.run(&["entitlements", "hide", "a"]);
    assert_ne!(answer.code, None, "no crash: {}", answer.stderr);
    assert_eq!(fs::read(&outside).expect("bytes"), before, "what the link points to was written");
}
