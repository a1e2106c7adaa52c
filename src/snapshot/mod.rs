//! Bytes on disk: a directory of immutable segment files under one manifest, and the protocol that keeps any number
//! of processes in step. It knows nothing of skills.
//!
//! From below: [`map`] shares memory with files and processes, [`storage`] is the file system as a trait, [`names`]
//! says which names are ours. [`sections`] and [`file`] lay out a segment, [`lazy`] hands out its blocks and
//! [`record`] its records after their first check. [`manifest`] is `CURRENT`, the only commit point; [`ring`] keeps the revocations since, [`epoch`]
//! the number that tells others to look again, [`lock`] the writers apart. [`dir`] opens a directory, [`load`] is the
//! reader's protocol ([`held`] keeps its files open), [`commit`] the writer's, [`recover`] and [`collect`] clean up behind both. [`fixed`] checks the
//! files that are always there, and any file by itself.
//!
//! Invariant: a reader never keeps a state that was not current at one moment, and no acknowledged change is lost.

pub(crate) mod collect;
pub(crate) mod commit;
pub(crate) mod dir;
pub(crate) mod epoch;
pub(crate) mod file;
pub(crate) mod fixed;
pub(crate) mod held;
pub(crate) mod lazy;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod manifest;
pub(crate) mod map;
pub(crate) mod names;
pub(crate) mod notes;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod ring;
pub(crate) mod sections;
pub(crate) mod storage;
#[cfg(test)]
mod tests;

pub(crate) use commit::{Edit, Outcome};
pub(crate) use dir::{DataDir, MapKind, OpenOptions, TICK};
pub(crate) use epoch::{Denial, Follow};
pub(crate) use file::{Built, FileBuilder, Schema, SectionFile, content_hash};
pub(crate) use lazy::Lazy;
pub(crate) use load::Loaded;
pub(crate) use manifest::{FileRef, Generation, Manifest, Recovery};
pub(crate) use map::{Aligned, Bytes};
#[cfg(feature = "sync")]
pub(crate) use notes::Election;
pub(crate) use record::{Damage, Ranges, Records, RowLayout, Texts};
pub(crate) use sections::{FLAG_BLOCKS, FLAG_REQUIRED, FLAG_VERIFY_AT_OPEN};
