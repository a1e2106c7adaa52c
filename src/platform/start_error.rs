//! Why the platform does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The development platform cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}; choose another with --listen (port 0 takes a free one)")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The folder cannot be read.
    #[error("cannot read the folder {}: {cause}; it holds a folder of skills for each subscription", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A file with a key, a token or a secret cannot be read.
    #[error("cannot read {}: {cause}; check the path and its permissions", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The signing key is none.
    #[error("{} holds no signing key; write one line KEY_ID:BASE64 with 32 random bytes, such as `k1:$(openssl rand -base64 32)`", path.display())]
    SignKey {
        /// The file.
        path: PathBuf,
    },
    /// The webhook cannot be told.
    #[error("the webhook cannot be told of changes: {reason}")]
    Webhook {
        /// Why, with the next step.
        reason: String,
    },
    /// The runtime or a thread cannot be started.
    #[error("cannot start the platform's threads: {0}; check the limits of processes and open files")]
    Runtime(#[source] io::Error),
    /// There is no randomness for a token.
    #[error("the system gives no random bytes for a token; give one with --token-file")]
    Random,
}
