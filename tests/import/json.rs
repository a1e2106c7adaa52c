//! Canonical JSON and workflows: nothing is lost in silence, and everything wrong is named at once, with its place.

use std::fs;
use std::path::Path;

use repertoire::catalog::Catalog;
use repertoire::intake::{ImportOptions, ImportReport, import_paths};
use serde_json::Value;

use crate::{check, lines, write};

const WORKFLOW: &str = r#"{
  "version": 1, "id": "wait", "title": "Wait", "description": "Waits.",
  "steps": [{"id": "s", "tool": "wait_for_idle", "args": {}}]
}"#;

/// Imports a folder.
fn import(catalog: &Catalog, folder: &Path) -> ImportReport {
    import_paths(catalog, &[folder.to_owned()], &ImportOptions::default(), &|_| ()).expect("import")
}

/// `line:column code field` of every problem of the first line of a report.
fn problems(report: &ImportReport) -> Vec<String> {
    let error = report.skills[0].error.as_ref().expect("a rejection");
    error.problems.iter().map(place).collect()
}

fn place(problem: &repertoire::Problem) -> String {
    let number = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    format!("{}:{} {} {}", number(problem.line), number(problem.column), problem.code, problem.field)
}

/// A check of one file.
fn check_file(name: &str, text: &str) -> ImportReport {
    let folder = tempfile::tempdir().expect("folder");
    write(folder.path(), &[(name, text)]);
    check(&[folder.path()])
}

#[test]
fn a_workflow_that_breaks_is_refused_and_its_last_version_stays() {
    let (data, folder) = (tempfile::tempdir().expect("data"), tempfile::tempdir().expect("folder"));
    let catalog = Catalog::open(data.path()).expect("catalog");
    write(folder.path(), &[("wait.json", WORKFLOW)]);
    assert_eq!(lines(&import(&catalog, folder.path())), ["wait.json wait added"]);
    for (text, code, column) in [
        (WORKFLOW.replace("\"tool\":", "\"tool\""), "json_invalid", 32),
        (WORKFLOW.replace("1,", "\"1\","), "unsupported_version", 3),
        ("{}".to_owned(), "no_skill", 1),
        ("[1, 2]".to_owned(), "no_skill", 1),
        (String::new(), "json_invalid", 1),
        (" ".repeat(2 << 20), "too_large", 0),
    ] {
        write(folder.path(), &[("wait.json", &text)]);
        let report = import(&catalog, folder.path());
        assert_eq!(
            lines(&report),
            [format!("wait.json {} rejected", report.skills[0].id.as_deref().unwrap_or("-"))]
        );
        let line = &report.skills[0];
        let problem = &line.error.as_ref().expect("error").problems[0];
        assert_eq!((problem.code.as_str(), problem.column.unwrap_or(0)), (code, column));
        assert!(line.warnings.iter().any(|warning| warning.code == "previous_version_kept"), "{code}");
    }
    write(folder.path(), &[("wait.json", WORKFLOW)]);
    assert_eq!(lines(&import(&catalog, folder.path())), ["wait.json wait unchanged"]);
    fs::remove_file(folder.path().join("wait.json")).expect("remove");
    assert_eq!(lines(&import(&catalog, folder.path())), ["wait.json wait removed"]);
}

#[test]
fn other_json_files_are_none_of_ours_and_what_cannot_be_told_is_named() {
    let folder = tempfile::tempdir().expect("folder");
    write(
        folder.path(),
        &[
            ("package.json", r#"{"name": "x", "version": "1.0.0", "scripts": {}}"#),
            ("tsconfig.json", "{\n  // no JSON\n  \"compilerOptions\": {}\n}"),
            ("recording.json", r#"{"title": "x", "steps": [{"type": "click"}]}"#),
            (
                "skill.json",
                r#"{"id": "a", "kind": "knowledge", "name": "A", "description": "B", "content": "C"}"#,
            ),
            ("cut.json", r#"{"version": 1, "id": "a", "title": "A", "st"#),
            ("nothing.json", ""),
        ],
    );
    let report = check(&[folder.path()]);
    assert_eq!(lines(&report), ["cut.json - rejected", "nothing.json - rejected", "skill.json - rejected"]);
    let passed: Vec<_> =
        report.passed_over.iter().map(|file| (file.path.as_str(), place(&file.problem))).collect();
    assert_eq!(
        passed,
        [
            ("recording.json", "1:16 unknown_format ".to_owned()),
            ("tsconfig.json", "2:3 json_invalid ".to_owned())
        ]
    );
    let json = serde_json::to_value(&report).expect("JSON");
    assert_eq!(json["passed_over"][1]["line"], 2);
}

#[test]
fn a_key_that_stands_twice_is_refused_where_it_decides_and_told_where_not() {
    let text = r#"{"id": "a", "kind": "knowledge", "name": "A", "description": "B",
 "description": "C", "content": "x",
 "metadata": {"k": 1, "k": 2}}"#;
    let report = check_file("a.skill.json", text);
    assert_eq!(lines(&report), ["a.skill.json a added"]);
    let warnings: Vec<_> = report.skills[0].warnings.iter().map(place).collect();
    assert_eq!(warnings, ["2:2 duplicate_key description", "3:23 duplicate_key /metadata/k"]);
    assert_eq!(report.skills[0].skill.as_ref().expect("skill").description, "C");

    let text = r#"[{"id": "a", "kind": "flow_template", "name": "A", "description": "B",
 "risk": "high", "risk": "low", "allowed_tools": [], "allowed_tools": ["tap"],
 "steps": [{"tool": "wait_for_idle", "tool": "tap", "args_template": {}}]}]"#;
    let report = check_file("a.skill.json", text);
    assert_eq!(lines(&report), ["a.skill.json a rejected"]);
    let found = problems(&report);
    for expected in
        ["2:18 duplicate_key risk", "2:54 duplicate_key allowed_tools", "3:38 duplicate_key /steps/0/tool"]
    {
        assert!(found.contains(&expected.to_owned()), "{expected}: {found:?}");
    }

    let line = r#"{"id":"a","id":"b","kind":"knowledge","name":"A","description":"B","content":"x"}"#;
    let report = check_file("a.skill.jsonl", &format!("\n{line}\n"));
    assert_eq!(lines(&report), ["a.skill.jsonl - rejected"]);
    assert_eq!(problems(&report), ["2:11 duplicate_key id"]);

    let scope = r#""skill_scope": {"allowed_tools": ["wait_for_idle"], "allowed_tools": []}, "steps""#;
    let report = check_file("wait.json", &WORKFLOW.replace("\"steps\"", scope));
    assert_eq!(lines(&report), ["wait.json wait rejected"]);
    assert_eq!(problems(&report), ["3:55 duplicate_key /skill_scope/allowed_tools"]);
}

