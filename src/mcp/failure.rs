//! What a caller did wrong, in a form that the caller can act on.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::{Error, Problem, StorageError};
use crate::mcp::arguments::{ArgumentProblem, shorten};
use crate::model::Parameter;

/// A code that `error` can hold, with what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorEntry {
    /// The stable code.
    pub code: &'static str,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// What the answer tells the caller to do.
    pub hint: &'static str,
}

/// The catalog holds nothing yet.
pub(super) const CATALOG_EMPTY: &str = "catalog_empty";
/// Arguments do not fit the tool.
pub(super) const INVALID_ARGUMENTS: &str = "invalid_arguments";
/// Values do not fit the flow template's parameters.
pub(super) const INVALID_PARAMETERS: &str = "invalid_parameters";
/// The id is not visible.
pub(super) const SKILL_NOT_FOUND: &str = "skill_not_found";
/// The skill cannot be used on this deployment.
pub(super) const SKILL_UNAVAILABLE: &str = "skill_unavailable";
/// A file of the catalog did not pass its check.
pub(super) const STORAGE_DAMAGED: &str = "storage_damaged";
/// Another failure of the data directory.
pub(super) const STORAGE_FAILED: &str = "storage_failed";
/// The server's own trouble.
pub(super) const INTERNAL: &str = "internal_error";

/// Every code of the query tools.
pub const ERRORS: &[ErrorEntry] = &[
    ErrorEntry {
        code: CATALOG_EMPTY,
        meaning: "No skill has ever arrived on this deployment, which is not the same as \"no match\".",
        hint: "Work without skills; the operator can import some with `repertoire import` or set up sync.",
    },
    ErrorEntry {
        code: INVALID_ARGUMENTS,
        meaning: "Arguments of the call do not fit the tool; `problems` names every one.",
        hint: "Correct every argument named in problems and call again.",
    },
    ErrorEntry {
        code: INVALID_PARAMETERS,
        meaning: "Values do not fit the parameters of the flow template; `problems` names every one and no step is given.",
        hint: "Correct every parameter named in problems and call resolve_skill again; ask the user for what you do not know.",
    },
    ErrorEntry {
        code: SKILL_NOT_FOUND,
        meaning: "No skill of that id is there for the caller.",
        hint: "Use search_skills or list_skills to see which skills there are.",
    },
    ErrorEntry {
        code: SKILL_UNAVAILABLE,
        meaning: "The skill is there but cannot be used on this deployment; `reasons` says why.",
        hint: "Choose another skill, or do the task without one.",
    },
    ErrorEntry {
        code: STORAGE_DAMAGED,
        meaning: "A file of the catalog did not pass its check; the detail is in the server's log.",
        hint: "Try again once; if it stays, tell the operator to run `repertoire verify`.",
    },
    ErrorEntry {
        code: STORAGE_FAILED,
        meaning: "The catalog could not be read; the detail is in the server's log.",
        hint: "Try again once; if it stays, tell the operator to run `repertoire status`.",
    },
    ErrorEntry {
        code: INTERNAL,
        meaning: "The server itself is at fault; the detail is in its log.",
        hint: "Try another call; tell the operator about the server's log.",
    },
];

/// A semantic error on its way to the caller.
#[derive(Debug)]
pub(super) struct Failure {
    code: &'static str,
    message: String,
    skill: Option<String>,
    reasons: Vec<String>,
    problems: Vec<Value>,
}

/// The JSON of a failure; the order of the members is part of what callers see.
#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    message: &'a str,
    hint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reasons: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: &'a [Value],
}

