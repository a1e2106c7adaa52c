//! The `SKILL.md` that hosts of the MCP Skills extension fetch: the file as it was written where it conforms, else one
//! made from the skill, whose bytes depend on nothing but the skill: a host keeps its user's approval by their digest.

use serde_json::{Map, Value, json};

use crate::import::export::{flow, quoted};
use crate::import::fence::{Cut, split};
use crate::import::fields::looks_typed;
use crate::import::front::Front;
use crate::import::tree::{Node, Value as Yaml};
use crate::limits::{SERVED_DESCRIPTION_CHARS_MAX, SERVED_NAME_CHARS_MAX};
use crate::model::{Kind, Skill};

/// A file to serve, with its front matter as JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Served {
    /// The file.
    pub(crate) text: String,
    /// `name` and `description`, which every file has, and the rest of its front matter.
    pub(crate) front: Map<String, Value>,
}

/// The name under which a skill is served: the last segment of its id. `None` where the standard does not allow it:
/// such a skill is reached by the tools only.
pub(crate) fn served_name(id: &str) -> Option<&str> {
    let name = id.rsplit('/').next()?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let conforms = name.len() <= SERVED_NAME_CHARS_MAX
        && name.split('-').all(|part| !part.is_empty() && part.chars().all(plain));
    conforms.then_some(name)
}

/// The file of a skill; `None` as [`served_name`]. `source` is the file that it was imported from.
pub(crate) fn served(skill: &Skill, source: Option<&[u8]>) -> Option<Served> {
    let name = served_name(&skill.id)?;
    Some(source.and_then(|bytes| verbatim(name, bytes)).unwrap_or_else(|| generated(name, skill)))
}

/// The file as it was written, if its front matter says `name` and means the same to every YAML reader.
fn verbatim(name: &str, bytes: &[u8]) -> Option<Served> {
    let text = std::str::from_utf8(bytes).ok()?;
    if !text.starts_with("---\n") || text.contains('\r') {
        return None;
    }
    let Ok(Cut::Front(cut)) = split(text) else { return None };
    let mut read = Front::read(&cut).ok()?;
    if !read.warnings.is_empty() || !read.problems.is_empty() {
        return None;
    }
    let mut front = Map::new();
    for (key, node) in read.rest() {
        if key.is_empty() || looks_typed(&key) {
            return None;
        }
        front.insert(key, plain_json(&node)?);
    }
    let described = front
        .get("description")
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty() && text.chars().count() <= SERVED_DESCRIPTION_CHARS_MAX);
    let named = front.get("name").and_then(Value::as_str) == Some(name);
    (named && described).then(|| Served { text: text.to_owned(), front })
}

/// A value as JSON; `None` where readers of YAML differ about it: a bare number, date or truth value, a merge key.
fn plain_json(node: &Node) -> Option<Value> {
    if node.is_missing() {
        return Some(Value::Null);
    }
    match &node.value {
        Yaml::Scalar { text, plain } => {
            (!(*plain && is_ambiguous(text))).then(|| Value::String(text.clone()))
        }
        Yaml::Sequence(items) => items.iter().map(plain_json).collect::<Option<Vec<_>>>().map(Value::Array),
        Yaml::Mapping(pairs) => {
            let mut map = Map::new();
            for (key, value) in pairs {
                let Yaml::Scalar { text, plain } = &key.value else { return None };
                if (*plain && is_ambiguous(text)) || map.insert(text.clone(), plain_json(value)?).is_some() {
                    return None;
                }
            }
            Some(Value::Object(map))
        }
    }
}

/// Whether readers may take a plain scalar for something else than its text.
fn is_ambiguous(text: &str) -> bool {
    // `1:30` is 90 to readers of YAML 1.1.
    let sexagesimal = text.contains(':') && text.chars().all(|c| c.is_ascii_digit() || ":._+-".contains(c));
    matches!(text, "<<" | "=" | "y" | "Y" | "n" | "N") || sexagesimal || looks_typed(text)
}

/// A file made from the skill: every scalar in double quotes, every field in one order.
fn generated(name: &str, skill: &Skill) -> Served {
    let mut front = Map::new();
    let mut lines = vec!["---".to_owned()];
    let mut put = |key: &str, value: Value| {
        lines.push(format!("{key}: {}", flow(&value)));
        front.insert(key.to_owned(), value);
    };
    put("name", json!(name));
    let description: String = skill.description.trim().chars().take(SERVED_DESCRIPTION_CHARS_MAX).collect();
    put("description", json!(if description.is_empty() { &skill.name } else { &description }));
    if let Some(license) = &skill.license {
        put("license", json!(license));
    }
    if let Some(compatibility) = &skill.compatibility {
        put("compatibility", json!(compatibility));
    }
    put("metadata", metadata(skill));
    lines.push("---".to_owned());
    let mut text = lines.join("\n");
    text.push_str("\n\n");
    text.push_str(&match skill.kind {
        Kind::Knowledge => skill.content.clone(),
        Kind::FlowTemplate => flow_body(skill),
    });
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Served { text, front }
}

