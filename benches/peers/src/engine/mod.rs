//! The engines, one a file: how each is built, and the strongest way to ask it.

pub mod fjall;
pub mod full;
pub mod lmdb;
pub mod maps;
pub mod names;
pub mod ours;
pub mod redb;
pub mod sqlite;
