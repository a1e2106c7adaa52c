//! A catalog on a temporary directory and a raw client that speaks lines to a server over it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use repertoire::catalog::{BundledMode, Catalog, Options};
use repertoire::entitlement::LocalStatement;
use repertoire::mcp::{self, Server, ServerOptions};
use repertoire::model::{Entry, Layer, Skill};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// Nothing here takes that long; a test that waits longer has found a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// The skills of the tests: two knowledge skills, a flow template, one that is hidden, one that names a tool that
/// does not exist.
pub(crate) fn skills() -> Vec<Value> {
    vec![
        json!({
            "id": "android/wifi", "kind": "knowledge", "name": "Wi-Fi", "tags": ["settings", "network"],
            "description": "How to switch Wi-Fi on and off.", "aliases": ["wlan"],
            "examples": ["turn on wifi"], "content": "# Wi-Fi\n\nOpen the settings panel `wifi` and use the switch."
        }),
        json!({
            "id": "android/camera", "kind": "knowledge", "name": "Camera", "tags": ["camera"],
            "description": "How to take a photo.", "content": "Open the camera app and press the shutter."
        }),
        json!({
            "id": "xhs-search", "kind": "flow_template", "name": "Xiaohongshu search", "tags": ["search"],
            "description": "Search notes in Xiaohongshu.", "apps": [{"package": "com.xingin.xhs"}],
            "parameters": [
                {"name": "query", "type": "string", "description": "what to search for"},
                {"name": "count", "type": "integer", "required": false, "default": 500, "minimum": 100, "maximum": 5000},
                {"name": "pin", "type": "string", "required": false, "default": "0000", "pattern": "^[0-9]{4}$", "secret": true}
            ],
            "steps": [
                {"tool": "launch_app", "args_template": {"package": "com.xingin.xhs"}},
                {"tool": "input_text", "args_template": {"text": "{query}"}},
                {"tool": "input_text", "args_template": {"text": "{pin}"}, "optional": true},
                {"tool": "wait_for_idle", "args_template": {"stable_ms": "{count}"}, "note": "until the notes are there"}
            ]
        }),
        json!({
            "id": "hidden/canary", "kind": "knowledge", "name": "Canary", "description": "wifi canary",
            "content": "wifi canary"
        }),
        json!({
            "id": "broken", "kind": "flow_template", "name": "Broken", "description": "Names an unknown tool.",
            "steps": [{"tool": "frobnicate", "args_template": {}}]
        }),
    ]
}

/// A catalog with [`skills`], of which `hidden/canary` is hidden.
pub(crate) fn filled() -> (TempDir, Catalog) {
    let (folder, catalog) = empty();
    let entries: Vec<_> = skills()
        .iter()
        .map(|skill| Entry::new(Skill::from_json(skill).expect("a valid skill").skill))
        .collect();
    catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");
    catalog.declare(LocalStatement::Hide("hidden/canary".to_owned())).expect("hides");
    (folder, catalog)
}

/// A catalog that never held a skill.
pub(crate) fn empty() -> (TempDir, Catalog) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = Options::default().bundled(BundledMode::Never);
    let catalog = Catalog::open_with(folder.path(), options).expect("opens");
    (folder, catalog)
}

/// A client that writes and reads lines, and the server at its other end.
pub(crate) struct Wire {
    lines: BufReader<ReadHalf<DuplexStream>>,
    input: Option<WriteHalf<DuplexStream>>,
    served: JoinHandle<Result<(), mcp::SessionError>>,
    next_id: u64,
}

impl Wire {
    /// Starts a server with default options.
    pub(crate) fn start(catalog: &Catalog) -> Self {
        Self::start_with(catalog, ServerOptions::default())
    }

    /// Starts a server.
    pub(crate) fn start_with(catalog: &Catalog, options: ServerOptions) -> Self {
        Self::serving(Server::new(catalog, options))
    }

    /// Serves with a server.
    pub(crate) fn serving(host: Server) -> Self {
        Self::over(|output, input| mcp::serve(host, output, input))
    }

