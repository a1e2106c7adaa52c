//! Principals: their sight, their sessions, and the end of a token.

use std::time::{Duration, Instant};

use repertoire::Narrowing;
use repertoire::mcp::ToolFilter;
use repertoire::mcp::http::{Principal, Token, add_principal, remove_principal};
use repertoire::model::Layer;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{PATIENCE, Running, scaled};

fn token() -> Token {
    Token::generate().expect("random")
}

#[tokio::test]
async fn a_principal_sees_less_and_another_ones_session_is_unknown_to_it() {
    let server = Running::start().await;
    let (first, second) = (token(), token());
    let mut narrow = Principal::new("narrow", first.hash());
    narrow.narrowing = Narrowing::default().layers([Layer::Synced]);
    narrow.tools = Some(ToolFilter::parse("list_skills").expect("a filter"));
    add_principal(&server.principals(), &narrow).expect("adds");
    add_principal(&server.principals(), &Principal::new("wide", second.hash())).expect("adds");

    let tools = server.modern(first.reveal(), "tools/list", json!({})).await.message();
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(1), "{tools}");
    let listed =
        server.modern(first.reveal(), "tools/call", json!({"name": "list_skills", "arguments": {}})).await;
    assert_eq!(listed.message()["result"]["structuredContent"]["total"], 0, "{listed:?}");
    let skills = server.modern(first.reveal(), "skills/list", json!({})).await;
    assert_eq!(
        skills.message()["error"]["code"],
        -32601,
        "what reads is not offered without get_skill: {skills:?}"
    );
    let all = server.modern(second.reveal(), "skills/list", json!({})).await.message();
    assert_eq!(all["result"]["skills"].as_array().map(Vec::len), Some(1), "{all}");

    let session =
        server.initialize(second.reveal()).await.header("mcp-session-id").expect("a session").to_owned();
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(server.legacy(second.reveal(), Some(&session), ping).await.status, 200);
    assert_eq!(server.legacy(first.reveal(), Some(&session), ping).await.status, 404);
    let metrics = server
        .request("GET", "/metrics", &[("Authorization", &format!("Bearer {}", second.reveal()))], "")
        .await;
    assert_eq!(metrics.status, 403);
    server.end().await;
}

#[tokio::test]
async fn a_removed_token_is_refused_at_once_and_its_streams_end() {
    let server = Running::start().await;
    let token = token();
    add_principal(&server.principals(), &Principal::new("phone", token.hash())).expect("adds");
    let session =
        server.initialize(token.reveal()).await.header("mcp-session-id").expect("a session").to_owned();
    let mut stream = server.connect().await;
    let authorization = format!("Bearer {}", token.reveal());
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Accept", "text/event-stream"),
        ("Mcp-Session-Id", session.as_str()),
    ];
    stream.write_all(&server.written("GET", "/mcp", &headers, "")).await.expect("writes");
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.expect("the head");
    assert_eq!(&first, b"HTTP/1.1 200");

    assert!(remove_principal(&server.principals(), "phone").expect("removes"));
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(
        server.legacy(token.reveal(), Some(&session), ping).await.status,
        401,
        "at the very next request"
    );
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest))
        .await
        .expect("the stream ends")
        .expect("reads");
    server.end().await;
}

#[tokio::test]
async fn a_wrong_file_lets_nobody_in_but_the_operator_until_it_is_mended() {
    let server = Running::start().await;
    let token = token();
    add_principal(&server.principals(), &Principal::new("phone", token.hash())).expect("adds");
    let right = std::fs::read_to_string(server.principals()).expect("reads");
    assert_eq!(server.modern(token.reveal(), "tools/list", json!({})).await.status, 200);
    std::fs::write(server.principals(), format!("{right}\n[[principal]]\nname = 1\n")).expect("writes");
    assert_eq!(server.modern(token.reveal(), "tools/list", json!({})).await.status, 503);
    assert_eq!(server.modern(&server.token, "tools/list", json!({})).await.status, 200);
    assert_eq!(server.request("GET", "/readyz", &[], "").await.status, 503);
    std::fs::write(server.principals(), right).expect("writes");
    assert_eq!(server.modern(token.reveal(), "tools/list", json!({})).await.status, 200);
    std::fs::remove_file(server.folder.path().join("http-token")).expect("removes");
    assert_eq!(
        server.modern(&server.token, "tools/list", json!({})).await.status,
        401,
        "a token file that is gone"
    );
    server.end().await;
}

#[tokio::test]
async fn sessions_beyond_the_limit_are_refused_and_room_comes_back() {
    const ROOM: usize = 8;
    let server = Running::start_with(|options| options.max_sessions(ROOM)).await;
    let mut open = Vec::new();
    let mut refused = 0;
    for _ in 0..scaled(100, 2_000, 10_000) {
        let answer = server.initialize(&server.token).await;
        if let Some(id) = answer.header("mcp-session-id") {
            open.push(id.to_owned());
            continue;
        }
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{answer:?}");
        refused += 1;
    }
    assert_eq!((open.len(), refused > 0), (ROOM, true));
    let stateless = server.modern(&server.token, "tools/list", json!({})).await;
    assert_eq!(stateless.status, 200, "requests without a session need no seat");
    let authorization = format!("Bearer {}", server.token);
    let headers = [("Authorization", authorization.as_str()), ("Mcp-Session-Id", open[0].as_str())];
    assert_eq!(server.request("DELETE", "/mcp", &headers, "").await.status, 202);
    let since = Instant::now();
    while server.initialize(&server.token).await.status != 200 {
        assert!(since.elapsed() < PATIENCE, "the seat of a closed session is free again");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.end().await;
}
