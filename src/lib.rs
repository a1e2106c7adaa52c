//! Repertoire: an embedded skill catalog for agents that operate phones.

pub mod catalog;
pub mod entitlement;
pub mod error;
pub mod flow;
#[cfg_attr(not(test), expect(dead_code, reason = "the catalog is built on this face"))]
pub(crate) mod index;
pub mod limits;
pub mod model;
#[cfg_attr(not(test), allow(dead_code, unused_imports, reason = "used by the catalog"))]
mod snapshot;
pub mod tools;

pub use error::{Error, Problem, Result};
