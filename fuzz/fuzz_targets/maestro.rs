//! Arbitrary bytes as Maestro flows: a skill that keeps the rules, or problems with a line; never a panic, never work
//! without an end.
//!
//! The input is cut at the lines `=====`: the first part is the flow, the others are the flows `1.yaml`, `2.yaml`, ...
//! that it may run.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use repertoire::Problem;
use repertoire::flow::compile;
use repertoire::import::{FileContext, read_maestro};
use repertoire::tools::ToolRegistry;

fuzz_target!(|data: &[u8]| {
    let parts = parts(data);
    let load = |path: &str| {
        let number = path.strip_suffix(".yaml").and_then(|name| name.parse::<usize>().ok()).unwrap_or(0);
        let part = parts.get(number).filter(|_| number > 0);
        part.map(|part| Arc::from(*part)).ok_or_else(|| Box::new(Problem::new("unreadable", "", "not there")))
    };
    let registry = ToolRegistry::builtin();
    let report = read_maestro(&FileContext::new("main.yaml", "flows", parts[0]), &load, &registry);
    assert_eq!(report.skills.len(), 1);
    let skill = &report.skills[0];
    match &skill.result {
        Ok(entry) => {
            assert_eq!(entry.skill.problems(), []);
            assert_eq!(compile(&entry.skill, &registry).unavailable.len(), skill.unavailable.len());
            assert!(skill.unavailable.iter().all(|problem| problem.line.is_some()));
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            assert!(problems.iter().all(|problem| problem.line.is_some() || problem.code == "too_large"));
        }
    }
});

fn parts(data: &[u8]) -> Vec<&[u8]> {
    const CUT: &[u8] = b"=====\n";
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(CUT.len()).position(|window| window == CUT) {
        parts.push(&rest[..at]);
        rest = &rest[at + CUT.len()..];
    }
    parts.push(rest);
    parts
}
