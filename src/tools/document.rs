//! `docs/tools.md`, written from the table.

use std::fmt::Write as _;

use serde_json::Value;

use crate::tools::schema::plain;
use crate::tools::{Constraint, ToolRegistry, ToolSpec};

/// Text before the table.
const HEAD: &str = "# Tools

This page is written from `src/tools/builtin.json`; a test keeps the two equal (`UPDATE_GOLDEN=1` writes it anew).

Every name and every alias works in skills, in flow templates, in allowlists and in calls. An alias with fixed arguments
(`press_back`) stands for its tool with just those arguments, also where it is an entry of `allowed_tools`. Arguments may
be written under their other names. An argument that no tool declares is refused.

Risk: observing and waiting is low; touching, typing, launching and scrolling medium; stopping an app high.

## A tool file

`[tools] file` names a JSON file that extends this table: `{\"tools\": [...]}` with tools in the form of the table (`name`,
`aliases`, `summary`, `parameters`, `argument_aliases`, `constraints`, `effect`, `risk`), or the answer of any MCP server
to `tools/list`, where `readOnlyHint` makes a tool observing at low risk, `destructiveHint` high, and silence medium. A tool
of the file replaces the one that has its name or alias; all others stay.

Argument schemas are checked with this subset of JSON Schema: `type`, `enum`, `const`, `minimum`, `maximum`,
`exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`, `pattern` (linear-time regular expressions), `minItems`,
`maxItems`, `items`, `properties`, `required`, `additionalProperties`, `anyOf`, `oneOf`, `allOf`. Other keywords are ignored.

Rules between arguments (`constraints`): `exactly_one`, `at_least_one`, `at_most_one`, `together` (all or none), `needs` (an
argument that only goes with others) and `not_above` (of two numbers).

## The table

| tool | aliases | effect | risk |
| --- | --- | --- | --- |
";

/// The page about the tools of a registry.
#[must_use]
pub fn markdown(registry: &ToolRegistry) -> String {
    let mut page = HEAD.to_owned();
    for spec in registry.specs() {
        let aliases: Vec<String> = spec
            .aliases
            .iter()
            .map(|alias| {
                let fixed = alias.fixed.iter().map(|(name, value)| format!(" {name}={}", plain(value)));
                format!("`{}`{}", alias.name, fixed.collect::<String>())
            })
            .collect();
        let (effect, risk) = (spec.effect.name(), risk_name(spec));
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| [{0}](#{0}) | {1} | {effect} | {risk} |", spec.name, aliases.join(", "));
    }
    for spec in registry.specs() {
        tool(spec, &mut page);
    }
    page
}

fn risk_name(spec: &ToolSpec) -> String {
    serde_json::to_value(spec.risk).map(|risk| plain(&risk)).unwrap_or_default()
}

/// One tool's section.
fn tool(spec: &ToolSpec, page: &mut String) {
    let _ = write!(page, "\n## {}\n\n{}\n\n", spec.name, spec.summary);
    let _ = writeln!(page, "| argument | other names | form |\n| --- | --- | --- |");
    let required: Vec<&str> = spec
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, schema) in spec.parameters.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let others: Vec<String> = spec
            .argument_aliases
            .iter()
            .filter(|(_, canonical)| canonical.as_str() == Some(name))
            .map(|(alias, _)| format!("`{alias}`"))
            .collect();
        let mark = if required.contains(&name.as_str()) { " (required)" } else { "" };
        let _ = writeln!(page, "| `{name}`{mark} | {} | {} |", others.join(", "), form(schema));
    }
    if !spec.constraints.is_empty() {
        page.push('\n');
        for rule in &spec.constraints {
            let _ = writeln!(page, "* {}", rule_text(rule));
        }
    }
}

/// A schema in words.
fn form(schema: &Value) -> String {
    let mut words = Vec::new();
    if let Some(found) = schema.get("type") {
        words.push(plain(found));
    }
    if let Some(Value::Array(options)) = schema.get("anyOf") {
        words.push(options.iter().map(form).collect::<Vec<_>>().join(", or "));
    }
    if let Some(Value::Array(choices)) = schema.get("enum") {
        words.push(choices.iter().map(plain).collect::<Vec<_>>().join(", "));
    }
    for (keyword, word) in [
        ("minimum", "from"),
        ("exclusiveMinimum", "above"),
        ("maximum", "to"),
        ("minLength", "characters from"),
        ("maxLength", "characters to"),
        ("pattern", "like"),
        ("default", "default"),
    ] {
        if let Some(value) = schema.get(keyword) {
            words.push(format!("{word} `{}`", plain(value).replace('|', "\\|")));
        }
    }
    if let Some(Value::String(text)) = schema.get("description") {
        words.push(text.clone());
    }
    words.join("; ")
}

fn rule_text(rule: &Constraint) -> String {
    let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match rule {
        Constraint::ExactlyOne { of } => format!("exactly one of {}", list(of)),
        Constraint::AtLeastOne { of } => format!("at least one of {}", list(of)),
        Constraint::AtMostOne { of } => format!("only one of {}", list(of)),
        Constraint::Together { of } => format!("{} all together or not at all", list(of)),
        Constraint::Needs { argument, of } => format!("`{argument}` only with {}", list(of)),
        Constraint::NotAbove { lower, upper } => format!("`{lower}` is not above `{upper}`"),
    }
}
