//! The whole way: a client searches, resolves, makes each call itself, and the phone shows what was asked for.

use std::sync::Arc;

use repertoire::catalog::{BundledMode, Catalog, Options};
use repertoire::device::Devices;
use repertoire::guard::{CallRecord, GuardOptions};
use repertoire::mcp::{self, Server, ServerOptions, ToolFilter};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Phone;

/// What the person at the client says.
#[derive(Clone, Debug)]
pub(crate) enum Person {
    /// The client cannot ask.
    Nobody,
    /// Answers with this action, and this choice.
    Says(ElicitationAction, &'static str),
}

/// A client with a person.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    person: Person,
    pub(crate) asked: Arc<std::sync::Mutex<Vec<String>>>,
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if !matches!(self.person, Person::Nobody) {
            capabilities.elicitation = Some(ElicitationCapability::default());
        }
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            self.asked.lock().expect("a lock").push(message);
        }
        match &self.person {
            Person::Says(action, choice) => {
                Ok(ElicitResult::new(action.clone()).with_content(json!({"decision": choice})))
            }
            Person::Nobody => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }
}

/// A served catalog with a phone, and its client.
pub(crate) struct Desk {
    pub(crate) phone: Phone,
    pub(crate) client: RunningService<RoleClient, Host>,
    pub(crate) asked: Arc<std::sync::Mutex<Vec<String>>>,
    pub(crate) records: Arc<std::sync::Mutex<Vec<CallRecord>>>,
    pub(crate) catalog: Catalog,
    _folder: TempDir,
}

pub(crate) const HANDSHAKE: ClientLifecycleMode = ClientLifecycleMode::Initialize;

pub(crate) fn stateless() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

impl Desk {
    pub(crate) async fn new(mode: ClientLifecycleMode, person: Person, guard: GuardOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options::default().bundled(BundledMode::Always);
        let catalog = Catalog::open_with(folder.path(), options).expect("opens");
        let phone = Phone::shared();
        let records: Arc<std::sync::Mutex<Vec<CallRecord>>> = Arc::default();
        let into = Arc::clone(&records);
        let observer = move |record: &CallRecord| into.lock().expect("a lock").push(record.clone());
        let devices: Arc<Devices> = Arc::clone(&phone.devices);
        let options = ServerOptions::default().devices(devices).guard(guard.observer(Arc::new(observer)));
        let server = Server::new(&catalog, options);
        let (near, far) = tokio::io::duplex(256 * 1024);
        let (input, output) = tokio::io::split(far);
        tokio::spawn(mcp::serve(server, input, output));
        let asked: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
        let host = Host { person, asked: Arc::clone(&asked) };
        let client = host.serve_with_lifecycle(near, mode).await.expect("connects");
        Self { phone, client, asked, records, catalog, _folder: folder }
    }

