//! The arguments of a call, checked against the table: everything that is wrong is named at once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::shorten;
use crate::limits::ECHOED_CHARS_MAX;
use crate::mcp::table::{Argument, ArgumentKind};

/// Arguments that passed the check; names that the table does not know cannot be asked for.
#[derive(Debug)]
pub(super) struct Values<'a> {
    found: BTreeMap<&'static str, Checked<'a>>,
}

#[derive(Debug)]
enum Checked<'a> {
    Text(&'a str),
    Count(u64),
    Object(Cow<'a, Map<String, Value>>),
}

/// One wrong argument, as `invalid_arguments` lists it.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct ArgumentProblem {
    pub(super) argument: String,
    pub(super) problem: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) got: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expected: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) minimum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) maximum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nearest: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'static str>,
}

impl<'a> Values<'a> {
    /// Checks every argument. `null` counts as left out where the argument is optional; numbers and objects are
    /// also taken from a text that is exactly one, because clients of language models send them so.
    pub(super) fn check(
        table: &'static [Argument],
        given: &'a Map<String, Value>,
    ) -> Result<Self, Vec<ArgumentProblem>> {
        let mut found = BTreeMap::new();
        let mut problems = Vec::new();
        for argument in table {
            match given.get(argument.name) {
                None | Some(Value::Null) if !argument.required => {}
                None | Some(Value::Null) => problems.push(ArgumentProblem {
                    expected: Some(argument.kind.type_name()),
                    description: Some(argument.description),
                    ..ArgumentProblem::new(argument.name, "missing")
                }),
                Some(value) => match check_one(argument, value) {
                    Ok(checked) => {
                        found.insert(argument.name, checked);
                    }
                    Err(problem) => problems.push(*problem),
                },
            }
        }
        problems.extend(given.keys().filter_map(|name| unknown(table, name)));
        if problems.is_empty() { Ok(Self { found }) } else { Err(problems) }
    }

    /// A text argument; `None` where it was left out.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        match self.found.get(name) {
            Some(Checked::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A whole number; `None` where it was left out.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        match self.found.get(name) {
            Some(Checked::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// An object; `None` where it was left out.
    pub(super) fn object(&self, name: &str) -> Option<&Map<String, Value>> {
        match self.found.get(name) {
            Some(Checked::Object(object)) => Some(object),
            _ => None,
        }
    }
}

impl ArgumentProblem {
    pub(super) fn new(argument: &str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { argument: shorten(argument).into_owned(), problem: problem.into(), ..Self::default() }
    }
}

fn check_one<'a>(argument: &Argument, value: &'a Value) -> Result<Checked<'a>, Box<ArgumentProblem>> {
    let problem = |code: &'static str| ArgumentProblem {
        got: Some(shown(value)),
        ..ArgumentProblem::new(argument.name, code)
    };
    let wrong_type =
        || Box::new(ArgumentProblem { expected: Some(argument.kind.type_name()), ..problem("wrong_type") });
    match argument.kind {
        ArgumentKind::Text { max_bytes } => {
            let text = value.as_str().ok_or_else(wrong_type)?;
            if text.trim().is_empty() {
                return Err(Box::new(problem("empty")));
            }
            if max_bytes.is_some_and(|max| text.len() > max) {
                let maximum = max_bytes.and_then(|max| u64::try_from(max).ok());
                return Err(Box::new(ArgumentProblem { maximum, ..problem("too_long") }));
            }
            Ok(Checked::Text(text))
        }
        ArgumentKind::Choice { allowed } => {
            let text = value.as_str().ok_or_else(wrong_type)?;
            if allowed.contains(&text) {
                return Ok(Checked::Text(text));
            }
            let nearest = nearest(text, allowed.iter().copied());
            Err(Box::new(ArgumentProblem {
                allowed: Some(allowed.to_vec()),
                nearest,
                ..problem("not_allowed")
            }))
        }
        ArgumentKind::Count { minimum, maximum, .. } => {
            let number = whole_number(value).ok_or_else(wrong_type)?;
            match u64::try_from(number) {
                Ok(count) if (minimum..=maximum).contains(&count) => Ok(Checked::Count(count)),
                _ => Err(Box::new(ArgumentProblem {
                    minimum: Some(minimum),
                    maximum: Some(maximum),
                    ..problem("out_of_range")
                })),
            }
        }
        ArgumentKind::Object => match value {
            Value::Object(object) => Ok(Checked::Object(Cow::Borrowed(object))),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(object)) => Ok(Checked::Object(Cow::Owned(object))),
                _ => Err(wrong_type()),
            },
            _ => Err(wrong_type()),
        },
    }
}

