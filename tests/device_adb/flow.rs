//! The whole way: a client of the Model Context Protocol searches, resolves, makes each call itself, and the real adb brings
//! the phone to the screen that was asked for.

use std::sync::Arc;

use repertoire::catalog::{BundledMode, Catalog, Options};
use repertoire::device::{DeviceOptions, DeviceState, Devices};
use repertoire::mcp::{self, Server, ServerOptions};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

use crate::phone::{Model, Node, Scene};
use crate::world::{World, listed};

const FIELD: &str = "com.xingin.xhs:id/search_input";

/// The app of the bundled flow: a feed, a search, its results.
fn xiaohongshu() -> Model {
    let scene = |activity: &str| Scene::new("com.xingin.xhs", activity);
    let feed = scene(".index.v2.IndexActivityV2")
        .node(Node::at([20, 40, 120, 120]).text("发现"))
        .node(Node::at([620, 40, 700, 120]).description("搜索").goes("search"));
    let search = scene(".alioth.search.GlobalSearchActivity")
        .node(Node::at([100, 40, 600, 120]).field(FIELD, Some("results")))
        .focus(FIELD);
    let results = scene(".alioth.search.GlobalSearchActivity")
        .node(Node::at([100, 40, 600, 120]).shows(FIELD))
        .node(Node::at([20, 140, 120, 200]).text("全部"))
        .node(Node::at([20, 220, 340, 700]).text("成都美食 必吃榜"));
    let mut model = Model::default()
        .scene("feed", feed)
        .scene("search", search)
        .scene("results", results)
        .app("com.xingin.xhs", ".index.v2.IndexActivityV2", "feed");
    model.keyboards.push("com.android.adbkeyboard/.AdbIME".to_owned());
    model
}

struct Client {
    running: RunningService<RoleClient, ()>,
    _folder: tempfile::TempDir,
}

impl Client {
    async fn start(world: &World) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options::default().bundled(BundledMode::Always);
        let catalog = Catalog::open_with(folder.path(), options).expect("opens");
        let devices = Arc::new(Devices::new(Arc::new(world.driver()), DeviceOptions::default()));
        let server = Server::new(&catalog, ServerOptions::default().devices(devices));
        let (near, far) = tokio::io::duplex(256 * 1024);
        let (input, output) = tokio::io::split(far);
        tokio::spawn(mcp::serve(server, input, output));
        Self { running: ().serve(near).await.expect("connects"), _folder: folder }
    }

    async fn call(&self, tool: &str, args: &Value) -> CallToolResult {
        let request = CallToolRequestParams::new(tool.to_owned())
            .with_arguments(args.as_object().expect("an object").clone());
        self.running.call_tool(request).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// The steps of the flow that is found for the request.
    async fn steps(&self) -> Vec<(String, Value)> {
        let found = self.call("search_skills", &json!({"query": "小红书 搜索 成都美食"})).await;
        let found = serde_json::to_string(&found).expect("JSON");
        assert!(found.contains("xhs-search"), "{found}");
        let args = json!({"id": "xhs-search", "parameters": {"query": "成都美食"}});
        let resolved = self.call("resolve_skill", &args).await;
        let text = &resolved.content[0].as_text().expect("a text").text;
        let resolved =
            resolved.structured_content.clone().unwrap_or_else(|| serde_json::from_str(text).expect("JSON"));
        let steps = resolved["steps"].as_array().expect("steps").clone();
        steps
            .into_iter()
            .map(|step| (step["tool"].as_str().expect("a tool").to_owned(), step["args"].clone()))
            .collect()
    }
}

fn said(result: &CallToolResult) -> &str {
    &result.content[0].as_text().expect("a text").text
}

#[tokio::test]
async fn the_bundled_flow_brings_a_phone_behind_the_real_adb_to_the_right_screen() {
    let Some(world) = World::start(xiaohongshu()) else { return };
    let client = Client::start(&world).await;
    let mut last = String::new();
    for (tool, args) in client.steps().await {
        let result = client.call(&tool, &args).await;
        assert_ne!(result.is_error, Some(true), "{tool}: {}", said(&result));
        last = said(&result).to_owned();
    }
    let model = world.phone.model();
    assert_eq!(model.shown(), "results");
    assert_eq!(model.content(FIELD), "成都美食");
    assert!(last.contains("成都美食 必吃榜"), "{last}");
    assert_eq!(model.keyboard, "com.android.inputmethod.latin/.LatinIME");
}

#[tokio::test]
async fn a_phone_that_drops_off_in_the_middle_of_the_flow_is_told_and_the_flow_goes_on_when_it_is_back() {
    let Some(world) = World::start(xiaohongshu()) else { return };
    let client = Client::start(&world).await;
    let steps = client.steps().await;
    let middle = steps.iter().position(|(tool, _)| tool == "input_text").expect("a step that types");
    for (tool, args) in &steps[..middle] {
        let result = client.call(tool, args).await;
        assert_ne!(result.is_error, Some(true), "{tool}: {}", said(&result));
    }
    world.phone.unplug();
    let (tool, args) = &steps[middle];
    let result = client.call(tool, args).await;
    assert_eq!(result.is_error, Some(true));
    let error: Value = serde_json::from_str(said(&result)).expect("an error is JSON");
    let code = error["error"].as_str().expect("a code");
    assert!(code.starts_with("device_") && !error["hint"].as_str().expect("a hint").is_empty(), "{error}");
    world.plug();
    listed(&world.driver(), &world.serial(), DeviceState::Device).await;
    for (tool, args) in &steps[middle..] {
        let result = client.call(tool, args).await;
        assert_ne!(result.is_error, Some(true), "{tool}: {}", said(&result));
    }
    assert_eq!(world.phone.model().shown(), "results");
    assert_eq!(world.phone.model().content(FIELD), "成都美食");
}

#[tokio::test]
async fn an_all_black_picture_is_called_a_secure_window() {
    let mut model = xiaohongshu();
    model.secure = true;
    model.override_size = Some((120, 200));
    let Some(world) = World::start(model) else { return };
    let client = Client::start(&world).await;
    let result = client.call("screenshot", &json!({})).await;
    let error: Value = serde_json::from_str(said(&result)).expect("an error is JSON");
    assert_eq!(error["error"], "secure_window", "{error}");
}

#[tokio::test]
async fn passing_faults_of_a_dump_are_tried_again_and_lasting_motion_takes_the_compressed_form() {
    let Some(world) = World::start(xiaohongshu()) else { return };
    let client = Client::start(&world).await;
    world.phone.model().null_roots = 2;
    let result = client.call("describe_screen", &json!({})).await;
    assert_ne!(result.is_error, Some(true), "{}", said(&result));
    world.phone.model().not_idle = u32::MAX;
    world.phone.model().idle_when_compressed = true;
    let result = client.call("describe_screen", &json!({})).await;
    assert_ne!(result.is_error, Some(true), "{}", said(&result));
    let dumps = world.phone.model().calls("uiautomator");
    assert!(dumps.iter().any(|call| call.contains(&"--compressed".to_owned())), "{dumps:?}");
}

#[tokio::test]
async fn a_point_outside_of_the_screen_is_refused() {
    let Some(world) = World::start(xiaohongshu()) else { return };
    let client = Client::start(&world).await;
    let result = client.call("tap", &json!({"x": 721, "y": 10})).await;
    assert_eq!(result.is_error, Some(true));
    assert!(said(&result).contains("out_of_screen"), "{}", said(&result));
    assert!(world.phone.model().touches.is_empty());
}
