//! Reading skills from JSON: what is taken, what is left out, and that every fault is named in one go.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::model::{Kind, Skill, Status, strategy};

/// A flow with every member that a flow can have.
fn full() -> Value {
    json!({
        "id": "xhs-search", "kind": "flow_template", "name": "Search", "description": "Search notes.",
        "version": "1.2.0", "tags": ["search"], "aliases": ["find notes"], "examples": ["search for tea"],
        "locale": "zh-Hans", "updated_at": "2026-01-31T12:00:00Z", "risk": "medium",
        "apps": [{"package": "com.xingin.xhs", "min_version_code": 1}], "allowed_tools": [],
        "preapproved_tools": ["Bash(git:*)"], "success_criteria": ["Results are shown."],
        "status": {"state": "deprecated", "reason": "Old.", "replaced_by": "xhs/search"},
        "license": "MIT", "author": "A", "compatibility": "Android", "metadata": {"a": {"b": [1, 2.5, null]}},
        "parameters": [{
            "name": "query", "type": "string", "required": false, "description": "words", "default": "tea",
            "enum": ["tea", "coffee"], "pattern": "^[a-z]+$", "min_length": 1, "max_length": 9, "secret": true,
            "examples": ["coffee"],
        }],
        "steps": [{"tool": "input_text", "args_template": {"text": "{query}"}, "note": "n", "optional": true}],
        "resources": [{"path": "a.md", "sha256": "0".repeat(64), "bytes": 1, "media_type": "text/markdown"}],
        "derived_from": ["other"],
    })
}

/// Code and field of every problem after a change to the full skill.
fn faults(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut value = full();
    change(&mut value);
    let problems = Skill::from_json(&value).unwrap_err();
    problems.iter().map(|problem| format!("{} {}", problem.code, problem.field)).collect()
}

#[test]
fn every_member_is_read_and_written_back() {
    let reading = Skill::from_json(&full()).unwrap();
    assert_eq!(reading.warnings, vec![]);
    let written: Value = serde_json::from_str(&reading.skill.canonical_json()).unwrap();
    assert_eq!(written, full());
}

#[test]
fn the_four_required_members_are_enough() {
    let value = json!({"id": "a", "kind": "knowledge", "name": "A", "description": "B", "content": "C"});
    let reading = Skill::from_json(&value).unwrap();
    let mut expected = Skill::new("a", Kind::Knowledge, "A", "B");
    expected.content = "C".to_owned();
    assert_eq!(reading.skill, expected);
    assert_eq!(reading.warnings, vec![]);
}

#[test]
fn unknown_members_are_left_out_with_a_warning_and_those_of_the_layer_in_silence() {
    let mut value = full();
    value["flavour"] = json!("sweet");
    value["steps"][0]["retry"] = json!(3);
    for key in ["subscriptions", "source", "layer", "digest"] {
        value[key] = json!(["x"]);
    }
    let reading = Skill::from_json(&value).unwrap();
    let warnings: Vec<_> = reading.warnings.iter().map(|warning| (&*warning.code, &*warning.field)).collect();
    assert_eq!(warnings, [("unknown_field", "flavour"), ("unknown_field", "/steps/0/retry")]);
    assert_eq!(reading.skill, Skill::from_json(&full()).unwrap().skill);
}

#[test]
fn every_fault_is_named_at_once_and_each_only_once() {
    let value = json!({
        "id": 7, "name": null, "description": ["x"], "tags": "a", "risk": "extreme", "locale": "??",
        "steps": [{"tool": "tap"}, 3], "parameters": [{"name": "p", "type": "text", "minimum": "1"}],
    });
    let problems = Skill::from_json(&value).unwrap_err();
    let mut found: Vec<_> =
        problems.iter().map(|problem| format!("{} {}", problem.code, problem.field)).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "invalid_risk risk",
            "invalid_value /parameters/0/type",
            "invalid_value locale",
            "missing_field /steps/0/args_template",
            "missing_field kind",
            "missing_field name",
            "type_mismatch /parameters/0/minimum",
            "type_mismatch /steps/1",
            "type_mismatch description",
            "type_mismatch id",
            "type_mismatch tags",
        ]
    );
}

#[test]
fn a_value_of_another_type_is_refused_and_never_converted() {
    type Change = fn(&mut Value);
    let cases: Vec<(Change, &str)> = vec![
        (|v| v["version"] = json!(1), "type_mismatch version"),
        (|v| v["tags"] = json!(["a", 1]), "type_mismatch /tags/1"),
        (|v| v["allowed_tools"] = json!("tap"), "type_mismatch allowed_tools"),
        (|v| v["allowed_tools"] = json!(null), "type_mismatch allowed_tools"),
        (|v| v["metadata"] = json!([]), "type_mismatch metadata"),
        (|v| v["status"] = json!("retired"), "type_mismatch status"),
        (|v| v["status"] = json!({"state": "retired"}), "invalid_value /status/state"),
        (|v| v["status"] = json!({"state": "deprecated"}), "missing_field /status/reason"),
        (|v| v["apps"][0]["min_version_code"] = json!(-1), "type_mismatch /apps/0/min_version_code"),
        (|v| v["steps"][0]["optional"] = json!("yes"), "type_mismatch /steps/0/optional"),
        (|v| v["parameters"][0]["max_length"] = json!(1_u64 << 40), "out_of_range /parameters/0/max_length"),
        (|v| v["metadata"]["a"] = json!(u64::MAX), "inexact_number metadata"),
        (|v| v["resources"][0]["bytes"] = json!(null), "missing_field /resources/0/bytes"),
    ];
    for (change, expected) in cases {
        assert_eq!(faults(change), [expected]);
    }
}

#[test]
fn what_is_no_object_is_refused() {
    for value in [json!(null), json!([]), json!("skill"), json!(1)] {
        assert_eq!(Skill::from_json(&value).unwrap_err()[0].code, "type_mismatch");
    }
}

#[test]
fn a_deeply_nested_value_is_refused_without_a_deep_recursion() {
    let deep = (0..300).fold(json!(1), |inner, _| json!({"a": inner}));
    assert_eq!(faults(|value| value["metadata"] = deep.clone()), ["too_deep metadata"]);
    assert_eq!(faults(|value| value["parameters"][0]["default"] = deep), ["too_deep /parameters/0/default"]);
}

#[test]
fn active_may_be_written_as_a_word() {
    let mut value = full();
    value["status"] = json!("active");
    assert_eq!(Skill::from_json(&value).unwrap().skill.status, Status::Active);
}

proptest! {
    #[test]
    fn any_member_of_any_type_is_read_or_refused_without_a_panic(
        skill in strategy::skills(),
        key in prop::sample::select(vec![
            "id", "kind", "name", "tags", "allowed_tools", "status", "metadata", "steps", "parameters", "apps", "risk",
        ]),
        other in prop::sample::select(vec![
            json!(null), json!(1), json!("x"), json!([]), json!({}), json!([{}]), json!([[]]), json!(true), json!(1e99),
        ]),
    ) {
        let mut value: Value = serde_json::from_str(&skill.canonical_json()).unwrap();
        value[key] = other;
        if let Ok(reading) = Skill::from_json(&value) {
            prop_assert_eq!(reading.skill.problems(), vec![]);
        }
    }
}
