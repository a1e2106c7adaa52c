//! What ingest does with a skill: templates parsed, tools resolved, every problem found.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::limits::{PARAMETERS_MAX, STEPS_MAX};
use crate::model::{Kind, Parameter, Risk, Skill, Step};
use crate::tools::{Allowlist, Permission, Resolved, ToolRegistry, canonical_args, pattern};

use super::check::{StepCheck, check_step};
use super::node::{Node, Reader, Writer};
use super::parse::Template;
use super::program::{Builder, Compiled, ParameterRow, Span, StepRow, offset};
use super::values::{self, Choices, Rendered, Rules, number_text, push_escaped};

/// Parses and checks a skill's templates and tool names. Template grammar errors, undefined placeholders, unknown
/// tools and literals that a schema refuses go to `unavailable`; nothing here fails.
///
/// The skill is expected to keep the rules of the model (`Skill::problems`); one that does not is told so, or is
/// unavailable, but nothing panics. Linear in the size of the skill.
#[must_use]
pub fn compile(skill: &Skill, registry: &ToolRegistry) -> Compiled {
    let mut compiled = Compiled::default();
    let allowed = declared(skill, registry, &mut compiled.unavailable);
    let mut risks: Vec<Risk> = Vec::new();
    let risk_of = |permission: &Permission| registry.get(permission.ordinal).map(|spec| spec.risk);
    risks.extend(allowed.iter().flatten().filter_map(risk_of));
    let mut permitted = allowed;
    if skill.kind == Kind::FlowTemplate {
        let steps = Flow { skill, registry }.compile(&mut compiled);
        risks.extend(steps.iter().filter_map(risk_of));
        if let Some(declared) = &permitted {
            warn_of_closed_steps(skill, registry, declared, &mut compiled.warnings);
        } else {
            let harmless =
                registry.harmless().filter_map(|spec| Permission::parse(&spec.name, registry, "").ok());
            permitted = Some(steps.into_iter().chain(harmless).collect());
        }
    }
    compiled.tool_risk = risks.into_iter().max();
    compiled.effective_tools = permitted.map(|permissions| effective(&permissions));
    compiled
}

/// The permissions that a skill declares; unknown names are problems.
fn declared(skill: &Skill, registry: &ToolRegistry, problems: &mut Vec<Problem>) -> Option<Vec<Permission>> {
    let entries = skill.allowed_tools.as_ref()?;
    let mut permissions = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        match Permission::parse(entry, registry, &format!("/allowed_tools/{index}")) {
            Ok(permission) => permissions.push(permission),
            Err(problem) => problems.push(*problem),
        }
    }
    Some(permissions)
}

/// Canonical names, sorted, each once; a part of a tool only where the tool is not permitted whole.
fn effective(permissions: &[Permission]) -> Vec<String> {
    let whole: BTreeSet<usize> =
        permissions.iter().filter(|entry| entry.fixed.is_empty()).map(|entry| entry.ordinal).collect();
    let names: BTreeSet<&str> = permissions
        .iter()
        .filter(|entry| entry.fixed.is_empty() || !whole.contains(&entry.ordinal))
        .map(Permission::name)
        .collect();
    names.into_iter().map(str::to_owned).collect()
}

/// A flow whose own allowlist closes one of its steps can be read, but not carried out.
fn warn_of_closed_steps(
    skill: &Skill,
    registry: &ToolRegistry,
    declared: &[Permission],
    warnings: &mut Vec<Problem>,
) {
    let list = Allowlist::new(declared);
    for (index, step) in skill.steps.iter().enumerate() {
        if registry.resolve(&step.tool).is_some_and(|resolved| !list.mentions(resolved.ordinal)) {
            let message = "the skill's allowed_tools do not permit this step";
            warnings.push(
                Problem::new("step_not_allowed", format!("/steps/{index}/tool"), message).got(&step.tool),
            );
        }
    }
}

struct Flow<'a> {
    skill: &'a Skill,
    registry: &'a ToolRegistry,
}

