//! Risk: what the tools ask for, and what the subject asks for.

use std::sync::LazyLock;

use crate::lint::Findings;
use crate::lint::rules::{RISK_BELOW_TOOLS, RISK_SUBJECT};
use crate::lint::subject::{Form, Spot, Subject};
use crate::model::{Kind, Risk, normalise};

/// A subject a line: its name, then the phrases that speak of it. Data rather than code, since they are in two scripts.
const SUBJECTS: &str = include_str!("subjects.txt");

struct Topic {
    name: &'static str,
    phrases: Vec<String>,
}

static TOPICS: LazyLock<Vec<Topic>> = LazyLock::new(|| {
    let lines = SUBJECTS.lines().filter(|line| !line.starts_with('#'));
    let topic = |line: &'static str| {
        let (name, phrases) = line.split_once(':')?;
        Some(Topic {
            name,
            phrases: phrases.split(',').map(normalise).filter(|phrase| !phrase.is_empty()).collect(),
        })
    };
    lines.filter_map(topic).collect()
});

/// Words before a phrase that say that the skill does not do it.
const NEGATIONS: [&str; 8] = ["not", "never", "no", "without", "don t", "cannot", "before", "instead of"];

/// Compares the declared risk with the tools, and the effective one with the subject.
pub(crate) fn check(subject: &Subject<'_>, tools: Option<Risk>, findings: &mut Findings) {
    let skill = subject.skill;
    if let (Some(declared), Some(tools)) = (skill.risk, tools)
        && declared < tools
    {
        let message = format!(
            "the risk is {}, but the tools are of {} risk, which counts: say {}, or allow less",
            declared.name(),
            tools.name(),
            tools.name()
        );
        findings.add(RISK_BELOW_TOOLS, subject, &Spot::field("risk"), message);
    }
    // Skills of other formats state no risk that counts, and most of them drive no phone.
    let drives = skill.kind == Kind::FlowTemplate
        || skill.allowed_tools.as_ref().is_some_and(|tools| !tools.is_empty());
    if (subject.form() == Form::Foreign && !drives) || skill.risk.max(tools) >= Some(Risk::High) {
        return;
    }
    let texts = [("name", &skill.name), ("description", &skill.description)].into_iter();
    let lists = [("aliases", &skill.aliases), ("examples", &skill.examples), ("tags", &skill.tags)];
    let items = lists.iter().flat_map(|(field, list)| list.iter().map(|text| (*field, text)));
    for (field, text) in texts.chain(items) {
        if let Some((topic, phrase)) = topic_of(text) {
            let message = format!(
                "{phrase:?} speaks of {topic}, which asks for high risk; say `risk: high`, or what the skill stops before"
            );
            findings.add(RISK_SUBJECT, subject, &Spot::value(field, text), message);
            return;
        }
    }
}

/// The first subject that a text speaks of, with the phrase.
fn topic_of(text: &str) -> Option<(&'static str, &'static str)> {
    let normal = format!(" {} ", normalise(text));
    for topic in &*TOPICS {
        for phrase in &topic.phrases {
            // Chinese writes no spaces; other phrases stand between them.
            let spoken = if phrase.is_ascii() { format!(" {phrase} ") } else { phrase.clone() };
            let Some(at) = normal.find(&spoken) else { continue };
            let before: Vec<&str> = normal[..at].split(' ').rev().take(4).collect();
            let negated = NEGATIONS.iter().any(|word| before.contains(word))
                || normal[..at].ends_with(['\u{4e0d}', '\u{52ff}']);
            if !negated {
                return Some((topic.name, phrase));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_as_whole_phrases_unless_they_are_denied() {
        for (text, want) in [
            ("Send an SMS to a contact", Some("messages")),
            ("Pay the bill with a card", Some("purchases")),
            ("Change the password of an account", Some("accounts")),
            ("Uninstall an app", Some("deletion")),
            ("Grant the camera permission", Some("permissions")),
            ("\u{5728}\u{7f8e}\u{56e2}\u{4e0b}\u{5355}", Some("purchases")),
            ("Open the messages app", None),
            ("Prepares a cart and stops before checkout", None),
            ("Looks at a bankrupt payer", None),
            ("Never delete anything", None),
        ] {
            assert_eq!(topic_of(text).map(|(topic, _)| topic), want, "{text}");
        }
        assert_eq!(TOPICS.len(), 6);
    }
}
