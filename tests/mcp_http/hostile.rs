//! Requests that no well-behaved client sends.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{PATIENCE, Running, modern, parse, scaled};

#[tokio::test]
async fn a_body_above_the_limit_is_refused_and_one_at_it_is_read() {
    let server = Running::start().await;
    for (padding, status) in [(5 * 1024 * 1024, 413), (4 * 1024 * 1024 - 4_096, 200)] {
        let params = json!({"name": "search_skills", "arguments": {"query": "x".repeat(padding)}});
        let answer = server.modern(&server.token, "tools/call", params).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        server.address, server.token
    );
    let mut request = chunked.into_bytes();
    for _ in 0..80 {
        request.extend_from_slice(b"10000\r\n");
        request.extend_from_slice(&vec![b'x'; 0x10000]);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(server.raw(&request).await.status, 413, "without a length too");
    server.end().await;
}

#[tokio::test]
async fn a_client_that_sends_slowly_is_cut_off_and_others_are_served() {
    let patience = Duration::from_millis(300);
    let server = Running::start_with(|options| options.patience(patience)).await;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", server.address);
    let with_body = format!("{head}Authorization: Bearer {}\r\nContent-Length: 100\r\n\r\n{{", server.token);
    let mut slow = Vec::new();
    for start in [head.as_str(), with_body.as_str(), ""] {
        for _ in 0..scaled(20, 100, 300) {
            let mut stream = server.connect().await;
            stream.write_all(start.as_bytes()).await.expect("writes");
            slow.push(stream);
        }
    }
    assert_eq!(server.modern(&server.token, "tools/list", json!({})).await.status, 200, "others are served");
    let since = Instant::now();
    for mut stream in slow {
        let mut bytes = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
        assert!(ended.is_ok(), "a slow connection ends");
        if !bytes.is_empty() {
            assert_eq!(parse(&bytes).status, 408);
        }
    }
    assert!(since.elapsed() < PATIENCE);
    server.end().await;
}

#[tokio::test]
async fn deep_json_batches_and_what_is_no_json_get_an_answer() {
    let server = Running::start().await;
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let nested = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"x":{deep}}}}}"#);
    for body in [deep.as_str(), nested.as_str(), "", "{", "null", "[]", "7", "\u{0}", r#"{"jsonrpc":"2.0"}"#]
    {
        let answer = server.legacy(&server.token, None, body).await;
        assert!((400..500).contains(&answer.status), "{body:.60}: {answer:?}");
    }
    assert_eq!(
        server.modern(&server.token, "tools/list", json!({})).await.status,
        200,
        "and the server goes on"
    );
    server.end().await;
}

#[tokio::test]
async fn methods_that_nobody_knows_are_not_found() {
    let server = Running::start().await;
    for method in ["nothing", "tools/execute", "sampling/createMessage", "roots/list"] {
        let answer = server.modern(&server.token, method, json!({})).await;
        assert_eq!(answer.message()["error"]["code"], -32601, "{method}: {answer:?}");
    }
    let token = format!("Bearer {}", server.token);
    for verb in ["PUT", "PATCH", "OPTIONS", "TRACE", "HEAD"] {
        let answer = server.request(verb, "/mcp", &[("Authorization", &token)], "").await;
        assert_eq!(answer.status, 405, "{verb}: {answer:?}");
    }
    server.end().await;
}

#[tokio::test]
async fn more_requests_than_may_be_in_flight_are_refused_and_room_comes_back() {
    let server = Running::start_with(|options| options.max_in_flight(2)).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let (headers, body) = modern(
            &server.token,
            "subscriptions/listen",
            json!({"notifications": {"toolsListChanged": true}}),
        );
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut stream = server.connect().await;
        stream.write_all(&server.written("POST", "/mcp", &headers, &body)).await.expect("writes");
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.expect("an answer");
        assert_eq!(&start, b"HTTP/1.1 200");
        held.push(stream);
    }
    let full = server.modern(&server.token, "tools/list", json!({})).await;
    assert_eq!((full.status, full.header("retry-after")), (503, Some("1")), "{full:?}");
    drop(held);
    let since = Instant::now();
    while server.modern(&server.token, "tools/list", json!({})).await.status != 200 {
        assert!(since.elapsed() < PATIENCE, "a client that left makes room");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.end().await;
}
