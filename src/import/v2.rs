//! `TouchPilot` Skills v2: `id`, `title`, `description`, `risk` and an enforced `allowed_tools`.

use crate::import::front::Front;
use crate::import::identity::{self, missing};
use crate::import::shared::{description, fill, places};
use crate::import::skill_md::{Draft, texts, unknown_tools};
use crate::model::{Kind, Risk, Skill};
use crate::tools::ToolRegistry;

/// Whether front matter is meant as Skills v2. With a `name` in it, only `id` and `title` together say so.
pub(crate) fn is_v2(front: &Front) -> bool {
    if front.has("name") {
        return front.has("id") && front.has("title");
    }
    ["id", "title", "risk", "allowed_tools", "success_criteria"].into_iter().any(|key| front.has(key))
}

/// Reads the fields of a Skills v2 file; a missing one, a risk outside the three or an unknown tool is a problem.
pub(crate) fn read(mut front: Front, body: &str, directory: &str, registry: &ToolRegistry) -> Draft {
    let mut problems = Vec::new();
    let identity = identity::touchpilot(&mut front, directory, &mut problems);
    let description = description(&mut front, body, &identity.name, &mut problems);
    let mut skill = Skill::new(identity.id, Kind::Knowledge, identity.name, description);
    match front.text("risk").map(|written| written.text) {
        None => {
            problems.push(missing(&front, "risk", "a Skills v2 file needs a `risk`: low, medium or high"));
        }
        Some(risk) => {
            skill.risk = Risk::from_name(&risk);
            if skill.risk.is_none() {
                let problem =
                    front.problem("invalid_risk", "risk", "the risk is none of the three; choose one");
                problems.push(problem.got(risk).allowed("low, medium or high"));
            }
        }
    }
    let one_text =
        front.peek("allowed_tools").is_some_and(|node| node.scalar().is_some() && !node.is_missing());
    if one_text {
        let message =
            "one text stands where a list belongs; it was cut at commas and spaces: write it as a list";
        front.warn("type_coerced", "allowed_tools", message);
    }
    match front.tools("allowed_tools") {
        None => {
            let message = "a Skills v2 file needs `allowed_tools`; `[]` allows none";
            problems.push(missing(&front, "allowed_tools", message));
        }
        Some(tools) => {
            problems.extend(unknown_tools(&tools, registry));
            skill.allowed_tools = Some(texts(Some(tools)));
        }
    }
    fill(&mut front, &mut skill);
    body.clone_into(&mut skill.content);
    Draft { skill, problems, places: places(&front), warnings: front.warnings, nameless: false }
}
