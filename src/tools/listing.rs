//! Reads a tool file: our own table form, or what any MCP server answers to `tools/list`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::limits::{REGISTRY_BYTES_MAX, REGISTRY_TOOLS_MAX, SCHEMA_DEPTH_MAX, TOOL_NAME_CHARS_MAX};
use crate::model::Risk;
use crate::tools::schema::{check_value, push_member};
use crate::tools::{Effect, ToolAlias, ToolSpec};

/// Most problems that a tool file is told at once.
const PROBLEMS_MAX: usize = 256;

/// The tools of a JSON text.
///
/// # Errors
/// Every problem at once: not JSON, no tool list, a tool that breaks a rule, a name used twice, a limit exceeded.
pub(crate) fn read(text: &str) -> Result<Vec<ToolSpec>, Vec<Problem>> {
    if text.len() as u64 > REGISTRY_BYTES_MAX {
        let message = format!("a tool file has at most {REGISTRY_BYTES_MAX} bytes");
        return Err(vec![Problem::new("too_large", "", message).got(text.len())]);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let problem = Problem::new("json_invalid", "", format!("not JSON: {error}"));
        vec![problem.at(place(error.line()), place(error.column()))]
    })?;
    let (prefix, entries) = entries(&value).ok_or_else(|| {
        let message = "expected {\"tools\": [...]}, an array of tools, or the answer to an MCP tools/list";
        vec![Problem::new("missing_field", "/tools", message)]
    })?;
    if entries.len() > REGISTRY_TOOLS_MAX {
        let message = format!("a tool file has at most {REGISTRY_TOOLS_MAX} tools");
        return Err(vec![Problem::new("too_many_items", prefix, message).got(entries.len())]);
    }
    let mut problems = Vec::new();
    let mut specs = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let pointer = format!("{prefix}/{index}");
        if let Some(spec) = read_tool(entry, &pointer, &mut problems) {
            check_tool(&spec, &pointer, &mut problems);
            specs.push((pointer, spec));
        }
    }
    check_names(&specs, &mut problems);
    problems.truncate(PROBLEMS_MAX);
    if problems.is_empty() { Ok(specs.into_iter().map(|(_, spec)| spec).collect()) } else { Err(problems) }
}

/// The array of tools in any of the accepted forms, with its pointer.
fn entries(value: &Value) -> Option<(&'static str, &[Value])> {
    if let Value::Array(entries) = value {
        return Some(("", entries));
    }
    [
        ("/tools", value.get("tools")),
        ("/result/tools", value.get("result").and_then(|result| result.get("tools"))),
    ]
    .into_iter()
    .find_map(|(pointer, found)| Some((pointer, found?.as_array()?.as_slice())))
}

