//! The table and the registry as their users see them.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::*;
use crate::model::Risk;

fn args(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("not an object: {other}"),
    }
}

/// Problem codes of a call; empty if it is accepted.
fn codes(tool: &str, given: Value) -> Vec<String> {
    match ToolRegistry::builtin().check_call(tool, &args(given)) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_iter().map(|problem| problem.code).collect(),
    }
}

#[test]
fn the_built_in_table_is_sound_and_complete() {
    let table = ToolRegistry::default().with_json(registry::BUILTIN_JSON).unwrap();
    assert_eq!(table.len(), 27);
    for spec in table.specs() {
        assert!(spec.argument("device").is_some(), "{} takes no device", spec.name);
        assert_eq!(spec.parameters["additionalProperties"], json!(false), "{}", spec.name);
        assert!(!spec.summary.is_empty() && spec.summary.ends_with('.'), "{}", spec.name);
        let text = spec.parameters.to_string();
        for banned in ["$ref", "$defs", "[\"string\",\"null\"]", "\"format\":\""] {
            assert!(!text.contains(banned), "{}: {banned}", spec.name);
        }
        for root in ["oneOf", "anyOf", "allOf"] {
            assert!(spec.parameters.get(root).is_none(), "{}: {root} at the root", spec.name);
        }
    }
    assert_eq!(table.specs().collect::<Vec<_>>(), ToolRegistry::builtin().specs().collect::<Vec<_>>());
}

#[test]
fn names_of_both_seed_systems_resolve() {
    let table = ToolRegistry::builtin();
    let cases = [
        ("observe_screen", "ui_tree", json!({})),
        ("observe_screen_context", "describe_screen", json!({})),
        ("get_foreground_app", "current_app", json!({})),
        ("open_app", "launch_app", json!({})),
        ("open_settings_panel", "open_settings_panel", json!({})),
        ("find_element", "find_element", json!({})),
        ("tap", "tap", json!({})),
        ("double_tap", "double_tap", json!({})),
        ("long_press", "long_press", json!({})),
        ("type_text", "input_text", json!({})),
        ("input_text", "input_text", json!({})),
        ("clear_text", "clear_text", json!({})),
        ("focus_input", "focus_input", json!({})),
        ("dismiss_keyboard", "dismiss_keyboard", json!({})),
        ("scroll", "scroll", json!({})),
        ("swipe", "swipe", json!({})),
        ("scroll_to_element", "scroll_to_element", json!({})),
        ("drag_and_drop", "drag_and_drop", json!({})),
        ("press_back", "press_key", json!({"key": "back"})),
        ("press_home", "press_key", json!({"key": "home"})),
        ("recent_apps", "press_key", json!({"key": "recents"})),
        ("wait_for_idle", "wait_for_idle", json!({})),
        ("wait_for_app", "wait_for", json!({})),
        ("wait_for_ui", "wait_for", json!({})),
        ("wait_for_element", "wait_for", json!({})),
        ("wait_for_element_gone", "wait_for", json!({"gone": true})),
    ];
    for (name, tool, fixed) in cases {
        let resolved = table.resolve(name).unwrap_or_else(|| panic!("{name} is unknown"));
        assert_eq!((resolved.spec.name.as_str(), resolved.fixed), (tool, &args(fixed)), "{name}");
    }
    assert!(table.resolve("Tap").is_none(), "names are matched exactly");
}

#[test]
fn effects_and_risks_are_those_of_the_contract() {
    let of = |risk: Risk, effect: Effect| -> Vec<String> {
        let table = ToolRegistry::builtin();
        table.specs().filter(|s| s.risk == risk && s.effect == effect).map(|s| s.name.clone()).collect()
    };
    assert_eq!(of(Risk::High, Effect::Mutate), ["stop_app"]);
    assert_eq!(of(Risk::Low, Effect::Mutate), ["dismiss_keyboard"]);
    assert_eq!(of(Risk::Low, Effect::Wait), ["wait_for", "wait_for_idle"]);
    assert_eq!(
        of(Risk::Low, Effect::Observe),
        [
            "list_devices",
            "device_info",
            "describe_screen",
            "ui_tree",
            "screenshot",
            "current_app",
            "find_element",
            "list_apps"
        ]
    );
    assert_eq!(of(Risk::Medium, Effect::Mutate).len(), 15);
}

