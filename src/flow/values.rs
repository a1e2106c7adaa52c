//! One value against the rules of its parameter.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::error::ParameterProblem;
use crate::limits::VALUE_BYTES_MAX;
use crate::tools::pattern;
use crate::tools::schema::type_name;

use super::program::ValueKind;

/// The rules of a parameter, borrowed from the model or from an archive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) kind: ValueKind,
    pub(crate) secret: bool,
    pub(crate) choices: Option<Choices<'a>>,
    pub(crate) pattern: Option<&'a str>,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) min_length: Option<u32>,
    pub(crate) max_length: Option<u32>,
}

/// The only values accepted: strings as they are, anything else as canonical JSON text.
#[derive(Clone, Copy)]
pub(crate) struct Choices<'a> {
    pub(crate) count: usize,
    pub(crate) at: &'a dyn Fn(usize) -> &'a str,
}

impl std::fmt::Debug for Choices<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Choices").field("count", &self.count).finish_non_exhaustive()
    }
}

/// A value that keeps the rules, in the form in which it goes into JSON text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rendered<'a> {
    /// No value: what is left out.
    Absent,
    /// A string that has to be escaped; the length is that of the escaped text.
    Escape(&'a str, usize),
    /// The text of a string that needs no escaping, or is escaped already.
    Quoted(&'a str),
    /// JSON text of a number or a boolean.
    Literal(Cow<'a, str>),
}

impl Rendered<'_> {
    /// Bytes inside a string.
    pub(crate) fn text_len(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Escape(_, length) => *length,
            Self::Quoted(text) => text.len(),
            Self::Literal(text) => text.len(),
        }
    }

    /// Bytes as a JSON value.
    pub(crate) fn value_len(&self) -> usize {
        match self {
            Self::Escape(..) | Self::Quoted(_) => self.text_len() + 2,
            Self::Absent | Self::Literal(_) => self.text_len(),
        }
    }

    /// Appends the form for the inside of a string.
    pub(crate) fn push_text(&self, out: &mut String) {
        match self {
            Self::Absent => {}
            Self::Escape(text, _) => push_escaped(text, out),
            Self::Quoted(text) => out.push_str(text),
            Self::Literal(text) => out.push_str(text),
        }
    }

    /// Appends the JSON value.
    pub(crate) fn push_value(&self, out: &mut String) {
        let quoted = matches!(self, Self::Escape(..) | Self::Quoted(_));
        if quoted {
            out.push('"');
        }
        self.push_text(out);
        if quoted {
            out.push('"');
        }
    }
}

/// Checks a value and renders it. Strings are accepted for the other types where they parse exactly.
///
/// # Errors
/// Every rule that the value breaks.
pub(crate) fn check<'v>(rules: &Rules<'_>, value: &'v Value) -> Result<Rendered<'v>, Vec<ParameterProblem>> {
    if let Value::String(text) = value
        && text.len() > VALUE_BYTES_MAX
    {
        let mut problem = ParameterProblem::new(rules.name, "value_too_large");
        problem.got = Some(Value::from(text.len()));
        problem.maximum = Some(Number::from(VALUE_BYTES_MAX));
        return Err(vec![problem.expected("bytes")]);
    }
    let mut problems = Vec::new();
    let rendered = match (rules.kind, value) {
        (ValueKind::String, Value::String(text)) => {
            check_string(rules, text, value, &mut problems);
            render_string(text)
        }
        (ValueKind::Boolean, _) => match boolean(value) {
            Some(text) => Rendered::Literal(Cow::Borrowed(text)),
            None => return Err(vec![wrong_type(rules, value)]),
        },
        (ValueKind::Integer | ValueKind::Number, _) => {
            let Some(number) = number(rules.kind, value) else { return Err(vec![wrong_type(rules, value)]) };
            check_range(rules, &number, value, &mut problems);
            Rendered::Literal(Cow::Owned(number_text(&number)))
        }
        (ValueKind::String, _) => return Err(vec![wrong_type(rules, value)]),
    };
    check_choice(rules, &rendered, value, &mut problems);
    if problems.is_empty() { Ok(rendered) } else { Err(problems) }
}

/// A string in the form that goes into JSON text.
pub(crate) fn render_string(text: &str) -> Rendered<'_> {
    let length = escaped_len(text);
    if length == text.len() { Rendered::Quoted(text) } else { Rendered::Escape(text, length) }
}

/// The type of a kind as JSON Schema names it.
pub(crate) fn kind_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::String => "string",
        ValueKind::Integer => "integer",
        ValueKind::Number => "number",
        ValueKind::Boolean => "boolean",
    }
}

/// A problem that shows the value, unless it is secret.
fn problem(rules: &Rules<'_>, code: &str, value: &Value) -> ParameterProblem {
    let problem = ParameterProblem::new(rules.name, code);
    if rules.secret { problem } else { problem.got(value) }
}

fn wrong_type(rules: &Rules<'_>, value: &Value) -> ParameterProblem {
    let mut problem = problem(rules, "wrong_type", value).expected(kind_name(rules.kind));
    problem.description = Some(rules.description.to_owned()).filter(|text| !text.is_empty());
    problem
}

