//! Repertoire: an embedded skill catalog for agents that operate phones.

pub mod catalog;
pub mod entitlement;
pub mod error;
pub mod flow;
pub mod limits;
pub mod model;
#[allow(dead_code, unused_imports, reason = "used by the catalog")]
mod snapshot;
pub mod tools;

pub use error::{Error, Problem, Result};
