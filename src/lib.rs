//! Repertoire: an embedded skill catalog for agents that operate phones.

pub mod bundled;
pub mod catalog;
pub mod entitlement;
pub mod error;
pub mod flow;
pub mod import;
pub(crate) mod index;
pub mod intake;
pub mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod model;
mod snapshot;
pub mod tools;

pub use catalog::{Catalog, Filter, Look, Options, Pin, SkillRef, Snapshot, View};
pub use entitlement::{LocalStatement, Narrowing};
pub use error::{Error, Problem, Result};
pub use model::{Entry, Layer, Skill};
