//! repertoire itself, through its public interface.

use std::path::Path;

use repertoire::catalog::{BundledMode, Options};
use repertoire::{Catalog, Entry, Layer, LocalStatement};

use crate::Result;
use crate::record;
use crate::synthetic::Synthetic;
use crate::world::bytes_of;

/// Where the bytes of a catalog of one import are noted.
const BYTES: &str = "bytes";
/// Share of the skills that each of the later updates moves.
const DELTA: usize = 100;
/// Skills up to which a full set of segments is made.
const SEGMENTS_TO: usize = 200_000;

/// Builds the synced layer in one update, notes its bytes, and then moves skills about so that lookups meet a full set
/// of segments.
pub fn build(folder: &Path, catalog: &record::Catalog) -> Result<()> {
    let data = folder.join("data");
    let ours = open(&data)?;
    let entries = catalog.records().map(|record| record.entry()).collect::<Result<Vec<Entry>>>()?;
    for subscription in Synthetic::entitled() {
        ours.declare(LocalStatement::Grant(subscription))?;
    }
    let skills = entries.len();
    let mut first = Some(entries);
    ours.update(Layer::Synced, &mut |_| Ok(first.take()))?;
    std::fs::write(folder.join(BYTES), bytes_of(&data).to_string())?;
    if skills > SEGMENTS_TO {
        return Ok(());
    }
    let size = (skills / DELTA).max(1);
    let mut away: Vec<Entry> = Vec::new();
    for slice in 0..4 {
        ours.update(Layer::Synced, &mut |mut entries| {
            let back = std::mem::take(&mut away);
            if slice < 3 {
                let from = entries.len() / 4 * slice;
                away = entries.drain(from..from + size).collect();
            }
            entries.extend(back);
            Ok(Some(entries))
        })?;
    }
    Ok(())
}

/// Opens the catalog of a folder.
pub fn open(data: &Path) -> Result<Catalog> {
    let options = Options::default().bundled(BundledMode::Never).keep_generations(1);
    Ok(Catalog::open_with(data, options)?)
}

/// Bytes of the catalog after its first and only import.
pub fn bytes(folder: &Path) -> Result<u64> {
    Ok(std::fs::read_to_string(folder.join(BYTES))?.trim().parse()?)
}