fn check_string(rules: &Rules<'_>, text: &str, value: &Value, problems: &mut Vec<ParameterProblem>) {
    if rules.min_length.is_some() || rules.max_length.is_some() {
        let length = text.chars().count();
        let shorter = rules.min_length.is_some_and(|least| length < least as usize);
        let longer = rules.max_length.is_some_and(|most| length > most as usize);
        if shorter || longer {
            let mut problem = problem(rules, if shorter { "too_short" } else { "too_long" }, value);
            (problem.min_length, problem.max_length) = (rules.min_length, rules.max_length);
            problems.push(problem);
        }
    }
    if let Some(wanted) = rules.pattern
        // A pattern that does not compile is refused at ingest; one in a damaged archive matches nothing.
        && !pattern::compiled(wanted).is_ok_and(|regex| regex.is_match(text))
    {
        let mut problem = problem(rules, "pattern_mismatch", value);
        problem.pattern = Some(wanted.to_owned());
        problems.push(problem);
    }
}

fn check_range(rules: &Rules<'_>, number: &Number, value: &Value, problems: &mut Vec<ParameterProblem>) {
    let found = number.as_f64().unwrap_or(f64::NAN);
    let below = rules.minimum.is_some_and(|least| found < least);
    let above = rules.maximum.is_some_and(|most| found > most);
    if below || above {
        let mut problem = problem(rules, "out_of_range", value);
        (problem.minimum, problem.maximum) =
            (rules.minimum.and_then(plain_number), rules.maximum.and_then(plain_number));
        problems.push(problem);
    }
}

fn check_choice(
    rules: &Rules<'_>,
    rendered: &Rendered<'_>,
    value: &Value,
    problems: &mut Vec<ParameterProblem>,
) {
    let Some(choices) = rules.choices else { return };
    let found = match rendered {
        Rendered::Absent => return,
        Rendered::Escape(text, _) | Rendered::Quoted(text) => text,
        Rendered::Literal(text) => text.as_ref(),
    };
    let mut every = (0..choices.count).map(|index| (choices.at)(index));
    if !every.any(|choice| choice == found) {
        let mut problem = problem(rules, "not_in_enum", value);
        let shown = (0..choices.count).map(|index| (choices.at)(index));
        problem.allowed = Some(
            shown
                .map(|text| match rules.kind {
                    ValueKind::String => Value::from(text),
                    _ => serde_json::from_str(text).unwrap_or(Value::Null),
                })
                .collect(),
        );
        problems.push(problem);
    }
}

fn boolean(value: &Value) -> Option<&'static str> {
    match value {
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        Value::String(text) => ["true", "false"].into_iter().find(|word| word == text),
        _ => None,
    }
}

/// The number that a value stands for; `None` if it is none of that kind.
fn number(kind: ValueKind, value: &Value) -> Option<Number> {
    let number = match value {
        Value::Number(number) => number.clone(),
        Value::String(text) => exact_number(text)?,
        _ => return None,
    };
    if kind == ValueKind::Number || number.is_i64() || number.is_u64() {
        return Some(number);
    }
    if value.is_string() {
        return None;
    }
    // 3.0 is an integer; above 2^53 a floating point number no longer says which one.
    let float = number.as_f64()?;
    let whole = type_name(value) == "integer" && float.abs() <= 9_007_199_254_740_992.0;
    whole.then(|| plain_number(float)).flatten()
}

/// The number of a text that is a JSON number and nothing else.
fn exact_number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    // The reader of JSON forgives white space around a value, we do not.
    let tight = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.ends_with(|last: char| last.is_ascii_digit());
    if tight { serde_json::from_str(text).ok() } else { None }
}

/// Canonical JSON text of a number: integers in full, others as RFC 8785 prints them.
pub(crate) fn number_text(number: &Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    serde_json_canonicalizer::to_string(number).unwrap_or_else(|_| number.to_string())
}

/// A floating point number as people write it: 3 for 3.0. `None` for what JSON cannot hold.
pub(crate) fn plain_number(float: f64) -> Option<Number> {
    let number = Number::from_f64(float)?;
    let text = number_text(&number);
    Some(text.parse::<i64>().map_or(number, Number::from))
}

/// Bytes of a text when it is escaped for a JSON string.
fn escaped_len(text: &str) -> usize {
    text.len() + text.bytes().map(|byte| escape_of(byte).map_or(0, |escape| escape.len() - 1)).sum::<usize>()
}

/// Appends a text, escaped for a JSON string as RFC 8785 wants it.
pub(crate) fn push_escaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| escape_of(byte).is_some()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        out.push_str(from.bytes().next().and_then(escape_of).unwrap_or_default());
        // Every escaped byte is ASCII, so one byte is one character.
        rest = from.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// How a byte is written inside a JSON string; `None` for as it is.
