//! The record of one task: what was asked for, how it ended, and the calls in between.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::learn::redact::Redactor;
use crate::limits::{GOAL_CHARS_MAX, TIMELINE_EVENTS_MAX};

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// The goal was reached; the only one that is learned from.
    Succeeded,
    /// It was not.
    Failed,
    /// Somebody stopped it, or its session closed.
    Cancelled,
    /// It goes on.
    Running,
}

impl TaskStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::Failed, Self::Cancelled, Self::Running];

    /// Name as written in a timeline.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Running => "running",
        }
    }

    /// The status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// The element that a call hit, by what is stable about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Element {
    /// Resource id, such as `com.example:id/search`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// Text on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Content description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_description: Option<String>,
    /// Class name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_name: Option<String>,
    /// Hint of an input field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Input type, as the platform names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_type: Option<String>,
    /// It hides what is typed into it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub password: bool,
}

impl Element {
    /// Every text of it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &String> {
        [
            &self.resource_id,
            &self.text,
            &self.content_description,
            &self.class_name,
            &self.hint,
            &self.input_type,
        ]
        .into_iter()
        .flatten()
    }

    /// Every text of it, to be changed.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        [
            &mut self.resource_id,
            &mut self.text,
            &mut self.content_description,
            &mut self.class_name,
            &mut self.hint,
            &mut self.input_type,
        ]
        .into_iter()
        .flatten()
    }
}

/// What the caller knows to be secret in a call, beside what names and fields tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Secrecy {
    /// Nothing is known.
    #[default]
    Unmarked,
    /// What was typed.
    Typed,
    /// These arguments.
    Arguments(Vec<String>),
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// Name of the tool as it was called.
    pub tool: String,
    /// Arguments as they were given.
    pub args: Map<String, Value>,
    /// Whether the call did what it should.
    pub ok: bool,
    /// Code of its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Package of the app in front after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The element that it hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Element>,
    /// What the policy decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Whether it only looked; counts for tools that the registry does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observational: Option<bool>,
    /// What the caller marks as secret; gone once the call is recorded, since markers stand in the place of the values.
    #[serde(skip)]
    pub secret: Secrecy,
}

impl Event {
    /// A call that succeeded.
    #[must_use]
    pub fn new(tool: impl Into<String>, args: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            args,
            ok: true,
            error: None,
            duration_ms: None,
            app: None,
            element: None,
            decision: None,
            observational: None,
            secret: Secrecy::Unmarked,
        }
    }

    /// Sets the error of a call that failed.
    #[must_use]
    pub fn failed(mut self, code: impl Into<String>) -> Self {
        self.ok = false;
        self.error = Some(code.into());
        self
    }

    /// Sets the app in front.
    #[must_use]
    pub fn app(mut self, package: impl Into<String>) -> Self {
        self.app = Some(package.into());
        self
    }

    /// Sets the element that was hit.
    #[must_use]
    pub fn element(mut self, element: Element) -> Self {
        self.element = Some(element);
        self
    }

    /// Sets how long it took.
    #[must_use]
    pub fn duration_ms(mut self, duration_ms: u64) -> Self {
        self.duration_ms = Some(duration_ms);
        self
    }

    /// Sets what the policy decided.
    #[must_use]
    pub fn decision(mut self, decision: impl Into<String>) -> Self {
        self.decision = Some(decision.into());
        self
    }

    /// Sets what is secret in it.
    #[must_use]
    pub fn secret(mut self, secret: Secrecy) -> Self {
        self.secret = secret;
        self
    }
}

/// A task with its calls, without any secret: only a [`Tape`] makes one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// Name of the task, where it has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// What was asked for.
    pub goal: String,
    /// How it ended.
    pub status: TaskStatus,
    /// What was said at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Ids of the skills that were in use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// The calls in order.
    pub events: Vec<Event>,
    /// There were more calls than [`TIMELINE_EVENTS_MAX`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Records one task. Secrets are replaced by markers as they come in: a tape never holds one.
#[derive(Debug)]
pub struct Tape {
    timeline: Timeline,
    redactor: Redactor,
}

impl Tape {
    /// Begins a task. A goal beyond [`GOAL_CHARS_MAX`] is cut.
    #[must_use]
    pub fn new(goal: &str) -> Self {
        let end = goal.char_indices().nth(GOAL_CHARS_MAX).map_or(goal.len(), |(end, _)| end);
        Self {
            timeline: Timeline {
                task: String::new(),
                goal: goal[..end].to_owned(),
                status: TaskStatus::Running,
                note: None,
                skills: Vec::new(),
                events: Vec::new(),
                cut: false,
            },
            redactor: Redactor::default(),
        }
    }

    /// Sets the name of the task.
    #[must_use]
    pub fn named(mut self, task: impl Into<String>) -> Self {
        self.timeline.task = task.into();
        self
    }

    /// Notes that a skill is in use.
    pub fn uses(&mut self, skill: &str) {
        if !self.timeline.skills.iter().any(|known| known == skill) {
            self.timeline.skills.push(skill.to_owned());
        }
    }

    /// Records a call, without its secrets. Cost: one pass over its arguments; over all earlier calls where a secret
    /// comes in.
    pub fn push(&mut self, mut event: Event) {
        if self.timeline.events.len() >= TIMELINE_EVENTS_MAX {
            self.timeline.cut = true;
            return;
        }
        let Timeline { goal, events, note, .. } = &mut self.timeline;
        self.redactor.redact(&mut event, goal, events);
        if let Some(note) = note {
            self.redactor.mask(note);
        }
        events.push(event);
    }

    /// How many calls there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.timeline.events.len()
    }

    /// Whether there is no call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.timeline.events.is_empty()
    }

    /// Ends the task.
    #[must_use]
    pub fn end(mut self, status: TaskStatus, note: Option<&str>) -> Timeline {
        self.timeline.status = status;
        self.timeline.note = note.map(|note| {
            let mut note = note.to_owned();
            self.redactor.mask(&mut note);
            note
        });
        self.timeline
    }
}
