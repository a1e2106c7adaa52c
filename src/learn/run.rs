//! One execution as synthesis sees it: the calls that count, in order.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::learn::Refusal;
use crate::learn::redact::{self, Tool};
use crate::learn::timeline::{Element, Event, TaskStatus, Timeline};
use crate::limits::STEPS_MAX;
use crate::tools::{Effect, ToolRegistry};

/// One successful execution, filtered and without secrets: what is kept as evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The goal.
    pub(crate) goal: String,
    /// The app that it is about: the apps that it launches, else the one that is mostly in front; empty where none is
    /// named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) apps: Vec<String>,
    /// The mutating calls that succeeded.
    pub(crate) steps: Vec<Call>,
    /// Skills that were in use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) skills: Vec<String>,
}

/// One call of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Call {
    /// The tool's name as it was called.
    pub(crate) tool: String,
    /// Its arguments as they were given.
    pub(crate) args: Map<String, Value>,
    /// The element that was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) element: Option<Kept>,
}

/// What evidence keeps of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resource_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content_description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

impl Kept {
    fn of(element: &Element) -> Option<Self> {
        let full = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let kept = Self {
            resource_id: full(&element.resource_id),
            text: full(&element.text),
            content_description: full(&element.content_description),
            hint: full(&element.hint),
        };
        (kept != Self::default()).then_some(kept)
    }
}

impl Run {
    /// The calls of a timeline that count: those that changed something and succeeded. What only looked, waited or failed
    /// is left out, so that a failed try followed by the same call counts once.
    pub(crate) fn of(timeline: &Timeline, registry: &ToolRegistry) -> Result<Self, Refusal> {
        if timeline.status != TaskStatus::Succeeded {
            return Err(Refusal::NotSucceeded { status: timeline.status });
        }
        if timeline.cut {
            return Err(Refusal::TooLong);
        }
        let counts = |event: &&Event| event.ok && mutates(event, registry);
        let kept: Vec<&Event> = timeline.events.iter().filter(counts).collect();
        if kept.is_empty() {
            return Err(Refusal::NothingDone);
        }
        if kept.len() > STEPS_MAX {
            return Err(Refusal::TooManySteps { got: kept.len() });
        }
        let steps: Vec<Call> = kept
            .iter()
            .map(|event| Call {
                tool: event.tool.clone(),
                args: event.args.clone(),
                element: event.element.as_ref().and_then(Kept::of),
            })
            .collect();
        let mut apps: Vec<String> = steps.iter().filter_map(|call| named_app(call, registry)).collect();
        if apps.is_empty() {
            apps.extend(mostly_in_front(&kept));
        }
        Ok(Self { goal: timeline.goal.trim().to_owned(), apps, steps, skills: timeline.skills.clone() })
    }
}

/// Whether a call changed something. The registry knows; for tools that it does not know the timeline says.
fn mutates(event: &Event, registry: &ToolRegistry) -> bool {
    match registry.resolve(&event.tool) {
        Some(resolved) => resolved.spec.effect == Effect::Mutate,
        None => !event.observational.unwrap_or(false),
    }
}

/// Whether an argument names an app: it is then a part of what the skill is, and never a parameter.
pub(crate) fn names_app(call: &Call, argument: &str, registry: &ToolRegistry) -> bool {
    let name = canonical_argument(&call.tool, argument, registry);
    if matches!(name, "package" | "package_name" | "app" | "app_name" | "bundle_id" | "app_id" | "appid") {
        return true;
    }
    launches(&call.tool, registry)
        && matches!(name, "target" | "name" | "label" | "activity" | "component" | "id")
}

/// Whether a tool opens an app: by the registry, by the built-in table, or by its name.
fn launches(tool: &str, registry: &ToolRegistry) -> bool {
    let known = |registry: &ToolRegistry| registry.resolve(tool).map(|known| known.spec.name == "launch_app");
    if known(registry) == Some(true) || known(&ToolRegistry::builtin()) == Some(true) {
        return true;
    }
    let words = redact::split_words(tool);
    Tool::of(tool) == Tool::Moves && words.iter().any(|word| matches!(word.as_str(), "app" | "application"))
}

/// The canonical name of an argument.
pub(crate) fn canonical_argument<'a>(tool: &str, argument: &'a str, registry: &'a ToolRegistry) -> &'a str {
    registry.resolve(tool).map_or(argument, |resolved| resolved.spec.argument_name(argument))
}

/// The app that a call names in an argument.
fn named_app(call: &Call, registry: &ToolRegistry) -> Option<String> {
    let named: Vec<&str> = call
        .args
        .iter()
        .filter(|(name, _)| names_app(call, name, registry))
        .filter_map(|(_, value)| value.as_str())
        .collect();
    (!named.is_empty()).then(|| named.join(" "))
}

/// The app that is in front after most calls, the first one among equals.
fn mostly_in_front(events: &[&Event]) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for app in events.iter().filter_map(|event| event.app.as_deref()).filter(|app| !app.is_empty()) {
        match counts.iter_mut().find(|(known, _)| *known == app) {
            Some((_, count)) => *count += 1,
            None => counts.push((app, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.iter().find(|(_, count)| *count == most).map(|(app, _)| (*app).to_owned())
}

/// Makes the values that one execution calls secret so in a run that did not know it: its value there becomes a marker,
/// wherever it stands.
pub(crate) fn hide(run: &mut Run, value: &str, marker: &str) {
    redact::replace_plain(&mut run.goal, value, redact::SHOWN);
    for call in &mut run.steps {
        call.args.values_mut().for_each(|arg| hide_in(arg, value, marker));
        if let Some(element) = &mut call.element {
            for text in [&mut element.resource_id, &mut element.text, &mut element.content_description]
                .into_iter()
                .flatten()
            {
                redact::replace_plain(text, value, marker);
            }
        }
    }
}

fn hide_in(arg: &mut Value, value: &str, marker: &str) {
    match arg {
        Value::String(text) => redact::replace_plain(text, value, marker),
        Value::Number(number) if number.to_string() == value => *arg = Value::String(marker.to_owned()),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in(item, value, marker)),
        Value::Object(members) => members.values_mut().for_each(|member| hide_in(member, value, marker)),
        _ => {}
    }
}
