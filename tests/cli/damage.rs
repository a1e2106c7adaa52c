//! Files of the data directory that are damaged, and what a person is told about it.

use std::fs;
use std::path::PathBuf;

use crate::program::Program;

/// The files of the data directory with this ending, newest name last.
fn files(program: &Program, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(program.path("data")).expect("a data directory");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    paths.sort();
    paths
}

/// Changes one byte of a file that nobody may write.
fn flip(path: &PathBuf, at: usize) {
    let mut bytes = fs::read(path).expect("a file");
    bytes[at] ^= 0xff;
    fs::remove_file(path).expect("it goes");
    fs::write(path, bytes).expect("it is written");
}

#[test]
fn healing_is_told_in_one_plain_line_and_once() {
    let program = Program::filled();
    for path in files(&program, ".seg") {
        flip(&path, 100);
    }
    let answer = program.run(&["list"]).code(0);
    let lines: Vec<&str> = answer.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", answer.stderr);
    assert_eq!(lines[0], "3 of 3 skills");
    let told = "warning: the local layer was damaged (local-";
    assert!(lines[1].starts_with(told), "{}", answer.stderr);
    assert!(lines[1].ends_with(") and is built again from its source"), "{}", answer.stderr);
    assert_eq!(program.run(&["list"]).code(0).stderr, "3 of 3 skills\n");
    // Under --json the result stays alone on standard output.
    for path in files(&program, ".seg") {
        flip(&path, 100);
    }
    let answer = program.run(&["list", "--json"]).code(0);
    assert_eq!(answer.json()["total"], 3);
    assert!(answer.stderr.starts_with(told) && answer.stderr.lines().count() == 1, "{}", answer.stderr);
    // Quiet is quiet about what is mended, and the log is there for who asks for it.
    for path in files(&program, ".seg") {
        flip(&path, 100);
    }
    assert_eq!(program.run(&["-q", "list"]).code(0).stderr, "");
    for path in files(&program, ".seg") {
        flip(&path, 100);
    }
    let answer = program.run(&["-v", "list"]).code(0);
    assert!(answer.stderr.contains(" WARN ") && answer.stderr.contains(" INFO "), "{}", answer.stderr);
}

#[test]
fn what_cannot_be_mended_is_told_with_the_next_step() {
    let program = Program::filled();
    for path in files(&program, ".jsonl").into_iter().chain(files(&program, ".seg")) {
        flip(&path, 100);
    }
    let said = program.run(&["list"]).code(0).stderr;
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 1, "{said}");
    assert!(warnings[0].ends_with(") and is empty now; import or sync again"), "{said}");
    let folder = program.path("in").display().to_string();
    program.run(&["import", &folder]).code(0);
    assert_eq!(program.run(&["list"]).code(0).stderr, "3 of 3 skills\n");
}

#[test]
fn a_lost_manifest_is_told_with_the_next_step() {
    let program = Program::filled();
    flip(&program.path("data/CURRENT"), 100);
    let answer = program.run(&["list"]).code(0);
    assert!(
        answer.stderr.contains("warning: CURRENT was damaged and is kept as CURRENT.bad; "),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.lines().all(|line| !line.contains("WARN")), "{}", answer.stderr);
    flip(&program.path("data/epoch"), 0);
    let answer = program.run(&["list"]).code(0);
    assert!(answer.stderr.contains("warning: epoch was damaged"), "{}", answer.stderr);
}

#[test]
fn every_file_of_the_data_directory_is_known_to_verify_and_inspect() {
    let program = Program::filled();
    program.run(&["entitlements", "hide", "wifi"]).code(0);
    let mut names: Vec<PathBuf> = ["CURRENT", "PREVIOUS", "epoch", "revocations", "LOCK"]
        .map(|name| program.path("data").join(name))
        .into();
    names.extend(files(&program, ".seg"));
    names.extend(files(&program, ".jsonl"));
    assert_eq!(names.len(), 8, "{names:?}");
    // Copies, because the program mends its own.
    for path in names {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = fs::read(&path).expect("a file");
        let copy = program.path("copies").join(&name);
        fs::create_dir_all(copy.parent().expect("a parent")).expect("a folder");
        for command in ["verify", "inspect"] {
            for place in [&path, &copy] {
                fs::write(&copy, &bytes).expect("a copy");
                let place = place.display().to_string();
                let report = &program.json(&[command, &place], 0)["files"][0];
                assert_eq!(report["name"], name.as_str());
                assert_eq!(report["problems"], serde_json::json!([]), "{command} {name}: {report}");
            }
        }
        let mut broken = bytes.clone();
        match broken.get_mut(if name == "epoch" { 2 } else { 90 }) {
            Some(byte) => *byte ^= 0xff,
            None => broken.push(1),
        }
        fs::write(&copy, broken).expect("a copy");
        let report = program.json(&["verify", &copy.display().to_string()], 1);
        assert_eq!(report["files"][0]["ok"], false, "{name}: {report}");
    }
}
