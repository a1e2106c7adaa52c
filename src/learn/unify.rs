//! N-ary anti-unification: which leaves vary over the executions, what of them varies, and which vary together.

use serde_json::Value;

use crate::flow::Segment;
use crate::learn::Refusal;
use crate::learn::align::{Aligned, Place, align};
use crate::learn::former::{Former, matched};
use crate::learn::redact::{find_marker, is_marker, marker};
use crate::learn::run::{Call, Run, hide, names_app};
use crate::learn::skeleton::canonical_pointer;
use crate::learn::span::{Piece, around, pieces, widened};
use crate::model::ParameterType;
use crate::tools::ToolRegistry;

/// How one leaf is written in the template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// As it is.
    Literal,
    /// Texts and parameters in order.
    Slots(Vec<Slot>),
}

/// A part of a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    /// Literal text.
    Text(String),
    /// The parameter of that number.
    Parameter(usize),
}

/// One parameter: all places that have the same values over the executions.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The name that it had before.
    pub(crate) name: Option<String>,
    /// Its value in each execution, as text.
    pub(crate) texts: Vec<String>,
    /// JSON type where it stands alone; `None` while it only stands inside of texts.
    pub(crate) kind: Option<ParameterType>,
    /// Its values are secrets.
    pub(crate) secret: bool,
    /// Step and leaf where it stands first.
    pub(crate) first: (usize, usize),
}

/// The steps of all executions as one.
#[derive(Debug)]
pub(crate) struct Unified {
    /// The steps.
    pub(crate) steps: Vec<Aligned>,
    /// For each step and leaf how it is written.
    pub(crate) forms: Vec<Vec<Form>>,
    /// The parameters.
    pub(crate) groups: Vec<Group>,
}

/// What varies at a leaf, before it is known what varies together.
#[derive(Clone, Debug, PartialEq)]
enum Raw {
    Literal,
    Whole { texts: Vec<String>, kind: ParameterType },
    Pieces(Vec<Piece>),
    Secret(Vec<Piece>),
}

/// Rounds in which values of other places are looked for inside of texts.
const ROUNDS_MAX: usize = 4;

/// Unifies executions of one skeleton. Where one of them has a secret, the others get a marker as well: runs may change.
///
/// `complete` says that the runs are all there ever were; else what was a parameter stays one.
///
/// # Errors
/// The executions are not of one form.
pub(crate) fn unify(
    runs: &mut [Run],
    former: &Former<'_>,
    complete: bool,
    registry: &ToolRegistry,
) -> Result<Unified, Refusal> {
    spread_secrets(runs, former, registry)?;
    let steps = align(runs, registry)?;
    let goals: Vec<&str> = runs.iter().map(|run| run.goal.as_str()).collect();
    let mut raw: Vec<Vec<Raw>> = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let mut forms = Vec::with_capacity(step.places.len());
        for place in &step.places {
            let call = Call { tool: step.tool.clone(), args: step.args.clone(), element: None };
            let argument =
                crate::learn::place::split(&place.pointer).map(|(name, _)| name).unwrap_or_default();
            let names_app = names_app(&call, &argument, registry);
            if names_app && !place.is_literal() {
                return Err(Refusal::NotOneForm);
            }
            let pointer = canonical_pointer(&step.tool, &place.pointer, registry);
            let kept = if complete || names_app { None } else { kept(place, former, index, &pointer) };
            forms.push(kept.unwrap_or_else(|| raw_form(place, &goals)));
        }
        raw.push(forms);
    }
    for _ in 0..ROUNDS_MAX {
        if !share(&steps, &mut raw) {
            break;
        }
    }
    let mut unified = Unified { steps, forms: Vec::new(), groups: Vec::new() };
    group(&mut unified, &raw, former, registry);
    Ok(unified)
}

