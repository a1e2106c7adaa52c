//! Templates from skill to resolved steps, through the archived form.

use serde_json::{Map, Value, json};

use super::*;
use crate::limits::{RESOLVED_BYTES_MAX, VALUE_BYTES_MAX};
use crate::model::{Kind, Risk, Skill};
use crate::tools::ToolRegistry;

/// A skill of a kind with nothing in it.
pub(super) fn skill(kind: Kind) -> Skill {
    Skill::new("test", kind, "Test", "A test.")
}

pub(super) fn flow(parameters: Value, steps: Value) -> Skill {
    Skill {
        parameters: serde_json::from_value(parameters).unwrap(),
        steps: serde_json::from_value(steps).unwrap(),
        ..skill(Kind::FlowTemplate)
    }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}

/// Archives a program and hands it on as a snapshot would.
pub(super) fn archived<T>(program: &Program, then: impl FnOnce(&ArchivedProgram) -> T) -> T {
    let bytes = rkyv::to_bytes::<rkyv::rancor::Error>(program).unwrap();
    then(rkyv::access::<ArchivedProgram, rkyv::rancor::Error>(&bytes).unwrap())
}

pub(super) fn run(skill: &Skill, registry: &ToolRegistry, values: Value) -> Result<Value, Value> {
    let compiled = compile(skill, registry);
    assert_eq!(compiled.unavailable, [], "the skill is meant to be sound");
    let values = object(values);
    archived(&compiled.program, |program| {
        check_archived(program).unwrap();
        let steps = resolve(program, &values, registry);
        let text = resolve_text(program, &values, registry);
        match (steps, text) {
            (Ok(steps), Ok(text)) => {
                let steps = serde_json::to_value(steps).unwrap();
                assert_eq!(serde_json::from_str::<Value>(text.json()).unwrap(), steps, "both forms agree");
                for ((tool, args, secret), step) in text.steps().zip(steps.as_array().unwrap()) {
                    assert_eq!(tool, step["tool"]);
                    assert_eq!(serde_json::from_str::<Value>(args).unwrap(), step["args"]);
                    assert_eq!(secret, step.get("secret").is_some());
                }
                Ok(steps)
            }
            (Err(problems), Err(others)) => {
                assert_eq!(problems, others);
                Err(serde_json::to_value(problems).unwrap())
            }
            (steps, text) => panic!("the two forms disagree: {steps:?} {text:?}"),
        }
    })
}

/// A tool that takes anything, so that only the template matters.
pub(super) fn open_registry() -> std::sync::Arc<ToolRegistry> {
    let text = json!([{"name": "any", "inputSchema": {"type": "object"}}]);
    ToolRegistry::builtin().with_json(&text.to_string()).unwrap()
}

pub(super) fn search_flow() -> Skill {
    flow(
        json!([
            {"name": "query", "type": "string", "description": "what to search for", "max_length": 40},
            {"name": "count", "type": "integer", "minimum": 1, "maximum": 50, "default": 5},
            {"name": "package", "type": "string", "required": false},
            {"name": "pin", "type": "string", "required": false, "secret": true},
        ]),
        json!([
            {"tool": "open_app", "args_template": {"target": "Notes {{beta}}"}, "note": "say \"hi\""},
            {"tool": "type_text", "args_template": {"text": "find {query} x{count}", "field": "Search"}},
            {"tool": "scroll_to_element", "args_template": {"text": "{query}", "max_scrolls": "{count}"}, "optional": true},
            {"tool": "open_url", "args_template": {"url": "https://a.b/?q={query}", "package": "{package}"}},
            {"tool": "stop_app", "args_template": {"package": "{pin}"}},
            {"tool": "press_back", "args_template": {}},
        ]),
    )
}

