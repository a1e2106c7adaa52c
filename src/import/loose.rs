//! JSON files whose name does not say that they hold a skill: workflows, and everything else that ends in `.json`.
//!
//! Most are none of ours, and nothing is said about them. What may have been meant as a skill is never passed over in
//! silence: it is refused where its members say so, and named where that cannot be told.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::error::Problem;
use crate::import::json::read_json;
use crate::import::report::{Doubt, FileReport, Format};
use crate::import::text::Position;
use crate::import::workflow::is_workflow;
use crate::model::{Kind, offsets, read_written};
use crate::tools::ToolRegistry;

/// Keys that only skills and workflows have.
const OWN_KEYS: [&str; 5] =
    ["\"steps\"", "\"tool\"", "\"skill_scope\"", "\"args_template\"", "\"allowed_tools\""];

/// Reads such a file. Its bytes become the source text of a workflow.
#[must_use]
pub fn read_loose_json(path: &str, bytes: &[u8], registry: &ToolRegistry) -> FileReport {
    let text = std::str::from_utf8(bytes).map(|text| text.strip_prefix('\u{FEFF}').unwrap_or(text));
    let value = match text {
        Ok(text) if has_own_keys(bytes) => {
            read_written(text).map(|written| Some(written.value)).map_err(|_| ())
        }
        // Whether it is JSON at all, without building what it holds.
        Ok(text) => serde_json::from_str::<IgnoredAny>(text).map(|_| None).map_err(|_| ()),
        Err(_) => Err(()),
    };
    match value {
        Err(()) => broken(path, bytes, registry),
        Ok(Some(value)) if is_workflow(&value) => {
            let mut skills = Vec::new();
            if let Err(refusal) = read_json(&mut &*bytes, registry, &mut |skill| skills.push(skill)) {
                skills = vec![*refusal];
            }
            for entry in skills.iter_mut().filter_map(|skill| skill.result.as_mut().ok()) {
                entry.source_text = Some(bytes.into());
            }
            FileReport::new(path, Some(Format::WorkflowV1), skills)
        }
        Ok(Some(value)) => other(path, bytes, &value),
        Ok(None) => no_skill(path, None),
    }
}

/// A file too large for a workflow, of which the beginning is known.
#[must_use]
pub fn refuse_loose_json(path: &str, head: &[u8], problem: Problem) -> FileReport {
    if has_own_keys(head) {
        return FileReport::refused(path, None, problem);
    }
    if !has_any_key(&String::from_utf8_lossy(head)) {
        return FileReport::doubtful(path, Doubt::Unclear, problem);
    }
    no_skill(path, Some(problem))
}

fn has_own_keys(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    OWN_KEYS.iter().any(|key| text.contains(key)) || (text.contains("\"kind\"") && has_identity(&text))
}

/// Whether keys of a skill's identity stand in a text.
fn has_identity(text: &str) -> bool {
    let has = |key: &str| text.contains(key);
    has("\"id\"") && ["\"title\"", "\"name\"", "\"version\""].into_iter().any(has)
}

/// A file that is no JSON: refused, unless the keys that can be seen are all somebody else's (settings of editors and
/// compilers have comments, which JSON has not).
fn broken(path: &str, bytes: &[u8], registry: &ToolRegistry) -> FileReport {
    let text = String::from_utf8_lossy(bytes);
    let ours = has_own_keys(bytes) || has_identity(&text) || !has_any_key(&text);
    let skills = match read_json(&mut &*bytes, registry, &mut |_| ()) {
        Err(refusal) => vec![*refusal],
        // The two readers agree on what is JSON; if they ever did not, the file is still not lost.
        Ok(_) => return no_skill(path, None),
    };
    let doubt = (!ours).then_some(Doubt::Unclear);
    FileReport { doubt, ..FileReport::new(path, None, skills) }
}

/// Whether a quoted word with a colon behind it stands in a text.
fn has_any_key(text: &str) -> bool {
    text.match_indices('"').any(|(at, _)| text[at + 1..].trim_start().starts_with(':'))
}

