//! Writing skills back: the text of a format, and which fields the format could not hold.
//!
//! What is lost is never guessed: a writer reads its own text again and names every field that differs. A text that
//! would not be read back is refused, with the reasons that an import would give.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::import::fields::looks_typed;
use crate::import::report::{FileContext, Format};
use crate::import::skill_md::read_skill_file;
use crate::model::{Entry, Kind, Risk, Skill, slug};
use crate::tools::ToolRegistry;

/// A skill as a file's text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// The file.
    pub text: String,
    /// Fields of the skill that the format could not hold.
    pub lost: Vec<String>,
}

/// Writes a `TouchPilot` Skills v2 file.
///
/// # Errors
/// Every reason why the format cannot hold the skill at all: no `risk`, no `allowed_tools`, an id beyond `a-z0-9-`, a
/// flow template, an unknown tool.
pub fn skill_md_v2(skill: &Skill, registry: &ToolRegistry) -> Result<Exported, Vec<Problem>> {
    let mut yaml = Yaml::default();
    yaml.text("id", &skill.id);
    yaml.text("title", &skill.name);
    yaml.text("description", &skill.description);
    yaml.optional("risk", skill.risk.map(Risk::name));
    shared(&mut yaml, skill);
    finish(skill, &yaml, Format::SkillsV2, &skill.id, registry)
}

/// Writes a file of the Agent Skills standard, with the fields that the standard does not know behind its own.
///
/// The name is written where the id can be made from it again; else the id stands in its place.
///
/// # Errors
/// Every reason why the format cannot hold the skill at all: a flow template, an unknown tool in `allowed_tools`.
pub fn agent_skill_md(skill: &Skill, registry: &ToolRegistry) -> Result<Exported, Vec<Problem>> {
    let last = skill.id.rsplit('/').next().unwrap_or_default();
    let mut yaml = Yaml::default();
    yaml.text("name", if slug(&skill.name) == last { &skill.name } else { last });
    yaml.text("description", &skill.description);
    shared(&mut yaml, skill);
    finish(skill, &yaml, Format::AgentSkills, last, registry)
}

/// Writes canonical JSON, which holds everything but the bytes of resources.
#[must_use]
pub fn json(skill: &Skill) -> Exported {
    let mut text = skill.canonical_json();
    text.push('\n');
    let lost = if skill.resources.is_empty() { Vec::new() } else { vec!["resources".to_owned()] };
    Exported { text, lost }
}

/// The file that a skill came from, where it is of the format and still says what the skill is.
#[must_use]
pub fn verbatim(entry: &Entry, format: Format, registry: &ToolRegistry) -> Option<Exported> {
    let bytes = entry.source_text.as_deref()?;
    let text = std::str::from_utf8(bytes).ok()?;
    let directory = entry.skill.id.rsplit('/').next().unwrap_or_default();
    let report = read_skill_file(&FileContext::new("SKILL.md", directory, bytes), registry);
    let skill = report.skills.into_iter().next()?.result.ok()?.skill;
    let lost = differing(&entry.skill, &skill);
    let same = lost.iter().all(|field| field == "id" || field == "resources");
    (report.format == Some(format) && same).then(|| Exported {
        text: text.to_owned(),
        lost: lost.into_iter().filter(|field| field == "id").collect(),
    })
}

/// The fields that both markdown formats hold.
fn shared(yaml: &mut Yaml, skill: &Skill) {
    yaml.optional("license", skill.license.as_deref());
    yaml.optional("compatibility", skill.compatibility.as_deref());
    if !skill.preapproved_tools.is_empty() {
        yaml.list("allowed-tools", &skill.preapproved_tools);
    }
    if let Some(tools) = &skill.allowed_tools {
        yaml.list("allowed_tools", tools);
    }
    let inner = skill.metadata.get("version").and_then(Value::as_str).map(str::trim);
    if inner != Some(skill.version.as_str()) && (skill.version != "0" || inner.is_some()) {
        yaml.text("version", &skill.version);
    }
    yaml.optional("author", skill.author.as_deref());
    yaml.optional("locale", skill.locale.as_deref());
    for (key, list) in [
        ("tags", &skill.tags),
        ("aliases", &skill.aliases),
        ("success_criteria", &skill.success_criteria),
        ("examples", &skill.examples),
    ] {
        if !list.is_empty() {
            yaml.list(key, list);
        }
    }
    if !skill.metadata.is_empty() {
        let members: Map<String, Value> = skill.metadata.clone().into_iter().collect();
        yaml.lines.push(format!("metadata: {}", flow(&Value::Object(members))));
    }
}

