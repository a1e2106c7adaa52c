//! The guard of one session: which skill is active, what it allows, what the policy says, what was approved, and what
//! is written down of each call. One [`Guard`] stands for one stdio process, or for one principal's token.
//!
//! ```text
//! call -> admit (scope of the active skill) -> judge (policy, standing approvals) -> act -> record (secrets masked)
//! ```
//!
//! A model cannot free itself: leaving a scope, or changing to a wider one, needs a person's approval, and without it
//! the scopes intersect. A skill that is revoked, hidden or replaced closes its scope; nothing but a person widens it.
//!
//! Invariant: nothing here asks anybody and nothing touches a phone; whoever serves the session does both.

mod approvals;
mod record;
mod refusal;
mod scope;
mod secrets;
mod session;
#[cfg(test)]
mod tests;

pub use record::{CallObserver, CallRecord};
pub use refusal::Refusal;
pub use scope::{Admitted, ScopeChange};
pub use session::{Guard, GuardOptions, Judge};
