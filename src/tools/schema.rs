//! Checks a value against a JSON Schema: the subset that tool arguments use.
//!
//! Known keywords: `type`, `enum`, `const`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`,
//! `maxLength`, `pattern`, `minItems`, `maxItems`, `items`, `properties`, `required`, `additionalProperties`, `anyOf`,
//! `oneOf`, `allOf`, and the schemas `true` and `false`. Every other keyword is ignored, and so is a known one whose
//! value has the wrong form or a `pattern` that is not a linear-time regular expression: a foreign server's schema may
//! hold more than we understand, and must not make its tools unusable.

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::limits::{SCHEMA_DEPTH_MAX, SCHEMA_PROBLEMS_MAX};
use crate::tools::pattern;

/// Checks a complete value against a JSON Schema (the subset in `docs/tools.md`); `pointer` prefixes the fields.
///
/// Answers every problem, at most a few hundred. Time is linear in the value for each branch of the schema; schemas and
/// values nested deeper than 32 are refused.
#[must_use]
pub fn check_value(schema: &Value, value: &Value, pointer: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    check(schema, value, &mut pointer.to_owned(), 0, &mut problems);
    problems
}

/// Appends a member to a JSON pointer.
pub(crate) fn push_member(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The JSON type of a value as schemas name it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_integer(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether a schema's `type` admits a JSON type (an integer is a number too); true where it names none.
pub(crate) fn type_allows(schema: &Map<String, Value>, found: &str) -> bool {
    let fits = |wanted: &str| wanted == found || (wanted == "number" && found == "integer");
    match schema.get("type") {
        Some(Value::String(wanted)) => fits(wanted),
        Some(Value::Array(wanted)) => wanted.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    }
}

/// JSON Schema calls 3.0 an integer.
fn is_integer(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// Equality as JSON Schema defines it: numbers by value.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

fn check(schema: &Value, value: &Value, pointer: &mut String, depth: usize, problems: &mut Vec<Problem>) {
    if problems.len() >= SCHEMA_PROBLEMS_MAX {
        return;
    }
    if depth > SCHEMA_DEPTH_MAX {
        let message = format!("nested deeper than {SCHEMA_DEPTH_MAX}");
        problems.push(Problem::new("too_deep", pointer.as_str(), message));
        return;
    }
    let schema = match schema {
        Value::Object(schema) => schema,
        Value::Bool(false) => {
            problems.push(Problem::new("not_allowed", pointer.as_str(), "no value is allowed here"));
            return;
        }
        _ => return,
    };
    let found = type_name(value);
    if !type_allows(schema, found) {
        let wanted = schema.get("type").map(plain).unwrap_or_default();
        problems.push(
            Problem::new("wrong_type", pointer.as_str(), format!("expected {wanted}")).got(plain(value)),
        );
        return;
    }
    check_choice(schema, value, pointer, problems);
    match value {
        Value::Number(number) => check_number(schema, number, pointer, problems),
        Value::String(text) => check_text(schema, text, pointer, problems),
        Value::Array(items) => check_items(schema, items, pointer, depth, problems),
        Value::Object(members) => check_members(schema, members, pointer, depth, problems),
        Value::Null | Value::Bool(_) => {}
    }
    check_alternatives(schema, value, pointer, depth, problems);
}

/// `enum` and `const`.
fn check_choice(schema: &Map<String, Value>, value: &Value, pointer: &str, problems: &mut Vec<Problem>) {
    let choices = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(choices)), _) => choices.as_slice(),
        (_, Some(only)) => std::slice::from_ref(only),
        _ => return,
    };
    let beside = schema.get("const").is_some_and(|only| !equal(only, value));
    if beside || !choices.iter().any(|choice| equal(choice, value)) {
        let allowed = choices.iter().map(plain).collect::<Vec<_>>().join(", ");
        let problem = Problem::new("not_in_enum", pointer, "not one of the allowed values");
        problems.push(problem.got(plain(value)).allowed(allowed));
    }
}

fn check_number(
    schema: &Map<String, Value>,
    number: &serde_json::Number,
    pointer: &str,
    problems: &mut Vec<Problem>,
) {
    let Some(found) = number.as_f64() else { return };
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let broken = [
        bound("minimum").filter(|least| found < *least).map(|least| format!("at least {least}")),
        bound("maximum").filter(|most| found > *most).map(|most| format!("at most {most}")),
        bound("exclusiveMinimum").filter(|least| found <= *least).map(|least| format!("more than {least}")),
        bound("exclusiveMaximum").filter(|most| found >= *most).map(|most| format!("less than {most}")),
    ];
    for allowed in broken.into_iter().flatten() {
        problems
            .push(Problem::new("out_of_range", pointer, "number out of range").got(number).allowed(allowed));
    }
}

