//! Rules of one parameter: names, limits that fit the type, and values that fit the limits.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::error::Problem;
use crate::limits::{
    DESCRIPTION_CHARS_MAX, PARAMETER_NAME_CHARS_MAX, PARAMETER_VALUES_MAX, PATTERN_BYTES_MAX,
    PATTERN_COMPILED_BYTES_MAX, VALUE_BYTES_MAX,
};
use crate::model::number::tidy_number;
use crate::model::syntax::is_parameter_name;
use crate::model::{Parameter, ParameterType};

impl ParameterType {
    /// Name as written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::String, Self::Integer, Self::Number, Self::Boolean]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// True if a JSON value has this type; a whole double is an integer.
    #[must_use]
    pub fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::String, Value::String(_))
            | (Self::Number, Value::Number(_))
            | (Self::Boolean, Value::Bool(_)) => true,
            (Self::Integer, Value::Number(number)) => {
                number.is_i64()
                    || number.is_u64()
                    || number.as_f64().is_some_and(|double| double.fract() == 0.0)
            }
            _ => false,
        }
    }
}

/// Compiles the `pattern` of a parameter under the size limits: linear-time matching, never backtracking.
///
/// # Errors
/// One sentence that says why the pattern cannot be used.
pub(crate) fn compile_pattern(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("the pattern is longer than {PATTERN_BYTES_MAX} bytes; shorten it"));
    }
    RegexBuilder::new(pattern).size_limit(PATTERN_COMPILED_BYTES_MAX).nest_limit(64).build().map_err(
        |error| match error {
            regex::Error::CompiledTooBig(_) => {
                "the pattern compiles to more than 1 MiB; repeat less in it".to_owned()
            }
            other => format!("the pattern is no regular expression: {}", last_line(&other.to_string())),
        },
    )
}

/// Syntax errors draw the pattern over several lines; the last one says what is wrong.
fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or(text).trim_start_matches("error: ")
}

/// Every rule that a parameter breaks; `at` is its JSON pointer.
pub(super) fn problems(parameter: &Parameter, at: &str, out: &mut Vec<Problem>) {
    if !is_parameter_name(&parameter.name) {
        out.push(
            Problem::new("invalid_value", format!("{at}/name"), "the parameter's name is no identifier")
                .got(&parameter.name)
                .allowed(format!("[A-Za-z_][A-Za-z0-9_]{{0,{}}}", PARAMETER_NAME_CHARS_MAX - 1)),
        );
    }
    super::rules::text(&parameter.description, &format!("{at}/description"), 0, DESCRIPTION_CHARS_MAX, out);
    bounds(parameter, at, out);
    let pattern = pattern(parameter, at, out);
    let values = Values { parameter, pattern: pattern.as_ref() };
    if let Some(choices) = &parameter.choices {
        if choices.is_empty() {
            out.push(Problem::new(
                "too_few",
                format!("{at}/enum"),
                "an empty enum accepts nothing; leave it out",
            ));
        }
        values.list(choices, &format!("{at}/enum"), false, out);
    }
    values.list(&parameter.examples, &format!("{at}/examples"), true, out);
    if let Some(default) = &parameter.default {
        values.one(default, &format!("{at}/default"), true, out);
    }
}

/// Ranges and lengths: fitting the type, in order, finite.
fn bounds(parameter: &Parameter, at: &str, out: &mut Vec<Problem>) {
    let number = matches!(parameter.kind, ParameterType::Integer | ParameterType::Number);
    let text = parameter.kind == ParameterType::String;
    let mut misplaced = |name: &str, given: bool, fits: bool, wanted: &str| {
        if given && !fits {
            let message =
                format!("{name} does not apply to a parameter of type {}; remove it", parameter.kind.name());
            out.push(Problem::new("limit_does_not_apply", format!("{at}/{name}"), message).allowed(wanted));
        }
    };
    misplaced("minimum", parameter.minimum.is_some(), number, "integer or number");
    misplaced("maximum", parameter.maximum.is_some(), number, "integer or number");
    misplaced("min_length", parameter.min_length.is_some(), text, "string");
    misplaced("max_length", parameter.max_length.is_some(), text, "string");
    misplaced("pattern", parameter.pattern.is_some(), text, "string");
    for (name, bound) in [("minimum", parameter.minimum), ("maximum", parameter.maximum)] {
        if bound.is_some_and(|bound| !bound.is_finite()) {
            out.push(Problem::new("invalid_value", format!("{at}/{name}"), "the bound is no finite number"));
        }
    }
    if let (Some(low), Some(high)) = (parameter.minimum, parameter.maximum)
        && low > high
    {
        out.push(Problem::new("empty_range", format!("{at}/minimum"), "minimum is above maximum").got(low));
    }
    if let (Some(low), Some(high)) = (parameter.min_length, parameter.max_length)
        && low > high
    {
        out.push(
            Problem::new("empty_range", format!("{at}/min_length"), "min_length is above max_length")
                .got(low),
        );
    }
}

