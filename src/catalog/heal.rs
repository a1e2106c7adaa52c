//! What to do when files of a layer are damaged or missing: the last good content, never silence.
//!
//! `local` and `learned` are rebuilt from their sources; a layer without one goes back to its previous generation; if
//! there is none it becomes empty, which for `synced` means a full sync. Nothing here lifts a revocation.

use crate::catalog::build::build;
use crate::catalog::handle::is_damage;
use crate::catalog::update::folded;
use crate::catalog::write::keeps_source;
use crate::catalog::{Catalog, source};
use crate::error::{Error, Result, StorageError};
use crate::limits::SEGMENTS_KEPT_MAX;
use crate::model::Layer;
use crate::snapshot::{Edit, FileRef, Generation, Loaded, Outcome};

/// Layers that have a source.
const WITH_SOURCE: [Layer; 2] = [Layer::Local, Layer::Learned];

impl Catalog {
    /// Looks at every byte of every layer, and mends what does not hold: from the layer's source, else with its earlier
    /// content. Queries that find damage do this by themselves at the next query; a process that ends after one query
    /// calls it. Answers how many layers were mended. Cost: a walk through all layers.
    ///
    /// # Errors
    /// The disk cannot be written.
    pub fn heal(&self) -> Result<usize> {
        let loaded = self.inner.dir.load()?;
        let mut healed = 0;
        for layer in [Layer::Synced, Layer::Local, Layer::Learned] {
            let Some(known) = loaded.manifest.layers.get(layer.name()) else { continue };
            if known.current.files.is_empty() {
                continue;
            }
            match self
                .open_layer(layer, known.current.generation, &known.current.files)
                .and_then(|open| open.check_all())
            {
                Ok(()) => {}
                Err(Error::Storage(error)) if is_damage(&error) => {
                    tracing::info!(%error, layer = layer.name(), "damaged");
                    if let Some(done) = self.heal_layer(&loaded, layer, &known.current)? {
                        tracing::warn!(
                            "the {} layer was damaged ({}) and {done}",
                            layer.name(),
                            cause(&error)
                        );
                    }
                    healed += 1;
                }
                Err(error) => return Err(error),
            }
        }
        if healed == 0 {
            tracing::info!("nothing is damaged at a second look");
        }
        Ok(healed)
    }

    /// What was done, in words; `None` if another process was faster.
    fn heal_layer(&self, loaded: &Loaded, layer: Layer, damaged: &Generation) -> Result<Option<String>> {
        let generation = damaged.generation.max(loaded.manifest.generation_floor) + 1;
        let rebuilt = self.rebuilt(layer, damaged, generation)?;
        // Chosen before the commit: looking through whole generations takes longer than a lock may be held.
        let history =
            loaded.manifest.layers.get(layer.name()).map(|known| known.history.clone()).unwrap_or_default();
        let (next, done) = if let Some(rebuilt) = rebuilt {
            (rebuilt, "is built again from its source".to_owned())
        } else if let Some(earlier) = history.iter().find(|earlier| self.opens(layer, earlier)) {
            let back = earlier.generation;
            let done = format!("went back to generation {back}; import or sync again for what came later");
            (Generation { generation, ..earlier.clone() }, done)
        } else {
            // Empty, but what there is of a source stays within reach; a journal of content that is gone does not.
            let sources = if keeps_source(layer) { damaged.sources.clone() } else { Vec::new() };
            let done = "is empty now; import or sync again".to_owned();
            (Generation { generation, sources, ..Generation::default() }, done)
        };
        let keep = self.inner.options.keep_generations as usize;
        let outcome = self.inner.dir.commit_then(
            &mut |loaded| {
                let mut manifest = folded(loaded, |_| {})?;
                let known = manifest.layers.entry(layer.name().to_owned()).or_default();
                if known.current != *damaged {
                    return Ok(Edit::Rebase);
                }
                known.current = next.clone();
                known.history.retain(|earlier| earlier.files != next.files && earlier.files != damaged.files);
                known.history.truncate(keep);
                Ok(Edit::Install(Box::new(manifest)))
            },
            &mut |_| {},
        )?;
        if !matches!(outcome, Outcome::Installed(_)) {
            return Ok(None);
        }
        for file in &damaged.files {
            self.inner.dir.quarantine(&file.name)?;
        }
        Ok(Some(done))
    }

