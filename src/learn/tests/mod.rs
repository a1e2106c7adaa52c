//! Learning on made-up tasks: cases by hand, and random templates whose truth is known.

mod cases;
mod hostile;
mod redaction;
mod truth;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::learn::{Evidence, Refusal, Run, Timeline, synthesise};
use crate::model::Skill;
use crate::tools::ToolRegistry;

/// The built-in table and some tools of a foreign server.
pub(super) fn registry() -> Arc<ToolRegistry> {
    let text = json!([
        {"name": "set_timer", "inputSchema": {"type": "object"}},
        {"name": "set_value", "inputSchema": {"type": "object"}},
        {"name": "fill_form", "inputSchema": {"type": "object"}},
        {"name": "look_around", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
    ]);
    ToolRegistry::builtin().with_json(&text.to_string()).expect("tools")
}

/// A timeline of calls that succeeded.
pub(super) fn timeline(goal: &str, calls: &[(&str, Value)]) -> Timeline {
    let events: Vec<Value> = calls.iter().map(|(tool, args)| json!({"tool": tool, "args": args})).collect();
    full(&json!({"goal": goal, "status": "succeeded", "events": events}))
}

/// A timeline in its own form.
pub(super) fn full(value: &Value) -> Timeline {
    Timeline::from_json(value).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// What becomes of timelines, one after the other, as one skill.
pub(super) fn learn(timelines: &[Timeline]) -> Result<Skill, Refusal> {
    let registry = registry();
    let mut evidence = Evidence::default();
    let mut former: Option<Skill> = None;
    for timeline in timelines {
        evidence.add(Run::of(timeline, &registry)?, "2026-01-01T00:00:00Z");
        former = Some(synthesise("learned/test", &mut evidence, former.as_ref(), &registry)?);
    }
    former.ok_or(Refusal::NothingDone)
}

/// The arguments of the steps of a skill.
pub(super) fn args(skill: &Skill) -> Vec<Value> {
    skill.steps.iter().map(|step| Value::Object(step.args_template.clone())).collect()
}

/// Names of the parameters.
pub(super) fn names(skill: &Skill) -> Vec<&str> {
    skill.parameters.iter().map(|parameter| parameter.name.as_str()).collect()
}

/// Cases of a property test, by `REPERTOIRE_TEST_SCALE`.
pub(super) fn amount(default: u32, more: u32) -> u32 {
    match std::env::var("REPERTOIRE_TEST_SCALE").as_deref() {
        Ok("ci" | "long") => more,
        _ => default,
    }
}
