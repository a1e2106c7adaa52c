//! Fixtures that need several rounds: the answer asks for input, the client calls again with it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, InputRequiredResult, InputResponses,
};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use crate::fixtures::{text, typed};

/// Names of the tools.
pub(crate) const NAMES: &[&str] = &[
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_streaming_elicitation",
];
/// Name of the prompt.
pub(crate) const PROMPT: &str = "test_input_required_result_prompt";

/// The round that each state handed out stands for: one that is not here was not handed out.
static STATES: LazyLock<Mutex<HashMap<String, u64>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

pub(crate) fn is_one(name: &str) -> bool {
    NAMES.contains(&name)
}

fn new_state(round: u64) -> String {
    let state = format!("state-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    STATES.lock().unwrap_or_else(PoisonError::into_inner).insert(state.clone(), round);
    state
}

fn round_of(state: &str) -> Result<u64, ErrorData> {
    let states = STATES.lock().unwrap_or_else(PoisonError::into_inner);
    states
        .get(state)
        .copied()
        .ok_or_else(|| ErrorData::invalid_params("requestState was not made here", None))
}

fn asks(
    key: &str,
    message: &str,
    field: &str,
    state: Option<String>,
) -> Result<InputRequiredResult, ErrorData> {
    let request = json!({"method": "elicitation/create", "params": {"mode": "form", "message": message,
        "requestedSchema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}}});
    let mut result = json!({"resultType": "input_required", "inputRequests": {key: request}});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    typed(result)
}

/// An input that has the form of an answer; anything else is asked for again.
fn given<'a>(responses: Option<&'a InputResponses>, key: &str) -> Option<&'a Map<String, Value>> {
    responses?.get(key)?.as_object()
}

fn field(answer: &Map<String, Value>, name: &str) -> String {
    answer
        .get("content")
        .and_then(|content| content.get(name))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

pub(crate) fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let responses = request.input_responses.as_ref();
    let round = request.request_state.as_deref().map(round_of).transpose()?;
    let asked = match request.name.as_ref() {
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match round {
                None => asks("confirm", "Please confirm", "ok", Some(new_state(1)))?,
                Some(_) => return Ok(text("Confirmed: state-ok").into()),
            }
        }
        "test_input_required_result_multi_round" => match round.unwrap_or(0) {
            0 => asks("step1", "What is your name?", "name", Some(new_state(1)))?,
            1 => asks("step2", "What is your favorite color?", "color", Some(new_state(2)))?,
            _ => return Ok(text("Multi-round flow complete").into()),
        },
        "test_input_required_result_capabilities" => {
            let declared = context.meta.client_capabilities().unwrap_or_default();
            if responses.is_some() || declared.elicitation.is_none() {
                return Ok(text("Capability-aware flow complete").into());
            }
            asks("user_name", "What is your name?", "name", None)?
        }
        "test_streaming_elicitation" => asks("streaming_elicitation", "Provide a value", "value", None)?,
        _ => match given(responses, "user_name") {
            Some(answer) => return Ok(text(&format!("Hello, {}!", field(answer, "name"))).into()),
            None => asks("user_name", "What is your name?", "name", None)?,
        },
    };
    Ok(asked.into())
}

pub(crate) fn prompt(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    match given(request.input_responses.as_ref(), "user_context") {
        None => asks("user_context", "What context should the prompt use?", "context", None).map(Into::into),
        Some(answer) => {
            let said = format!("Prompt with elicited context: {}", field(answer, "context"));
            let result: GetPromptResult = typed(json!({"resultType": "complete", "description": "A prompt",
                "messages": [{"role": "user", "content": {"type": "text", "text": said}}]}))?;
            Ok(result.into())
        }
    }
}
