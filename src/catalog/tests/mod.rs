//! The whole catalog on storages that stop, fail, lose power or change their bytes: against a plain model, and against
//! every single change of a byte.

mod model;
mod sweep;
mod worlds;

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::catalog::{BundledMode, Catalog, Options};
use crate::error::Result;
use crate::model::{Entry, Skill};
use crate::snapshot::storage::{MemoryStorage, Storage};
use crate::snapshot::{DataDir, OpenOptions};

/// Opens a catalog on a storage in memory. Nothing happens there by itself: the tick of a second is the test's.
pub(crate) fn open(storage: &Arc<MemoryStorage>) -> Result<Catalog> {
    let storage = Arc::clone(storage) as Arc<dyn Storage>;
    let dir = DataDir::open(
        Path::new("memory"),
        &OpenOptions { storage: Some(storage), ..OpenOptions::default() },
    )?;
    Ok(Catalog::on(dir, Options::default().bundled(BundledMode::Never)))
}

/// A new process on the same files.
fn process(storage: &MemoryStorage) -> Arc<MemoryStorage> {
    Arc::new(storage.another_process())
}

/// A skill that says one sentence.
fn knowledge(id: &str, description: &str) -> Entry {
    let value = json!({"id": id, "kind": "knowledge", "name": format!("The {id}"), "description": description,
        "content": format!("# {id}\n\n{description}\n")});
    Entry::new(Skill::from_json(&value).expect("a sound skill").skill)
}

/// One of three amounts, by `REPERTOIRE_TEST_SCALE`.
pub(crate) fn amount(default: u32, ci: u32, long: u32) -> u32 {
    match std::env::var("REPERTOIRE_TEST_SCALE").as_deref() {
        Ok("ci") => ci,
        Ok("long") => long,
        _ => default,
    }
}
