//! One run of an archived program: values checked, pieces concatenated. Every index and span is taken as untrusted.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use crate::error::ParameterProblem;
use crate::limits::{PARAMETERS_MAX, RESOLVED_BYTES_MAX, STEPS_MAX};

use super::program::{
    ArchivedOp, ArchivedParameterRow, ArchivedProgram, ArchivedSpan, ArchivedStepRow, ArchivedValueKind,
    ValueKind,
};
use super::resolve::{ResolvedStep, ResolvedText, StepPlace};
use super::values::{self, Choices, Rendered, Rules};

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The program contradicts itself: only a damaged or forged file can.
    Damaged(&'static str),
    /// The result would exceed its limit.
    TooLarge,
}

impl Fault {
    /// The fault in a few words.
    pub(crate) const fn detail(self) -> &'static str {
        match self {
            Self::Damaged(detail) => detail,
            Self::TooLarge => "the result is too large whatever the values are",
        }
    }
}

impl From<Fault> for ParameterProblem {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Damaged(detail) => Self::new("", "damaged_template")
                .expected(format!("a sound program, but: {detail}; run `repertoire verify`")),
            Fault::TooLarge => {
                let mut problem = Self::new("", "result_too_large").expected("shorter values");
                problem.maximum = Some(Number::from(RESOLVED_BYTES_MAX));
                problem
            }
        }
    }
}

/// A fault as the list that `resolve` answers.
pub(crate) fn listed(fault: Fault) -> Vec<ParameterProblem> {
    vec![fault.into()]
}

/// Problems listed at once for names that no parameter has.
const UNKNOWN_MAX: usize = 64;

/// A program and what reads it.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) program: &'a ArchivedProgram,
}