/// What the standard has no field for, as texts.
fn metadata(skill: &Skill) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: String| map.insert(key.to_owned(), Value::String(value));
    put("id", skill.id.clone());
    put("kind", skill.kind.name().to_owned());
    if let Some(risk) = skill.risk {
        put("risk", risk.name().to_owned());
    }
    if !skill.tags.is_empty() {
        put("tags", skill.tags.join(", "));
    }
    put("title", skill.name.clone());
    put("version", skill.version.clone());
    Value::Object(map)
}

/// What a flow template says to somebody who reads it.
fn flow_body(skill: &Skill) -> String {
    let pretty = |value: Value| serde_json::to_string_pretty(&value).unwrap_or_default();
    format!(
        "# {}\n\n{}\n\nThis skill is a flow template: an ordered list of tool calls with parameters. Call the tool \
         `resolve_skill` with the id {} and values for the parameters; it answers the calls with the values filled \
         in. Make each call yourself and look at the screen between them.\n\n## Parameters\n\n```json\n{}\n```\n\n\
         ## Steps\n\n```json\n{}\n```\n",
        skill.name,
        skill.description.trim(),
        quoted(&skill.id),
        pretty(json!(skill.parameters)),
        pretty(json!(skill.steps)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knowledge(id: &str) -> Skill {
        let mut skill = Skill::new(id, Kind::Knowledge, "Wi-Fi: on and off", " How to\nswitch \"it\". ");
        skill.content = "# Wi-Fi\n\nOpen the panel.".to_owned();
        skill.tags = vec!["settings".to_owned(), "network".to_owned()];
        skill
    }

    #[test]
    fn a_name_that_the_standard_does_not_allow_is_not_served() {
        for (id, name) in [("wifi", "wifi"), ("a/b/wifi-2", "wifi-2"), ("\u{4e2d}/x1", "x1")] {
            assert_eq!(served_name(id), Some(name), "{id}");
        }
        let long = "x".repeat(65);
        for id in ["a.b", "a_b", "a--b", "-a", "a-", "\u{4e2d}", "", "a/", &long] {
            assert_eq!(served_name(id), None, "{id}");
        }
    }

    #[test]
    fn a_file_that_conforms_is_served_as_it_was_written() {
        let text = "---\nname: wifi\ndescription: >\n  How to\n  switch.\nmetadata:\n  version: 1.0.2\n  on-call: 'no'\n\
                    list: [a, \"b\"]\nnothing:\n---\n# Body\n";
        let file = served(&knowledge("android/wifi"), Some(text.as_bytes())).expect("served");
        assert_eq!(file.text, text);
        assert_eq!(
            Value::Object(file.front),
            json!({"name": "wifi", "description": "How to switch.\n", "list": ["a", "b"], "nothing": null,
                   "metadata": {"version": "1.0.2", "on-call": "no"}})
        );
    }

    #[test]
    fn a_file_that_readers_could_take_differently_is_made_anew() {
        let made = served(&knowledge("android/wifi"), None).expect("served");
        for text in [
            "---\nname: Wi-Fi\ndescription: x\n---\n",
            "---\nname: wifi\n---\n",
            "---\nname: wifi\ndescription: x\nversion: 1.0\n---\n",
            "---\nname: wifi\ndescription: x\nwhen: 2024-01-31\n---\n",
            "---\nname: wifi\ndescription: x\nmetadata: {prompt: true}\n---\n",
            "---\nname: wifi\ndescription: x\nat: 1:30\n---\n",
            "---\nname: wifi\ndescription: x\nname: wifi\n---\n",
            "---\r\nname: wifi\r\ndescription: x\r\n---\r\n",
            "\u{feff}---\nname: wifi\ndescription: x\n---\n",
            "{\"id\": \"wifi\"}",
        ] {
            assert_eq!(
                served(&knowledge("android/wifi"), Some(text.as_bytes())).as_ref(),
                Some(&made),
                "{text}"
            );
        }
    }

    #[test]
    fn a_made_file_is_the_same_bytes_every_time() {
        let file = served(&knowledge("android/wifi"), None).expect("served");
        assert_eq!(
            file.text,
            "---\nname: \"wifi\"\ndescription: \"How to\\nswitch \\\"it\\\".\"\nmetadata: {\"id\": \"android/wifi\", \
             \"kind\": \"knowledge\", \"tags\": \"settings, network\", \"title\": \"Wi-Fi: on and off\", \"version\": \
             \"0\"}\n---\n\n# Wi-Fi\n\nOpen the panel.\n"
        );
        assert_eq!(verbatim("wifi", file.text.as_bytes()), Some(file), "and it is read back as what it says");
    }

    #[test]
    fn a_flow_template_tells_how_it_is_used() {
        let mut skill = knowledge("xhs-search");
        skill.kind = Kind::FlowTemplate;
        let file = served(&skill, None).expect("served");
        assert!(file.text.contains("`resolve_skill` with the id \"xhs-search\""), "{}", file.text);
    }
}
