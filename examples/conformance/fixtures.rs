//! Tools, resources and prompts that the suite calls by name, with the answers that it expects.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use repertoire::{Catalog, Entry, Kind, Layer, Skill};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    ElicitRequestParams, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    ProgressNotificationParam, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::rounds;

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

static CATALOG: OnceLock<Catalog> = OnceLock::new();
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// Names of the simple tools.
const NAMES: [&str; 15] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_custom_header",
    "json_schema_2020_12_tool",
    "test_reconnection",
    // Logs nothing, since logging over the protocol is not offered.
    "test_logging_tool",
];

pub(crate) fn keep(catalog: &Catalog) {
    // Called once, before the server runs.
    let _ = CATALOG.set(catalog.clone());
}

/// The skill that is a prompt, in one of its versions.
pub(crate) fn prompt_entry(version: u64) -> Entry {
    let mut skill = Skill::new("b-prompt", Kind::Knowledge, "Prompt", "A skill that is offered as a prompt.");
    skill.content = format!("Version {version}.");
    skill.metadata.insert("prompt".to_owned(), json!("true"));
    Entry::new(skill)
}

/// Makes the list of prompts another one, as an import would.
pub(crate) fn change_prompts() -> Result<(), ErrorData> {
    let wrong = |error: &dyn std::fmt::Display| ErrorData::internal_error(error.to_string(), None);
    let catalog = CATALOG.get().ok_or_else(|| wrong(&"no catalog"))?;
    let version = CHANGES.fetch_add(1, Ordering::Relaxed) + 1;
    catalog
        .apply(Layer::Local, vec![prompt_entry(version)], &std::collections::BTreeSet::new())
        .map(drop)
        .map_err(|error| wrong(&error))
}

pub(crate) fn text(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn schema(name: &str) -> Value {
    match name {
        "test_custom_header" => json!({"type": "object", "required": ["value"],
            "properties": {"value": {"type": "string", "x-mcp-header": "Value"}}}),
        "test_elicitation" => {
            json!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]})
        }
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "$defs": {"address": {"$anchor": "address", "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
            "if": {"required": ["address"]}, "then": {"properties": {"address": {"required": ["street"]}}},
            "else": {"required": ["name"]}, "additionalProperties": false}),
        _ => json!({"type": "object", "properties": {}}),
    }
}

pub(crate) fn is_one(name: &str) -> bool {
    NAMES.contains(&name)
}

pub(crate) fn tools() -> Vec<Tool> {
    let names =
        NAMES.iter().chain(rounds::NAMES).chain(&["test_trigger_tool_change", "test_trigger_prompt_change"]);
    names
        .map(|name| {
            let schema = schema(name).as_object().cloned().unwrap_or_default();
            Tool::new(*name, "A fixture of the conformance suite", schema)
        })
        .collect()
}

/// A value as a type of rmcp.
pub(crate) fn typed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

pub(crate) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let resource = |uri: &str, mime: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}});
    let answer = match request.name.as_ref() {
        "test_simple_text" => {
            json!([{"type": "text", "text": "This is a simple text response for testing."}])
        }
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content."
        )]),
        "test_multiple_content_types" => json!([
            {"type": "text", "text": "Multiple content types test:"}, image,
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#)]),
        "test_error_handling" => {
            let error = ContentBlock::text("This tool intentionally returns an error for testing");
            return Ok(CallToolResult::error(vec![error]).into());
        }
        "test_tool_with_progress" => return progress(context).await,
        "test_missing_capability" => return missing_capability(context),
        name if name.starts_with("test_elicitation") => return elicit(name, context).await,
        _ => json!([{"type": "text", "text": "done"}]),
    };
    typed::<CallToolResult>(json!({"resultType": "complete", "content": answer})).map(Into::into)
}