impl<'a> Run<'a> {
    /// Text of the pool.
    fn text(self, span: &ArchivedSpan) -> Result<&'a str, Fault> {
        let range = span.start.to_native() as usize..span.end.to_native() as usize;
        self.program.text.get(range).ok_or(Fault::Damaged("text out of range"))
    }

    /// A parameter's rules.
    fn rules<'r>(
        self,
        row: &'r ArchivedParameterRow,
        at: &'r dyn Fn(usize) -> &'r str,
    ) -> Result<Rules<'r>, Fault>
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

    fn choices(self, span: &ArchivedSpan) -> Result<&'a [ArchivedSpan], Fault> {
        let range = span.start.to_native() as usize..span.end.to_native() as usize;
        self.program.choices.get(range).ok_or(Fault::Damaged("choices out of range"))
    }

    /// Resolves with stand-ins for the parameters that are there, or with their defaults.
    pub(crate) fn trial(self, defaults: bool, there: impl Fn(usize) -> bool) -> Result<(), Fault> {
        let mut rendered = Vec::with_capacity(self.program.parameters.len());
        for (index, row) in self.program.parameters.iter().enumerate() {
            self.rules(row, &|_| "")?;
            let default =
                row.default.as_ref().filter(|_| defaults).map(|span| self.text(span)).transpose()?;
            rendered.push(match row.kind {
                _ if !there(index) => Rendered::Absent,
                ArchivedValueKind::String => Rendered::Quoted(default.unwrap_or("x")),
                ArchivedValueKind::Boolean => Rendered::Literal(Cow::Borrowed(default.unwrap_or("true"))),
                ArchivedValueKind::Integer | ArchivedValueKind::Number => {
                    Rendered::Literal(Cow::Borrowed(default.unwrap_or("-1")))
                }
            });
        }
        let size = self.size(&rendered)?;
        let text = self.write(&rendered, size)?;
        let steps: Vec<ResolvedStep> =
            serde_json::from_str(text.json()).map_err(|_| Fault::Damaged("the steps are no JSON"))?;
        if steps.len() == self.program.steps.len() && steps.iter().all(|step| step.args.is_object()) {
            Ok(())
        } else {
            Err(Fault::Damaged("not a list of steps"))
        }
    }

    /// Checks the given values and renders one for each parameter.
    pub(crate) fn values<'v>(
        self,
        values: &'v Map<String, Value>,
    ) -> Result<Vec<Rendered<'v>>, Vec<ParameterProblem>>
    where
        'a: 'v,
    {
        let rows = &self.program.parameters;
        if rows.len() > PARAMETERS_MAX || self.program.steps.len() > STEPS_MAX {
            return Err(listed(Fault::Damaged("too many rows")));
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
        let name = self.text(&row.name).map_err(listed)?;
        if let Some(value) = values.get(name) {
            *known += 1;
            let choices = row.choices.as_ref().map(|span| self.choices(span)).transpose().map_err(listed)?;
            let at = |index: usize| {
                choices
                    .and_then(|rows| rows.get(index))
                    .and_then(|span| self.text(span).ok())
                    .unwrap_or_default()
            };
            let rules = self.rules(row, &at).map_err(listed)?;
            return values::check(&rules, value);
        }
        match (row.default.as_ref(), &row.kind) {
            (Some(span), ArchivedValueKind::String) => self.text(span).map(Rendered::Quoted).map_err(listed),
            (Some(span), _) => {
                self.text(span).map(|text| Rendered::Literal(Cow::Borrowed(text))).map_err(listed)
            }
            (None, _) if row.required => {
                let rules = self.rules(row, &|_| "").map_err(listed)?;
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
            .map(|name| ParameterProblem::new(name, "unknown_parameter").expected(expected.as_str()))
            .collect()
    }

    /// Calls a function with each operation of a step that runs.
    fn each_op(
        self,
        step: &ArchivedStepRow,
        rendered: &[Rendered<'_>],
        mut act: impl FnMut(&ArchivedOp) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let range = step.ops.start.to_native() as usize..step.ops.end.to_native() as usize;
        let ops = self.program.ops.get(range).ok_or(Fault::Damaged("operations out of range"))?;
        let mut rest = ops.iter();
        while let Some(op) = rest.next() {
            if let ArchivedOp::Optional { parameter, ops } = op {
                let value = rendered
                    .get(parameter.to_native() as usize)
                    .ok_or(Fault::Damaged("no such parameter"))?;
                let skipped = ops.to_native() as usize;
                if skipped > rest.len() {
                    return Err(Fault::Damaged("a condition runs over its step"));
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
    pub(crate) fn size(self, rendered: &[Rendered<'_>]) -> Result<usize, Fault> {
        let mut size = 2_usize;
        let mut done = 0;
        for step in self.program.steps.iter() {
            // Steps follow each other in the list of operations, so the work is bounded by its length.
            if step.ops.start.to_native() < done || step.ops.end.to_native() < step.ops.start.to_native() {
                return Err(Fault::Damaged("steps out of order"));
            }
            done = step.ops.end.to_native();
            size += self.text(&step.tail)?.len() + 2;
            if size > RESOLVED_BYTES_MAX {
                return Err(Fault::TooLarge);
            }
            self.each_op(step, rendered, |op| {
                size += match op {
                    ArchivedOp::Raw(span) => self.text(span)?.len(),
                    ArchivedOp::Value(index) => value_at(rendered, index.to_native())?.value_len(),
                    ArchivedOp::Text(index) => value_at(rendered, index.to_native())?.text_len(),
                    ArchivedOp::Separator | ArchivedOp::Optional { .. } => 0,
                };
                if size > RESOLVED_BYTES_MAX { Err(Fault::TooLarge) } else { Ok(()) }
            })?;
        }
        Ok(size)
    }

    /// Writes the result.
    pub(crate) fn write(self, rendered: &[Rendered<'_>], size: usize) -> Result<ResolvedText, Fault> {
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
        if json.len() > RESOLVED_BYTES_MAX {
            Err(Fault::TooLarge)
        } else {
            Ok(ResolvedText::new(json, steps))
        }
    }

    fn is_secret(self, index: u16) -> bool {
        self.program.parameters.get(index as usize).is_some_and(|row| row.secret)
    }

    /// Whether the given values pass a step's cheap tests. Defaults passed them at ingest.
    pub(crate) fn guards_hold(self, step: &ArchivedStepRow, values: &Map<String, Value>) -> bool {
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

fn value_at<'r, 'v>(rendered: &'r [Rendered<'v>], index: u16) -> Result<&'r Rendered<'v>, Fault> {
    rendered.get(index as usize).ok_or(Fault::Damaged("no such parameter"))
}

/// Characters of a text, which is at most 64 KiB.
fn characters(text: &str) -> f64 {
    u32::try_from(text.chars().count()).map_or(f64::INFINITY, f64::from)
}