impl Failure {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), skill: None, reasons: Vec::new(), problems: Vec::new() }
    }

    /// Nothing has ever arrived.
    pub(super) fn catalog_empty() -> Self {
        Self::new(CATALOG_EMPTY, "There are no skills yet: this deployment was never synced and nothing was imported.")
    }

    /// The id is unknown or hidden: the bytes depend on nothing but the id asked for.
    pub(super) fn not_found(id: &str) -> Self {
        let id = shorten(id);
        Self { skill: Some(id.clone()), ..Self::new(SKILL_NOT_FOUND, format!("There is no skill {id:?}.")) }
    }

    /// The skill is there but cannot be used.
    pub(super) fn unavailable(id: &str, reasons: Vec<String>) -> Self {
        let message = format!("The skill {id:?} cannot be used on this deployment.");
        Self { skill: Some(id.to_owned()), reasons, ..Self::new(SKILL_UNAVAILABLE, message) }
    }

    /// Arguments that the table refuses.
    pub(super) fn arguments(tool: &str, problems: &[ArgumentProblem]) -> Self {
        let names: Vec<_> = problems.iter().map(|problem| format!("{} ({})", problem.argument, problem.problem)).collect();
        let message = format!("Wrong arguments of {tool}: {}.", names.join(", "));
        let problems = problems.iter().map(|problem| json!(problem)).collect();
        Self { problems, ..Self::new(INVALID_ARGUMENTS, message) }
    }

    /// Values that the flow template refuses. `parameters` are those that the skill declares, `given` the values
    /// sent; the value of a secret parameter is not shown back.
    pub(super) fn parameters(
        skill: &str,
        problems: &[Problem],
        parameters: &[Parameter],
        given: &Map<String, Value>,
    ) -> Self {
        let names: Vec<_> = problems.iter().map(|problem| format!("{} ({})", problem.field, problem.code)).collect();
        let message = format!("Wrong parameters for the skill {skill:?}: {}.", names.join(", "));
        let problems = problems.iter().map(|problem| parameter_problem(problem, parameters, given)).collect();
        Self { skill: Some(skill.to_owned()), problems, ..Self::new(INVALID_PARAMETERS, message) }
    }

    /// An error of the library. Callers learn what concerns them; the rest goes to the log.
    pub(super) fn from_error(tool: &str, error: Error) -> Self {
        match error {
            Error::SkillNotFound { id } => Self::not_found(&id),
            Error::SkillUnavailable { id, reasons } => Self::unavailable(&id, reasons),
            Error::InvalidParameters { skill, problems } => Self::parameters(&skill, &problems, &[], &Map::new()),
            Error::InvalidArguments { problems } => {
                let problems: Vec<_> = problems.iter().map(argument_problem).collect();
                Self::arguments(tool, &problems)
            }
            other => {
                tracing::error!(tool, code = other.code(), error = %other, "a query failed");
                match other {
                    Error::Storage(StorageError::Damaged { .. }) => {
                        Self::new(STORAGE_DAMAGED, "A part of the catalog is damaged.")
                    }
                    Error::Storage(_) => Self::new(STORAGE_FAILED, "The catalog could not be read."),
                    _ => Self::internal(),
                }
            }
        }
    }

    /// Trouble that is not the caller's.
    pub(super) fn internal() -> Self {
        Self::new(INTERNAL, "The server failed on this call.")
    }

    /// The JSON text that the caller gets.
    pub(super) fn to_json(&self) -> String {
        let hint = ERRORS.iter().find(|entry| entry.code == self.code).map_or("", |entry| entry.hint);
        let body = Body {
            error: self.code,
            message: &self.message,
            hint,
            skill: self.skill.as_deref(),
            reasons: &self.reasons,
            problems: &self.problems,
        };
        // Strings, numbers and maps with text keys always serialise; the code alone is a valid answer all the same.
        serde_json::to_string(&body).unwrap_or_else(|_| json!({"error": self.code}).to_string())
    }
}

fn argument_problem(problem: &Problem) -> ArgumentProblem {
    ArgumentProblem {
        message: Some(problem.message.clone()),
        got: problem.got.clone().map(Value::String),
        ..ArgumentProblem::new(&problem.field, "invalid")
    }
}

/// A problem of one parameter with what the template declares about it.
fn parameter_problem(problem: &Problem, parameters: &[Parameter], given: &Map<String, Value>) -> Value {
    let mut shown = Map::new();
    shown.insert("parameter".to_owned(), json!(problem.field));
    shown.insert("problem".to_owned(), json!(problem.code));
    shown.insert("message".to_owned(), json!(problem.message));
    let declared = parameters.iter().find(|parameter| parameter.name == problem.field);
    let secret = declared.is_some_and(|parameter| parameter.secret);
    match given.get(&problem.field) {
        Some(Value::String(text)) if !secret => drop(shown.insert("got".to_owned(), json!(shorten(text)))),
        Some(Value::Array(_) | Value::Object(_)) | None => {}
        Some(scalar) if !secret => drop(shown.insert("got".to_owned(), scalar.clone())),
        Some(_) => {}
    }
    if let Some(allowed) = &problem.allowed {
        shown.insert("allowed".to_owned(), json!(allowed));
    }
    if let Some(parameter) = declared {
        declare(&mut shown, parameter);
    }
    Value::Object(shown)
}

