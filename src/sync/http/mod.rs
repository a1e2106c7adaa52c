//! SPP/1 over HTTP: the client of the Subscription Platform.

mod tls;

pub use tls::{TlsError, TlsFiles};

pub(crate) use tls::plain_client;
