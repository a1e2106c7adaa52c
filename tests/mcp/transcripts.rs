//! What goes over the wire, kept word for word, for an old client, a newer one and one without a handshake.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{Wire, blanked, filled, golden};

/// The requests of a transcript: every tool once, each kind of error once, and what is no tool call.
fn requests() -> Vec<(&'static str, Option<Value>)> {
    let call =
        |name: &str, arguments: Value| ("tools/call", Some(json!({"name": name, "arguments": arguments})));
    vec![
        ("tools/list", None),
        call("list_skills", json!({"limit": 1})),
        call("list_skills", json!({"kind": "flow_template"})),
        call("search_skills", json!({"query": "wifi"})),
        call("match_skill", json!({"request": "turn on wifi"})),
        call("get_skill", json!({"id": "android/wifi"})),
        call("get_skill", json!({"id": "xhs-search"})),
        call(
            "resolve_skill",
            json!({"id": "xhs-search", "parameters": {"query": "noodles", "count": "300"}}),
        ),
        call(
            "resolve_skill",
            json!({"id": "xhs-search", "parameters": {"count": 1, "pin": "secret", "speed": 3}}),
        ),
        call("resolve_skill", json!({"id": "android/wifi"})),
        call("get_skill", json!({"id": "hidden/canary"})),
        call("get_skill", json!({"id": "broken"})),
        call("search_skills", json!({"querry": "wifi", "limit": 26})),
        call("list_skill", json!({})),
        ("tools/list", Some(json!({"cursor": "x"}))),
        ("prompts/list", None),
        ("no/such/method", None),
    ]
}

async fn transcript(mut wire: Wire, meta: Option<&Value>, mut text: String) -> String {
    for (method, params) in requests() {
        let mut params = params;
        if let Some(meta) = meta {
            params.get_or_insert_with(|| json!({}))["_meta"] = meta.clone();
        }
        // The metadata is the same in each request: shown once, above.
        let mut shown = params.clone().unwrap_or(Value::Null);
        if let Some(members) = shown.as_object_mut() {
            members.remove("_meta");
        }
        let answer = wire.request(method, params).await;
        push(&mut text, method, &shown, &answer);
    }
    assert_eq!(wire.end().await, "", "nothing but answers is written");
    text
}

fn push(text: &mut String, method: &str, params: &Value, answer: &Value) {
    let mut answer = blanked(answer);
    answer.as_object_mut().expect("an object").remove("jsonrpc");
    // Texts that are JSON are shown as such, or a golden file could not be read.
    if let Some(inner) = answer["result"]["content"][0]["text"]
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
    {
        answer["result"]["content"][0]["text"] = json!({"(json text)": blanked(&inner)});
    }
    let shown = serde_json::to_string_pretty(&answer).expect("serialises");
    let _ = write!(text, "> {method} {params}\n{shown}\n\n");
}

async fn with_handshake(revision: &str) -> String {
    let (_folder, catalog) = filled();
    let mut wire = Wire::start(&catalog);
    let answer = wire.initialize(revision).await;
    assert_eq!(answer["result"]["protocolVersion"], revision);
    let mut text = String::new();
    push(&mut text, "initialize", &json!({"protocolVersion": revision}), &answer);
    transcript(wire, None, text).await
}

#[tokio::test]
async fn a_client_of_the_first_revision_gets_texts() {
    golden("2024-11-05.txt", &with_handshake("2024-11-05").await);
}

#[tokio::test]
async fn a_client_of_the_last_revision_with_a_handshake_gets_structure() {
    golden("2025-11-25.txt", &with_handshake("2025-11-25").await);
}

#[tokio::test]
async fn a_client_without_a_handshake_is_served_by_each_request_alone() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::start(&catalog);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let answer = wire.request("server/discover", Some(json!({"_meta": meta}))).await;
    let mut text = String::new();
    push(&mut text, "server/discover", &json!({"_meta": meta}), &answer);
    golden("2026-07-28.txt", &transcript(wire, Some(&meta), text).await);
}

#[tokio::test]
async fn every_revision_with_a_handshake_is_agreed_to_and_an_unknown_one_gets_the_newest() {
    let (_folder, catalog) = filled();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = Wire::start(&catalog).initialize(revision).await;
        assert_eq!(answer["result"]["protocolVersion"], revision);
    }
    for unknown in ["1999-01-01", "2026-07-28", "9999-12-31", ""] {
        let mut wire = Wire::start(&catalog);
        let answer = wire.initialize(unknown).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{unknown}");
        // The revision agreed on counts afterwards, not the one asked for.
        let list = wire.request("tools/list", None).await;
        assert!(list["result"]["tools"][0]["outputSchema"].is_object(), "{list}");
        assert!(list["result"].get("resultType").is_none(), "{list}");
    }
}
