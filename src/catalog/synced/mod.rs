//! What the catalog keeps for the sync with a platform, and how it changes: everything that must not depend on how the
//! platform is asked.
//!
//! `journal` is what stands beside the skills of a synced generation: cursor and counters of each subscription, every
//! item with its digest as it was sent, what was rejected. It is a file of the generation, so that a rollback, a recovery
//! and a healing take it along, and a layer that lost its content has lost its cursor too. `trust` is what must not go
//! back, kept in the manifest apart from the snapshots. `age` is when each subscription was checked last. `activate`
//! commits content and counters as one; `entitle` takes documents and pushed removals; `standing` puts it into one word.
//!
//! Invariant: a cursor or an `ETag` moves only in the commit that activates what it stands for.

mod activate;
mod age;
mod entitle;
mod journal;
mod standing;
mod trust;

pub(crate) use activate::{SyncBase, SyncChange};
pub(crate) use age::{Aging, Moment, Note};
pub(crate) use entitle::Taken;
pub(crate) use journal::{Content, Item, Journal, Shelf};
pub(crate) use trust::Trust;
