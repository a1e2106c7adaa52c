//! The reader's protocol: look at the epoch, read, look again; keep what was read only if the epoch stood still.

use std::io;
use std::sync::Arc;

use super::dir::DataDir;
use super::epoch::Denial;
use super::held::Held;
use super::manifest::Manifest;
use super::names::{CURRENT, PREVIOUS, RING};
use super::recover::last_good;
use super::ring::{RING_BYTES, Ring, RingStatement};
use super::storage::{OpenMode, Storage, StorageFile, read_all};
use crate::error::{Result, StorageError};
use crate::limits::MANIFEST_BYTES_MAX;

/// Rounds of the protocol before a reader gives up: each lost round means that a writer committed.
const ROUNDS_MAX: u32 = 10_000;
/// Recoveries in one load: a second one means that somebody damages files as we look.
const RECOVERIES_MAX: u32 = 3;
/// Rounds without a pause.
const ROUNDS_EAGER: u32 = 16;

/// One consistent state of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The epoch that it belongs to.
    pub(crate) epoch: u64,
    /// The manifest.
    pub(crate) manifest: Arc<Manifest>,
    /// Statements that the manifest does not contain yet, in order.
    pub(crate) statements: Vec<RingStatement>,
    /// A revocation could not be written: the synced layer is suspended.
    pub(crate) deny_all: Denial,
    /// The ring is damaged, a revocation may be lost: to be treated like a denial until the platform was asked again.
    pub(crate) ring_damage: Option<String>,
    /// Records of the ring that are in use, of [`SLOTS`](super::ring::SLOTS).
    pub(crate) ring_used: usize,
    /// Highest number of a complete statement: what a manifest that contains them all says in `folded_seq`.
    pub(crate) last_seq: u64,
}

/// What was read last, so that a revocation costs neither opening nor parsing what did not change.
#[derive(Debug, Default)]
pub(super) struct Cache {
    current: Held,
    entry: Option<Entry>,
    ring: Held,
    previous: Held,
    /// What the manifest before the current one has folded; `None` if it cannot be read.
    previous_folded: Option<u64>,
}

#[derive(Debug)]
struct Entry {
    manifest: Arc<Manifest>,
    /// Epoch at which it was read, and what the ring said then.
    epoch: u64,
    ring: u32,
}

impl Cache {
    /// Whether `CURRENT` is another file than the one that was read last.
    pub(super) fn is_other_file(&self, found: Option<(u64, u64)>) -> bool {
        found.is_some_and(|found| self.current.is_other(found))
    }
}

/// The two files that say what stands, as they were read.
pub(super) struct Parts {
    pub(super) manifest: Arc<Manifest>,
    pub(super) ring: Ring,
}

impl DataDir {
    /// The state now. Cost while only statements changed: reading the ring (64 KiB); else also parsing the manifest.
    pub(crate) fn load(&self) -> Result<Loaded, StorageError> {
        self.load_with(&mut |_| Ok(())).map(|(loaded, ())| loaded).map_err(|error| match error {
            crate::error::Error::Storage(error) => error,
            other => StorageError::damaged(CURRENT, other.to_string()),
        })
    }

    /// The state now, with what `open` makes of it (opened files): repeated until nothing changed in between. If
    /// `open` fails while the epoch stands still, its error is the answer.
    pub(crate) fn load_with<T>(&self, open: &mut dyn FnMut(&Loaded) -> Result<T>) -> Result<(Loaded, T)> {
        self.check_fork()?;
        let mut recoveries = 0;
        for round in 0..ROUNDS_MAX {
            if round >= ROUNDS_EAGER {
                std::thread::yield_now();
            }
            let epoch = self.epoch();
            let result = self.read_state(epoch).map_err(Into::into).and_then(|loaded| {
                let opened = open(&loaded)?;
                Ok((loaded, opened))
            });
            if self.epoch() != epoch {
                continue;
            }
            match result {
                Err(crate::error::Error::Storage(error))
                    if recoveries < RECOVERIES_MAX && self.is_manifest_damage(&error) =>
                {
                    recoveries += 1;
                    self.recover()?;
                }
                other => return other,
            }
        }
        Err(StorageError::Contended { layer: "whole", attempts: ROUNDS_MAX }.into())
    }

    /// Reads manifest and ring once.
    pub(super) fn read_state(&self, epoch: u64) -> Result<Loaded, StorageError> {
        let parts = self.read_parts(epoch)?;
        self.state_of(epoch, parts)
    }

    /// The state that manifest and ring make.
    pub(super) fn state_of(&self, epoch: u64, parts: Parts) -> Result<Loaded, StorageError> {
        let Parts { manifest, ring } = parts;
        let deny_all =
            self.inner.epoch.denial().map_err(|error| self.failed("read", super::names::EPOCH, error))?;
        let last_seq = ring.statements.last().map_or(manifest.folded_seq, |last| last.seq);
        Ok(Loaded {
            epoch,
            ring_used: ring.used(manifest.folded_seq),
            statements: ring.statements,
            deny_all,
            ring_damage: ring.damage,
            last_seq,
            manifest,
        })
    }

