//! The accessibility tree of one moment: read leniently, then asked which element is where.
//!
//! Phones write trees that no strict reader takes: text around the XML, control characters, halves of surrogate
//! pairs, bounds that are negative, empty or inverted. The reader takes what is there; a tree that is cut, too deep or
//! too large ends early and says so.

mod bounds;
mod node;
mod reach;
mod read;

pub use bounds::Bounds;
pub use node::{Flag, Node, Tree};
pub(crate) use read::hierarchy;
pub use read::read_tree;
