//! What to do when a file of the directory is missing or damaged: all of it under the lock, after a second read.

use std::io;
use std::time::Duration;

use super::dir::{DataDir, first_manifest, install, mode_of, source_name};
use super::epoch::{self, Bell, Denial, Follow};
use super::load::read_manifest_file;
use super::lock::Lock;
use super::manifest::{FileRef, Manifest, Recovery};
use super::names::{CURRENT, EPOCH, NameKind, PREVIOUS, RING, classify};
use super::ring::{RECORD_BYTES, RING_BYTES, Ring};
use super::sections::{AT_GENERATION, AT_GENERATION_CRC, HEADER_BYTES, get_u32, get_u64};
use super::storage::{OpenMode, Storage, read_all};
use crate::error::StorageError;
use crate::limits::COMMIT_LOCK_WAIT_MS;

/// Names that a quarantined file may get beside `{name}.bad`; the last one is reused.
const QUARANTINE_NAMES: u32 = 9;

impl DataDir {
    /// Takes the lock, reads a second time, and puts the last good manifest in the place of a damaged `CURRENT`.
    pub(super) fn recover(&self) -> Result<(), StorageError> {
        self.check_writable()?;
        let _lock = Lock::acquire(self.inner.storage.as_ref(), Duration::from_millis(COMMIT_LOCK_WAIT_MS))?;
        let done = create_missing(self.inner.storage.as_ref());
        self.ring_bell()?;
        done
    }

    /// Sets a damaged segment or source aside as `*.bad`, if the manifest does not reach it (any more).
    /// False if it was left where it is.
    pub(crate) fn quarantine(&self, name: &str) -> Result<bool, StorageError> {
        self.check_writable()?;
        let storage = self.inner.storage.as_ref();
        let _lock = Lock::acquire(storage, Duration::from_millis(COMMIT_LOCK_WAIT_MS))?;
        let manifest = read_manifest_file(storage, CURRENT)?;
        let ours = matches!(classify(name), NameKind::Segment | NameKind::Source);
        if !ours || manifest.reachable().contains(name) {
            return Ok(false);
        }
        set_aside(storage, name)
    }