/// One tool of either form; `None` if problems were found that leave nothing to check further.
fn read_tool(entry: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Option<ToolSpec> {
    let Value::Object(members) = entry else {
        problems.push(Problem::new("wrong_type", pointer, "a tool is a JSON object"));
        return None;
    };
    if members.contains_key("inputSchema") {
        return read_mcp(members, pointer, problems);
    }
    // Each member is read by itself, so that every wrong one is told.
    let before = problems.len();
    let spec = ToolSpec {
        name: member(members, "name", None, pointer, problems).unwrap_or_default(),
        aliases: member(members, "aliases", Some(Vec::new()), pointer, problems).unwrap_or_default(),
        summary: member(members, "summary", None, pointer, problems).unwrap_or_default(),
        parameters: member(members, "parameters", None, pointer, problems).unwrap_or_default(),
        argument_aliases: member(members, "argument_aliases", Some(Map::new()), pointer, problems)
            .unwrap_or_default(),
        constraints: member(members, "constraints", Some(Vec::new()), pointer, problems).unwrap_or_default(),
        effect: member(members, "effect", None, pointer, problems).unwrap_or(Effect::Mutate),
        risk: member(members, "risk", None, pointer, problems).unwrap_or(Risk::High),
    };
    (problems.len() == before).then_some(spec)
}

/// One member of a tool, or the problem with it; `default` makes it optional.
fn member<T: for<'de> serde::Deserialize<'de>>(
    members: &Map<String, Value>,
    name: &str,
    default: Option<T>,
    pointer: &str,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let field = format!("{pointer}/{name}");
    match members.get(name) {
        None if default.is_some() => default,
        None => {
            problems.push(Problem::new("missing_field", field, "required in a tool"));
            None
        }
        Some(value) => match T::deserialize(value) {
            Ok(read) => Some(read),
            Err(error) => {
                problems.push(Problem::new("wrong_type", field, error.to_string()));
                None
            }
        },
    }
}

/// A tool of an MCP server. `readOnlyHint` makes it observing and low, `destructiveHint` high; a tool that says nothing
/// changes something at medium risk.
fn read_mcp(members: &Map<String, Value>, pointer: &str, problems: &mut Vec<Problem>) -> Option<ToolSpec> {
    let before = problems.len();
    let name = member(members, "name", None, pointer, problems).unwrap_or_default();
    let summary = member(members, "description", Some(String::new()), pointer, problems).unwrap_or_default();
    let parameters = member(members, "inputSchema", None, pointer, problems).unwrap_or_default();
    let hint =
        |name: &str| members.get("annotations").and_then(|hints| hints.get(name)).and_then(Value::as_bool);
    let (effect, risk) = match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), _) => (Effect::Observe, Risk::Low),
        (_, Some(true)) => (Effect::Mutate, Risk::High),
        _ => (Effect::Mutate, Risk::Medium),
    };
    (problems.len() == before).then(|| ToolSpec {
        name,
        aliases: Vec::new(),
        summary,
        parameters,
        argument_aliases: Map::new(),
        constraints: Vec::new(),
        effect,
        risk,
    })
}

/// The rules that types do not hold.
fn check_tool(spec: &ToolSpec, pointer: &str, problems: &mut Vec<Problem>) {
    check_name(&spec.name, &format!("{pointer}/name"), problems);
    let schema = format!("{pointer}/parameters");
    if spec.parameters.get("type").and_then(Value::as_str) != Some("object") {
        let message = "the schema of the arguments is an object with \"type\": \"object\"";
        problems.push(Problem::new("wrong_type", schema.as_str(), message));
    }
    if spec.parameters.get("properties").is_some_and(|properties| !properties.is_object()) {
        problems.push(Problem::new("wrong_type", format!("{schema}/properties"), "expected an object"));
    }
    if depth(&spec.parameters) > 2 * SCHEMA_DEPTH_MAX {
        let message = format!("a schema nests at most {} deep", 2 * SCHEMA_DEPTH_MAX);
        problems.push(Problem::new("too_deep", schema, message));
    }
    for (index, alias) in spec.aliases.iter().enumerate() {
        let field = format!("{pointer}/aliases/{index}");
        check_name(&alias.name, &format!("{field}/name"), problems);
        for (name, value) in &alias.fixed {
            let mut place = format!("{field}/fixed");
            push_member(&mut place, name);
            match spec.argument(name) {
                Some(schema) => problems.extend(check_value(schema, value, &place)),
                None => {
                    problems.push(Problem::new("unknown_argument", place, "the tool has no such argument"));
                }
            }
        }
    }
    for (alias, canonical) in &spec.argument_aliases {
        let mut place = format!("{pointer}/argument_aliases");
        push_member(&mut place, alias);
        if spec.argument(alias).is_some() {
            let message = "an argument of that name exists; an alias needs a name of its own";
            problems.push(Problem::new("duplicate_key", place, message));
        } else if canonical.as_str().is_none_or(|name| spec.argument(name).is_none()) {
            let message = "an alias leads to the name of an argument";
            problems.push(Problem::new("unknown_argument", place, message).got(canonical));
        }
    }
    for (index, rule) in spec.constraints.iter().enumerate() {
        for name in rule.arguments().filter(|name| spec.argument(name).is_none()) {
            let field = format!("{pointer}/constraints/{index}");
            problems.push(
                Problem::new("unknown_argument", field, "the rule names an unknown argument").got(name),
            );
        }
    }
}

