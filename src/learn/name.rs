//! Names of parameters: plain words from around the value in the goals, else from the field, else the argument's name.
//!
//! Text of a screen never becomes a name as it is: only a few words of letters and digits do, since a model reads them.

use crate::learn::place::key;
use crate::learn::redact::{Tool, is_label, names_secret};
use crate::learn::role_words::{CUES, NOUNS, PARTS, UNITS};
use crate::learn::run::{Run, canonical_argument};
use crate::learn::unify::{Form, Group, Slot, Unified};
use crate::learn::words;
use crate::model::normalise;
use crate::tools::ToolRegistry;

/// Words before a value in which a cue is looked for.
const NEAR: usize = 4;
/// Words of a label that make a name.
const LABEL_WORDS: usize = 3;

/// A name for a parameter that is not among `taken`.
pub(crate) fn name(
    group: &Group,
    unified: &Unified,
    runs: &[Run],
    registry: &ToolRegistry,
    taken: &[String],
) -> String {
    let proposed = if group.secret {
        secret_name(group, unified, runs, registry)
    } else {
        from_goals(group, runs)
            .or_else(|| from_query(group, unified))
            .or_else(|| from_label(group, unified, runs, registry))
            .unwrap_or_else(|| from_argument(group, unified, registry))
    };
    if !taken.contains(&proposed) {
        return proposed;
    }
    // At most as many are taken as there are parameters.
    (2..=taken.len() + 2)
        .map(|number| format!("{proposed}_{number}"))
        .find(|name| !taken.contains(name))
        .unwrap_or(proposed)
}

fn secret_name(group: &Group, unified: &Unified, runs: &[Run], registry: &ToolRegistry) -> String {
    let (step, _) = group.first;
    let mut labels = labels(step, unified, registry);
    labels.extend(fields(step, runs));
    labels.extend(touched(step, unified, registry));
    let plain = labels.iter().filter(|label| names_secret(label).is_some());
    plain
        .clone()
        .find_map(|label| words::identifier(label, LABEL_WORDS))
        .or_else(|| plain.clone().find_map(|label| names_secret(label)).map(str::to_owned))
        .or_else(|| Some(from_argument(group, unified, registry)).filter(|name| names_secret(name).is_some()))
        .unwrap_or_else(|| "secret".to_owned())
}

/// What most goals call the value.
fn from_goals(group: &Group, runs: &[Run]) -> Option<String> {
    let mut votes: Vec<(String, usize)> = Vec::new();
    for (run, value) in runs.iter().zip(&group.texts) {
        let Some(name) = in_goal(&run.goal, value) else { continue };
        match votes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => votes.push((name, 1)),
        }
    }
    votes.into_iter().find(|(_, count)| 2 * count > runs.len()).map(|(name, _)| name)
}

/// What a goal calls a value that it contains.
fn in_goal(goal: &str, value: &str) -> Option<String> {
    if let Some(kind) = kind_of_value(value) {
        return Some(kind.to_owned());
    }
    let folded = goal.to_lowercase();
    let wanted = value.trim().to_lowercase();
    let (start, end) = words::places(&folded, &wanted).next()?;
    let before = folded[..start].trim_end_matches([' ', '"', '\'', '\u{201c}', '\u{2018}', '\u{300c}']);
    let squeezed = before.replace(['\u{ff1a}'], ":");
    if let Some((_, name)) = PARTS.iter().find(|(part, _)| squeezed.ends_with(part)) {
        return Some((*name).to_owned());
    }
    let tokens: Vec<&str> = words::tokens(before).into_iter().filter(|token| *token != " ").collect();
    let mut near = tokens.iter().rev();
    let mut last = near.clone().next().copied();
    while let Some("is" | "are" | "as" | "be" | ":" | "=") = last {
        near.next();
        last = near.clone().next().copied();
    }
    if let Some(noun) = last.filter(|word| NOUNS.contains(word)) {
        return Some(noun.to_owned());
    }
    let cue = tokens.iter().rev().take(NEAR).take_while(|token| words::is_filler(token) || is_cue(token));
    if let Some(name) =
        cue.filter_map(|token| CUES.iter().find(|(cue, _)| cue == token)).map(|(_, name)| *name).next()
    {
        return Some(name.to_owned());
    }
    let number = wanted.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let after = words::tokens(&folded[end..]).into_iter().find(|token| *token != " ")?;
    (number && UNITS.contains(&after)).then(|| after.to_owned())
}

fn is_cue(token: &str) -> bool {
    CUES.iter().any(|(cue, _)| *cue == token)
}

/// What a value is by its form alone.
fn kind_of_value(value: &str) -> Option<&'static str> {
    let value = value.trim();
    let (name, host) = value.split_once('@')?;
    let plain = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    (plain(name) && plain(host) && host.contains('.')).then_some("email")
}

