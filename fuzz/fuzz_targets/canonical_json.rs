//! JSON of any bytes, as a document, as lines and as a file whose name says nothing: what is accepted is what another
//! reader of JSON accepts, and is written back and read again as the same skill; every problem has its place.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use repertoire::import::{
    Doubt, FileReport, Format, SkillReport, read_json, read_json_lines, read_loose_json,
};
use repertoire::model::Skill;
use repertoire::tools::ToolRegistry;
use serde::de::IgnoredAny;
use serde_json::Value;

fn registry() -> &'static Arc<ToolRegistry> {
    static REGISTRY: OnceLock<Arc<ToolRegistry>> = OnceLock::new();
    REGISTRY.get_or_init(ToolRegistry::builtin)
}

fuzz_target!(|bytes: &[u8]| {
    let bare = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut skills = Vec::new();
    let document = read_json(&mut &*bytes, registry(), &mut |skill| skills.push(skill));
    match (&document, serde_json::from_slice::<Value>(bare)) {
        (Ok(_), Ok(Value::Array(items))) => assert_eq!(items.len(), skills.len()),
        (Ok(_), Ok(Value::Object(_))) => assert_eq!(skills.len(), 1),
        (Ok(format), Ok(other)) => panic!("{format:?} of {other}"),
        // Depth counts from the array for the other reader, from the skill for ours.
        (Ok(_), Err(error)) => assert!(error.to_string().contains("recursion"), "{error}"),
        (Err(refusal), other) => {
            assert!(!matches!(other, Ok(Value::Object(_) | Value::Array(_))), "refused: {refusal:?}");
            check(refusal, bytes);
            assert!(refusal.result.is_err());
        }
    }
    skills.iter().for_each(|skill| check(skill, bytes));

    let mut lines = Vec::new();
    match read_json_lines(&mut &*bytes, registry(), &mut |skill| lines.push(skill)) {
        Ok(_) => lines.iter().for_each(|skill| check(skill, bytes)),
        Err(refusal) => check(&refusal, bytes),
    }

    let loose = read_loose_json("x.json", bytes, registry());
    loose.skills.iter().for_each(|skill| check(skill, bytes));
    let readable =
        std::str::from_utf8(bare).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    assert!(is_honest(&loose, readable));
});

/// What is no JSON is never taken for a file that simply holds no skill.
fn is_honest(report: &FileReport, readable: bool) -> bool {
    match report.format {
        Some(Format::WorkflowV1) => readable,
        _ => readable || report.doubt != Some(Doubt::NoSkill),
    }
}

fn check(report: &SkillReport, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split('\n').count();
    let problems = report.result.as_ref().err().into_iter().flatten();
    for problem in problems.chain(&report.warnings).chain(&report.unavailable) {
        let (Some(line), Some(column)) = (problem.line, problem.column) else {
            panic!("no place: {problem:?}");
        };
        assert!(line >= 1 && line as usize <= lines && column >= 1, "{problem:?}");
    }
    for excerpt in &report.excerpts {
        assert!(excerpt.first_column <= excerpt.column && !excerpt.text.contains('\n'));
    }
    let Ok(entry) = &report.result else { return };
    assert_eq!(entry.skill.problems(), vec![]);
    let written: Value = serde_json::from_str(&entry.skill.canonical_json()).unwrap();
    assert_eq!(Skill::from_json(&written).unwrap().skill, entry.skill, "what is written is read as the same");
}
