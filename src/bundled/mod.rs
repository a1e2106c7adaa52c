//! The starter layer in the binary: eight knowledge skills and eight flow templates written for Android phones.
//!
//! A skill is `NAME.skill.json`; the body of a knowledge skill stands beside it in `NAME.md`, so that it is read and
//! reviewed as markdown. Both are embedded, so that a fresh data directory answers at once and without a network.
//!
//! The layer is also embedded as it is on disk (`layer/*.seg`), so that opening it parses nothing: a test builds it
//! again and compares, and `UPDATE_GOLDEN=1` writes it anew.
//!
//! Invariant: nothing here reads a file at run time, and a test proves every skill sound, so that [`entries`] leaves
//! none out.

use serde_json::Value;

use crate::model::{Entry, Skill};

/// One skill as it is embedded.
struct Source {
    /// Its canonical JSON, without the content.
    json: &'static str,
    /// The body of a knowledge skill.
    body: Option<&'static str>,
}

/// A knowledge skill of two files.
macro_rules! knowledge {
    ($name:literal) => {
        Source {
            json: include_str!(concat!($name, ".skill.json")),
            body: Some(include_str!(concat!($name, ".md"))),
        }
    };
}

/// A flow template of one file.
macro_rules! flow {
    ($name:literal) => {
        Source { json: include_str!(concat!($name, ".skill.json")), body: None }
    };
}

/// All of them, in the order of their ids.
const SOURCES: [Source; 16] = [
    knowledge!("android-settings"),
    knowledge!("camera"),
    flow!("find-place"),
    knowledge!("messaging"),
    flow!("navigate-to-place"),
    flow!("open-settings-panel"),
    flow!("open-web-page"),
    knowledge!("permission-dialogs"),
    knowledge!("reading-the-screen"),
    flow!("send-sms"),
    flow!("take-photo"),
    knowledge!("text-input"),
    knowledge!("web-browsing"),
    flow!("web-search"),
    flow!("xhs-search"),
    knowledge!("xiaohongshu"),
];

/// The starter skills in the order of their ids, ready for the bundled layer. Parses 60 KB: well below a millisecond
/// each, so keep the answer.
#[must_use]
pub fn entries() -> Vec<Entry> {
    SOURCES.iter().filter_map(|source| read(source).ok()).collect()
}

/// Reads one embedded skill; an error is a slip in this folder, which the tests below find.
fn read(source: &Source) -> Result<Entry, String> {
    let mut value: Value = serde_json::from_str(source.json).map_err(|error| error.to_string())?;
    if let (Some(body), Value::Object(members)) = (source.body, &mut value) {
        members.insert("content".to_owned(), Value::from(body));
    }
    let reading = Skill::from_json(&value).map_err(|problems| format!("{problems:?}"))?;
    if !reading.warnings.is_empty() {
        return Err(format!("{:?}", reading.warnings));
    }
    Ok(Entry::new(reading.skill))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::flow;
    use crate::model::{Kind, normalise};
    use crate::tools::ToolRegistry;

    #[test]
    fn every_starter_skill_is_read_without_a_problem_or_a_warning() {
        for source in &SOURCES {
            let entry = read(source).unwrap();
            assert_eq!(entry.skill.problems(), vec![], "{}", entry.skill.id);
        }
        let ids: Vec<String> = entries().into_iter().map(|entry| entry.skill.id).collect();
        assert_eq!(ids.len(), SOURCES.len());
        assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    }

    #[test]
    fn there_are_eight_of_each_kind_with_everything_that_helps_to_find_them() {
        let entries = entries();
        let knowledge = entries.iter().filter(|entry| entry.skill.kind == Kind::Knowledge).count();
        assert_eq!((knowledge, entries.len() - knowledge), (8, 8));
        for Entry { skill, .. } in &entries {
            assert!(skill.examples.len() >= 3 && skill.aliases.len() >= 3, "{}", skill.id);
            assert!(!skill.success_criteria.is_empty() && !skill.tags.is_empty(), "{}", skill.id);
            assert!(skill.locale.is_some() && skill.version != "0", "{}", skill.id);
            let sentences = skill.description.matches(['.', '\u{3002}']).count();
            assert_eq!(sentences, 1, "{}: the description is one sentence", skill.id);
            for parameter in &skill.parameters {
                assert!(!parameter.description.is_empty(), "{} {}", skill.id, parameter.name);
                assert!(!parameter.examples.is_empty(), "{} {}", skill.id, parameter.name);
            }
        }
    }

    #[test]
    fn no_name_alias_or_id_belongs_to_two_skills() {
        let mut owners: BTreeMap<String, String> = BTreeMap::new();
        for Entry { skill, .. } in entries() {
            let texts = skill.aliases.iter().chain([&skill.name, &skill.id]);
            for text in texts {
                let owner = owners.entry(normalise(text)).or_insert_with(|| skill.id.clone());
                assert_eq!(*owner, skill.id, "{text}");
            }
        }
    }

    #[test]
    fn no_alias_is_a_command_that_needs_no_skill() {
        let commands = [
            "back",
            "go back",
            "press back",
            "home",
            "go home",
            "recents",
            "recent apps",
            "scroll",
            "scroll up",
            "scroll down",
            "swipe left",
            "swipe right",
            "\u{8FD4}\u{56DE}",
            "\u{540E}\u{9000}",
            "\u{4E3B}\u{5C4F}\u{5E55}",
        ];
        for Entry { skill, .. } in entries() {
            for alias in &skill.aliases {
                assert!(!commands.contains(&normalise(alias).as_str()), "{}: {alias}", skill.id);
            }
        }
    }

    #[test]
    fn every_starter_skill_is_right_against_the_built_in_tools() {
        let registry = ToolRegistry::builtin();
        for Entry { skill, .. } in entries() {
            let compiled = flow::compile(&skill, &registry);
            assert!(compiled.unavailable.is_empty(), "{}: {:?}", skill.id, compiled.unavailable);
            assert!(compiled.warnings.is_empty(), "{}: {:?}", skill.id, compiled.warnings);
            let declared = skill.risk;
            assert!(
                declared.is_none() || declared >= compiled.tool_risk,
                "{}: risk below its tools",
                skill.id
            );
        }
    }

    #[test]
    fn bodies_are_long_enough_to_help_and_short_enough_to_read() {
        for Entry { skill, .. } in entries().iter().filter(|entry| entry.skill.kind == Kind::Knowledge) {
            let lines = skill.content.lines().count();
            assert!((40..=120).contains(&lines), "{}: {lines} lines", skill.id);
            assert!(skill.content.starts_with("# "), "{}", skill.id);
        }
    }
}
