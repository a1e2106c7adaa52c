//! What bad input gets, with the real binary in processes of its own: killed imports, revocations while others query and
//! import, a full disk, a data directory that cannot be used.
//!
//! `REPERTOIRE_TEST_SCALE` (`default`, `ci`, `long`) sets the amounts, `REPERTOIRE_TEST_SEED` repeats the random moments of a
//! run.
#![cfg(feature = "cli")]
#![cfg(unix)]

mod answers;
mod directory;
mod full_disk;
mod hiding;
mod killed;
mod power;
mod program;
mod random;
mod skills;
mod stopped;
mod stress;
mod traced;
mod watcher;
mod writers;
