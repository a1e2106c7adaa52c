//! `use_skill`: makes a skill the active one and answers with its guidance.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use crate::catalog::{Look, Snapshot};
use crate::error::shorten;
use crate::guard::{Guard, Refusal};
use crate::limits::ID_BYTES_MAX;
use crate::mcp::answer::Form;
use crate::mcp::approval::{self, Question, Reply};
use crate::mcp::arguments::Values;
use crate::mcp::failure::Failure;
use crate::mcp::schema;
use crate::mcp::table::{Argument, ArgumentKind};
use crate::model::Kind;

/// Name of the tool.
pub(super) const USE_SKILL: &str = "use_skill";

/// The sentence about it in the server's instructions.
pub(super) const GUIDANCE: &str = "use_skill limits the device tools to a skill's.";

static ARGUMENTS: [Argument; 1] = [Argument {
    name: "id",
    kind: ArgumentKind::Text { max_bytes: Some(ID_BYTES_MAX) },
    required: false,
    description: "skill id; leave out to end the scope",
}];

/// The tool as `tools/list` shows it.
pub(super) fn listing() -> Tool {
    let output = json!({
        "type": "object",
        "properties": {
            "active": {"type": "string", "description": "id; absent if none"},
            "allowed_tools": {"type": "array", "items": {"type": "string"}, "description": "absent if all"},
            "note": {"type": "string"},
            "skill": {"type": "object", "description": "its guidance"}
        }
    });
    let Value::Object(output) = output else { return Tool::default() };
    Tool::new(
        USE_SKILL,
        "Work by one skill: get its guidance and limit the device tools to those it allows. Leaving the skill or changing to one with other tools needs a person's approval.",
        schema::input(&ARGUMENTS),
    )
    .with_title("Use a skill")
    .with_raw_output_schema(Arc::new(output))
    .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false))
}

/// What came of a call, and whether the scope is another one now.
pub(super) struct Used {
    pub(super) response: CallToolResponse,
    pub(super) changed: bool,
}

/// Runs the tool. `look` begins a query of this moment.
pub(super) async fn use_skill(
    guard: &Guard,
    request: CallToolRequestParams,
    look: impl Fn() -> Result<Snapshot, Failure> + Sync,
    form: Form,
    context: &RequestContext<RoleServer>,
) -> Result<Used, Failure> {
    let none = Map::new();
    let values = Values::check(&ARGUMENTS, request.arguments.as_ref().unwrap_or(&none))
        .map_err(|problems| Failure::arguments(USE_SKILL, &problems))?;
    let id = values.text("id");
    let failed = |error| Failure::from_error(USE_SKILL, error);
    let change = guard.change(&*look()?, id).map_err(failed)?;
    let mut approved = false;
    let mut note = None;
    if change.needs_approval {
        let subject = format!("{USE_SKILL} {}", id.unwrap_or_default());
        let reply = match approval::answered(guard, &request, &subject) {
            Some(answer) => answer.reply,
            None => ask(guard, id, subject, context).await,
        };
        match reply {
            Reply::Approved { .. } => approved = true,
            Reply::Later(input) => return Ok(Used { response: (*input).into(), changed: false }),
            Reply::Declined(why) => {
                note = Some(Refusal::approval_declined("Leaving the scope of the active skill", why))
            }
            Reply::Nobody => {
                let reason = "it would widen what the active skill allows";
                note = Some(Refusal::approval_required("Leaving the scope of the active skill", reason));
            }
        }
    }
    // The person may have taken a while: the change is worked out anew.
    let look = look()?;
    let change = guard.change(&look, id).map_err(failed)?;
    let done = guard.apply(change, approved);
    if let (false, Some(refusal)) = (done, note.clone()) {
        return Err(Failure::refused(refusal));
    }
    let note =
        note.map(|refusal| format!("{} Until then only what both skills allow is allowed.", refusal.message));
    let result = guidance(guard, &look, id, note, form)?;
    Ok(Used { response: result.into(), changed: done })
}

async fn ask(
    guard: &Guard,
    id: Option<&str>,
    subject: String,
    context: &RequestContext<RoleServer>,
) -> Reply {
    let active = guard.active_skill().unwrap_or_else(|| "a skill that is gone".to_owned());
    let text = match id {
        Some(id) => format!(
            "Allow the agent to change from the skill {active} to {}? It may then use tools that {active} does not allow.",
            shorten(id)
        ),
        None => format!("Allow the agent to leave the skill {active}? It may then use every tool."),
    };
    let question = Question { text, may_stand: false, call: subject, aim: None };
    tokio::select! {
        reply = approval::ask(guard, question, context) => reply,
        () = context.ct.cancelled() => Reply::Declined("the call was cancelled"),
    }
}

/// The answer: what is allowed now, and how to go about it.
fn guidance(
    guard: &Guard,
    look: &Look,
    id: Option<&str>,
    note: Option<String>,
    form: Form,
) -> Result<CallToolResult, Failure> {
    let mut answer = Map::new();
    if let Some(active) = guard.active_skill() {
        answer.insert("active".to_owned(), json!(active));
    }
    let allowed = guard.allowed();
    let brief = match (guard.active_skill(), &allowed) {
        (Some(active), Some(tools)) => format!("{active} is active; allowed: {}", tools.join(", ")),
        (Some(active), None) => format!("{active} is active; every tool is allowed"),
        (None, _) => "no skill is active".to_owned(),
    };
    if let Some(tools) = allowed {
        answer.insert("allowed_tools".to_owned(), json!(tools));
    }
    if let Some(note) = note {
        answer.insert("note".to_owned(), json!(note));
    }
    if let Some(id) = id {
        answer.insert("skill".to_owned(), skill(look, id)?);
    }
    form.write(&answer, brief)
}

/// Description, examples, risk, success criteria, and body or steps.
fn skill(look: &Look, id: &str) -> Result<Value, Failure> {
    let failed = |error| Failure::from_error(USE_SKILL, error);
    let found = look.get(id).map_err(failed)?.ok_or_else(|| Failure::not_found(id))?;
    let skill = found.to_skill().map_err(failed)?;
    let mut guidance = json!({
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "risk": found.effective_risk(),
        "examples": skill.examples,
        "success_criteria": skill.success_criteria,
    });
    let Some(members) = guidance.as_object_mut() else { return Ok(guidance) };
    match found.kind() {
        Kind::Knowledge => {
            members.insert("content".to_owned(), json!(skill.content));
        }
        Kind::FlowTemplate => {
            members.insert("parameters".to_owned(), json!(skill.parameters));
            members.insert("steps".to_owned(), json!(skill.steps));
        }
    }
    members.retain(|_, value| !value.as_array().is_some_and(Vec::is_empty));
    Ok(guidance)
}
