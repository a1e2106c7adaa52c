//! Why the HTTP server does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::error::Problem;

/// Why the HTTP server does not start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Another address than loopback without TLS.
    #[error(
        "{listen} can be reached from other machines, and nothing would keep the token secret on the way; give \
         --tls-cert and --tls-key, or --behind-proxy if something in front does TLS"
    )]
    Unprotected {
        /// The address.
        listen: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {listen}: {source}; choose another address or end what uses it")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The certificate or the key is of no use.
    #[error("cannot use {} for TLS: {reason}; both files are PEM", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The token file is of no use.
    #[error("cannot use the token file {}: {source}", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of principals is of no use.
    #[error("the principals in {} are rejected: {}", path.display(), problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Principals {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong.
        problems: Vec<Problem>,
    },
    /// A setting is wrong.
    #[error("wrong settings of the server: {}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Settings {
        /// Everything that is wrong.
        problems: Vec<Problem>,
    },
    /// The runtime could not be started, or accepting connections failed for good.
    #[error("the server cannot go on: {0}; check the limits of processes and open files")]
    Runtime(#[source] io::Error),
}
