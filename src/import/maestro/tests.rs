//! Flows written for these tests: what each command becomes, what is refused, what is told.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::*;
use crate::flow::compile;
use crate::limits::{FLOW_INLINE_DEPTH_MAX, FLOW_INLINES_MAX, STEPS_MAX};
use crate::model::{ParameterType, Skill};

/// Reads the first of some files; the others are there to be run.
fn read_all(files: &[(&str, String)]) -> SkillReport {
    let others: HashMap<&str, &str> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let load = |path: &str| match others.get(path) {
        Some(text) => Ok(Arc::from(text.as_bytes())),
        None => Err(Box::new(Problem::new("unreadable", "", "there is no such file"))),
    };
    let (path, text) = &files[0];
    let report =
        read_maestro(&FileContext::new(path, "flows", text.as_bytes()), &load, &ToolRegistry::builtin());
    assert_eq!((report.format, report.skills.len()), (Some(Format::MaestroFlow), 1));
    report.skills.into_iter().next().expect("one skill")
}

fn read(text: &str) -> SkillReport {
    read_all(&[("flows/main.yaml", text.to_owned())])
}

/// A flow with these commands.
fn flow(commands: &str) -> String {
    format!("appId: org.notes\n---\n{commands}")
}

/// The skill of a flow that can be used.
#[track_caller]
fn skill(report: SkillReport) -> Skill {
    assert!(report.unavailable.is_empty(), "{:?}", report.unavailable);
    report.result.unwrap_or_else(|problems| panic!("{problems:?}")).skill
}

/// Tool and arguments of every step.
fn steps(skill: &Skill) -> Vec<(&str, Value)> {
    skill.steps.iter().map(|step| (step.tool.as_str(), Value::Object(step.args_template.clone()))).collect()
}

/// `code line` of every problem.
#[track_caller]
fn refusals(report: &SkillReport) -> Vec<String> {
    let problems = report.result.as_ref().expect_err("it is refused");
    problems.iter().map(|problem| format!("{} {}", problem.code, problem.line.unwrap_or(0))).collect()
}

fn codes(problems: &[Problem]) -> Vec<(&str, &str)> {
    problems.iter().map(|problem| (problem.code.as_str(), problem.field.as_str())).collect()
}

#[test]
fn every_command_with_a_counterpart_becomes_its_tool() {
    for (commands, want) in [
        ("- launchApp", json!([["launch_app", {"package": "org.notes"}]])),
        ("- launchApp: org.other", json!([["launch_app", {"package": "org.other"}]])),
        (
            "- launchApp:\n    stopApp: true\n    clearState: false",
            json!([["stop_app", {"package": "org.notes"}], ["launch_app", {"package": "org.notes"}]]),
        ),
        ("- stopApp", json!([["stop_app", {"package": "org.notes"}]])),
        ("- killApp: org.other", json!([["stop_app", {"package": "org.other"}]])),
        ("- tapOn: New note", json!([["tap", {"text": "New note"}]])),
        ("- tapOn: 42", json!([["tap", {"text": "42"}]])),
        (
            "- tapOn: {id: 'org.notes:id/new', optional: true}",
            json!([["tap", {"resource_id": "org.notes:id/new"}]]),
        ),
        ("- tapOn: {point: '50%, 25%'}", json!([["tap", {"x": 0.5, "y": 0.25}]])),
        ("- doubleTapOn: {point: '100,0'}", json!([["double_tap", {"x": 100, "y": 0}]])),
        ("- longPressOn: {text: 'Save {all}'}", json!([["long_press", {"text": "Save {{all}}"}]])),
        ("- inputText: on", json!([["input_text", {"text": "on"}]])),
        ("- eraseText", json!([["clear_text", {}]])),
        ("- assertVisible: Done", json!([["wait_for", {"text": "Done"}]])),
        ("- assertNotVisible: {id: busy}", json!([["wait_for", {"resource_id": "busy", "gone": true}]])),
        (
            "- extendedWaitUntil: {visible: {id: list}, timeout: 9_000}",
            json!([["wait_for", {"resource_id": "list", "timeout_ms": 9000}]]),
        ),
        (
            "- extendedWaitUntil: {notVisible: Loading..., timeout: 90000}",
            json!([["wait_for", {"text": "Loading...", "gone": true, "timeout_ms": 30000}]]),
        ),
        ("- waitForAnimationToEnd: {timeout: 100}", json!([["wait_for_idle", {"timeout_ms": 500}]])),
        ("- waitForAnimationToEnd: 3000", json!([["wait_for_idle", {"timeout_ms": 3000}]])),
        ("- waitForAnimationToEnd", json!([["wait_for_idle", {}]])),
        ("- scroll", json!([["scroll", {"direction": "down"}]])),
        (
            "- swipe: {direction: LEFT, duration: 400, from: {id: card}}",
            json!([["swipe", {"direction": "left", "duration_ms": 400, "resource_id": "card"}]]),
        ),
        (
            "- swipe: {start: '10%,50%', end: '90%,50%'}",
            json!([["swipe", {"x1": 0.1, "y1": 0.5, "x2": 0.9, "y2": 0.5}]]),
        ),
        (
            "- scrollUntilVisible: {element: {text: Footer}, direction: UP, speed: 40}",
            json!([["scroll_to_element", {"text": "Footer", "direction": "up"}]]),
        ),
        ("- back\n- action: back", json!([["press_key", {"key": "back"}], ["press_key", {"key": "back"}]])),
        ("- pressKey: Volume Up", json!([["press_key", {"key": "volume_up"}]])),
        ("- hideKeyboard", json!([["dismiss_keyboard", {}]])),
        (
            "- openLink: {link: 'https://a.example/x', autoVerify: true}",
            json!([["open_url", {"url": "https://a.example/x"}]]),
        ),
    ] {
        let skill = skill(read(&flow(commands)));
        let found: Vec<Value> = steps(&skill).into_iter().map(|(tool, args)| json!([tool, args])).collect();
        assert_eq!(Value::Array(found), want, "{commands}");
    }
}

