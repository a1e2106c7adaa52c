//! The skill model: plain data, its canonical JSON, its rules and its text normalisation.
//!
//! A [`Skill`] is what an author wrote, in one shape for every input format. It is read by [`Skill::from_json`], which
//! reports everything that is wrong at once, checked by [`Skill::problems`] against every rule and limit, and written
//! by [`Skill::canonical_json`], the form that its [`digest`](Skill::digest) is taken over. Where it is kept (layer,
//! subscriptions, file) stands around it in an [`Entry`] and never inside it.
//!
//! The text functions ([`normalise`], [`slug`], [`check_id`]) are here because an index and a query, an importer and
//! a snapshot must agree on them to the last character.
//!
//! Invariant: nothing in this module reads a file, a clock or a tool registry.

mod canonical;
mod digest;
mod id;
mod layer;
mod number;
mod parameter;
mod parameter_rules;
mod read;
mod rules;
mod skill;
#[cfg(test)]
pub(crate) mod strategy;
mod syntax;
mod text;
mod version;
mod written;

pub use digest::{ContentRoot, Digest, NotADigest};
pub use id::{check_id, slug};
pub use layer::{Entry, Layer, Origin};
pub use parameter::{Parameter, ParameterType};
pub use read::Reading;
pub use skill::{App, Kind, Resource, Risk, Skill, Status, Step};
pub(crate) use text::Normal;
pub use text::{is_invisible, normalise};
pub use version::compare_versions;
pub use written::parse_json;

pub(crate) use read::is_within;
pub(crate) use written::{Broken, Duplicate, duplicates, offsets, place, read as read_written};
