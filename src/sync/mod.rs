//! Sync with a Subscription Platform: the documents, the port, and the engine that decides.
//!
//! [`Platform`] is the port; [`CatalogPage`] and [`EntitlementsDocument`] are what comes through it, read leniently and
//! checked as a whole before anything of it counts.
//!
//! One [`Engine::round`] asks what is due, takes whole answers only (`fetch`), plans what they change (`plan`, pure) and
//! has the catalog activate each as one commit. A [`Schedule`] says when; [`Engine::run`] is the loop of a server.
//!
//! Invariant: nothing here opens a socket, reads a clock or touches a file: all three are passed in.

mod clock;
mod document;
mod engine;
mod fetch;
pub mod http;
mod plan;
mod platform;
mod refusal;
mod run;
mod schedule;
mod secret;
mod signature;
#[cfg(test)]
mod tests;
mod wake;
#[cfg(feature = "webhook")]
pub mod webhook;

pub use clock::{BootClock, Clock, Dice};
pub use engine::{Engine, Outcome, Round, Settings};
pub use refusal::SyncError;
pub use schedule::{Due, Ended, Schedule};

pub use crate::catalog::RejectedItem;
pub use crate::entitlement::{History, NotAHistory, Removal};
pub use crate::model::{ContentRoot, Digest, NotADigest};
pub use document::{
    CatalogPage, EntitlementsDocument, ItemBody, OnExpiry, PageKind, StatusReport, Tombstone, WireItem,
    WireStatus,
};
pub use platform::{CatalogRequest, Failure, Fetched, Platform};
pub use secret::Secret;
pub use signature::{
    DocumentKind, PublicKeys, Signature, SignatureError, public_key_text, sign, signed_text, unsigned_digest,
};
pub use wake::Wake;
