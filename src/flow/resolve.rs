//! Values into a compiled flow template: all or nothing, every problem listed.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::error::ParameterProblem;
use crate::limits::{PARAMETERS_MAX, RESOLVED_BYTES_MAX, STEPS_MAX};
use crate::tools::{ToolRegistry, check_rules, check_value};

use super::program::{
    ArchivedOp, ArchivedParameterRow, ArchivedProgram, ArchivedSpan, ArchivedStepRow, ArchivedValueKind,
    ValueKind,
};
use super::values::{self, Choices, Rendered, Rules};

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
struct StepPlace {
    tool: Range<usize>,
    args: Range<usize>,
    secret: bool,
}

impl ResolvedText {
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
    serde_json::from_str(text.json()).map_err(|error| vec![damaged(&format!("not JSON: {error}"))])
}

/// Resolves a program into JSON text. The same rules as [`resolve`], several times faster.
///
/// Of a program that did not come from [`compile`](super::compile) (a forged file with right checksums) the text may be
/// something else than JSON; [`check_archived`] tells such programs apart once and for all.
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
    let size = run.size(&rendered).map_err(|problem| vec![problem])?;
    let text = run.write(&rendered, size).map_err(|problem| vec![problem])?;
    let moved = program.registry != registry.fingerprint();
    let mut problems = Vec::new();
    for (index, (step, place)) in program.steps.iter().zip(&text.steps).enumerate() {
        if moved || step.recheck || !run.guards_hold(step, values) {
            recheck(registry, &text, place, index, &mut problems);
        }
    }
    if problems.is_empty() { Ok(text) } else { Err(problems) }
}

/// Checks that a program from an untrusted archive writes a JSON list of steps whatever the values are: every index and
/// span in range, every raw text well-formed where it stands. Costs about one resolve with a decode.
///
/// # Errors
/// `damaged_template`, with what is wrong.
pub fn check_archived(program: &ArchivedProgram) -> Result<(), ParameterProblem> {
    let run = Run { program };
    if program.parameters.len() > PARAMETERS_MAX || program.steps.len() > STEPS_MAX {
        return Err(damaged("too many rows"));
    }
    for row in program.parameters.iter() {
        run.rules(row, &|_| "")?;
    }
    // Once with all values there and once with everything left out that may be: these are all the forms a comma takes.
    for absent in [false, true] {
        let rendered: Vec<Rendered<'_>> = program
            .parameters
            .iter()
            .map(|row| match row.kind {
                _ if absent && !row.required && row.default.is_none() => Rendered::Absent,
                ArchivedValueKind::String => Rendered::Quoted("x"),
                ArchivedValueKind::Boolean => Rendered::Literal(Cow::Borrowed("true")),
                ArchivedValueKind::Integer | ArchivedValueKind::Number => {
                    Rendered::Literal(Cow::Borrowed("1"))
                }
            })
            .collect();
        let size = run.size(&rendered)?;
        let text = run.write(&rendered, size)?;
        let steps: Vec<ResolvedStep> =
            serde_json::from_str(text.json()).map_err(|error| damaged(&format!("not JSON: {error}")))?;
        if steps.len() != program.steps.len() || steps.iter().any(|step| !step.args.is_object()) {
            return Err(damaged("not a list of steps"));
        }
    }
    Ok(())
}

/// The program contradicts itself: only a damaged or forged file can.
fn damaged(detail: &str) -> ParameterProblem {
    ParameterProblem::new("", "damaged_template")
        .expected(format!("a sound program ({detail}); run `repertoire verify`"))
}

/// Problems listed at once for names that no parameter has.
const UNKNOWN_MAX: usize = 64;

#[derive(Clone, Copy)]
struct Run<'a> {
    program: &'a ArchivedProgram,
}

