//! Reading a skill from JSON: everything that is wrong is found in one pass.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::limits::PROBLEMS_MAX;
use crate::model::number;
use crate::model::rules::fault_problem;
use crate::model::skill::VERSION_DEFAULT;
use crate::model::{App, Kind, Parameter, ParameterType, Resource, Risk, Skill, Status, Step};

/// A skill read from JSON, with what was noticed on the way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The skill.
    pub skill: Skill,
    /// Things accepted with a warning (`unknown_field`, `description_too_long`, ...).
    pub warnings: Vec<Problem>,
}

/// Members that the place where a skill is kept decides, never the input.
const IGNORED: [&str; 4] = ["subscriptions", "source", "layer", "digest"];

impl Skill {
    /// Reads the canonical JSON form and checks it against every rule of [`problems`](Skill::problems).
    ///
    /// Unknown members are kept out with the warning `unknown_field`; `subscriptions`, `source`, `layer` and `digest` are
    /// kept out in silence. A member that is `null` counts as absent, except `allowed_tools`, whose absence would lift a
    /// restriction. Nothing is converted: a text where a list belongs is a problem. Linear in the value.
    ///
    /// # Errors
    /// Every problem at once: `missing_field`, `type_mismatch`, and the codes of the rules.
    pub fn from_json(value: &Value) -> Result<Reading, Vec<Problem>> {
        let Draft { skill, problems, mut warnings } = Self::draft_from_json(value);
        if problems.is_empty() {
            warnings.extend(skill.advice());
            Ok(Reading { skill, warnings })
        } else {
            Err(problems)
        }
    }

    /// Reads as much as can be read, for those who have more to say about it. What could not be read has a stand-in.
    pub(crate) fn draft_from_json(value: &Value) -> Draft {
        let Value::Object(members) = value else {
            let problem = mismatch(String::new(), value, "an object with the members of a skill");
            let skill = Self::new("", Kind::Knowledge, "", "");
            return Draft { skill, problems: vec![problem], warnings: Vec::new() };
        };
        let mut reader = Reader::default();
        let skill = reader.skill(&Members { members, at: "" });
        let mut problems = reader.problems.into_list();
        let told = problems.len();
        for problem in skill.problems() {
            // A member that could not be read has a stand-in value; its rules have nothing to add.
            if !problems[..told].iter().any(|known| is_within(&problem.field, &known.field)) {
                problems.push(problem);
            }
        }
        Draft { skill, problems, warnings: reader.warnings.into_list() }
    }
}

/// A skill that may be broken.
#[derive(Debug)]
pub(crate) struct Draft {
    /// What could be read.
    pub(crate) skill: Skill,
    /// What is wrong: first what could not be read, then the rules that the rest breaks.
    pub(crate) problems: Vec<Problem>,
    /// What was accepted with a warning.
    pub(crate) warnings: Vec<Problem>,
}

/// Whether a field is another one or a part of it; each a pointer, or the name of a member of the skill.
pub(crate) fn is_within(field: &str, around: &str) -> bool {
    let (field, around) = (field.trim_start_matches('/'), around.trim_start_matches('/'));
    let rest = field.strip_prefix(around);
    around.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Problems up to a limit, so that a hostile input does not grow a thousandfold; how many were left out is told.
#[derive(Debug, Default)]
struct Capped {
    list: Vec<Problem>,
    left_out: usize,
}

impl Capped {
    fn push(&mut self, problem: Problem) {
        if self.list.len() < PROBLEMS_MAX {
            self.list.push(problem);
        } else {
            self.left_out += 1;
        }
    }

    fn into_list(mut self) -> Vec<Problem> {
        if self.left_out > 0 {
            let message = format!("{} more of these are left out; correct the others first", self.left_out);
            let problem = Problem::new("too_many_problems", "", message);
            self.list.push(problem.allowed(format!("{PROBLEMS_MAX} are told")));
        }
        self.list
    }
}

/// An object with its JSON pointer; empty for the skill itself, whose fields are named without a pointer.
struct Members<'v> {
    members: &'v Map<String, Value>,
    at: &'v str,
}

impl<'v> Members<'v> {
    /// The member, unless it is absent or `null`.
    fn get(&self, key: &str) -> Option<&'v Value> {
        self.members.get(key).filter(|value| !value.is_null())
    }

    fn field(&self, key: &str) -> String {
        if self.at.is_empty() { key.to_owned() } else { format!("{}/{key}", self.at) }
    }
}

