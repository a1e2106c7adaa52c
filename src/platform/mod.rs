//! The development platform: serves the platform's protocol, SPP/1, from a folder, so that clients can be built, shown
//! and tested without the real one; and [`check`], which tests somebody's platform.
//!
//! `folder` reads skills and statements, `store` gives every change a number, `document` writes pages and
//! entitlements, `alter` and `delivery` break them as the switches of `fault` say, `sign` signs, `routes` answers,
//! `notify` tells a webhook, `service` runs all of it.
//!
//! Invariant: documents are made of plain JSON, never of the types that the client reads them with.

mod alter;
pub mod check;
mod connection;
mod delivery;
mod document;
mod fault;
mod folder;
mod notify;
mod record;
mod routes;
mod service;
mod sign;
mod start_error;
mod store;

pub use fault::{Fault, FaultKind, UnknownFault};
pub use notify::WebhookTarget;
pub use service::{PlatformOptions, Service};
pub use sign::Signer;
pub use start_error::StartError;