/// The arguments that say where a step acts, as far as they are the same in all executions.
fn labels(step: usize, unified: &Unified, registry: &ToolRegistry) -> Vec<String> {
    let Some(aligned) = unified.steps.get(step) else { return Vec::new() };
    let tool = Tool::of(&aligned.tool);
    let says_where = |pointer: &str| {
        let name = key(pointer);
        let canonical = canonical_argument(&aligned.tool, &name, registry);
        is_label(&name, tool) || (is_label(canonical, tool) && canonical != "text")
    };
    let same = aligned.places.iter().filter(|place| place.is_literal() && says_where(&place.pointer));
    let mut found: Vec<String> =
        same.filter_map(|place| place.values.first()?.as_str().map(last_part)).collect();
    // The label that a person gave before the ids of the program.
    found.sort_by_key(String::len);
    found
}

/// What all executions know of the field of a step beside its content.
fn fields(step: usize, runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| -> [Option<String>; 2] {
        let element = run.steps.get(step).and_then(|call| call.element.clone()).unwrap_or_default();
        [element.hint, element.resource_id]
    };
    let Some(first) = runs.first().map(of) else { return Vec::new() };
    let same = (0..first.len()).filter(|at| runs.iter().all(|run| of(run).get(*at) == first.get(*at)));
    same.filter_map(|at| first.get(at).cloned().flatten().as_deref().map(last_part)).collect()
}

/// The labels of the element that was touched before something was typed.
fn touched(step: usize, unified: &Unified, registry: &ToolRegistry) -> Vec<String> {
    let tool = |step: usize| unified.steps.get(step).map(|step| Tool::of(&step.tool));
    match step.checked_sub(1) {
        Some(before) if tool(step) == Some(Tool::Types) && tool(before) == Some(Tool::Touches) => {
            labels(before, unified, registry)
        }
        _ => Vec::new(),
    }
}

/// A resource id without its package.
fn last_part(label: &str) -> String {
    label.rsplit_once(":id/").map_or(label, |(_, id)| id).to_owned()
}

/// The name that stands before the value in a text, as in `?q=value`.
fn from_query(group: &Group, unified: &Unified) -> Option<String> {
    let (step, leaf) = group.first;
    let Form::Slots(slots) = unified.forms.get(step)?.get(leaf)? else { return None };
    let known = |slot: &Slot| match slot {
        Slot::Parameter(index) => unified.groups.get(*index).is_some_and(|known| std::ptr::eq(known, group)),
        Slot::Text(_) => false,
    };
    let at = slots.iter().position(known)?.checked_sub(1)?;
    let Slot::Text(before) = slots.get(at)? else { return None };
    let name = before.strip_suffix('=')?;
    let begin = name.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    words::identifier(name.get(begin..)?, LABEL_WORDS)
}

fn from_label(group: &Group, unified: &Unified, runs: &[Run], registry: &ToolRegistry) -> Option<String> {
    let (step, _) = group.first;
    let mut own = labels(step, unified, registry);
    if unified.steps.get(step).is_some_and(|step| Tool::of(&step.tool) == Tool::Types) {
        own.extend(fields(step, runs));
    }
    // What was touched may be a button; it is a field where its name says what is typed.
    let field = |name: &String| name.split('_').any(|word| NOUNS.contains(&word) || is_cue(word));
    let name = |label: &String| words::identifier(label, LABEL_WORDS);
    let touched = touched(step, unified, registry);
    own.iter().find_map(name).or_else(|| touched.iter().filter_map(name).find(field))
}

fn from_argument(group: &Group, unified: &Unified, registry: &ToolRegistry) -> String {
    let (step, leaf) = group.first;
    let argument = unified.steps.get(step).and_then(|aligned| {
        let pointer = &aligned.places.get(leaf)?.pointer;
        let name = key(pointer);
        words::identifier(&name, 6)
            .or_else(|| words::identifier(canonical_argument(&aligned.tool, &name, registry), 6))
    });
    argument.unwrap_or_else(|| "value".to_owned())
}

/// A goal with the values of one execution replaced by the names of their parameters.
pub(crate) fn generalised(goal: &str, values: &[(&str, &str)]) -> String {
    let mut text = goal.to_owned();
    let mut values: Vec<&(&str, &str)> =
        values.iter().filter(|(value, _)| !value.trim().is_empty()).collect();
    values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
    for (value, name) in values {
        let value = value.trim();
        let place = words::places(&text, value).next().or_else(|| {
            let lower = text.to_lowercase();
            // Only where folding moves no byte.
            (lower.len() == text.len()).then(|| words::places(&lower, &normalise(value)).next()).flatten()
        });
        if let Some((start, end)) =
            place.filter(|(start, end)| text.is_char_boundary(*start) && text.is_char_boundary(*end))
        {
            text.replace_range(start..end, &format!("[{name}]"));
        }
    }
    text
}
