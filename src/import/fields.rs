//! Typed fields out of front matter: text, lists, tool lists and metadata, each forgiving in its own documented way.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::error::Problem;
use crate::import::front::Front;
use crate::import::text::Position;
use crate::import::tree::{Node, Value};

/// A piece of text with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written {
    /// The text, trimmed.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) position: Position,
}

impl Front {
    /// A field that holds one text. A list is joined, a map is taken as the text it was written as, both with a
    /// `type_coerced` warning; `None` where it is absent or blank.
    pub(crate) fn text(&mut self, key: &str) -> Option<Written> {
        let node = self.take(key)?;
        let position = self.place(node.position);
        let text = match &node.value {
            Value::Scalar { text, .. } => text.trim().to_owned(),
            Value::Sequence(items) => {
                let items: Vec<String> = items.iter().map(|item| self.as_text(item)).collect();
                self.warn("type_coerced", key, "a list stands where one text belongs; its items were joined");
                items.join(" ").trim().to_owned()
            }
            Value::Mapping(_) => {
                self.warn(
                    "type_coerced",
                    key,
                    "a map stands where text belongs; it was read as text: put it in quotes",
                );
                node.folded_source(self.source())
            }
        };
        (!text.is_empty()).then_some(Written { text, position })
    }

    /// Like [`Front::text`], and warns where the text would be a number, a boolean or a date to other readers.
    pub(crate) fn prose(&mut self, key: &str) -> Option<Written> {
        let typed = self.peek(key).is_some_and(|node| match &node.value {
            Value::Scalar { text, plain } => *plain && looks_typed(text),
            _ => false,
        });
        if typed {
            let message = "other readers take this for a number, a boolean or a date; put it in quotes";
            self.warn("scalar_coerced", key, message);
        }
        self.text(key)
    }

    /// A field that holds a list of texts; `None` where it is absent. A single text becomes a list of one, JSON text
    /// of a list becomes that list, and for `commas` fields a text is cut at its commas: all with `type_coerced`.
    pub(crate) fn list(&mut self, key: &str, commas: bool) -> Option<Vec<Written>> {
        let node = self.take(key)?;
        let position = self.place(node.position);
        let items = match &node.value {
            Value::Sequence(items) => {
                if items.iter().any(|item| item.scalar().is_none()) {
                    self.warn(
                        "type_coerced",
                        key,
                        "an item is a map or a list and was read as text: put it in quotes",
                    );
                }
                let place =
                    |item: &Node| Written { text: self.as_text(item), position: self.place(item.position) };
                items.iter().filter(|item| !item.is_missing()).map(place).collect()
            }
            Value::Scalar { text, .. } => {
                self.warn("type_coerced", key, "one text stands where a list belongs; write it as a list");
                let at = |text: &str| Written { text: text.trim().to_owned(), position };
                match json_list(text) {
                    Some(items) => items.iter().map(|item| at(item)).collect(),
                    None if commas => text.split(',').map(at).collect(),
                    None => vec![at(text)],
                }
            }
            Value::Mapping(_) => {
                self.warn("type_coerced", key, "a map stands where a list belongs; it was read as text");
                vec![Written { text: node.folded_source(self.source()), position }]
            }
        };
        let mut items: Vec<Written> = items;
        items.retain(|item| !item.text.is_empty());
        Some(items)
    }

    /// The standard's tool list: text cut at commas and spaces outside parentheses, or a list. Never warns for these.
    pub(crate) fn tools(&mut self, key: &str) -> Option<Vec<Written>> {
        let is_text = self.peek(key).is_some_and(|node| node.scalar().is_some());
        if !is_text {
            return self.list(key, false);
        }
        let node = self.take(key)?;
        let position = self.place(node.position);
        let text = node.scalar().unwrap_or_default();
        let items = json_list(text).unwrap_or_else(|| split_tools(text));
        Some(items.into_iter().map(|text| Written { text, position }).collect())
    }

