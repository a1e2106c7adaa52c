//! SPP/1 over HTTP: the client of the Subscription Platform.
//!
//! `client` asks and reads, `credential` keeps the token, `tls` says whom to trust, `redirect` what to follow, `body`
//! how much to read, `cause` what went wrong.
//!
//! Invariant: no credential goes to another origin, and no text of an error holds one.

mod body;
mod cause;
mod client;
mod credential;
mod redirect;
mod tls;

pub use client::{HttpError, HttpOptions, HttpPlatform};
pub use credential::TokenSource;
pub use tls::{TlsError, TlsFiles};

#[cfg(feature = "platform")]
pub(crate) use body::BodyError;
#[cfg(feature = "platform")]
pub(crate) use body::read as read_body;
#[cfg(feature = "platform")]
pub(crate) use cause::failure;
#[cfg(feature = "platform")]
pub(crate) use redirect::policy as redirect_policy;
#[cfg(feature = "platform")]
pub(crate) use tls::{builder, plain_client};
