//! The arguments of one step, parsed: literals and placeholders as a tree. Lives only while a skill is compiled.

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::limits::TEMPLATE_DEPTH_MAX;
use crate::model::Parameter;
use crate::tools::schema::push_member;

use super::parse::{Segment, Template};
use super::program::{Builder, Op};
use super::values::{number_text, push_escaped};

/// One value of a template.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A value without placeholders; braces are single.
    Literal(Value),
    /// Exactly one placeholder: the value with its JSON type.
    Whole(usize),
    /// Text with placeholders in it.
    Text(Vec<Piece>),
    /// A string that is no template, already reported: nothing more is said about it.
    Broken,
    /// An array.
    Array(Vec<Self>),
    /// An object; keys are never substituted.
    Object(Vec<(String, Self)>),
}

/// One piece of a text.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Literal text.
    Text(String),
    /// A parameter's value.
    Parameter(usize),
}

/// Parses the templates of a skill's steps; collects what is wrong and which parameters are used.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) parameters: &'a [Parameter],
    pub(crate) used: Vec<bool>,
    pub(crate) problems: Vec<Problem>,
}

impl Reader<'_> {
    /// The arguments of a step; `pointer` is the place of `args_template`.
    pub(crate) fn arguments(&mut self, args: &Map<String, Value>, pointer: &str) -> Vec<(String, Node)> {
        self.members(args, &mut pointer.to_owned(), 1)
    }

    fn members(
        &mut self,
        members: &Map<String, Value>,
        pointer: &mut String,
        depth: usize,
    ) -> Vec<(String, Node)> {
        let end = pointer.len();
        let mut nodes = Vec::with_capacity(members.len());
        for (name, value) in members {
            push_member(pointer, name);
            nodes.push((name.clone(), self.node(value, pointer, depth)));
            pointer.truncate(end);
        }
        nodes
    }

    fn node(&mut self, value: &Value, pointer: &mut String, depth: usize) -> Node {
        if depth > TEMPLATE_DEPTH_MAX {
            let message = format!("an args_template nests at most {TEMPLATE_DEPTH_MAX} deep");
            self.problems.push(Problem::new("too_deep", pointer.as_str(), message));
            return Node::Broken;
        }
        match value {
            Value::String(text) => self.text(text, pointer),
            Value::Array(items) => {
                let end = pointer.len();
                let mut nodes = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    push_member(pointer, &index.to_string());
                    nodes.push(self.node(item, pointer, depth + 1));
                    pointer.truncate(end);
                }
                Node::Array(nodes)
            }
            Value::Object(members) => Node::Object(self.members(members, pointer, depth + 1)),
            other => Node::Literal(other.clone()),
        }
    }

    fn text(&mut self, text: &str, pointer: &str) -> Node {
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(error) => {
                self.problems.push(Problem::new("template_syntax", pointer, error.to_string()).got(text));
                return Node::Broken;
            }
        };
        if let Some(literal) = template.literal() {
            return Node::Literal(Value::String(literal.to_owned()));
        }
        if let Some(name) = template.whole() {
            return self.parameter(name, pointer).map_or(Node::Broken, Node::Whole);
        }
        let mut pieces = Vec::with_capacity(template.segments().len());
        let mut sound = true;
        for segment in template.segments() {
            match segment {
                Segment::Text(text) => pieces.push(Piece::Text(text.clone())),
                Segment::Placeholder(name) => match self.parameter(name, pointer) {
                    Some(index) => {
                        sound &= self.has_value(index, pointer);
                        pieces.push(Piece::Parameter(index));
                    }
                    None => sound = false,
                },
            }
        }
        if sound { Node::Text(pieces) } else { Node::Broken }
    }

    /// The index of a declared parameter, marked as used.
    fn parameter(&mut self, name: &str, pointer: &str) -> Option<usize> {
        let found = self.parameters.iter().position(|parameter| parameter.name == name);
        if let Some(used) = found.and_then(|index| self.used.get_mut(index)) {
            *used = true;
        } else {
            let message = format!("no parameter is named {name:?}; declare it, or double the braces");
            let declared: Vec<&str> =
                self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
            let problem = Problem::new("undefined_placeholder", pointer, message).got(name);
            self.problems.push(if declared.is_empty() {
                problem
            } else {
                problem.allowed(declared.join(", "))
            });
        }
        found
    }

    /// Inside longer text there is nothing to leave out.
    fn has_value(&mut self, index: usize, pointer: &str) -> bool {
        let missing = self.parameters.get(index).filter(|parameter| may_be_absent(parameter));
        if let Some(parameter) = missing {
            let message = format!("optional parameter inside text needs a default: {:?}", parameter.name);
            self.problems.push(Problem::new("optional_without_default", pointer, message));
        }
        missing.is_none()
    }
}

/// Whether a parameter may have no value at all.
pub(crate) fn may_be_absent(parameter: &Parameter) -> bool {
    !parameter.required && parameter.default.is_none()
}

/// Writes the operations of nodes.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    pub(crate) builder: &'a mut Builder,
    pub(crate) parameters: &'a [Parameter],
}

impl Writer<'_> {
    /// Writes an object.
    pub(crate) fn object(&mut self, members: &[(String, Node)]) {
        self.builder.raw("{");
        self.sequence(members.iter().map(|(name, node)| (Some(name.as_str()), node)));
        self.builder.raw("}");
    }

    fn sequence<'n>(&mut self, entries: impl Iterator<Item = (Option<&'n str>, &'n Node)>) {
        // Until something is written for certain, whether a comma is due depends on the values.
        let (mut certain, mut possible) = (false, false);
        for (name, node) in entries {
            let left_out = match node {
                Node::Whole(index) if self.parameters.get(*index).is_some_and(may_be_absent) => {
                    Some(index16(*index))
                }
                _ => None,
            };
            let begun = left_out.map(|parameter| self.builder.begin_optional(parameter));
            if certain {
                self.builder.raw(",");
            } else if possible {
                self.builder.push(Op::Separator);
            }
            if let Some(name) = name {
                let mut key = String::with_capacity(name.len() + 3);
                key.push('"');
                push_escaped(name, &mut key);
                key.push_str("\":");
                self.builder.raw(&key);
            }
            self.node(node);
            match begun {
                Some(begun) => self.builder.end_optional(begun),
                None => certain = true,
            }
            possible = true;
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Literal(value) => self.builder.raw(&literal_text(value)),
            Node::Whole(index) => self.builder.push(Op::Value(index16(*index))),
            Node::Text(pieces) => {
                self.builder.raw("\"");
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => {
                            let mut escaped = String::with_capacity(text.len());
                            push_escaped(text, &mut escaped);
                            self.builder.raw(&escaped);
                        }
                        Piece::Parameter(index) => self.builder.push(Op::Text(index16(*index))),
                    }
                }
                self.builder.raw("\"");
            }
            // Steps with a broken template are never written.
            Node::Broken => self.builder.raw("null"),
            Node::Array(items) => {
                self.builder.raw("[");
                self.sequence(items.iter().map(|item| (None, item)));
                self.builder.raw("]");
            }
            Node::Object(members) => self.object(members),
        }
    }
}

/// A parameter's index as operations hold it; there are at most 64.
pub(crate) fn index16(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

/// JSON text of a scalar.
pub(crate) fn literal_text(value: &Value) -> String {
    match value {
        Value::Number(number) => number_text(number),
        Value::String(text) => {
            let mut quoted = String::with_capacity(text.len() + 2);
            quoted.push('"');
            push_escaped(text, &mut quoted);
            quoted.push('"');
            quoted
        }
        other => other.to_string(),
    }
}
