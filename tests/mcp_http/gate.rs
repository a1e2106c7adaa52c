//! Host, origin, token: the matrix of who gets in.

use repertoire::mcp::http::{HttpError, HttpOptions, HttpServer, TokenSource};
use serde_json::json;

use crate::support::{Running, modern};

#[tokio::test]
async fn only_a_known_host_an_own_origin_and_a_token_together_get_in() {
    let server = Running::start_with(|options| {
        options
            .allowed_hosts(vec!["phones.example".into()])
            .allowed_origins(vec!["https://app.example".into()])
    })
    .await;
    let own = server.address.to_string();
    let own_origin = format!("http://{own}");
    let hosts =
        [(own.as_str(), true), ("localhost", true), ("phones.example", true), ("evil.example", false)];
    let origins = [
        (None, true),
        (Some(own_origin.as_str()), false),
        (Some("https://app.example"), true),
        (Some("http://evil.example"), false),
        (Some("null"), false),
    ];
    let right = format!("Bearer {}", server.token);
    let tokens = [
        (Some(right.as_str()), true),
        (None, false),
        (Some("Bearer rpt_wrong-but-long-enough"), false),
        (Some("Basic dXNlcjpwYXNz"), false),
        (Some(server.token.as_str()), false),
    ];
    for (host, host_fits) in hosts {
        for (origin, origin_fits) in origins {
            // The own origin fits where the request is for that very host.
            let origin_fits = origin_fits || (origin == Some(own_origin.as_str()) && host == own);
            for (token, token_fits) in tokens {
                let (headers, body) = modern("unused", "tools/list", json!({}));
                let mut headers: Vec<_> = headers
                    .iter()
                    .filter(|(name, _)| name != "Authorization")
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                headers.push(("Host", host));
                headers.extend(origin.map(|origin| ("Origin", origin)));
                headers.extend(token.map(|token| ("Authorization", token)));
                let answer = server.request("POST", "/mcp", &headers, &body).await;
                let wanted = if !host_fits || !origin_fits {
                    403
                } else if token_fits {
                    200
                } else {
                    401
                };
                assert_eq!(answer.status, wanted, "{host} {origin:?} {token:?}: {answer:?}");
                assert!(answer.header("access-control-allow-origin").is_none(), "no CORS: {answer:?}");
            }
        }
    }
    server.end().await;
}

#[tokio::test]
async fn health_needs_no_token_metrics_do_and_other_paths_are_nothing() {
    let server = Running::start().await;
    for (path, status) in
        [("/healthz", 200), ("/readyz", 200), ("/metrics", 401), ("/", 404), ("/mcp/../x", 404)]
    {
        assert_eq!(server.request("GET", path, &[], "").await.status, status, "{path}");
        assert_eq!(server.request("GET", path, &[("Host", "evil.example")], "").await.status, 403, "{path}");
    }
    let token = format!("Bearer {}", server.token);
    assert_eq!(
        server
            .modern(&server.token, "tools/call", json!({"name": "list_skills", "arguments": {}}))
            .await
            .status,
        200
    );
    let metrics = server.request("GET", "/metrics", &[("Authorization", &token)], "").await;
    assert!(metrics.body.contains("repertoire_queries_total{tool=\"list_skills\"}"), "{metrics:?}");
    assert!(metrics.body.contains("repertoire_http_in_flight"), "{metrics:?}");
    assert!(metrics.body.ends_with("# EOF\n"), "{metrics:?}");
    server.end().await;
}

#[tokio::test]
async fn an_address_that_others_reach_needs_tls_or_a_proxy() {
    let server = Running::start().await;
    let options = |name: &str| {
        let file = server.folder.path().join(name);
        HttpOptions::new(([0, 0, 0, 0], 0).into(), TokenSource::File(file), server.principals())
    };
    let refused = HttpServer::bind(&server.catalog, options("a")).await;
    assert!(matches!(refused, Err(HttpError::Unprotected { .. })), "{refused:?}");
    assert!(!server.folder.path().join("a").exists(), "nothing is made by a refused start");
    let behind = HttpServer::bind(&server.catalog, options("b").behind_proxy(true)).await;
    assert!(behind.expect("binds").url().starts_with("http://0.0.0.0:"));
    server.end().await;
}
