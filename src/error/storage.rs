//! What can be wrong with a data directory.

use std::io;
use std::path::PathBuf;

/// A failure of the storage engine. The message names the file and the next step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The operating system refused an operation.
    #[error("cannot {action} {}: {source}; check that the disk is writable and that the data directory is yours", path.display())]
    Io {
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file is not what its checksums or its structure say.
    #[error(
        "{file} is damaged: {detail}; run `repertoire compact` to mend what can be mended, then import or sync again what is missing"
    )]
    Damaged {
        /// The file's name.
        file: String,
        /// Which check failed, with expected and found values.
        detail: String,
    },
    /// The file was written by a newer version.
    #[error(
        "{file} was made by format {found}, this program reads up to {supported}; use a newer repertoire"
    )]
    TooNew {
        /// The file's name.
        file: String,
        /// Its major version.
        found: u16,
        /// The newest major version that this program reads.
        supported: u16,
    },
    /// Another process holds the lock.
    #[error("{} is locked by another process for more than {waited_ms} ms; try again, or find the process with `fuser`", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// How long we waited.
        waited_ms: u64,
    },
    /// The data directory cannot be trusted.
    #[error("the data directory {} is unsafe: {detail}", path.display())]
    UnsafeDirectory {
        /// The directory.
        path: PathBuf,
        /// Why, and what to do.
        detail: String,
    },
    /// The catalog moved on too often while a change was being built.
    #[error("the {layer} layer changed {attempts} times while this change was built; try again")]
    Contended {
        /// The layer.
        layer: &'static str,
        /// How often the build was repeated.
        attempts: u32,
    },
    /// The revocation ring is full and cannot be folded into the manifest.
    #[error(
        "the revocation ring is full and CURRENT cannot be written: {detail}; every synced skill is hidden; make room, repeat the statement, then run `repertoire entitlements resume`"
    )]
    RingFull {
        /// Why folding failed.
        detail: String,
    },
    /// An earlier write failed in a way that leaves the state on disk unknown.
    #[error("an earlier write failed ({detail}); open the catalog again before writing")]
    Poisoned {
        /// The first failure.
        detail: String,
    },
    /// The catalog handle was inherited through a fork.
    #[error("this catalog was opened before a fork; open it again in the child process")]
    Forked,
    /// Something is beyond a limit of the format.
    #[error("{what}: {got} is beyond the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size.
        got: u64,
        /// The limit.
        limit: u64,
    },
    /// The manifest holds statements of a form that this version does not know.
    #[error("CURRENT holds statements that this version does not know ({detail}); use a newer repertoire")]
    UnknownState {
        /// What could not be read.
        detail: String,
    },
    /// There is no earlier generation to go back to.
    #[error("the {layer} layer has no earlier generation to roll back to")]
    NoEarlierGeneration {
        /// The layer.
        layer: &'static str,
    },
}

impl StorageError {
    /// Wraps an input/output error with what was tried on which file.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }

    /// A failed check on a file.
    pub fn damaged(file: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Damaged { file: file.into(), detail: detail.into() }
    }
}
