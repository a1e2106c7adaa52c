//! What a catalog says about itself: status, entitlements, files, changes.

use serde::Serialize;

use crate::error::Problem;
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
    /// The machine was started since the last check: the age is at least so much.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub age_at_least: bool,
    /// Content is held after a rollback, until `sync --resume`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// Each subscription, by name; the numbers above are the highest of theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subscriptions: Vec<SubscriptionSync>,
    /// Items that were rejected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedItem>,
}

/// One subscription in `status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubscriptionSync {
    /// Its id.
    pub id: String,
    /// Content counter of what is activated.
    pub seq: Option<u64>,
    /// Entitlement counter in force.
    pub ent_seq: Option<u64>,
    /// Seconds since the last successful check.
    pub age_s: Option<u64>,
    /// The machine was started since: the age is at least so much.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub age_at_least: bool,
    /// Why the last try failed, if it did.
    pub last_error: Option<String>,
    /// The platform sent a catalog so small that it waits for a second one like it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_second: bool,
}

/// One item of a platform's catalog that was rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectedItem {
    /// The subscription that brought it.
    pub subscription: String,
    /// Its id as sent, shortened; empty if it had none.
    pub id: String,
    /// Its counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Whether its last good version is served in its place.
    pub kept_previous: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
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
