//! The fields that both front matter formats hold, beyond what makes each of them.

use serde_json::Value;

use crate::error::Problem;
use crate::import::front::Front;
use crate::import::identity::missing;
use crate::import::legacy::first_paragraph;
use crate::import::skill_md::texts;
use crate::import::text::Position;
use crate::import::tree::Node;
use crate::model::Skill;

/// Model fields with the keys that they are written under.
const PLACES: [(&str, &[&str]); 16] = [
    ("id", &["id", "name"]),
    ("name", &["title", "name"]),
    ("description", &["description"]),
    ("version", &["version", "metadata"]),
    ("tags", &["tags"]),
    ("aliases", &["aliases"]),
    ("examples", &["examples"]),
    ("locale", &["locale"]),
    ("risk", &["risk"]),
    ("allowed_tools", &["allowed_tools"]),
    ("preapproved_tools", &["allowed-tools"]),
    ("success_criteria", &["success_criteria"]),
    ("license", &["license"]),
    ("author", &["author"]),
    ("compatibility", &["compatibility"]),
    ("metadata", &["metadata"]),
];

/// Where the fields of the model stand in the file.
pub(crate) fn places(front: &Front) -> Vec<(&'static str, Position)> {
    let place = |(field, keys): (&'static str, &'static [&'static str])| {
        let key = keys.iter().find(|key| front.has(key))?;
        Some((field, front.position(key)))
    };
    PLACES.into_iter().filter_map(place).collect()
}

/// Takes the description, which every format must have.
///
/// A description that was left out, or holds nothing, is a problem. One that was written as an empty text in quotes
/// (catalog generators do that) is taken from the paragraph below the body's title, or else from the name, with a
/// warning.
pub(crate) fn description(front: &mut Front, body: &str, name: &str, problems: &mut Vec<Problem>) -> String {
    let blank =
        front.peek("description").and_then(|node| node.scalar()).is_some_and(|text| text.trim().is_empty());
    let quoted = blank && !front.peek("description").is_some_and(Node::is_missing);
    if let Some(written) = front.prose("description") {
        return written.text;
    }
    if quoted && !name.is_empty() {
        let message =
            "the description is empty; the first paragraph of the body, or the name, stands in: write one";
        front.warn("description_defaulted", "description", message);
        let introduction = body.lines().take_while(|line| !line.starts_with("##"));
        return first_paragraph(introduction).unwrap_or_else(|| name.to_owned());
    }
    let message = "the skill needs a `description` that says what it does and when to use it";
    problems.push(missing(front, "description", message));
    String::new()
}

/// Takes everything that is optional and read the same way in both formats; unknown fields end in the metadata.
pub(crate) fn fill(front: &mut Front, skill: &mut Skill) {
    skill.tags = texts(front.list("tags", true));
    skill.aliases = texts(front.list("aliases", false));
    skill.examples = texts(front.list("examples", false));
    skill.success_criteria = texts(front.list("success_criteria", false));
    skill.preapproved_tools = texts(front.tools("allowed-tools"));
    skill.license = front.text("license").map(|written| written.text);
    skill.author = front.text("author").map(|written| written.text);
    skill.compatibility = front.text("compatibility").map(|written| written.text);
    skill.locale = front.text("locale").map(|written| written.text);
    let version = front.text("version").map(|written| written.text);
    skill.metadata = front.metadata();
    let inner = || skill.metadata.get("version").and_then(Value::as_str).map(|text| text.trim().to_owned());
    if let Some(version) = version.or_else(inner).filter(|version| !version.is_empty()) {
        skill.version = version;
    }
}
