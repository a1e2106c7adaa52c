//! What clients are told when the catalog changes, on both lifecycles, and calls while it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use repertoire::entitlement::LocalStatement;
use repertoire::model::Layer;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{PATIENCE, Running, knowledge, modern};

/// Reads a stream until a text comes; answers everything that came.
async fn until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut all = String::new();
    let mut buffer = [0; 4_096];
    let reading = async {
        while !all.contains(wanted) {
            let n = stream.read(&mut buffer).await.expect("reads");
            assert!(n > 0, "the stream ended before {wanted}: {all}");
            all.push_str(&String::from_utf8_lossy(&buffer[..n]));
        }
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    assert!(read.is_ok(), "{wanted} never came: {all}");
    all
}

#[tokio::test]
async fn a_listener_of_the_stateless_lifecycle_is_told_of_what_it_sees() {
    let server = Running::start().await;
    let watched = "skill://android/wifi/SKILL.md";
    let wanted = json!({"notifications": {"toolsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": [watched, "skill://hidden/canary/SKILL.md"]}});
    let (headers, body) = modern(&server.token, "subscriptions/listen", wanted);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut stream = server.connect().await;
    stream.write_all(&server.written("POST", "/mcp", &headers, &body)).await.expect("writes");
    let acknowledged = until(&mut stream, "notifications/subscriptions/acknowledged").await;
    assert!(!acknowledged.contains("canary"), "what is hidden is not acknowledged: {acknowledged}");
    // The first look at the lists has to be over.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let entries = vec![knowledge("android/wifi", "Changed."), knowledge("hidden/canary", "canary")];
    server.catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");
    let told = until(&mut stream, "notifications/resources/updated").await;
    assert!(told.contains("notifications/resources/list_changed") && told.contains(watched), "{told}");
    server.catalog.declare(LocalStatement::Hide("android/wifi".to_owned())).expect("hides");
    until(&mut stream, "notifications/resources/list_changed").await;
    drop(stream);
    server.end().await;
}

#[tokio::test]
async fn a_session_is_told_of_a_revocation_and_not_of_what_it_does_not_see() {
    let server = Running::start().await;
    let session =
        server.initialize(&server.token).await.header("mcp-session-id").expect("a session").to_owned();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(server.legacy(&server.token, Some(&session), ready).await.status, 202);
    let token = format!("Bearer {}", server.token);
    let headers = [
        ("Authorization", token.as_str()),
        ("Accept", "text/event-stream"),
        ("Mcp-Session-Id", session.as_str()),
    ];
    let mut stream = server.connect().await;
    stream.write_all(&server.written("GET", "/mcp", &headers, "")).await.expect("writes");
    until(&mut stream, "HTTP/1.1 200").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let entries =
        vec![knowledge("android/wifi", "Open the panel."), knowledge("hidden/canary", "another canary")];
    server.catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");
    let mut buffer = [0; 4_096];
    let quiet = tokio::time::timeout(Duration::from_millis(700), stream.read(&mut buffer)).await;
    if let Ok(Ok(n)) = quiet {
        let came = String::from_utf8_lossy(&buffer[..n]);
        assert!(!came.contains("list_changed"), "a change of a hidden skill is no news: {came}");
    }
    server.catalog.declare(LocalStatement::Hide("android/wifi".to_owned())).expect("hides");
    until(&mut stream, "notifications/resources/list_changed").await;
    drop(stream);
    server.end().await;
}

#[tokio::test]
async fn a_call_during_a_swap_answers_from_one_moment() {
    let server = Running::start().await;
    let stop = Arc::new(AtomicBool::new(false));
    let (catalog, ended) = (server.catalog.clone(), Arc::clone(&stop));
    let swaps = std::thread::spawn(move || {
        for generation in 0_u64.. {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            let entries: Vec<_> =
                (0..20).map(|n| knowledge(&format!("s/{n:02}"), &generation.to_string())).collect();
            catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    for _ in 0..50 {
        let listed = server
            .modern(&server.token, "tools/call", json!({"name": "list_skills", "arguments": {"limit": 100}}))
            .await;
        let total = listed.message()["result"]["structuredContent"]["total"].as_u64();
        assert!(matches!(total, Some(1 | 20)), "{listed:?}");
        let skills = server.modern(&server.token, "skills/list", json!({})).await.message();
        assert!(matches!(skills["result"]["skills"].as_array().map(Vec::len), Some(1 | 20)), "{skills}");
    }
    stop.store(true, Ordering::Relaxed);
    swaps.join().expect("no panic");
    server.end().await;
}
