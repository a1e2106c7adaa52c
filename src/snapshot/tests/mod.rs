//! The engine as a whole, on storages that fail, stop, lose power, or belong to somebody else.

mod corrupt;
mod crash;
mod document;
mod garbage;
mod protocol;
mod real;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::storage::{MemoryStorage, Storage};
use super::*;
use crate::error::{Result, StorageError};

/// Section with the text of a test segment.
const TEXT: u32 = 1;
/// A test segment.
static SCHEMA: Schema = Schema { kind: 0x7465_7374, sections: &[TEXT, 2], sizes: &[16, 24] };

/// Opens a data directory on a storage in memory.
fn open(storage: &Arc<MemoryStorage>) -> Result<DataDir, StorageError> {
    let storage = Arc::clone(storage) as Arc<dyn Storage>;
    DataDir::open(Path::new("memory"), &OpenOptions { storage: Some(storage), ..OpenOptions::default() })
}

/// A new process on the same files.
fn process(storage: &MemoryStorage) -> Arc<MemoryStorage> {
    Arc::new(storage.another_process())
}

/// A segment that holds a text.
fn segment(text: &str) -> Built {
    FileBuilder::new(&SCHEMA)
        .count(0, text.len() as u64)
        .section(TEXT, FLAG_REQUIRED | FLAG_VERIFY_AT_OPEN, text.as_bytes().to_vec())
        .section(2, 0, b"second".to_vec())
        .finish(1)
        .unwrap()
}

/// Publishes a text as the content of a layer, with a source; folds all statements.
fn publish(dir: &DataDir, layer: &str, text: &str) -> Result<Outcome> {
    loop {
        let file = dir.write_file(layer, &segment(text))?;
        let source = dir.write_source(format!("{text:?}\n").as_bytes())?;
        let outcome = dir.commit(&mut |base| {
            let mut next = (*base.manifest).clone();
            let state = next.layers.entry(layer.to_owned()).or_default();
            let generation = state.current.generation.max(next.generation_floor) + 1;
            let (files, sources) = (vec![file.clone()], vec![source.clone()]);
            let digest = text.to_owned();
            state.advance(Generation { generation, files, sources, digest, skills: 1 }, 1);
            fold(base, &mut next);
            Ok(Edit::Install(Box::new(next)))
        })?;
        if !matches!(outcome, Outcome::Rebase) {
            return Ok(outcome);
        }
    }
}

/// Moves the ring's statements into the manifest's state: there they are a list of texts.
fn fold(base: &Loaded, next: &mut Manifest) {
    let mut said: Vec<String> = serde_json::from_value(next.state.clone()).unwrap_or_default();
    said.extend(
        base.statements.iter().map(|statement| String::from_utf8_lossy(&statement.payload).into_owned()),
    );
    next.state = serde_json::json!(said);
    next.folded_seq = base.last_seq;
}

/// What a reader sees: texts of the layers, and statements whether folded or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    layers: BTreeMap<String, String>,
    said: Vec<String>,
    denied: bool,
}

/// Reads everything through the reader's protocol.
fn look(dir: &DataDir) -> Result<Seen> {
    let read = dir.load_with(&mut |loaded| {
        let mut layers = BTreeMap::new();
        for (name, layer) in &loaded.manifest.layers {
            for file in &layer.current.files {
                let text = dir.open_file(file, &SCHEMA)?.required(TEXT)?;
                layers.insert(name.clone(), String::from_utf8_lossy(&text).into_owned());
            }
            for source in &layer.current.sources {
                dir.read_source(source)?;
            }
        }
        Ok(layers)
    });
    let (loaded, layers) = read?;
    let mut all = (*loaded.manifest).clone();
    fold(&loaded, &mut all);
    let said = serde_json::from_value(all.state).unwrap_or_default();
    Ok(Seen { layers, said, denied: loaded.deny_all != Denial::No || loaded.ring_damage.is_some() })
}

/// A state in short: `layer=text` pairs and statements.
fn seen(layers: &[(&str, &str)], said: &[&str]) -> Seen {
    let layers = layers.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Seen { layers, said: said.iter().map(|text| (*text).to_owned()).collect(), denied: false }
}
