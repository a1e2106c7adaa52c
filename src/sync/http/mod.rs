//! SPP/1 over HTTP: the client of the Subscription Platform.

mod body;
mod redirect;
mod tls;

pub use body::BodyError;
pub use redirect::Refused;
pub use tls::{TlsError, TlsFiles};

#[cfg(feature = "platform")]
pub(crate) use body::read as read_body;
#[cfg(feature = "platform")]
pub(crate) use redirect::{policy as redirect_policy, refused as refused_redirect};
#[cfg(feature = "platform")]
pub(crate) use tls::{builder, plain_client};
