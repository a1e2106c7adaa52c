//! `TouchPilot` workflow v1: a JSON file of tool calls whose arguments are all strings.
//!
//! Strings that parse exactly become the type that the tool's schema wants; a parameter that stands for a whole
//! argument takes that argument's type. What replay needed and a flow template has no field for (expected states,
//! policy hints, step ids) is kept in the metadata.

use serde_json::{Map, Value, json};

use crate::error::Problem;
use crate::import::identity::one_line;
use crate::import::json::Draft;
use crate::limits::{PARAMETERS_MAX, STEPS_MAX};
use crate::model::{App, Kind, Parameter, ParameterType, Risk, Skill, Step, is_within};
use crate::tools::{Resolved, ToolRegistry};

/// The only schema version there is.
const VERSION: u64 = 1;

/// Whether a JSON value is meant as a workflow: `steps` with `tool`, and no `kind` as ours have.
///
/// A `version` that is a number says so alone. One of another type is a mistake to be told, and nobody's but an author's
/// of workflows, where the other members are those of a workflow.
pub(crate) fn is_workflow(value: &Value) -> bool {
    let has_tool = |step: &Value| step.get("tool").is_some_and(Value::is_string);
    let has = |name: &str| value.get(name).is_some();
    let step_has = |name: &str| items(value, "steps").any(|step| step.get(name).is_some());
    let ours = has("name") || step_has("args_template");
    let theirs = has("title") || has("skill_scope") || step_has("args") || step_has("expected_state");
    !has("kind")
        && items(value, "steps").any(has_tool)
        && (value.get("version").is_some_and(Value::is_number) || (theirs && !ours))
}

/// Where a field of the skill stands in a workflow.
pub(crate) fn field_in_text(field: &str, skill: &Skill) -> String {
    let mut path = field.trim_start_matches('/').split('/');
    let rest = |from: &str| field.trim_start_matches('/').strip_prefix(from).unwrap_or_default().to_owned();
    match (path.next().unwrap_or_default(), path.next(), path.next()) {
        ("name", ..) => "title".to_owned(),
        ("apps", ..) => "expected_foreground_package".to_owned(),
        ("allowed_tools", ..) => format!("/skill_scope/allowed_tools{}", rest("allowed_tools")),
        ("success_criteria", ..) => format!("/steps/{}/expected_state", skill.steps.len().saturating_sub(1)),
        ("metadata", ..) => "steps".to_owned(),
        ("steps", Some(index), Some("note")) => format!("/steps/{index}/description"),
        ("steps", Some(index), Some("args_template")) => {
            format!("/steps/{index}/args{}", rest(&format!("steps/{index}/args_template")))
        }
        _ => field.to_owned(),
    }
}

/// Reads a workflow as far as it can be read; every problem is named by a JSON pointer.
pub(crate) fn read(value: &Value, registry: &ToolRegistry) -> Draft {
    let mut reader = Reader { problems: Vec::new(), warnings: Vec::new(), registry };
    let mut skill = reader.skill(value);
    let told = reader.problems.len();
    for problem in skill.problems() {
        if !reader.problems[..told].iter().any(|known| is_within(&problem.field, &known.field)) {
            reader.problems.push(problem);
        }
    }
    let id = (!skill.id.is_empty()).then(|| skill.id.clone());
    if reader.problems.is_empty() {
        if skill.description.is_empty() {
            skill.description.clone_from(&skill.name);
        }
        reader.warnings.extend(skill.advice());
    }
    Draft { id, skill, problems: reader.problems, warnings: reader.warnings }
}

struct Reader<'r> {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    registry: &'r ToolRegistry,
}