#[test]
fn the_configuration_becomes_the_head_of_the_skill() {
    let text = "# Writes a note\n# and saves it.\nappId: org.notes\nname: Write a Note\ntags:\n- notes\n- smoke\n\
                jsEngine: graaljs\nonFlowStart:\n- launchApp\nonFlowComplete:\n- back\n---\n- tapOn:\n    text: New\n    \
                label: Begin a note\n    optional: true\n- assertVisible: Saved\n";
    let report = read(text);
    assert_eq!(codes(&report.warnings), [("unknown_field", "jsEngine")]);
    let skill = skill(report);
    assert_eq!((skill.id.as_str(), skill.name.as_str()), ("write-a-note", "Write a Note"));
    assert_eq!(skill.description, "Writes a note and saves it.");
    assert_eq!((skill.tags.join(" ").as_str(), skill.apps[0].package.as_str()), ("notes smoke", "org.notes"));
    assert_eq!(skill.metadata["jsEngine"], "graaljs");
    assert_eq!(skill.success_criteria, ["The screen shows \"Saved\"."]);
    let tools: Vec<&str> = skill.steps.iter().map(|step| step.tool.as_str()).collect();
    assert_eq!(tools, ["launch_app", "tap", "wait_for", "press_key"]);
    assert_eq!((skill.steps[1].note.as_deref(), skill.steps[1].optional), (Some("Begin a note"), true));
}

#[test]
fn a_flow_without_a_name_or_a_comment_is_called_after_its_file_and_told() {
    let report = read(&flow("- back"));
    assert_eq!(codes(&report.warnings), [("description_defaulted", "description")]);
    let skill = skill(report);
    assert_eq!((skill.id.as_str(), skill.description.as_str()), ("main", "main: a flow in org.notes."));
}

#[test]
fn variables_become_parameters_with_the_type_that_the_tool_wants() {
    let text = "appId: ${APP}\nenv:\n  WAIT: 2000\n  USER_PASSWORD: hunter2\n  SITE: https://${HOST}/x\n---\n- launchApp\n\
                - inputText: \\${A} {b} ${USER_PASSWORD}\n- extendedWaitUntil:\n    visible: ${WHAT}\n    timeout: ${WAIT}\n\
                - openLink: ${SITE}\n";
    let skill = skill(read(text));
    let shown: Vec<_> = skill
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), p.kind, p.required, p.secret, p.default.clone().unwrap_or(Value::Null)))
        .collect();
    assert_eq!(
        shown,
        [
            ("WAIT", ParameterType::Integer, false, false, json!(2000)),
            ("USER_PASSWORD", ParameterType::String, false, true, json!("hunter2")),
            ("HOST", ParameterType::String, true, false, Value::Null),
            ("APP", ParameterType::String, true, false, Value::Null),
            ("WHAT", ParameterType::String, true, false, Value::Null),
        ]
    );
    assert!(skill.apps.is_empty());
    assert_eq!(skill.steps[0].args_template["package"], "{APP}");
    assert_eq!(skill.steps[1].args_template["text"], "${{A}} {{b}} {USER_PASSWORD}");
    assert_eq!(skill.steps[2].args_template["timeout_ms"], "{WAIT}");
    assert_eq!(skill.steps[3].args_template["url"], "https://{HOST}/x");
    assert!(compile(&skill, &ToolRegistry::builtin()).unavailable.is_empty());
}

