//! Executions side by side: for each step the arguments as one form, and at each leaf the values of all executions.

use serde_json::{Map, Value};

use crate::learn::Refusal;
use crate::learn::place::{is_position, key, leaves};
use crate::learn::redact::Tool;
use crate::learn::run::{Call, Kept, Run, canonical_argument};
use crate::learn::words;
use crate::tools::{ToolRegistry, ToolSpec};

/// One step of all executions.
#[derive(Clone, Debug)]
pub(crate) struct Aligned {
    /// The tool's name: as all called it, else the canonical one.
    pub(crate) tool: String,
    /// The arguments of one execution, which stand for all where nothing differs.
    pub(crate) args: Map<String, Value>,
    /// Every leaf that is no position on the screen.
    pub(crate) places: Vec<Place>,
    /// Nothing but a position says where it acts.
    pub(crate) positional: bool,
}

/// A leaf of the arguments.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Where it stands.
    pub(crate) pointer: String,
    /// Its value in each execution.
    pub(crate) values: Vec<Value>,
}

impl Place {
    /// Whether all executions have the same value here.
    pub(crate) fn is_literal(&self) -> bool {
        self.values.windows(2).all(|pair| pair.first() == pair.last())
    }
}

/// Puts executions of one skeleton side by side.
///
/// # Errors
/// They are not of one form, which the skeleton excludes.
pub(crate) fn align(runs: &[Run], registry: &ToolRegistry) -> Result<Vec<Aligned>, Refusal> {
    let first = runs.first().ok_or(Refusal::NothingDone)?;
    (0..first.steps.len())
        .map(|index| {
            let calls: Option<Vec<Call>> = runs.iter().map(|run| run.steps.get(index).cloned()).collect();
            let calls = calls.filter(|_| runs.iter().all(|run| run.steps.len() == first.steps.len()));
            step(calls.ok_or(Refusal::NotOneForm)?, runs, registry)
        })
        .collect()
}

fn step(mut calls: Vec<Call>, runs: &[Run], registry: &ToolRegistry) -> Result<Aligned, Refusal> {
    select(&mut calls, runs, registry);
    let first = calls.first().ok_or(Refusal::NothingDone)?;
    let pointers = |call: &Call| -> Vec<String> {
        steady(call, registry).into_iter().map(|(pointer, _)| pointer).collect()
    };
    let own = pointers(first);
    if !calls.iter().all(|call| call.tool == first.tool && pointers(call) == own) {
        // Other names of the same tool and arguments.
        for call in &mut calls {
            canonicalise(call, registry);
        }
    }
    // The position that most had; among equals the smallest, so that the order of executions does not matter.
    let position = |call: &Call| {
        Value::Object(
            call.args
                .clone()
                .into_iter()
                .filter(|(name, value)| {
                    is_position(&call.tool, &call.args, &format!("/{name}"), value, registry)
                })
                .collect(),
        )
        .to_string()
    };
    let positions: Vec<String> = calls.iter().map(position).collect();
    let count = |wanted: &String| positions.iter().filter(|known| *known == wanted).count();
    let chosen = positions.iter().max_by(|a, b| {
        // A position is a better hint than none.
        (count(a), *a != "{}").cmp(&(count(b), *b != "{}")).then_with(|| b.cmp(a))
    });
    let base = chosen.and_then(|chosen| positions.iter().position(|known| known == chosen)).unwrap_or(0);
    let base = calls.get(base).ok_or(Refusal::NothingDone)?;
    let (tool, args) = (base.tool.clone(), base.args.clone());
    let columns: Vec<Vec<(String, Value)>> = calls.iter().map(|call| steady(call, registry)).collect();
    let names =
        columns.first().map(|column| column.iter().map(|(pointer, _)| pointer.clone()).collect::<Vec<_>>());
    let names = names.unwrap_or_default();
    if !columns.iter().all(|column| {
        column.len() == names.len() && column.iter().zip(&names).all(|((pointer, _), name)| pointer == name)
    }) {
        return Err(Refusal::NotOneForm);
    }
    let places: Vec<Place> = names
        .into_iter()
        .enumerate()
        .map(|(index, pointer)| Place {
            pointer,
            values: columns
                .iter()
                .filter_map(|column| column.get(index).map(|(_, value)| value.clone()))
                .collect(),
        })
        .collect();
    let positional = places.iter().all(|place| !says_where(&tool, &place.pointer, registry))
        && leaves(&args).iter().any(|(pointer, value)| is_position(&tool, &args, pointer, value, registry));
    Ok(Aligned { tool, args, places, positional })
}

/// The leaves of a call that are no positions.
fn steady(call: &Call, registry: &ToolRegistry) -> Vec<(String, Value)> {
    let mut all = leaves(&call.args);
    all.retain(|(pointer, value)| !is_position(&call.tool, &call.args, pointer, value, registry));
    all
}