impl Reader<'_> {
    fn skill(&mut self, value: &Value) -> Skill {
        if value["version"].as_u64() != Some(VERSION) {
            let problem =
                Problem::new("unsupported_version", "version", "this workflow version is not known");
            self.problems.push(problem.got(&value["version"]).allowed(VERSION.to_string()));
        }
        for (list, max) in [("parameters", PARAMETERS_MAX), ("steps", STEPS_MAX)] {
            self.expect(value.get(list), list, "a list", Value::is_array);
            let count = items(value, list).count();
            if count > max {
                let problem = Problem::new("too_many", list, "the list is too long; remove entries");
                self.problems.push(problem.got(count).allowed(format!("at most {max}")));
            }
        }
        let id = self.required(value, "id");
        let name = one_line(&self.required(value, "title"));
        let description = text(value, "description").unwrap_or_else(|| name.clone());
        let mut skill = Skill::new(id, Kind::FlowTemplate, name, description);
        skill.parameters = self.parameters(value);
        let mut states = Map::new();
        for (index, step) in items(value, "steps").take(STEPS_MAX).enumerate() {
            let read = self.step(step, index, &mut skill.parameters, &mut states);
            skill.steps.push(read);
        }
        if let Some(last) = items(value, "steps").last() {
            skill.success_criteria = criteria(&last["expected_state"]);
        }
        let asks = |step: &Value| step["policy"]["requires_approval"] == json!(true);
        skill.risk = items(value, "steps").any(asks).then_some(Risk::High);
        skill.apps = text(value, "expected_foreground_package").map(App::new).into_iter().collect();
        self.scope(value, &mut skill);
        if !states.is_empty() {
            skill.metadata.insert("workflow_steps".to_owned(), Value::Object(states));
        }
        self.unknown(value);
        skill
    }

    fn required(&mut self, value: &Value, field: &str) -> String {
        text(value, field).unwrap_or_else(|| {
            let message = format!("a workflow needs a text `{field}`");
            self.problems.push(Problem::new("missing_field", field, message));
            String::new()
        })
    }

    fn parameters(&mut self, value: &Value) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for (index, given) in items(value, "parameters").take(PARAMETERS_MAX).enumerate() {
            let at = |key: &str| format!("/parameters/{index}/{key}");
            // One without a name stays as a stand-in, so that those after it keep their numbers.
            let name = text(given, "name").unwrap_or_else(|| {
                self.problems.push(Problem::new("missing_field", at("name"), "a parameter needs a name"));
                String::new()
            });
            let mut parameter = Parameter::new(name, ParameterType::String);
            self.expect(given.get("required"), &at("required"), "true or false", Value::is_boolean);
            parameter.required = given["required"] == json!(true);
            parameter.description = text(given, "description").unwrap_or_default();
            parameter.default = self.default(&given["default"], at("default"));
            parameters.push(parameter);
        }
        parameters
    }

    /// A default is a text; what stands for one becomes one.
    fn default(&mut self, given: &Value, field: String) -> Option<Value> {
        match given {
            Value::Null => None,
            Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(Value::from),
            Value::Number(_) | Value::Bool(_) => {
                let message = "the defaults of a workflow are texts; it was read as one: put it in quotes";
                self.warnings.push(Problem::new("type_coerced", field, message).got(given));
                Some(Value::String(given.to_string()))
            }
            _ => {
                self.expect(Some(given), &field, "a text", Value::is_string);
                None
            }
        }
    }

    /// Names a member that has another type than it must have; one that is absent or `null` is none.
    fn expect(&mut self, value: Option<&Value>, field: &str, allowed: &str, fits: fn(&Value) -> bool) {
        if value.is_some_and(|value| !value.is_null() && !fits(value)) {
            let problem = Problem::new("type_mismatch", field, "the value has the wrong type");
            self.problems.push(problem.allowed(allowed));
        }
    }

    fn step(
        &mut self,
        step: &Value,
        index: usize,
        parameters: &mut [Parameter],
        states: &mut Map<String, Value>,
    ) -> Step {
        let tool = text(step, "tool").unwrap_or_else(|| {
            let problem =
                Problem::new("missing_field", format!("/steps/{index}/tool"), "a step needs a tool");
            self.problems.push(problem);
            String::new()
        });
        self.expect(
            step.get("args"),
            &format!("/steps/{index}/args_template"),
            "an object",
            Value::is_object,
        );
        let resolved = self.registry.resolve(&tool);
        let mut args = Map::new();
        if let Some(given) = step["args"].as_object() {
            for (key, value) in given {
                args.insert(key.clone(), argument(value, key, resolved, parameters));
            }
        }
        let mut state = Map::new();
        for key in ["expected_state", "policy"] {
            if !step[key].is_null() {
                state.insert(key.to_owned(), step[key].clone());
            }
        }
        if !state.is_empty() {
            let id = text(step, "id").unwrap_or_else(|| index.to_string());
            states.insert(id, Value::Object(state));
        }
        let mut read = Step::new(tool, args);
        read.note = text(step, "description");
        read
    }

    /// The tools that the workflow was scoped to stay an enforced allowlist.
    fn scope(&mut self, value: &Value, skill: &mut Skill) {
        let scope = &value["skill_scope"];
        if let Some(tools) = scope["allowed_tools"].as_array() {
            let names = tools.iter().filter_map(|tool| tool.as_str().map(str::to_owned)).collect::<Vec<_>>();
            if names.len() != tools.len() {
                let message = "every allowed tool must be a text; correct the list";
                self.problems.push(Problem::new("type_mismatch", "/skill_scope/allowed_tools", message));
            }
            skill.allowed_tools = Some(names);
        } else if !scope["allowed_tools"].is_null() {
            let message = "allowed_tools must be a list; correct it";
            self.problems.push(Problem::new("type_mismatch", "/skill_scope/allowed_tools", message));
        }
        if let Some(id) = text(scope, "skill_id") {
            skill.metadata.insert("workflow_skill".to_owned(), Value::String(id));
        }
    }

    fn unknown(&mut self, value: &Value) {
        const KNOWN: [&str; 8] = [
            "version",
            "id",
            "title",
            "description",
            "parameters",
            "steps",
            "skill_scope",
            "expected_foreground_package",
        ];
        for key in
            value.as_object().into_iter().flat_map(Map::keys).filter(|key| !KNOWN.contains(&key.as_str()))
        {
            let message = "a workflow has no such field; it was left out";
            self.warnings.push(Problem::new("unknown_field", key, message));
        }
    }
}

