//! Arbitrary skills and values: either every placeholder is substituted, or a problem is listed; the bound of the
//! output holds; a value never becomes a placeholder. Arbitrary archives: an error, never a panic.
//!
//! The input is JSON `{"parameters": [...], "steps": [...], "values": {...}}`; anything else is taken as an archive.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use repertoire::flow::{
    ArchivedProgram, ResolvedStep, Template, check_archived, compile, resolve, resolve_text,
};
use repertoire::limits::RESOLVED_BYTES_MAX;
use repertoire::model::{Kind, Skill};
use repertoire::tools::ToolRegistry;
use serde_json::{Map, Value};

fuzz_target!(|data: &[u8]| {
    match serde_json::from_slice::<Value>(data).ok().and_then(read) {
        Some((skill, values)) => run(&skill, &values),
        None => run_archive(data),
    }
});

/// The built-in table and a tool that takes anything.
fn registry() -> &'static Arc<ToolRegistry> {
    static REGISTRY: OnceLock<Arc<ToolRegistry>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let text = r#"[{"name": "any", "inputSchema": {"type": "object"}}]"#;
        ToolRegistry::builtin().with_json(text).unwrap()
    })
}

fn run(skill: &Skill, values: &Map<String, Value>) {
    let compiled = compile(skill, registry());
    if !compiled.unavailable.is_empty() {
        return;
    }
    let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&compiled.program).unwrap();
    let program = rkyv::access::<ArchivedProgram, rkyv::rancor::Error>(&bytes).unwrap();
    check_archived(program).unwrap();
    match (resolve_text(program, values, registry()), resolve(program, values, registry())) {
        (Ok(text), Ok(steps)) => {
            assert!(text.json().len() <= RESOLVED_BYTES_MAX);
            let read: Vec<ResolvedStep> = serde_json::from_str(text.json()).unwrap();
            assert_eq!(read, steps);
            for (step, resolved) in skill.steps.iter().zip(&steps) {
                assert!(registry().check_call(&resolved.tool, resolved.args.as_object().unwrap()).is_ok());
                for (name, value) in &step.args_template {
                    compare(value, resolved.args.get(name), values);
                }
            }
        }
        (Err(problems), Err(others)) => {
            assert!(!problems.is_empty());
            assert_eq!(problems, others);
        }
        (text, steps) => panic!("the two forms disagree: {text:?} {steps:?}"),
    }
}

/// An argument that is one given string comes out as it went in, braces and all.
fn compare(template: &Value, resolved: Option<&Value>, values: &Map<String, Value>) {
    let Some(template) = template.as_str().and_then(|text| Template::parse(text).ok()) else { return };
    let given = template.whole().and_then(|name| values.get(name));
    if let (Some(Value::String(given)), Some(Value::String(found))) = (given, resolved) {
        assert_eq!(given, found);
    }
    if let (Some(literal), Some(found)) = (template.literal(), resolved) {
        assert_eq!(Some(literal), found.as_str());
    }
}

fn run_archive(data: &[u8]) {
    let mut aligned = rkyv::util::AlignedVec::<16>::new();
    aligned.extend_from_slice(data);
    if let Ok(program) = rkyv::access::<ArchivedProgram, rkyv::rancor::Error>(&aligned) {
        let _ = check_archived(program);
        let values = Map::new();
        let text = resolve_text(program, &values, registry());
        let read = text.ok().and_then(|text| serde_json::from_str::<Vec<ResolvedStep>>(text.json()).ok());
        assert_eq!(resolve(program, &values, registry()).ok(), read);
    }
}

fn read(mut input: Value) -> Option<(Skill, Map<String, Value>)> {
    let mut take = |name: &str| input.get_mut(name).map(Value::take);
    let Some(Value::Object(values)) = take("values") else { return None };
    let mut skill = Skill::new("fuzz", Kind::FlowTemplate, "Fuzz", "Fuzz.");
    skill.parameters = serde_json::from_value(take("parameters")?).ok()?;
    skill.steps = serde_json::from_value(take("steps")?).ok()?;
    Some((skill, values))
}
