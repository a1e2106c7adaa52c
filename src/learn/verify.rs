//! The proof before anything is stored: the template, filled with the values of each execution, is that execution.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::flow::{Segment, Template};
use crate::learn::align::Aligned;
use crate::learn::place::{is_position, leaves};
use crate::learn::unify::text_of;
use crate::model::{ParameterType, Skill};
use crate::tools::ToolRegistry;
use crate::tools::schema::equal;

/// Whether the steps of a skill, filled with the values of each execution, are the calls of that execution, positions on
/// the screen aside. Where a parameter is text because its values are of several types, they are compared as text.
pub(crate) fn replays(
    skill: &Skill,
    steps: &[Aligned],
    values: &[HashMap<String, String>],
    registry: &ToolRegistry,
) -> bool {
    skill.steps.len() == steps.len()
        && values.iter().enumerate().all(|(run, values)| {
            skill.steps.iter().zip(steps).all(|(step, aligned)| {
                step.tool == aligned.tool && same(skill, &step.args_template, aligned, run, values, registry)
            })
        })
}

fn same(
    skill: &Skill,
    template: &Map<String, Value>,
    aligned: &Aligned,
    run: usize,
    values: &HashMap<String, String>,
    registry: &ToolRegistry,
) -> bool {
    let mut left: HashMap<String, Value> = leaves(template).into_iter().collect();
    let all = aligned.places.iter().all(|place| {
        let Some(written) = left.remove(&place.pointer) else { return false };
        let Some(real) = place.values.get(run) else { return false };
        match fill(skill, &written, values) {
            Some(Filled::Exact(value)) => equal(&value, real),
            Some(Filled::AsText(text)) => text_of(real).as_deref() == Some(&text),
            None => false,
        }
    });
    // What is left are positions.
    all && left
        .iter()
        .all(|(pointer, value)| is_position(&aligned.tool, &aligned.args, pointer, value, registry))
}

enum Filled {
    Exact(Value),
    AsText(String),
}

fn fill(skill: &Skill, written: &Value, values: &HashMap<String, String>) -> Option<Filled> {
    let Value::String(text) = written else { return Some(Filled::Exact(written.clone())) };
    let template = Template::parse(text).ok()?;
    if let Some(name) = template.whole() {
        let value = values.get(name)?;
        let parameter = skill.parameters.iter().find(|parameter| parameter.name == name)?;
        return Some(match parameter.kind {
            ParameterType::String => Filled::AsText(value.clone()),
            _ => Filled::Exact(serde_json::from_str(value).ok()?),
        });
    }
    let mut out = String::new();
    for segment in template.segments() {
        match segment {
            Segment::Text(text) => out.push_str(text),
            Segment::Placeholder(name) => out.push_str(values.get(name)?),
        }
    }
    Some(Filled::Exact(Value::String(out)))
}
