//! Reading what people write: skills in six formats, and what an import makes of a layer. Pure: bytes in, reports out.
//!
//! A SKILL.md goes through four stages. `text` turns bytes into text with one kind of line end. `fence` cuts the
//! front matter off. `tree` reads it as YAML whose scalars stay source text, within budgets; where that fails,
//! `repair` makes one careful attempt that never touches a safety field. `front` and `fields` hand the values out by
//! name and type, each coercion a warning. The formats (`v2`, `agent`, `legacy`) put them into a skill, whose rules
//! the model checks. JSON (`json`, `workflow`) is read as a `stream` of texts, one a skill; `twice` judges keys that stand
//! twice, `loose` files whose name says nothing, and an [`Excerpt`] shows the line of a problem. `maestro` turns UI test
//! flows into templates. `served` writes the `SKILL.md` that hosts fetch. [`plan`] then compares what folders hold with
//! what the layer holds; `published` knows who had an id before, and `qualify` settles who gets it.
//!
//! Every reader answers a report: a skill or every problem with its place, and everything that was accepted with a
//! warning. Nothing is dropped in silence.
//!
//! Invariant: nothing here does input or output, and no front matter that cannot be read becomes a skill.

mod agent;
mod excerpt;
mod export;
mod fence;
mod fields;
mod front;
mod identity;
mod json;
mod legacy;
mod loose;
mod maestro;
mod media;
mod mirror;
mod published;
mod qualify;
mod repair;
mod report;
#[cfg(test)]
mod round_trip;
#[cfg(feature = "mcp")]
mod served;
mod shared;
mod skill_md;
mod stream;
mod text;
mod tree;
mod twice;
mod v2;
mod workflow;

pub use excerpt::Excerpt;
pub use export::{Exported, agent_skill_md, json, skill_md_v2, verbatim};
pub use json::{read_json, read_json_lines};
pub use loose::{read_loose_json, refuse_loose_json};
pub use maestro::{FlowFile, read_maestro};
pub use mirror::{MirrorOptions, Outcome, PassedOver, Plan, RootReading, SkillOutcome, plan};
pub use report::{Doubt, FileContext, FileReport, Format, SkillReport};
pub use skill_md::read_skill_file;

pub(crate) use maestro::is_maestro_text;
#[cfg(feature = "mcp")]
pub(crate) use served::{served, served_name};
#[cfg(feature = "platform")]
pub(crate) use skill_md::hex_sha256;
pub(crate) use text::{Position, check_size};
