//! A timeline from JSON: everything that is wrong is told at once.

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::learn::timeline::{Element, Event, Secrecy, Tape, TaskStatus, Timeline};
use crate::limits::{GOAL_CHARS_MAX, PROBLEMS_MAX, TIMELINE_EVENTS_MAX, TOOL_NAME_CHARS_MAX};

impl Timeline {
    /// Reads a timeline (see `docs/learning.md`). What it says is redacted at once: the answer holds no secret. Members
    /// that are not known are passed over.
    ///
    /// # Errors
    /// Every problem, each with a JSON pointer.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader { problems: Vec::new() };
        let timeline = reader.timeline(value);
        reader.problems.truncate(PROBLEMS_MAX);
        match timeline {
            Some(timeline) if reader.problems.is_empty() => Ok(timeline),
            _ => Err(reader.problems),
        }
    }
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, code: &str, field: &str, message: &str, allowed: &str) {
        // What was found is not shown: it may be a secret.
        self.problems.push(Problem::new(code, field, message).allowed(allowed));
    }

    fn timeline(&mut self, value: &Value) -> Option<Timeline> {
        let Value::Object(members) = value else {
            self.wrong(
                "wrong_type",
                "",
                "a timeline is a JSON object",
                "an object with goal, status, events",
            );
            return None;
        };
        let goal = match members.get("goal") {
            Some(Value::String(goal)) if !goal.trim().is_empty() => {
                if goal.chars().count() > GOAL_CHARS_MAX {
                    let allowed = format!("at most {GOAL_CHARS_MAX} characters");
                    self.wrong("too_long", "goal", "the goal is too long; shorten it", &allowed);
                }
                goal.as_str()
            }
            _ => {
                self.wrong("missing_field", "goal", "say what the task was to reach", "a text");
                ""
            }
        };
        let names = TaskStatus::ALL.map(TaskStatus::name).join(", ");
        let status = members.get("status").and_then(Value::as_str).and_then(TaskStatus::from_name);
        if status.is_none() {
            self.wrong("invalid_value", "status", "say how the task ended", &names);
        }
        let status = status.unwrap_or(TaskStatus::Running);
        let mut tape = Tape::new(goal).named(self.text(members, "task", "").unwrap_or_default());
        if let Some(skills) = members.get("skills") {
            match skills.as_array().map(|ids| ids.iter().map(Value::as_str).collect::<Option<Vec<_>>>()) {
                Some(Some(ids)) => ids.into_iter().for_each(|id| tape.uses(id)),
                _ => self.wrong("wrong_type", "skills", "the skills are no list of ids", "an array of texts"),
            }
        }
        let note = self.text(members, "note", "");
        match members.get("events") {
            Some(Value::Array(events)) => {
                if events.len() > TIMELINE_EVENTS_MAX {
                    let allowed = format!("at most {TIMELINE_EVENTS_MAX}");
                    self.wrong("too_many", "events", "there are too many events; split the task", &allowed);
                }
                for (index, event) in events.iter().enumerate().take(TIMELINE_EVENTS_MAX) {
                    if let Some(event) = self.event(event, &format!("/events/{index}")) {
                        tape.push(event);
                    }
                }
            }
            _ => {
                self.wrong("missing_field", "events", "give the calls in their order", "an array of objects");
            }
        }
        Some(tape.end(status, note.as_deref()))
    }

    fn event(&mut self, value: &Value, place: &str) -> Option<Event> {
        let Value::Object(members) = value else {
            self.wrong("wrong_type", place, "an event is a JSON object", "an object with tool and args");
            return None;
        };
        let tool = match members.get("tool") {
            Some(Value::String(tool)) if (1..=TOOL_NAME_CHARS_MAX).contains(&tool.chars().count()) => tool,
            _ => {
                let allowed = format!("a text of 1 to {TOOL_NAME_CHARS_MAX} characters");
                self.wrong(
                    "missing_field",
                    &format!("{place}/tool"),
                    "name the tool that was called",
                    &allowed,
                );
                return None;
            }
        };
        let args = match members.get("args") {
            Some(Value::Object(args)) => args.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                self.wrong("wrong_type", &format!("{place}/args"), "arguments are an object", "an object");
                return None;
            }
        };
        let mut event = Event::new(tool, args);
        event.error = self.text(members, "error", place);
        event.ok = self.flag(members, "ok", place).unwrap_or(event.error.is_none());
        event.observational = self.flag(members, "observational", place);
        event.app = self.text(members, "app", place);
        event.decision = self.text(members, "decision", place);
        event.duration_ms = members.get("duration_ms").and_then(Value::as_u64);
        event.element = match members.get("element") {
            None | Some(Value::Null) => None,
            Some(Value::Object(element)) => Some(self.element(element, &format!("{place}/element"))),
            Some(_) => {
                self.wrong("wrong_type", &format!("{place}/element"), "an element is an object", "an object");
                None
            }
        };
        event.secret = match members.get("secret") {
            None | Some(Value::Null | Value::Bool(false)) => Secrecy::Unmarked,
            Some(Value::Bool(true)) => Secrecy::Typed,
            Some(Value::Array(names)) if names.iter().all(Value::is_string) => {
                Secrecy::Arguments(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            Some(_) => {
                let allowed = "true, false, or an array of argument names";
                self.wrong("wrong_type", &format!("{place}/secret"), "this marks no argument", allowed);
                Secrecy::Typed
            }
        };
        Some(event)
    }

    fn element(&mut self, members: &Map<String, Value>, place: &str) -> Element {
        let mut first = |names: &[&str]| names.iter().find_map(|name| self.text(members, name, place));
        let mut element = Element {
            resource_id: first(&["resource_id", "view_id", "node_id"]),
            text: first(&["text"]),
            content_description: first(&["content_description", "content_desc"]),
            class_name: first(&["class_name", "class"]),
            hint: first(&["hint"]),
            input_type: first(&["input_type"]),
            password: false,
        };
        element.password = self.flag(members, "password", place).unwrap_or(false);
        element
    }

    fn text(&mut self, members: &Map<String, Value>, name: &str, place: &str) -> Option<String> {
        match members.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.wrong("wrong_type", &format!("{place}/{name}"), "this is no text", "a text");
                None
            }
        }
    }

    fn flag(&mut self, members: &Map<String, Value>, name: &str, place: &str) -> Option<bool> {
        match members.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::Bool(flag)) => Some(*flag),
            Some(_) => {
                self.wrong(
                    "wrong_type",
                    &format!("{place}/{name}"),
                    "this is no truth value",
                    "true or false",
                );
                None
            }
        }
    }
}