/// Where some execution has a secret, or one was there before, every execution has one.
fn spread_secrets(runs: &mut [Run], former: &Former<'_>, registry: &ToolRegistry) -> Result<(), Refusal> {
    let steps = align(runs, registry)?;
    for (index, step) in steps.iter().enumerate() {
        for place in &step.places {
            let pointer = canonical_pointer(&step.tool, &place.pointer, registry);
            let was = former
                .names(index, &pointer)
                .iter()
                .any(|name| former.parameter(name).is_some_and(|p| p.secret));
            if !was && !place.values.iter().any(is_marker) {
                continue;
            }
            for (run, value) in runs.iter_mut().zip(&place.values) {
                let Some(text) =
                    text_of(value).filter(|text| find_marker(text).is_none() && !text.trim().is_empty())
                else {
                    continue;
                };
                let number = 1 + highest_marker(run);
                hide(run, &text, &marker(number));
            }
        }
    }
    Ok(())
}

fn highest_marker(run: &Run) -> u32 {
    let mut highest = 0;
    for call in &run.steps {
        for (_, value) in crate::learn::place::leaves(&call.args) {
            let mut rest = value.as_str().unwrap_or_default();
            while let Some((start, end)) = find_marker(rest) {
                let digits: String = rest[start..end].chars().filter(char::is_ascii_digit).collect();
                highest = highest.max(digits.parse().unwrap_or(0));
                rest = &rest[end..];
            }
        }
    }
    highest
}

/// A string, number or boolean as text, as the resolver writes it inside of texts.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(_) => serde_json_canonicalizer::to_string(value).ok(),
        _ => None,
    }
}

/// What a place was before, where all executions fit into it.
fn kept(place: &Place, former: &Former<'_>, step: usize, pointer: &str) -> Option<Raw> {
    let template = former.template(step, pointer)?;
    if let Some(name) = template.whole() {
        if former.parameter(name)?.secret {
            return None;
        }
        return whole(place);
    }
    let rows: Option<Vec<Vec<String>>> =
        place.values.iter().map(|value| matched(template, value.as_str()?)).collect();
    let rows = rows?;
    let mut next = 0;
    let pieces = template.segments().iter().map(|segment| match segment {
        Segment::Text(text) => Piece::Text(text.clone()),
        Segment::Placeholder(_) => {
            next += 1;
            Piece::Varies(rows.iter().map(|row| row.get(next - 1).cloned().unwrap_or_default()).collect())
        }
    });
    Some(Raw::Pieces(pieces.collect()))
}

/// The whole leaf as one parameter; `None` for what is no scalar.
fn whole(place: &Place) -> Option<Raw> {
    let texts: Vec<String> = place.values.iter().map(text_of).collect::<Option<_>>()?;
    Some(Raw::Whole { texts, kind: kind_of(&place.values) })
}

/// The narrowest JSON type of all values; different ones are text.
fn kind_of(values: &[Value]) -> ParameterType {
    let kind = |value: &Value| match value {
        Value::Bool(_) => ParameterType::Boolean,
        Value::Number(number) if number.is_i64() || number.is_u64() => ParameterType::Integer,
        Value::Number(_) => ParameterType::Number,
        _ => ParameterType::String,
    };
    values.iter().map(kind).reduce(wider).unwrap_or(ParameterType::String)
}

/// The type that holds the values of both.
pub(crate) fn wider(a: ParameterType, b: ParameterType) -> ParameterType {
    use ParameterType::{Integer, Number, String};
    match (a, b) {
        _ if a == b => a,
        (Integer | Number, Integer | Number) => Number,
        _ => String,
    }
}

fn raw_form(place: &Place, goals: &[&str]) -> Raw {
    if place.values.iter().any(|value| value.as_str().is_some_and(|text| find_marker(text).is_some())) {
        return secret(place);
    }
    if place.is_literal() {
        return Raw::Literal;
    }
    let texts: Option<Vec<&str>> = place.values.iter().map(Value::as_str).collect();
    match texts.map(|texts| pieces(&texts, goals)) {
        Some(pieces) if pieces.len() > 1 => Raw::Pieces(pieces),
        // Null and containers are of one form in all executions.
        _ => whole(place).unwrap_or(Raw::Literal),
    }
}

