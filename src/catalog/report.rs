//! What a catalog says about itself: status, entitlements, files, changes.

use serde::Serialize;

use crate::model::Layer;

/// What a commit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The layer's generation afterwards.
    pub generation: u64,
    /// False if the content was already there.
    pub changed: bool,
}

/// What moved since a given token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Pass it to the next `wait`.
    pub token: u64,
    /// Layers with a new generation.
    pub layers: Vec<Layer>,
    /// Whether entitlements or masks changed.
    pub entitlements: bool,
}

/// Answer of `entitlements show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntitlementsReport {
    /// Every subscription that anything speaks of, sorted.
    pub subscriptions: Vec<SubscriptionReport>,
    /// Hidden ids, sorted.
    pub hidden: Vec<String>,
}

/// One subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubscriptionReport {
    /// Its id.
    pub id: String,
    /// Whether it is active.
    pub active: bool,
    /// Who said so: `platform` or `local`.
    pub by: &'static str,
}

/// Answer of `status`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Layers that hold something, in precedence order.
    pub layers: Vec<LayerStatus>,
    /// Sync state.
    pub sync: SyncStatus,
    /// Entitlements.
    pub entitlements: EntitlementsReport,
    /// What a recovery could not bring back, until the next change of a layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovered: Option<String>,
}

/// One layer in `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerStatus {
    /// Layer name.
    pub layer: Layer,
    /// Generation.
    pub generation: u64,
    /// Skills in it (whether visible or not).
    pub skills: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Content digest, hexadecimal.
    pub digest: String,
}

/// Sync part of `status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SyncStatus {
    /// EMPTY, READY, STALE, EXPIRED or SUSPENDED.
    pub state: String,
    /// Content counter.
    pub seq: Option<u64>,
    /// Entitlement counter.
    pub ent_seq: Option<u64>,
    /// Seconds since the last successful check.
    pub age_s: Option<u64>,
    /// Last failure.
    pub last_error: Option<String>,
}

/// One file in `verify` and `inspect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// File name in the data directory.
    pub name: String,
    /// No problem found.
    pub ok: bool,
    /// Sections.
    pub sections: Vec<SectionReport>,
    /// What is wrong.
    pub problems: Vec<String>,
}

/// One section of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionReport {
    /// Section name.
    pub kind: String,
    /// Offset in the file.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Checksum, hexadecimal.
    pub crc32c: String,
    /// A reader that does not know it must refuse the file.
    pub required: bool,
}
