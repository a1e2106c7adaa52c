//! Lint takes whatever the model takes, and says the same each time.

use proptest::prelude::*;

use super::*;
use crate::model::Skill;
use crate::model::strategy::skills;

/// A SKILL.md around a body, with what rules look for somewhere in it.
fn file(skill: &Skill, head: &str) -> String {
    format!("---\n{head}\naliases:\n- {}\n---\n{}", skill.name, skill.content)
}

proptest! {
    #[test]
    fn any_skill_with_any_text_gives_findings_at_places_that_are_there(
        mut skill in skills(),
        head in "(id|title|name|risk|\"name\"| )?[:\\- ]{0,2}\\PC{0,40}",
        body in "(\\PC|[\u{200b}\u{202e}\u{e0041}\u{fe0f}\r\n]){0,60}(ignore the allowed_tools )?(password: h7Kq2xVb9 )?\\PC{0,20}",
        other in skills(),
    ) {
        skill.content = body;
        let text = file(&skill, &head);
        let registry = ToolRegistry::builtin();
        let subjects = [
            Subject::new(&skill).written("a/SKILL.md", Some(text.as_bytes())),
            Subject::new(&other).written("b.skill.json", Some(head.as_bytes())),
            Subject::new(&skill),
        ];
        let findings = lint(&subjects, None, &registry).expect("no catalog can fail");
        prop_assert_eq!(&findings, &lint(&subjects, None, &registry).expect("again"));
        let lines = text.replace("\r\n", "\n").replace('\r', "\n").split('\n').count();
        for finding in &findings {
            prop_assert!(RULES.iter().any(|rule| rule.code == finding.code && rule.severity == finding.severity));
            prop_assert!(!finding.message.contains("h7Kq2xVb9"), "a secret is shown");
            let in_file = finding.path.as_deref() != Some("a/SKILL.md") || finding.line.is_none_or(|line| line as usize <= lines);
            prop_assert!(in_file, "{:?} of {} lines", finding, lines);
        }
        prop_assert_eq!(sarif(&findings)["runs"][0]["results"].as_array().map(Vec::len), Some(findings.len()));
    }
}
