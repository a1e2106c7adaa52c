//! What a caller did wrong, in a form that the caller can act on.

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{DeviceError, Error, ParameterProblem, Problem, StorageError, shorten};
use crate::guard::Refusal;
use crate::mcp::arguments::ArgumentProblem;

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
    /// What to do, where the code alone does not tell.
    hint: Option<String>,
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
        Self {
            code,
            message: message.into(),
            hint: None,
            skill: None,
            reasons: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Nothing has ever arrived.
    pub(super) fn catalog_empty() -> Self {
        Self::new(
            CATALOG_EMPTY,
            "There are no skills yet: this deployment was never synced and nothing was imported.",
        )
    }

    /// The id is unknown or hidden: the bytes depend on nothing but the id asked for.
    pub(super) fn not_found(id: &str) -> Self {
        let id = shorten(id).into_owned();
        Self { skill: Some(id.clone()), ..Self::new(SKILL_NOT_FOUND, format!("There is no skill {id:?}.")) }
    }

    /// The skill is there but cannot be used.
    pub(super) fn unavailable(id: &str, reasons: Vec<String>) -> Self {
        let message = format!("The skill {id:?} cannot be used on this deployment.");
        Self { skill: Some(id.to_owned()), reasons, ..Self::new(SKILL_UNAVAILABLE, message) }
    }

    /// Arguments that the table refuses.
    pub(super) fn arguments(tool: &str, problems: &[ArgumentProblem]) -> Self {
        let names: Vec<_> =
            problems.iter().map(|problem| format!("{} ({})", problem.argument, problem.problem)).collect();
        let message = format!("Wrong arguments of {tool}: {}.", names.join(", "));
        let problems = problems.iter().map(|problem| json!(problem)).collect();
        Self { problems, ..Self::new(INVALID_ARGUMENTS, message) }
    }

    /// Values that the flow template refuses.
    pub(super) fn parameters(skill: &str, problems: &[ParameterProblem]) -> Self {
        let place = |problem: &ParameterProblem| {
            if problem.parameter.is_empty() { problem.field.clone() } else { problem.parameter.clone() }
        };
        let names: Vec<_> =
            problems.iter().map(|problem| format!("{} ({})", place(problem), problem.problem)).collect();
        let message = format!("Wrong parameters for the skill {skill:?}: {}.", names.join(", "));
        let problems = problems.iter().map(|problem| json!(problem)).collect();
        Self { skill: Some(skill.to_owned()), problems, ..Self::new(INVALID_PARAMETERS, message) }
    }

    /// Arguments of a device tool that its schema or its rules refuse.
    pub(super) fn of_problems(tool: &str, problems: &[Problem]) -> Self {
        let problems: Vec<_> = problems.iter().map(argument_problem).collect();
        Self::arguments(tool, &problems)
    }

    /// A call that the guard does not let through.
    pub(super) fn refused(refusal: Refusal) -> Self {
        Self { hint: Some(refusal.hint), ..Self::new(refusal.code, refusal.message) }
    }

    /// What a phone, or the way to it, failed with.
    pub(super) fn of_device(error: DeviceError) -> Self {
        let message = sentence(error.message);
        Self { hint: Some(sentence(error.hint)), ..Self::new(error.code.name(), message) }
    }

    /// An error of the library. Callers learn what concerns them; the rest goes to the log.
    pub(super) fn from_error(tool: &str, error: Error) -> Self {
        match error {
            Error::SkillNotFound { id } => Self::not_found(&id),
            Error::SkillUnavailable { id, reasons } => Self::unavailable(&id, reasons),
            Error::InvalidParameters { skill, problems } => Self::parameters(&skill, &problems),
            Error::InvalidArguments { problems } => Self::of_problems(tool, &problems),
            Error::Device(error) => Self::of_device(error),
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
        let usual = || ERRORS.iter().find(|entry| entry.code == self.code).map_or("", |entry| entry.hint);
        let hint = self.hint.as_deref().unwrap_or_else(usual);
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

/// A message of the device layer as a sentence.
fn sentence(text: String) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return text };
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), chars.as_str())
}

fn argument_problem(problem: &Problem) -> ArgumentProblem {
    ArgumentProblem {
        message: Some(problem.message.clone()),
        got: problem.got.clone().map(Value::String),
        ..ArgumentProblem::new(problem.field.trim_start_matches('/'), problem.code.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_problems_of_parameters_keep_the_shape_of_the_resolver() {
        let problems = [ParameterProblem::new("query", "missing").expected("string")];
        let answer: Value =
            serde_json::from_str(&Failure::parameters("xhs-search", &problems).to_json()).expect("JSON");
        assert_eq!(answer["error"], "invalid_parameters");
        assert_eq!(answer["skill"], "xhs-search");
        assert_eq!(
            answer["problems"],
            json!([{"parameter": "query", "problem": "missing", "expected": "string"}])
        );
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
