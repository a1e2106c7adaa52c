//! Flow templates: parsed once at ingest, checked against the tool registry, resolved all or nothing.
//!
//! * [`Template`] is the placeholder grammar of one string.
//! * [`compile`] turns a skill into a [`Program`] and tells everything that is wrong with it on this registry.
//! * [`resolve`] and [`resolve_text`] put values into an archived program; a program out of a file of unknown origin
//!   passes [`check_archived`] first.
//!
//! **Invariant**: nothing here executes a step, does IO or looks at a catalog; a substituted value is never parsed for
//! placeholders again.

mod check;
mod compile;
mod fit;
mod node;
mod parse;
mod program;
#[cfg(test)]
mod properties;
mod resolve;
mod run;
#[cfg(test)]
mod tests;
mod values;

pub use crate::error::ParameterProblem as ResolveProblem;
pub use compile::compile;
pub use parse::{Segment, Template, TemplateError, TemplateFault};
pub use program::{ArchivedProgram, Compiled, Program};
pub use resolve::{ResolvedStep, ResolvedText, check_archived, resolve, resolve_text};