#[test]
fn calls_are_made_canonical() {
    let table = ToolRegistry::builtin();
    let cases = [
        ("tap", json!({"target": "Search"}), "tap", json!({"text": "Search"})),
        ("tap", json!({"view_id": "a:id/b"}), "tap", json!({"resource_id": "a:id/b"})),
        (
            "tap",
            json!({"node_id": "n", "x": 3, "y": 0.5}),
            "tap",
            json!({"resource_id": "n", "x": 3, "y": 0.5}),
        ),
        ("open_app", json!({"target": "Maps"}), "launch_app", json!({"app": "Maps"})),
        (
            "type_text",
            json!({"text": "hi", "field": "To"}),
            "input_text",
            json!({"text": "hi", "field": "To"}),
        ),
        (
            "type_text",
            json!({"text": "hi", "target": "To"}),
            "input_text",
            json!({"text": "hi", "target_text": "To"}),
        ),
        ("press_back", json!({}), "press_key", json!({"key": "back"})),
        ("press_back", json!({"key": "back"}), "press_key", json!({"key": "back"})),
        ("wait_for_element_gone", json!({"target": "x"}), "wait_for", json!({"text": "x", "gone": true})),
        ("wait_for_app", json!({"package": "com.a"}), "wait_for", json!({"app": "com.a"})),
        (
            "swipe",
            json!({"start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4}),
            "swipe",
            json!({"x1": 1, "y1": 2, "x2": 3, "y2": 4}),
        ),
        (
            "drag_and_drop",
            json!({"x1": 1, "y1": 2, "x2": 3, "y2": 4}),
            "drag_and_drop",
            json!({"source_x": 1, "source_y": 2, "destination_x": 3, "destination_y": 4}),
        ),
        ("open_settings_panel", json!({"target": "wifi"}), "open_settings_panel", json!({"panel": "wifi"})),
    ];
    for (name, given, tool, expected) in cases {
        let call =
            table.check_call(name, &args(given)).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        assert_eq!((call.spec.name.as_str(), call.args), (tool, args(expected)), "{name}");
    }
}

#[test]
fn broken_calls_name_every_problem() {
    let cases: [(&str, Value, &[&str]); 20] = [
        ("tapp", json!({}), &["unknown_tool"]),
        ("tap", json!({}), &["argument_rule"]),
        ("tap", json!({"text": "a", "index": 1}), &["argument_rule"]),
        ("tap", json!({"x": 1}), &["argument_rule"]),
        ("tap", json!({"index": 1, "x": 1, "y": 1}), &["argument_rule"]),
        ("tap", json!({"text": "a", "snapshot": "s"}), &["argument_rule"]),
        ("tap", json!({"text": "a", "target": "b"}), &["argument_conflict"]),
        ("tap", json!({"text": "", "colour": 1}), &["unknown_argument", "too_short"]),
        ("tap", json!({"bounds": "1,2,3"}), &["pattern_mismatch"]),
        ("press_back", json!({"key": "home"}), &["argument_conflict"]),
        ("press_key", json!({}), &["missing_argument"]),
        ("press_key", json!({"key": true}), &["no_alternative"]),
        ("wait_for_idle", json!({"stable_ms": 3000, "timeout_ms": 1000}), &["argument_rule"]),
        ("wait_for_idle", json!({"timeout_ms": 400}), &["argument_rule"]),
        ("wait_for_idle", json!({"stable_ms": 6000}), &["out_of_range", "argument_rule"]),
        ("launch_app", json!({}), &["argument_rule"]),
        ("launch_app", json!({"package": "a", "app": "b"}), &["argument_rule"]),
        ("swipe", json!({"direction": "up", "x1": 1, "y1": 1, "x2": 1, "y2": 1}), &["argument_rule"]),
        ("swipe", json!({"direction": "north"}), &["not_in_enum"]),
        ("set_orientation", json!({"orientation": 5}), &["wrong_type"]),
    ];
    for (name, given, expected) in cases {
        assert_eq!(codes(name, given.clone()), expected, "{name} {given}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let table = ToolRegistry::builtin();
    assert_eq!(table.nearest("tapp"), Some("tap"));
    assert_eq!(table.nearest("Launch_App"), Some("launch_app"));
    assert_eq!(table.nearest("observe_screen_contex"), Some("observe_screen_context"));
    for far in ["", "completely_different_name", &"x".repeat(100_000)] {
        assert_eq!(table.nearest(far), None);
    }
}

#[test]
fn a_file_tool_replaces_by_name_or_alias_and_the_others_stay() {
    let table = ToolRegistry::builtin();
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let text = json!({"tools": [
        {"name": "open_app", "description": "Opens.", "inputSchema": schema, "annotations": {"destructiveHint": true}},
        {"name": "brightness", "description": "Sets it.", "inputSchema": schema, "annotations": {"readOnlyHint": false}},
        {"name": "press_back", "description": "Back.", "inputSchema": schema},
        {"name": "look", "description": "Looks.", "inputSchema": schema, "annotations": {"readOnlyHint": true}},
    ]});
    for form in [text.clone(), json!({"jsonrpc": "2.0", "id": 1, "result": text}), text["tools"].clone()] {
        let extended = table.with_json(&form.to_string()).unwrap();
        assert_eq!(extended.len(), table.len() + 3);
        let opened = extended.resolve("launch_app").unwrap();
        assert_eq!((opened.spec.name.as_str(), opened.spec.risk), ("open_app", Risk::High));
        assert_eq!(extended.resolve("press_back").unwrap().spec.name, "press_back");
        assert_eq!(extended.resolve("press_home").unwrap().spec.name, "press_key");
        let of =
            |name: &str| extended.resolve(name).map(|found| (found.spec.effect, found.spec.risk)).unwrap();
        assert_eq!(of("brightness"), (Effect::Mutate, Risk::Medium));
        assert_eq!(of("look"), (Effect::Observe, Risk::Low));
        let names: Vec<&str> = extended.specs().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
}

#[test]
fn a_tool_file_is_refused_with_every_problem_at_once() {
    let text = json!([
        {"name": "a b", "inputSchema": {"type": "string"}},
        {"name": "x", "summary": "s", "parameters": {"type": "object"}, "effect": "destroy", "risk": "none"},
        {"name": "y", "summary": "s", "parameters": {"type": "object", "properties": {"k": {"type": "integer"}}},
         "effect": "wait", "risk": "low", "aliases": [{"name": "z", "fixed": {"k": "one", "m": 1}}],
         "argument_aliases": {"k": "k", "q": "none"}, "constraints": [{"rule": "together", "of": ["k", "l"]}]},
        {"name": "z", "inputSchema": {"type": "object"}},
        7,
    ]);
    let problems = ToolRegistry::builtin().with_json(&text.to_string()).unwrap_err();
    let found: Vec<(&str, &str)> = problems.iter().map(|p| (p.code.as_str(), p.field.as_str())).collect();
    for expected in [
        ("unsafe_name", "/0/name"),
        ("wrong_type", "/0/parameters"),
        ("wrong_type", "/1/effect"),
        ("wrong_type", "/1/risk"),
        ("wrong_type", "/2/aliases/0/fixed/k"),
        ("unknown_argument", "/2/aliases/0/fixed/m"),
        ("duplicate_key", "/2/argument_aliases/k"),
        ("unknown_argument", "/2/argument_aliases/q"),
        ("unknown_argument", "/2/constraints/0"),
        ("duplicate_key", "/3"),
        ("wrong_type", "/4"),
    ] {
        assert!(found.contains(&expected), "{expected:?} is not in {found:?}");
    }
    for (bad, code) in [("{", "json_invalid"), ("{}", "missing_field"), ("\"tools\"", "missing_field")] {
        assert_eq!(ToolRegistry::builtin().with_json(bad).unwrap_err()[0].code, code, "{bad}");
    }
}

#[test]
fn the_number_of_tools_in_a_file_is_bounded() {
    let file = |count: usize| {
        let tools: Vec<Value> =
            (0..count).map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}})).collect();
        Value::Array(tools).to_string()
    };
    let most = crate::limits::REGISTRY_TOOLS_MAX;
    assert!(ToolRegistry::default().with_json(&file(most)).is_ok());
    let problems = ToolRegistry::default().with_json(&file(most + 1)).unwrap_err();
    assert_eq!(problems[0].code, "too_many_items");
}

#[test]
fn the_fingerprint_is_stable_and_knows_what_matters() {
    let table = ToolRegistry::builtin();
    let mut tools: Vec<Value> = table.specs().map(|spec| serde_json::to_value(spec).unwrap()).collect();
    let of =
        |tools: &[Value]| ToolRegistry::default().with_json(&json!(tools).to_string()).unwrap().fingerprint();
    tools.reverse();
    assert_eq!(of(&tools), table.fingerprint(), "the order of the tools does not count");
    tools[0]["summary"] = json!("Other words.");
    assert_eq!(of(&tools), table.fingerprint(), "nor do words for people");
    for (field, value) in
        [("risk", json!("low")), ("effect", json!("wait")), ("parameters", json!({"type": "object"}))]
    {
        let mut changed = tools.clone();
        let place = changed.iter_mut().find(|tool| tool["name"] == "stop_app").unwrap();
        place[field] = value;
        place["argument_aliases"] = json!({});
        assert_ne!(of(&changed), table.fingerprint(), "{field}");
    }
}

#[test]
fn an_alias_with_fixed_arguments_permits_only_those() {
    let table = ToolRegistry::builtin();
    let list = |entries: &[&str]| {
        let parsed: Vec<Permission> =
            entries.iter().map(|e| Permission::parse(e, &table, "").unwrap()).collect();
        Allowlist::new(&parsed)
    };
    let permits = |list: &Allowlist, tool: &str, given: Value| {
        list.permits(&table.check_call(tool, &args(given)).unwrap())
    };
    let narrow = list(&["press_back", "observe_screen"]);
    assert!(permits(&narrow, "press_back", json!({})));
    assert!(permits(&narrow, "press_key", json!({"key": "back"})));
    assert!(!permits(&narrow, "press_home", json!({})));
    assert!(permits(&narrow, "ui_tree", json!({})));
    assert!(!permits(&narrow, "tap", json!({"text": "a"})));
    let wide = list(&["press_back", "press_key", "tap"]);
    assert!(permits(&wide, "press_home", json!({})));
    assert!(!permits(&list(&[]), "press_back", json!({})), "an empty list permits nothing");
    let both = narrow.intersect(&wide);
    assert!(permits(&both, "press_back", json!({})) && !permits(&both, "press_home", json!({})));
    assert!(!permits(&both, "ui_tree", json!({})) && !permits(&both, "tap", json!({"text": "a"})));
    let apart = narrow.intersect(&list(&["press_home"]));
    assert!(!permits(&apart, "press_home", json!({})) && !permits(&apart, "press_back", json!({})));
    let all = Allowlist::everything(&table);
    assert_eq!(all.intersect(&narrow), narrow);
    assert!(all.mentions(26) && !all.mentions(27) && !narrow.mentions(usize::MAX));
}

#[test]
fn the_canonical_spelling_of_a_permission_parses_to_itself() {
    let table = ToolRegistry::builtin();
    for (entry, name) in [("press_recents", "recent_apps"), ("open_app", "launch_app"), ("tap", "tap")] {
        let permission = Permission::parse(entry, &table, "").unwrap();
        assert_eq!(permission.name(), name);
        assert_eq!(Permission::parse(name, &table, "").unwrap(), permission);
    }
    assert_eq!(Permission::parse("press_bakc", &table, "/x").unwrap_err().code, "unknown_tool");
}

#[test]
fn the_document_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tools.md");
    let expected = markdown(&ToolRegistry::builtin());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/tools.md is not the table; run the tests with UPDATE_GOLDEN=1");
}

