//! The product's HTTP server with the fixtures that the official conformance suite calls by name beside its own tools.
//!
//! Usage: `conformance DATA_DIRECTORY PORT`
//!
//! Only for tests: built with the feature `conformance-fixtures`, which no released program has. Everything that is not
//! a fixture is delegated to the [`Server`], as an embedder with tools of its own would do it.

mod fixtures;
mod rounds;

use std::net::SocketAddr;
use std::path::Path;

use repertoire::mcp::Server;
use repertoire::mcp::http::{HttpOptions, HttpServer, TokenSource};
use repertoire::model::Resource;
use repertoire::{Catalog, Entry, Kind, Layer, Skill};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
    ReadResourceRequestParams, ReadResourceResponse, Reference, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams, sha256_digest,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

type Context = RequestContext<RoleServer>;

/// The server with fixtures.
struct Fixed {
    inner: Server,
}

impl ServerHandler for Fixed {
    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        self.inner.initialize(request, context).await
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        self.inner.discover(context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.inner.list_tools(request, context).await?;
        list.tools.extend(fixtures::tools());
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        fixtures::tools().into_iter().find(|tool| tool.name == name).or_else(|| self.inner.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "test_trigger_tool_change" | "test_trigger_prompt_change" => {
                // The product tells of prompts when the catalog changes; a fixture has no other way to change it.
                if request.name.ends_with("prompt_change") {
                    fixtures::change_prompts()?;
                } else {
                    self.inner.tools_changed();
                }
                Ok(fixtures::text("triggered").into())
            }
            name if rounds::is_one(name) => rounds::call(&request, &context),
            name if fixtures::is_one(name) => fixtures::call(&request, &context).await,
            _ => self.inner.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.inner.list_resources(request, context).await?;
        list.resources.extend(fixtures::resources());
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.inner.list_resource_templates(request, context).await?;
        list.resource_templates.push(fixtures::template());
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match fixtures::read(&request.uri) {
            Some(contents) => Ok(contents.into()),
            None => self.inner.read_resource(request, context).await,
        }
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: Context,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.inner.read_resource_directory(request, context).await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.inner.list_skills(request, context).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: Context,
    ) -> Result<GetSkillResult, ErrorData> {
        self.inner.get_skill(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.inner.list_prompts(request, context).await?;
        list.prompts.extend(fixtures::prompts());
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        match fixtures::prompt(&request) {
            Some(prompt) => Ok(prompt),
            None => self.inner.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        match &request.r#ref {
            Reference::Prompt(prompt) if prompt.name.starts_with("test_") => Ok(CompleteResult::default()),
            _ => self.inner.complete(request, context).await,
        }
    }

    #[expect(deprecated, reason = "the initialize lifecycle has no other way")]
    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        if request.uri.starts_with("test://") { Ok(()) } else { self.inner.subscribe(request, context).await }
    }

    #[expect(deprecated, reason = "the initialize lifecycle has no other way")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        self.inner.unsubscribe(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.inner.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.listen(context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.inner.on_initialized(context).await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        self.inner.on_custom_request(request, context).await
    }
}

/// A skill with a file in a folder, first of all by its id, and one that is a prompt.
fn fill(catalog: &Catalog) -> repertoire::Result<()> {
    let bytes: &[u8] = b"# More\n";
    let digest = sha256_digest(bytes);
    let hash = digest.trim_start_matches("sha256:");
    let mut first = Skill::new("a-first", Kind::Knowledge, "First", "A skill with a file beside it.");
    "Read references/more.md.".clone_into(&mut first.content);
    first.resources = vec![Resource::new("references/more.md", hash, bytes.len() as u64, "text/markdown")];
    let mut entry = Entry::new(first);
    entry.resources.push(bytes.into());
    catalog.update(Layer::Local, &mut |_| Ok(Some(vec![entry.clone(), fixtures::prompt_entry(0)])))?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(port)) = (arguments.next(), arguments.next()) else {
        return Err("usage: conformance DATA_DIRECTORY PORT".into());
    };
    let catalog = Catalog::open(&folder)?;
    fill(&catalog)?;
    fixtures::keep(&catalog);
    let folder = Path::new(&folder);
    let listen = SocketAddr::from(([127, 0, 0, 1], port.parse()?));
    let options = HttpOptions::new(
        listen,
        TokenSource::File(folder.join("http-token")),
        folder.join("principals.toml"),
    );
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let server = HttpServer::bind_with(&catalog, options, |_, inner| Fixed { inner }).await?;
        server.run(std::future::pending()).await;
        Ok(())
    })
}
