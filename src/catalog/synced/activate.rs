//! Content and counters as one commit.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::catalog::files::JOURNAL_SCHEMA;
use crate::catalog::plan::{Delta, WHOLE_FROM};
use crate::catalog::report::Committed;
use crate::catalog::state::{State, kept};
use crate::catalog::synced::trust::Standing;
use crate::catalog::synced::{Journal, Moment, Trust};
use crate::catalog::update::{current_of, folded, refuse_broken, tidy};
use crate::error::{Error, Result};
use crate::model::{Entry, Layer};
use crate::snapshot::{Edit, Generation, Outcome};

/// What the files of a journal begin with.
const JOURNAL_PREFIX: &str = "synced-journal";

/// What a change of the synced layer begins with.
#[derive(Clone, Debug)]
pub(crate) struct SyncBase {
    state: Arc<State>,
    generation: Generation,
    /// The journal; empty if there is none. If it is damaged, what the published skills tell, without cursors: then
    /// everything is asked for again, and what is no longer in the answer is known to go.
    pub(crate) journal: Arc<Journal>,
}

/// A change of the synced layer for one subscription.
#[derive(Debug)]
pub(crate) struct SyncChange {
    /// The subscription.
    pub(crate) subscription: String,
    /// Skills to put in, in the place of those of the same id.
    pub(crate) puts: Vec<Entry>,
    /// Ids to take out.
    pub(crate) removes: BTreeSet<String>,
    /// The journal afterwards.
    pub(crate) journal: Journal,
    /// When it was asked for.
    pub(crate) checked: Option<Moment>,
}

impl SyncBase {
    /// The published copy of a skill, with the subscriptions that bring it.
    pub(crate) fn entry(&self, id: &str) -> Result<Option<Entry>> {
        let Some(open) = self.state.layer(Layer::Synced) else { return Ok(None) };
        let live = crate::catalog::state::ordinal_of(open, id)?.filter(|ordinal| open.live.test(*ordinal));
        live.map(|ordinal| open.entry(ordinal)).transpose()
    }

    /// The files of the generation.
    #[cfg(test)]
    pub(crate) fn file_names(&self) -> BTreeSet<String> {
        let files = self.generation.files.iter().chain(&self.generation.sources);
        files.map(|file| file.name.clone()).collect()
    }

    /// What is trusted of a subscription.
    pub(crate) fn trust(&self, subscription: &str) -> Trust {
        self.state.base.sync.get(subscription).cloned().unwrap_or_default()
    }

    /// Whether content is held after a rollback.
    pub(crate) fn is_held(&self) -> bool {
        self.state.base.sync_held
    }

    /// Whether something may be missing that only the platform can say again.
    pub(crate) fn is_unsure(&self) -> bool {
        self.state.is_unsure()
    }

    /// Suspensions of a subscription that a document asked for now speaks of.
    pub(crate) fn suspensions(&self, subscription: &str) -> std::collections::BTreeMap<String, u64> {
        self.state.statements.suspensions(subscription)
    }
}

impl Catalog {
    /// What the next change of the synced layer begins with. Cost: the journal, unless it is the one that `former`
    /// read.
    ///
    /// # Errors
    /// The state cannot be opened.
    pub(crate) fn sync_base(&self, former: Option<&SyncBase>) -> Result<SyncBase> {
        let state = self.current()?;
        let generation = current_of(&state.loaded.manifest, Layer::Synced);
        if let Some(former) = former.filter(|former| former.generation.sources == generation.sources) {
            return Ok(SyncBase { state, generation, journal: Arc::clone(&former.journal) });
        }
        let read = generation.sources.first().map(|file| {
            let opened = self.inner.dir.open_file(file, &JOURNAL_SCHEMA).map_err(Error::from);
            opened.and_then(|file| Journal::read(&file))
        });
        let journal = match read {
            None => Journal::default(),
            Some(Ok(journal)) => journal,
            Some(Err(error)) => {
                tracing::warn!(%error, "the journal of the sync cannot be read; the whole catalog is fetched again");
                match state.layer(Layer::Synced) {
                    Some(open) => Journal::of_published(&open.entries()?),
                    None => Journal::default(),
                }
            }
        };
        Ok(SyncBase { state, generation, journal: Arc::new(journal) })
    }

