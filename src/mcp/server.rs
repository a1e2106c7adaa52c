//! The server as rmcp mounts it: what it says about itself, which tools it lists, how a call reaches its query.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData,
    GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestMethod,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestMethod,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use crate::authoring::Recorder;
use crate::catalog::{Catalog, Snapshot, View};
use crate::error::{Error, Result, shorten};
use crate::guard::Guard;
use crate::limits::MCP_WATCHED_MAX;
use crate::mcp::answer::Form;
use crate::mcp::arguments::{Values, nearest};
use crate::mcp::changes::{Face, Feed, Sink, Watched};
use crate::mcp::device::DeviceSide;
use crate::mcp::documents::digest;
use crate::mcp::failure::Failure;
use crate::mcp::listing::{instructions, listing};
use crate::mcp::options::ServerOptions;
use crate::mcp::scope::{self, USE_SKILL};
use crate::mcp::table::{QueryTool, TOOLS};
use crate::mcp::tasks::{Done, TASK_TOOLS, TaskTool};
use crate::mcp::{prompts, recording, resources};
use crate::observe::{Family, count};

/// How long a client may keep the tool list and the server's description: they are fixed for the process.
const FRESH_MS: u64 = 300_000;

/// Requests that this server knows; one of them that does not parse has wrong parameters, not an unknown method.
const KNOWN_METHODS: [&str; 17] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/directory/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "skills/list",
    "skills/get",
    "subscriptions/listen",
];

/// Methods that the revision 2026-07-28 does not have any more.
const LEGACY_METHODS: [&str; 4] = ["initialize", "ping", "resources/subscribe", "resources/unsubscribe"];

/// The tool whose content resources and prompts are: they are offered where it is.
const READING_TOOL: &str = "get_skill";

/// Answers MCP requests from one catalog, for one caller. Cheap to clone; all clones share one sight of the catalog.
///
/// It implements [`ServerHandler`], so an embedder can serve it over any transport of rmcp or delegate to it from a
/// handler of its own. [`serve_stdio`](crate::mcp::serve_stdio) is the ready-made way.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) shared: Arc<Shared>,
    /// Resources that this session watches.
    pub(super) watched: Arc<Mutex<Watched>>,
    /// `None` where no phones were given.
    device: Option<DeviceSide>,
}

/// What all sessions of a caller share: the place of everything that belongs to a process on stdio and to a token
/// over HTTP.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) catalog: Catalog,
    pub(super) feed: Feed,
    /// What the caller's lists said last, and at which epoch.
    pub(super) face: Mutex<Option<(u64, Face)>>,
    /// How often the offered tools changed.
    pub(super) tool_changes: AtomicU64,
    /// Locked for the moment in which a request takes its look, never while it runs.
    pub(super) view: Mutex<View>,
    pub(super) tools: Vec<&'static QueryTool>,
    pub(super) task_tools: Vec<&'static TaskTool>,
    pub(super) recorder: Recorder,
    pub(super) listed: Vec<Tool>,
    pub(super) instructions: String,
    pub(super) full_text: bool,
    pub(super) uses_skills: bool,
}

impl Server {
    /// A server over a catalog. Reads nothing yet.
    #[must_use]
    pub fn new(catalog: &Catalog, options: ServerOptions) -> Self {
        Self::fed(catalog, options, Feed::new(catalog))
    }

