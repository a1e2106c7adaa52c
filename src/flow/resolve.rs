//! Values into a compiled flow template: all or nothing, every problem listed.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{ParameterProblem, Problem};
use crate::limits::{PARAMETERS_MAX, STEPS_MAX};
use crate::tools::{ToolRegistry, check_rules, check_value};

use super::program::ArchivedProgram;
use super::run::{Fault, Run, listed};

/// One resolved step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedStep {
    /// Canonical tool name.
    pub tool: String,
    /// Arguments under their canonical names, all placeholders substituted.
    pub args: Value,
    /// For the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The agent may skip it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// An argument came from a secret parameter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// Resolved steps as one JSON text: what a server sends, without a tree in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedText {
    json: String,
    steps: Vec<StepPlace>,
}

/// Where a step stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepPlace {
    pub(crate) tool: Range<usize>,
    pub(crate) args: Range<usize>,
    pub(crate) secret: bool,
}

impl ResolvedText {
    /// A text and the places of its steps.
    pub(crate) fn new(json: String, steps: Vec<StepPlace>) -> Self {
        Self { json, steps }
    }

    /// The JSON array of all steps, as canonical as its template: `[{"tool":...,"args":{...}}, ...]`.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The JSON array, owned.
    #[must_use]
    pub fn into_json(self) -> String {
        self.json
    }

    /// For each step: the tool's name, the arguments as a JSON object, and whether a secret is in them.
    #[must_use]
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (&str, &str, bool)> {
        let cut = |range: &Range<usize>| self.json.get(range.clone()).unwrap_or_default();
        self.steps.iter().map(move |step| (cut(&step.tool), cut(&step.args), step.secret))
    }
}

/// Resolves a program with values: canonical tool names, complete arguments.
///
/// Strings are accepted for other types where they parse exactly. Time and memory are linear in the output; a value is
/// at most 64 KiB and the result at most 1 MiB, checked before memory is taken.
///
/// # Errors
/// Every problem with the values, or, when the values are sound, every argument that its tool refuses. A program out of
/// a damaged file answers `damaged_template`.
pub fn resolve(
    program: &ArchivedProgram,
    values: &Map<String, Value>,
    registry: &ToolRegistry,
) -> Result<Vec<ResolvedStep>, Vec<ParameterProblem>> {
    let text = resolve_text(program, values, registry)?;
    serde_json::from_str(text.json()).map_err(|_| listed(Fault::Damaged("the steps are no JSON")))
}

/// Resolves a program into JSON text. The same rules as [`resolve`], several times faster.
///
/// Of a program that did not come from [`compile`](super::compile) (a forged file with right checksums) the text may be
/// something else than JSON; [`check_archived`] finds most of those.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_text(
    program: &ArchivedProgram,
    values: &Map<String, Value>,
    registry: &ToolRegistry,
) -> Result<ResolvedText, Vec<ParameterProblem>> {
    let run = Run { program };
    let rendered = run.values(values)?;
    let size = run.size(&rendered).map_err(listed)?;
    let text = run.write(&rendered, size).map_err(listed)?;
    let moved = program.registry != registry.fingerprint();
    let mut problems = Vec::new();
    for (index, (step, place)) in program.steps.iter().zip(&text.steps).enumerate() {
        if moved || step.recheck || !run.guards_hold(step, values) {
            recheck(registry, &text, place, index, &mut problems);
        }
    }
    if problems.is_empty() { Ok(text) } else { Err(problems) }
}

/// Tries a program from an untrusted archive: all values there, none but the required ones, each optional one by itself
/// there and by itself away, and the defaults. Finds indexes and spans out of range and text that is no JSON list of
/// steps. Meant for the first touch of a record; costs a few resolves with a decode each.
///
/// It is no proof: a forged program may still write something else than JSON for other values. [`resolve`] reads its own
/// text back and is safe with any program.
///
/// # Errors
/// What is wrong, in a few words.
pub fn check_archived(program: &ArchivedProgram) -> Result<(), &'static str> {
    let run = Run { program };
    if program.parameters.len() > PARAMETERS_MAX || program.steps.len() > STEPS_MAX {
        return Err("too many rows");
    }
    let optional: Vec<usize> = (0..)
        .zip(program.parameters.iter())
        .filter(|(_, row)| !row.required && row.default.is_none())
        .map(|(index, _)| index)
        .collect();
    run.trial(true, |_| true).and_then(|()| run.trial(false, |_| true)).map_err(Fault::detail)?;
    run.trial(false, |index| !optional.contains(&index)).map_err(Fault::detail)?;
    for one in &optional {
        run.trial(false, |index| index != *one).map_err(Fault::detail)?;
        run.trial(false, |index| index == *one || !optional.contains(&index)).map_err(Fault::detail)?;
    }
    Ok(())
}

/// A resolved step against its tool's schema, in full.
fn recheck(
    registry: &ToolRegistry,
    text: &ResolvedText,
    place: &StepPlace,
    index: usize,
    problems: &mut Vec<ParameterProblem>,
) {
    let cut = |range: &Range<usize>| text.json.get(range.clone()).unwrap_or_default();
    let Ok(Value::Object(args)) = serde_json::from_str(cut(&place.args)) else {
        problems.push(Fault::Damaged("arguments are no JSON object").into());
        return;
    };
    let pointer = format!("/steps/{index}/args");
    let spec = match registry.require(cut(&place.tool), &format!("/steps/{index}/tool")) {
        Ok(resolved) => resolved.spec,
        Err(problem) => {
            problems.push(step_problem(*problem, false));
            return;
        }
    };
    let rules = check_rules(spec, &args, &pointer);
    let found = check_value(&spec.parameters, &Value::Object(args), &pointer);
    problems.extend(found.into_iter().chain(rules).map(|problem| step_problem(problem, place.secret)));
}

/// A problem of the tool's schema in the shape of this answer.
fn step_problem(problem: Problem, secret: bool) -> ParameterProblem {
    let mut shown = ParameterProblem::new("", &problem.code);
    shown.field = problem.field;
    shown.expected = Some(match problem.allowed {
        Some(allowed) => format!("{} ({allowed})", problem.message),
        None => problem.message,
    });
    shown.got = problem.got.filter(|_| !secret).map(Value::String);
    shown
}