    /// Starts whatever serves a pair of streams.
    pub(crate) fn over<F>(serve: impl FnOnce(ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) -> F) -> Self
    where
        F: Future<Output = Result<(), mcp::SessionError>> + Send + 'static,
    {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (output, input) = tokio::io::split(far);
        let served = tokio::spawn(serve(output, input));
        let (lines, input) = tokio::io::split(near);
        Self { lines: BufReader::new(lines), input: Some(input), served, next_id: 1 }
    }

    /// Starts a server and greets it with `initialize` of a revision.
    pub(crate) async fn initialized(catalog: &Catalog, revision: &str) -> Self {
        let mut wire = Self::start(catalog);
        wire.initialize(revision).await;
        wire
    }

    /// `initialize` and `notifications/initialized`.
    pub(crate) async fn initialize(&mut self, revision: &str) -> Value {
        let params = json!({
            "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
        });
        let answer = self.request("initialize", Some(params)).await;
        self.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        self.write(b"\n").await;
        answer
    }

    /// Writes bytes and tells whether the server took them within a time.
    pub(crate) async fn takes(&mut self, bytes: &[u8], within: Duration) -> bool {
        let input = self.input.as_mut().expect("an open input");
        tokio::time::timeout(within, input.write_all(bytes)).await.is_ok()
    }

    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("an open input");
        tokio::time::timeout(PATIENCE, input.write_all(bytes))
            .await
            .expect("the server reads")
            .expect("writes");
    }

    /// The next line, without its end; `None` at the end of the output.
    pub(crate) async fn read(&mut self) -> Option<String> {
        let mut line = String::new();
        let read =
            tokio::time::timeout(PATIENCE, self.lines.read_line(&mut line)).await.expect("an answer in time");
        (read.expect("reads") > 0).then(|| line.trim_end().to_owned())
    }

    /// The next line as JSON.
    pub(crate) async fn read_json(&mut self) -> Value {
        let line = self.read().await.expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a request and waits for its answer, which must be the next one.
    pub(crate) async fn request(&mut self, method: &str, params: Option<Value>) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if let Some(params) = params {
            request["params"] = params;
        }
        self.write(format!("{request}\n").as_bytes()).await;
        let answer = loop {
            let message = self.read_json().await;
            // What a change brings may come before the answer.
            if message.get("id").is_some() {
                break message;
            }
        };
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and answers `result`.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let answer = self.request("tools/call", Some(params)).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must fail, and answers its error.
    pub(crate) async fn fails(&mut self, tool: &str, arguments: Value) -> Value {
        serde_json::from_str(&self.fails_with_text(tool, arguments).await).expect("an error is JSON")
    }

    /// Calls a tool that must fail, and answers the text of its error.
    pub(crate) async fn fails_with_text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none(), "an error is text only: {result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    /// Ends the input and waits for the end of the server; answers what it still wrote.
    pub(crate) async fn end(mut self) -> String {
        if let Some(mut input) = self.input.take() {
            input.shutdown().await.expect("ends the input");
        }
        let mut rest = String::new();
        let read = tokio::time::timeout(PATIENCE, self.lines.read_to_string(&mut rest)).await;
        read.expect("the server ends in time").expect("reads");
        tokio::time::timeout(PATIENCE, self.served)
            .await
            .expect("ends")
            .expect("no panic")
            .expect("ends well");
        rest
    }
}

/// Compares a text with a golden file, or writes the file if `UPDATE_GOLDEN` is set.
pub(crate) fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("writes");
        return;
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(wanted == text, "{name} differs; UPDATE_GOLDEN=1 writes it anew. Now:\n{text}");
}

/// A value with the numbers that ranking may change, the version and cursors blanked.
pub(crate) fn blanked(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members
                .iter()
                .map(|(name, member)| {
                    let varies =
                        matches!(name.as_str(), "score" | "confidence" | "next_cursor" | "reason" | "why");
                    // An object of that name is part of a schema.
                    let blank = varies && !member.is_object();
                    (name.clone(), if blank { json!(format!("<{name}>")) } else { blanked(member) })
                })
                .collect();
            json!(members)
        }
        Value::Array(items) => items.iter().map(blanked).collect(),
        Value::String(text) => json!(text.replace(env!("CARGO_PKG_VERSION"), "<version>")),
        other => other.clone(),
    }
}
