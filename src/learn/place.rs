//! Places in arguments: where a leaf stands, and which leaves only say where on the screen something was.

use serde_json::{Map, Value};

use crate::tools::ToolRegistry;
use crate::tools::schema::push_member;

/// The leaves of arguments with their JSON pointers, in order. An empty list or object is a leaf.
pub(crate) fn leaves(args: &Map<String, Value>) -> Vec<(String, Value)> {
    fn walk(value: &Value, pointer: &mut String, out: &mut Vec<(String, Value)>) {
        let end = pointer.len();
        match value {
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    push_member(pointer, &index.to_string());
                    walk(item, pointer, out);
                    pointer.truncate(end);
                }
            }
            Value::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    push_member(pointer, name);
                    walk(member, pointer, out);
                    pointer.truncate(end);
                }
            }
            leaf => out.push((pointer.clone(), leaf.clone())),
        }
    }
    let mut out = Vec::new();
    for (name, value) in args {
        let mut pointer = String::new();
        push_member(&mut pointer, name);
        walk(value, &mut pointer, &mut out);
    }
    out
}

/// Puts a value at a pointer that is there. Answers false if it is not.
pub(crate) fn put(args: &mut Map<String, Value>, pointer: &str, value: Value) -> bool {
    let Some((name, rest)) = split(pointer) else { return false };
    let Some(place) = args.get_mut(&name).and_then(|arg| arg.pointer_mut(rest)) else { return false };
    *place = value;
    true
}

/// The first member of a pointer, and the rest.
pub(crate) fn split(pointer: &str) -> Option<(String, &str)> {
    let inner = pointer.strip_prefix('/')?;
    let end = inner.find('/').unwrap_or(inner.len());
    Some((inner[..end].replace("~1", "/").replace("~0", "~"), &inner[end..]))
}

/// The member that a pointer ends with and that is no index; empty if there is none.
pub(crate) fn key(pointer: &str) -> String {
    let members = pointer.rsplit('/').map(|member| member.replace("~1", "/").replace("~0", "~"));
    members.into_iter().find(|member| !member.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or_default()
}

/// Whether a leaf only says where on the screen a call acted: coordinates and bounds, and an index into a description
/// of the screen, which nobody has any more.
pub(crate) fn is_position(
    tool: &str,
    args: &Map<String, Value>,
    pointer: &str,
    value: &Value,
    registry: &ToolRegistry,
) -> bool {
    let numeric = match value {
        Value::Number(_) => true,
        Value::String(text) => is_numeric(text),
        _ => false,
    };
    let (Some((first, _)), last) = (split(pointer), key(pointer)) else { return false };
    let last = last.to_ascii_lowercase();
    if last == "bounds" {
        return numeric;
    }
    if numeric && is_axis(&last) {
        return true;
    }
    if numeric
        && matches!(last.as_str(), "coordinate" | "coordinates" | "point" | "start_point" | "end_point")
    {
        return true;
    }
    let name = match registry.resolve(tool) {
        Some(resolved) => {
            let name = resolved.spec.argument_name(&first);
            if resolved.spec.argument("snapshot").is_none() && !args.contains_key("snapshot") {
                return false;
            }
            name
        }
        None if args.contains_key("snapshot") || args.contains_key("snapshot_id") => first.as_str(),
        None => return false,
    };
    matches!(name, "snapshot" | "snapshot_id" | "index") || name.ends_with("_index")
}

/// `x`, `y2`, `start_x`, `xEnd`-like names are those of a coordinate.
fn is_axis(name: &str) -> bool {
    let axis = |part: &str| {
        let mut bytes = part.bytes();
        matches!(bytes.next(), Some(b'x' | b'y')) && bytes.all(|byte| byte.is_ascii_digit())
    };
    axis(name)
        || name.rsplit_once('_').is_some_and(|(_, end)| axis(end))
        || name
            .split_once('_')
            .is_some_and(|(begin, end)| axis(begin) && matches!(end, "start" | "end" | "from" | "to"))
}

/// Numbers with commas, perhaps in brackets.
fn is_numeric(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b" ,.[]()-".contains(&byte))
}
