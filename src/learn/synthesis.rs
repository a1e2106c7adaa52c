//! From the executions of one skeleton to a skill.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};
use unicode_normalization::UnicodeNormalization;

use crate::flow::Template;
use crate::learn::Refusal;
use crate::learn::evidence::Evidence;
use crate::learn::former::Former;
use crate::learn::name::{generalised, name};
use crate::learn::place::put;
use crate::learn::run::Run;
use crate::learn::skeleton::is_package;
use crate::learn::unify::{Form, Group, Slot, Unified, unify, wider};
use crate::learn::verify::replays;
use crate::limits::{
    DERIVED_FROM_MAX, DESCRIPTION_CHARS_ADVISED, EXAMPLE_CHARS_MAX, EXAMPLES_MAX, NAME_CHARS_MAX,
    PARAMETERS_MAX, TAG_CHARS_MAX,
};
use crate::model::{App, Kind, Parameter, ParameterType, Skill, Step, check_id, is_invisible};
use crate::tools::ToolRegistry;

/// The tag of every learned skill.
const TAG: &str = "learned";
/// The member of the metadata that holds the evidence of a learned skill.
pub(crate) const EVIDENCE: &str = "evidence";
/// The member of the metadata that says that a person chose the name.
pub(crate) const RENAMED: &str = "renamed";
/// What `metadata.origin` says of a learned skill, wherever it goes.
pub(crate) const ORIGIN: &str = "local-synthesis";

/// Makes a skill of evidence. `former` is what it was before, with that id.
///
/// # Errors
/// The executions cannot be one skill, or what comes out breaks a rule or does not replay; nothing is to be stored then.
pub(crate) fn synthesise(
    id: &str,
    evidence: &mut Evidence,
    former: Option<&Skill>,
    registry: &ToolRegistry,
) -> Result<Skill, Refusal> {
    let known = former.map(|skill| Former::of(skill, registry)).unwrap_or_default();
    let complete = !evidence.dropped;
    let unified = unify(&mut evidence.runs, &known, complete, registry)?;
    let runs = &evidence.runs;
    if unified.groups.len() > PARAMETERS_MAX {
        return Err(Refusal::TooManyParameters { got: unified.groups.len() });
    }
    let names = names(&unified, runs, &known, registry);
    let steps = unified.steps.iter().zip(&unified.forms);
    let steps: Vec<Step> = steps
        .map(|(step, forms)| {
            let mut args = escaped(&step.args);
            for (place, form) in step.places.iter().zip(forms) {
                if let Form::Slots(slots) = form {
                    put(&mut args, &place.pointer, Value::String(written(slots, &names)));
                }
            }
            Step::new(step.tool.clone(), args)
        })
        .collect();
    let mut skill = Skill::new(id, Kind::FlowTemplate, "", "");
    skill.steps = steps;
    skill.parameters = unified
        .groups
        .iter()
        .zip(&names)
        .map(|(group, name)| parameter(group, name, known.parameter(name).filter(|_| !complete)))
        .collect();
    describe(&mut skill, &unified, &names, runs, former);
    skill.metadata = metadata(&unified, evidence, former);
    let values: Vec<HashMap<String, String>> = (0..evidence.runs.len())
        .map(|run| {
            let value = |group: &Group| group.texts.get(run).cloned().unwrap_or_default();
            names.iter().cloned().zip(unified.groups.iter().map(value)).collect()
        })
        .collect();
    if !replays(&skill, &unified.steps, &values, registry) {
        return Err(Refusal::DoesNotReplay);
    }
    let problems = skill.problems();
    if problems.is_empty() { Ok(skill) } else { Err(Refusal::Invalid { problems }) }
}

/// One name for each parameter: the one that it had, else a new one.
fn names(unified: &Unified, runs: &[Run], former: &Former<'_>, registry: &ToolRegistry) -> Vec<String> {
    let mut taken: Vec<String> = unified.groups.iter().filter_map(|group| group.name.clone()).collect();
    let mut order: Vec<usize> = (0..unified.groups.len()).collect();
    order.sort_by_key(|index| unified.groups.get(*index).map(|group| group.first));
    let mut names: Vec<String> =
        unified.groups.iter().map(|group| group.name.clone().unwrap_or_default()).collect();
    for index in order {
        let (Some(group), Some(place)) = (unified.groups.get(index), names.get_mut(index)) else { continue };
        // A plain parameter that turns out to be a secret keeps its name as well.
        let kept = !place.is_empty() && former.parameter(place).is_some();
        if !kept {
            *place = name(group, unified, runs, registry, &taken);
            taken.push(place.clone());
        }
    }
    names
}

fn written(slots: &[Slot], names: &[String]) -> String {
    slots.iter().fold(String::new(), |text, slot| match slot {
        Slot::Text(literal) => text + &Template::escape(literal),
        Slot::Parameter(index) => {
            let name = names.get(*index).map(String::as_str).unwrap_or_default();
            format!("{text}{{{name}}}")
        }
    })
}

