//! Input that no well-behaved client sends: answered or ended, never a hang, never a panic, never without bound.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use repertoire::limits::MCP_LINE_BYTES_MAX;
use repertoire::mcp::{self, Server, ServerOptions};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::support::{Wire, filled};

#[tokio::test]
async fn an_input_that_ends_at_once_ends_the_server_well() {
    let (_folder, catalog) = filled();
    assert_eq!(Wire::start(&catalog).end().await, "");
    let wire = Wire::initialized(&catalog, "2025-11-25").await;
    let started = Instant::now();
    assert_eq!(wire.end().await, "");
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_line_that_is_no_message_is_answered_and_the_next_one_is_served() {
    let (_folder, catalog) = filled();
    for begun in [false, true] {
        let mut wire =
            if begun { Wire::initialized(&catalog, "2025-11-25").await } else { Wire::start(&catalog) };
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let cases = [
            ("{\"jsonrpc\":\"2.0\",", json!(-32700), Value::Null),
            ("not json", json!(-32700), Value::Null),
            (deep.as_str(), json!(-32700), Value::Null),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", json!(-32600), Value::Null),
            ("{\"jsonrpc\":\"1.0\",\"id\":9,\"method\":\"ping\"}", json!(-32600), json!(9)),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", json!(-32600), Value::Null),
        ];
        for (line, code, id) in cases {
            wire.write(format!("{line}\n").as_bytes()).await;
            let answer = wire.read_json().await;
            assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
            assert_eq!(answer.get("id").cloned().unwrap_or_default(), id, "{line}: {answer}");
        }
        wire.write(b"\xff\xfe\x00\n").await;
        assert_eq!(wire.read_json().await["error"]["code"], -32700);
        let answer = wire.request("ping", None).await;
        assert_eq!(answer["result"], json!({}));
    }
}

#[tokio::test]
async fn a_line_without_bound_is_skipped_within_bounds() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let part = vec![b'x'; 1024 * 1024];
    wire.write(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"").await;
    for _ in 0..=(MCP_LINE_BYTES_MAX / part.len()) * 4 {
        wire.write(&part).await;
    }
    wire.write(b"\"}\n").await;
    let answer = wire.read_json().await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(wire.request("ping", None).await["result"], json!({}));
}

#[tokio::test]
async fn params_of_the_wrong_form_are_invalid_params_and_unknown_methods_are_not_found() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    for params in [
        json!({"name": 7}),
        json!({"name": "get_skill", "arguments": "x"}),
        json!({"name": "get_skill", "arguments": [1]}),
        json!({}),
    ] {
        let answer = wire.request("tools/call", Some(params.clone())).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    for method in [
        "prompts/get",
        "resources/read",
        "completion/complete",
        "logging/setLevel",
        "skills/get",
        "",
        "\u{202e}",
    ] {
        let answer = wire.request(method, Some(json!({}))).await;
        assert!(answer["error"]["code"] == -32601 || answer["error"]["code"] == -32602, "{method}: {answer}");
    }
    let long = "m".repeat(100_000);
    let answer = wire.request(&long, None).await;
    assert_eq!(answer["error"]["code"], -32601);
    assert!(answer.to_string().len() < 500, "what was sent is not sent back in full");
}

#[tokio::test]
async fn messages_out_of_order_do_not_end_the_server() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::start(&catalog);
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/made/up"}"#,
    ] {
        wire.write(format!("{line}\n").as_bytes()).await;
    }
    let answer = wire.request("tools/list", None).await;
    assert_eq!(answer["error"]["code"], -32602, "neither a handshake nor metadata: {answer}");
    wire.initialize("2025-11-25").await;
    // A second handshake in one session only agrees on the revision anew.
    let again = wire.initialize("2025-06-18").await;
    assert_eq!(again["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(wire.request("ping", None).await["result"], json!({}));
}

#[tokio::test]
async fn hostile_arguments_get_an_error_or_an_answer() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let texts = [
        "\u{0}",
        "../../etc/passwd",
        "%00",
        "\u{202e}\u{200b}",
        "' OR 1=1 --",
        "{query}",
        "*",
        "\"",
        "\\",
        "a b",
        "A/B",
        "/",
        "\u{1F600}",
        "xhs-search\u{0}",
        "\u{fdfa}",
    ];
    for text in texts {
        for (tool, argument) in [
            ("get_skill", "id"),
            ("resolve_skill", "id"),
            ("search_skills", "query"),
            ("match_skill", "request"),
            ("list_skills", "tag"),
            ("list_skills", "app"),
            ("list_skills", "cursor"),
        ] {
            let mut arguments = json!({});
            arguments[argument] = json!(text);
            let answer = wire.call(tool, arguments).await;
            assert!(answer["content"][0]["text"].is_string(), "{tool} {text:?}: {answer}");
        }
    }
    let long = "wifi ".repeat(200_000);
    assert!(wire.call("search_skills", json!({"query": long})).await["structuredContent"].is_object());
    assert!(wire.call("match_skill", json!({"request": long})).await["structuredContent"].is_object());
    let value = "x".repeat(1024 * 1024);
    let error =
        wire.fails("resolve_skill", json!({"id": "xhs-search", "parameters": {"query": value}})).await;
    assert_eq!(error["error"], "invalid_parameters");
    assert!(error.to_string().len() < 2_000);
}

