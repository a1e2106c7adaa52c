//! The client of rmcp, on both lifecycles.

use repertoire::catalog::Catalog;
use repertoire::mcp::{self, Server, ServerOptions};
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::json;

use crate::support::filled;

#[derive(Clone, Default)]
struct Host;

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }
}

async fn connect(catalog: &Catalog, mode: ClientLifecycleMode) -> RunningService<RoleClient, Host> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(mcp::serve(Server::new(catalog, ServerOptions::default()), input, output));
    Host.serve_with_lifecycle(near, mode).await.expect("connects")
}

async fn session(mode: ClientLifecycleMode) {
    let (_folder, catalog) = filled();
    let client = connect(&catalog, mode).await;
    let tools = client.list_all_tools().await.expect("lists");
    assert_eq!(tools.len(), mcp::TOOLS.len());
    let request = CallToolRequestParams::new("get_skill")
        .with_arguments(json!({"id": "android/wifi"}).as_object().cloned().expect("an object"));
    let found = client.call_tool(request).await.expect("calls");
    assert_eq!(found.structured_content.expect("structure")["skill"]["name"], "Wi-Fi");
    let request = CallToolRequestParams::new("get_skill")
        .with_arguments(json!({"id": "hidden/canary"}).as_object().cloned().expect("an object"));
    assert_eq!(client.call_tool(request).await.expect("calls").is_error, Some(true));
    client.cancel().await.expect("ends");
}

#[tokio::test]
async fn the_client_of_rmcp_is_served_after_a_handshake() {
    session(ClientLifecycleMode::Initialize).await;
}

#[tokio::test]
async fn the_client_of_rmcp_is_served_without_a_handshake() {
    session(ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }).await;
}