impl Flow<'_> {
    /// Compiles all steps; answers the permissions that they need.
    fn compile(&self, compiled: &mut Compiled) -> Vec<Permission> {
        let skill = self.skill;
        let problems = &mut compiled.unavailable;
        if skill.parameters.len() > PARAMETERS_MAX || skill.steps.len() > STEPS_MAX {
            let message = format!("a flow has at most {PARAMETERS_MAX} parameters and {STEPS_MAX} steps");
            problems.push(Problem::new("too_large", "", message));
            return Vec::new();
        }
        let mut builder = Builder::default();
        for (index, parameter) in skill.parameters.iter().enumerate() {
            let row = parameter_row(parameter, &mut builder);
            builder.program.parameters.push(row);
            check_parameter(parameter, &format!("/parameters/{index}"), problems);
        }
        let mut reader = Reader {
            parameters: &skill.parameters,
            used: vec![false; skill.parameters.len()],
            problems: Vec::new(),
        };
        let mut permissions = Vec::new();
        for (index, step) in skill.steps.iter().enumerate() {
            self.step(index, step, &mut reader, &mut builder, &mut permissions);
        }
        let Reader { used, problems: found, .. } = reader;
        problems.extend(found);
        for (index, _) in used.iter().enumerate().filter(|(_, used)| !**used) {
            let message = "no step uses this parameter";
            compiled.warnings.push(Problem::new("unused_parameter", format!("/parameters/{index}"), message));
        }
        if compiled.unavailable.is_empty() {
            builder.program.registry = self.registry.fingerprint();
            compiled.program = builder.program;
        }
        permissions
    }

    fn step(
        &self,
        index: usize,
        step: &Step,
        reader: &mut Reader<'_>,
        builder: &mut Builder,
        permissions: &mut Vec<Permission>,
    ) {
        let pointer = format!("/steps/{index}/args_template");
        let tool = format!("/steps/{index}/tool");
        let resolved = match self.registry.require(&step.tool, &tool) {
            Ok(resolved) => resolved,
            Err(problem) => {
                reader.problems.push(*problem);
                // The placeholders are looked at all the same: everything wrong is told at once.
                reader.arguments(&step.args_template, &pointer);
                return;
            }
        };
        permissions.extend(Permission::parse(&step.tool, self.registry, &tool));
        let fixed = escaped(resolved.fixed);
        let resolved = Resolved { fixed: &fixed, ..resolved };
        let (args, conflicts) = canonical_args(&resolved, &step.args_template, &pointer);
        reader.problems.extend(conflicts);
        let nodes = reader.arguments(&args, &pointer);
        let check = check_step(resolved.spec, &nodes, reader.parameters, &pointer);
        reader.problems.extend(check.problems.iter().cloned());
        write_step(step, &resolved.spec.name, &nodes, &check, reader.parameters, builder);
    }
}

/// Appends a step to the program.
fn write_step(
    step: &Step,
    tool: &str,
    nodes: &[(String, Node)],
    check: &StepCheck,
    parameters: &[Parameter],
    builder: &mut Builder,
) {
    let first = builder.begin_step();
    let mut name = String::new();
    push_escaped(tool, &mut name);
    let (before, between) = ("{\"tool\":\"", "\",\"args\":");
    builder.raw(before);
    builder.raw(&name);
    builder.raw(between);
    Writer { builder, parameters }.object(nodes);
    let ops = Span { start: first, end: offset(builder.program.ops.len()) };
    let guards = Span {
        start: offset(builder.program.guards.len()),
        end: offset(builder.program.guards.len() + check.guards.len()),
    };
    builder.program.guards.extend(&check.guards);
    let mut tail = String::new();
    if let Some(note) = &step.note {
        tail.push_str(",\"note\":\"");
        push_escaped(note, &mut tail);
        tail.push('"');
    }
    if step.optional {
        tail.push_str(",\"optional\":true");
    }
    let tail = builder.text(&tail);
    let tool_start = offset(before.len());
    let tool_end = tool_start + offset(name.len());
    let args_start = tool_end + offset(between.len());
    builder.program.steps.push(StepRow {
        ops,
        guards,
        tail,
        tool_start,
        tool_end,
        args_start,
        recheck: check.recheck,
    });
}

