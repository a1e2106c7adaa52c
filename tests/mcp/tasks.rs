//! Tasks: begun and ended by the client, recorded by whoever makes the device calls.

use repertoire::authoring::Authoring;
use repertoire::learn::Event;
use repertoire::mcp::{Server, ServerOptions, TASK_TOOLS, ToolFilter};
use repertoire::tools::ToolRegistry;
use serde_json::{Map, Value, json};

use crate::support::{Wire, filled};

fn names(list: &Value) -> Vec<&str> {
    list["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

fn event(tool: &str, args: &Value) -> Event {
    let Value::Object(args) = args.clone() else { panic!("no object") };
    Event::new(tool, args)
}

#[tokio::test]
async fn without_authoring_there_are_no_tools_for_tasks() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::start(&catalog);
    wire.initialize("2025-11-25").await;
    let list = wire.request("tools/list", None).await;
    assert!(!names(&list).iter().any(|name| name.ends_with("_task")));
    let refused =
        wire.request("tools/call", Some(json!({"name": "begin_task", "arguments": {"goal": "g"}}))).await;
    assert!(refused.get("error").is_some(), "{refused}");
}

#[tokio::test]
async fn a_task_that_succeeds_becomes_a_skill_and_the_client_is_told() {
    let (_folder, catalog) = filled();
    let server = Server::new(&catalog, ServerOptions::default().authoring(Authoring::new(&catalog)));
    let recorder = server.recorder().clone();
    let mut wire = Wire::serving(server);
    let hello = wire.initialize("2025-11-25").await;
    assert_eq!(hello["result"]["capabilities"]["tools"]["listChanged"], true);
    let list = wire.request("tools/list", None).await;
    assert_eq!(names(&list)[5..], ["begin_task", "end_task"]);
    for (goal, name, expect) in
        [("greet Ana", "Ana", "added"), ("greet Bo", "Bo", "changed"), ("greet Bo", "Bo", "unchanged")]
    {
        let begun = wire.call("begin_task", json!({"goal": goal})).await;
        assert_eq!(begun["structuredContent"], json!({"recording": true, "cancelled": false}));
        recorder.record(|| event("launch_app", &json!({"package": "com.example.chat"})));
        recorder.record(|| event("describe_screen", &json!({})));
        recorder.record(|| event("tap", &json!({"text": name})));
        let call = json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call",
            "params": {"name": "end_task", "arguments": {"status": "succeeded"}}});
        wire.write(format!("{call}\n").as_bytes()).await;
        // The answer and what it brings may come in any order.
        let (mut answer, mut told) = (Value::Null, expect == "unchanged");
        while answer.is_null() || !told {
            let message = wire.read_json().await;
            told |= message["method"] == "notifications/tools/list_changed";
            if message.get("id").is_some() {
                answer = message;
            }
        }
        let ended = &answer["result"]["structuredContent"];
        assert_eq!(ended["outcome"], expect, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(!text.contains('\n') && text.contains(ended["skill"].as_str().expect("an id")), "{text}");
    }
    let found = wire.call("match_skill", json!({"request": "please greet Noor"})).await;
    assert_eq!(found["structuredContent"]["matched"], true, "{found}");
    let id = found["structuredContent"]["skill"]["id"].clone();
    let steps = wire.call("resolve_skill", json!({"id": id, "parameters": {"text": "Noor"}})).await;
    assert_eq!(steps["structuredContent"]["steps"][1]["args"], json!({"text": "Noor"}), "{steps}");
}

#[tokio::test]
async fn what_does_not_succeed_or_is_not_begun_teaches_nothing() {
    let (_folder, catalog) = filled();
    let authoring = Authoring::new(&catalog);
    let server = Server::new(&catalog, ServerOptions::default().authoring(authoring.clone()));
    let recorder = server.recorder().clone();
    let mut wire = Wire::serving(server);
    wire.initialize("2025-11-25").await;
    let none = wire.call("end_task", json!({"status": "succeeded"})).await;
    assert_eq!(none["structuredContent"]["outcome"], "none");
    wire.call("begin_task", json!({"goal": "one"})).await;
    let again = wire.call("begin_task", json!({"goal": "two"})).await;
    assert_eq!(again["structuredContent"]["cancelled"], true);
    recorder.record(|| event("tap", &json!({"text": "a"})));
    let failed = wire.call("end_task", json!({"status": "failed", "note": "no such button"})).await;
    assert_eq!(failed["structuredContent"]["outcome"], "refused");
    let wrong = wire.fails("end_task", json!({"status": "done"})).await;
    assert_eq!(wrong["error"], "invalid_arguments");
    // The session closes inside of a task.
    wire.call("begin_task", json!({"goal": "three"})).await;
    recorder.record(|| event("tap", &json!({"text": "b"})));
    drop(wire);
    assert!(authoring.list().expect("a list").is_empty());
}

#[test]
fn the_tools_of_tasks_are_named_by_filters_and_say_what_they_do() {
    assert!(ToolFilter::parse("begin_task,get_skill").is_ok());
    for tool in TASK_TOOLS {
        assert!(ToolRegistry::builtin().resolve(tool.name).is_none());
        let schema: Map<String, Value> = tool.input_schema();
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(tool.output_schema()["type"], "object");
    }
}
