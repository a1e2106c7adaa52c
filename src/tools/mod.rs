//! The tool registry: which tools exist on this deployment, what they take, what they can do.
//!
//! The tools are data: one table (`builtin.json`) makes the MCP tool list, the checks of flow templates, the allowlist,
//! the learning filter and `docs/tools.md`. A deployment may extend it from a file, which may be the `tools/list` answer
//! of a foreign server. Everything here is a pure function of that data: no tool is ever called from here.
//!
//! * [`ToolSpec`] is one tool; [`Constraint`] holds the rules between its arguments.
//! * [`ToolRegistry`] finds a tool by any name and checks whole calls ([`ToolRegistry::check_call`]).
//! * [`check_value`] is the schema check by itself.
//! * [`Permission`] and [`Allowlist`] say what a skill may call.

mod call;
mod commands;
mod constraint;
mod document;
mod listing;
pub(crate) mod pattern;
mod permission;
mod registry;
pub(crate) mod schema;
mod spec;
#[cfg(test)]
mod tests;

pub use call::Call;
pub(crate) use call::{canonical_args, check_rules, default_of};
pub use commands::{ExactCommand, exact_command};
pub use constraint::Constraint;
pub(crate) use constraint::Presence;
pub use document::markdown;
pub use permission::{Allowlist, Permission};
pub use registry::{Resolved, ToolRegistry};
pub use schema::check_value;
pub use spec::{Effect, ToolAlias, ToolSpec};
