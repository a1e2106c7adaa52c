//! The skills on a server of one's own: an rmcp handler with a tool of its own that delegates the rest to the
//! [`Server`], over whatever transport the host speaks.
//!
//! Usage: `mount DATA_DIRECTORY` (speaks MCP on standard input and output)

use repertoire::Catalog;
use repertoire::mcp::{Server, ServerOptions};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult, ErrorData,
    InitializeRequestParams, InitializeResult, JsonObject, ListToolsResult, PaginatedRequestParams,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};

/// A host with one tool of its own.
#[derive(Clone, Debug)]
pub struct Host {
    skills: Server,
}

impl Host {
    /// A host over a catalog.
    #[must_use]
    pub fn new(catalog: &Catalog) -> Self {
        Self { skills: Server::new(catalog, ServerOptions::default()) }
    }
}

impl ServerHandler for Host {
    fn get_info(&self) -> ServerConfig {
        // Capabilities and instructions are those of the skills: tools are among them.
        self.skills.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.skills.initialize(request, context).await
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.skills.discover(context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.skills.list_tools(request, context).await?;
        list.tools.push(Tool::new("battery", "How full the battery is", JsonObject::new()));
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "battery" {
            return Ok(CallToolResult::success(vec![ContentBlock::text("80 %")]).into());
        }
        self.skills.call_tool(request, context).await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: mount DATA_DIRECTORY")?;
    let host = Host::new(&Catalog::open(folder)?);
    host.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