fn check_text(schema: &Map<String, Value>, text: &str, pointer: &str, problems: &mut Vec<Problem>) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    if let (None, None) = (bound("minLength"), bound("maxLength")) {
    } else {
        let length = text.chars().count() as u64;
        if let Some(least) = bound("minLength").filter(|least| length < *least) {
            let problem =
                Problem::new("too_short", pointer, format!("must have at least {least} characters"));
            problems.push(problem.got(text));
        }
        if let Some(most) = bound("maxLength").filter(|most| length > *most) {
            let problem = Problem::new("too_long", pointer, format!("must have at most {most} characters"));
            problems.push(problem.got(text));
        }
    }
    if let Some(Value::String(wanted)) = schema.get("pattern")
        && let Ok(regex) = pattern::compiled(wanted)
        && !regex.is_match(text)
    {
        let problem = Problem::new("pattern_mismatch", pointer, "does not match the pattern");
        problems.push(problem.got(text).allowed(wanted.as_str()));
    }
}

fn check_items(
    schema: &Map<String, Value>,
    items: &[Value],
    pointer: &mut String,
    depth: usize,
    problems: &mut Vec<Problem>,
) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
    let length = items.len() as u64;
    if let Some(least) = bound("minItems").filter(|least| length < *least) {
        problems.push(
            Problem::new("too_few_items", pointer.as_str(), format!("needs at least {least} items"))
                .got(length),
        );
    }
    if let Some(most) = bound("maxItems").filter(|most| length > *most) {
        problems.push(
            Problem::new("too_many_items", pointer.as_str(), format!("takes at most {most} items"))
                .got(length),
        );
    }
    if let Some(each) = schema.get("items") {
        for (index, item) in items.iter().enumerate() {
            let end = pointer.len();
            push_member(pointer, &index.to_string());
            check(each, item, pointer, depth + 1, problems);
            pointer.truncate(end);
        }
    }
}

fn check_members(
    schema: &Map<String, Value>,
    members: &Map<String, Value>,
    pointer: &mut String,
    depth: usize,
    problems: &mut Vec<Problem>,
) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let end = pointer.len();
    if let Some(Value::Array(required)) = schema.get("required") {
        for name in required.iter().filter_map(Value::as_str).filter(|name| !members.contains_key(*name)) {
            push_member(pointer, name);
            problems.push(Problem::new("missing_argument", pointer.as_str(), "required, but not given"));
            pointer.truncate(end);
        }
    }
    for (name, value) in members {
        push_member(pointer, name);
        match (properties.and_then(|known| known.get(name)), schema.get("additionalProperties")) {
            (Some(known), _) => check(known, value, pointer, depth + 1, problems),
            (None, Some(Value::Bool(false))) => {
                let known: Vec<&str> =
                    properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                let problem = Problem::new("unknown_argument", pointer.as_str(), "no such argument");
                problems.push(problem.allowed(known.join(", ")));
            }
            (None, Some(other)) => check(other, value, pointer, depth + 1, problems),
            (None, None) => {}
        }
        pointer.truncate(end);
    }
}

/// `allOf`, `anyOf` and `oneOf`.
fn check_alternatives(
    schema: &Map<String, Value>,
    value: &Value,
    pointer: &mut String,
    depth: usize,
    problems: &mut Vec<Problem>,
) {
    if let Some(Value::Array(all)) = schema.get("allOf") {
        for part in all {
            check(part, value, pointer, depth + 1, problems);
        }
    }
    for (name, exactly) in [("anyOf", false), ("oneOf", true)] {
        let Some(Value::Array(options)) = schema.get(name) else { continue };
        let fitting = options
            .iter()
            .filter(|option| {
                let mut inner = Vec::new();
                check(option, value, pointer, depth + 1, &mut inner);
                inner.is_empty()
            })
            .count();
        if fitting == 0 || (exactly && fitting > 1) {
            let message =
                if fitting == 0 { "fits none of the accepted forms" } else { "fits more than one form" };
            problems.push(Problem::new("no_alternative", pointer.as_str(), message).got(plain(value)));
        }
    }
}

/// A value as shown in messages: strings without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.len() <= 8 && items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}