    /// The `metadata` map, and every field that nobody asked for, which is warned about.
    pub(crate) fn metadata(&mut self) -> BTreeMap<String, Json> {
        let mut metadata = BTreeMap::new();
        if let Some(node) = self.take("metadata") {
            match self.json(&node, "metadata") {
                Json::Object(map) => {
                    if map.values().any(|value| value.is_object() || value.is_array()) {
                        self.warn(
                            "metadata_not_flat",
                            "metadata",
                            "values of metadata should be texts; kept as they are",
                        );
                    }
                    metadata.extend(map);
                }
                other => {
                    self.warn("type_coerced", "metadata", "metadata should be a map; kept under `metadata`");
                    metadata.insert("metadata".to_owned(), other);
                }
            }
        }
        for (key, node) in self.rest() {
            let value = self.json(&node, &key);
            self.warn("unknown_field", &key, "the format has no such field; it is kept in the metadata");
            let mut name = key;
            while metadata.contains_key(&name) {
                name.insert_str(0, "top_level_");
            }
            metadata.insert(name, value);
        }
        metadata
    }

    /// A node as JSON, every scalar as its source text.
    fn json(&mut self, node: &Node, field: &str) -> Json {
        if node.is_missing() {
            return Json::Null;
        }
        match &node.value {
            Value::Scalar { text, .. } => Json::String(text.clone()),
            Value::Sequence(items) => items.iter().map(|item| self.json(item, field)).collect(),
            Value::Mapping(pairs) => {
                let mut map = Map::new();
                for (key, value) in pairs {
                    let value = self.json(value, field);
                    let name = self.as_text(key);
                    if map.insert(name.clone(), value).is_some() {
                        let message = format!("{name:?} stands here twice; the last one counts");
                        let problem = Problem::new("duplicate_key", field, message);
                        self.warnings.push(self.place(key.position).mark(problem));
                    }
                }
                Json::Object(map)
            }
        }
    }

    fn as_text(&self, node: &Node) -> String {
        node.scalar().map_or_else(|| node.folded_source(self.source()), |text| text.trim().to_owned())
    }
}

/// Cuts at commas and white space, but never inside parentheses.
fn split_tools(text: &str) -> Vec<String> {
    let mut tools = Vec::new();
    let mut tool = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            tools.push(std::mem::take(&mut tool));
        } else {
            tool.push(c);
        }
    }
    tools.push(tool);
    tools.retain_mut(|tool| {
        *tool = tool.trim().to_owned();
        !tool.is_empty()
    });
    tools
}

/// The items of a text that is a JSON list of texts.
fn json_list(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    text.starts_with('[').then(|| serde_json::from_str(text).ok()).flatten()
}

/// Whether common YAML readers take a plain scalar for a number, a boolean or a date.
pub(crate) fn looks_typed(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    if matches!(word.as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | ".nan") {
        return true;
    }
    let number = word.trim_start_matches(['+', '-']).replace('_', "");
    let radix = |prefix: &str, radix: u32| {
        number
            .strip_prefix(prefix)
            .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)))
    };
    let starts_numeric = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    (starts_numeric && number.parse::<f64>().is_ok())
        || number == ".inf"
        || radix("0x", 16)
        || radix("0o", 8)
        || radix("0b", 2)
        || looks_like_date(&word)
}