#[test]
fn a_parameter_that_stands_in_texts_too_stays_a_text() {
    let text = "appId: a.b\nenv:\n  N: 3000\n---\n- inputText: waits ${N}\n- waitForAnimationToEnd:\n    timeout: ${N}\n";
    let report = read(text);
    assert_eq!(report.result.as_ref().expect("read").skill.parameters[0].kind, ParameterType::String);
    assert!(!report.unavailable.is_empty(), "a text cannot be a time");
}

#[test]
fn a_command_without_a_counterpart_makes_the_skill_unavailable_and_is_named() {
    for (command, named) in [
        ("pasteText", "pasteText"),
        ("setLocation: {latitude: 1.5, longitude: '${LON}'}", "setLocation"),
        ("addMedia:\n  - a.png", "addMedia"),
        ("setAirplaneMode: enabled", "setAirplaneMode"),
        ("someFutureCommand", "someFutureCommand"),
        ("launchApp: {clearState: true}", "launchApp.clearState"),
        ("launchApp: {permissions: {all: deny}}", "launchApp.permissions"),
        ("tapOn: Item [0-9]+", "tapOn.regex"),
        ("tapOn: {id: '.*${X}'}", "tapOn.regex"),
        ("tapOn: {text: A, index: 2}", "tapOn.index"),
        ("tapOn: {below: A}", "tapOn.below"),
        ("tapOn: {text: A, id: b}", "tapOn.text_and_id"),
        ("tapOn: {point: '1,1'}", "tapOn.point"),
        ("assertVisible: {text: A, enabled: true}", "assertVisible.enabled"),
        ("pressKey: Remote System Navigation Up", "pressKey.key"),
        ("swipe: {direction: '${D}'}", "swipe.direction"),
        ("extendedWaitUntil: {visible: A, timeout: soon}", "extendedWaitUntil.timeout"),
    ] {
        let report = read(&flow(&format!("- back\n- {command}\n")));
        assert!(report.result.is_ok(), "{command}: {:?}", report.result);
        let reasons: Vec<_> =
            report.unavailable.iter().map(|p| (p.code.as_str(), p.got.as_deref(), p.line)).collect();
        assert_eq!(reasons, [("unknown_tool", Some(named), Some(4))], "{command}");
        assert!(codes(&report.warnings).contains(&("command_without_counterpart", named)), "{command}");
    }
}

#[test]
fn a_tool_of_that_name_makes_it_available() {
    let tools = r#"[{"name": "pasteText", "inputSchema": {"type": "object"}}]"#;
    let registry = ToolRegistry::builtin().with_json(tools).expect("tools");
    let text = flow("- pasteText\n");
    let load = |_: &str| unreachable!("nothing is run");
    let report = read_maestro(&FileContext::new("a.yaml", "", text.as_bytes()), &load, &registry);
    assert_eq!(report.skills[0].unavailable, []);
}

#[test]
fn what_only_observes_is_left_out_with_a_warning() {
    let report = read(&flow(
        "- takeScreenshot: a\n- back\n- startRecording: ${output.x}\n- stopRecording\n- assertWithAI: {assertion: x}\n\
         - assertNoDefectsWithAI\n",
    ));
    let dropped = report.warnings.iter().filter(|warning| warning.code == "command_dropped");
    assert_eq!(dropped.map(|w| w.line.unwrap_or(0)).collect::<Vec<_>>(), [3, 5, 6, 7, 8]);
    assert_eq!(skill(report).steps.len(), 1);
}

