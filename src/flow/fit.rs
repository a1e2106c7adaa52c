//! Whether the values that a placeholder can take fit the tool's schema: "can" for ingest, "always" for leaving out the
//! check at each resolve.

use serde_json::{Map, Value};

use crate::model::{Parameter, ParameterType};
use crate::tools::check_value;
use crate::tools::schema::type_allows;

/// What is known about a parameter's values against a schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Proof {
    /// Every value that the parameter accepts fits.
    Always,
    /// A value fits if its number, or its count of characters, lies between these.
    Between {
        /// Smallest.
        least: f64,
        /// Largest.
        most: f64,
    },
    /// The resolved step has to be checked.
    Unknown,
}

/// Keywords that say nothing about values.
const SILENT: [&str; 6] = ["type", "description", "title", "default", "examples", "$comment"];

/// The type of a parameter as JSON Schema names it.
pub(crate) fn type_of(parameter: &Parameter) -> &'static str {
    parameter.kind.name()
}

/// What holds for every value of a parameter.
pub(crate) fn prove(schema: &Value, parameter: &Parameter) -> Proof {
    let members = match schema {
        Value::Object(members) => members,
        Value::Bool(true) => return Proof::Always,
        _ => return Proof::Unknown,
    };
    if !type_allows(members, type_of(parameter)) {
        return Proof::Unknown;
    }
    let keywords: Vec<&str> =
        members.keys().map(String::as_str).filter(|name| !SILENT.contains(name)).collect();
    if keywords.is_empty() {
        return Proof::Always;
    }
    if let Some(choices) = &parameter.choices {
        let all = choices.iter().all(|choice| check_value(schema, choice, "").is_empty());
        return if all { Proof::Always } else { Proof::Unknown };
    }
    let only = |known: [&str; 2]| keywords.iter().all(|name| known.contains(name));
    let bound = |name: &str, open: f64| members.get(name).and_then(Value::as_f64).unwrap_or(open);
    match parameter.kind {
        ParameterType::String if only(["minLength", "maxLength"]) => {
            let (least, most) = (bound("minLength", 0.0), bound("maxLength", f64::INFINITY));
            let low = parameter.min_length.map_or(0.0, f64::from);
            let high = parameter.max_length.map_or(f64::INFINITY, f64::from);
            within(low, high, least, most)
        }
        ParameterType::Integer | ParameterType::Number if only(["minimum", "maximum"]) => {
            let (least, most) = (bound("minimum", f64::NEG_INFINITY), bound("maximum", f64::INFINITY));
            let low = parameter.minimum.unwrap_or(f64::NEG_INFINITY);
            let high = parameter.maximum.unwrap_or(f64::INFINITY);
            within(low, high, least, most)
        }
        _ => Proof::Unknown,
    }
}

fn within(low: f64, high: f64, least: f64, most: f64) -> Proof {
    if low >= least && high <= most { Proof::Always } else { Proof::Between { least, most } }
}

/// A value that the parameter accepts and that fits the schema.
///
/// # Errors
/// None was found, and the schema is one that would have shown it: the placeholder cannot satisfy the tool.
pub(crate) fn witness(schema: &Value, parameter: &Parameter) -> Result<Value, ()> {
    let mut candidates = own_candidates(parameter);
    if parameter.choices.is_none() {
        schema_candidates(schema, parameter, 0, &mut candidates);
    }
    let fits = |value: &&Value| accepts(parameter, value) && check_value(schema, value, "").is_empty();
    if let Some(found) = candidates.iter().find(fits) {
        return Ok(found.clone());
    }
    // Patterns can hide the values that would fit: such a step is left to the check at resolve.
    let hidden = parameter.choices.is_none()
        && parameter.kind == ParameterType::String
        && (parameter.pattern.is_some() || mentions_pattern(schema, 0));
    let typed =
        |value: &&Value| schema.as_object().is_none_or(|members| type_allows(members, type_name(value)));
    candidates.iter().find(typed).filter(|_| hidden).cloned().ok_or(())
}

fn type_name(value: &Value) -> &'static str {
    crate::tools::schema::type_name(value)
}

/// Values that the parameter's own rules suggest.
fn own_candidates(parameter: &Parameter) -> Vec<Value> {
    if let Some(choices) = &parameter.choices {
        return choices.clone();
    }
    let mut candidates: Vec<Value> = parameter.default.iter().chain(&parameter.examples).cloned().collect();
    match parameter.kind {
        ParameterType::String => candidates.push(filled(parameter.min_length.unwrap_or(1).max(1))),
        ParameterType::Boolean => candidates.extend([Value::Bool(true), Value::Bool(false)]),
        ParameterType::Integer | ParameterType::Number => {
            candidates.extend([Value::from(1), Value::from(0)]);
            let bounds = [parameter.minimum.map(f64::ceil), parameter.maximum.map(f64::floor)];
            let exact = [parameter.minimum, parameter.maximum];
            candidates.extend(bounds.into_iter().chain(exact).flatten().filter_map(whole_or_float));
        }
    }
    candidates
}

/// Values that the schema suggests.
fn schema_candidates(schema: &Value, parameter: &Parameter, depth: usize, candidates: &mut Vec<Value>) {
    let Some(members) = schema.as_object().filter(|_| depth < 4 && candidates.len() < 512) else { return };
    candidates.extend(members.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
    candidates.extend(members.get("const").cloned());
    if parameter.kind == ParameterType::String {
        let length = members.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        candidates.push(filled(u32::try_from(length).unwrap_or(u32::MAX)));
    } else {
        for name in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
            let Some(bound) = members.get(name).and_then(Value::as_f64) else { continue };
            let near =
                [bound, bound.ceil(), bound.floor(), bound + 1.0, bound - 1.0, bound + 0.5, bound - 0.5];
            candidates.extend(near.into_iter().filter_map(whole_or_float));
        }
    }
    for name in ["anyOf", "oneOf", "allOf"] {
        for option in members.get(name).and_then(Value::as_array).into_iter().flatten() {
            schema_candidates(option, parameter, depth + 1, candidates);
        }
    }
}

/// A string of a length, but never a huge one.
fn filled(length: u32) -> Value {
    Value::String("a".repeat(length.min(64 * 1024) as usize))
}

fn whole_or_float(float: f64) -> Option<Value> {
    super::values::plain_number(float).map(Value::Number)
}

/// The parameter's own rules, but for its pattern.
fn accepts(parameter: &Parameter, value: &Value) -> bool {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), Value::from(type_of(parameter)));
    let bounds = [
        ("minimum", parameter.minimum.and_then(whole_or_float)),
        ("maximum", parameter.maximum.and_then(whole_or_float)),
        ("minLength", parameter.min_length.map(Value::from)),
        ("maxLength", parameter.max_length.map(Value::from)),
    ];
    schema.extend(bounds.into_iter().filter_map(|(name, bound)| Some((name.to_owned(), bound?))));
    let known = parameter.choices.as_ref().is_some_and(|choices| choices.contains(value));
    known || check_value(&Value::Object(schema), value, "").is_empty()
}

fn mentions_pattern(schema: &Value, depth: usize) -> bool {
    let Some(members) = schema.as_object().filter(|_| depth < 4) else { return false };
    members.contains_key("pattern")
        || ["anyOf", "oneOf", "allOf"].iter().any(|name| {
            let options = members.get(*name).and_then(Value::as_array).into_iter().flatten();
            options.into_iter().any(|option| mentions_pattern(option, depth + 1))
        })
}