async fn progress(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    if let Some(token) = context.meta.get_progress_token() {
        for done in [0.0, 50.0, 100.0] {
            let news = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
            let told = context.peer.notify_progress(news).await;
            told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
    Ok(text("Progress test completed").into())
}

fn missing_capability(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let declared = context.meta.client_capabilities().unwrap_or_default();
    if serde_json::to_value(&declared).is_ok_and(|declared| declared.get("sampling").is_some()) {
        return Ok(text("Required capability declared").into());
    }
    let wanted: ClientCapabilities = typed(json!({"sampling": {}}))?;
    Err(ErrorData::missing_required_client_capability(wanted))
}

async fn elicit(name: &str, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let options = json!(["option1", "option2", "option3"]);
    let titled = |key: &str| json!({key: [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}]});
    let with_type = |mut schema: Value| {
        schema["type"] = json!("string");
        schema
    };
    let properties = match name {
        "test_elicitation_sep1034_defaults" => json!({
            "name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5}, "verified": {"type": "boolean", "default": true},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}}),
        "test_elicitation_sep1330_enums" => json!({
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": with_type(titled("oneOf")),
            "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": titled("anyOf")}}),
        _ => {
            json!({"username": {"type": "string", "description": "User's response"}, "email": {"type": "string", "description": "User's email"}})
        }
    };
    let asked: ElicitRequestParams =
        typed(json!({"mode": "form", "message": "Please provide your information",
        "requestedSchema": {"type": "object", "properties": properties}}))?;
    match context.peer.create_elicitation(asked).await {
        Ok(answer) => {
            Ok(text(&format!("User response: action={:?}, content={:?}", answer.action, answer.content))
                .into())
        }
        Err(error) => Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into()),
    }
}

pub(crate) fn resources() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "Static text")
            .with_description("A text")
            .with_mime_type("text/plain"),
        Resource::new("test://static-binary", "Static image")
            .with_description("An image")
            .with_mime_type("image/png"),
        Resource::new("test://watched-resource", "Watched")
            .with_description("A text")
            .with_mime_type("text/plain"),
    ]
}

pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "Template").with_mime_type("application/json")
}

pub(crate) fn read(uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri {
        "test://static-text" | "test://watched-resource" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string();
            json!({"uri": uri, "mimeType": "application/json", "text": text})
        }
    };
    typed(json!({"resultType": "complete", "contents": [contents], "ttlMs": 1_000, "cacheScope": "private"}))
        .ok()
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let arguments = json!([{"name": "arg1", "description": "First", "required": true}, {"name": "arg2", "description": "Second"}]);
    [
        "test_simple_prompt",
        "test_prompt_with_arguments",
        "test_prompt_with_embedded_resource",
        "test_prompt_with_image",
        rounds::PROMPT,
    ]
    .iter()
    .filter_map(|name| {
        let mut prompt = json!({"name": name, "description": "A fixture"});
        if name.ends_with("arguments") {
            prompt["arguments"] = arguments.clone();
        }
        typed(prompt).ok()
    })
    .collect()
}

pub(crate) fn prompt(request: &GetPromptRequestParams) -> Option<GetPromptResponse> {
    let said = |content: Value| json!({"role": "user", "content": content});
    let plain = |text: String| said(json!({"type": "text", "text": text}));
    let argument = |name: &str| {
        request
            .arguments
            .as_ref()
            .and_then(|all| all.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let messages = match request.name.as_str() {
        "test_simple_prompt" => json!([plain("This is a simple prompt for testing.".to_owned())]),
        "test_prompt_with_arguments" => {
            json!([plain(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))])
        }
        "test_prompt_with_embedded_resource" => {
            let uri = request.arguments.as_ref().and_then(|all| all.get("resourceUri")).cloned();
            json!([
                said(
                    json!({"type": "resource", "resource": {"uri": uri.unwrap_or_else(|| json!("test://static-text")), "mimeType": "text/plain",
                "text": "Embedded resource content for testing."}})
                ),
                plain("Please process the embedded resource above.".to_owned())
            ])
        }
        "test_prompt_with_image" => {
            json!([
                said(json!({"type": "image", "data": PNG, "mimeType": "image/png"})),
                plain("Please analyze the image above.".to_owned())
            ])
        }
        rounds::PROMPT => return rounds::prompt(request).ok(),
        _ => return None,
    };
    let result: GetPromptResult =
        typed(json!({"resultType": "complete", "description": "A fixture", "messages": messages})).ok()?;
    Some(result.into())
}
