//! Every rule of a skill: at the limit it holds, one beyond it is told.

use serde_json::{Value, json};

use crate::limits::*;
use crate::model::{App, Kind, Parameter, ParameterType, Resource, Skill, Status, Step};

type Change = fn(&mut Skill);

fn knowledge() -> Skill {
    Skill::new("wifi", Kind::Knowledge, "Wi-Fi", "Find the Wi-Fi settings.")
}

fn flow() -> Skill {
    let mut skill = Skill::new("wifi", Kind::FlowTemplate, "Wi-Fi", "Open the Wi-Fi settings.");
    skill.steps.push(Step::new("wait_for_idle", serde_json::Map::new()));
    skill
}

/// Code and field of every problem after a change to a sound skill.
fn faults(mut skill: Skill, change: impl FnOnce(&mut Skill)) -> Vec<String> {
    assert_eq!(skill.problems(), vec![]);
    change(&mut skill);
    skill.problems().iter().map(|problem| format!("{} {}", problem.code, problem.field)).collect()
}

fn many(count: usize) -> Vec<String> {
    vec!["x".to_owned(); count]
}

/// A value nested in that many lists.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn at_every_limit_a_skill_is_sound() {
    let mut skill = knowledge();
    skill.id = "a".repeat(ID_BYTES_MAX);
    skill.name = "\u{5FAE}".repeat(NAME_CHARS_MAX);
    skill.description = "\u{5FAE}".repeat(DESCRIPTION_CHARS_MAX);
    skill.version = "1".repeat(VERSION_CHARS_MAX);
    skill.tags = vec!["\u{5FAE}".repeat(TAG_CHARS_MAX); TAGS_MAX];
    skill.aliases = vec!["\u{5FAE}".repeat(ALIAS_CHARS_MAX); ALIASES_MAX];
    skill.examples = vec!["\u{5FAE}".repeat(EXAMPLE_CHARS_MAX); EXAMPLES_MAX];
    skill.allowed_tools = Some(many(TOOLS_LISTED_MAX));
    skill.content = "x".repeat(CONTENT_BYTES_MAX);
    skill.metadata.insert("deep".to_owned(), nested(METADATA_DEPTH_MAX - 1));
    skill.resources = vec![Resource::new("a", "0".repeat(64), RESOURCES_BYTES_MAX as u64, "text/plain")];
    assert_eq!(skill.problems(), vec![]);
    let mut skill = flow();
    skill.steps = vec![skill.steps.remove(0); STEPS_MAX];
    skill.parameters = (0..PARAMETERS_MAX)
        .map(|index| Parameter::new(format!("p{index}"), ParameterType::Boolean))
        .collect();
    assert_eq!(skill.problems(), vec![]);
}

#[test]
fn beyond_every_limit_of_a_knowledge_skill_there_is_one_problem() {
    let cases: Vec<(Change, &str)> = vec![
        (|s| s.id = "Wi-Fi".into(), "invalid_id id"),
        (|s| s.name = "x".repeat(NAME_CHARS_MAX + 1), "too_long name"),
        (|s| s.name = "  ".into(), "empty name"),
        (|s| s.name = "a\tb".into(), "control_character name"),
        (|s| s.name = "a\u{9B}b".into(), "control_character name"),
        (|s| s.name = "cafe\u{301}".into(), "not_nfc name"),
        (|s| s.name = "wi\u{200B}fi".into(), "invisible_character_in_name name"),
        (|s| s.name = "a\u{202E}b".into(), "invisible_character_in_name name"),
        (|s| s.name = "wi\u{200D}fi".into(), "invisible_character_in_name name"),
        (|s| s.description = String::new(), "empty description"),
        (|s| s.description = "a\u{1B}[31m".into(), "control_character description"),
        (|s| s.description = "x".repeat(DESCRIPTION_CHARS_MAX + 1), "too_long description"),
        (|s| s.version = String::new(), "empty version"),
        (|s| s.version = "x".repeat(VERSION_CHARS_MAX + 1), "too_long version"),
        (|s| s.tags = many(TAGS_MAX + 1), "too_many tags"),
        (|s| s.tags = vec!["a".into(), String::new()], "empty /tags/1"),
        (|s| s.aliases = vec!["x".repeat(ALIAS_CHARS_MAX + 1)], "too_long /aliases/0"),
        (|s| s.examples = many(EXAMPLES_MAX + 1), "too_many examples"),
        (|s| s.allowed_tools = Some(many(TOOLS_LISTED_MAX + 1)), "too_many allowed_tools"),
        (|s| s.preapproved_tools = many(TOOLS_LISTED_MAX + 1), "too_many preapproved_tools"),
        (|s| s.success_criteria = many(CRITERIA_MAX + 1), "too_many success_criteria"),
        (|s| s.locale = Some("en_US".into()), "invalid_value locale"),
        (|s| s.updated_at = Some("yesterday".into()), "invalid_value updated_at"),
        (|s| s.license = Some("x".repeat(ATTRIBUTE_CHARS_MAX + 1)), "too_long license"),
        (|s| s.author = Some(String::new()), "empty author"),
        (|s| s.content = "x".repeat(CONTENT_BYTES_MAX + 1), "too_large content"),
        (|s| s.content = "a\0b".into(), "control_character content"),
        (|s| _ = s.metadata.insert("a".into(), "x".repeat(METADATA_BYTES_MAX).into()), "too_large metadata"),
        (|s| _ = s.metadata.insert("a".into(), nested(METADATA_DEPTH_MAX)), "too_deep metadata"),
        (|s| _ = s.metadata.insert("a".into(), u64::MAX.into()), "inexact_number metadata"),
        (|s| s.parameters = vec![Parameter::new("a", ParameterType::String)], "field_not_of_kind parameters"),
        (|s| s.steps = flow().steps, "field_not_of_kind steps"),
        (|s| s.apps = vec![App::new("settings app")], "invalid_value /apps/0/package"),
        (|s| s.apps = vec![App::new("a.b"); APPS_MAX + 1], "too_many apps"),
        (|s| s.derived_from = vec!["A".into()], "invalid_id /derived_from/0"),
        (|s| s.derived_from = many(DERIVED_FROM_MAX + 1), "too_many derived_from"),
    ];
    for (change, expected) in cases {
        assert_eq!(faults(knowledge(), change), [expected]);
    }
}