/// Secrets with what stands around them, or, where that differs, the whole leaf.
fn secret(place: &Place) -> Raw {
    let texts: Vec<&str> = place.values.iter().map(|value| value.as_str().unwrap_or_default()).collect();
    let cut = |text: &str| {
        let (mut around, mut markers, mut rest) = (Vec::new(), Vec::new(), text);
        while let Some((start, end)) = find_marker(rest) {
            around.push(rest[..start].to_owned());
            markers.push(rest[start..end].to_owned());
            rest = &rest[end..];
        }
        around.push(rest.to_owned());
        (around, markers)
    };
    let cuts: Vec<(Vec<String>, Vec<String>)> = texts.iter().map(|text| cut(text)).collect();
    let Some((around, markers)) = cuts.first() else { return Raw::Literal };
    if cuts.iter().any(|(other, _)| other != around) {
        return Raw::Secret(vec![Piece::Varies(texts.iter().map(|text| (*text).to_owned()).collect())]);
    }
    let mut pieces = Vec::new();
    for (index, text) in around.iter().enumerate() {
        if !text.is_empty() {
            pieces.push(Piece::Text(text.clone()));
        }
        if index < markers.len() {
            let row = cuts.iter().filter_map(|(_, markers)| markers.get(index).cloned());
            pieces.push(Piece::Varies(row.collect()));
        }
    }
    Raw::Secret(pieces)
}

/// Looks for the values of other places inside of texts. Answers whether anything changed.
fn share(steps: &[Aligned], raw: &mut [Vec<Raw>]) -> bool {
    let mut vectors: Vec<Vec<String>> = Vec::new();
    for form in raw.iter().flatten() {
        match form {
            Raw::Whole { texts, .. } => vectors.push(texts.clone()),
            Raw::Pieces(pieces) => vectors.extend(pieces.iter().filter_map(|piece| match piece {
                Piece::Varies(texts) => Some(texts.clone()),
                Piece::Text(_) => None,
            })),
            Raw::Literal | Raw::Secret(_) => {}
        }
    }
    vectors.retain(|vector| vector.windows(2).any(|pair| pair.first() != pair.last()));
    vectors.sort_by_key(|vector| std::cmp::Reverse(vector.iter().map(String::len).sum::<usize>()));
    vectors.dedup();
    let mut changed = false;
    for (step, forms) in steps.iter().zip(raw) {
        for (place, form) in step.places.iter().zip(forms) {
            let one = match form {
                Raw::Whole { kind: ParameterType::String, .. } => true,
                Raw::Pieces(pieces) => {
                    pieces.iter().filter(|piece| matches!(piece, Piece::Varies(_))).count() == 1
                }
                _ => false,
            };
            if let (false, Raw::Pieces(parts)) = (one, &*form) {
                if let Some(wide) = vectors.iter().find_map(|vector| widened(parts, vector)) {
                    *form = Raw::Pieces(wide);
                    changed = true;
                }
                continue;
            }
            let texts: Option<Vec<&str>> = place.values.iter().map(Value::as_str).collect();
            let Some(texts) = texts.filter(|_| one) else { continue };
            let is_own = |vector: &Vec<String>| match &*form {
                Raw::Pieces(pieces) => pieces.contains(&Piece::Varies(vector.clone())),
                Raw::Whole { texts, .. } => texts == vector,
                _ => false,
            };
            if stands_elsewhere(form, steps) {
                continue;
            }
            let found =
                vectors.iter().filter(|vector| !is_own(vector)).find_map(|vector| around(&texts, vector));
            if let Some(found) = found.map(Raw::Pieces).filter(|found| found != &*form) {
                *form = found;
                changed = true;
            }
        }
    }
    changed
}