const fn escape_of(byte: u8) -> Option<&'static str> {
    const CONTROL: [&str; 32] = [
        "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
        "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
        "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
        "\\u001d", "\\u001e", "\\u001f",
    ];
    match byte {
        b'"' => Some("\\\""),
        b'\\' => Some("\\\\"),
        0..=31 => Some(CONTROL[byte as usize]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(kind: ValueKind) -> Rules<'static> {
        Rules {
            name: "p",
            description: "what it is",
            kind,
            secret: false,
            choices: None,
            pattern: None,
            minimum: None,
            maximum: None,
            min_length: None,
            max_length: None,
        }
    }

    /// The rendered JSON value, or the problem codes.
    fn outcome(rules: &Rules<'_>, value: &Value) -> String {
        match check(rules, value) {
            Ok(rendered) => {
                let mut out = String::new();
                rendered.push_value(&mut out);
                assert_eq!(out.len(), rendered.value_len());
                out
            }
            Err(problems) => problems.into_iter().map(|p| p.problem).collect::<Vec<_>>().join(" "),
        }
    }

    #[test]
    fn values_are_rendered_as_canonical_json() {
        use ValueKind::{Boolean, Integer, Number, String};
        let cases = [
            (String, json!("a\"b\\\n\u{1}\u{652F}"), r#""a\"b\\\n\u0001支""#),
            (String, json!(""), "\"\""),
            (String, json!(3), "wrong_type"),
            (String, json!(null), "wrong_type"),
            (Integer, json!(3), "3"),
            (Integer, json!(3.0), "3"),
            (Integer, json!("3"), "3"),
            (Integer, json!("-3"), "-3"),
            (Integer, json!(u64::MAX), "18446744073709551615"),
            (Integer, json!(3.5), "wrong_type"),
            (Integer, json!(1e300), "wrong_type"),
            (Integer, json!("3.0"), "wrong_type"),
            (Integer, json!(" 3"), "wrong_type"),
            (Integer, json!("+3"), "wrong_type"),
            (Integer, json!("03"), "wrong_type"),
            (Integer, json!("3a"), "wrong_type"),
            (Integer, json!(""), "wrong_type"),
            (Integer, json!("99999999999999999999999"), "wrong_type"),
            (Integer, json!([3]), "wrong_type"),
            (Number, json!(3.0), "3"),
            (Number, json!(1e21), "1e+21"),
            (Number, json!("0.50"), "0.5"),
            (Number, json!("1e2"), "100"),
            (Number, json!("1e999"), "wrong_type"),
            (Number, json!("NaN"), "wrong_type"),
            (Number, json!(".5"), "wrong_type"),
            (Boolean, json!(true), "true"),
            (Boolean, json!("false"), "false"),
            (Boolean, json!("True"), "wrong_type"),
            (Boolean, json!(1), "wrong_type"),
        ];
        for (kind, value, expected) in cases {
            assert_eq!(outcome(&rules(kind), &value), expected, "{kind:?} {value}");
        }
    }

    #[test]
    fn every_broken_rule_is_told() {
        let options = |index: usize| ["1", "7"][index];
        let number = Rules {
            minimum: Some(1.0),
            maximum: Some(5.0),
            choices: Some(Choices { count: 2, at: &options }),
            ..rules(ValueKind::Integer)
        };
        assert_eq!(outcome(&number, &json!(1)), "1");
        assert_eq!(outcome(&number, &json!(7)), "out_of_range");
        assert_eq!(outcome(&number, &json!(9)), "out_of_range not_in_enum");
        let text = Rules {
            min_length: Some(2),
            max_length: Some(3),
            pattern: Some("^[a-z]+$"),
            ..rules(ValueKind::String)
        };
        assert_eq!(outcome(&text, &json!("ab")), "\"ab\"");
        assert_eq!(outcome(&text, &json!("A")), "too_short pattern_mismatch");
        assert_eq!(outcome(&text, &json!("abcd")), "too_long");
        let most = "x".repeat(VALUE_BYTES_MAX);
        assert_eq!(outcome(&rules(ValueKind::String), &json!(most)).len(), VALUE_BYTES_MAX + 2);
        assert_eq!(outcome(&rules(ValueKind::String), &json!(most + "x")), "value_too_large");
    }

    #[test]
    fn a_secret_value_is_never_shown() {
        let secret = Rules {
            secret: true,
            max_length: Some(3),
            pattern: Some("^[0-9]+$"),
            ..rules(ValueKind::String)
        };
        for value in [json!("hunter2"), json!(["hunter2"]), json!("hunter2".repeat(20_000))] {
            let shown = serde_json::to_string(&check(&secret, &value).unwrap_err()).unwrap();
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }

    #[test]
    fn problems_have_the_shape_of_the_contract() {
        let count =
            Rules { minimum: Some(1.0), maximum: Some(50.0), name: "count", ..rules(ValueKind::Integer) };
        let problems = check(&count, &json!(0)).unwrap_err();
        let expected =
            json!([{"parameter": "count", "problem": "out_of_range", "got": 0, "minimum": 1, "maximum": 50}]);
        assert_eq!(serde_json::to_value(problems).unwrap(), expected);
    }
}
