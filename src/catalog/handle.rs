//! The catalog handle: one data directory, one current state a process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::catalog::open::OpenLayer;
use crate::catalog::options::{BundledMode, FollowMode, MapMode, Options};
use crate::catalog::source::{self, Found};
use crate::catalog::state::State;
use crate::catalog::synced::Aging;
use crate::catalog::visibility;
use crate::catalog::write::keeps_source;
use crate::catalog::{History, Look, View, bundled};
use crate::entitlement::Narrowing;
use crate::error::{Error, Result, StorageError};
use crate::limits::LOOKS_CACHED_MAX;
use crate::model::{Entry, Layer};
use crate::snapshot::{DataDir, FileRef, Follow, Loaded, MapKind, OpenOptions, SectionFile, TICK};
use crate::tools::ToolRegistry;

use super::files::{DIRECTORY_SCHEMA, SEGMENT_SCHEMA};

/// How often damage is healed in a row before a layer is left out.
const HEALING_MAX: u32 = 3;
/// How long nothing is healed after healing failed.
const HEALING_PAUSE: Duration = Duration::from_secs(10);

/// A handle on one data directory. `Clone + Send + Sync`, cheap to clone, and free of async.
///
/// Any number of processes may hold one on the same directory, and any of them may write: all follow each other.
#[derive(Clone, Debug)]
pub struct Catalog {
    pub(crate) inner: Arc<Inner>,
}

/// What [`Catalog::current`] finds.
enum Current {
    Is(Arc<State>),
    NeedsHealing,
    NeedsRebuild(Box<Loaded>),
}

/// What the clones of a handle share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) dir: DataDir,
    pub(crate) options: Options,
    state: Mutex<Option<Arc<State>>>,
    looks: Mutex<Vec<(Arc<Narrowing>, Weak<Look>)>>,
    pub(crate) history: Mutex<History>,
    /// When healing failed last.
    healing_failed: Mutex<Option<Instant>>,
    /// This process made a statement that may be in the ring alone.
    pub(crate) unfolded: AtomicBool,
    /// When each subscription was checked last.
    pub(crate) aging: Arc<Aging>,
}

