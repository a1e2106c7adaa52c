//! `bench`, for a short time.

use serde_json::json;

use crate::program::{Program, is_empty, members};

const OPERATIONS: [&str; 6] = ["get", "lookup", "prefix", "search", "resolve", "cold open"];

#[test]
fn every_operation_is_measured_on_the_skills_of_the_data_directory() {
    let program = Program::filled();
    let before = program.json(&["status"], 0);
    let answer = program.json(&["bench", "--ms", "10"], 0);
    assert_eq!(members(&answer), ["operations", "skills"]);
    assert_eq!(answer["skills"], 3);
    let rows = answer["operations"].as_array().expect("operations");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["operation"].as_str()).collect();
    assert_eq!(names, OPERATIONS);
    for row in rows {
        assert_eq!(members(row), ["calls", "operation", "p50_ns", "p99_ns"]);
        let number = |member: &str| row[member].as_u64().expect("a number");
        assert!(number("p50_ns") > 0 && number("p50_ns") <= number("p99_ns"), "{row}");
        assert!(number("calls") >= 5, "{row}");
    }
    assert_eq!(program.json(&["status"], 0), before, "the data directory is only read");
}

#[test]
fn a_made_up_catalog_is_measured_and_removed() {
    let program = Program::new();
    let temporary = program.path("tmp");
    std::fs::create_dir_all(&temporary).expect("a folder");
    let program = program.with("TMPDIR", &temporary.display().to_string());
    let answer = program.json(&["bench", "--skills", "200", "--ms", "10"], 0);
    let visible = answer["skills"].as_u64().expect("a number");
    assert!((80..=160).contains(&visible), "about 60 % of 200: {visible}");
    assert_eq!(answer["operations"].as_array().map(Vec::len), Some(OPERATIONS.len()));
    assert!(is_empty(&program.path("tmp")) && is_empty(&program.path("data")), "something is left behind");
    let text = program.run(&["bench", "--skills", "20", "--ms", "10"]).code(0).stdout;
    for part in ["visible skills: ", "OPERATION", "P99", "cold open"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn without_a_skill_or_within_no_limits_it_says_what_to_do() {
    let program = Program::filled();
    for id in ["hostile", "web/page", "wifi"] {
        program.run(&["entitlements", "hide", id]).code(0);
    }
    let nothing = program.json(&["bench"], 1);
    assert_eq!(nothing["error"]["code"], json!("nothing_to_measure"));
    for words in [["--skills", "0"], ["--skills", "1000001"], ["--ms", "9"]] {
        program.run(&[&["bench"], &words[..]].concat()).code(2);
    }
}
