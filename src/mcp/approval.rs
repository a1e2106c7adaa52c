//! Asking the person at the other end, on both lifecycles.
//!
//! After a handshake the server sends `elicitation/create` and waits. Without one (2026-07-28) it may not send requests:
//! the answer to the call says what input is required, and the client calls again with the person's answer and the
//! token of the question. The token leads to what was asked, which stays on the server; it is good for one answer.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, ProtocolVersion,
};
use rmcp::service::{RequestContext, ServiceError};
use serde_json::{Value, json};

use crate::device::Aim;
use crate::guard::Guard;
use crate::limits::APPROVAL_WAIT_MS;

/// Name of the question among the required inputs.
const QUESTION: &str = "approval";
/// Name of the choice in the form.
const CHOICE: &str = "decision";
/// This call only.
const ONCE: &str = "once";
/// This rule, for as long as the skill is active in this session.
const SKILL: &str = "skill";

/// What a person is asked.
#[derive(Debug)]
pub(super) struct Question {
    /// Tool, arguments (masked), skill and reason, for the person.
    pub(super) text: String,
    /// Whether there is a skill for which an approval can stand.
    pub(super) may_stand: bool,
    /// The call as one text: what the answer must belong to.
    pub(super) call: String,
    /// What it hits.
    pub(super) aim: Option<Aim>,
}

/// What came of a question.
#[derive(Debug)]
pub(super) enum Reply {
    /// Yes; for the skill from now on, if `stands`.
    Approved {
        /// Whether it stands.
        stands: bool,
    },
    /// No, with why.
    Declined(&'static str),
    /// The person cannot be asked.
    Nobody,
    /// The client asks, and calls again.
    Later(Box<InputRequiredResult>),
}

/// An answer that came with a call.
#[derive(Debug)]
pub(super) struct Answered {
    /// What was asked about.
    pub(super) aim: Option<Aim>,
    /// What the person said.
    pub(super) reply: Reply,
}

/// The answer that a call brings to an earlier question; `None` if it brings none, or none that is open.
pub(super) fn answered(guard: &Guard, request: &CallToolRequestParams, call: &str) -> Option<Answered> {
    let token = request.request_state.as_deref()?;
    let response = request.input_responses.as_ref()?.get(QUESTION)?;
    let aim = guard.take_approval(token, call)?;
    let reply = serde_json::from_value::<ElicitResult>(response.clone())
        .map_or(Reply::Declined("the answer has not the form of one"), |result| reply(&result));
    Some(Answered { aim, reply })
}

/// Asks, as far as this client can be asked.
pub(super) async fn ask(guard: &Guard, question: Question, context: &RequestContext<RoleServer>) -> Reply {
    let able = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    // A client that names neither form nor URL means forms.
    if !able.is_some_and(|able| able.form.is_some() || able.url.is_none()) {
        return Reply::Nobody;
    }
    let Some(params) = form(&question) else { return Reply::Nobody };
    let stateless = context
        .protocol_version()
        .is_some_and(|revision| revision.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if stateless {
        let Some(token) = guard.open_approval(&question.call, question.aim) else { return Reply::Nobody };
        let request = InputRequest::Elicitation(ElicitRequest::new(params));
        let requests = InputRequests::from([(QUESTION.to_owned(), request)]);
        return Reply::Later(Box::new(InputRequiredResult::new(Some(requests), Some(token))));
    }
    let wait = Some(Duration::from_millis(APPROVAL_WAIT_MS));
    match context.peer.create_elicitation_with_timeout(params, wait).await {
        Ok(result) => reply(&result),
        Err(ServiceError::Timeout { .. }) => Reply::Declined("nobody answered in time"),
        Err(error) => {
            tracing::warn!(%error, "the client could not ask for approval");
            Reply::Declined("the client could not ask for it")
        }
    }
}

/// The form: one choice.
fn form(question: &Question) -> Option<ElicitRequestParams> {
    let mut choices = vec![json!({"const": ONCE, "title": "Allow this once"})];
    if question.may_stand {
        choices.push(json!({"const": SKILL, "title": "Allow for this skill from now on"}));
    }
    let schema = json!({
        "type": "object",
        "properties": {CHOICE: {"type": "string", "title": "Decision", "oneOf": choices, "default": ONCE}},
        "required": [CHOICE]
    });
    let Value::Object(schema) = schema else { return None };
    let requested_schema = ElicitationSchema::from_json_schema(schema)
        .map_err(|error| tracing::error!(%error, "the form of an approval is not understood"))
        .ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.text.clone(),
        requested_schema,
    })
}

fn reply(result: &ElicitResult) -> Reply {
    match result.action {
        ElicitationAction::Accept => {
            let choice =
                result.content.as_ref().and_then(|content| content.get(CHOICE)).and_then(Value::as_str);
            match choice {
                Some(SKILL) => Reply::Approved { stands: true },
                // A client that shows no form but a yes and a no approves this once.
                Some(ONCE) | None => Reply::Approved { stands: false },
                Some(_) => Reply::Declined("the answer is none of the choices"),
            }
        }
        ElicitationAction::Decline => Reply::Declined("the person declined"),
        _ => Reply::Declined("the person cancelled"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(may_stand: bool) -> Question {
        Question { text: "tap?".to_owned(), may_stand, call: "tap {}".to_owned(), aim: None }
    }

    #[test]
    fn the_form_offers_to_stand_only_where_there_is_a_skill() {
        for (may_stand, choices) in [(true, 2), (false, 1)] {
            let form = serde_json::to_value(form(&question(may_stand)).unwrap()).unwrap();
            let offered = &form["requestedSchema"]["properties"][CHOICE]["oneOf"];
            assert_eq!(offered.as_array().map(Vec::len), Some(choices), "{form}");
            assert_eq!(form["message"], "tap?");
        }
    }

    #[test]
    fn only_a_plain_yes_approves() {
        let said = |action: ElicitationAction, content: Value| {
            reply(&ElicitResult::new(action).with_content(content))
        };
        assert!(matches!(
            said(ElicitationAction::Accept, json!({CHOICE: ONCE})),
            Reply::Approved { stands: false }
        ));
        assert!(matches!(
            said(ElicitationAction::Accept, json!({CHOICE: SKILL})),
            Reply::Approved { stands: true }
        ));
        assert!(matches!(said(ElicitationAction::Accept, json!({CHOICE: "no"})), Reply::Declined(_)));
        assert!(matches!(said(ElicitationAction::Decline, json!({CHOICE: ONCE})), Reply::Declined(_)));
        assert!(matches!(said(ElicitationAction::Cancel, json!({})), Reply::Declined(_)));
        assert!(matches!(
            reply(&ElicitResult::new(ElicitationAction::Accept)),
            Reply::Approved { stands: false }
        ));
    }
}