/// Puts the text together, reads it again and compares.
fn finish(
    skill: &Skill,
    yaml: &Yaml,
    format: Format,
    directory: &str,
    registry: &ToolRegistry,
) -> Result<Exported, Vec<Problem>> {
    if skill.kind != Kind::Knowledge {
        let message = "the format holds no steps; export flow templates as json";
        return Err(vec![Problem::new("field_not_of_kind", "steps", message)]);
    }
    let mut text = format!("---\n{}\n---\n", yaml.lines.join("\n"));
    if !skill.content.is_empty() {
        text.push('\n');
        text.push_str(&skill.content);
    }
    let report = read_skill_file(&FileContext::new("SKILL.md", directory, text.as_bytes()), registry);
    let read = report.skills.into_iter().next().map(|skill| skill.result);
    match read {
        Some(Ok(entry)) if report.format == Some(format) => {
            let mut lost = differing(skill, &entry.skill);
            lost.retain(|field| field != "resources");
            Ok(Exported { text, lost })
        }
        Some(Err(problems)) => Err(problems.into_iter().map(unplaced).collect()),
        _ => Err(vec![Problem::new(
            "unknown_format",
            "",
            "the format cannot hold this skill; export it as json",
        )]),
    }
}

/// A problem without the place in a text that nobody sees.
fn unplaced(mut problem: Problem) -> Problem {
    problem.line = None;
    problem.column = None;
    problem
}

/// The members in which two skills differ, by their canonical names.
fn differing(a: &Skill, b: &Skill) -> Vec<String> {
    let members = |skill: &Skill| match serde_json::to_value(skill) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let (a, b) = (members(a), members(b));
    let mut names: Vec<String> =
        a.keys().chain(b.keys()).filter(|name| a.get(*name) != b.get(*name)).cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// Lines of front matter.
#[derive(Default)]
struct Yaml {
    lines: Vec<String>,
}

impl Yaml {
    fn text(&mut self, key: &str, value: &str) {
        self.lines.push(format!("{key}: {}", scalar(value)));
    }

    fn optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    fn list(&mut self, key: &str, values: &[String]) {
        if values.is_empty() {
            self.lines.push(format!("{key}: []"));
            return;
        }
        self.lines.push(format!("{key}:"));
        self.lines.extend(values.iter().map(|value| format!("  - {}", scalar(value))));
    }
}

/// A text as a YAML scalar: plain where every reader takes it for the same text, else in double quotes.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '(' | ')' | '/'))
        && !looks_typed(text)
        && !text.eq_ignore_ascii_case("null");
    if plain { text.to_owned() } else { quoted(text) }
}