/// The whole number that a value is: an integer, a float without a fraction, or a text that is exactly an integer.
fn whole_number(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => number.as_i128().or_else(|| {
            number
                .as_f64()
                .filter(|float| float.fract() == 0.0)
                .and_then(|float| format!("{float:.0}").parse().ok())
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn unknown(table: &'static [Argument], name: &str) -> Option<ArgumentProblem> {
    if table.iter().any(|argument| argument.name == name) {
        return None;
    }
    Some(ArgumentProblem {
        nearest: nearest(name, table.iter().map(|argument| argument.name)),
        allowed: Some(table.iter().map(|argument| argument.name).collect()),
        ..ArgumentProblem::new(name, "unknown")
    })
}

/// A refused value as it is shown back: scalars shortened, the rest by its type only.
fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shorten(text).into_owned()),
        Value::Array(_) => Value::String("an array".to_owned()),
        Value::Object(_) => Value::String("an object".to_owned()),
        scalar => scalar.clone(),
    }
}

/// The candidate that differs least from a written name, if any is near enough to be meant: at most one edit in
/// three characters.
pub(super) fn nearest<'c>(written: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let written: Vec<char> = written.chars().take(ECHOED_CHARS_MAX).flat_map(char::to_lowercase).collect();
    candidates
        .map(|candidate| (edits(&written, candidate), candidate))
        .filter(|(distance, candidate)| *distance * 3 <= candidate.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance, one row at a time.
fn edits(written: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=written.len()).collect();
    for (line, wanted) in candidate.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, letter) in written.iter().enumerate() {
            let substituted = diagonal + usize::from(*letter != wanted);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[written.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::table::tool;

    fn problems(tool_name: &str, given: &Value) -> Value {
        let table = tool(tool_name).expect("a tool").arguments;
        let given = given.as_object().expect("an object");
        match Values::check(table, given) {
            Ok(values) => panic!("accepted: {values:?}"),
            Err(problems) => serde_json::to_value(problems).expect("serialises"),
        }
    }

    #[test]
    fn every_wrong_argument_is_named_at_once_with_what_would_do() {
        let answer = problems(
            "list_skills",
            &json!({"kind": "flow_templat", "limit": 0, "tag": "", "app": 7, "curser": "x", "limits": null}),
        );
        assert_eq!(
            answer,
            json!([
                {"argument": "kind", "problem": "not_allowed", "got": "flow_templat",
                 "allowed": ["knowledge", "flow_template"], "nearest": "flow_template"},
                {"argument": "tag", "problem": "empty", "got": ""},
                {"argument": "app", "problem": "wrong_type", "got": 7, "expected": "string"},
                {"argument": "limit", "problem": "out_of_range", "got": 0, "minimum": 1, "maximum": 100},
                {"argument": "curser", "problem": "unknown", "nearest": "cursor",
                 "allowed": ["kind", "tag", "app", "limit", "cursor"]},
                {"argument": "limits", "problem": "unknown", "nearest": "limit",
                 "allowed": ["kind", "tag", "app", "limit", "cursor"]},
            ])
        );
    }

    #[test]
    fn a_missing_argument_tells_its_type_and_meaning() {
        let answer = problems("search_skills", &json!({"query": null}));
        assert_eq!(answer[0]["problem"], "missing");
        assert_eq!(answer[0]["expected"], "string");
        assert!(answer[0]["description"].is_string());
    }

    #[test]
    fn numbers_and_objects_are_also_read_from_exact_texts() {
        let table = tool("list_skills").expect("a tool").arguments;
        for (given, wanted) in [(json!(100), 100), (json!("7"), 7), (json!(3.0), 3)] {
            let given = json!({"limit": given, "kind": null});
            let values = Values::check(table, given.as_object().expect("an object")).expect("accepted");
            assert_eq!(values.count("limit"), Some(wanted));
            assert_eq!(values.text("kind"), None);
        }
        for refused in [
            json!(3.5),
            json!("7x"),
            json!(true),
            json!([7]),
            json!(101),
            json!(-1),
            json!(1e300),
            json!("99999999999999999999999999999999999999999999"),
        ] {
            let given = json!({"limit": refused});
            assert!(Values::check(table, given.as_object().expect("an object")).is_err(), "{given}");
        }
        let table = tool("resolve_skill").expect("a tool").arguments;
        let given = json!({"id": "a", "parameters": "{\"query\":\"x\"}"});
        let values = Values::check(table, given.as_object().expect("an object")).expect("accepted");
        assert_eq!(values.object("parameters"), json!({"query": "x"}).as_object());
    }

    #[test]
    fn what_is_shown_back_of_a_refused_value_is_short() {
        let long = "x".repeat(5_000);
        let answer = problems("get_skill", &json!({"id": long, long.clone(): 1, "more": [long, long]}));
        assert!(answer.to_string().len() < 1_000, "{answer}");
        assert_eq!(answer[0]["problem"], "too_long");
        assert_eq!(answer[0]["maximum"], 128);
    }

    #[test]
    fn the_nearest_name_is_one_that_could_be_meant() {
        let names = ["kind", "tag", "app", "limit", "cursor"];
        let cases = [
            ("Kind", Some("kind")),
            ("kin", Some("kind")),
            ("curser", Some("cursor")),
            ("query", None),
            ("", None),
        ];
        for (written, wanted) in cases {
            assert_eq!(nearest(written, names.into_iter()), wanted, "{written}");
        }
    }
}
