//! A server on a free port and a client that writes HTTP by hand, so that nothing is corrected on the way.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use repertoire::catalog::{BundledMode, Catalog, Options};
use repertoire::entitlement::LocalStatement;
use repertoire::mcp::http::{HttpOptions, HttpServer, TokenSource};
use repertoire::model::{Entry, Layer, Skill};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Nothing here takes that long; a test that waits longer has found a hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A knowledge skill.
pub(crate) fn knowledge(id: &str, content: &str) -> Entry {
    let skill = json!({"id": id, "kind": "knowledge", "name": "A skill", "description": "About it.", "content": content});
    Entry::new(Skill::from_json(&skill).expect("a valid skill").skill)
}

/// A server with its catalog.
pub(crate) struct Running {
    pub(crate) folder: TempDir,
    pub(crate) catalog: Catalog,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<()>>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The JSON-RPC message of the body, from JSON or from the last event of a stream.
    pub(crate) fn message(&self) -> Value {
        let last = self
            .body
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("data: ").filter(|data| !data.is_empty()));
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let wanted = format!("{name}:");
        let line = self.head.lines().find(|line| line.to_ascii_lowercase().starts_with(&wanted))?;
        Some(line[wanted.len()..].trim())
    }
}

impl Running {
    /// A server with default options over two skills, of which one is hidden.
    pub(crate) async fn start() -> Self {
        Self::start_with(|options| options).await
    }

    /// A server with other options.
    pub(crate) async fn start_with(change: impl FnOnce(HttpOptions) -> HttpOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let catalog =
            Catalog::open_with(folder.path().join("data"), Options::default().bundled(BundledMode::Never));
        let catalog = catalog.expect("opens");
        let entries =
            vec![knowledge("android/wifi", "Open the panel."), knowledge("hidden/canary", "canary")];
        catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");
        catalog.declare(LocalStatement::Hide("hidden/canary".to_owned())).expect("hides");
        let token = TokenSource::File(folder.path().join("http-token"));
        let options =
            HttpOptions::new(([127, 0, 0, 1], 0).into(), token, folder.path().join("principals.toml"));
        let server = HttpServer::bind(&catalog, change(options)).await.expect("binds");
        let address = server.address();
        let token = server.made_token().expect("a new token").reveal().to_owned();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async {
            drop(stopped.await);
        }));
        Self { folder, catalog, address, token, stop: Some(stop), served: Some(task) }
    }

    pub(crate) fn principals(&self) -> PathBuf {
        self.folder.path().join("principals.toml")
    }

    /// Ends the server, which must not take long.
    pub(crate) async fn end(mut self) {
        drop(self.stop.take());
        if let Some(served) = self.served.take() {
            tokio::time::timeout(PATIENCE, served).await.expect("ends").expect("no panic");
        }
    }

    /// A connection.
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("connects")
    }

    /// Sends a request as it is and reads to the end of the connection.
    pub(crate) async fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect().await;
        // A server that refuses early may close while the rest is on its way.
        let _ = stream.write_all(request).await;
        let mut bytes = Vec::new();
        let read =
            tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an end in time");
        if let Err(error) = read {
            assert!(!bytes.is_empty(), "no answer: {error}");
        }
        parse(&bytes)
    }

    /// A request with headers of the test's choice; `Host` and `Connection` are added where they are missing.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.raw(&self.written(method, path, headers, body)).await
    }

    /// The bytes of a request.
    pub(crate) fn written(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            let _ = write!(head, "Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        [head.as_bytes(), b"\r\n", body.as_bytes()].concat()
    }

    /// Headers of a request of the stateless lifecycle.
    pub(crate) fn modern_headers(token: &str, method: &str, name: Option<&str>) -> Vec<(String, String)> {
        let mut headers = base_headers(token);
        headers.push(("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned()));
        headers.push(("Mcp-Method".to_owned(), method.to_owned()));
        if let Some(name) = name {
            headers.push(("Mcp-Name".to_owned(), name.to_owned()));
        }
        headers
    }

    /// A request of the stateless lifecycle.
    pub(crate) async fn modern(&self, token: &str, method: &str, params: Value) -> Answer {
        let (headers, body) = modern(token, method, params);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.request("POST", "/mcp", &headers, &body).await
    }

    /// `initialize` of the older lifecycle; answers the session's id.
    pub(crate) async fn initialize(&self, token: &str) -> Answer {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
        self.legacy(token, None, &body).await
    }

    /// A message of the older lifecycle.
    pub(crate) async fn legacy(&self, token: &str, session: Option<&str>, body: &str) -> Answer {
        let mut headers = base_headers(token);
        if let Some(session) = session {
            headers.push(("Mcp-Session-Id".to_owned(), session.to_owned()));
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.request("POST", "/mcp", &headers, body).await
    }
}

/// Headers and body of a request of the stateless lifecycle.
pub(crate) fn modern(token: &str, method: &str, mut params: Value) -> (Vec<(String, String)>, String) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).map(str::to_owned);
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
    (Running::modern_headers(token, method, name.as_deref()), body)
}

fn base_headers(token: &str) -> Vec<(String, String)> {
    vec![
        ("Authorization".to_owned(), format!("Bearer {token}")),
        ("Content-Type".to_owned(), "application/json".to_owned()),
        ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
    ]
}

/// Splits an answer; a chunked body is put together.
pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        unchunked(body)
    } else {
        body.to_owned()
    };
    Answer { status: status.unwrap_or_else(|| panic!("no status in {text:?}")), head: head.to_owned(), body }
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || after.len() < size {
            break;
        }
        body.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    body
}

/// How often something is done, by `REPERTOIRE_TEST_SCALE`.
pub(crate) fn scaled(default: usize, ci: usize, long: usize) -> usize {
    match std::env::var("REPERTOIRE_TEST_SCALE").as_deref() {
        Ok("long") => long,
        Ok("ci") => ci,
        _ => default,
    }
}