/// `2024-01-31`, possibly with a time behind it.
fn looks_like_date(text: &str) -> bool {
    let date = text.get(..10).unwrap_or(text);
    let rest = text.get(10..).unwrap_or_default();
    let shape = date.len() == 10
        && date.char_indices().all(|(at, c)| if at == 4 || at == 7 { c == '-' } else { c.is_ascii_digit() });
    let time = rest.is_empty()
        || (rest.starts_with(['t', ' '])
            && rest[1..].chars().all(|c| c.is_ascii_digit() || ":.+-z ".contains(c)));
    shape && time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::fence::{Cut, split};

    fn front(yaml: &str) -> Front {
        match split(&format!("---\n{yaml}\n---\n")) {
            Ok(Cut::Front(split)) => Front::read(&split).expect(yaml),
            other => panic!("{other:?}"),
        }
    }

    fn codes(front: &Front) -> Vec<String> {
        front.warnings.iter().map(|w| format!("{}:{}", w.code, w.field)).collect()
    }

    #[test]
    fn texts_are_taken_from_scalars_lists_and_maps() {
        let cases = [
            ("d: plain", Some("plain"), None),
            ("d:\n- One.\n- Two.", Some("One. Two."), Some("type_coerced:d")),
            ("d:\n  Use this: now", Some("Use this: now"), Some("type_coerced:d")),
            ("d: {{ topic }}", Some("{{ topic }}"), Some("type_coerced:d")),
            ("d: 2024-01-31", Some("2024-01-31"), Some("scalar_coerced:d")),
            ("d: '12'", Some("12"), None),
            ("d: No", Some("No"), Some("scalar_coerced:d")),
            ("d: 1.10", Some("1.10"), Some("scalar_coerced:d")),
            ("d: 3 things", Some("3 things"), None),
            ("d: '  '", None, None),
            ("d: ~", None, None),
        ];
        for (yaml, expected, warning) in cases {
            let mut front = front(yaml);
            assert_eq!(front.prose("d").map(|d| d.text).as_deref(), expected, "{yaml}");
            assert_eq!(codes(&front), warning.into_iter().collect::<Vec<_>>(), "{yaml}");
        }
    }

    #[test]
    fn lists_are_taken_from_lists_texts_and_json() {
        let cases = [
            ("l: [a, b]", vec!["a", "b"], false),
            ("l: a, b", vec!["a", "b"], true),
            ("l: '[\"a, b\",\"c\"]'", vec!["a, b", "c"], true),
            ("l:\n- Panel shown: Wi-Fi\n- b", vec!["Panel shown: Wi-Fi", "b"], true),
            ("l: []", vec![], false),
            ("l:\n- a\n-\n- b", vec!["a", "b"], false),
        ];
        for (yaml, expected, warned) in cases {
            let mut front = front(yaml);
            let list: Vec<String> =
                front.list("l", true).expect(yaml).into_iter().map(|item| item.text).collect();
            assert_eq!(list, expected, "{yaml}");
            assert_eq!(codes(&front), if warned { vec!["type_coerced:l"] } else { vec![] }, "{yaml}");
        }
        assert_eq!(front("l:").list("l", true), None);
    }

    #[test]
    fn tool_lists_are_never_cut_inside_parentheses() {
        for (yaml, expected) in [
            ("t: open_app, tap,type_text", vec!["open_app", "tap", "type_text"]),
            ("t: Read Bash(git add:*) Write", vec!["Read", "Bash(git add:*)", "Write"]),
            ("t: Bash(a, b), Read", vec!["Bash(a, b)", "Read"]),
            ("t: [Read, 'Bash(x y)']", vec!["Read", "Bash(x y)"]),
            ("t: '[\"a\"]'", vec!["a"]),
            ("t: []", vec![]),
        ] {
            let mut front = front(yaml);
            let tools: Vec<String> =
                front.tools("t").expect(yaml).into_iter().map(|tool| tool.text).collect();
            assert_eq!(tools, expected, "{yaml}");
            assert!(front.warnings.is_empty(), "{yaml}");
        }
    }

    #[test]
    fn what_nobody_asked_for_is_kept_in_the_metadata() {
        let mut front =
            front("metadata:\n  v: 1.10\n  n: {a: [on]}\n  v: 2.0\nv: x\nhint: [contact]\nempty:");
        let metadata = front.metadata();
        assert_eq!(
            serde_json::to_value(&metadata).expect("json"),
            serde_json::json!({"v": "2.0", "n": {"a": ["on"]}, "top_level_v": "x", "hint": ["contact"], "empty": null})
        );
        assert_eq!(
            codes(&front),
            [
                "duplicate_key:metadata",
                "metadata_not_flat:metadata",
                "unknown_field:v",
                "unknown_field:hint",
                "unknown_field:empty"
            ]
        );
    }
}