    fn opens(&self, layer: Layer, earlier: &Generation) -> bool {
        !earlier.files.is_empty()
            && self
                .open_layer(layer, earlier.generation, &earlier.files)
                .and_then(|open| open.check_all())
                .is_ok()
    }

    /// The same content again from the source; `None` for a layer without one, or with one that is damaged too. A disk
    /// that is full is an error: content that is still on it must not be given up.
    fn rebuilt(&self, layer: Layer, damaged: &Generation, generation: u64) -> Result<Option<Generation>> {
        if damaged.sources.is_empty() || !keeps_source(layer) {
            return Ok(None);
        }
        let entries = match self.read_sources(&damaged.sources) {
            Ok(found) => source::fold(found),
            Err(Error::Storage(error)) if is_damage(&error) => {
                tracing::info!(%error, layer = layer.name(), "the source is damaged too");
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let built = build(layer, entries, self.registry(), generation)?;
        let files = self.write_files(layer, &built, &[])?;
        let sources = damaged.sources.clone();
        Ok(Some(Generation { generation, files, sources, digest: built.digest, skills: built.skills }))
    }

    /// The files that a source changes, the whole one first, and itself; with the layer that they are of.
    fn chain(&self, all: &[FileRef], last: &FileRef) -> Result<(Layer, Vec<FileRef>)> {
        let mut files = vec![last.clone()];
        let mut found = source::read(&last.name, &self.inner.dir.read_source(last)?)?;
        while let Some(name) = &found.after {
            let before = all.iter().find(|file| file.name == *name && files.len() <= SEGMENTS_KEPT_MAX);
            let before = before.ok_or_else(|| {
                StorageError::damaged(&last.name, format!("{name}, which it changes, is not there"))
            })?;
            found = source::read(&before.name, &self.inner.dir.read_source(before)?)?;
            files.insert(0, before.clone());
        }
        Ok((found.layer, files))
    }

    /// After `CURRENT` and its predecessor were lost: rebuilds the layers whose sources are still there.
    pub(crate) fn rebuild_recovered(&self, loaded: &Loaded) -> Result<()> {
        let generation = loaded.manifest.generation_floor + 1;
        let mut rebuilt: Vec<(Layer, Generation)> = Vec::new();
        let all = self.inner.dir.sources()?;
        for last in &all {
            let (layer, sources) = match self.chain(&all, last) {
                Ok(chain) => chain,
                Err(error) => {
                    tracing::warn!(%error, "a source is damaged and was left aside");
                    continue;
                }
            };
            // A layer that the manifest speaks of is as it says, also if that is empty.
            let known = loaded.manifest.layers.get(layer.name()).is_some_and(|l| l.current.generation > 0);
            // Sources come newest first: the first one of a layer is its truth.
            if known || !WITH_SOURCE.contains(&layer) || rebuilt.iter().any(|(other, _)| *other == layer) {
                continue;
            }
            let wanted = Generation { sources, ..Generation::default() };
            if let Some(next) = self.rebuilt(layer, &wanted, generation)? {
                let name = layer.name();
                tracing::warn!(
                    skills = next.skills,
                    "the {name} layer was lost and is built again from its source"
                );
                rebuilt.push((layer, next));
            }
        }
        self.inner.dir.commit_then(
            &mut |loaded| {
                if loaded.manifest.recovered.is_none() {
                    return Ok(Edit::Unchanged);
                }
                let mut manifest = folded(loaded, |kept| kept.recovered = loaded.manifest.recovered)?;
                for (layer, next) in &rebuilt {
                    manifest.layers.entry(layer.name().to_owned()).or_default().advance(next.clone(), 0);
                }
                manifest.recovered = None;
                Ok(Edit::Install(Box::new(manifest)))
            },
            &mut |_| {},
        )?;
        Ok(())
    }
}

/// What is wrong with which file, without the next step, which the healing took.
fn cause(error: &StorageError) -> String {
    match error {
        StorageError::Damaged { file, detail } => format!("{file}: {detail}"),
        other => other.to_string(),
    }
}
