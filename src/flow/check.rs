//! One step against its tool: everything that can be known before there are values.

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::model::Parameter;
use crate::tools::schema::push_member;
use crate::tools::{Constraint, Presence, ToolSpec, check_value, default_of};

use super::fit::{Proof, prove, type_of, witness};
use super::node::{Node, Piece, index16, may_be_absent};
use super::program::Guard;

/// What is known about a step.
#[derive(Debug, Default)]
pub(crate) struct StepCheck {
    /// What is wrong for certain.
    pub(crate) problems: Vec<Problem>,
    /// Cheap tests of single values.
    pub(crate) guards: Vec<Guard>,
    /// The resolved step has to be checked in full.
    pub(crate) recheck: bool,
}

/// Checks a step's arguments (canonical names); `pointer` is the place of `args_template`.
pub(crate) fn check_step(
    spec: &ToolSpec,
    arguments: &[(String, Node)],
    parameters: &[Parameter],
    pointer: &str,
) -> StepCheck {
    let mut walk = Walk { parameters, open: Vec::new(), check: StepCheck::default() };
    let mut members = Map::new();
    for (name, node) in arguments {
        let mut place = pointer.to_owned();
        push_member(&mut place, name);
        let value = walk.value(node, spec.argument(name), &mut place);
        members.insert(name.clone(), value);
        walk.prove(node, spec.argument(name));
    }
    let Walk { open, mut check, .. } = walk;
    // The stand-in values of placeholders are judged by `witness`; here only what stands beside them counts.
    let stands_in = |problem: &Problem| {
        open.iter().any(|place| {
            problem
                .field
                .strip_prefix(place.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let found = check_value(&spec.parameters, &Value::Object(members), pointer);
    check.problems.extend(
        found.into_iter().filter(|problem| problem.code == "unknown_argument" || !stands_in(problem)),
    );
    check_presence(spec, arguments, parameters, pointer, &mut check);
    check
}

struct Walk<'a> {
    parameters: &'a [Parameter],
    /// Pointers of strings with placeholders.
    open: Vec<String>,
    check: StepCheck,
}

impl Walk<'_> {
    /// A complete value with a stand-in for each placeholder.
    fn value(&mut self, node: &Node, schema: Option<&Value>, pointer: &mut String) -> Value {
        let end = pointer.len();
        match node {
            Node::Literal(value) => value.clone(),
            Node::Broken => {
                self.open.push(pointer.clone());
                Value::Null
            }
            Node::Whole(index) => {
                self.open.push(pointer.clone());
                self.stand_in(*index, schema, pointer)
            }
            Node::Text(pieces) => {
                self.open.push(pointer.clone());
                self.text(pieces, schema, pointer)
            }
            Node::Array(items) => {
                let each = schema.and_then(|schema| schema.get("items"));
                let mut values = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    push_member(pointer, &index.to_string());
                    values.push(self.value(item, each, pointer));
                    pointer.truncate(end);
                }
                Value::Array(values)
            }
            Node::Object(members) => {
                let mut values = Map::new();
                for (name, member) in members {
                    let known = schema.and_then(|schema| {
                        schema
                            .get("properties")
                            .and_then(|all| all.get(name))
                            .or(schema.get("additionalProperties"))
                    });
                    push_member(pointer, name);
                    values.insert(name.clone(), self.value(member, known, pointer));
                    pointer.truncate(end);
                }
                Value::Object(values)
            }
        }
    }

    /// A value for a placeholder that stands alone; reports a parameter that can never fit.
    fn stand_in(&mut self, index: usize, schema: Option<&Value>, pointer: &str) -> Value {
        let Some(parameter) = self.parameters.get(index) else { return Value::Null };
        let anything = Value::Bool(true);
        let schema = schema.unwrap_or(&anything);
        if let Some(default) = &parameter.default {
            let refused = check_value(schema, default, pointer);
            self.check.problems.extend(refused.into_iter().map(|mut problem| {
                problem.message =
                    format!("the default of {:?} is refused: {}", parameter.name, problem.message);
                problem
            }));
        }
        witness(schema, parameter).unwrap_or_else(|()| {
            let message = format!(
                "no value of the {} parameter {:?} satisfies the tool's schema",
                type_of(parameter),
                parameter.name
            );
            let allowed: Value = match schema {
                Value::Object(members) => members
                    .iter()
                    .filter(|(name, _)| *name != "description")
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect(),
                other => other.clone(),
            };
            let problem = Problem::new("placeholder_mismatch", pointer, message);
            self.check.problems.push(problem.allowed(allowed.to_string()));
            Value::Null
        })
    }

    /// Text with placeholders is a string, whatever the values are.
    fn text(&mut self, pieces: &[Piece], schema: Option<&Value>, pointer: &str) -> Value {
        let text: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Parameter(_) => "a",
            })
            .collect();
        let value = Value::String(text);
        if let Some(schema) = schema {
            // Of the keywords for strings a value may still satisfy any; a wrong type no value can mend.
            let wrong = check_value(schema, &value, pointer)
                .into_iter()
                .filter(|problem| problem.code == "wrong_type");
            self.check.problems.extend(wrong);
        }
        value
    }

    /// Decides what has to be checked once there are values.
    fn prove(&mut self, node: &Node, schema: Option<&Value>) {
        let anything = Value::Bool(true);
        let schema = schema.unwrap_or(&anything);
        match node {
            Node::Literal(_) => {}
            Node::Whole(index) => match self.parameters.get(*index).map(|parameter| prove(schema, parameter))
            {
                Some(Proof::Always) => {}
                Some(Proof::Between { least, most }) => {
                    self.check.guards.push(Guard { parameter: index16(*index), least, most });
                }
                Some(Proof::Unknown) | None => self.check.recheck = true,
            },
            Node::Text(pieces) => {
                let literal = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => text.chars().count() as u64,
                    Piece::Parameter(_) => 0,
                });
                let sure = literal.sum::<u64>();
                self.check.recheck |= !text_always_fits(schema, sure);
            }
            Node::Array(_) | Node::Object(_) => self.check.recheck |= has_placeholder(node),
            Node::Broken => self.check.recheck = true,
        }
    }
}