/// JSON that is no workflow, though it has words of one.
fn other(path: &str, bytes: &[u8], value: &Value) -> FileReport {
    let one = match value {
        Value::Array(items) => {
            items.iter().find(|item| likeness(item) > Likeness::None).unwrap_or(&Value::Null)
        }
        one => one,
    };
    let doubt = match likeness(one) {
        Likeness::None => return no_skill(path, None),
        Likeness::Some => Some(Doubt::Unclear),
        Likeness::Strong => None,
    };
    let message = "it has members of a skill, and is no workflow (one object with `version` 1, and `steps` that have a \
                   `tool`); if it is a skill in canonical JSON, call it NAME.skill.json";
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let place = Position::of(text, offsets(text, &["steps"])[0]);
    let problem = place.mark(Problem::new("unknown_format", "", message));
    FileReport { doubt, ..FileReport::refused(path, None, problem) }
}

/// How much a value looks like a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    None,
    Some,
    Strong,
}

fn likeness(value: &Value) -> Likeness {
    let has = |key: &str| value.get(key).is_some();
    let steps = || value.get("steps").and_then(Value::as_array).into_iter().flatten();
    let kind = value.get("kind").and_then(Value::as_str).and_then(Kind::from_name);
    if kind.is_some() || has("skill_scope") || steps().any(|step| step.get("tool").is_some()) {
        Likeness::Strong
    } else if has("steps") || has("allowed_tools") {
        Likeness::Some
    } else {
        Likeness::None
    }
}

fn no_skill(path: &str, problem: Option<Problem>) -> FileReport {
    let problem = problem.unwrap_or_else(|| {
        let message = "the file published a skill before and holds none now; correct it, or delete or move it if the \
                       skill is to go";
        Problem::new("no_skill", "", message).at(1, 1)
    });
    FileReport::doubtful(path, Doubt::NoSkill, problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKFLOW: &str = r#"{"version": 1, "id": "a", "title": "A", "steps": [{"tool": "wait_for_idle"}]}"#;

    #[test]
    fn what_may_be_a_skill_is_never_passed_over_in_silence() {
        let cut = &WORKFLOW[..30];
        for (text, code, doubt) in [
            (&WORKFLOW[..WORKFLOW.len() - 1], "json_invalid", None),
            (&WORKFLOW.replace("1,", "\"1\","), "unsupported_version", None),
            (cut, "json_invalid", None),
            ("", "json_invalid", None),
            ("{", "json_invalid", None),
            ("\u{FFFD}", "json_invalid", None),
            (r#"{"kind": "knowledge", "id": "a", "name": "A"}"#, "unknown_format", None),
            (r#"[{"kind": "knowledge", "id": "a", "name": "A"}]"#, "unknown_format", None),
            (r#"{"steps": [{"type": "click"}]}"#, "unknown_format", Some(Doubt::Unclear)),
            ("{\n// settings\n\"a\": 1}", "json_invalid", Some(Doubt::Unclear)),
            (r#"{"name": "x", "version": "1.0.0"}"#, "no_skill", Some(Doubt::NoSkill)),
            ("7", "no_skill", Some(Doubt::NoSkill)),
            (r#"["\"steps\""]"#, "no_skill", Some(Doubt::NoSkill)),
        ] {
            let report = read_loose_json("x.json", text.as_bytes(), &ToolRegistry::builtin());
            let problems = report.skills[0].result.as_ref().expect_err(text);
            assert_eq!((problems[0].code.as_str(), report.doubt), (code, doubt), "{text}");
            assert!(problems.iter().all(|problem| problem.line.is_some()), "{text}");
        }
        let report = read_loose_json("x.json", WORKFLOW.as_bytes(), &ToolRegistry::builtin());
        let entry = report.skills[0].result.as_ref().expect("workflow");
        assert_eq!(entry.source_text.as_deref(), Some(WORKFLOW.as_bytes()));
        let marked = format!("\u{FEFF}{WORKFLOW}");
        let report = read_loose_json("x.json", marked.as_bytes(), &ToolRegistry::builtin());
        assert!(report.skills[0].result.is_ok(), "a byte order mark hides nothing");
    }
}