/// Collects problems while it reads; every method answers a stand-in where the input is wrong.
#[derive(Default)]
struct Reader {
    problems: Capped,
    warnings: Capped,
}

impl Reader {
    fn skill(&mut self, from: &Members<'_>) -> Skill {
        const KNOWN: [&str; 25] = [
            "id",
            "kind",
            "name",
            "description",
            "version",
            "tags",
            "aliases",
            "examples",
            "locale",
            "updated_at",
            "risk",
            "apps",
            "allowed_tools",
            "preapproved_tools",
            "success_criteria",
            "status",
            "license",
            "author",
            "compatibility",
            "metadata",
            "content",
            "parameters",
            "steps",
            "resources",
            "derived_from",
        ];
        self.unknown(from, &KNOWN, &IGNORED);
        Skill {
            id: self.required_text(from, "id"),
            kind: self.kind(from),
            name: self.required_text(from, "name"),
            description: self.required_text(from, "description"),
            version: self.text(from, "version").unwrap_or_else(|| VERSION_DEFAULT.to_owned()),
            tags: self.texts(from, "tags"),
            aliases: self.texts(from, "aliases"),
            examples: self.texts(from, "examples"),
            locale: self.text(from, "locale"),
            updated_at: self.text(from, "updated_at"),
            risk: self.risk(from),
            apps: self.objects(from, "apps", Self::app),
            allowed_tools: self.allowed_tools(from),
            preapproved_tools: self.texts(from, "preapproved_tools"),
            success_criteria: self.texts(from, "success_criteria"),
            status: self.status(from),
            license: self.text(from, "license"),
            author: self.text(from, "author"),
            compatibility: self.text(from, "compatibility"),
            metadata: self.metadata(from),
            content: self.text(from, "content").unwrap_or_default(),
            parameters: self.objects(from, "parameters", Self::parameter),
            steps: self.objects(from, "steps", Self::step),
            resources: self.objects(from, "resources", Self::resource),
            derived_from: self.texts(from, "derived_from"),
        }
    }

    fn parameter(&mut self, from: &Members<'_>) -> Parameter {
        const KNOWN: [&str; 13] = [
            "name",
            "type",
            "required",
            "description",
            "default",
            "enum",
            "pattern",
            "minimum",
            "maximum",
            "min_length",
            "max_length",
            "secret",
            "examples",
        ];
        self.unknown(from, &KNOWN, &[]);
        let names = "string, integer, number or boolean";
        let choices = from.get("enum").is_some().then(|| self.values(from, "enum"));
        Parameter {
            name: self.required_text(from, "name"),
            kind: self
                .word(from, "type", ParameterType::from_name, names, true)
                .unwrap_or(ParameterType::String),
            required: self.flag(from, "required").unwrap_or(true),
            description: self.text(from, "description").unwrap_or_default(),
            default: from.get("default").map(|value| self.any(value, || from.field("default"))),
            choices,
            pattern: self.text(from, "pattern"),
            minimum: self.double(from, "minimum"),
            maximum: self.double(from, "maximum"),
            min_length: self.length(from, "min_length"),
            max_length: self.length(from, "max_length"),
            secret: self.flag(from, "secret").unwrap_or(false),
            examples: self.values(from, "examples"),
        }
    }

    fn step(&mut self, from: &Members<'_>) -> Step {
        self.unknown(from, &["tool", "args_template", "note", "optional"], &[]);
        Step {
            tool: self.required_text(from, "tool"),
            args_template: self.object(from, "args_template", true),
            note: self.text(from, "note"),
            optional: self.flag(from, "optional").unwrap_or(false),
        }
    }

    fn app(&mut self, from: &Members<'_>) -> App {
        self.unknown(from, &["package", "min_version_code", "max_version_code"], &[]);
        App {
            package: self.required_text(from, "package"),
            min_version_code: self.whole(from, "min_version_code"),
            max_version_code: self.whole(from, "max_version_code"),
        }
    }

    fn resource(&mut self, from: &Members<'_>) -> Resource {
        self.unknown(from, &["path", "sha256", "bytes", "media_type"], &[]);
        if from.get("bytes").is_none() {
            self.missing(from, "bytes");
        }
        Resource {
            path: self.required_text(from, "path"),
            sha256: self.required_text(from, "sha256"),
            bytes: self.whole(from, "bytes").unwrap_or(0),
            media_type: self.required_text(from, "media_type"),
        }
    }

