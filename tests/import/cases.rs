//! The front matter cases: each folder holds a SKILL.md and what must come out of it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::check;

#[test]
fn every_front_matter_case_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/front-matter");
    let mut cases: Vec<_> =
        fs::read_dir(folder).expect("cases").map(|case| case.expect("case").path()).collect();
    cases.sort();
    assert!(cases.len() >= 45);
    let wrong: Vec<String> = cases.iter().flat_map(|case| disagreements(case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn disagreements(case: &Path) -> Vec<String> {
    let expected: Value =
        serde_json::from_slice(&fs::read(case.join("expected.json")).expect("expected")).expect("JSON");
    let directory = expected["assume_directory_name"].as_str().expect("directory");
    let temporary = tempfile::tempdir().expect("folder");
    lay_out(case, temporary.path(), directory);
    let report = serde_json::to_value(check(&[temporary.path()])).expect("report");
    let path = format!("{directory}/SKILL.md");
    let mine: Vec<&Value> =
        report["skills"].as_array().expect("skills").iter().filter(|s| s["path"] == path.as_str()).collect();
    let mut wrong = if mine.len() == 1 {
        compare(&expected, mine[0], &report)
    } else {
        vec![format!("{} lines", mine.len())]
    };
    for what in &mut wrong {
        what.insert_str(0, &format!("{}: ", case.file_name().expect("name").to_string_lossy()));
    }
    wrong
}

/// Puts the files of a case where they are in the wild.
pub(crate) fn lay_out(case: &Path, root: &Path, directory: &str) {
    for item in fs::read_dir(case).expect("case").map(|item| item.expect("item")) {
        let name = item.file_name().into_string().expect("name");
        let sibling = ["other", "mirror", "lower"].contains(&name.as_str());
        if name != "expected.json" {
            copy(&item.path(), &if sibling { root.join(&name) } else { root.join(directory).join(&name) });
        }
    }
}

fn compare(expected: &Value, got: &Value, report: &Value) -> Vec<String> {
    let rejected = got["outcome"] == "rejected";
    if rejected != (expected["outcome"] == "reject") {
        return vec![format!("outcome {got}")];
    }
    if rejected {
        let code = expected["error"].as_str().and_then(|error| error.split(':').next()).unwrap_or_default();
        let right = got["error"]["code"] == code;
        return if right { Vec::new() } else { vec![format!("error {}, wanted {code}", got["error"])] };
    }
    let mut wrong = Vec::new();
    for (field, value) in expected["fields"].as_object().expect("fields") {
        wrong.extend(compare_field(expected, field, value, &got["skill"]));
    }
    let codes = codes(report);
    if expected["outcome"] == "accept" && !codes.is_empty() {
        wrong.push(format!("warnings {codes:?} where none is due"));
    }
    for warning in expected["warnings"].as_array().expect("warnings") {
        let warning = warning.as_str().expect("text");
        let found = codes.iter().any(|code| code == warning || code.split(':').next() == Some(warning));
        if !found {
            wrong.push(format!("no warning {warning} in {codes:?}"));
        }
    }
    wrong
}

fn compare_field(expected: &Value, field: &str, value: &Value, skill: &Value) -> Option<String> {
    let key = match field {
        "extra" => "metadata",
        "title" => "name",
        "body" => "content",
        "allowed_tools" if expected["format"] == "agentskills" => "preapproved_tools",
        other => other,
    };
    let have = &skill[key];
    let words =
        |value: &Value| value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let equal = match key {
        "content" => {
            have.as_str().unwrap_or_default().trim_matches('\n')
                == value.as_str().unwrap_or_default().trim_matches('\n')
        }
        "description" => words(have) == words(value),
        "metadata" => value.as_object().expect("map").iter().all(|(name, value)| &have[name] == value),
        _ => have == value,
    };
    (!equal).then(|| format!("{key}: {have}, wanted {value}"))
}

/// `code:field` of every warning of the report.
fn codes(report: &Value) -> Vec<String> {
    let warnings = report["skills"]
        .as_array()
        .expect("skills")
        .iter()
        .flat_map(|s| s["warnings"].as_array().expect("warnings"));
    warnings
        .map(|w| {
            format!("{}:{}", w["code"].as_str().unwrap_or_default(), w["field"].as_str().unwrap_or_default())
        })
        .collect()
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        for item in fs::read_dir(from).expect("folder").map(|item| item.expect("item")) {
            copy(&item.path(), &to.join(item.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().expect("parent")).expect("folder");
        fs::copy(from, to).expect("copy");
    }
}