#[test]
fn beyond_every_limit_of_a_flow_there_is_one_problem() {
    let cases: Vec<(Change, &str)> = vec![
        (|s| s.steps.clear(), "too_few steps"),
        (|s| s.steps = vec![s.steps[0].clone(); STEPS_MAX + 1], "too_many steps"),
        (|s| s.content = "x".into(), "field_not_of_kind content"),
        (|s| s.steps[0].tool = String::new(), "empty /steps/0/tool"),
        (|s| s.steps[0].note = Some("x".repeat(NOTE_CHARS_MAX + 1)), "too_long /steps/0/note"),
        (
            |s| _ = s.steps[0].args_template.insert("a".into(), nested(TEMPLATE_DEPTH_MAX)),
            "too_deep /steps/0/args_template",
        ),
        (
            |s| _ = s.steps[0].args_template.insert("a".into(), "x".repeat(TEMPLATE_BYTES_MAX).into()),
            "too_large /steps/0/args_template",
        ),
        (
            |s| s.parameters = vec![Parameter::new("a", ParameterType::Boolean); 2],
            "duplicate_name /parameters/1/name",
        ),
        (
            |s| s.parameters = vec![Parameter::new("a b", ParameterType::String)],
            "invalid_value /parameters/0/name",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(faults(flow(), change), [expected]);
    }
    let parameters = |s: &mut Skill| {
        s.parameters = (0..=PARAMETERS_MAX)
            .map(|index| Parameter::new(format!("p{index}"), ParameterType::Boolean))
            .collect();
    };
    assert_eq!(faults(flow(), parameters), ["too_many parameters"]);
}

#[test]
fn resources_stay_below_their_folder_and_within_their_size() {
    let good = || Resource::new("a.md", "0".repeat(64), 1, "text/markdown");
    let cases: Vec<(Vec<Resource>, &str)> = vec![
        (vec![good(); RESOURCES_MAX + 1], "too_many resources"),
        (vec![good(), good()], "duplicate_name /resources/1/path"),
        (vec![Resource { path: "../a".into(), ..good() }], "unsafe_path /resources/0/path"),
        (vec![Resource { sha256: "F".repeat(64), ..good() }], "invalid_value /resources/0/sha256"),
        (vec![Resource { media_type: String::new(), ..good() }], "empty /resources/0/media_type"),
        (vec![Resource { bytes: u64::MAX, ..good() }], "too_large resources"),
    ];
    for (resources, expected) in cases {
        let found = faults(knowledge(), |skill| skill.resources = resources);
        assert!(found.contains(&expected.to_owned()), "{expected}: {:?}", found.first());
    }
}

#[test]
fn versions_of_an_app_are_in_order() {
    let mut app = App::new("a.b");
    (app.min_version_code, app.max_version_code) = (Some(2), Some(1));
    assert_eq!(faults(knowledge(), |skill| skill.apps = vec![app]), ["empty_range /apps/0/min_version_code"]);
}

#[test]
fn a_deprecation_gives_its_reason_and_names_a_sound_id() {
    let status = Status::Deprecated { reason: String::new(), replaced_by: Some("..".to_owned()) };
    let found = faults(knowledge(), |skill| skill.status = status);
    assert_eq!(found, ["empty /status/reason", "invalid_id /status/replaced_by"]);
}

#[test]
fn every_problem_is_told_at_once() {
    let found = faults(flow(), |skill| {
        skill.id = "A".to_owned();
        skill.name.clear();
        skill.locale = Some("??".to_owned());
        skill.steps[0].tool.clear();
    });
    assert_eq!(found, ["invalid_id id", "empty name", "invalid_value locale", "empty /steps/0/tool"]);
}

#[test]
fn emoji_and_joiners_that_belong_to_a_script_may_stand_in_a_name() {
    let names = [
        "\u{2699}\u{FE0F} Settings",
        "1\u{FE0F}\u{20E3} First",
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} Family",
        "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}",
        "\u{915}\u{94D}\u{200D}\u{937}",
    ];
    for name in names {
        assert_eq!(
            faults(knowledge(), |skill| skill.name = name.to_owned()),
            [""; 0],
            "{}",
            name.escape_unicode()
        );
    }
}

#[test]
fn advice_is_given_for_what_is_long_or_empty() {
    let mut skill = knowledge();
    skill.description = "x".repeat(DESCRIPTION_CHARS_ADVISED + 1);
    skill.content = "x".repeat(CONTENT_BYTES_ADVISED + 1);
    let codes = |skill: &Skill| skill.advice().into_iter().map(|advice| advice.code).collect::<Vec<_>>();
    assert_eq!(codes(&skill), ["description_too_long", "body_over_limit"]);
    assert_eq!(codes(&knowledge()), ["empty_body"]);
    assert_eq!(codes(&flow()), [""; 0]);
}
