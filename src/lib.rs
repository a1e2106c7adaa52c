//! Repertoire: an embedded skill catalog for agents that operate phones.

pub mod catalog;
pub mod entitlement;
pub mod error;
pub mod flow;
pub mod import;
pub mod intake;
pub mod limits;
pub mod model;
pub mod tools;

pub use error::{Error, Problem, Result};