#[test]
fn a_flow_is_resolved_in_full() {
    let flow = Skill { steps: search_flow().steps, ..search_flow() };
    let table = ToolRegistry::builtin();
    // 50 fits the parameter, not the tool: the step is checked again.
    let values = json!({"query": "a\"{count}\n\u{652F}", "count": "3", "package": "com.b"});
    let steps = run(&flow, &table, values).unwrap();
    assert_eq!(
        steps,
        json!([
            {"tool": "launch_app", "args": {"app": "Notes {beta}"}, "note": "say \"hi\""},
            {"tool": "input_text", "args": {"text": "find a\"{count}\n\u{652F} x3", "field": "Search"}},
            {"tool": "scroll_to_element", "args": {"text": "a\"{count}\n\u{652F}", "max_scrolls": 3}, "optional": true},
            {"tool": "open_url", "args": {"url": "https://a.b/?q=a\"{count}\n\u{652F}", "package": "com.b"}},
            {"tool": "stop_app", "args": {}},
            {"tool": "press_key", "args": {"key": "back"}},
        ])
    );
    let steps = run(&flow, &table, json!({"query": "x", "pin": "1234"})).unwrap();
    assert_eq!(steps[2]["args"], json!({"text": "x", "max_scrolls": 5}), "the default counts");
    assert_eq!(
        steps[3]["args"],
        json!({"url": "https://a.b/?q=x"}),
        "an absent optional argument is left out"
    );
    assert_eq!(steps[4], json!({"tool": "stop_app", "args": {"package": "1234"}, "secret": true}));
}

#[test]
fn every_problem_with_values_is_listed() {
    let problems =
        run(&search_flow(), &ToolRegistry::builtin(), json!({"count": 0, "extra": 1, "package": 7}));
    assert_eq!(
        problems.unwrap_err(),
        json!([
            {"parameter": "query", "problem": "missing", "expected": "string", "description": "what to search for"},
            {"parameter": "count", "problem": "out_of_range", "got": 0, "minimum": 1, "maximum": 50},
            {"parameter": "package", "problem": "wrong_type", "expected": "string", "got": 7},
            {"parameter": "extra", "problem": "unknown_parameter", "expected": "query, count, package, pin"},
        ])
    );
}