/// Fixed arguments as templates: their braces are literal.
fn escaped(fixed: &Map<String, Value>) -> Map<String, Value> {
    fn escape(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(Template::escape(text)),
            Value::Array(items) => items.iter().map(escape).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), escape(value))).collect()
            }
            other => other.clone(),
        }
    }
    fixed.iter().map(|(name, value)| (name.clone(), escape(value))).collect()
}

fn parameter_row(parameter: &Parameter, builder: &mut Builder) -> ParameterRow {
    let default = parameter.default.as_ref().map(|value| {
        let mut text = String::new();
        with_rules(parameter, |rules| {
            // A default that breaks the rules is a problem of its own; the program is then thrown away.
            if let Ok(rendered) = values::check(rules, value) {
                rendered.push_text(&mut text);
            }
        });
        builder.text(&text)
    });
    let choices = parameter.choices.as_ref().map(|choices| {
        let start = offset(builder.program.choices.len());
        for choice in choices {
            let span = builder.text(&choice_text(choice));
            builder.program.choices.push(span);
        }
        Span { start, end: offset(builder.program.choices.len()) }
    });
    ParameterRow {
        name: builder.text(&parameter.name),
        description: builder.text(&parameter.description),
        kind: parameter.kind.into(),
        required: parameter.required,
        secret: parameter.secret,
        default,
        choices,
        pattern: parameter.pattern.as_ref().map(|pattern| builder.text(pattern)),
        minimum: parameter.minimum,
        maximum: parameter.maximum,
        min_length: parameter.min_length,
        max_length: parameter.max_length,
    }
}

/// A choice in the form in which values are compared with it.
fn choice_text(choice: &Value) -> String {
    match choice {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number),
        other => other.to_string(),
    }
}

/// Hands the rules of a parameter of the model to a check.
fn with_rules(parameter: &Parameter, check: impl FnOnce(&Rules<'_>)) {
    let texts: Option<Vec<String>> =
        parameter.choices.as_ref().map(|choices| choices.iter().map(choice_text).collect());
    let at = |index: usize| texts.as_ref().and_then(|texts| texts.get(index)).map_or("", String::as_str);
    check(&Rules {
        name: &parameter.name,
        description: &parameter.description,
        kind: parameter.kind.into(),
        secret: parameter.secret,
        choices: texts.as_ref().map(|texts| Choices { count: texts.len(), at: &at }),
        pattern: parameter.pattern.as_deref(),
        minimum: parameter.minimum,
        maximum: parameter.maximum,
        min_length: parameter.min_length,
        max_length: parameter.max_length,
    });
}

/// A pattern that compiles, and a default that the parameter itself would accept.
fn check_parameter(parameter: &Parameter, pointer: &str, problems: &mut Vec<Problem>) {
    if let Some(wanted) = &parameter.pattern
        && let Err(message) = pattern::compiled(wanted)
    {
        let problem = Problem::new("pattern_invalid", format!("{pointer}/pattern"), message);
        problems.push(problem.got(wanted));
        return;
    }
    let Some(default) = &parameter.default else { return };
    with_rules(parameter, |rules| {
        let refused: Vec<String> = match values::check(rules, default) {
            // Strings that parse are for callers; an author writes the value itself.
            Ok(Rendered::Literal(_)) if default.is_string() => vec!["wrong type".to_owned()],
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(ToString::to_string).collect(),
        };
        if !refused.is_empty() {
            let message = format!("the default breaks the parameter's own rules: {}", refused.join("; "));
            problems.push(Problem::new("default_invalid", format!("{pointer}/default"), message));
        }
    });
}