    pub(crate) async fn call(&self, tool: &str, args: Value) -> CallToolResult {
        let request = CallToolRequestParams::new(tool.to_owned())
            .with_arguments(args.as_object().expect("an object").clone());
        self.client.call_tool(request).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// The text of a call that works.
    pub(crate) async fn text(&self, tool: &str, args: Value) -> String {
        let result = self.call(tool, args).await;
        let text = result.content[0].as_text().expect("a text").text.clone();
        assert_ne!(result.is_error, Some(true), "{tool}: {text}");
        text
    }

    /// The code of a call that is refused.
    pub(crate) async fn code(&self, tool: &str, args: Value) -> String {
        let result = self.call(tool, args).await;
        assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
        let text = &result.content[0].as_text().expect("a text").text;
        let error: Value = serde_json::from_str(text).expect("an error is JSON");
        for member in ["message", "hint"] {
            assert!(error[member].as_str().is_some_and(|text| !text.is_empty()), "{error}");
        }
        error["error"].as_str().expect("a code").to_owned()
    }
}

async fn search_and_run(mode: ClientLifecycleMode) {
    let desk = Desk::new(mode, Person::Nobody, GuardOptions::default()).await;
    let found = desk.call("match_skill", json!({"request": "在小红书上搜索成都美食"})).await;
    let matched = found.structured_content.expect("structure");
    assert_eq!(matched["skill"]["id"], "xhs-search", "{matched}");
    let resolved =
        desk.call("resolve_skill", json!({"id": "xhs-search", "parameters": {"query": "成都美食"}})).await;
    let steps = resolved.structured_content.expect("structure")["steps"].clone();
    let mut last = String::new();
    for step in steps.as_array().expect("steps") {
        last = desk.text(step["tool"].as_str().expect("a tool"), step["args"].clone()).await;
    }
    assert_eq!(desk.phone.driver.screen(), "results");
    assert!(last.contains("成都美食 必吃榜") && last.starts_with("com.xingin.xhs"), "{last}");
    let records = desk.records.lock().expect("a lock");
    let tools: Vec<&str> = records.iter().map(|record| record.tool.as_str()).collect();
    let wanted: Vec<&str> =
        steps.as_array().expect("steps").iter().map(|step| step["tool"].as_str().expect("a tool")).collect();
    assert_eq!(tools, wanted);
    let tap = records.iter().find(|record| record.tool == "tap").expect("a tap");
    let element = tap.element.as_ref().expect("an element");
    assert_eq!((tap.app.as_str(), element.content_description.as_str()), ("com.xingin.xhs", "搜索"));
    assert!(records.iter().all(|record| record.ok && record.decision == "allow"));
}

#[tokio::test]
async fn the_bundled_flow_ends_on_the_right_screen_after_a_handshake() {
    search_and_run(HANDSHAKE).await;
}

#[tokio::test]
async fn the_bundled_flow_ends_on_the_right_screen_without_a_handshake() {
    search_and_run(stateless()).await;
}

#[tokio::test]
async fn the_whole_tool_list_is_small_and_tells_the_effect_of_each_tool() {
    let desk = Desk::new(HANDSHAKE, Person::Nobody, GuardOptions::default()).await;
    let tools = desk.client.list_all_tools().await.expect("lists");
    let bytes = serde_json::to_string(&tools).expect("serialises").len();
    assert!(bytes <= repertoire::limits::MCP_TOOL_LIST_BYTES_MAX, "{bytes} bytes");
    for name in ["match_skill", "resolve_skill", "use_skill", "tap", "describe_screen", "scroll_to_element"] {
        assert!(tools.iter().any(|tool| tool.name == name), "{name}");
    }
    for tool in &tools {
        let wire = serde_json::to_value(tool).expect("serialises");
        assert!(
            wire["annotations"]["readOnlyHint"].is_boolean() && wire["description"].is_string(),
            "{wire}"
        );
        assert!(!["run_skill", "execute"].iter().any(|word| tool.name.contains(word)));
    }
    // What resolves takes parameters, what acts does not: nothing does both.
    let both = |tool: &&rmcp::model::Tool| tool.input_schema["properties"].get("parameters").is_some();
    assert_eq!(
        tools.iter().filter(both).map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        ["resolve_skill"]
    );
}

#[tokio::test]
async fn a_filter_of_tools_offers_what_it_names() {
    let phone = Phone::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = Catalog::open(folder.path()).expect("opens");
    let filter = ToolFilter::parse("search_skills,open_app").expect("a filter");
    let options = ServerOptions::default().devices(Arc::clone(&phone.devices)).tools(filter);
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(mcp::serve(Server::new(&catalog, options), input, output));
    let host = Host { person: Person::Nobody, asked: Arc::default() };
    let client = host.serve_with_lifecycle(near, HANDSHAKE).await.expect("connects");
    let names: Vec<_> =
        client.list_all_tools().await.expect("lists").into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["search_skills", "launch_app"]);
    let tap = CallToolRequestParams::new("tap")
        .with_arguments(json!({"index": 1}).as_object().expect("one").clone());
    assert!(client.call_tool(tap).await.is_err(), "a tool that is not offered does not exist");
}

#[tokio::test]
async fn a_cancelled_wait_ends_at_once_and_progress_is_told_before() {
    let desk = Desk::new(HANDSHAKE, Person::Nobody, GuardOptions::default()).await;
    let args = json!({"text": "never", "timeout_ms": 30_000}).as_object().expect("an object").clone();
    let request = CallToolRequestParams::new("wait_for").with_arguments(args);
    let request = rmcp::model::ClientRequest::CallToolRequest(rmcp::model::Request::new(request));
    let handle = desk
        .client
        .send_cancellable_request(request, rmcp::service::PeerRequestOptions::no_options())
        .await
        .expect("is sent");
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    handle.cancel(Some("enough".to_owned())).await.expect("is cancelled");
    let free =
        tokio::time::timeout(std::time::Duration::from_secs(10), desk.text("describe_screen", json!({})))
            .await;
    assert!(free.is_ok(), "the phone is free again");
    let records = desk.records.lock().expect("a lock");
    assert_eq!(records[0].code.as_deref(), Some("device_call_cancelled"));
}
