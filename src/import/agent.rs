//! The Agent Skills standard: `name` and `description`, everything else optional.

use crate::import::front::Front;
use crate::import::identity;
use crate::import::shared::{description, fill, places};
use crate::import::skill_md::{Draft, texts, unknown_tools};
use crate::model::{Kind, Skill};
use crate::tools::ToolRegistry;

/// Reads the fields of an Agent Skills file. `risk` is not read: it counts in Skills v2 files only.
///
/// An `allowed_tools` (with an underscore) is not the standard's field; whoever writes it means a restriction, so it
/// is enforced as in Skills v2.
pub(crate) fn read(mut front: Front, body: &str, directory: &str, registry: &ToolRegistry) -> Draft {
    let mut problems = Vec::new();
    let identity = identity::agent(&mut front, directory, &mut problems);
    let description = description(&mut front, body, &identity.name, &mut problems);
    let mut skill = Skill::new(identity.id, Kind::Knowledge, identity.name, description);
    if let Some(tools) = front.tools("allowed_tools") {
        problems.extend(unknown_tools(&tools, registry));
        skill.allowed_tools = Some(texts(Some(tools)));
    }
    fill(&mut front, &mut skill);
    body.clone_into(&mut skill.content);
    Draft { skill, problems, places: places(&front), warnings: front.warnings, nameless: false }
}
