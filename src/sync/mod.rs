//! Sync with a Subscription Platform: the documents, the port, and the engine that decides.
//!
//! [`Platform`] is the port; [`CatalogPage`] and [`EntitlementsDocument`] are what comes through it, read leniently and
//! checked as a whole before anything of it counts.
//!
//! Invariant: nothing here opens a socket, reads a clock or touches a file: all three are passed in.

mod document;
pub mod http;
mod platform;
mod secret;
mod signature;
mod wake;
#[cfg(feature = "webhook")]
pub mod webhook;

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