impl<'a> Run<'a> {
    /// Text of the pool.
    fn text(self, span: &ArchivedSpan) -> Result<&'a str, ParameterProblem> {
        let range = span.start.to_native() as usize..span.end.to_native() as usize;
        self.program.text.get(range).ok_or_else(|| damaged("text out of range"))
    }

    /// A parameter's rules.
    fn rules<'r>(
        self,
        row: &'r ArchivedParameterRow,
        at: &'r dyn Fn(usize) -> &'r str,
    ) -> Result<Rules<'r>, ParameterProblem>
    where
        'a: 'r,
    {
        let count = match row.choices.as_ref() {
            Some(span) => Some(self.choices(span)?.len()),
            None => None,
        };
        Ok(Rules {
            name: self.text(&row.name)?,
            description: self.text(&row.description)?,
            kind: match row.kind {
                ArchivedValueKind::String => ValueKind::String,
                ArchivedValueKind::Integer => ValueKind::Integer,
                ArchivedValueKind::Number => ValueKind::Number,
                ArchivedValueKind::Boolean => ValueKind::Boolean,
            },
            secret: row.secret,
            choices: count.map(|count| Choices { count, at }),
            pattern: row.pattern.as_ref().map(|span| self.text(span)).transpose()?,
            minimum: row.minimum.as_ref().map(|bound| bound.to_native()),
            maximum: row.maximum.as_ref().map(|bound| bound.to_native()),
            min_length: row.min_length.as_ref().map(|bound| bound.to_native()),
            max_length: row.max_length.as_ref().map(|bound| bound.to_native()),
        })
    }

    fn choices(self, span: &ArchivedSpan) -> Result<&'a [ArchivedSpan], ParameterProblem> {
        let range = span.start.to_native() as usize..span.end.to_native() as usize;
        self.program.choices.get(range).ok_or_else(|| damaged("choices out of range"))
    }

    /// Checks the given values and renders one for each parameter.
    fn values<'v>(self, values: &'v Map<String, Value>) -> Result<Vec<Rendered<'v>>, Vec<ParameterProblem>>
    where
        'a: 'v,
    {
        let rows = &self.program.parameters;
        if rows.len() > PARAMETERS_MAX || self.program.steps.len() > STEPS_MAX {
            return Err(vec![damaged("too many rows")]);
        }
        let mut problems = Vec::new();
        let mut rendered = Vec::with_capacity(rows.len());
        let mut known = 0;
        for row in rows.iter() {
            match self.value(row, values, &mut known) {
                Ok(value) => rendered.push(value),
                Err(found) => problems.extend(found),
            }
        }
        if known != values.len() {
            problems.extend(self.unknown(values));
        }
        if problems.is_empty() { Ok(rendered) } else { Err(problems) }
    }

    fn value<'v>(
        self,
        row: &'v ArchivedParameterRow,
        values: &'v Map<String, Value>,
        known: &mut usize,
    ) -> Result<Rendered<'v>, Vec<ParameterProblem>>
    where
        'a: 'v,
    {
        let one = |problem: ParameterProblem| vec![problem];
        let name = self.text(&row.name).map_err(one)?;
        if let Some(value) = values.get(name) {
            *known += 1;
            let choices = row.choices.as_ref().map(|span| self.choices(span)).transpose().map_err(one)?;
            let at = |index: usize| {
                choices
                    .and_then(|rows| rows.get(index))
                    .and_then(|span| self.text(span).ok())
                    .unwrap_or_default()
            };
            let rules = self.rules(row, &at).map_err(one)?;
            return values::check(&rules, value);
        }
        match (row.default.as_ref(), &row.kind) {
            (Some(span), ArchivedValueKind::String) => self.text(span).map(Rendered::Quoted).map_err(one),
            (Some(span), _) => {
                self.text(span).map(|text| Rendered::Literal(Cow::Borrowed(text))).map_err(one)
            }
            (None, _) if row.required => {
                let rules = self.rules(row, &|_| "").map_err(one)?;
                let mut problem =
                    ParameterProblem::new(name, "missing").expected(values::kind_name(rules.kind));
                problem.description = Some(rules.description.to_owned()).filter(|text| !text.is_empty());
                Err(vec![problem])
            }
            (None, _) => Ok(Rendered::Absent),
        }
    }

    /// A problem for each name that no parameter has.
    fn unknown(self, values: &Map<String, Value>) -> Vec<ParameterProblem> {
        let names: Vec<&str> =
            self.program.parameters.iter().filter_map(|row| self.text(&row.name).ok()).collect();
        let expected = if names.is_empty() { "no parameters".to_owned() } else { names.join(", ") };
        let strangers = values.keys().filter(|name| !names.contains(&name.as_str()));
        strangers
            .take(UNKNOWN_MAX)
            .map(|name| {
                let short: String = name.chars().take(80).collect();
                ParameterProblem::new(&short, "unknown_parameter").expected(expected.as_str())
            })
            .collect()
    }

    /// Calls a function with each operation of a step that runs.
    fn each_op(
        self,
        step: &ArchivedStepRow,
        rendered: &[Rendered<'_>],
        mut act: impl FnMut(&ArchivedOp) -> Result<(), ParameterProblem>,
    ) -> Result<(), ParameterProblem> {
        let range = step.ops.start.to_native() as usize..step.ops.end.to_native() as usize;
        let ops = self.program.ops.get(range).ok_or_else(|| damaged("operations out of range"))?;
        let mut rest = ops.iter();
        while let Some(op) = rest.next() {
            if let ArchivedOp::Optional { parameter, ops } = op {
                let value = rendered
                    .get(parameter.to_native() as usize)
                    .ok_or_else(|| damaged("no such parameter"))?;
                let skipped = ops.to_native() as usize;
                if skipped > rest.len() {
                    return Err(damaged("a condition runs over its step"));
                }
                if *value == Rendered::Absent && skipped > 0 {
                    rest.nth(skipped - 1);
                }
            } else {
                act(op)?;
            }
        }
        Ok(())
    }

    /// Fewest bytes of the result (separators and marks of secrets not counted); refuses what would be too large.
    fn size(self, rendered: &[Rendered<'_>]) -> Result<usize, ParameterProblem> {
        let mut size = 2_usize;
        let mut done = 0;
        for step in self.program.steps.iter() {
            // Steps follow each other in the list of operations, so the work is bounded by its length.
            if step.ops.start.to_native() < done || step.ops.end.to_native() < step.ops.start.to_native() {
                return Err(damaged("steps out of order"));
            }
            done = step.ops.end.to_native();
            size += self.text(&step.tail)?.len() + 2;
            if size > RESOLVED_BYTES_MAX {
                return Err(too_large());
            }
            self.each_op(step, rendered, |op| {
                size += match op {
                    ArchivedOp::Raw(span) => self.text(span)?.len(),
                    ArchivedOp::Value(index) => value_at(rendered, index.to_native())?.value_len(),
                    ArchivedOp::Text(index) => value_at(rendered, index.to_native())?.text_len(),
                    ArchivedOp::Separator | ArchivedOp::Optional { .. } => 0,
                };
                if size > RESOLVED_BYTES_MAX { Err(too_large()) } else { Ok(()) }
            })?;
        }
        Ok(size)
    }

    /// Writes the result.
    fn write(self, rendered: &[Rendered<'_>], size: usize) -> Result<ResolvedText, ParameterProblem> {
        let mut json = String::with_capacity(size + self.program.steps.len() * SECRET.len() + 64);
        let mut steps = Vec::with_capacity(self.program.steps.len());
        json.push('[');
        for step in self.program.steps.iter() {
            if json.len() > 1 {
                json.push(',');
            }
            let start = json.len();
            let mut secret = false;
            self.each_op(step, rendered, |op| {
                match op {
                    ArchivedOp::Raw(span) => json.push_str(self.text(span)?),
                    ArchivedOp::Value(index) => {
                        secret |= self.is_secret(index.to_native());
                        value_at(rendered, index.to_native())?.push_value(&mut json);
                    }
                    ArchivedOp::Text(index) => {
                        secret |= self.is_secret(index.to_native());
                        value_at(rendered, index.to_native())?.push_text(&mut json);
                    }
                    ArchivedOp::Separator if json.ends_with(['{', '[']) => {}
                    ArchivedOp::Separator => json.push(','),
                    ArchivedOp::Optional { .. } => {}
                }
                Ok(())
            })?;
            let at = |offset: u32| start.saturating_add(offset as usize);
            steps.push(StepPlace {
                tool: at(step.tool_start.to_native())..at(step.tool_end.to_native()),
                args: at(step.args_start.to_native())..json.len(),
                secret,
            });
            json.push_str(self.text(&step.tail)?);
            json.push_str(if secret { SECRET } else { "}" });
        }
        json.push(']');
        if json.len() > RESOLVED_BYTES_MAX { Err(too_large()) } else { Ok(ResolvedText { json, steps }) }
    }

    fn is_secret(self, index: u16) -> bool {
        self.program.parameters.get(index as usize).is_some_and(|row| row.secret)
    }

    /// Whether the given values pass a step's cheap tests. Defaults passed them at ingest.
    fn guards_hold(self, step: &ArchivedStepRow, values: &Map<String, Value>) -> bool {
        let range = step.guards.start.to_native() as usize..step.guards.end.to_native() as usize;
        let Some(guards) = self.program.guards.get(range) else { return false };
        guards.iter().all(|guard| {
            let row = self.program.parameters.get(guard.parameter.to_native() as usize);
            let Some(name) = row.and_then(|row| self.text(&row.name).ok()) else { return false };
            let found = match (values.get(name), row.map(|row| &row.kind)) {
                (None, _) => return true,
                (Some(Value::String(text)), Some(ArchivedValueKind::String)) => characters(text),
                (Some(Value::Number(number)), _) => number.as_f64().unwrap_or(f64::NAN),
                // A number in a string: the full check tells.
                _ => return false,
            };
            found >= guard.least.to_native() && found <= guard.most.to_native()
        })
    }
}

/// The end of a step with a secret in it.
const SECRET: &str = ",\"secret\":true}";

fn value_at<'r, 'v>(rendered: &'r [Rendered<'v>], index: u16) -> Result<&'r Rendered<'v>, ParameterProblem> {
    rendered.get(index as usize).ok_or_else(|| damaged("no such parameter"))
}

fn too_large() -> ParameterProblem {
    let mut problem = ParameterProblem::new("", "result_too_large").expected("shorter values");
    problem.maximum = Some(Number::from(RESOLVED_BYTES_MAX));
    problem
}

/// Characters of a text, which is at most 64 KiB.
fn characters(text: &str) -> f64 {
    u32::try_from(text.chars().count()).map_or(f64::INFINITY, f64::from)
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
        problems.push(damaged("arguments are no JSON object"));
        return;
    };
    let pointer = format!("/steps/{index}/args");
    let spec = match registry.require(cut(&place.tool), &format!("/steps/{index}/tool")) {
        Ok(resolved) => resolved.spec,
        Err(problem) => {
            problems.push(step_problem(problem, false));
            return;
        }
    };
    let rules = check_rules(spec, &args, &pointer);
    let found = check_value(&spec.parameters, &Value::Object(args), &pointer);
    problems.extend(found.into_iter().chain(rules).map(|problem| step_problem(problem, place.secret)));
}

/// A problem of the tool's schema in the shape of this answer.
fn step_problem(problem: crate::error::Problem, secret: bool) -> ParameterProblem {
    let mut shown = ParameterProblem::new("", &problem.code);
    shown.field = problem.field;
    shown.expected = Some(match problem.allowed {
        Some(allowed) => format!("{} ({allowed})", problem.message),
        None => problem.message,
    });
    shown.got = problem.got.filter(|_| !secret).map(Value::String);
    shown
}