#[test]
fn what_is_no_straight_line_is_refused_with_its_line() {
    for (command, want) in [
        ("evalScript: ${output.a = 1}", "not_linear 4"),
        ("runScript: a.js", "not_linear 4"),
        ("assertTrue: ${1 == 1}", "not_linear 4"),
        ("inputRandomEmail", "not_linear 4"),
        ("repeat: {times: 2, commands: [back]}", "not_linear 4"),
        ("retry: {commands: [back]}", "not_linear 4"),
        ("runFlow: {when: {visible: A}, commands: [back]}", "not_linear 4"),
        ("tapOn: ${output.name}", "flow_expression 4"),
        ("inputText: 'a ${X || 1}'", "flow_expression 4"),
        ("pasteText: ${a.b}", "flow_expression 4"),
        ("tapOn:", "invalid_flow 4"),
        ("tapOn: {label: x}", "invalid_flow 4"),
        ("tapOn: [a]", "invalid_flow 4"),
        ("inputText: {label: x}", "invalid_flow 4"),
        ("tapOn: a\n  back: b", "invalid_flow 4"),
        ("[back]", "invalid_flow 4"),
        ("'two words'", "invalid_flow 4"),
        ("runFlow: {file: a.yaml, commands: [back]}", "invalid_flow 4"),
        ("runFlow: {commands: [back], unless: 1}", "invalid_flow 4"),
        ("runFlow: gone.yaml", "flow_unreadable 4"),
        ("runFlow: ../../x.yaml", "flow_outside_root 4"),
        ("runFlow: /etc/x.yaml", "flow_outside_root 4"),
        ("runFlow: '${FLOW}.yaml'", "invalid_flow 4"),
        ("runFlow: main.yaml", "flow_cycle 4"),
    ] {
        assert_eq!(refusals(&read(&flow(&format!("- back\n- {command}\n")))), [want], "{command}");
    }
    let report = read(&flow("- repeat: {}\n- back\n- evalScript: x\n"));
    assert_eq!(refusals(&report), ["not_linear 3", "not_linear 5"]);
    assert_eq!(refusals(&read("url: https://a.example\n---\n- launchApp\n")), ["invalid_flow 3"]);
}

#[test]
fn files_that_are_no_flow_are_refused_with_the_place() {
    for (text, want) in [
        ("", "empty_file 1"),
        ("appId: a\n", "invalid_flow 1"),
        ("appId: a\n---\n", "invalid_flow 2"),
        ("appId: a\n---\nb: c\n", "invalid_flow 3"),
        ("appId: a\n---\n[]\n", "invalid_flow 3"),
        ("- a\n---\n- b\n", "invalid_flow 1"),
        ("appId: [a]\n---\n- back\n", "invalid_flow 1"),
        ("appId: a\nenv: [A]\n---\n- back\n", "invalid_flow 2"),
        ("appId: a\nenv:\n  A: 1\n  A: 2\n---\n- back\n", "invalid_flow 4"),
        ("appId: a\nenv:\n  A: ${B + 1}\n---\n- back\n", "flow_expression 3"),
        ("appId: a\n---\n- back\n---\n- back\n", "invalid_flow 5"),
        ("appId: a\n---\n- tapOn: [\n", "yaml_invalid 3"),
        ("appId: a\n---\n- tapOn: !!python/object a\n", "unsupported_yaml_tag 3"),
        ("appId: a\n---\n- takeScreenshot: a\n", "too_few 3"),
    ] {
        assert_eq!(refusals(&read(text)), [want], "{text:?}");
    }
    let deep = flow(&format!("- tapOn: {}\n", "[".repeat(10_000)));
    assert_eq!(refusals(&read(&deep)), ["yaml_budget_exceeded 3"]);
}

#[test]
fn flows_that_are_run_stand_in_place_with_their_own_values() {
    let main = "appId: org.notes\nenv:\n  USER: ann\n---\n- runFlow:\n    file: ./parts/sign-in.yaml\n    env:\n      \
                NAME: ${USER}\n      PIN: '12{3}'\n    label: Sign in\n    optional: true\n- runFlow: parts/sign-in.yaml\n\
                - runFlow:\n    commands:\n    - back\n";
    let part = "appId: org.login\nenv:\n  NAME: bob\n---\n- launchApp\n- inputText: ${NAME} ${PIN}\n- runFlow: ../after.yaml\n";
    let report = read_all(&[
        ("flows/main.yaml", main.to_owned()),
        ("flows/parts/sign-in.yaml", part.to_owned()),
        ("flows/after.yaml", "env:\n  NAME: eve\n---\n- inputText: ${NAME}\n".to_owned()),
    ]);
    let skill = skill(report);
    let texts: Vec<_> =
        skill.steps.iter().map(|s| s.args_template.values().next().cloned().unwrap_or_default()).collect();
    assert_eq!(
        texts,
        ["org.login", "{USER} 12{{3}}", "eve", "org.login", "{NAME} {PIN}", "eve", "back"].map(Value::from),
        "given values win, then a flow's own, then those of the flow that runs it"
    );
    assert!(skill.steps[..3].iter().all(|step| step.optional) && !skill.steps[3].optional);
    assert_eq!(skill.steps[0].note.as_deref(), Some("Sign in"));
    let names: Vec<_> = skill.parameters.iter().map(|p| (p.name.as_str(), p.required)).collect();
    assert_eq!(names, [("USER", false), ("NAME", false), ("PIN", true)]);
}

