//! What to ask a catalog: questions made from the skills that the caller sees.

use repertoire::model::{Parameter, ParameterType};
use repertoire::{Filter, Kind, Look, Skill};
use serde_json::{Map, Value, json};

use crate::cli::exit::Failure;

/// Most skills that questions are made from: enough that their records do not all stay in the processor's cache.
const SKILLS_MAX: usize = 10_000;
/// Most flow templates that are tried.
const FLOWS_MAX: usize = 200;
/// Texts for parameters whose author gives no example; the first that all steps take.
const TEXTS: [&str; 4] = ["Li Wei", "https://example.com", "com.example.app", "10086"];
/// Characters of a prefix.
const PREFIX_CHARS: usize = 3;

/// The questions of each kind, in an order that jumps about in the catalog.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Ids.
    pub(super) ids: Vec<String>,
    /// Names and aliases.
    pub(super) names: Vec<String>,
    /// First characters of names.
    pub(super) prefixes: Vec<String>,
    /// Examples, or names where a skill has none.
    pub(super) requests: Vec<String>,
    /// Flow templates with values that fit.
    pub(super) flows: Vec<(String, Map<String, Value>)>,
}

impl Questions {
    /// Makes them from the listed skills of a look.
    pub(super) fn of(look: &Look) -> Result<Self, Failure> {
        let mut all = Self::default();
        let page = look.list(&Filter::default(), SKILLS_MAX, None)?;
        for index in scattered(page.skills.len()) {
            let skill = &page.skills[index];
            all.ids.push(skill.id().to_owned());
            all.names.push(skill.aliases().next().unwrap_or_else(|| skill.name()).to_owned());
            all.prefixes.push(skill.name().chars().take(PREFIX_CHARS).collect());
            all.requests.push(skill.examples().next().unwrap_or_else(|| skill.name()).to_owned());
            if skill.kind() == Kind::FlowTemplate && all.flows.len() < FLOWS_MAX {
                let owned = skill.to_skill()?;
                let fits = |values: &Map<String, Value>| look.resolve(skill.id(), values).is_ok();
                if let Some(values) = TEXTS.iter().map(|text| values(&owned, text)).find(fits) {
                    all.flows.push((skill.id().to_owned(), values));
                }
            }
        }
        Ok(all)
    }
}

/// All numbers below `count` once, far from their neighbours.
fn scattered(count: usize) -> impl Iterator<Item = usize> {
    // A prime that no catalog is a multiple of, so that the steps meet every number.
    const STEP: usize = 7_919;
    (0..count).map(move |number| if count.is_multiple_of(STEP) { number } else { number * STEP % count })
}

/// A value for each required parameter: an example or the default of the author, else one of its type and limits.
fn values(skill: &Skill, text: &str) -> Map<String, Value> {
    let required = skill.parameters.iter().filter(|parameter| parameter.required);
    required.map(|parameter| (parameter.name.clone(), value(parameter, text))).collect()
}

fn value(parameter: &Parameter, text: &str) -> Value {
    let stated = parameter.examples.first().or(parameter.default.as_ref());
    if let Some(stated) = stated.or_else(|| parameter.choices.as_ref()?.first()) {
        return stated.clone();
    }
    match parameter.kind {
        ParameterType::Boolean => json!(true),
        ParameterType::String => json!(text),
        // Some thousand milliseconds, or some lines, fit most arguments.
        ParameterType::Integer | ParameterType::Number => {
            json!(parameter.minimum.or(parameter.maximum).unwrap_or(500.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for count in [0, 1, 2, 100, 7_919, 10_000, 15_838] {
            let mut all: Vec<usize> = scattered(count).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{count}");
        }
    }
}