    fn fed(catalog: &Catalog, options: ServerOptions, feed: Feed) -> Self {
        let ServerOptions { tools: offered, narrowing, full_text, authoring, devices, guard } = options;
        let tools: Vec<_> = TOOLS.iter().filter(|tool| offered.allows_query(tool.name)).collect();
        let uses_skills = devices.is_some() && offered.allows_query(USE_SKILL);
        let recorder = authoring.map_or_else(Recorder::off, |authoring| authoring.recorder());
        let allowed = |tool: &&TaskTool| recorder.is_on() && offered.allows_query(tool.name);
        let task_tools: Vec<_> = TASK_TOOLS.iter().filter(allowed).collect();
        let mut listed: Vec<_> = tools.iter().map(|tool| listing(tool)).collect();
        listed.extend(uses_skills.then(scope::listing));
        listed.extend(task_tools.iter().map(|tool| tool.listing()));
        let device = devices.map(|devices| {
            let guard = recording::observed(guard, &recorder);
            let guard = Guard::new(Arc::clone(catalog.registry()), guard);
            DeviceSide::new(devices, guard, &offered)
        });
        let acts = device.as_ref().is_some_and(|side| side.names().next().is_some());
        let shared = Shared {
            catalog: catalog.clone(),
            feed,
            face: Mutex::new(None),
            tool_changes: AtomicU64::new(0),
            view: Mutex::new(catalog.view(narrowing)),
            listed,
            instructions: instructions(&tools, uses_skills, acts),
            tools,
            task_tools,
            recorder,
            full_text,
            uses_skills,
        };
        Self { shared: Arc::new(shared), watched: Arc::default(), device }
    }

    /// A server for another caller of the same catalog, told of changes by the same thread.
    #[must_use]
    pub fn for_caller(&self, options: ServerOptions) -> Self {
        Self::fed(&self.shared.catalog, options, self.shared.feed.clone())
    }