    /// The kind; where it is missing, the one that the other members speak for, so that their rules are still told.
    fn kind(&mut self, from: &Members<'_>) -> Kind {
        let guess = if from.members.contains_key("steps") { Kind::FlowTemplate } else { Kind::Knowledge };
        self.word(from, "kind", Kind::from_name, "knowledge or flow_template", true).unwrap_or(guess)
    }

    fn risk(&mut self, from: &Members<'_>) -> Option<Risk> {
        let value = from.get("risk")?;
        let risk = value.as_str().and_then(Risk::from_name);
        if risk.is_none() {
            let problem = Problem::new("invalid_risk", from.field("risk"), "the risk is none of the three");
            self.problems.push(problem.got(shown(value)).allowed("low, medium or high"));
        }
        risk
    }

    /// `active`, or an object with `state`.
    fn status(&mut self, from: &Members<'_>) -> Status {
        let Some(value) = from.get("status") else { return Status::Active };
        let allowed = "active, or {\"state\":\"deprecated\",\"reason\":...}";
        if value == "active" {
            return Status::Active;
        }
        let Value::Object(members) = value else {
            self.problems.push(mismatch(from.field("status"), value, allowed));
            return Status::Active;
        };
        let from = Members { members, at: "/status" };
        self.unknown(&from, &["state", "reason", "replaced_by"], &[]);
        match from.get("state").and_then(Value::as_str) {
            Some("active") => Status::Active,
            Some("deprecated") => Status::Deprecated {
                reason: self.required_text(&from, "reason"),
                replaced_by: self.text(&from, "replaced_by"),
            },
            _ => {
                let problem =
                    Problem::new("invalid_value", "/status/state", "the state is unknown or missing");
                self.problems
                    .push(problem.got(members.get("state").map_or_else(String::new, shown)).allowed(allowed));
                Status::Active
            }
        }
    }

    /// The allowlist. `null` is refused: whether it means "nothing" or "anything" must be written down.
    fn allowed_tools(&mut self, from: &Members<'_>) -> Option<Vec<String>> {
        let value = from.members.get("allowed_tools")?;
        if value.is_null() {
            let allowed = "a list; [] allows nothing; leave the member out for no restriction";
            self.problems.push(mismatch(from.field("allowed_tools"), value, allowed));
        }
        Some(self.texts(from, "allowed_tools"))
    }

    fn metadata(&mut self, from: &Members<'_>) -> BTreeMap<String, Value> {
        self.object(from, "metadata", false).into_iter().collect()
    }
}

/// Readers of single members.
impl Reader {
    fn unknown(&mut self, from: &Members<'_>, known: &[&str], ignored: &[&str]) {
        for key in from.members.keys() {
            if !known.contains(&key.as_str()) && !ignored.contains(&key.as_str()) {
                let message = "this member is unknown and is left out; use metadata for what is your own";
                self.warnings.push(Problem::new("unknown_field", from.field(key), message));
            }
        }
    }

    fn missing(&mut self, from: &Members<'_>, key: &str) {
        let message = format!("{key} is missing; add it");
        self.problems.push(Problem::new("missing_field", from.field(key), message));
    }

    fn text(&mut self, from: &Members<'_>, key: &str) -> Option<String> {
        let value = from.get(key)?;
        Some(self.text_value(value, || from.field(key)))
    }

    fn text_value(&mut self, value: &Value, field: impl Fn() -> String) -> String {
        if let Value::String(text) = value {
            return text.clone();
        }
        self.problems.push(mismatch(field(), value, "a string"));
        String::new()
    }

    fn required_text(&mut self, from: &Members<'_>, key: &str) -> String {
        self.text(from, key).unwrap_or_else(|| {
            self.missing(from, key);
            String::new()
        })
    }

    /// One of a few words.
    fn word<T>(
        &mut self,
        from: &Members<'_>,
        key: &str,
        parse: fn(&str) -> Option<T>,
        allowed: &str,
        required: bool,
    ) -> Option<T> {
        let Some(value) = from.get(key) else {
            if required {
                self.missing(from, key);
            }
            return None;
        };
        let word = value.as_str().and_then(parse);
        if word.is_none() {
            let problem =
                Problem::new("invalid_value", from.field(key), format!("{key} is none of the known words"));
            self.problems.push(problem.got(shown(value)).allowed(allowed));
        }
        word
    }

