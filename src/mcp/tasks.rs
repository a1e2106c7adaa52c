//! The tools that bracket a task, so that the server can learn from it; only there where authoring is on.
//!
//! The task is state of the server, which is one of a process on standard input, or of a token. What happens in between
//! is recorded by whoever makes device calls, through [`Server::recorder`](crate::mcp::Server::recorder).

use std::sync::Arc;

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::authoring::{LearnOutcome, Learnt, Recorder};
use crate::learn::TaskStatus;
use crate::limits::GOAL_BYTES_MAX;
use crate::mcp::answer::Form;
use crate::mcp::arguments::Values;
use crate::mcp::failure::Failure;
use crate::mcp::schema;
use crate::mcp::table::{Argument, ArgumentKind};

/// One tool about the task of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct TaskTool {
    /// Name in `tools/call`.
    pub name: &'static str,
    /// Short name for people.
    pub title: &'static str,
    /// What a model reads before it calls.
    pub description: &'static str,
    /// Its arguments.
    pub arguments: &'static [Argument],
    output: fn() -> Value,
    run: fn(&Recorder, &Values<'_>, Form) -> Result<Done, Failure>,
}

/// What a call did.
pub(super) struct Done {
    pub(super) result: CallToolResult,
    /// Skills came in or changed.
    pub(super) learnt: bool,
}

const STATUS: &[&str] = &["succeeded", "failed", "cancelled"];

/// The tools, in the order of `tools/list`; they come after the query tools.
pub static TASK_TOOLS: &[TaskTool] = &[
    TaskTool {
        name: "begin_task",
        title: "Begin a task",
        description: "Say what the user wants before you act on the phone. Device calls are recorded until end_task, without secrets, so that a successful task becomes a skill.",
        arguments: &[Argument {
            name: "goal",
            kind: ArgumentKind::Text { max_bytes: Some(GOAL_BYTES_MAX) },
            required: true,
            description: "what the user wants, in the user's words",
        }],
        output: begun_output,
        run: begin,
    },
    TaskTool {
        name: "end_task",
        title: "End the task",
        description: "Say how the task ended, once the screen shows it. From a task that succeeded a skill is learned, and the answer names it.",
        arguments: &[
            Argument {
                name: "status",
                kind: ArgumentKind::Choice { allowed: STATUS },
                required: true,
                description: "how it ended",
            },
            Argument {
                name: "note",
                kind: ArgumentKind::Text { max_bytes: Some(GOAL_BYTES_MAX) },
                required: false,
                description: "a few words about it",
            },
        ],
        output: ended_output,
        run: end,
    },
];

impl TaskTool {
    /// JSON Schema of the arguments.
    #[must_use]
    pub fn input_schema(&self) -> Map<String, Value> {
        schema::input(self.arguments)
    }

    /// JSON Schema of `structuredContent`.
    #[must_use]
    pub fn output_schema(&self) -> Map<String, Value> {
        match (self.output)() {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }

    /// The tool as `tools/list` shows it.
    pub(super) fn listing(&self) -> Tool {
        let annotations =
            ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(false);
        Tool::new(self.name, self.description, self.input_schema())
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(self.output_schema()))
            .with_annotations(annotations)
    }

    /// Checks the arguments and runs.
    pub(super) fn call(
        &self,
        recorder: &Recorder,
        arguments: &Map<String, Value>,
        form: Form,
    ) -> Result<Done, Failure> {
        let values = Values::check(self.arguments, arguments)
            .map_err(|problems| Failure::arguments(self.name, &problems))?;
        (self.run)(recorder, &values, form)
    }
}

#[derive(Serialize)]
struct Begun {
    recording: bool,
    /// A task that was not ended.
    cancelled: bool,
}

#[derive(Serialize)]
struct Ended<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<&'a str>,
    message: String,
}

fn begun_output() -> Value {
    json!({"type": "object", "required": ["recording", "cancelled"], "properties": {
        "recording": {"type": "boolean"},
        "cancelled": {"type": "boolean", "description": "a task that was not ended is cancelled by this one"}}})
}

fn ended_output() -> Value {
    json!({"type": "object", "required": ["outcome", "message"], "properties": {
        "outcome": {"type": "string", "enum": ["added", "changed", "unchanged", "refused", "none"]},
        "skill": {"type": "string", "description": "id of the learned skill"},
        "message": {"type": "string", "description": "what was learned, in one line"}}})
}

fn begin(recorder: &Recorder, values: &Values<'_>, form: Form) -> Result<Done, Failure> {
    let cancelled = recorder.begin(values.text("goal").unwrap_or_default());
    let brief = if cancelled {
        "The task before, which was not ended, is cancelled; this one is recorded from now on."
    } else {
        "The task is recorded from now on."
    };
    let result = form.write(&Begun { recording: true, cancelled }, brief.to_owned())?;
    Ok(Done { result, learnt: false })
}

fn end(recorder: &Recorder, values: &Values<'_>, form: Form) -> Result<Done, Failure> {
    let status = values.text("status").and_then(TaskStatus::from_name).unwrap_or(TaskStatus::Cancelled);
    let learnt =
        recorder.end(status, values.text("note")).map_err(|error| Failure::from_error("end_task", error))?;
    let message = learnt
        .as_ref()
        .map_or_else(|| "there is no task to end; call begin_task first".to_owned(), Learnt::line);
    let changed = |learnt: &Learnt| matches!(learnt.outcome, LearnOutcome::Added | LearnOutcome::Changed);
    let answer = Ended {
        outcome: learnt.as_ref().map_or("none", |learnt| learnt.outcome.name()),
        skill: learnt.as_ref().and_then(|learnt| learnt.id.as_deref()),
        message: message.clone(),
    };
    Ok(Done { result: form.write(&answer, message)?, learnt: learnt.as_ref().is_some_and(changed) })
}
