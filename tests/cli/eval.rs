//! `eval` on a small labelled set.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::program::{Program, is_empty, members};

const DOCS: &str = r#"{"id": "wifi", "kind": "knowledge", "name": "Wi-Fi", "description": "Join a wireless network.", "content": ""}
{"id": "camera", "kind": "knowledge", "name": "Camera", "description": "Take photos.", "content": ""}

{"id": "map", "kind": "knowledge", "name": "地图", "description": "查找地点。", "content": ""}
"#;

const QUERIES: &str = r#"{"q": "join the wireless network", "relevant": ["wifi"], "lang": "en"}
{"q": "take a photo", "relevant": ["camera", "camera"], "lang": "en"}
{"q": "camera", "relevant": ["wifi"], "lang": "en"}
{"q": "打开地图", "relevant": ["map"], "lang": "zh"}
{"q": "bake bread", "relevant": []}
"#;

/// A program whose temporary files stay in its folder, with docs and queries.
fn set(docs_name: &str, docs: &str, queries: &str) -> (Program, String, String) {
    let program = Program::new();
    let temporary = program.path("tmp");
    std::fs::create_dir_all(&temporary).expect("a folder");
    let docs = program.write(docs_name, docs);
    let queries = program.write("queries.jsonl", queries);
    (program.with("TMPDIR", &temporary.display().to_string()), docs, queries)
}

#[test]
fn figures_are_those_of_the_set_and_nothing_is_left_behind() {
    let (program, docs, queries) = set("docs.jsonl", DOCS, QUERIES);
    let figures = program.json(&["eval", "--docs", &docs, "--queries", &queries], 0);
    let all = [
        "by_language",
        "mrr_at_10",
        "ndcg_at_10",
        "out_of_scope",
        "p50_us",
        "p99_us",
        "queries",
        "recall_at_1",
        "recall_at_5",
    ];
    assert_eq!(members(&figures), all);
    assert_eq!((&figures["queries"], &figures["recall_at_1"]), (&json!(5), &json!(0.75)));
    assert_eq!((&figures["recall_at_5"], &figures["mrr_at_10"]), (&json!(0.75), &json!(0.75)));
    assert!(
        figures["p50_us"].as_f64() > Some(0.0) && figures["p99_us"].as_f64() >= figures["p50_us"].as_f64()
    );
    assert_eq!(figures["out_of_scope"], json!({"auroc": 1.0, "refused_at_5": 1.0}));
    let rows = &figures["by_language"];
    assert_eq!(members(rows), ["en", "zh"]);
    assert_eq!(
        rows["zh"],
        json!({"queries": 1, "recall_at_1": 1.0, "recall_at_5": 1.0, "mrr_at_10": 1.0, "ndcg_at_10": 1.0})
    );
    assert_eq!(rows["en"]["queries"], 3);
    assert!(is_empty(&program.path("tmp")) && is_empty(&program.path("data")), "something is left behind");
    let text = program.run(&["eval", "--docs", &docs, "--queries", &queries]).code(0).stdout;
    for part in ["MRR@10", "zh", "75.0", "AUROC 1.000", "queries/s"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn explain_shows_the_worst_misses_and_why() {
    let (program, docs, queries) = set("docs.jsonl", DOCS, QUERIES);
    let words = ["eval", "--docs", &docs, "--queries", &queries, "--explain", "7"];
    let answer = program.json(&words, 0);
    let misses = answer["misses"].as_array().expect("misses");
    assert_eq!(misses.len(), 1, "{answer}");
    assert_eq!(members(&misses[0]), ["expected", "got", "lang", "q"]);
    assert_eq!((&misses[0]["q"], &misses[0]["expected"]), (&json!("camera"), &json!(["wifi"])));
    assert_eq!(misses[0]["got"][0]["id"], "camera");
    assert_eq!(misses[0]["got"][0]["why"], json!([{"field": "name", "words": ["camera"]}]));
    let text = program.run(&words).code(0).stdout;
    assert!(text.contains("1. camera\nexpected: wifi\n") && text.contains("name: camera"), "{text}");
    let none = program.json(&["eval", "--docs", &docs, "--queries", &queries, "--explain", "0"], 0);
    assert_eq!(none["misses"], json!([]));
}

#[test]
fn every_form_of_import_is_read_and_json_lines_under_any_name() {
    let array = format!("[{}]", DOCS.trim().replace("\n\n", "\n").replace('\n', ","));
    let mut pretty = String::new();
    let first: Value = serde_json::from_str(DOCS.lines().next().expect("a line")).expect("JSON");
    write!(pretty, "{first:#}").expect("text");
    let rows = [
        ("docs.jsonl", DOCS, 0.75),
        ("docs", DOCS, 0.75),
        ("docs.ndjson.txt", DOCS, 0.75),
        ("docs.json", DOCS, 0.75),
        ("docs.json", &array, 0.75),
        ("docs.skill.json", &array, 0.75),
        ("all/docs.skill.jsonl", DOCS, 0.75),
        ("docs.json", &pretty, 0.25),
    ];
    for (name, docs, expect) in rows {
        let (program, path, queries) = set(name, docs, QUERIES);
        let path = path.strip_suffix("/docs.skill.jsonl").unwrap_or(&path);
        let figures = program.json(&["eval", "--docs", path, "--queries", &queries], 0);
        assert_eq!(figures["recall_at_1"], expect, "{name}: {docs}");
    }
}

#[test]
fn what_cannot_be_measured_is_said() {
    let (program, docs, queries) = set("docs.jsonl", DOCS, QUERIES);
    let wrong = program.write("wrong.jsonl", "{\"q\": \"a\", \"relevant\": []}\n{\"q\": \"a\"}\n");
    let empty = program.write("empty.jsonl", "\n");
    let rejected = program.write("rejected.jsonl", "{\"id\": \"a\"}\nnonsense\n");
    let nowhere = program.path("nowhere").display().to_string();
    let rows = [
        (&docs, &nowhere, 2, "file_failed"),
        (&docs, &wrong, 1, "rejected"),
        (&docs, &empty, 1, "rejected"),
        (&nowhere, &queries, 1, "rejected"),
        (&rejected, &queries, 1, "rejected"),
        (&empty, &queries, 1, "rejected"),
    ];
    for (docs, queries, code, name) in rows {
        let answer = program.json(&["eval", "--docs", docs, "--queries", queries], code);
        assert_eq!(answer["error"]["code"], name, "{docs} {queries}: {answer}");
        assert!(is_empty(&program.path("tmp")), "{docs} {queries}");
    }
    let answer = program.json(&["eval", "--docs", &docs, "--queries", &wrong], 1);
    assert_eq!(answer["error"]["problems"][0]["line"], 2, "{answer}");
    let some = program.write("some.jsonl", &format!("{DOCS}{{\"id\": \"a\"}}\n"));
    let answer = program.run(&["eval", "--docs", &some, "--queries", &queries]).code(0);
    assert!(answer.stderr.contains("1 of 4 skills"), "{}", answer.stderr);
}
