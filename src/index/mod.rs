//! Indexes: pure functions on bytes.
//!
//! A builder takes plain values and answers the bytes of one section; a reader borrows the bytes of a section and
//! answers queries without copying. Integers are little-endian and read with bounds checks: whatever the bytes, a
//! reader neither panics nor loops; where they contradict themselves it answers [`Damaged`], never "not there".
//! Building is deterministic.
//!
//! A layer is one *directory* over up to five immutable *payload segments*. Inside a segment documents have local
//! numbers, ordered by entitlement group, so that a group is a range. A document's *ordinal* in the layer is the base
//! of its segment (a multiple of 64) plus its local number; a document that a newer segment replaced is dead and never
//! renumbered. What a caller may see is one bit per ordinal ([`bits::Bits`]).
//!
//! | module | where | answers |
//! | --- | --- | --- |
//! | [`live`] | directory | bases of the segments, which documents are alive |
//! | [`ids`] | directory | id -> ordinal and place of the record: one pilot and one 64-byte row |
//! | [`exact`] | directory | whole normalised name, alias or id -> ordinals |
//! | [`groups`] | segment | subscriptions -> visible ranges |
//! | [`names`] | segment | prefix and fuzzy look-up of names, aliases, ids and tags |
//! | [`facets`] | segment | kind, risk, status, tag, app -> bits |
//! | [`text`] | segment | words -> the most relevant documents |
//!
//! Invariant: nothing here knows a file, a layer or a view, and no answer depends on anything but the section and
//! the bits that were passed in.

pub(crate) mod bits;
pub(crate) mod exact;
pub(crate) mod facets;
pub(crate) mod groups;
pub(crate) mod hash;
pub(crate) mod ids;
pub(crate) mod le;
pub(crate) mod live;
pub(crate) mod names;
pub(crate) mod phf;
pub(crate) mod sections;
pub(crate) mod text;

pub(crate) use sections::{BuildError, Damaged, SectionKind};
