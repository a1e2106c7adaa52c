//! The development platform, the check of platforms, the client and the webhook receiver, through real sockets.

#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, reason = "a step of a test that fails ends it")]

mod check;
mod client;
mod docs;
mod program;
mod support;
mod tls;
mod webhook;
