//! Full-text search over the skills of a layer, with the caller's sight inside the scan.
//!
//! A [`TextBuilder`] turns the texts of skills into one section of bytes; a [`TextIndex`] reads that section where
//! it lies. [`search`] answers over several indexes at once (the segments and layers that a caller sees). Every
//! statistic it uses is counted over visible documents of all parts together or is a constant of the program, so
//! an answer tells nothing about documents that the caller must not see.
//!
//! Invariant: pure functions on bytes. Hostile bytes give an error or a wrong answer, never a panic.

mod analysis;
mod best;
mod build;
mod features;
mod function_words;
mod hash;
mod layout;
mod metrics;
mod open;
mod page;
mod query;
mod search;
mod sight;
#[cfg(test)]
mod tests;
mod weights;
mod why;

pub(crate) use build::{Fields, TextBuilder};
pub(crate) use function_words::is_function_word;
pub(crate) use metrics::{Judged, quality};
pub use metrics::{OutOfScope, Quality};
pub(crate) use open::TextIndex;
pub(crate) use search::{Found, Part, Scratch, search};
pub(crate) use sight::Sight;
pub(crate) use why::why;
