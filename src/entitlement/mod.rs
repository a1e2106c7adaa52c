//! Who may see what: the statements that stand, and the rights that follow for one caller.
//!
//! `Statements` is what is durable: the platform's document of each subscription and the operator's local words.
//! It is kept in the manifest; the revocation ring adds single `Statement`s in front of it. `Rights` is the
//! answer for one caller at one moment, computed once per entitlement set and turned into bits by the catalog.
//!
//! **Invariant:** a mask (`revoke`, `hide`, a platform's revocation) always wins over a grant while it stands.

mod history;
mod removal;
mod rights;
mod statement;
mod statements;

pub use history::{History, NotAHistory};
pub use removal::Removal;
pub use rights::Narrowing;
pub(crate) use rights::Rights;
pub use statement::LocalStatement;
pub(crate) use statement::Statement;
#[cfg(feature = "sync")]
pub(crate) use statements::Grants;
pub(crate) use statements::{Document, Standing, Statements};