/// Whether any string with at least so many characters fits.
fn text_always_fits(schema: &Value, characters: u64) -> bool {
    let Value::Object(members) = schema else { return schema == &Value::Bool(true) };
    members.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" => value == "string",
        "minLength" => value.as_u64().is_some_and(|least| least <= characters),
        "description" | "default" | "title" | "examples" => true,
        _ => false,
    })
}

fn has_placeholder(node: &Node) -> bool {
    match node {
        Node::Literal(_) => false,
        Node::Whole(_) | Node::Text(_) | Node::Broken => true,
        Node::Array(items) => items.iter().any(has_placeholder),
        Node::Object(members) => members.iter().any(|(_, member)| has_placeholder(member)),
    }
}

/// Rules between arguments, and required arguments that may be left out.
fn check_presence(
    spec: &ToolSpec,
    arguments: &[(String, Node)],
    parameters: &[Parameter],
    pointer: &str,
    check: &mut StepCheck,
) {
    let node = |name: &str| arguments.iter().find(|(known, _)| known == name).map(|(_, node)| node);
    let presence = |name: &str| match node(name) {
        None => Presence::Absent,
        Some(Node::Whole(index)) if parameters.get(*index).is_some_and(may_be_absent) => Presence::Maybe,
        Some(_) => Presence::Present,
    };
    let number = |name: &str| match node(name) {
        None => default_of(spec, name)?.as_f64(),
        Some(Node::Literal(value)) => value.as_f64(),
        Some(_) => None,
    };
    let required = spec.parameters.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| presence(name) == Presence::Maybe) {
        let mut place = pointer.to_owned();
        push_member(&mut place, name);
        let message = "the tool requires this argument, but its parameter is optional and has no default";
        check.problems.push(Problem::new("optional_without_default", place, message));
    }
    for rule in &spec.constraints {
        check.problems.extend(rule.broken(presence, number, pointer));
        let open = rule.arguments().any(|name| presence(name) == Presence::Maybe);
        let moving = matches!(rule, Constraint::NotAbove { .. })
            && rule.arguments().any(|name| node(name).is_some_and(|node| !matches!(node, Node::Literal(_))));
        check.recheck |= open || moving;
    }
}
