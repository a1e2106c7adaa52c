//! The commands, one noun a file: arguments, the question to the catalog, the answer as JSON and for people.

pub(super) mod bench;
pub(super) mod compact;
pub(super) mod completions;
pub(super) mod config;
pub(super) mod demo;
pub(super) mod entitlements;
pub(super) mod eval;
pub(super) mod export;
pub(super) mod files;
pub(super) mod find;
pub(super) mod get;
pub(super) mod import;
pub(super) mod lint;
pub(super) mod list;
pub(super) mod man;
pub(super) mod platform;
pub(super) mod resolve;
pub(super) mod rollback;
pub(super) mod search;
pub(super) mod serve;
pub(super) mod status;
pub(super) mod sync;
pub(super) mod tools;