/// The compiled pattern, if there is a usable one.
fn pattern(parameter: &Parameter, at: &str, out: &mut Vec<Problem>) -> Option<Regex> {
    let pattern = parameter.pattern.as_deref()?;
    compile_pattern(pattern)
        .map_err(|why| out.push(Problem::new("invalid_pattern", format!("{at}/pattern"), why).got(pattern)))
        .ok()
}

/// Checks the values that an author wrote into a parameter against its own limits.
struct Values<'p> {
    parameter: &'p Parameter,
    pattern: Option<&'p Regex>,
}

impl Values<'_> {
    fn list(&self, values: &[Value], at: &str, in_enum: bool, out: &mut Vec<Problem>) {
        if values.len() > PARAMETER_VALUES_MAX {
            out.push(
                Problem::new("too_many", at, "too many values")
                    .got(values.len())
                    .allowed(format!("at most {PARAMETER_VALUES_MAX}")),
            );
            return;
        }
        for (index, value) in values.iter().enumerate() {
            self.one(value, &format!("{at}/{index}"), in_enum, out);
        }
    }

    fn one(&self, value: &Value, at: &str, in_enum: bool, out: &mut Vec<Problem>) {
        if let Err(problem) = self.fits(value, at, in_enum) {
            out.push(problem);
        }
    }

    /// The first limit that a value breaks.
    fn fits(&self, value: &Value, at: &str, in_enum: bool) -> Result<(), Problem> {
        let parameter = self.parameter;
        let refuse = |code: &str, message: String| Err(Problem::new(code, at, message).got(value));
        if !parameter.kind.fits(value) {
            let name = parameter.kind.name();
            return Err(Problem::new("type_mismatch", at, "the value has another type than the parameter")
                .got(value)
                .allowed(name));
        }
        if let Value::Number(number) = value {
            if tidy_number(number).is_none() {
                return refuse("inexact_number", "the number is no double; write it as a string".to_owned());
            }
            let double = number.as_f64().unwrap_or(f64::NAN);
            if parameter.minimum.is_some_and(|low| double < low)
                || parameter.maximum.is_some_and(|high| double > high)
            {
                return refuse("out_of_range", "the value is outside minimum and maximum".to_owned());
            }
        }
        if let Value::String(text) = value {
            self.text_fits(text).or_else(|message| refuse("value_refused", message))?;
        }
        if in_enum && parameter.choices.as_ref().is_some_and(|choices| !choices.contains(value)) {
            return refuse("not_in_enum", "the value is not in the enum".to_owned());
        }
        Ok(())
    }

    /// Length and pattern of a string, or one sentence about what does not fit.
    fn text_fits(&self, text: &str) -> Result<(), String> {
        if text.len() > VALUE_BYTES_MAX {
            return Err(format!("the value is longer than {VALUE_BYTES_MAX} bytes"));
        }
        let chars = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        if self.parameter.min_length.is_some_and(|low| chars < low) {
            return Err("the value is shorter than min_length".to_owned());
        }
        if self.parameter.max_length.is_some_and(|high| chars > high) {
            return Err("the value is longer than max_length".to_owned());
        }
        if self.pattern.is_some_and(|pattern| !pattern.is_match(text)) {
            return Err("the value does not match the pattern".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Codes and fields of a parameter's problems.
    fn faults(change: impl FnOnce(&mut Parameter), kind: ParameterType) -> Vec<String> {
        let mut parameter = Parameter::new("query", kind);
        change(&mut parameter);
        let mut out = Vec::new();
        problems(&parameter, "", &mut out);
        out.iter().map(|problem| format!("{} {}", problem.code, problem.field)).collect()
    }

    #[test]
    fn a_sound_parameter_has_no_problems() {
        let none: Vec<String> = Vec::new();
        assert_eq!(faults(|_| {}, ParameterType::Boolean), none);
        let text = |parameter: &mut Parameter| {
            parameter.pattern = Some("^[a-z]+$".to_owned());
            (parameter.min_length, parameter.max_length) = (Some(1), Some(3));
            parameter.choices = Some(vec![json!("abc"), json!("b")]);
            parameter.default = Some(json!("b"));
            parameter.examples = vec![json!("abc")];
        };
        assert_eq!(faults(text, ParameterType::String), none);
        let count = |parameter: &mut Parameter| {
            (parameter.minimum, parameter.maximum) = (Some(1.0), Some(50.0));
            parameter.default = Some(json!(10.0));
        };
        assert_eq!(faults(count, ParameterType::Integer), none);
    }

    #[test]
    fn every_limit_of_a_parameter_is_checked() {
        type Change = fn(&mut Parameter);
        let cases: Vec<(ParameterType, Change, &str)> = vec![
            (ParameterType::String, |p| p.name = "a-b".into(), "invalid_value /name"),
            (ParameterType::String, |p| p.minimum = Some(1.0), "limit_does_not_apply /minimum"),
            (ParameterType::Integer, |p| p.max_length = Some(1), "limit_does_not_apply /max_length"),
            (ParameterType::Number, |p| p.minimum = Some(f64::INFINITY), "invalid_value /minimum"),
            (ParameterType::String, |p| p.pattern = Some("(".into()), "invalid_pattern /pattern"),
            (
                ParameterType::String,
                |p| p.pattern = Some(r"\w{1000}{1000}".into()),
                "invalid_pattern /pattern",
            ),
            (ParameterType::String, |p| p.pattern = Some("a".repeat(2_000)), "invalid_pattern /pattern"),
            (ParameterType::String, |p| p.choices = Some(vec![]), "too_few /enum"),
            (ParameterType::String, |p| p.choices = Some(vec![json!(1)]), "type_mismatch /enum/0"),
            (ParameterType::Integer, |p| p.default = Some(json!(1.5)), "type_mismatch /default"),
            (ParameterType::Integer, |p| p.default = Some(json!(u64::MAX)), "inexact_number /default"),
            (ParameterType::Boolean, |p| p.examples = vec![json!("true")], "type_mismatch /examples/0"),
            (ParameterType::String, |p| p.examples = vec![json!("a"); 300], "too_many /examples"),
        ];
        for (kind, change, expected) in cases {
            assert!(
                faults(change, kind).contains(&expected.to_owned()),
                "{expected}: {:?}",
                faults(change, kind)
            );
        }
    }

    #[test]
    fn values_must_fit_the_limits_beside_them() {
        let range = |p: &mut Parameter| {
            (p.minimum, p.maximum) = (Some(5.0), Some(1.0));
            p.default = Some(json!(3));
        };
        assert_eq!(faults(range, ParameterType::Integer), ["empty_range /minimum", "out_of_range /default"]);
        let length = |p: &mut Parameter| {
            (p.min_length, p.max_length) = (Some(2), Some(1));
            p.default = Some(json!("abc"));
        };
        assert_eq!(
            faults(length, ParameterType::String),
            ["empty_range /min_length", "value_refused /default"]
        );
        let pattern = |p: &mut Parameter| {
            p.pattern = Some("^a".to_owned());
            p.examples = vec![json!("b")];
        };
        assert_eq!(faults(pattern, ParameterType::String), ["value_refused /examples/0"]);
        let choices = |p: &mut Parameter| {
            p.choices = Some(vec![json!(1)]);
            p.default = Some(json!(2));
        };
        assert_eq!(faults(choices, ParameterType::Integer), ["not_in_enum /default"]);
    }
}
