//! Sync with the Subscription Platform.

pub mod http;
mod secret;
#[cfg(feature = "webhook")]
pub mod webhook;

pub use secret::Secret;
