//! The JSON Schemas of the tools: flat draft 2020-12, written so that every client's validator takes them.
//!
//! No `$ref` or `$defs`, no unions at the root, no `null` types, no `format`: hosts turn these schemas into their
//! model's own tool format, and each of those has stumbled over one of them.

use serde_json::{Map, Value, json};

use crate::mcp::table::{Argument, ArgumentKind};

/// The input schema of a tool.
pub(super) fn input(arguments: &[Argument]) -> Map<String, Value> {
    let mut properties = Map::new();
    for argument in arguments {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(argument.kind.type_name()));
        schema.insert("description".to_owned(), json!(argument.description));
        match argument.kind {
            ArgumentKind::Choice { allowed } => {
                schema.insert("enum".to_owned(), json!(allowed));
            }
            ArgumentKind::Count { minimum, maximum, default } => {
                schema.insert("minimum".to_owned(), json!(minimum));
                schema.insert("maximum".to_owned(), json!(maximum));
                schema.insert("default".to_owned(), json!(default));
            }
            ArgumentKind::Text { .. } | ArgumentKind::Object => {}
        }
        properties.insert(argument.name.to_owned(), Value::Object(schema));
    }
    let required: Vec<_> =
        arguments.iter().filter(|argument| argument.required).map(|argument| argument.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// Output of `list_skills`.
pub(super) fn list_output() -> Value {
    output(
        json!({
            "skills": {"type": "array", "items": row(&json!({}))},
            "total": {"type": "integer", "description": "skills that pass the filter"},
            "next_cursor": {"type": "string", "description": "absent on the last page"}
        }),
        &["skills", "total"],
    )
}

/// Output of `search_skills`.
pub(super) fn search_output() -> Value {
    let ranked = json!({
        "score": {"type": "number", "description": "comparable within this answer"},
        "why": {"type": "array", "description": "fields and words that matched", "items": {"type": "object"}}
    });
    output(
        json!({
            "skills": {"type": "array", "description": "best first", "items": row(&ranked)},
            "total": {"type": "integer"}
        }),
        &["skills", "total"],
    )
}

/// Output of `match_skill`.
pub(super) fn match_output() -> Value {
    output(
        json!({
            "matched": {"type": "boolean"},
            "skill": row(&json!({})),
            "confidence": {"type": "number", "description": "0 to 1"},
            "reason": {"type": "string"},
            "exact_command": {"type": "object", "description": "one tool call that does it without a skill"},
            "candidates": {"type": "array", "description": "ids that came close", "items": {"type": "string"}}
        }),
        &["matched", "confidence", "reason"],
    )
}

/// Output of `get_skill`.
pub(super) fn get_output() -> Value {
    output(
        json!({
            "skill": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "kind": {"type": "string"},
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "content": {"type": "string", "description": "knowledge: markdown"},
                    "parameters": {"type": "array", "items": {"type": "object"}},
                    "steps": {"type": "array", "items": {"type": "object"}}
                },
                "required": ["id", "kind", "name", "description"]
            }
        }),
        &["skill"],
    )
}

/// Output of `resolve_skill`.
pub(super) fn resolve_output() -> Value {
    output(
        json!({
            "id": {"type": "string"},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "tool": {"type": "string"},
                        "args": {"type": "object"},
                        "note": {"type": "string"},
                        "optional": {"type": "boolean"},
                        "secret": {"type": "boolean"}
                    },
                    "required": ["tool", "args"]
                }
            }
        }),
        &["id", "steps"],
    )
}

/// An answer with `state` beside its own members.
fn output(properties: Value, required: &[&str]) -> Value {
    let mut all = Map::new();
    all.insert("state".to_owned(), json!({"type": "string", "description": "of the sync"}));
    if let Value::Object(properties) = properties {
        all.extend(properties);
    }
    let required: Vec<_> = std::iter::once("state").chain(required.iter().copied()).collect();
    json!({"type": "object", "properties": all, "required": required})
}

/// One skill in a list, with the members that a ranking adds.
fn row(more: &Value) -> Value {
    let mut properties = Map::new();
    for name in ["id", "name", "description", "kind"] {
        properties.insert(name.to_owned(), json!({"type": "string"}));
    }
    properties.insert("tags".to_owned(), json!({"type": "array", "items": {"type": "string"}}));
    for name in ["risk", "effective_risk"] {
        properties.insert(name.to_owned(), json!({"type": "string"}));
    }
    if let Value::Object(more) = more {
        properties.extend(more.clone());
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["id", "name", "description", "kind", "tags", "risk"]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MCP_TOOL_LIST_BYTES_MAX;
    use crate::mcp::table::TOOLS;

    /// What the query tools may take of the budget that all tools share.
    const QUERY_TOOLS_BYTES_MAX: usize = MCP_TOOL_LIST_BYTES_MAX / 3;

    fn walk(schema: &Value, at: &str, found: &mut Vec<String>) {
        match schema {
            Value::Object(members) => {
                for (name, value) in members {
                    let at = format!("{at}/{name}");
                    let forbidden =
                        ["$ref", "$defs", "definitions", "oneOf", "anyOf", "allOf", "format", "not"];
                    if forbidden.contains(&name.as_str())
                        || (name == "type" && !(value.is_string() || value.is_object()))
                    {
                        found.push(at.clone());
                    }
                    if name == "type" && value == "null" {
                        found.push(at.clone());
                    }
                    walk(value, &at, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, at, found)),
            _ => {}
        }
    }

    #[test]
    fn no_schema_holds_what_clients_stumble_over() {
        for tool in TOOLS {
            for schema in [Value::Object(tool.input_schema()), Value::Object(tool.output_schema())] {
                let mut found = Vec::new();
                walk(&schema, tool.name, &mut found);
                assert_eq!(found, Vec::<String>::new());
                assert_eq!(schema["type"], "object", "{}", tool.name);
                let properties = schema["properties"].as_object().expect("properties");
                for required in schema["required"].as_array().into_iter().flatten() {
                    assert!(
                        properties.contains_key(required.as_str().expect("a name")),
                        "{}: {required}",
                        tool.name
                    );
                }
            }
        }
    }

    #[test]
    fn the_walk_finds_what_it_looks_for() {
        let bad = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"$ref": "#/x"}}});
        let mut found = Vec::new();
        walk(&bad, "", &mut found);
        assert_eq!(found, ["/properties/a/type", "/properties/b/$ref"]);
    }

    #[test]
    fn the_query_tools_leave_room_in_the_budget_of_the_tool_list() {
        let bytes: usize = TOOLS
            .iter()
            .map(|tool| {
                tool.description.len()
                    + tool.title.len()
                    + json!(tool.input_schema()).to_string().len()
                    + json!(tool.output_schema()).to_string().len()
            })
            .sum();
        assert!(bytes <= QUERY_TOOLS_BYTES_MAX, "{bytes} bytes");
    }
}