    /// Activates a change; `None` if what it begins with is no longer current.
    ///
    /// # Errors
    /// A failure of the disk, after which nothing has changed.
    pub(crate) fn activate(&self, base: &SyncBase, change: SyncChange) -> Result<Option<Committed>> {
        let SyncChange { subscription, mut puts, removes, journal, checked } = change;
        refuse_broken(Layer::Synced, &puts)?;
        tidy(Layer::Synced, &mut puts);
        let floor = base.state.loaded.manifest.generation_floor;
        let number = base.generation.generation.max(floor) + 1;
        let content = self.write_content(base, puts, &removes, number)?;
        let moved = content.files != base.generation.files;
        let file = self.inner.dir.write_file(JOURNAL_PREFIX, &journal.build(number)?)?;
        let next = Generation { sources: vec![file], ..content };
        let head = journal.shelves.get(&subscription).map(|shelf| shelf.head.clone()).unwrap_or_default();
        let ready = if next.files.is_empty() {
            None
        } else {
            self.open_layer(Layer::Synced, number, &next.files).ok().map(Arc::new)
        };
        let keep = self.inner.options.keep_generations as usize;
        let outcome = self.inner.dir.commit_then(
            &mut |loaded| {
                let known = kept(loaded)?;
                let trust = known.sync.get(&subscription).cloned().unwrap_or_default();
                let stands = trust.compare(&head.history);
                let behind = stands == Standing::Older || stands == Standing::Same && head.seq < trust.seq;
                if current_of(&loaded.manifest, Layer::Synced) != base.generation || known.sync_held || behind
                {
                    return Ok(Edit::Rebase);
                }
                let mut manifest = folded(loaded, |kept| {
                    let trust = kept.sync.entry(subscription.clone()).or_default();
                    trust.follow(&head.history);
                    trust.seq = trust.seq.max(head.seq);
                    trust.checked.clone_from(&checked);
                    kept.recovered = None;
                })?;
                let layer = manifest.layers.entry(Layer::Synced.name().to_owned()).or_default();
                if moved {
                    layer.advance(next.clone(), keep);
                } else {
                    // Only counters moved: there is nothing new to go back from.
                    layer.current = next.clone();
                }
                manifest.recovered = None;
                Ok(Edit::Install(Box::new(manifest)))
            },
            &mut |loaded| self.install(loaded, ready.as_ref()),
        )?;
        Ok(match outcome {
            Outcome::Installed(_) | Outcome::Unchanged(_) => {
                Some(Committed { generation: number, changed: moved })
            }
            Outcome::Rebase => None,
        })
    }

    /// The files of the changed content; those of the base if nothing changes.
    fn write_content(
        &self,
        base: &SyncBase,
        puts: Vec<Entry>,
        removes: &BTreeSet<String>,
        number: u64,
    ) -> Result<Generation> {
        let Some(open) = base.state.layer(Layer::Synced) else {
            return self.write_whole(Layer::Synced, puts, number);
        };
        let live = usize::try_from(open.live.count()).unwrap_or(usize::MAX);
        if (puts.len() + removes.len()).saturating_mul(WHOLE_FROM) > live {
            let mut all = Vec::with_capacity(live + puts.len());
            for ordinal in open.live.iter() {
                let id = open.record(ordinal)?.id.as_str();
                let is_put = puts.binary_search_by(|entry| entry.skill.id.as_str().cmp(id)).is_ok();
                if !is_put && !removes.contains(id) {
                    all.push(open.entry(ordinal)?);
                }
            }
            all.extend(puts);
            tidy(Layer::Synced, &mut all);
            return self.write_whole(Layer::Synced, all, number);
        }
        let delta = Delta::new(open, &puts, removes)?;
        if delta.puts.is_empty() && delta.removes.is_empty() {
            return Ok(Generation { generation: number, ..base.generation.clone() });
        }
        self.write_delta(&base.state, Layer::Synced, &base.generation, delta, number)
    }

    /// Joins the segments of the synced layer, if small changes left several of them or dead skills: the bytes are then
    /// those that the content alone decides. Nothing to go back to is lost.
    pub(crate) fn join_synced(&self) -> Result<()> {
        let state = self.current()?;
        let base = current_of(&state.loaded.manifest, Layer::Synced);
        let Some(open) = state.layer(Layer::Synced) else { return Ok(()) };
        if open.segments().len() <= 1 && open.live.count() == u64::from(open.ordinals()) {
            return Ok(());
        }
        let number = base.generation.max(state.loaded.manifest.generation_floor) + 1;
        let written = self.write_whole(Layer::Synced, open.entries()?, number)?;
        let next = Generation { sources: base.sources.clone(), ..written };
        self.inner.dir.commit_then(
            &mut |loaded| {
                // Whoever changed it meanwhile has done some joining of their own.
                if current_of(&loaded.manifest, Layer::Synced) != base {
                    return Ok(Edit::Unchanged);
                }
                let mut manifest = folded(loaded, |_| {})?;
                manifest.layers.entry(Layer::Synced.name().to_owned()).or_default().current = next.clone();
                Ok(Edit::Install(Box::new(manifest)))
            },
            &mut |loaded| self.install(loaded, None),
        )?;
        Ok(())
    }

    /// Lets content come in again after a rollback.
    ///
    /// # Errors
    /// The disk cannot be written.
    pub fn resume_sync(&self) -> Result<()> {
        if !self.current()?.base.sync_held {
            return Ok(());
        }
        self.commit(&mut |loaded| folded(loaded, |kept| kept.sync_held = false))
    }
}
