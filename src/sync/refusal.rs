//! Why a try of the engine did not change anything.

use crate::error::Error;
use crate::sync::{Failure, SignatureError};

/// Why an answer of the platform, or the activation of one, was given up. What was served stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The platform could not be asked, or did not answer as it should.
    #[error(transparent)]
    Platform(#[from] Failure),
    /// A document is not signed as the pinned keys ask for.
    #[error("the platform's {what} is refused: {cause}")]
    Signature {
        /// Which document.
        what: &'static str,
        /// What is wrong.
        cause: SignatureError,
    },
    /// A document is of another subscription.
    #[error("the platform sent a document of subscription {got:?}; it is refused")]
    OtherSubscription {
        /// What it says.
        got: String,
    },
    /// A counter or a timeline went back.
    #[error("the platform went back ({what}: {got}, after {known}); it is refused until it has caught up")]
    Rollback {
        /// Which counter.
        what: &'static str,
        /// What came.
        got: String,
        /// What was taken before.
        known: String,
    },
    /// An entitlements document has the counter of the one before, and another content.
    #[error("the platform changed its entitlements without a new ent_seq ({ent_seq}); they are refused")]
    SameCounter {
        /// The counter.
        ent_seq: u64,
    },
    /// An item, or a blob, is not what its digest says.
    #[error("item {id:?} does not match its digest; everything that came with it is discarded")]
    WrongDigest {
        /// The item.
        id: String,
    },
    /// Pages of one answer do not belong together.
    #[error("the pages of the catalog do not belong together")]
    Pages,
    /// Changes are not on top of what is here.
    #[error("the platform sent changes since another cursor than ours")]
    OtherBase,
    /// What would stand here is not what the platform has.
    #[error("{what} does not match what the platform says; nothing of it is activated")]
    Mismatch {
        /// Root or count.
        what: &'static str,
    },
    /// Content is held after a rollback.
    #[error("content is held after a rollback; run `repertoire sync --resume` to let it come in again")]
    HeldAfterRollback,
    /// The data directory failed, or a limit of it was met.
    #[error("what came cannot be kept: {0}")]
    Catalog(#[from] Error),
    /// Another process changed the catalog each time.
    #[error("another process changed the synced layer meanwhile; try again")]
    Contended,
}

impl SyncError {
    /// Whether trying again at once may help: the answer was damaged on its way.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Platform(Failure::CutOff { .. }) | Self::WrongDigest { .. })
    }
}