/// One argument as the tool's schema wants it. A text that is one placeholder types its parameter.
fn argument(value: &Value, key: &str, tool: Option<Resolved<'_>>, parameters: &mut [Parameter]) -> Value {
    let wanted = tool.and_then(|tool| tool.spec.argument(key)).and_then(|schema| schema["type"].as_str());
    let Value::String(text) = value else { return value.clone() };
    if let Some(name) = placeholder(text) {
        if let Some(parameter) = parameters.iter_mut().find(|parameter| parameter.name == name) {
            retype(parameter, wanted);
        }
        return value.clone();
    }
    exact(text, wanted).unwrap_or_else(|| Value::String(escape(text, parameters)))
}

/// The name in a text that is exactly one placeholder.
fn placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    let word = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (word && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(name)
}

/// A text as integer, number or boolean, where it is written exactly so.
pub(crate) fn exact(text: &str, wanted: Option<&str>) -> Option<Value> {
    match wanted? {
        "integer" => text.parse::<i64>().ok().filter(|n| n.to_string() == text).map(Value::from),
        "number" => {
            text.parse::<f64>().ok().filter(|n| n.is_finite()).and_then(|_| serde_json::from_str(text).ok())
        }
        "boolean" => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    }
}

/// Gives a string parameter the type of the argument that it fills, if its default allows it.
pub(crate) fn retype(parameter: &mut Parameter, wanted: Option<&str>) {
    let kind = match wanted {
        Some("integer") => ParameterType::Integer,
        Some("number") => ParameterType::Number,
        Some("boolean") => ParameterType::Boolean,
        _ => return,
    };
    match parameter.default.as_ref().and_then(Value::as_str).map(|text| exact(text, wanted)) {
        Some(None) => return,
        Some(Some(value)) => parameter.default = Some(value),
        None => {}
    }
    parameter.kind = kind;
}

/// Doubles every brace that is no placeholder of a declared parameter, since the workflow took it as it is.
fn escape(text: &str, parameters: &[Parameter]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let declared = rest
            .find('}')
            .map(|end| &rest[..=end])
            .filter(|slot| placeholder(slot).is_some_and(|name| parameters.iter().any(|p| p.name == name)));
        let slot = declared.unwrap_or(&rest[..1]);
        out.push_str(slot);
        if declared.is_none() {
            out.push_str(slot);
        }
        rest = &rest[slot.len()..];
    }
    out.push_str(rest);
    out
}