fn check_name(name: &str, pointer: &str, problems: &mut Vec<Problem>) {
    let sound = |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
    if name.is_empty() || name.len() > TOOL_NAME_CHARS_MAX || !name.chars().all(sound) {
        let message =
            format!("a tool name has 1-{TOOL_NAME_CHARS_MAX} ASCII letters, digits, '_', '-', '.' or '/'");
        problems.push(Problem::new("unsafe_name", pointer, message).got(name));
    }
}

/// A name leads to one tool.
fn check_names(specs: &[(String, ToolSpec)], problems: &mut Vec<Problem>) {
    let mut seen = HashSet::new();
    for (pointer, spec) in specs {
        for name in names(spec) {
            if !seen.insert(name) {
                let message = "another tool of this file has that name already";
                problems.push(Problem::new("duplicate_key", pointer.as_str(), message).got(name));
            }
        }
    }
}

/// Canonical name and aliases.
fn names(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    std::iter::once(spec.name.as_str()).chain(spec.aliases.iter().map(|alias| alias.name.as_str()))
}

/// Nesting of a value. JSON text is at most 128 deep by its reader, so this recursion is bounded.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Joins a table and the tools that extend it; the rules are told at `ToolRegistry::with_json`.
pub(crate) fn merge(base: &[ToolSpec], added: Vec<ToolSpec>) -> Vec<ToolSpec> {
    let claimed: HashMap<String, usize> = added
        .iter()
        .enumerate()
        .flat_map(|(index, spec)| names(spec).map(move |name| (name.to_owned(), index)))
        .collect();
    let mut added: Vec<Option<ToolSpec>> = added.into_iter().map(Some).collect();
    let mut merged: Vec<ToolSpec> = Vec::with_capacity(base.len() + added.len());
    let mut placed: HashMap<usize, usize> = HashMap::new();
    for old in base {
        let mut left = old.clone();
        left.aliases.retain(|alias| !claimed.contains_key(&alias.name));
        // An alias with fixed arguments names a part of a tool: taking it leaves the tool itself alone.
        let plain = old.aliases.iter().filter(|alias| alias.fixed.is_empty()).map(|alias| &alias.name);
        let Some(&index) = std::iter::once(&old.name).chain(plain).find_map(|name| claimed.get(name)) else {
            merged.push(left);
            continue;
        };
        if let Some(mut new) = added.get_mut(index).and_then(Option::take) {
            inherit(&mut new, left, !claimed.contains_key(&old.name));
            placed.insert(index, merged.len());
            merged.push(new);
        } else if let Some(new) = placed.get(&index).and_then(|place| merged.get_mut(*place)) {
            inherit(new, left, !claimed.contains_key(&old.name));
        }
    }
    merged.extend(added.into_iter().flatten());
    merged
}

/// Gives a replacement the names of what it replaces, as far as they make sense with its own schema. Rules between
/// arguments are not inherited: another server's tool of the same name has rules of its own.
fn inherit(new: &mut ToolSpec, old: ToolSpec, name_is_free: bool) {
    let plain = name_is_free.then(|| ToolAlias { name: old.name, fixed: Map::new() });
    for alias in plain.into_iter().chain(old.aliases) {
        let fits = alias.fixed.iter().all(|(name, value)| {
            new.argument(name).is_some_and(|schema| check_value(schema, value, "").is_empty())
        });
        if fits {
            new.aliases.push(alias);
        }
    }
    for (alias, canonical) in old.argument_aliases {
        let leads = canonical.as_str().is_some_and(|name| new.argument(name).is_some());
        if leads && new.argument(&alias).is_none() && !new.argument_aliases.contains_key(&alias) {
            new.argument_aliases.insert(alias, canonical);
        }
    }
}