/// Whether an argument says where on the screen a call acts.
fn says_where(tool: &str, pointer: &str, registry: &ToolRegistry) -> bool {
    let name = key(pointer);
    let name = canonical_argument(tool, &name, registry);
    crate::learn::redact::is_label(name, Tool::of(tool)) || matches!(name, "text" | "query")
}

/// Gives a call the canonical names of its tool and arguments.
fn canonicalise(call: &mut Call, registry: &ToolRegistry) {
    let Some(resolved) = registry.resolve(&call.tool) else { return };
    let mut args = resolved.fixed.clone();
    for (name, value) in &call.args {
        let canonical = resolved.spec.argument_name(name);
        let name = if call.args.contains_key(canonical) { name } else { canonical };
        args.insert(name.to_owned(), value.clone());
    }
    call.tool.clone_from(&resolved.spec.name);
    call.args = args;
}

/// A selector in the place of a position, where every execution knows the element that was hit.
fn select(calls: &mut [Call], runs: &[Run], registry: &ToolRegistry) {
    let Some(resolved) = calls.first().and_then(|call| registry.resolve(&call.tool)) else { return };
    let spec = resolved.spec;
    let has_position = |call: &Call| {
        leaves(&call.args)
            .iter()
            .any(|(pointer, value)| is_position(&call.tool, &call.args, pointer, value, registry))
    };
    let blind = |call: &Call| {
        let selectors = KINDS.iter().filter_map(|kind| selector(spec, *kind, &call.tool));
        let named = call.args.keys().any(|name| {
            let name = spec.argument_name(name);
            name == "field" || selectors.clone().any(|selector| selector == name)
        });
        has_position(call) && !named && call.element.is_some()
    };
    if !calls.iter().all(blind) {
        return;
    }
    let elements: Vec<Kept> = calls.iter().filter_map(|call| call.element.clone()).collect();
    let Some((kind, name)) = choose(&elements, runs)
        .into_iter()
        .find_map(|kind| selector(spec, kind, &calls.first()?.tool).map(|name| (kind, name)))
    else {
        return;
    };
    for (call, element) in calls.iter_mut().zip(elements) {
        let Some(text) = kind.of(&element).cloned() else { continue };
        let gone: Vec<String> = call
            .args
            .keys()
            .filter(|name| {
                let name = spec.argument_name(name);
                matches!(name, "snapshot" | "bounds" | "index")
                    || name.ends_with("_index")
                    || name.ends_with("_bounds")
            })
            .cloned()
            .collect();
        for name in gone {
            call.args.remove(&name);
        }
        call.args.insert(name.clone(), Value::String(text));
    }
}

/// What an element can be found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ResourceId,
    Text,
    Description,
}

const KINDS: [Kind; 3] = [Kind::ResourceId, Kind::Text, Kind::Description];
/// Longest text by which an element is found.
const SELECTOR_BYTES_MAX: usize = 256;

impl Kind {
    fn of(self, element: &Kept) -> Option<&String> {
        let text = match self {
            Self::ResourceId => &element.resource_id,
            Self::Text => &element.text,
            Self::Description => &element.content_description,
        };
        text.as_ref().filter(|text| text.len() <= SELECTOR_BYTES_MAX)
    }
}

/// The argument by which a tool takes a selector of a kind.
fn selector(spec: &ToolSpec, kind: Kind, tool: &str) -> Option<String> {
    let name = match kind {
        Kind::ResourceId => "resource_id",
        Kind::Text => "text",
        Kind::Description => "content_description",
    };
    let target = format!("target_{name}");
    if spec.argument(&target).is_some() {
        return Some(target);
    }
    (spec.argument(name).is_some() && Tool::of(tool) != Tool::Types).then(|| name.to_owned())
}

/// Kinds of selectors that all elements have, the best first: a text that the goal asks for, then what stays the same,
/// the resource id before what is shown.
fn choose(elements: &[Kept], runs: &[Run]) -> Vec<Kind> {
    let there = |kind: &Kind| elements.iter().all(|element| kind.of(element).is_some());
    let grounded = |kind: &Kind| {
        elements.iter().zip(runs).all(|(element, run)| {
            kind.of(element).is_some_and(|text| words::contains(&run.goal, text) || is_argument(run, text))
        })
    };
    let same = |kind: &Kind| {
        elements.windows(2).all(|pair| pair.first().map(|e| kind.of(e)) == pair.last().map(|e| kind.of(e)))
    };
    let shown = [Kind::Text, Kind::Description];
    let mut kinds: Vec<Kind> = shown.into_iter().filter(|kind| there(kind) && grounded(kind)).collect();
    kinds.extend(KINDS.into_iter().filter(|kind| there(kind) && same(kind)));
    kinds.extend(shown.into_iter().filter(there));
    kinds
}

/// Whether a text is an argument of a call of the execution.
fn is_argument(run: &Run, text: &str) -> bool {
    run.steps.iter().any(|call| leaves(&call.args).iter().any(|(_, value)| value.as_str() == Some(text)))
}
