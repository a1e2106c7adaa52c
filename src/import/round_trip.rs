//! Any skill in any format and back: what the writer does not name as lost is there again, and what it names is not.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{
    Exported, FileContext, SkillReport, agent_skill_md, json, read_json, read_json_lines, read_skill_file,
    skill_md_v2,
};
use crate::error::Problem;
use crate::model::strategy::skills;
use crate::model::{Kind, Risk, Skill};
use crate::tools::ToolRegistry;

fn members(skill: &Skill) -> Map<String, Value> {
    match serde_json::to_value(skill) {
        Ok(Value::Object(members)) => members,
        other => panic!("{other:?} is no object"),
    }
}

/// What a SKILL.md says, in the folder that an export gives it. The files beside it are not a matter of its text.
fn read_back(skill: &Skill, exported: &Exported, registry: &ToolRegistry) -> Skill {
    let directory = skill.id.rsplit('/').next().unwrap_or_default();
    let file = FileContext::new("SKILL.md", directory, exported.text.as_bytes());
    let mut report = read_skill_file(&file, registry);
    let mut read = report.skills.remove(0).result.expect("the writer answers only what is read back").skill;
    read.resources.clone_from(&skill.resources);
    read
}

/// Compares a skill with what came back, without the code that the writer compares with.
fn check_markdown(
    skill: &Skill,
    written: Result<Exported, Vec<Problem>>,
    registry: &ToolRegistry,
) -> Result<(), TestCaseError> {
    let exported = match written {
        Ok(exported) => exported,
        Err(problems) => {
            prop_assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()));
            return Ok(());
        }
    };
    prop_assert_eq!(skill.kind, Kind::Knowledge, "a flow has steps, which the format does not hold");
    let (before, after) = (members(skill), members(&read_back(skill, &exported, registry)));
    for name in before.keys().chain(after.keys()) {
        let same = before.get(name) == after.get(name);
        let lost = exported.lost.contains(name);
        prop_assert_eq!(same, !lost, "{} in\n{}", name, &exported.text);
    }
    Ok(())
}

/// Both tools of the registry and others.
fn with_tools(mut skill: Skill, tools: Option<Vec<String>>) -> Skill {
    skill.allowed_tools = tools;
    skill
}

fn tools() -> impl Strategy<Value = Option<Vec<String>>> {
    let known = prop::sample::subsequence(vec!["tap".to_owned(), "press_back".to_owned()], 0..=2);
    prop_oneof![Just(None), known.prop_map(Some), Just(Some(vec!["no_such_tool".to_owned()]))]
}

proptest! {
    #[test]
    fn markdown_holds_what_its_writer_says(skill in skills(), tools in tools(), plain in any::<bool>()) {
        let registry = ToolRegistry::builtin();
        let mut skill = with_tools(skill, tools);
        if plain {
            // Ids of the Skills v2 text, which most random ones are not.
            skill.id = skill.id.chars().filter(char::is_ascii_lowercase).chain("x".chars()).collect();
            skill.risk = skill.risk.or(Some(Risk::Low));
        }
        check_markdown(&skill, agent_skill_md(&skill, &registry), &registry)?;
        check_markdown(&skill, skill_md_v2(&skill, &registry), &registry)?;
    }

    #[test]
    fn json_holds_everything(skill in skills(), tools in tools()) {
        let skill = with_tools(skill, tools);
        let registry = ToolRegistry::builtin();
        let exported = json(&skill);
        let lost: &[&str] = if skill.resources.is_empty() { &[] } else { &["resources"] };
        prop_assert_eq!(&exported.lost, lost);
        let mut read: Vec<SkillReport> = Vec::new();
        let taken = |report: SkillReport| read.push(report);
        let mut taken = taken;
        let array = format!("[{}]", exported.text);
        prop_assert!(read_json(&mut exported.text.as_bytes(), &registry, &mut taken).is_ok());
        prop_assert!(read_json(&mut array.as_bytes(), &registry, &mut taken).is_ok());
        prop_assert!(read_json_lines(&mut exported.text.as_bytes(), &registry, &mut taken).is_ok());
        prop_assert_eq!(read.len(), 3);
        for report in read {
            match report.result {
                // The list of files is made of the files.
                Ok(entry) => prop_assert_eq!(&entry.skill, &Skill { resources: Vec::new(), ..skill.clone() }),
                Err(problems) => prop_assert!(false, "{:?} in {}", problems, &exported.text),
            }
        }
    }
}