impl Catalog {
    /// Opens a data directory with the default [`Options`]; creates it if it is missing.
    ///
    /// # Errors
    /// The directory cannot be created or written, is not ours, or belongs to a newer version.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> repertoire::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let catalog = repertoire::Catalog::open(dir.path().join("data"))?;
    /// let mut view = catalog.view(repertoire::Narrowing::default());
    /// let page = view.pin()?.list(&repertoire::Filter::default(), 5, None)?.skills.len();
    /// assert_eq!(page, 5, "the bundled starter set is there from the start");
    /// # Ok(())
    /// # }
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Options::default())
    }

    /// Opens a data directory with options.
    ///
    /// # Errors
    /// As [`Catalog::open`].
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let map = match options.map {
            MapMode::File => MapKind::File,
            MapMode::Memory => MapKind::Memory,
        };
        let follow = match options.follow {
            FollowMode::Auto => None,
            FollowMode::Pread => Some(Follow::Pread),
        };
        let open = OpenOptions { map, follow, ..OpenOptions::default() };
        let dir = DataDir::open(path.as_ref(), &open)?;
        let catalog = Self::on(dir, options);
        catalog.start_ticker()?;
        Ok(catalog)
    }

    /// A catalog on an open data directory, without the tick of a second.
    pub(crate) fn on(dir: DataDir, options: Options) -> Self {
        let aging = Arc::new(Aging::new(dir.clone()));
        aging.refresh();
        Self {
            inner: Arc::new(Inner {
                dir,
                options,
                state: Mutex::new(None),
                looks: Mutex::new(Vec::new()),
                history: Mutex::new(History::default()),
                healing_failed: Mutex::new(None),
                unfolded: AtomicBool::new(false),
                aging,
            }),
        }
    }

    /// Looks once a second whether files were replaced behind our back (a restored backup, say), and folds what this
    /// process stated, for as long as the catalog is open.
    fn start_ticker(&self) -> Result<()> {
        let inner = Arc::downgrade(&self.inner);
        let ticker = std::thread::Builder::new().name("repertoire-tick".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(TICK);
                let Some(inner) = inner.upgrade() else { return };
                inner.dir.tick();
                let catalog = Self { inner };
                catalog.tick_sync();
                let inner = &catalog.inner;
                if inner.unfolded.swap(false, Ordering::Relaxed) {
                    let folded = catalog.fold();
                    // It stands in the ring; the next statement or commit folds it.
                    drop(folded.inspect_err(|error| tracing::debug!(%error, "not folded")));
                }
            }
        });
        ticker.map(drop).map_err(|error| StorageError::io("start a thread for", self.path(), error).into())
    }

    /// A view with the deployment's entitlements, narrowed (the default narrows nothing). Costs nothing; the first
    /// pin opens the state.
    #[must_use]
    pub fn view(&self, narrowing: Narrowing) -> View {
        View::new(self.clone(), narrowing)
    }

    /// The tools of this deployment.
    #[must_use]
    pub fn registry(&self) -> &Arc<ToolRegistry> {
        &self.inner.options.registry
    }

    /// The data directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.inner.dir.path()
    }

    /// The number that moves with every change.
    pub(crate) fn epoch(&self) -> u64 {
        self.inner.dir.epoch()
    }

    /// The state that was opened last, if one was.
    pub(crate) fn opened(&self) -> Option<Arc<State>> {
        self.inner.state.lock().clone()
    }

    /// What a caller sees now. Looks of equal narrowing are shared within the process.
    pub(crate) fn look(&self, narrowing: &Arc<Narrowing>) -> Result<Arc<Look>> {
        let mut state = self.current()?;
        if let Some(look) = self.shared_look(narrowing, &state) {
            return Ok(look);
        }
        let learned = self.inner.options.learned_visible;
        let seen = match visibility::seen(&state, narrowing, learned) {
            // A record that a statement is about is damaged: heal, and look once more.
            Err(Error::Storage(error)) if is_damage(&error) => {
                tracing::info!(%error, "damage found while deciding who sees what");
                state.mark_damaged();
                state = self.current()?;
                visibility::seen(&state, narrowing, learned)?
            }
            seen => seen?,
        };
        let look = Arc::new(Look::new(state, seen, Arc::clone(self.registry())));
        let mut looks = self.inner.looks.lock();
        looks.retain(|(known, look)| look.strong_count() > 0 && known != narrowing);
        if looks.len() >= LOOKS_CACHED_MAX {
            looks.remove(0);
        }
        looks.push((Arc::clone(narrowing), Arc::downgrade(&look)));
        Ok(look)
    }

    fn shared_look(&self, narrowing: &Arc<Narrowing>, state: &Arc<State>) -> Option<Arc<Look>> {
        let looks = self.inner.looks.lock();
        let mut known =
            looks.iter().filter(|(known, _)| known == narrowing).filter_map(|(_, look)| look.upgrade());
        known.find(|look| Arc::ptr_eq(&look.state, state))
    }

    /// The state of this epoch, opened, and healed if need be.
    pub(crate) fn current(&self) -> Result<Arc<State>> {
        for round in 0..=HEALING_MAX {
            // Healing waits for the lock of the directory, whose holder waits for the slot: never hold both.
            match self.try_current(round == HEALING_MAX)? {
                Current::Is(state) => return Ok(state),
                Current::NeedsHealing => self.heal_once(),
                Current::NeedsRebuild(loaded) => self.rebuild_recovered(&loaded)?,
            }
        }
        Err(StorageError::damaged("data directory", "damage comes back after healing").into())
    }

    fn try_current(&self, tolerant: bool) -> Result<Current> {
        let mut slot = self.inner.state.lock();
        let may_heal = !tolerant && !self.healing_failed_lately();
        if let Some(state) = slot.as_ref() {
            if state.epoch == self.epoch() && !(state.is_damaged() && may_heal) {
                return Ok(Current::Is(Arc::clone(state)));
            }
            if state.is_damaged() && may_heal {
                // Opening alone would not find what a first touch found.
                *slot = None;
                return Ok(Current::NeedsHealing);
            }
        }
        let former = slot.take();
        let opened = self
            .inner
            .dir
            .load_with(&mut |loaded| self.open_layers(loaded, former.as_deref(), None, !may_heal));
        let (loaded, layers) = match opened {
            Ok((loaded, _)) if loaded.manifest.recovered.is_some() && may_heal => {
                return Ok(Current::NeedsRebuild(Box::new(loaded)));
            }
            Ok(opened) => opened,
            Err(Error::Storage(error)) if is_damage(&error) && may_heal => {
                tracing::info!(%error, "a layer is damaged; healing it");
                return Ok(Current::NeedsHealing);
            }
            Err(error) => return Err(error),
        };
        let state = Arc::new(State::new(loaded, layers, former.as_deref(), Arc::clone(&self.inner.aging))?);
        *slot = Some(Arc::clone(&state));
        drop(slot);
        self.inner.history.lock().note(&state);
        Ok(Current::Is(state))
    }

    /// Heals; a failure (a full disk, say) is remembered for a while, in which the rest is served as it is.
    fn heal_once(&self) {
        match self.heal() {
            Ok(_) => *self.inner.healing_failed.lock() = None,
            Err(error) => {
                tracing::error!(%error, "healing failed; serving what is left");
                *self.inner.healing_failed.lock() = Some(Instant::now());
            }
        }
    }

    fn healing_failed_lately(&self) -> bool {
        self.inner.healing_failed.lock().is_some_and(|at| at.elapsed() < HEALING_PAUSE)
    }

    /// Makes what a commit installed the state of this process, before others learn of it. Called under the lock of the
    /// directory, so that it waits for nobody: if the slot is taken, the next query opens the state. `ready` is the
    /// changed layer, opened before, because that takes long for a large one.
    pub(crate) fn install(&self, loaded: &Loaded, ready: Option<&Arc<OpenLayer>>) {
        let Some(mut slot) = self.inner.state.try_lock() else { return };
        let former = slot.take().filter(|state| !state.is_damaged());
        let state = self.open_layers(loaded, former.as_deref(), ready, false).and_then(|layers| {
            State::new(loaded.clone(), layers, former.as_deref(), Arc::clone(&self.inner.aging))
        });
        match state {
            Ok(state) => {
                let state = Arc::new(state);
                *slot = Some(Arc::clone(&state));
                drop(slot);
                self.inner.history.lock().note(&state);
            }
            Err(error) => tracing::warn!(%error, "a committed state does not open; the next query heals it"),
        }
    }

    /// Opens the layers of a manifest; those that did not change are taken from the former state, and `ready` is open.
    fn open_layers(
        &self,
        loaded: &Loaded,
        former: Option<&State>,
        ready: Option<&Arc<OpenLayer>>,
        tolerant: bool,
    ) -> Result<Vec<Arc<OpenLayer>>> {
        let mut layers = Vec::new();
        for layer in [Layer::Synced, Layer::Local, Layer::Learned] {
            let Some(known) = loaded.manifest.layers.get(layer.name()) else { continue };
            if known.current.files.is_empty() {
                continue;
            }
            // A generation has one content: `publish` opens what it commits.
            let generation = known.current.generation;
            if let Some(open) = ready.filter(|open| open.layer == layer && open.generation == generation) {
                layers.push(Arc::clone(open));
                continue;
            }
            let same =
                former.and_then(|state| state.layer(layer).map(|open| (state, open))).filter(|(state, _)| {
                    state.loaded.manifest.layers.get(layer.name()).is_some_and(|l| l.current == known.current)
                });
            if let Some((_, open)) = same {
                layers.push(Arc::clone(open));
                continue;
            }
            match self.open_layer(layer, generation, &known.current.files) {
                Ok(open) => layers.push(Arc::new(open)),
                Err(error) if tolerant => {
                    tracing::error!(%error, "the {} layer cannot be read and is left out", layer.name());
                }
                Err(error) => return Err(error),
            }
        }
        if self.shows_bundled(loaded) {
            layers.push(bundled::layer(self.registry())?);
        }
        Ok(layers)
    }

    /// Opens one generation.
    pub(crate) fn open_layer(&self, layer: Layer, generation: u64, files: &[FileRef]) -> Result<OpenLayer> {
        let mut opened: Vec<Arc<SectionFile>> = Vec::with_capacity(files.len());
        for (index, file) in files.iter().enumerate() {
            let schema = if index == 0 { &DIRECTORY_SCHEMA } else { &SEGMENT_SCHEMA };
            opened.push(self.inner.dir.open_file(file, schema)?);
        }
        OpenLayer::new(layer, generation, opened, self.registry())
    }

    /// Whether the starter set shows, by the rule of `auto`.
    fn shows_bundled(&self, loaded: &Loaded) -> bool {
        match self.inner.options.bundled {
            BundledMode::Always => true,
            BundledMode::Never => false,
            BundledMode::Auto => {
                !self.inner.options.sync_configured
                    && !loaded.manifest.layers.values().any(|layer| layer.ever_filled)
            }
        }
    }

    /// The entries of a layer: from its source, else from its snapshot; the bundled ones from the program.
    ///
    /// # Errors
    /// Neither can be read.
    pub fn entries(&self, layer: Layer) -> Result<Vec<Entry>> {
        let state = self.current()?;
        self.entries_of(&state, layer)
    }

    /// What source files hold, in their order.
    pub(crate) fn read_sources(&self, sources: &[FileRef]) -> Result<Vec<Found>> {
        let read = |file: &FileRef| source::read(&file.name, &self.inner.dir.read_source(file)?);
        sources.iter().map(read).collect()
    }

    pub(crate) fn entries_of(&self, state: &State, layer: Layer) -> Result<Vec<Entry>> {
        Ok(self.entries_and_source(state, layer)?.0)
    }

    /// The entries, and whether they come from where they should.
    pub(crate) fn entries_and_source(&self, state: &State, layer: Layer) -> Result<(Vec<Entry>, bool)> {
        let mut sound = true;
        let known = state.loaded.manifest.layers.get(layer.name());
        let with_source = known.filter(|known| keeps_source(layer) && !known.current.sources.is_empty());
        if let Some(known) = with_source {
            match self.read_sources(&known.current.sources) {
                Ok(found) => return Ok((source::fold(found), true)),
                Err(error) => {
                    tracing::warn!(%error, "the source is damaged; reading the snapshot instead");
                    sound = false;
                }
            }
        }
        let entries = match (state.layer(layer), layer) {
            (Some(open), _) => open.entries()?,
            (None, Layer::Bundled) => bundled::layer(self.registry())?.entries()?,
            (None, _) => Vec::new(),
        };
        Ok((entries, sound))
    }
}

/// Whether healing may help: a damaged or missing file, or something else of its name, not a lock, a limit or a refusal
/// of the operating system.
pub(crate) fn is_damage(error: &StorageError) -> bool {
    match error {
        StorageError::Damaged { .. } => true,
        StorageError::Io { source, .. } => {
            matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidData)
        }
        _ => false,
    }
}
