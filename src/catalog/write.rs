//! From entries to durable files that no manifest reaches yet.

use std::collections::BTreeSet;

use crate::catalog::build::{BuiltLayer, build, build_delta};
use crate::catalog::handle::is_damage;
use crate::catalog::plan::Delta;
use crate::catalog::state::State;
use crate::catalog::{Catalog, source};
use crate::error::{Error, Result, StorageError};
use crate::limits::SEGMENTS_KEPT_MAX;
use crate::model::{Entry, Layer};
use crate::snapshot::{FileRef, Generation};

/// A source file is swallowed by a new one if it has at most so many times its bytes.
const SWALLOW: u64 = 2;

/// Whether the truth of a layer is here.
pub(crate) fn keeps_source(layer: Layer) -> bool {
    matches!(layer, Layer::Local | Layer::Learned)
}

impl Catalog {
    /// Builds and writes a generation from all of its entries, which are sorted by id.
    pub(crate) fn write_whole(
        &self,
        layer: Layer,
        entries: Vec<Entry>,
        generation: u64,
    ) -> Result<Generation> {
        let mut sources = Vec::new();
        if keeps_source(layer) && !entries.is_empty() {
            sources.push(self.inner.dir.write_source(&source::write(layer, &entries))?);
        }
        let built = build(layer, entries, self.registry(), generation)?;
        let files = self.write_files(layer, &built, &[])?;
        Ok(Generation { generation, files, sources, digest: built.digest, skills: built.skills })
    }

    /// Builds and writes a generation from the one that is open and a small change. `puts` are sorted by id.
    pub(crate) fn write_delta(
        &self,
        state: &State,
        layer: Layer,
        base: &Generation,
        delta: Delta,
        generation: u64,
    ) -> Result<Generation> {
        let open =
            state.layer(layer).ok_or_else(|| StorageError::damaged(layer.name(), "the layer is not open"))?;
        let sources = match keeps_source(layer).then(|| self.write_sources(layer, base, &delta)) {
            None => Vec::new(),
            Some(Ok(sources)) => sources,
            Some(Err(Error::Storage(error))) if is_damage(&error) => {
                tracing::warn!(%error, "a source is damaged; writing it anew from the snapshot");
                let mut all = open.entries()?;
                let new: BTreeSet<&str> = delta.puts.iter().map(|entry| entry.skill.id.as_str()).collect();
                all.retain(|old| {
                    !new.contains(old.skill.id.as_str()) && !delta.removes.contains(&old.skill.id)
                });
                all.extend(delta.puts);
                all.sort_by(|a, b| a.skill.id.cmp(&b.skill.id));
                return self.write_whole(layer, all, generation);
            }
            Some(Err(error)) => return Err(error),
        };
        let built = build_delta(open, delta.puts, &delta.removes, self.registry(), generation)?;
        let files = self.write_files(layer, &built, &base.files)?;
        let sources = if built.directory.is_some() { sources } else { Vec::new() };
        Ok(Generation { generation, files, sources, digest: built.digest, skills: built.skills })
    }

    /// Writes the files of a built generation; the answer begins with the directory. `base` are the files of the
    /// generation whose segments stay.
    pub(crate) fn write_files(
        &self,
        layer: Layer,
        built: &BuiltLayer,
        base: &[FileRef],
    ) -> Result<Vec<FileRef>> {
        let Some(directory) = &built.directory else { return Ok(Vec::new()) };
        let mut files = vec![self.inner.dir.write_file(layer.name(), directory)?];
        files.extend(base.iter().skip(1).take(built.kept).cloned());
        if let Some(segment) = &built.segment {
            files.push(self.inner.dir.write_file(layer.name(), segment)?);
        }
        Ok(files)
    }

    /// Writes down a small change; source files before it that are not much larger become a part of it.
    fn write_sources(&self, layer: Layer, base: &Generation, delta: &Delta) -> Result<Vec<FileRef>> {
        let mut kept = base.sources.clone();
        let mut removed: BTreeSet<String> = delta.removes.clone();
        let mut entries = delta.puts.clone();
        loop {
            let after = kept.last().map(|file| file.name.clone());
            // What a whole file does not hold is not there.
            let gone = if after.is_some() { removed.clone() } else { BTreeSet::new() };
            let bytes = source::write_after(layer, &entries, after, gone);
            let full = kept.len() >= SEGMENTS_KEPT_MAX;
            let swallowed =
                kept.pop_if(|last| full || last.length <= SWALLOW.saturating_mul(bytes.len() as u64));
            let Some(last) = swallowed else {
                kept.push(self.inner.dir.write_source(&bytes)?);
                return Ok(kept);
            };
            let mut older = self.read_sources(std::slice::from_ref(&last))?.into_iter().next();
            let before = older.as_mut().map(|found| std::mem::take(&mut found.removed)).unwrap_or_default();
            let mut all = older.map(|found| found.entries).unwrap_or_default();
            all.retain(|entry| {
                let id = &entry.skill.id;
                !removed.contains(id) && entries.binary_search_by(|new| new.skill.id.cmp(id)).is_err()
            });
            removed.extend(before);
            all.append(&mut entries);
            all.sort_by(|a, b| a.skill.id.cmp(&b.skill.id));
            removed.retain(|id| all.binary_search_by(|new| new.skill.id.cmp(id)).is_err());
            entries = all;
        }
    }
}
