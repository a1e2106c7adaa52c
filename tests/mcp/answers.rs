//! What callers may rely on in the answers, beyond their exact bytes.

use repertoire::entitlement::LocalStatement;
use repertoire::mcp::{ServerOptions, TOOLS, ToolFilter};
use repertoire::model::{Entry, Layer, Skill};
use serde_json::{Value, json};

use crate::support::{Wire, empty, filled};

#[tokio::test]
async fn hidden_and_unknown_ids_get_the_same_bytes_apart_from_the_id() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    for (tool, arguments) in
        [("get_skill", json!({})), ("resolve_skill", json!({"parameters": {"query": "x"}}))]
    {
        let mut texts = Vec::new();
        for id in ["hidden/canary", "hidden/nobody"] {
            let mut arguments = arguments.clone();
            arguments["id"] = json!(id);
            texts.push(wire.fails_with_text(tool, arguments).await.replace(id, "ID"));
        }
        assert!(texts[0].contains("skill_not_found"), "{texts:?}");
        assert_eq!(texts[0], texts[1]);
    }
}

#[tokio::test]
async fn a_hidden_skill_is_in_no_answer() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    for (tool, arguments) in [
        ("list_skills", json!({"limit": 100})),
        ("search_skills", json!({"query": "wifi canary", "limit": 25})),
        ("match_skill", json!({"request": "canary"})),
    ] {
        let answer = wire.call(tool, arguments).await.to_string();
        assert!(!answer.contains("hidden/canary"), "{tool}: {answer}");
    }
}

#[tokio::test]
async fn what_is_hidden_while_the_server_runs_is_gone_at_the_next_call() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    wire.call("get_skill", json!({"id": "android/wifi"})).await;
    catalog.declare(LocalStatement::Hide("android/wifi".to_owned())).expect("hides");
    let error = wire.fails("get_skill", json!({"id": "android/wifi"})).await;
    assert_eq!(error["error"], "skill_not_found");
    catalog.declare(LocalStatement::Unhide("android/wifi".to_owned())).expect("unhides");
    let found = wire.call("get_skill", json!({"id": "android/wifi"})).await;
    assert_eq!(found["structuredContent"]["skill"]["id"], "android/wifi");
}

#[tokio::test]
async fn an_empty_catalog_is_not_a_catalog_without_a_match() {
    let (_folder, catalog) = empty();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    for (tool, arguments) in [
        ("list_skills", json!({})),
        ("search_skills", json!({"query": "wifi"})),
        ("match_skill", json!({"request": "wifi"})),
        ("get_skill", json!({"id": "wifi"})),
        ("resolve_skill", json!({"id": "wifi"})),
    ] {
        assert_eq!(wire.fails(tool, arguments).await["error"], "catalog_empty", "{tool}");
    }
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let found = wire.call("search_skills", json!({"query": "zzzzqqqq"})).await;
    assert_eq!(found["structuredContent"]["skills"], json!([]));
    assert_eq!(found["structuredContent"]["state"], "READY");
}

#[tokio::test]
async fn pages_of_a_list_join_to_the_whole() {
    let (_folder, catalog) = filled();
    let entries: Vec<_> = (0..57)
        .map(|number| json!({"id": format!("page/{number:02}"), "kind": "knowledge", "name": "P", "description": "P", "content": "P"}))
        .map(|skill| Entry::new(Skill::from_json(&skill).expect("valid").skill))
        .collect();
    catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let mut ids = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let answer = wire.call("list_skills", json!({"limit": 10, "cursor": cursor})).await;
        let page = &answer["structuredContent"];
        assert_eq!(page["total"], 57);
        ids.extend(
            page["skills"]
                .as_array()
                .expect("skills")
                .iter()
                .map(|row| row["id"].as_str().expect("an id").to_owned()),
        );
        match page.get("next_cursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    let wanted: Vec<_> = (0..57).map(|number| format!("page/{number:02}")).collect();
    assert_eq!(ids, wanted);
    let error = wire.fails("list_skills", json!({"cursor": "made up"})).await;
    assert_eq!(error["error"], "invalid_arguments");
    assert_eq!(error["problems"][0]["argument"], "cursor");
}

#[tokio::test]
async fn resolving_is_all_or_nothing_and_names_every_wrong_parameter() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let values = json!({"query": "noodles", "count": "300"});
    let found = wire.call("resolve_skill", json!({"id": "xhs-search", "parameters": values})).await;
    let steps = found["structuredContent"]["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 4);
    assert_eq!(steps[1]["args"]["text"], "noodles");
    assert_eq!(steps[2]["secret"], true);
    assert_eq!(steps[3]["args"]["stable_ms"], 300);
    let values = json!({"count": 1, "pin": "canary", "speed": 3});
    let text = wire.fails_with_text("resolve_skill", json!({"id": "xhs-search", "parameters": values})).await;
    assert!(!text.contains("canary"), "the value of a secret parameter is not shown back: {text}");
    let error: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(error["error"], "invalid_parameters");
    let mut named: Vec<_> = error["problems"]
        .as_array()
        .expect("problems")
        .iter()
        .map(|problem| problem["parameter"].clone())
        .collect();
    named.sort_by_key(ToString::to_string);
    assert_eq!(named, ["count", "pin", "query", "speed"]);
}

#[tokio::test]
async fn the_tool_list_is_the_same_whatever_the_catalog_holds() {
    let (_folder, without) = empty();
    let (_other, with) = filled();
    let mut lists = Vec::new();
    for catalog in [&without, &with, &with] {
        let mut wire = Wire::initialized(catalog, "2025-11-25").await;
        lists.push(wire.request("tools/list", None).await.to_string());
    }
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[1], lists[2]);
}