#[test]
fn the_schema_subset_accepts_and_refuses() {
    let cases = [
        (json!({"type": "integer"}), json!(3.0), ""),
        (json!({"type": "integer"}), json!(3.5), "wrong_type"),
        (json!({"type": "number"}), json!(3), ""),
        (json!({"type": ["string", "null"]}), json!(null), ""),
        (json!({"type": ["string", "null"]}), json!(1), "wrong_type"),
        (json!({"const": 1}), json!(1.0), ""),
        (json!({"const": 1}), json!(2), "not_in_enum"),
        (json!({"enum": ["a"], "const": "b"}), json!("a"), "not_in_enum"),
        (json!({"exclusiveMinimum": 0}), json!(0), "out_of_range"),
        (json!({"exclusiveMaximum": 1}), json!(1), "out_of_range"),
        (json!({"minLength": 2}), json!("\u{1F600}"), "too_short"),
        (json!({"maxLength": 1}), json!("\u{1F600}"), ""),
        (json!({"pattern": "(?=a)"}), json!("b"), ""),
        (json!({"items": {"type": "string"}}), json!(["a", 1]), "wrong_type"),
        (json!({"minItems": 1}), json!([]), "too_few_items"),
        (json!({"maxItems": 1}), json!([1, 2]), "too_many_items"),
        (json!({"required": ["a/b"]}), json!({}), "missing_argument"),
        (json!({"additionalProperties": {"type": "string"}}), json!({"a": 1}), "wrong_type"),
        (json!({"properties": {}}), json!({"a": 1}), ""),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(3), "out_of_range"),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!(1), "no_alternative"),
        (json!({"oneOf": [{"minimum": 1}, {"maximum": 2}]}), json!(1), "no_alternative"),
        (json!(false), json!(1), "not_allowed"),
        (json!({"minLength": "x", "type": 5, "enum": 7, "frobnicate": []}), json!("a"), ""),
    ];
    for (schema, value, expected) in cases {
        let found: Vec<String> = check_value(&schema, &value, "").into_iter().map(|p| p.code).collect();
        assert_eq!(found.join(" "), expected, "{schema} {value}");
    }
    let found = check_value(&json!({"required": ["a/b~"]}), &json!({}), "/args");
    assert_eq!(found[0].field, "/args/a~1b~0");
}

#[test]
fn deep_schemas_and_endless_problems_are_bounded() {
    let (mut schema, mut value) = (json!({"type": "string"}), json!(1));
    for _ in 0..100 {
        schema = json!({"items": schema, "anyOf": [true, true]});
        value = json!([value]);
    }
    assert_eq!(check_value(&schema, &value, "")[0].code, "too_deep");
    let many = Value::Array(vec![json!(1); 10_000]);
    let found = check_value(&json!({"items": {"type": "string"}}), &many, "");
    assert_eq!(found.len(), crate::limits::SCHEMA_PROBLEMS_MAX);
}