/// What the screen shows at the end, in words.
fn criteria(state: &Value) -> Vec<String> {
    let shown = items(state, "screen_text_contains").filter_map(Value::as_str);
    let mut criteria: Vec<String> = Vec::new();
    criteria.extend(
        text(state, "package_name").map(|package| format!("The app in the foreground is {package}.")),
    );
    criteria.extend(text(state, "window_title").map(|title| format!("The window is called \"{title}\".")));
    criteria.extend(shown.map(|text| format!("The screen shows \"{text}\".")));
    criteria
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn items<'v>(value: &'v Value, field: &str) -> impl DoubleEndedIterator<Item = &'v Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow() -> Value {
        json!({
            "version": 1, "id": "wait", "title": "Wait", "description": "Waits for a while.",
            "parameters": [{"name": "ms", "default": "500"}, {"name": "who", "required": true}],
            "skill_scope": {"skill_id": "settings", "allowed_tools": ["wait_for_idle", "type_text"]},
            "expected_foreground_package": "com.android.settings",
            "steps": [
                {"id": "a", "tool": "wait_for_idle", "args": {"stable_ms": "1000", "timeout_ms": "{ms}"}, "description": "Wait."},
                {"id": "b", "tool": "type_text", "args": {"text": "Hi {who}, {no} {"},
                 "expected_state": {"screen_text_contains": ["Hi"]}, "policy": {"requires_approval": true}}
            ]
        })
    }

    #[test]
    fn a_workflow_becomes_a_flow_template() {
        let draft = read(&workflow(), &ToolRegistry::builtin());
        assert_eq!(draft.problems, vec![]);
        let skill = draft.skill;
        assert_eq!(
            skill.steps[0].args_template,
            *json!({"stable_ms": 1000, "timeout_ms": "{ms}"}).as_object().expect("map")
        );
        assert_eq!(skill.steps[1].args_template["text"], "Hi {who}, {{no}} {{");
        assert_eq!(
            (skill.parameters[0].kind, skill.parameters[0].default.clone()),
            (ParameterType::Integer, Some(json!(500)))
        );
        assert!(!skill.parameters[0].required && skill.parameters[1].required);
        assert_eq!(
            skill.allowed_tools.as_deref(),
            Some(&["wait_for_idle".to_owned(), "type_text".to_owned()][..])
        );
        assert_eq!(skill.success_criteria, ["The screen shows \"Hi\"."]);
        assert_eq!(skill.risk, Some(Risk::High));
        assert_eq!(skill.apps[0].package, "com.android.settings");
        assert!(skill.metadata.contains_key("workflow_steps"));
    }

    #[test]
    fn every_problem_of_a_workflow_is_named() {
        let value = json!({"version": 2, "steps": [{"tool": "tap"}, {"args": {}}], "parameters": [{}]});
        assert!(is_workflow(&value));
        let problems = read(&value, &ToolRegistry::builtin()).problems;
        let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        for field in ["version", "id", "title", "/parameters/0/name", "/steps/1/tool"] {
            assert!(fields.contains(&field), "{field}: {fields:?}");
        }
    }

    #[test]
    fn a_version_of_another_type_is_a_mistake_and_not_another_format() {
        let mut value = workflow();
        for version in [json!("1"), json!(null), json!([1]), json!(2)] {
            value["version"] = version;
            assert!(is_workflow(&value), "{value}");
            let problems = read(&value, &ToolRegistry::builtin()).problems;
            assert_eq!(problems.iter().map(|p| p.code.as_str()).collect::<Vec<_>>(), ["unsupported_version"]);
        }
    }

    #[test]
    fn what_has_another_type_is_told_and_never_dropped() {
        let mut value = workflow();
        value["parameters"][0]["default"] = json!(500);
        let draft = read(&value, &ToolRegistry::builtin());
        assert_eq!((draft.problems.len(), draft.warnings[0].code.as_str()), (0, "type_coerced"));
        assert_eq!(draft.skill.parameters[0].default, Some(json!(500)));
        value["parameters"][0]["default"] = json!([]);
        value["parameters"][1]["required"] = json!("yes");
        value["steps"][0]["args"] = json!(["x"]);
        let problems = read(&value, &ToolRegistry::builtin()).problems;
        let found: Vec<_> = problems.iter().map(|p| (p.code.as_str(), p.field.as_str())).collect();
        let expected = ["/parameters/0/default", "/parameters/1/required", "/steps/0/args_template"];
        assert_eq!(found, expected.map(|field| ("type_mismatch", field)));
    }

    #[test]
    fn our_own_flows_are_no_workflows() {
        assert!(!is_workflow(&json!({"kind": "flow_template", "version": 1, "steps": [{"tool": "tap"}]})));
        assert!(!is_workflow(&json!({"version": "1.0", "steps": [{"tool": "tap"}]})));
        assert!(!is_workflow(&json!({"version": "1", "name": "N", "steps": [{"tool": "tap", "args": {}}]})));
        assert!(!is_workflow(&json!({"version": 1, "steps": []})));
    }
}