#[test]
fn shape_rules_and_tools_are_named_at_once_each_with_its_place() {
    let text = r#"{
  "id": "a", "kind": "flow_template", "name": "A",
  "description": 7,
  "tagz": [],
  "locale": "??",
  "parameters": [{"name": "n", "type": "integer"}],
  "steps": [
    {"tool": "no_such_tool", "args_template": {"x": "{gone}"}},
    {"tool": "wait_for_idle", "args_template": {"timeout_ms": "soon", "text": "{"}},
    3,
    {"tool": "tap"}
  ]
}"#;
    let report = check_file("a.skill.json", text);
    let found = problems(&report);
    assert_eq!(
        found,
        [
            "3:3 type_mismatch description",
            "5:3 invalid_value locale",
            "10:5 type_mismatch /steps/2",
            "11:5 missing_field /steps/3/args_template",
            "8:6 unknown_tool /steps/0/tool",
            "8:48 undefined_placeholder /steps/0/args_template/x",
            "9:49 wrong_type /steps/1/args_template/timeout_ms",
            "9:71 template_syntax /steps/1/args_template/text",
            "9:71 unknown_argument /steps/1/args_template/text",
        ]
    );
    let warnings: Vec<_> = report.skills[0].warnings.iter().map(place).collect();
    assert_eq!(warnings, ["4:3 unknown_field tagz"]);
    let excerpt = report.skills[0].excerpts.iter().find(|excerpt| excerpt.line == 8).expect("an excerpt");
    assert_eq!((excerpt.column, excerpt.first_column), (6, 1));
    assert!(excerpt.text.starts_with("    {\"tool\": \"no_such_tool\""));
}

#[test]
fn a_placeholder_of_a_parameter_that_cannot_be_read_is_no_fault_of_its_own() {
    let text = r#"{"id": "a", "kind": "flow_template", "name": "A", "description": "B",
 "parameters": [{"nam": "n", "type": "string"}],
 "steps": [{"tool": "type_text", "args_template": {"text": "{n}"}}]}"#;
    let report = check_file("a.skill.json", text);
    assert_eq!(problems(&report), ["2:17 missing_field /parameters/0/name"]);
}

#[test]
fn what_is_unavailable_has_its_place_too() {
    let text = r#"{"id": "a", "kind": "flow_template", "name": "A", "description": "B", "aliases": ["x", "back"],
 "allowed_tools": ["wait_for_idle",
   "no_such_tool"],
 "steps": [{"tool": "wait_for_idle", "args_template": {}}]}"#;
    let report = check_file("a.skill.json", text);
    assert_eq!(lines(&report), ["a.skill.json a added"]);
    let line = serde_json::to_value(&report).expect("JSON")["skills"][0].clone();
    assert!(line["unavailable"][0].is_string());
    let problem = &line["unavailable_problems"][0];
    assert_eq!((&problem["line"], &problem["column"]), (&Value::from(3), &Value::from(4)));
    let warning = &line["warnings"][0];
    assert_eq!(
        (&warning["code"], &warning["column"]),
        (&Value::from("alias_shadows_builtin"), &Value::from(88))
    );
}

#[test]
fn a_file_of_many_skills_names_the_place_of_each() {
    let skill = |id: &str, text: &str| {
        format!(r#"{{"id":"{id}","kind":"knowledge","name":"N","description":"{text}","content":"x"}}"#)
    };
    let text = format!("[{},\n{},\n  {}]", skill("a", "1."), skill("a", "2."), skill("b", ""));
    let report = check_file("many.skill.json", &text);
    let two = &report.skills[1].warnings[0];
    assert_eq!(place(two), "2:1 duplicate_id a");
    let three = report.skills[2].error.as_ref().expect("rejected");
    assert_eq!(place(&three.problems[0]), "3:43 empty description");
}

#[test]
fn too_many_problems_are_cut_and_counted() {
    let tags = vec!["1"; 3_000].join(",");
    let text = format!(
        r#"{{"id":"a","kind":"knowledge","name":"A","description":"B","content":"x","tags":[{tags}]}}"#
    );
    let report = check_file("a.skill.json", &text);
    let error = report.skills[0].error.as_ref().expect("rejected");
    assert_eq!(error.problems.iter().filter(|problem| problem.code == "type_mismatch").count(), 1_000);
    assert!(error.problems.iter().any(|problem| problem.code == "too_many_problems"));
}