/// Adds the declared type, meaning and bounds of a parameter.
fn declare(shown: &mut Map<String, Value>, parameter: &Parameter) {
    shown.insert("expected".to_owned(), json!(parameter.kind));
    if !parameter.description.is_empty() {
        shown.insert("description".to_owned(), json!(parameter.description));
    }
    let bounds = [
        ("minimum", parameter.minimum.map(whole)),
        ("maximum", parameter.maximum.map(whole)),
        ("min_length", parameter.min_length.map(Value::from)),
        ("max_length", parameter.max_length.map(Value::from)),
        ("pattern", parameter.pattern.clone().map(Value::from)),
        ("enum", parameter.choices.clone().map(Value::from)),
    ];
    for (name, bound) in bounds {
        if let Some(bound) = bound {
            shown.insert(name.to_owned(), bound);
        }
    }
}

/// A bound as JSON: `50`, not `50.0`.
fn whole(number: f64) -> Value {
    if number.fract() == 0.0
        && let Ok(integer) = format!("{number:.0}").parse::<i64>()
    {
        return Value::from(integer);
    }
    Value::from(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ParameterType;

    fn parameter(name: &str, kind: ParameterType) -> Parameter {
        Parameter {
            name: name.to_owned(),
            kind,
            required: true,
            description: String::new(),
            default: None,
            choices: None,
            pattern: None,
            minimum: None,
            maximum: None,
            min_length: None,
            max_length: None,
            secret: false,
            examples: Vec::new(),
        }
    }

    #[test]
    fn an_unknown_id_is_answered_by_its_own_text_alone() {
        let answer = Failure::not_found("xhs/search").to_json();
        assert_eq!(
            answer,
            r#"{"error":"skill_not_found","message":"There is no skill \"xhs/search\".","hint":"Use search_skills or list_skills to see which skills there are.","skill":"xhs/search"}"#
        );
        assert_eq!(answer.replace("xhs/search", "other"), Failure::not_found("other").to_json());
    }

    #[test]
    fn a_parameter_problem_carries_what_the_template_declares() {
        let mut count = parameter("count", ParameterType::Integer);
        (count.minimum, count.maximum) = (Some(1.0), Some(50.0));
        let mut query = parameter("query", ParameterType::String);
        "what to search for".clone_into(&mut query.description);
        let problems = [
            Problem::new("missing", "query", "a value is needed"),
            Problem::new("out_of_range", "count", "0 is too small"),
        ];
        let given = json!({"count": 0});
        let failure =
            Failure::parameters("xhs-search", &problems, &[query, count], given.as_object().expect("an object"));
        let answer: Value = serde_json::from_str(&failure.to_json()).expect("JSON");
        assert_eq!(answer["error"], "invalid_parameters");
        assert_eq!(answer["skill"], "xhs-search");
        assert_eq!(
            answer["problems"],
            json!([
                {"parameter": "query", "problem": "missing", "message": "a value is needed",
                 "expected": "string", "description": "what to search for"},
                {"parameter": "count", "problem": "out_of_range", "message": "0 is too small", "got": 0,
                 "expected": "integer", "minimum": 1, "maximum": 50},
            ])
        );
    }

    #[test]
    fn the_value_of_a_secret_parameter_is_not_shown_back() {
        let mut pin = parameter("pin", ParameterType::String);
        pin.secret = true;
        let given = json!({"pin": "canary-4711"});
        let problems = [Problem::new("pattern", "pin", "does not match")];
        let failure = Failure::parameters("unlock", &problems, &[pin], given.as_object().expect("an object"));
        assert!(!failure.to_json().contains("canary"), "{}", failure.to_json());
    }

    #[test]
    fn storage_trouble_shows_neither_paths_nor_causes() {
        let error = StorageError::io("open", "/secret/place/CURRENT", std::io::Error::other("disk on fire"));
        let answer = Failure::from_error("get_skill", Error::Storage(error)).to_json();
        assert!(answer.contains("storage_failed"), "{answer}");
        for inner in ["secret", "CURRENT", "fire"] {
            assert!(!answer.contains(inner), "{answer}");
        }
    }

    #[test]
    fn every_code_has_a_meaning_and_a_hint() {
        for entry in ERRORS {
            assert!(!entry.meaning.is_empty() && !entry.hint.is_empty(), "{}", entry.code);
        }
    }
}