    /// The same caller in another session: what a session watches is its own, everything else is shared, the active
    /// skill and its approvals too.
    #[must_use]
    pub fn session(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), watched: Arc::default(), device: self.device.clone() }
    }

    /// Records the task that a client began, for whoever makes its device calls; off where authoring is off.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.shared.recorder
    }

    /// The same server for another session: its active skill, approvals and secrets are those of `guard`.
    #[must_use]
    pub fn with_guard(&self, guard: Arc<Guard>) -> Self {
        let device = self.device.as_ref().map(|side| side.with_guard(guard));
        Self { shared: Arc::clone(&self.shared), watched: Arc::default(), device }
    }

    /// The guard of this session; `None` where no phones were given.
    #[must_use]
    pub fn guard(&self) -> Option<&Arc<Guard>> {
        self.device.as_ref().map(|side| &side.guard)
    }

    /// Begins a query: everything it sees is of one moment, and not before everything acknowledged earlier.
    pub(super) fn look(&self) -> Result<Snapshot> {
        self.shared.view.lock().snapshot()
    }

    /// Calls a tool. Fails only where the tool does not exist; whatever else goes wrong is in the result.
    fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        form: Form,
    ) -> Result<CallToolResult, ErrorData> {
        let tool =
            self.shared.tools.iter().find(|tool| tool.name == name).ok_or_else(|| self.unknown_tool(name))?;
        // A panic would take the answer with it and leave the client waiting.
        let answer =
            catch_unwind(AssertUnwindSafe(|| self.run(tool, arguments, form))).unwrap_or_else(|_| {
                tracing::error!(tool = tool.name, "a tool panicked");
                Err(Failure::internal())
            });
        match &answer {
            Ok(_) => count(Family::Queries, tool.name),
            Err(failure) => count(Family::QueryErrors, failure.code()),
        }
        Ok(answer.unwrap_or_else(Failure::into_result))
    }

    /// Answers a request for resources or prompts from a look of this moment.
    pub(super) fn read<T>(
        &self,
        run: impl FnOnce(&Snapshot) -> Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        let look = self.look().map_err(|error| resources::failed(&error))?;
        catch_unwind(AssertUnwindSafe(|| run(&look))).unwrap_or_else(|_| {
            tracing::error!("a request for resources or prompts panicked");
            Err(ErrorData::internal_error("the server failed on this request", None))
        })
    }

    /// Whether resources and prompts are offered.
    fn offers_reading(&self) -> bool {
        self.shared.tools.iter().any(|tool| tool.name == READING_TOOL)
    }

    fn reading<M: rmcp::model::ConstString>(&self) -> Result<(), ErrorData> {
        if self.offers_reading() { Ok(()) } else { Err(ErrorData::method_not_found::<M>()) }
    }

    fn run(
        &self,
        tool: &QueryTool,
        arguments: &Map<String, Value>,
        form: Form,
    ) -> Result<CallToolResult, Failure> {
        let values = Values::check(tool.arguments, arguments)
            .map_err(|problems| Failure::arguments(tool.name, &problems))?;
        let look = self.look().map_err(|error| Failure::from_error(tool.name, error))?;
        if look.sync_state() == "EMPTY" {
            return Err(Failure::catalog_empty());
        }
        let result = (tool.run)(&look, &values, form)?;
        if let ("resolve_skill", Some(side)) = (tool.name, &self.device) {
            learn_secrets(&side.guard, &look, &values, &result)?;
        }
        Ok(result)
    }

    /// Calls `use_skill` or a device tool; `None` if the name is neither.
    async fn call_with_phone(
        &self,
        request: &CallToolRequestParams,
        form: Form,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, Failure>> {
        let side = self.device.as_ref()?;
        let look = || self.look().map_err(|error| Failure::from_error(&request.name, error));
        if self.shared.uses_skills && request.name == USE_SKILL {
            let used = scope::use_skill(&side.guard, request.clone(), look, form, context).await;
            if used.as_ref().is_ok_and(|used| used.changed)
                && !is_stateless(context.protocol_version().as_ref())
            {
                self.tools_changed();
            }
            return Some(used.map(|used| used.response));
        }
        side.find(&request.name)?;
        Some(match look() {
            Ok(look) => side.call(request.clone(), look, context).await,
            Err(failure) => Err(failure),
        })
    }

    /// Calls a tool of the task, if it is one.
    fn call_task(&self, name: &str, arguments: &Map<String, Value>, form: Form) -> Option<Done> {
        let tool = self.shared.task_tools.iter().find(|tool| tool.name == name)?;
        let recorder = &self.shared.recorder;
        let answer = catch_unwind(AssertUnwindSafe(|| tool.call(recorder, arguments, form)));
        let answer = answer.unwrap_or_else(|_| {
            tracing::error!(tool = tool.name, "a tool panicked");
            Err(Failure::internal())
        });
        Some(answer.unwrap_or_else(|failure| Done { result: failure.into_result(), learnt: false }))
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let device = self.device.iter().flat_map(DeviceSide::names);
        let query = self.shared.listed.iter().map(|tool| tool.name.as_ref());
        let data = nearest(name, query.chain(device)).map(|known| json!({"nearest": known}));
        ErrorData::invalid_params(format!("Unknown tool: {}", shorten(name)), data)
    }

    fn config(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let capabilities = if self.offers_reading() {
            tools
                .enable_resources()
                .enable_resources_list_changed()
                .enable_resources_subscribe()
                .enable_prompts()
                .enable_prompts_list_changed()
                .enable_completions()
                .enable_skills_with_directory_read()
                .build()
        } else {
            tools.build()
        };
        let identity =
            Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")).with_title("Repertoire");
        ServerConfig::new(capabilities)
            .with_server_info(identity)
            .with_instructions(self.shared.instructions.clone())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.config()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        // What counts later is the revision agreed on, not the one asked for.
        let mut agreed = request;
        agreed.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(answer)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let revisions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(revisions, self.config())
            .with_ttl_ms(FRESH_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("tools/list is a single page and takes no cursor", None));
        }
        let revision = context.protocol_version();
        let mut tools = self.shared.listed.clone();
        if let Some(side) = &self.device {
            // Without a handshake there is no session that could be told of a change.
            let scope =
                if is_stateless(revision.as_ref()) { None } else { Some(self.look().map_err(unlisted)?) };
            tools.extend(side.listed(scope.as_ref()).map_err(unlisted)?);
        }
        if Form::of(revision.as_ref(), false) == Form::Text {
            for tool in &mut tools {
                tool.output_schema = None;
                tool.title = None;
            }
        }
        let mut list = ListToolsResult::with_all_items(tools);
        if is_stateless(revision.as_ref()) {
            list = list.with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private);
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let form = Form::of(context.protocol_version().as_ref(), self.shared.full_text);
        if let Some(answer) = self.call_with_phone(&request, form, &context).await {
            return Ok(answer.unwrap_or_else(|failure| failure.into_result().into()));
        }
        let arguments = request.arguments.unwrap_or_default();
        if let Some(done) = self.call_task(&request.name, &arguments, form) {
            if done.learnt {
                self.tools_changed();
            }
            return Ok(done.result.into());
        }
        self.call(&request.name, &arguments, form).map(Into::into)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let query = self.shared.listed.iter().find(|tool| tool.name == name);
        query.or_else(|| self.device.as_ref()?.find(name)).cloned()
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.reading::<ListResourcesRequestMethod>()?;
        self.read(|look| resources::list_resources(look, cursor(request.as_ref())))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.reading::<ListResourceTemplatesRequestMethod>()?;
        Ok(resources::list_templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.reading::<ReadResourceRequestMethod>()?;
        self.read(|look| resources::read(look, &request.uri)).map(Into::into)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.read(|look| resources::read_directory(look, &request.uri, request.cursor.as_deref()))
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.read(|look| resources::list_skills(look, cursor(request.as_ref())))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.read(|look| resources::get_skill(look, &request.uri))
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.reading::<ListPromptsRequestMethod>()?;
        self.read(|look| prompts::list(look, cursor(request.as_ref())))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.reading::<GetPromptRequestMethod>()?;
        self.read(|look| prompts::get(look, &request.name, request.arguments.as_ref())).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.reading::<CompleteRequestMethod>()?;
        self.read(|look| prompts::complete(look, &request))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.reading::<SubscribeRequestMethod>()?;
        self.watch(&[request.uri])
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.reading::<UnsubscribeRequestMethod>()?;
        self.watched.lock().remove(&request.uri);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let begun = self.shared.feed.epoch();
        tokio::spawn(self.clone().tell(Sink::Peer(context.peer), begun));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        // What cannot be watched is left out of the acknowledgement, hidden resources like unknown ones.
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(MCP_WATCHED_MAX);
            let seen = self.look().map(|look| {
                uris.retain(|uri| matches!(digest(&look, uri), Ok(Some(_))));
            });
            if let Err(error) = seen {
                tracing::warn!(%error, "no resource can be watched");
                uris.clear();
            }
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let begun = self.shared.feed.epoch();
        let session = self.session();
        if let Some(uris) = &context.accepted().resource_subscriptions {
            session.watch(uris)?;
        }
        let sink = Sink::Listen(context.sink().clone());
        tokio::select! {
            () = context.cancelled() => {}
            () = session.tell(sink, begun) => {}
        }
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = shorten(&request.method);
        let gone =
            is_stateless(context.protocol_version().as_ref()) && LEGACY_METHODS.contains(&method.as_ref());
        if KNOWN_METHODS.contains(&method.as_ref()) && !gone {
            return Err(ErrorData::invalid_params(
                format!("the params of {method} do not have its form"),
                None,
            ));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"), None))
    }
}

/// Whether a revision has no handshake and no sessions.
fn is_stateless(revision: Option<&ProtocolVersion>) -> bool {
    revision.is_some_and(|revision| revision.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

fn cursor(request: Option<&PaginatedRequestParams>) -> Option<&str> {
    request?.cursor.as_deref()
}

/// A list that cannot be made because the catalog cannot be read.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err calls")]
fn unlisted(error: Error) -> ErrorData {
    tracing::error!(%error, "the tools cannot be listed");
    ErrorData::internal_error("the catalog could not be read; the detail is in the server's log", None)
}

/// Remembers the secrets of resolved steps, so that they are masked when the calls are made.
fn learn_secrets(
    guard: &Guard,
    look: &Snapshot,
    values: &Values<'_>,
    result: &CallToolResult,
) -> Result<(), Failure> {
    let written = match &result.structured_content {
        Some(content) => Some(content.clone()),
        None => result.content.iter().find_map(|block| serde_json::from_str(&block.as_text()?.text).ok()),
    };
    let steps = written.as_ref().and_then(|content| content.get("steps")).and_then(Value::as_array);
    if !steps.into_iter().flatten().any(|step| step.get("secret") == Some(&Value::Bool(true))) {
        return Ok(());
    }
    let failed = |error| Failure::from_error("resolve_skill", error);
    let none = Map::new();
    match look.get(values.text("id").unwrap_or_default()).map_err(failed)? {
        Some(skill) => {
            guard.learn_secrets(&skill, values.object("parameters").unwrap_or(&none)).map_err(failed)
        }
        None => Ok(()),
    }
}
