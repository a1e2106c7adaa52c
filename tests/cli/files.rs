//! Files that a command is given: pipes, devices and folders in their place, files that are too large.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program::{Answer, Program};

/// How long a command may take that is to refuse at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs a command that must not wait for the other end of a pipe.
#[track_caller]
fn ends(program: &Program, words: &[&str]) -> Answer {
    let mut command = program.command();
    let mut child =
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let begun = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().expect("it is killed");
            panic!("{words:?} waits");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Answer::of(&child.wait_with_output().expect("the program ends"))
}

/// Makes a pipe with a name.
#[cfg(unix)]
fn pipe(path: &Path) -> String {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    path.display().to_string()
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_at_once_with_the_exit_code_of_its_purpose() {
    let program = Program::filled();
    let fifo = pipe(&program.path("pipe"));
    let folder = program.path("in").display().to_string();
    for odd in [fifo.as_str(), "/dev/zero", &folder] {
        let params = format!("@{odd}");
        let rows: [(&[&str], i32); 5] = [
            (&["--config", odd, "list"], 3),
            (&["resolve", "web/page", "--params", &params], 2),
            (&["eval", "--docs", &folder, "--queries", odd], 2),
            (&["verify", odd], 2),
            (&["inspect", odd], 2),
        ];
        for (words, code) in rows {
            let answer = ends(&program, words).code(code);
            assert!(answer.stderr.contains("it is no regular file"), "{words:?}: {}", answer.stderr);
            assert!(answer.stderr.contains("; name a regular file"), "{words:?}: {}", answer.stderr);
            assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
        }
        let tools = Program::new().with("REPERTOIRE_TOOLS_FILE", odd);
        assert!(ends(&tools, &["tools"]).code(3).stderr.contains("the tool file"));
        let configured = Program::new().with("REPERTOIRE_CONFIG", odd);
        ends(&configured, &["config", "show"]).code(3);
    }
    ends(&program, &["eval", "--docs", &fifo, "--queries", &program.write("q.jsonl", "{}")]).code(1);
    for place in ["p.skill.json", "pipe/SKILL.md"] {
        std::fs::create_dir_all(program.path("pipe-in/pipe")).expect("a folder");
        let fifo = pipe(&program.path("pipe-in").join(place));
        for import in [fifo, program.path("pipe-in").display().to_string()] {
            let answer = ends(&program, &["import", "--check", &import]).code(1);
            assert!(answer.stdout.contains("not_a_file"), "{}", answer.stdout);
        }
    }
    // The configuration that is found by itself.
    let program = Program::filled();
    pipe(&program.path("data/config.toml"));
    ends(&program, &["list"]).code(3);
}

#[cfg(unix)]
#[test]
fn an_export_onto_a_pipe_names_the_skill_and_writes_the_others() {
    let program = Program::filled();
    let out = program.path("out");
    std::fs::create_dir_all(out.join("web")).expect("a folder");
    pipe(&out.join("wifi.skill.json"));
    std::os::unix::fs::symlink("/dev/zero", out.join("hostile.skill.json")).expect("a link");
    let words = ["export", "--json", &out.display().to_string()];
    let report = ends(&program, &words).code(1).json();
    let codes: Vec<(&str, &str)> = report["skills"]
        .as_array()
        .expect("skills")
        .iter()
        .filter_map(|line| Some((line["id"].as_str()?, line["problems"][0]["code"].as_str()?)))
        .collect();
    assert_eq!(codes, [("hostile", "unsafe_path"), ("wifi", "file_exists")], "{report}");
    assert!(out.join("web/page.skill.json").is_file());
    assert!(ends(&program, &["export", &pipe(&program.path("pipe"))]).code(2).stderr.contains("write into"));
}

#[test]
fn a_file_beyond_its_limit_is_refused_before_it_is_read() {
    let program = Program::filled();
    // Holes take no room: only the size says how large the file is.
    let large = |name: &str, bytes: u64| {
        let path = program.path(name);
        File::create(&path).and_then(|file| file.set_len(bytes)).expect("a large file");
        path.display().to_string()
    };
    let config = large("config.toml", repertoire::limits::CONFIG_BYTES_MAX + 1);
    let params = format!("@{}", large("params.json", repertoire::limits::PARAMS_BYTES_MAX + 1));
    let queries = large("queries.jsonl", repertoire::limits::LABELLED_QUERIES_BYTES_MAX + 1);
    let tools = large("tools.json", repertoire::limits::REGISTRY_BYTES_MAX + 1);
    let docs = program.path("in").display().to_string();
    let rows: [(&[&str], i32); 3] = [
        (&["--config", &config, "list"], 3),
        (&["resolve", "web/page", "--params", &params], 2),
        (&["eval", "--docs", &docs, "--queries", &queries], 2),
    ];
    for (words, code) in rows {
        let answer = program.run(words).code(code);
        assert!(answer.stderr.contains("it is larger than"), "{words:?}: {}", answer.stderr);
    }
    let answer = Program::new().with("REPERTOIRE_TOOLS_FILE", &tools).run(&["tools"]).code(3);
    assert!(answer.stderr.contains("it is larger than"), "{}", answer.stderr);
}