#[test]
fn a_problem_of_a_flow_that_is_run_is_told_at_the_command_that_runs_it() {
    let report = read_all(&[
        ("a.yaml", flow("- back\n- runFlow: b.yaml\n")),
        ("b.yaml", flow("- runFlow: c.yaml\n")),
        ("c.yaml", flow("- back\n- evalScript: x\n- tapOn: '.*'\n")),
    ]);
    assert_eq!(refusals(&report), ["not_linear 4"]);
    let problem = &report.result.as_ref().expect_err("refused")[0];
    assert!(problem.message.starts_with("in c.yaml:4:3: "), "{}", problem.message);
    assert_eq!(report.warnings[0].line, Some(4));
}

#[test]
fn flows_run_each_other_up_to_the_depth_and_never_in_a_circle() {
    let chain = |length: usize| -> Vec<(String, String)> {
        let link = |n: usize| {
            if n == length { flow("- back\n") } else { flow(&format!("- runFlow: {}.yaml\n", n + 1)) }
        };
        (0..=length).map(|n| (format!("{n}.yaml"), link(n))).collect()
    };
    let run = |length: usize| {
        let files = chain(length);
        read_all(&files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect::<Vec<_>>())
    };
    assert_eq!(skill(run(FLOW_INLINE_DEPTH_MAX)).steps.len(), 1);
    assert_eq!(refusals(&run(FLOW_INLINE_DEPTH_MAX + 1)), ["flow_too_deep 3"]);
    let circle = [("a.yaml", flow("- runFlow: b.yaml\n")), ("b.yaml", flow("- runFlow: x/../a.yaml\n"))];
    assert_eq!(refusals(&read_all(&circle)), ["flow_cycle 3"]);
}

#[test]
fn a_flow_that_multiplies_itself_ends_soon() {
    let many = |name: &str| flow(&format!("- runFlow: {name}\n").repeat(100));
    let report = read_all(&[
        ("0.yaml", many("1.yaml")),
        ("1.yaml", many("2.yaml")),
        ("2.yaml", many("3.yaml")),
        ("3.yaml", flow("- takeScreenshot: x\n")),
    ]);
    assert_eq!(refusals(&report), ["too_large 3"], "{FLOW_INLINES_MAX} flows are run");
    let steps = |count: usize| read(&flow(&"- back\n".repeat(count)));
    assert_eq!(skill(steps(STEPS_MAX)).steps.len(), STEPS_MAX);
    assert_eq!(refusals(&steps(STEPS_MAX + 2)), [format!("too_large {}", STEPS_MAX + 3)]);
}

#[test]
fn flows_are_told_from_other_yaml_before_they_are_read() {
    for text in [
        "appId: a\n---\n- tapOn: [\n",
        "# x\n\nappId: a\ntags:\n- b\n- c\n---\n# y\n\n- anything\n",
        "\u{FEFF}---\nappId: a\r\n---\r\n- back\r\n",
        "env:\n  A: b\n---\n- tapOn: x\n",
        "url: https://a.example\nname: x\n---\n- \"launchApp\"\n",
    ] {
        assert!(is_maestro_text(text.as_bytes()), "{text:?}");
    }
    for text in [
        "",
        "appId: a\nproductName: b\n",
        "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\n",
        "---\n- hosts: all\n",
        "name: CI\non: push\n---\n- back\n",
        "name: list\n---\n- milk\n- bread\n",
        "appId: a\n---\nb: c\n",
        "just text\n---\n- back\n",
    ] {
        assert!(!is_maestro_text(text.as_bytes()), "{text:?}");
    }
    assert!(!is_maestro_text(b"appId: \xff\n---\n- back\n"));
}