#[test]
fn resolved_steps_are_checked_against_the_tool_again() {
    let table = ToolRegistry::builtin();
    let codes = |skill: &Skill, values: Value| -> Vec<(String, String)> {
        let problems = run(skill, &table, values).unwrap_err();
        let text = |problem: &Value, name: &str| problem[name].as_str().unwrap_or_default().to_owned();
        problems.as_array().unwrap().iter().map(|p| (text(p, "field"), text(p, "problem"))).collect()
    };
    let one = |field: &str, problem: &str| vec![(field.to_owned(), problem.to_owned())];
    let found = codes(&search_flow(), json!({"query": "x", "count": 31}));
    assert_eq!(found, one("/steps/2/args/max_scrolls", "out_of_range"));
    let found = codes(&search_flow(), json!({"query": "x", "count": "31"}));
    assert_eq!(found, one("/steps/2/args/max_scrolls", "out_of_range"));
    let found = codes(&search_flow(), json!({"query": "", "count": 1}));
    assert_eq!(found, one("/steps/2/args/text", "too_short"));
    let idle = flow(
        json!([{"name": "ms", "type": "integer", "minimum": 0, "maximum": 5000}]),
        json!([{"tool": "wait_for_idle", "args_template": {"stable_ms": "{ms}", "timeout_ms": 1000}}]),
    );
    assert_eq!(codes(&idle, json!({"ms": 2000})), one("/steps/0/args", "argument_rule"));
    assert!(run(&idle, &table, json!({"ms": 500})).is_ok());
    let either = flow(
        json!([{"name": "a", "type": "string", "required": false}, {"name": "b", "type": "string", "required": false}]),
        json!([{"tool": "tap", "args_template": {"text": "{a}", "resource_id": "{b}"}}]),
    );
    assert_eq!(codes(&either, json!({})), one("/steps/0/args", "argument_rule"));
    assert_eq!(codes(&either, json!({"a": "x", "b": "y"})), one("/steps/0/args", "argument_rule"));
    assert!(run(&either, &table, json!({"b": "y"})).is_ok());
    let secret = flow(
        json!([{"name": "pin", "type": "string", "secret": true}]),
        json!([{"tool": "tap", "args_template": {"bounds": "{pin}"}}]),
    );
    let shown = run(&secret, &table, json!({"pin": "hunter2"})).unwrap_err().to_string();
    assert!(shown.contains("pattern_mismatch") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_changed_registry_makes_every_step_be_checked() {
    let compiled = compile(&search_flow(), &ToolRegistry::builtin());
    let text = json!([{"name": "press_key", "inputSchema": {"type": "object", "properties": {"key": {"enum": ["home"]}}}}]);
    let moved = ToolRegistry::builtin().with_json(&text.to_string()).unwrap();
    let values = object(json!({"query": "x"}));
    archived(&compiled.program, |program| {
        let problems = resolve(program, &values, &moved).unwrap_err();
        assert_eq!(
            (problems[0].field.as_str(), problems[0].problem.as_str()),
            ("/steps/5/args/key", "not_in_enum")
        );
        let problems = resolve(program, &values, &ToolRegistry::default()).unwrap_err();
        assert_eq!(problems.len(), 6);
        assert!(problems.iter().all(|problem| problem.problem == "unknown_tool"));
    });
}

#[test]
fn bad_templates_are_unavailable_with_every_reason() {
    let cases = [
        (json!({"text": "{q"}), "template_syntax /text"),
        (json!({"text": "{nope}"}), "undefined_placeholder /text"),
        (json!({"text": "a {nope} {q"}), "template_syntax /text"),
        (json!({"text": "see {o}"}), "optional_without_default /text"),
        (json!({"text": "a", "colour": "{q}"}), "unknown_argument /colour"),
        (json!({"text": "a", "x": "{q}", "y": 1}), "placeholder_mismatch /x"),
        (json!({"text": "a", "x": "1{n}", "y": 1}), "wrong_type /x"),
        (json!({"text": "a", "x": -1, "y": "{n}"}), "out_of_range /x"),
        (json!({"index": "{bad_index}"}), "placeholder_mismatch /index"),
        (json!({"text_match": "{word}", "text": "a"}), "placeholder_mismatch /text_match"),
        (json!({"target": "{q}", "text": "b"}), "argument_conflict /text"),
        (json!({"text": "a", "text_match": "{q}", "bounds": "{q}"}), "argument_rule "),
        (json!({}), "argument_rule "),
        (json!({"text": 5, "snapshot": 7}), "wrong_type /snapshot wrong_type /text argument_rule "),
    ];
    let parameters = json!([
        {"name": "q", "type": "string"},
        {"name": "o", "type": "string", "required": false},
        {"name": "n", "type": "number"},
        {"name": "bad_index", "type": "integer", "maximum": -1},
        {"name": "word", "type": "string", "enum": ["no", "yes"]},
    ]);
    for (args, expected) in cases {
        let flow = flow(parameters.clone(), json!([{"tool": "tap", "args_template": args}]));
        let compiled = compile(&flow, &ToolRegistry::builtin());
        let root = "/steps/0/args_template";
        let found: Vec<String> = compiled
            .unavailable
            .iter()
            .map(|problem| format!("{} {}", problem.code, problem.field.strip_prefix(root).unwrap()))
            .collect();
        assert_eq!(found.join(" "), expected, "{args}");
        assert_eq!(compiled.program, Program::default(), "nothing is kept of an unavailable flow");
    }
}

#[test]
fn problems_of_all_steps_and_parameters_come_together() {
    let flow = flow(
        json!([
            {"name": "a", "type": "string", "pattern": "("},
            {"name": "b", "type": "integer", "default": "3"},
            {"name": "c", "type": "integer", "maximum": 2, "default": 3},
            {"name": "d", "type": "integer", "required": false},
        ]),
        json!([
            {"tool": "tapp", "args_template": {"text": "{nobody}"}},
            {"tool": "press_back", "args_template": {"key": "home"}},
            {"tool": "press_key", "args_template": {"key": "{d}"}},
        ]),
    );
    let compiled = compile(&flow, &ToolRegistry::builtin());
    let found: Vec<(&str, &str)> =
        compiled.unavailable.iter().map(|p| (p.code.as_str(), p.field.as_str())).collect();
    assert_eq!(
        found,
        [
            ("pattern_invalid", "/parameters/0/pattern"),
            ("default_invalid", "/parameters/1/default"),
            ("default_invalid", "/parameters/2/default"),
            ("unknown_tool", "/steps/0/tool"),
            ("undefined_placeholder", "/steps/0/args_template/text"),
            ("argument_conflict", "/steps/1/args_template/key"),
            ("optional_without_default", "/steps/2/args_template/key"),
        ]
    );
    let unused: Vec<&str> = compiled.warnings.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(unused, ["/parameters/0", "/parameters/1", "/parameters/2"]);
}

#[test]
fn tools_and_risk_follow_from_what_a_skill_names() {
    let table = ToolRegistry::builtin();
    let knowledge = |tools: Option<&[&str]>| Skill {
        allowed_tools: tools.map(|tools| tools.iter().map(|&tool| tool.to_owned()).collect()),
        ..skill(Kind::Knowledge)
    };
    let compiled = compile(&knowledge(None), &table);
    assert_eq!((compiled.effective_tools, compiled.tool_risk), (None, None));
    let compiled = compile(&knowledge(Some(&[])), &table);
    assert_eq!((compiled.effective_tools, compiled.tool_risk), (Some(Vec::new()), None));
    let compiled = compile(&knowledge(Some(&["press_back", "open_app", "stop_app", "launch_app"])), &table);
    assert_eq!(compiled.effective_tools.unwrap(), ["launch_app", "press_back", "stop_app"]);
    assert_eq!((compiled.tool_risk, compiled.unavailable), (Some(Risk::High), Vec::new()));
    let compiled = compile(&knowledge(Some(&["press_back", "press_key", "Bash"])), &table);
    assert_eq!(compiled.effective_tools.unwrap(), ["press_key"], "the whole covers its part");
    assert_eq!(compiled.unavailable[0].field, "/allowed_tools/2");
    let steps =
        json!([{"tool": "press_back", "args_template": {}}, {"tool": "tap", "args_template": {"text": "a"}}]);
    let derived = compile(&flow(json!([]), steps.clone()), &table);
    let tools = derived.effective_tools.unwrap();
    assert_eq!(tools.len(), 12, "two of its own and ten that look or wait: {tools:?}");
    assert!(tools.contains(&"press_back".to_owned()) && !tools.contains(&"press_key".to_owned()));
    assert_eq!(derived.tool_risk, Some(Risk::Medium));
    let closed = Skill { allowed_tools: Some(vec!["tap".to_owned()]), ..flow(json!([]), steps) };
    let compiled = compile(&closed, &table);
    assert_eq!(compiled.effective_tools.unwrap(), ["tap"]);
    assert_eq!(compiled.warnings[0].code, "step_not_allowed");
}

#[test]
fn the_result_is_bounded_before_memory_is_taken() {
    let steps: Vec<Value> = (0..20).map(|_| json!({"tool": "any", "args_template": {"t": "{v}"}})).collect();
    let flow = flow(json!([{"name": "v", "type": "string"}]), json!(steps));
    let table = open_registry();
    let each = RESOLVED_BYTES_MAX / 20 - json!({"tool": "any", "args": {"t": ""}}).to_string().len();
    let most = json!({"v": "x".repeat(each - 1)});
    assert!(run(&flow, &table, most).is_ok());
    let problems = run(&flow, &table, json!({"v": "x".repeat(each)})).unwrap_err();
    assert_eq!(problems[0]["problem"], "result_too_large");
    // A control character takes six bytes: escaping counts.
    let problems = run(&flow, &table, json!({"v": "\u{1}".repeat(each / 5)})).unwrap_err();
    assert_eq!(problems[0]["problem"], "result_too_large");
    let problems = run(&flow, &table, json!({"v": "x".repeat(VALUE_BYTES_MAX + 1)})).unwrap_err();
    assert_eq!(problems[0]["problem"], "value_too_large");
}

#[test]
fn a_template_that_is_too_deep_is_refused() {
    let nested = |depth: usize| (0..depth).fold(json!("{v}"), |inner, _| json!({"a": inner}));
    let of = |depth: usize| {
        let steps = json!([{"tool": "any", "args_template": nested(depth)}]);
        compile(&flow(json!([{"name": "v", "type": "string"}]), steps), &open_registry()).unavailable
    };
    assert_eq!(of(crate::limits::TEMPLATE_DEPTH_MAX), []);
    assert_eq!(of(crate::limits::TEMPLATE_DEPTH_MAX + 1)[0].code, "too_deep");
    assert_eq!(of(100)[0].code, "too_deep");
}
