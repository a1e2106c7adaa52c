//! May this call be made? A pure function of the tool, its arguments, what it is about to hit, and rules.
//!
//! Rules are a TOML file; a starter set is built in. The strictest answer wins: `deny` over `ask` over `allow`. Nothing
//! makes an answer less strict, neither the risk of a skill nor another rule.
//!
//! * [`Policy`] is a set of rules; [`Policy::decide`] answers a [`Question`] with a [`Decision`].
//! * Words of rules match whole words of any script ([`Words`]): "bank" is not in "bankrupt".
//!
//! Invariant: this module does no input or output and remembers nothing between two questions.

mod decide;
mod file;
mod pattern;
mod rule;
#[cfg(test)]
mod tests;
mod words;

pub use decide::{Decision, Question, Verdict};
pub use pattern::Glob;
pub use rule::{Policy, Rule};
pub use words::Words;
