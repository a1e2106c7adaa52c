//! Repertoire: an embedded skill catalog for agents that operate phones.

pub mod catalog;
pub mod entitlement;
pub mod error;
pub mod flow;
pub mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod model;
pub mod tools;

pub use error::{Error, Problem, Result};