    fn flag(&mut self, from: &Members<'_>, key: &str) -> Option<bool> {
        let value = from.get(key)?;
        if value.as_bool().is_none() {
            self.problems.push(mismatch(from.field(key), value, "true or false"));
        }
        value.as_bool()
    }

    fn double(&mut self, from: &Members<'_>, key: &str) -> Option<f64> {
        let value = from.get(key)?;
        let double = match value {
            Value::Number(number) => number::tidy_number(number).and_then(|number| number.as_f64()),
            _ => None,
        };
        if double.is_none() {
            self.problems.push(mismatch(from.field(key), value, "a number that a double holds"));
        }
        double
    }

    fn whole(&mut self, from: &Members<'_>, key: &str) -> Option<u64> {
        let value = from.get(key)?;
        let whole = match value {
            Value::Number(number) => number::tidy_number(number).and_then(|number| number.as_u64()),
            _ => None,
        };
        if whole.is_none() {
            self.problems.push(mismatch(from.field(key), value, "a whole number from 0"));
        }
        whole
    }

    fn length(&mut self, from: &Members<'_>, key: &str) -> Option<u32> {
        let whole = self.whole(from, key)?;
        let length = u32::try_from(whole).ok();
        if length.is_none() {
            let message = format!("{key} is beyond 32 bits");
            self.problems.push(Problem::new("out_of_range", from.field(key), message).got(whole));
        }
        length
    }

    /// The items of a list; none where it is absent or no list.
    fn items<'v>(&mut self, from: &Members<'v>, key: &str, allowed: &str) -> &'v [Value] {
        match from.get(key) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(other) => {
                self.problems.push(mismatch(from.field(key), other, allowed));
                &[]
            }
        }
    }

    fn texts(&mut self, from: &Members<'_>, key: &str) -> Vec<String> {
        let items = self.items(from, key, "a list of strings");
        let pointer = |index| format!("{}/{key}/{index}", from.at);
        items.iter().enumerate().map(|(index, item)| self.text_value(item, || pointer(index))).collect()
    }

    fn values(&mut self, from: &Members<'_>, key: &str) -> Vec<Value> {
        let items = self.items(from, key, "a list of values");
        let pointer = |index| format!("{}/{key}/{index}", from.at);
        items.iter().enumerate().map(|(index, item)| self.any(item, || pointer(index))).collect()
    }

    fn objects<T>(
        &mut self,
        from: &Members<'_>,
        key: &str,
        read: fn(&mut Self, &Members<'_>) -> T,
    ) -> Vec<T> {
        let mut out = Vec::new();
        for (index, item) in self.items(from, key, "a list of objects").iter().enumerate() {
            let at = format!("{}/{key}/{index}", from.at);
            match item {
                Value::Object(members) => out.push(read(self, &Members { members, at: &at })),
                other => {
                    // The items after it keep their numbers.
                    out.push(read(&mut Self::default(), &Members { members: &Map::new(), at: &at }));
                    self.problems.push(mismatch(at, other, "an object"));
                }
            }
        }
        out
    }

    fn object(&mut self, from: &Members<'_>, key: &str, required: bool) -> Map<String, Value> {
        match from.get(key) {
            Some(Value::Object(members)) => match number::tidy_object(members) {
                Ok(members) => return members,
                Err(fault) => self.problems.push(fault_problem(fault, from.field(key), number::DEPTH_MAX)),
            },
            Some(other) => self.problems.push(mismatch(from.field(key), other, "an object")),
            None if required => self.missing(from, key),
            None => {}
        }
        Map::new()
    }

    /// Any JSON value, in the form that canonical JSON reads back.
    fn any(&mut self, value: &Value, field: impl Fn() -> String) -> Value {
        number::tidy(value).unwrap_or_else(|fault| {
            self.problems.push(fault_problem(fault, field(), number::DEPTH_MAX));
            Value::Null
        })
    }
}

/// A value of the wrong type.
fn mismatch(field: String, got: &Value, allowed: &str) -> Problem {
    Problem::new("type_mismatch", field, "the value has the wrong type").got(shown(got)).allowed(allowed)
}

/// A value for a message: scalars as they are, containers by name only, since they can be huge and deep.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => text.clone(),
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
