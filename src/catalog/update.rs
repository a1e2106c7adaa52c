//! Changes: the content of a layer, and statements about entitlements.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::catalog::Catalog;
use crate::catalog::amend::Amendment;
use crate::catalog::plan::Plan;
use crate::catalog::report::Committed;
use crate::catalog::state::{Kept, State, kept};
use crate::catalog::write::keeps_source;
use crate::entitlement::{LocalStatement, Statement, Statements};
use crate::error::{Error, Problem, Result, StorageError};
use crate::limits::UPDATE_ATTEMPTS_MAX;
use crate::model::{Entry, Layer};
use crate::snapshot::{Denial, Edit, Generation, Loaded, Manifest, Outcome};

/// Writes the generation of that number on top of a current one; `None` if there is nothing to change.
pub(crate) type Write<'w> = dyn FnMut(&State, &Generation, u64) -> Result<Option<Generation>> + 'w;

impl Catalog {
    /// Replaces the content of a layer. `change` gets the current entries and answers the new full set, or `None` if
    /// there is nothing to do. It is called again, with newer entries, if another process committed meanwhile.
    ///
    /// Building takes no lock: queries and revocations go on. When this returns, the change is durable, and every
    /// query that begins later, in any process, sees it.
    ///
    /// # Errors
    /// What `change` answers; [`Error::Rejected`] with every problem if a skill breaks a rule or an id stands there
    /// twice; [`StorageError::Contended`] if others commit too often; a failure of the disk, after which nothing has
    /// changed.
    pub fn update(
        &self,
        layer: Layer,
        change: &mut dyn FnMut(Vec<Entry>) -> Result<Option<Vec<Entry>>>,
    ) -> Result<Committed> {
        refuse_bundled(layer)?;
        self.replace(layer, &mut |state, base, generation| {
            let (former, sound) = self.entries_and_source(state, layer)?;
            let entries = match change(former)? {
                // Nothing to change, but a source to mend.
                None if !sound => Some(self.entries_of(state, layer)?),
                other => other,
            };
            let Some(mut entries) = entries else { return Ok(None) };
            refuse_broken(layer, &entries)?;
            tidy(layer, &mut entries);
            // What is damaged is written anew, not changed.
            let open = state.layer(layer).filter(|_| sound).map(AsRef::as_ref);
            Ok(match Plan::new(open, entries, self.registry())? {
                Plan::Nothing => None,
                Plan::Whole(entries) => Some(self.write_whole(layer, entries, generation)?),
                Plan::Delta(delta) => Some(self.write_delta(state, layer, base, delta, generation)?),
            })
        })
    }

    /// Changes some skills of a layer: `puts` come in, in the place of those of the same id, `removes` go. What stays is
    /// neither read nor built again. Otherwise as [`Catalog::update`].
    ///
    /// Cost: the changed skills, and a directory over the layer (some milliseconds for 10,000 skills).
    ///
    /// # Errors
    /// As [`Catalog::update`].
    pub fn apply(&self, layer: Layer, puts: Vec<Entry>, removes: &BTreeSet<String>) -> Result<Committed> {
        let amendment = Amendment { puts, removes: removes.clone() };
        self.amend(layer, &mut |_| Ok(amendment.clone()))
    }

    /// Publishes what `write` makes of the current generation, with the number that it is to have; again if another
    /// process committed meanwhile. Nothing, or the files that are there already, is no new generation.
    pub(crate) fn replace(&self, layer: Layer, write: &mut Write<'_>) -> Result<Committed> {
        let begun = Instant::now();
        for _ in 0..UPDATE_ATTEMPTS_MAX {
            let state = self.current()?;
            let base = current_of(&state.loaded.manifest, layer);
            let generation = base.generation.max(state.loaded.manifest.generation_floor) + 1;
            let next = write(&state, &base, generation)?;
            let Some(next) = next.filter(|next| next.files != base.files || next.sources != base.sources)
            else {
                self.inner.dir.announce()?;
                return Ok(Committed { generation: base.generation, changed: false });
            };
            if let Some(committed) = self.publish(layer, &base, &next)? {
                let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                tracing::info!(layer = layer.name(), generation, took_ms, "published a generation");
                return Ok(committed);
            }
            tracing::debug!(layer = layer.name(), "the layer changed meanwhile; building again");
        }
        Err(StorageError::Contended { layer: layer.name(), attempts: UPDATE_ATTEMPTS_MAX }.into())
    }