    /// Reads manifest and ring once, the ring first: a statement that is folded in between stands in both.
    pub(super) fn read_parts(&self, epoch: u64) -> Result<Parts, StorageError> {
        let bytes = self.read_ring()?;
        let manifest = self.read_manifest(epoch, crc32c::crc32c(&bytes))?;
        let ring = Ring::read(&bytes, manifest.folded_seq);
        Ok(Parts { manifest, ring })
    }

    /// The bytes of the ring; too short if somebody truncated it.
    pub(super) fn read_ring(&self) -> Result<Vec<u8>, StorageError> {
        self.with_ring(|file| {
            let mut bytes = vec![0; RING_BYTES];
            let read = file.read_at(&mut bytes, 0)?;
            bytes.truncate(read);
            Ok(bytes)
        })
        .map_err(|error| self.failed("read", RING, error))
    }

    /// Runs with the ring open, for writing too where we may.
    pub(super) fn with_ring<T>(&self, run: impl FnOnce(&dyn StorageFile) -> io::Result<T>) -> io::Result<T> {
        let storage = self.inner.storage.as_ref();
        if self.inner.read_only {
            // Not kept: on overlayfs a file that was opened for reading only never shows what is written later.
            return run(storage.open(RING, OpenMode::Read)?.as_ref());
        }
        let held = self.inner.cache.lock().ring.look(storage, RING, OpenMode::Write);
        match held {
            Ok((file, _)) => run(file.as_ref()),
            // A file system that is read-only now still has what was written.
            Err(error) if is_refusal(&error) => run(storage.open(RING, OpenMode::Read)?.as_ref()),
            Err(error) => Err(error),
        }
    }

    /// What the manifest before the current one has folded; 0 if there is none that can be read.
    pub(super) fn folded_before(&self) -> u64 {
        let storage = self.inner.storage.as_ref();
        let cache = &mut *self.inner.cache.lock();
        match cache.previous.look(storage, PREVIOUS, OpenMode::Read) {
            Ok((_, true)) => {}
            Ok((file, false)) => {
                let bytes = read_all(file.as_ref(), MANIFEST_BYTES_MAX).ok();
                let manifest = bytes.and_then(|bytes| Manifest::decode(PREVIOUS, &bytes).ok());
                cache.previous_folded = manifest.map(|manifest| manifest.folded_seq);
            }
            Err(_) => {
                cache.previous.forget();
                cache.previous_folded = None;
            }
        }
        cache.previous_folded.unwrap_or_default()
    }

    /// The manifest. Who may not write looks at the one before if `CURRENT` is damaged; others recover it.
    fn read_manifest(&self, epoch: u64, ring: u32) -> Result<Arc<Manifest>, StorageError> {
        match self.read_current(epoch, ring) {
            Err(error) if self.inner.read_only && self.is_manifest_damage(&error) => {
                last_good(self.inner.storage.as_ref()).map(Arc::new)
            }
            other => other,
        }
    }

    /// `CURRENT`, read only if it is another file than last time: it is replaced, never changed.
    fn read_current(&self, epoch: u64, ring: u32) -> Result<Arc<Manifest>, StorageError> {
        let failed = |error| self.failed("read", CURRENT, error);
        let cache = &mut *self.inner.cache.lock();
        let looked = cache.current.look(self.inner.storage.as_ref(), CURRENT, OpenMode::Read);
        let (file, same) = looked.map_err(failed)?;
        let read = match &cache.entry {
            Some(entry) if same => Ok(Arc::clone(&entry.manifest)),
            _ => read_all(file.as_ref(), MANIFEST_BYTES_MAX)
                .map_err(failed)
                .and_then(|bytes| Manifest::decode(CURRENT, &bytes))
                .map(Arc::new),
        };
        if let Some(entry) = &cache.entry {
            // A writer that was killed before its announcement left a change behind: views that hold the state of
            // this epoch must look again.
            if entry.epoch == epoch && !(same && entry.ring == ring) {
                self.inner.epoch.nudge();
            }
        }
        cache.entry =
            read.as_ref().ok().map(|manifest| Entry { manifest: Arc::clone(manifest), epoch, ring });
        read
    }

    /// Whether an error means that `CURRENT` is damaged or missing (a newer version is neither).
    fn is_manifest_damage(&self, error: &StorageError) -> bool {
        match error {
            StorageError::Damaged { file, .. } => file == CURRENT,
            StorageError::Io { path, source, .. } => {
                let missing = matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData);
                missing && [CURRENT, RING].iter().any(|name| *path == self.path().join(name))
            }
            _ => false,
        }
    }
}

/// Whether we may not write a file that others can.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Reads a manifest by name, without the cache.
pub(super) fn read_manifest_file(storage: &dyn Storage, name: &str) -> Result<Manifest, StorageError> {
    let failed = |error| StorageError::io("read", storage.path().join(name), error);
    let file = storage.open(name, OpenMode::Read).map_err(failed)?;
    Manifest::decode(name, &read_all(file.as_ref(), MANIFEST_BYTES_MAX).map_err(failed)?)
}
