//! What a skill was before: its parameters keep their names, and, where evidence has been dropped, their places.

use std::collections::HashMap;

use crate::flow::{Segment, Template};
use crate::learn::place::leaves;
use crate::learn::skeleton::canonical_pointer;
use crate::model::{Parameter, Skill};
use crate::tools::ToolRegistry;

/// The templates of a stored skill by step and place.
#[derive(Debug, Default)]
pub(crate) struct Former<'s> {
    places: HashMap<(usize, String), Template>,
    parameters: &'s [Parameter],
}

impl<'s> Former<'s> {
    /// Reads a stored skill.
    pub(crate) fn of(skill: &'s Skill, registry: &ToolRegistry) -> Self {
        let mut places = HashMap::new();
        for (index, step) in skill.steps.iter().enumerate() {
            for (pointer, value) in leaves(&step.args_template) {
                let template = value.as_str().and_then(|text| Template::parse(text).ok());
                if let Some(template) = template.filter(|template| template.literal().is_none()) {
                    places.insert((index, canonical_pointer(&step.tool, &pointer, registry)), template);
                }
            }
        }
        Self { places, parameters: &skill.parameters }
    }

    /// The template of a place that had parameters.
    pub(crate) fn template(&self, step: usize, pointer: &str) -> Option<&Template> {
        self.places.get(&(step, pointer.to_owned()))
    }

    /// The names of the parameters of a place, in order.
    pub(crate) fn names(&self, step: usize, pointer: &str) -> Vec<String> {
        let Some(template) = self.template(step, pointer) else { return Vec::new() };
        let name = |segment: &Segment| match segment {
            Segment::Placeholder(name) => Some(name.clone()),
            Segment::Text(_) => None,
        };
        template.segments().iter().filter_map(name).collect()
    }

    /// The declaration of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// The values of a template's placeholders in a text that it makes, the shortest first; `None` if it does not make it.
pub(crate) fn matched(template: &Template, text: &str) -> Option<Vec<String>> {
    let segments = template.segments();
    let mut values = Vec::new();
    let mut rest = text;
    let mut open = false;
    for (index, segment) in segments.iter().enumerate() {
        match segment {
            Segment::Placeholder(_) => {
                if open {
                    return None;
                }
                open = true;
            }
            Segment::Text(literal) => {
                let last = index + 1 == segments.len();
                let at = if !open {
                    rest.starts_with(literal.as_str()).then_some(0)?
                } else if last {
                    rest.ends_with(literal.as_str()).then(|| rest.len() - literal.len())?
                } else {
                    rest.find(literal.as_str())?
                };
                if open {
                    values.push(rest[..at].to_owned());
                    open = false;
                }
                rest = &rest[at + literal.len()..];
            }
        }
    }
    if open {
        values.push(rest.to_owned());
        rest = "";
    }
    rest.is_empty().then_some(values)
}