/// Whether a whole text is the whole of another leaf as well: it is then a value of its own.
fn stands_elsewhere(form: &Raw, steps: &[Aligned]) -> bool {
    let Raw::Whole { texts, .. } = form else { return false };
    let same = |place: &&Place| {
        place.values.len() == texts.len()
            && place.values.iter().zip(texts).all(|(value, text)| value.as_str() == Some(text))
    };
    steps.iter().flat_map(|step| &step.places).filter(same).count() > 1
}

/// Makes one parameter of all places with the same values.
fn group(unified: &mut Unified, raw: &[Vec<Raw>], former: &Former<'_>, registry: &ToolRegistry) {
    // Places that had a name first, so that others with the same values join them.
    let mut forms: Vec<Vec<Form>> = raw.iter().map(|forms| vec![Form::Literal; forms.len()]).collect();
    for named in [true, false] {
        for (step, row) in raw.iter().enumerate() {
            for (leaf, form) in row.iter().enumerate() {
                let Some(place) = unified.steps.get(step).and_then(|step| step.places.get(leaf)) else {
                    continue;
                };
                let tool = unified.steps.get(step).map(|step| step.tool.clone()).unwrap_or_default();
                let names = former.names(step, &canonical_pointer(&tool, &place.pointer, registry));
                if names.is_empty() == named {
                    continue;
                }
                let slots = slots(unified, form, (step, leaf), &names);
                if let (Some(slots), Some(place)) =
                    (slots, forms.get_mut(step).and_then(|row| row.get_mut(leaf)))
                {
                    *place = Form::Slots(slots);
                }
            }
        }
    }
    unified.forms = forms;
}

fn slots(unified: &mut Unified, form: &Raw, first: (usize, usize), names: &[String]) -> Option<Vec<Slot>> {
    let mut names = names.iter().cloned();
    let mut parameter = |texts: &[String], kind, secret| {
        let group = Group { name: names.next(), texts: texts.to_vec(), kind, secret, first };
        Slot::Parameter(join(&mut unified.groups, group))
    };
    let slots = match form {
        Raw::Literal => return None,
        Raw::Whole { texts, kind } => vec![parameter(texts, Some(*kind), false)],
        Raw::Pieces(pieces) | Raw::Secret(pieces) => {
            let secret = matches!(form, Raw::Secret(_));
            // A secret that stands alone is text as well.
            let kind = (secret && pieces.len() == 1).then_some(ParameterType::String);
            let slot = |piece: &Piece| match piece {
                Piece::Text(text) => Slot::Text(text.clone()),
                Piece::Varies(texts) => parameter(texts, kind, secret),
            };
            pieces.iter().map(slot).collect()
        }
    };
    Some(slots)
}

/// Joins a place to the parameter with its values, or makes one. A name that another parameter has already stays there.
fn join(groups: &mut Vec<Group>, mut new: Group) -> usize {
    let fits = |group: &Group| {
        group.texts == new.texts
            && group.secret == new.secret
            && (group.kind.is_none() || new.kind.is_none() || group.kind == new.kind)
    };
    let named = |group: &Group| group.name.is_some() && group.name == new.name;
    let taken = groups.iter().any(named);
    let found = groups.iter().position(|group| named(group) && fits(group)).or_else(|| {
        // Equal by having been the same always says nothing: such a parameter is known by its name only.
        let same = |group: &Group| fits(group) && (varies(&group.texts) || group.secret);
        (new.name.is_none() || taken).then(|| groups.iter().position(same)).flatten()
    });
    if let Some(index) = found {
        if let Some(group) = groups.get_mut(index) {
            group.kind = group.kind.or(new.kind);
            group.first = group.first.min(new.first);
        }
        return index;
    }
    if taken {
        new.name = None;
    }
    groups.push(new);
    groups.len() - 1
}

fn varies(texts: &[String]) -> bool {
    texts.windows(2).any(|pair| pair.first() != pair.last())
}