#[tokio::test]
async fn many_requests_at_once_are_all_answered() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let count = 2_000_u64;
    let mut seen = vec![false; usize::try_from(count).expect("small")];
    // Sent in parts that fit the pipe: a client that never reads would rightly be stopped.
    for part in 0..count / 50 {
        let mut lines = String::new();
        for id in part * 50..(part + 1) * 50 {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": {"name": "search_skills", "arguments": {"query": "wifi"}}});
            let _ = writeln!(lines, "{request}");
        }
        wire.write(lines.as_bytes()).await;
        for _ in 0..50 {
            let answer = wire.read_json().await;
            let id = usize::try_from(answer["id"].as_u64().expect("an id")).expect("small");
            assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
            assert!(!std::mem::replace(&mut seen[id], true), "answered twice: {id}");
        }
    }
    assert!(seen.into_iter().all(|answered| answered));
}

#[tokio::test]
async fn requests_before_the_end_of_the_input_are_answered() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let mut lines = String::new();
    for id in 100..120 {
        let request =
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "list_skills"}});
        let _ = writeln!(lines, "{request}");
    }
    // The last line has no end: the end of the input is one.
    wire.write(lines.trim_end().as_bytes()).await;
    let rest = wire.end().await;
    assert_eq!(rest.lines().count(), 20, "{rest}");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_from_without_end() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::initialized(&catalog, "2025-11-25").await;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get_skill", "arguments": {"id": "xhs-search"}}});
    let lines = format!("{request}\n").repeat(20_000);
    assert!(
        !wire.takes(lines.as_bytes(), Duration::from_secs(2)).await,
        "20,000 answers were kept for nobody"
    );
}

#[tokio::test]
async fn a_closed_output_ends_the_server_while_its_input_is_still_open() {
    let (_folder, catalog) = filled();
    let (mut requests, input) = tokio::io::duplex(1024);
    let (answers, output) = tokio::io::duplex(1024);
    let served = tokio::spawn(mcp::serve(Server::new(&catalog, ServerOptions::default()), input, output));
    drop(answers);
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    requests.write_all(line).await.expect("writes");
    let ended = tokio::time::timeout(Duration::from_secs(5), served).await.expect("ends by itself");
    ended.expect("no panic").expect("a client that left is no failure");
}

/// An output on which every write fails.
struct Full;

impl tokio::io::AsyncWrite for Full {
    fn poll_write(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        _: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        std::task::Poll::Ready(Err(std::io::ErrorKind::StorageFull.into()))
    }

    fn poll_flush(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn an_output_that_fails_ends_the_session_with_its_cause() {
    let (_folder, catalog) = filled();
    for first in ["ping", "tools/list"] {
        let (mut requests, input) = tokio::io::duplex(1024);
        let served = tokio::spawn(mcp::serve(Server::new(&catalog, ServerOptions::default()), input, Full));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{first}\"}}\n");
        requests.write_all(line.as_bytes()).await.expect("writes");
        let ended = tokio::time::timeout(Duration::from_secs(5), served).await.expect("ends by itself");
        match ended.expect("no panic").expect_err("a failed write is told") {
            mcp::SessionError::Output(cause) => assert_eq!(cause.kind(), std::io::ErrorKind::StorageFull),
            other => panic!("{other}"),
        }
    }
}
