//! Arbitrary timelines, for fuzzing and property tests: nothing panics, no marked secret is stored, and what is learned
//! gives back every execution.

use serde_json::Value;

use crate::learn::run::Run;
use crate::learn::{Evidence, Skeleton, Timeline, synthesise};
use crate::model::Skill;
use crate::tools::ToolRegistry;

/// Shortest secret that is looked for: a shorter one stands in many texts by chance.
const SECRET_CHARS_MIN: usize = 6;

/// Learns from an array of timelines as JSON, as one skill for as long as they are of one skeleton.
///
/// # Panics
/// Something does not hold.
pub fn learn_all(value: &Value) {
    let registry = ToolRegistry::builtin();
    let mut evidence = Evidence::default();
    let mut skill: Option<Skill> = None;
    let mut first: Option<Skeleton> = None;
    let mut secrets: Vec<String> = Vec::new();
    for timeline in value.as_array().into_iter().flatten() {
        let Ok(read) = Timeline::from_json(timeline) else { continue };
        let Ok(run) = Run::of(&read, &registry) else { continue };
        let skeleton = Skeleton::of(&run, &registry);
        if first.get_or_insert(skeleton.clone()) != &skeleton {
            continue;
        }
        marked(timeline, &mut secrets);
        let mut next = evidence.clone();
        next.add(run, "2026-01-01T00:00:00Z");
        // The proof is a part of it: what does not replay is refused.
        let Ok(made) = synthesise("learned/fuzz", &mut next, skill.as_ref(), &registry) else { continue };
        assert_eq!(made.problems(), [], "a learned skill keeps the rules");
        evidence = next;
        let stored = made.canonical_json() + &String::from_utf8_lossy(&evidence.write());
        for secret in &secrets {
            let written = Value::String(secret.clone()).to_string();
            let written = written.trim_matches('"');
            assert!(!stored.contains(written), "{secret:?} is stored: {stored}");
        }
        skill = Some(made);
    }
}

/// What the caller marks as typed secrets in a timeline.
fn marked(timeline: &Value, secrets: &mut Vec<String>) {
    for event in timeline["events"].as_array().into_iter().flatten() {
        let known = ToolRegistry::builtin();
        let types = event["tool"]
            .as_str()
            .and_then(|tool| known.resolve(tool))
            .is_some_and(|t| t.spec.name == "input_text");
        let Some(text) = event["args"]["text"].as_str().map(str::trim) else { continue };
        // Brackets are those of markers, and a key or a name may be the same word.
        let plain = text.chars().all(|c| c.is_ascii_digit());
        if types && event["secret"] == Value::Bool(true) && plain && text.chars().count() >= SECRET_CHARS_MIN
        {
            secrets.push(text.to_owned());
        }
    }
}