/// Arguments as templates that mean just them.
fn escaped(args: &Map<String, Value>) -> Map<String, Value> {
    fn escape(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(Template::escape(text)),
            Value::Array(items) => items.iter().map(escape).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, member)| (name.clone(), escape(member))).collect()
            }
            other => other.clone(),
        }
    }
    args.iter().map(|(name, value)| (name.clone(), escape(value))).collect()
}

/// Values that a parameter shows as examples.
const VALUES_SHOWN: usize = 3;
/// Longest value that is shown as an example.
const VALUE_SHOWN_CHARS: usize = 128;

fn parameter(group: &Group, name: &str, former: Option<&Parameter>) -> Parameter {
    let kind = group.kind.unwrap_or(ParameterType::String);
    let kind = former.map_or(kind, |former| wider(former.kind, kind));
    let mut parameter = Parameter::new(name, kind);
    parameter.secret = group.secret;
    if !group.secret {
        let mut shown: Vec<Value> = Vec::new();
        for text in
            group.texts.iter().filter(|text| !text.is_empty() && text.chars().count() <= VALUE_SHOWN_CHARS)
        {
            let value = match kind {
                ParameterType::String => Some(Value::String(text.clone())),
                _ => serde_json::from_str(text).ok(),
            };
            shown.extend(value.filter(|value| !shown.contains(value)));
            if shown.len() == VALUES_SHOWN {
                break;
            }
        }
        parameter.examples = shown;
    }
    parameter
}

/// Name, description, examples, tags, apps.
fn describe(skill: &mut Skill, unified: &Unified, names: &[String], runs: &[Run], former: Option<&Skill>) {
    let same = |former: &&Skill| former.parameters.iter().map(|parameter| &parameter.name).eq(names);
    let renamed = former.is_some_and(|former| former.metadata.get(RENAMED) == Some(&Value::Bool(true)));
    if let Some(run) = runs.first() {
        let values: Vec<(&str, &str)> = unified
            .groups
            .iter()
            .zip(names)
            .filter(|(group, _)| !group.secret)
            .filter_map(|(group, name)| Some((group.texts.first()?.as_str(), name.as_str())))
            .collect();
        let goal = generalised(&run.goal, &values);
        skill.name = cut(&goal, NAME_CHARS_MAX);
        skill.description = cut(&goal, DESCRIPTION_CHARS_ADVISED);
    }
    if let Some(former) = former.filter(same) {
        // Found under this name until now, and what it does is the same.
        skill.name.clone_from(&former.name);
        skill.description.clone_from(&former.description);
    } else if let Some(former) = former.filter(|_| renamed) {
        skill.name.clone_from(&former.name);
    }
    let mut examples: Vec<String> = former.map(|former| former.examples.clone()).unwrap_or_default();
    examples.extend(runs.iter().map(|run| cut(&run.goal, EXAMPLE_CHARS_MAX)));
    let mut seen = BTreeSet::new();
    examples.retain(|example| !example.is_empty() && seen.insert(example.clone()));
    examples.drain(..examples.len().saturating_sub(EXAMPLES_MAX));
    skill.examples = examples;
    skill.tags = vec![TAG.to_owned()];
    for app in runs.first().map(|run| run.apps.as_slice()).unwrap_or_default() {
        if is_package(app) {
            if !skill.apps.iter().any(|known| known.package == *app) {
                skill.apps.push(App::new(app));
            }
        } else {
            let tag = cut(app, TAG_CHARS_MAX);
            if !tag.is_empty() && !skill.tags.contains(&tag) {
                skill.tags.push(tag);
            }
        }
    }
    let derived: BTreeSet<&String> =
        runs.iter().flat_map(|run| &run.skills).filter(|id| check_id(id).is_ok()).collect();
    let before = former.map(|former| former.derived_from.clone()).unwrap_or_default();
    let all: BTreeSet<String> = before.into_iter().chain(derived.into_iter().cloned()).collect();
    skill.derived_from = all.into_iter().take(DERIVED_FROM_MAX).collect();
}

fn metadata(
    unified: &Unified,
    evidence: &Evidence,
    former: Option<&Skill>,
) -> std::collections::BTreeMap<String, Value> {
    let mut metadata = former.map(|former| former.metadata.clone()).unwrap_or_default();
    metadata.insert("origin".to_owned(), json!(ORIGIN));
    metadata.insert(
        EVIDENCE.to_owned(),
        json!({"tasks": evidence.tasks, "first_seen": evidence.first_seen, "last_seen": evidence.last_seen}),
    );
    let positional: Vec<usize> =
        (1..).zip(&unified.steps).filter(|(_, step)| step.positional).map(|(number, _)| number).collect();
    metadata.remove("device_dependent");
    metadata.remove("steps_by_position");
    if !positional.is_empty() {
        metadata.insert("device_dependent".to_owned(), json!(true));
        metadata.insert("steps_by_position".to_owned(), json!(positional));
    }
    metadata
}

/// A text on one line, in normal form, without what cannot be seen, cut to so many characters.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    let visible = text.nfc().filter(|c| !is_invisible(*c)).map(|c| if c.is_control() { ' ' } else { c });
    let clean = visible.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ");
    match clean.char_indices().nth(chars) {
        Some((end, _)) => clean[..end].trim_end().to_owned(),
        None => clean,
    }
}
