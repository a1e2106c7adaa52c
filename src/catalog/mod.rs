//! The catalog: the only joiner of snapshots, indexes and entitlement.
//!
//! A [`Catalog`] is a handle on a data directory; a [`View`] is a caller with entitlements; a [`Pin`] (or the owned
//! [`Snapshot`]) begins a query and gives a [`Look`], where all queries are: `get`, `lookup`, `prefix`, `fuzzy`, `list`,
//! `search`, `match_request`, `resolve`. They answer [`SkillRef`]s, which borrow from mapped memory.
//!
//! Inside: `build` turns entries into the files of a generation, `open` opens them, `state` joins the open
//! layers with the statements that stand, `visibility` makes them into bits for one caller. `update` commits,
//! `heal` mends, `follow` tells others, `known` answers the operator. `evaluate` says how good the searches are.
//!
//! **Invariant:** no query path reads a record whose bit in the caller's visible set is not set.

mod amend;
mod answer;
mod bodies;
mod build;
mod bundled;
mod check;
mod evaluate;
mod files;
mod follow;
mod handle;
mod heal;
mod history;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod hostile;
mod known;
mod look;
mod maintain;
mod matching;
mod named;
mod open;
mod options;
mod phrase;
mod plan;
mod record;
mod report;
mod row;
mod search;
mod segment;
mod skill_ref;
mod source;
mod state;
#[cfg_attr(
    not(feature = "sync"),
    expect(
        dead_code,
        unused_imports,
        reason = "what is kept is read by every build, and written by the engine alone"
    )
)]
mod synced;
#[cfg(test)]
pub(crate) mod tests;
mod update;
mod view;
mod visibility;
mod write;

pub use amend::{Amendment, Held};
pub use answer::{Filter, Hit, ListPage, MatchAnswer, SearchPage, Why};
pub use evaluate::{Evaluation, LabelledQuery, OutOfScope, Quality, evaluate};
pub use follow::Subscription;
pub use handle::Catalog;
pub use look::Look;
pub use named::Skills;
pub use options::{BundledMode, FollowMode, MapMode, Options};
pub use report::{
    Change, Committed, EntitlementsReport, FileReport, LayerStatus, RejectedItem, SectionReport, Status,
    SubscriptionReport, SubscriptionSync, SyncStatus,
};
pub use row::Handle;
pub use skill_ref::SkillRef;
pub use view::{Pin, Snapshot, View};

#[cfg(feature = "platform")]
pub(crate) use record::hex;
#[cfg(feature = "sync")]
pub(crate) use synced::{Content, Item, Journal, Shelf, SyncBase, SyncChange, Taken, Trust};

use history::History;