    /// Commits a generation on top of `base`; `None` if the base is no longer current.
    pub(crate) fn publish(
        &self,
        layer: Layer,
        base: &Generation,
        next: &Generation,
    ) -> Result<Option<Committed>> {
        let keep = self.inner.options.keep_generations as usize;
        let generation = next.generation;
        // Before the lock, which revocations wait for. What cannot be opened is opened, or healed, by the next query.
        let ready = if next.files.is_empty() {
            None
        } else {
            self.open_layer(layer, generation, &next.files).ok().map(Arc::new)
        };
        let outcome = self.inner.dir.commit_then(
            &mut |loaded| {
                if current_of(&loaded.manifest, layer) != *base {
                    return Ok(Edit::Rebase);
                }
                let mut manifest = folded(loaded, |kept| kept.recovered = None)?;
                manifest.layers.entry(layer.name().to_owned()).or_default().advance(next.clone(), keep);
                manifest.recovered = None;
                Ok(Edit::Install(Box::new(manifest)))
            },
            &mut |loaded| self.install(loaded, ready.as_ref()),
        )?;
        Ok(match outcome {
            Outcome::Installed(_) | Outcome::Unchanged(_) => Some(Committed { generation, changed: true }),
            Outcome::Rebase => None,
        })
    }

    /// Makes a statement about entitlements durable and effective: no query that begins after this has returned, in
    /// any process of the machine, sees what it masks. Waits at most one second for another writer, and works on a
    /// full disk.
    ///
    /// A statement that stands already is announced again, so that repeating one whose first try was killed is safe.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] if the text cannot be an id or a subscription; [`StorageError::Locked`];
    /// [`StorageError::RingFull`], after which every synced skill is hidden until [`Catalog::resume`].
    pub fn declare(&self, statement: LocalStatement) -> Result<()> {
        statement.check().map_err(|problem| Error::InvalidArguments { problems: vec![problem] })?;
        let state = self.current()?;
        let statement = Statement::Local(statement);
        if !Statements::clone(&state.statements).apply(&statement) {
            return Ok(self.inner.dir.announce()?);
        }
        self.make_room(&state);
        let (kind, payload) = statement.encode();
        if statement.masks() {
            self.inner.dir.append_statement(kind, &payload)?;
        } else {
            self.inner.dir.append_grant(kind, &payload)?;
        }
        self.inner.unfolded.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Folds a ring that is getting full.
    pub(crate) fn make_room(&self, state: &State) {
        // A slot is free when both manifests, the current one and the one before, contain its statement: the second fold
        // is left to the next statement as long as there is room.
        let folds =
            [RING_FOLD_AT, RING_FOLD_TWICE_AT].into_iter().filter(|full| state.loaded.ring_used >= *full);
        for _ in folds {
            if let Err(error) = self.fold_now() {
                // There is still room for many statements, or what cannot be written says so.
                tracing::warn!(%error, "the revocation ring cannot be folded");
                break;
            }
        }
    }

    /// Shows the synced layer again after it was suspended because a revocation could not be written or may have been
    /// lost with a damaged ring. For the operator: repeat the statements that were refused, or sync, before this.
    ///
    /// # Errors
    /// The disk cannot be written.
    pub fn resume(&self) -> Result<()> {
        // In this order, each step of which may be the last: until the third the manifest says that it is suspended.
        self.fold_now()?;
        self.inner.dir.set_deny_all(Denial::No)?;
        self.commit(&mut |loaded| folded(loaded, |kept| (kept.suspended, kept.unsure) = (false, false)))
    }

    /// Moves the statements of the ring into `CURRENT`, so that each of them stands in two places: damage to one of
    /// them loses none. [`Catalog::declare`] is durable and effective without it; a catalog that stays open does
    /// this by itself within about a second, a process that ends sooner calls it. Nothing to do costs nothing.
    ///
    /// # Errors
    /// The disk cannot be written; the statements stand all the same.
    pub fn fold(&self) -> Result<()> {
        let loaded = self.inner.dir.load()?;
        if loaded.statements.is_empty() && loaded.ring_damage.is_none() && loaded.deny_all == Denial::No {
            return Ok(());
        }
        self.fold_now()
    }

    pub(crate) fn fold_now(&self) -> Result<()> {
        let mut broken = false;
        self.commit(&mut |loaded| {
            broken = loaded.ring_damage.is_some();
            folded(loaded, |_| {})
        })?;
        if broken {
            // Only now: the manifest says what follows from the damage.
            self.inner.dir.repair_ring()?;
        }
        Ok(())
    }

    /// Commits a change that needs no new files.
    pub(crate) fn commit(&self, edit: &mut dyn FnMut(&Loaded) -> Result<Manifest>) -> Result<()> {
        let outcome = self.inner.dir.commit_then(
            &mut |loaded| Ok(Edit::Install(Box::new(edit(loaded)?))),
            &mut |loaded| {
                self.install(loaded, None);
            },
        )?;
        match outcome {
            Outcome::Installed(_) | Outcome::Unchanged(_) => Ok(()),
            // Nothing new is reached, so that nothing can be gone; if it is, nothing was published.
            Outcome::Rebase => Err(StorageError::Contended { layer: "whole", attempts: 1 }.into()),
        }
    }

    /// Publishes the previous generation of a layer again, under a new number. Sync is held until it is resumed, and
    /// no revocation is lifted.
    ///
    /// # Errors
    /// [`StorageError::NoEarlierGeneration`]; a failure of the disk.
    pub fn rollback(&self, layer: Layer) -> Result<Committed> {
        refuse_bundled(layer)?;
        let mut committed = Committed { generation: 0, changed: false };
        self.commit(&mut |loaded| {
            let mut manifest = folded(loaded, |kept| kept.sync_held |= layer == Layer::Synced)?;
            let known = manifest.layers.entry(layer.name().to_owned()).or_default();
            if known.history.is_empty() {
                return Err(StorageError::NoEarlierGeneration { layer: layer.name() }.into());
            }
            let mut next = known.history.remove(0);
            next.generation = known.current.generation.max(loaded.manifest.generation_floor) + 1;
            committed = Committed { generation: next.generation, changed: true };
            known.advance(next, self.inner.options.keep_generations as usize);
            Ok(manifest)
        })?;
        Ok(committed)
    }

    /// Mends what is damaged, as [`Catalog::heal`], and removes files that nothing reaches any more; answers the bytes
    /// freed. Cost: a walk through all layers.
    ///
    /// # Errors
    /// The lock cannot be had, or a file cannot be removed.
    pub fn compact(&self) -> Result<u64> {
        self.heal()?;
        self.fold_now()?;
        self.join_synced()?;
        Ok(self.inner.dir.collect()?)
    }
}

/// Records of the ring in use from which on it is folded before the next statement: a third of it, since a slot is free
/// only after two manifests contain its statement.
const RING_FOLD_AT: usize = 341;
/// Records of the ring in use from which on it is folded twice: folding failed for long, on a full disk.
const RING_FOLD_TWICE_AT: usize = 768;

/// A copy of the manifest that contains every statement of the ring. `edit` changes what it keeps beside the layers
/// after that.
pub(crate) fn folded(loaded: &Loaded, edit: impl FnOnce(&mut Kept)) -> Result<Manifest> {
    let mut manifest = (*loaded.manifest).clone();
    let mut state = kept(loaded)?;
    for found in &loaded.statements {
        let Some(statement) = Statement::decode(found.kind, &found.payload) else {
            let detail = format!(
                "statement {} is of kind {}, which this version does not know",
                found.seq, found.kind
            );
            return Err(StorageError::damaged("revocations", detail).into());
        };
        state.statements.apply(&statement);
    }
    edit(&mut state);
    // A damaged ring may have lost a revocation: hide what it could have been about until it is known again. Likewise
    // what the epoch page says, which somebody may replace.
    state.suspended |= loaded.deny_all == Denial::UntilResumed;
    state.unsure |= loaded.ring_damage.is_some() || loaded.deny_all == Denial::UntilFetched;
    manifest.folded_seq = loaded.last_seq.max(manifest.folded_seq);
    manifest.state =
        serde_json::to_value(&state).map_err(|error| StorageError::damaged("CURRENT", error.to_string()))?;
    Ok(manifest)
}

pub(crate) fn current_of(manifest: &Manifest, layer: Layer) -> Generation {
    manifest.layers.get(layer.name()).map(|known| known.current.clone()).unwrap_or_default()
}

pub(crate) fn refuse_bundled(layer: Layer) -> Result<()> {
    if layer != Layer::Bundled {
        return Ok(());
    }
    let message = "the bundled layer is part of the program; choose synced, local or learned";
    Err(Error::InvalidArguments {
        problems: vec![Problem::new("invalid_layer", "layer", message).got("bundled")],
    })
}

/// What a layer does not keep is taken away, and the order is that of the ids.
pub(crate) fn tidy(layer: Layer, entries: &mut [Entry]) {
    for entry in entries.iter_mut() {
        if keeps_source(layer) {
            entry.subscriptions.clear();
        }
        entry.subscriptions.sort_unstable();
        entry.subscriptions.dedup();
    }
    entries.sort_by(|a, b| a.skill.id.cmp(&b.skill.id));
}

/// Refuses a set with a skill that breaks a rule of the model, with every problem.
pub(crate) fn refuse_broken(layer: Layer, entries: &[Entry]) -> Result<()> {
    let mut problems = Vec::new();
    for entry in entries {
        for mut problem in entry.skill.problems() {
            problem.field = format!("{}: {}", entry.skill.id, problem.field);
            problems.push(problem);
        }
        if entry.resources.len() != entry.skill.resources.len() {
            let message = "the number of resources differs from the bytes that are given";
            problems.push(Problem::new(
                "missing_resource",
                format!("{}: resources", entry.skill.id),
                message,
            ));
        }
        if layer == Layer::Synced && entry.subscriptions.is_empty() {
            let message = "a synced skill belongs to at least one subscription; name it";
            problems.push(Problem::new(
                "missing_field",
                format!("{}: subscriptions", entry.skill.id),
                message,
            ));
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Rejected { what: format!("the {} layer", layer.name()), problems })
    }
}

impl State {
    /// The published generation of a layer.
    pub(crate) fn generation(&self, layer: Layer) -> Option<&Generation> {
        self.loaded.manifest.layers.get(layer.name()).map(|known| &known.current)
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::snapshot::Denial;

    #[test]
    fn a_suspension_outlives_the_page_that_said_it_until_it_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(dir.path().join("data")).unwrap();
        catalog.inner.dir.set_deny_all(Denial::UntilResumed).unwrap();
        catalog.fold().unwrap();
        std::fs::remove_file(catalog.path().join("epoch")).unwrap();
        let reopened = Catalog::open(catalog.path()).unwrap();
        assert_eq!(reopened.status().unwrap().sync.state, "SUSPENDED");
        reopened.resume().unwrap();
        assert_ne!(reopened.status().unwrap().sync.state, "SUSPENDED");
    }
}