/// A text in double quotes; whatever is not printable is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}') =>
            {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// JSON as a YAML flow value on one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{}: {}", quoted(key), flow(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::{btree_map, vec};
    use proptest::option;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A text as front matter holds it: not blank, trimmed.
    fn texts() -> impl Strategy<Value = String> {
        "[\\PC\n\t:#'\"|>&*!%@`{}\\[\\]-]{0,30}".prop_map(|text| {
            let text: String = text.chars().filter(|c| !crate::model::is_invisible(*c)).collect();
            let text = text.trim().to_owned();
            if text.is_empty() { "~".to_owned() } else { text }
        })
    }

    fn metadata() -> impl Strategy<Value = BTreeMap<String, Value>> {
        let leaf =
            prop_oneof![texts().prop_map(Value::from), Just(Value::Null), Just(json!({})), Just(json!([]))];
        let value = leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Value::from),
                btree_map(texts(), inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        btree_map("[a-z_]{1,8}", value, 0..4)
    }

    prop_compose! {
        fn skills()(
            name in "[A-Z][A-Za-z0-9 ]{0,20}[a-z]",
            description in texts(),
            lists in [vec(texts(), 0..3), vec(texts(), 0..3), vec(texts(), 0..3), vec(texts(), 0..3), vec(texts(), 0..3)],
            optional in [option::of(texts()), option::of(texts()), option::of(texts())],
            version in "[0-9]\\.[0-9]{1,2}|0|on|[a-z]{3}",
            metadata in metadata(),
            content in "[^\\r\\x00\n][^\\r\\x00]{0,60}",
        ) -> Skill {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut skill = Skill::new(slug(&name), Kind::Knowledge, name, description);
            [skill.tags, skill.aliases, skill.examples, skill.success_criteria, skill.preapproved_tools] = lists;
            [skill.license, skill.author, skill.compatibility] = optional;
            (skill.version, skill.metadata, skill.content) = (version, metadata, content);
            skill
        }
    }

    proptest! {
        #[test]
        fn agent_skills_are_read_back_as_they_were(skill in skills()) {
            prop_assume!(skill.problems().is_empty());
            let exported = agent_skill_md(&skill, &ToolRegistry::builtin()).expect("exported");
            prop_assert_eq!(exported.lost, Vec::<String>::new(), "{}", exported.text);
        }

        #[test]
        fn skills_v2_are_read_back_as_they_were(skill in skills(), empty in any::<bool>()) {
            let mut skill = skill;
            skill.risk = Some(Risk::High);
            skill.allowed_tools = Some(if empty { vec![] } else { vec!["tap".to_owned(), "press_back".to_owned()] });
            prop_assume!(skill.problems().is_empty());
            let exported = skill_md_v2(&skill, &ToolRegistry::builtin()).expect("exported");
            prop_assert_eq!(exported.lost, Vec::<String>::new(), "{}", exported.text);
        }
    }

    #[test]
    fn what_a_format_cannot_hold_is_named() {
        let registry = ToolRegistry::builtin();
        let mut skill = Skill::new("a/wifi", Kind::Knowledge, "Settings: Wi-Fi", " Padded. ");
        skill.risk = Some(Risk::High);
        skill.metadata.insert("count".to_owned(), json!(3));
        skill.content = "\n\nx".to_owned();
        let exported = agent_skill_md(&skill, &registry).expect("exported");
        assert_eq!(exported.lost, ["content", "description", "id", "metadata", "name", "risk"]);
    }

    #[test]
    fn what_would_not_be_read_back_is_refused() {
        let registry = ToolRegistry::builtin();
        let mut skill = Skill::new("wifi", Kind::Knowledge, "Wi-Fi", "About it.");
        let codes = |result: Result<Exported, Vec<Problem>>| -> Vec<String> {
            result
                .expect_err("refused")
                .into_iter()
                .map(|problem| format!("{}:{}", problem.code, problem.field))
                .collect()
        };
        assert_eq!(
            codes(skill_md_v2(&skill, &registry)),
            ["missing_field:risk", "missing_field:allowed_tools"]
        );
        skill.allowed_tools = Some(vec!["no_such_tool".to_owned()]);
        assert_eq!(codes(agent_skill_md(&skill, &registry)), ["unknown_tool:allowed_tools"]);
        let flow = Skill::new("f", Kind::FlowTemplate, "F", "Flow.");
        assert_eq!(codes(agent_skill_md(&flow, &registry)), ["field_not_of_kind:steps"]);
        assert!(json(&flow).lost.is_empty());
    }

    #[test]
    fn an_untouched_file_is_written_as_it_was() {
        let registry = ToolRegistry::builtin();
        let text = "---\n# a note\nname: wifi\ndescription: >\n  Folded\n  text.\n---\nBody\n";
        let report = read_skill_file(&FileContext::new("wifi/SKILL.md", "wifi", text.as_bytes()), &registry);
        let mut entry = report.skills[0].result.clone().expect("read");
        assert_eq!(verbatim(&entry, Format::AgentSkills, &registry).expect("verbatim").text, text);
        assert_eq!(verbatim(&entry, Format::SkillsV2, &registry), None);
        entry.skill.description.push('!');
        assert_eq!(verbatim(&entry, Format::AgentSkills, &registry), None);
    }
}