    /// The sources in the directory whose content holds, newest first, whatever reaches them: what a rebuild after a
    /// recovery starts from. Cost: reading them all.
    pub(crate) fn sources(&self) -> Result<Vec<FileRef>, StorageError> {
        let storage = self.inner.storage.as_ref();
        let names = storage.list().map_err(|error| self.failed("list", ".", error))?;
        let mut found = Vec::new();
        for name in names.into_iter().filter(|name| classify(name) == NameKind::Source) {
            let Ok(file) = storage.open(&name, OpenMode::Read) else { continue };
            let (Ok(stat), Ok(bytes)) = (file.stat(), read_all(file.as_ref(), u64::MAX)) else { continue };
            if source_name(&bytes) == name {
                let crc32c = crc32c::crc32c(&bytes);
                found.push((stat.modified_ms, FileRef { name, length: bytes.len() as u64, crc32c }));
            }
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
        Ok(found.into_iter().map(|(_, file)| file).collect())
    }

    /// Empties the broken records of the ring, and gives it its length again. To be called after a commit whose
    /// manifest says what follows from the damage: afterwards nothing tells that there was one.
    pub(crate) fn repair_ring(&self) -> Result<(), StorageError> {
        self.check_writable()?;
        let storage = self.inner.storage.as_ref();
        let _lock = Lock::acquire(storage, Duration::from_millis(COMMIT_LOCK_WAIT_MS))?;
        let bytes = self.read_ring()?;
        let failed = |error| self.failed("repair", RING, error);
        let file = storage.open(RING, OpenMode::Write).map_err(failed)?;
        for slot in Ring::read(&bytes, 0).broken() {
            file.write_at(&[0; RECORD_BYTES], (slot * RECORD_BYTES) as u64).map_err(failed)?;
        }
        let whole = bytes.len() - bytes.len() % RECORD_BYTES;
        if whole < RING_BYTES {
            file.write_at(&vec![0; RING_BYTES - whole], whole as u64).map_err(failed)?;
        }
        file.sync().map_err(|error| self.poison("sync", RING, error))?;
        self.ring_bell()
    }
}

/// Creates or restores `epoch`, the ring and `CURRENT`, as far as they are missing or damaged. Needs the lock.
pub(super) fn create_missing(storage: &dyn Storage) -> Result<(), StorageError> {
    let held = storage.open(EPOCH, OpenMode::Read).is_ok_and(|file| epoch::check(file.as_ref()).is_ok());
    if !held {
        set_aside(storage, EPOCH)?;
        install(storage, EPOCH, &epoch::new_page(), mode_of(EPOCH))?;
    }
    let current = read_manifest_file(storage, CURRENT);
    if let Err(StorageError::TooNew { .. }) = current {
        return current.map(drop);
    }
    if is_ring_lost(storage)? {
        install(storage, RING, &vec![0; RING_BYTES], mode_of(RING))?;
        if current.is_ok() || !is_missing(storage, PREVIOUS)? {
            // Somebody removed the ring, and with it revocations perhaps: nothing synced is shown until they are
            // stated again.
            let bell =
                Bell::open(storage, Follow::Pread).and_then(|bell| bell.deny_all(Denial::UntilFetched));
            bell.map_err(|error| StorageError::io("write", storage.path().join(EPOCH), error))?;
        }
    }
    match current {
        Ok(_) => return Ok(()),
        Err(StorageError::Damaged { .. }) => drop(set_aside(storage, CURRENT)?),
        Err(StorageError::Io { ref source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            if !is_missing(storage, PREVIOUS)? {
                tracing::warn!(
                    "CURRENT is missing; the state before the last commit is served: repeat the last change"
                );
            }
        }
        Err(StorageError::Io { ref source, .. }) if source.kind() == io::ErrorKind::InvalidData => {
            set_aside(storage, CURRENT)?;
        }
        Err(error) => return Err(error),
    }
    let manifest = last_good(storage)?;
    // `CURRENT` comes last, also on disk: with it, a missing ring means that somebody removed it.
    sync_names(storage)?;
    install(storage, CURRENT, &manifest.encode()?, mode_of(CURRENT))?;
    sync_names(storage)
}

fn sync_names(storage: &dyn Storage) -> Result<(), StorageError> {
    storage.sync_dir().map_err(|error| StorageError::io("sync", storage.path(), error))
}

/// The best manifest without `CURRENT`: the one before it, else an empty one.
pub(super) fn last_good(storage: &dyn Storage) -> Result<Manifest, StorageError> {
    match read_manifest_file(storage, PREVIOUS) {
        // One above the number that the lost manifest had.
        Ok(previous) => {
            let serial = previous.serial.saturating_add(2);
            Ok(Manifest { serial, recovered: Some(Recovery::Previous), ..previous })
        }
        Err(error @ StorageError::TooNew { .. }) => Err(error),
        Err(_) => empty(storage),
    }
}

/// An empty manifest: that of a new directory, unless there are files that say it is not one.
fn empty(storage: &dyn Storage) -> Result<Manifest, StorageError> {
    let names = storage.list().map_err(|error| StorageError::io("list", storage.path(), error))?;
    let mut manifest = first_manifest();
    for name in &names {
        let kind = classify(name);
        if matches!(kind, NameKind::Segment | NameKind::Source) || name == PREVIOUS {
            manifest.recovered = Some(Recovery::Empty);
        }
        if kind == NameKind::Segment {
            let generation = written_generation(storage, name).unwrap_or_default();
            manifest.generation_floor = manifest.generation_floor.max(generation);
        }
    }
    Ok(manifest)
}

/// The generation in a segment's header, if that much of it holds.
fn written_generation(storage: &dyn Storage, name: &str) -> Option<u64> {
    let file = storage.open(name, OpenMode::Read).ok()?;
    let mut header = [0; HEADER_BYTES];
    file.read_at(&mut header, 0).ok()?;
    let generation = get_u64(&header, AT_GENERATION)?;
    (crc32c::crc32c(&generation.to_le_bytes()) == get_u32(&header, AT_GENERATION_CRC)?).then_some(generation)
}

/// Renames a file over another, also over a directory of that name, which a rename alone does not replace.
pub(super) fn rename_over(storage: &dyn Storage, from: &str, to: &str) -> io::Result<()> {
    storage.rename(from, to).or_else(|_| {
        set_aside(storage, to).map_err(io::Error::other)?;
        storage.rename(from, to)
    })
}

/// Renames a file to `*.bad`; false if there is none.
fn set_aside(storage: &dyn Storage, name: &str) -> Result<bool, StorageError> {
    if is_missing(storage, name)? {
        return Ok(false);
    }
    let mut target = format!("{name}.bad");
    for number in 1..=QUARANTINE_NAMES {
        if storage.stat(&target).is_err() {
            break;
        }
        target = format!("{name}.{number}.bad");
    }
    storage
        .rename(name, &target)
        .map_err(|error| StorageError::io("set aside", storage.path().join(name), error))?;
    match name {
        CURRENT => tracing::warn!(
            "CURRENT was damaged and is kept as {target}; the state before it is served: repeat the last change"
        ),
        RING => tracing::warn!(
            "revocations was damaged and is kept as {target}; synced skills are hidden: repeat what was revoked, then \
             run `repertoire entitlements resume`"
        ),
        EPOCH => tracing::warn!("epoch was damaged and is kept as {target}; a new one takes its place"),
        // Whoever heals the layer tells.
        _ => tracing::info!(file = name, kept_as = target, "a damaged file was set aside"),
    }
    Ok(true)
}

/// Whether there is no ring; what has its name without being a file is set aside.
fn is_ring_lost(storage: &dyn Storage) -> Result<bool, StorageError> {
    match storage.open(RING, OpenMode::Read) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => set_aside(storage, RING),
        Err(error) => Err(StorageError::io("open", storage.path().join(RING), error)),
    }
}

fn is_missing(storage: &dyn Storage, name: &str) -> Result<bool, StorageError> {
    match storage.stat(name) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(StorageError::io("look at", storage.path().join(name), error)),
    }
}