#[tokio::test]
async fn only_the_chosen_tools_are_listed_and_callable() {
    let (_folder, catalog) = filled();
    let filter = ToolFilter::parse("get_skill,search_skills").expect("a filter");
    let mut wire = Wire::start_with(&catalog, ServerOptions::default().tools(filter));
    let greeting = wire.initialize("2025-11-25").await;
    let instructions = greeting["result"]["instructions"].as_str().expect("instructions");
    assert!(instructions.contains("get_skill") && !instructions.contains("resolve_skill"), "{instructions}");
    let list = wire.request("tools/list", None).await;
    let names: Vec<_> =
        list["result"]["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["search_skills", "get_skill"]);
    let answer = wire.request("tools/call", Some(json!({"name": "list_skills"}))).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn a_host_that_shows_only_texts_can_have_the_full_text() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::start_with(&catalog, ServerOptions::default().full_text(true));
    wire.initialize("2025-11-25").await;
    let found = wire.call("get_skill", json!({"id": "android/wifi"})).await;
    let text: Value =
        serde_json::from_str(found["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(text, found["structuredContent"]);
}

#[tokio::test]
async fn answers_fit_the_output_schemas() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    for (tool, arguments) in [
        ("list_skills", json!({})),
        ("search_skills", json!({"query": "wifi"})),
        ("match_skill", json!({"request": "turn on wifi"})),
        ("match_skill", json!({"request": "zzzzqqqq"})),
        ("get_skill", json!({"id": "android/wifi"})),
        ("get_skill", json!({"id": "xhs-search"})),
        ("resolve_skill", json!({"id": "xhs-search", "parameters": {"query": "x"}})),
    ] {
        let schema = TOOLS.iter().find(|known| known.name == tool).expect("a tool").output_schema();
        let answer = wire.call(tool, arguments).await;
        fits(&Value::Object(schema), &answer["structuredContent"], tool);
    }
}

/// The part of JSON Schema that the output schemas use.
fn fits(schema: &Value, value: &Value, at: &str) {
    let right = match schema["type"].as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        other => panic!("{at}: {other}"),
    };
    assert!(right, "{at}: {value} is no {}", schema["type"]);
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        assert!(value.get(name).is_some(), "{at}: {name} is missing in {value}");
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(member) = value.get(name) {
            fits(inner, member, &format!("{at}/{name}"));
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(&schema["items"], item, &format!("{at}/{index}"));
    }
}

#[tokio::test]
async fn no_answer_carries_a_subscription_a_path_or_an_inner_detail() {
    let (folder, catalog) = filled();
    let mut entry = Entry::new(
        Skill::from_json(&json!({"id": "synced/one", "kind": "knowledge", "name": "One", "description": "wifi one", "content": "One"}))
            .expect("valid")
            .skill,
    );
    entry.subscriptions = vec!["sub-canary".to_owned()];
    catalog.update(Layer::Synced, &mut |_| Ok(Some(vec![entry.clone()]))).expect("commits");
    catalog.declare(LocalStatement::Grant("sub-canary".to_owned())).expect("grants");
    let mut wire = Wire::initialized(&catalog, "2024-11-05").await;
    let path = folder.path().to_string_lossy().into_owned();
    for (tool, arguments) in [
        ("list_skills", json!({})),
        ("search_skills", json!({"query": "one wifi"})),
        ("match_skill", json!({"request": "one"})),
        ("get_skill", json!({"id": "synced/one"})),
        ("get_skill", json!({"id": "android/wifi"})),
        ("get_skill", json!({"id": "nobody"})),
        ("get_skill", json!({"id": "broken"})),
    ] {
        let answer = wire.call(tool, arguments).await.to_string();
        assert!(!answer.contains("sub-canary") && !answer.contains("subscription"), "{answer}");
        assert!(!answer.contains(&path), "{answer}");
    }
    let found = wire.call("get_skill", json!({"id": "synced/one"})).await;
    assert_ne!(found["isError"], true, "a granted skill is visible: {found}");
}
