//! One tool call: names of tool and arguments made canonical, then checked in full.

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::tools::constraint::Presence;
use crate::tools::schema::{check_value, equal, push_member};
use crate::tools::{Resolved, ToolRegistry, ToolSpec};

/// A checked call: canonical names, fixed arguments merged, every rule of the tool kept.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// Place of the tool in the table.
    pub ordinal: usize,
    /// The arguments under their canonical names.
    pub args: Map<String, Value>,
}

impl ToolRegistry {
    /// Makes a call canonical and checks it: tool name, argument names, types and values, rules between arguments.
    ///
    /// # Errors
    /// Every problem; the fields are pointers into the arguments (`/timeout_ms`).
    pub fn check_call(&self, name: &str, args: &Map<String, Value>) -> Result<Call<'_>, Vec<Problem>> {
        let resolved = self.require(name, "").map_err(|problem| vec![*problem])?;
        let (args, mut problems) = canonical_args(&resolved, args, "");
        let args = Value::Object(args);
        problems.extend(check_value(&resolved.spec.parameters, &args, ""));
        let Value::Object(args) = args else { return Err(problems) };
        problems.extend(check_rules(resolved.spec, &args, ""));
        if problems.is_empty() {
            Ok(Call { spec: resolved.spec, ordinal: resolved.ordinal, args })
        } else {
            Err(problems)
        }
    }
}

/// Arguments under their canonical names with the fixed ones of the tool's name merged in, and what contradicts.
pub(crate) fn canonical_args(
    resolved: &Resolved<'_>,
    args: &Map<String, Value>,
    pointer: &str,
) -> (Map<String, Value>, Vec<Problem>) {
    let spec = resolved.spec;
    let mut problems = Vec::new();
    let mut canonical = Map::new();
    let place = |name: &str| {
        let mut place = pointer.to_owned();
        push_member(&mut place, name);
        place
    };
    for (name, value) in args {
        let wanted = spec.argument_name(name);
        match canonical.get(wanted) {
            Some(other) if !equal(other, value) => {
                let message = format!("{wanted:?} is given twice, under two names, with different values");
                problems.push(Problem::new("argument_conflict", place(name), message).got(value));
            }
            Some(_) => {}
            None => {
                canonical.insert(wanted.to_owned(), value.clone());
            }
        }
    }
    for (name, value) in resolved.fixed {
        match canonical.get(name) {
            Some(other) if !equal(other, value) => {
                let message =
                    "the tool's name fixes this argument; leave it out, or use the tool's canonical name";
                let problem = Problem::new("argument_conflict", place(name), message);
                problems.push(problem.got(other).allowed(value.to_string()));
            }
            Some(_) => {}
            None => {
                canonical.insert(name.clone(), value.clone());
            }
        }
    }
    (canonical, problems)
}

/// The rules between arguments that a complete call breaks.
pub(crate) fn check_rules(spec: &ToolSpec, args: &Map<String, Value>, pointer: &str) -> Vec<Problem> {
    let presence = |name: &str| if args.contains_key(name) { Presence::Present } else { Presence::Absent };
    let number = |name: &str| args.get(name).or_else(|| default_of(spec, name))?.as_f64();
    spec.constraints.iter().filter_map(|rule| rule.broken(presence, number, pointer)).collect()
}

/// The value that an argument has when it is not given.
pub(crate) fn default_of<'a>(spec: &'a ToolSpec, name: &str) -> Option<&'a Value> {
    spec.argument(name)?.get("default")
}
