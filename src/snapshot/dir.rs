//! A handle on one data directory: opening, creating, and the files in it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rkyv::util::AlignedVec;
use sha2::{Digest, Sha256};

use super::epoch::{self, Bell, Epoch, Follow};
use super::file::{Built, Schema, SectionFile, holds_content};
use super::load::{Cache, read_manifest_file};
use super::lock::Lock;
use super::manifest::{FileRef, Manifest};
use super::map::Bytes;
use super::names::{self, CURRENT, EPOCH, PREVIOUS, RING, hash_digits};
use super::recover::rename_over;
use super::ring::RING_BYTES;
use super::storage::{MODE_IMMUTABLE, MODE_IN_PLACE, OpenMode, RealStorage, Storage, StorageFile, read_all};
use crate::error::StorageError;
use crate::limits::COMMIT_LOCK_WAIT_MS;

/// Time between two looks at whether files were replaced behind our back.
pub(crate) const TICK: Duration = Duration::from_secs(1);
/// How long the removal of a failed file waits for the lock.
const DISCARD_WAIT: Duration = Duration::from_millis(100);
/// First and longest pause between two looks at the epoch while waiting for a change.
const WAIT_PAUSE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// How snapshot files are held in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MapKind {
    /// Mapped read-only; the directory must be ours alone.
    #[default]
    File,
    /// A private copy, verified in the copy; the epoch is read, not mapped. For directories that others can write.
    Memory,
}

/// How to open a data directory.
#[derive(Clone, Debug)]
pub(crate) struct OpenOptions {
    /// How files are held.
    pub(crate) map: MapKind,
    /// How changes of others are seen: as the file system allows if `None`. [`MapKind::Memory`] forces
    /// [`Follow::Pread`].
    pub(crate) follow: Option<Follow>,
    /// Never write: a directory that is not there yet is an error.
    pub(crate) read_only: bool,
    /// The file system; the operating system's if `None`.
    pub(crate) storage: Option<Arc<dyn Storage>>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { map: MapKind::File, follow: None, read_only: false, storage: None }
    }
}

/// A handle on a data directory: `Clone + Send + Sync`, cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct DataDir {
    pub(super) inner: Arc<Inner>,
}

/// What the clones of a handle share.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) map: MapKind,
    pub(super) follow: Follow,
    pub(super) read_only: bool,
    pid: u32,
    pub(super) epoch: Epoch,
    pub(super) bell: Mutex<Option<Bell>>,
    pub(super) cache: Mutex<Cache>,
    /// The first failure that left the state on disk unknown.
    poison: OnceLock<String>,
    /// Names were created that `sync_dir` has not made durable yet.
    pub(super) names_pending: AtomicBool,
}

impl DataDir {
    /// Opens a data directory; creates it if it is missing (any number of processes may do so at once).
    pub(crate) fn open(path: &Path, options: &OpenOptions) -> Result<Self, StorageError> {
        let storage =
            options.storage.clone().unwrap_or_else(|| Arc::new(RealStorage::new(path)) as Arc<dyn Storage>);
        let private = options.map == MapKind::File;
        storage.prepare(!options.read_only, private)?;
        let follow = match options.follow {
            _ if options.map == MapKind::Memory => Follow::Pread,
            Some(follow) => follow,
            None if storage.is_remote() => Follow::Pread,
            None => Follow::Map,
        };
        if !options.read_only && !is_complete(storage.as_ref()) {
            refuse_foreign(storage.as_ref())?;
            create_files(storage.as_ref())?;
        }
        let epoch = Epoch::open(storage.as_ref(), follow)
            .map_err(|error| StorageError::io("open", storage.path().join(EPOCH), error))?;
        let inner = Inner {
            storage,
            map: options.map,
            follow,
            read_only: options.read_only,
            pid: std::process::id(),
            epoch,
            bell: Mutex::new(None),
            cache: Mutex::new(Cache::default()),
            poison: OnceLock::new(),
            names_pending: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.inner.storage.path()
    }

    /// The number that moves with every change; compare it with that of a [`Loaded`](super::Loaded) for inequality.
    /// Cost: two loads if the page is mapped. Never remembered in a forked child: there it always differs.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.inner.epoch.look()
    }

    /// Waits until the epoch differs from `since`; the new one, or `None` after `timeout`.
    pub(crate) fn wait_for_change(&self, since: u64, timeout: Duration) -> Option<u64> {
        let began = Instant::now();
        let mut ticked = began;
        let mut pause = WAIT_PAUSE.0;
        loop {
            let now = self.epoch();
            if now != since {
                return Some(now);
            }
            let left = timeout.saturating_sub(began.elapsed());
            if left.is_zero() {
                return None;
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(WAIT_PAUSE.1);
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.tick();
            }
        }
    }

    /// Looks whether `epoch` or `CURRENT` were replaced without an announcement (by a restore, or by a writer that was
    /// killed at the worst moment) and makes the epoch differ then. To be called about once a second.
    pub(crate) fn tick(&self) {
        let inner = &self.inner;
        // A page that cannot be opened now is tried again at the next tick.
        let _ = inner.epoch.remap_if_replaced(inner.storage.as_ref(), inner.follow);
        let found = inner.storage.stat(CURRENT).ok().map(|found| found.id);
        if inner.cache.lock().is_other_file(found) {
            inner.epoch.nudge();
        }
    }

    /// Makes every query of this process look closer.
    pub(crate) fn nudge(&self) {
        self.inner.epoch.nudge();
    }

    /// Opens and checks a segment that a manifest names.
    pub(crate) fn open_file(
        &self,
        file: &FileRef,
        schema: &Schema,
    ) -> Result<Arc<SectionFile>, StorageError> {
        let parsed = SectionFile::parse(&file.name, self.open_bytes(file)?, schema)?;
        if parsed.header_crc() != file.crc32c {
            let (found, expected) = (parsed.header_crc(), file.crc32c);
            return Err(StorageError::damaged(
                &file.name,
                format!("header checksum {found:08x}, the manifest says {expected:08x}"),
            ));
        }
        Ok(Arc::new(parsed))
    }

    /// The bytes of a segment that a manifest names, with only their length checked (for `inspect` and `verify`).
    pub(crate) fn open_bytes(&self, file: &FileRef) -> Result<Bytes, StorageError> {
        let failed = |error| self.failed("open", &file.name, error);
        let open = self.inner.storage.open(&file.name, OpenMode::Read).map_err(failed)?;
        let found = open.stat().map_err(failed)?.len;
        if found != file.length {
            let expected = file.length;
            return Err(StorageError::damaged(
                &file.name,
                format!("{found} bytes, the manifest says {expected}"),
            ));
        }
        match self.inner.map {
            MapKind::File => open.map().map_err(failed),
            MapKind::Memory => read_copy(open.as_ref(), found).map_err(failed),
        }
    }

    /// The text of a source that a manifest names, checked.
    pub(crate) fn read_source(&self, file: &FileRef) -> Result<Vec<u8>, StorageError> {
        let failed = |error| self.failed("read", &file.name, error);
        let open = self.inner.storage.open(&file.name, OpenMode::Read).map_err(failed)?;
        let bytes = read_all(open.as_ref(), file.length).map_err(failed)?;
        let found = crc32c::crc32c(&bytes);
        if bytes.len() as u64 != file.length || found != file.crc32c {
            let detail = format!("checksum {found:08x}, the manifest says {:08x}", file.crc32c);
            return Err(StorageError::damaged(&file.name, detail));
        }
        Ok(bytes)
    }

    /// Writes a segment under its final name, durably, without the lock. Content that is there already is used again.
    pub(crate) fn write_file(&self, prefix: &str, built: &Built) -> Result<FileRef, StorageError> {
        if !names::is_prefix(prefix) {
            return Err(StorageError::damaged(
                "a new segment",
                format!("{prefix:?} cannot begin a file name"),
            ));
        }
        let name = format!("{prefix}-{}.seg", built.content_hash);
        let crc32c =
            super::sections::get_u32(&built.bytes, super::sections::AT_HEADER_CRC).unwrap_or_default();
        self.write_immutable(&name, &built.bytes, &|bytes| holds_content(bytes, &built.content_hash))?;
        Ok(FileRef { name, length: built.bytes.len() as u64, crc32c })
    }

    /// Writes the source of a layer, like [`Self::write_file`].
    pub(crate) fn write_source(&self, bytes: &[u8]) -> Result<FileRef, StorageError> {
        let name = source_name(bytes);
        self.write_immutable(&name, bytes, &|found| found == bytes)?;
        Ok(FileRef { name, length: bytes.len() as u64, crc32c: crc32c::crc32c(bytes) })
    }

    fn write_immutable(
        &self,
        name: &str,
        bytes: &[u8],
        is_same: &dyn Fn(&[u8]) -> bool,
    ) -> Result<(), StorageError> {
        self.check_writable()?;
        let storage = &self.inner.storage;
        match storage.open(name, OpenMode::CreateNew(MODE_IMMUTABLE)) {
            Ok(file) => {
                self.fill(file.as_ref(), name, bytes).inspect_err(|_| self.discard(file.as_ref(), name))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if self.reuse(name, bytes.len() as u64, is_same)? {
                    return Ok(());
                }
                self.replace(name, bytes)
            }
            Err(error) => Err(self.failed("create", name, error)),
        }
    }

    /// Writes, makes durable and reads back.
    pub(super) fn fill(&self, file: &dyn StorageFile, name: &str, bytes: &[u8]) -> Result<(), StorageError> {
        file.write_at(bytes, 0).map_err(|error| self.failed("write", name, error))?;
        file.sync().map_err(|error| self.poison("sync", name, error))?;
        self.inner.names_pending.store(true, Ordering::Relaxed);
        let back =
            read_all(file, bytes.len() as u64).map_err(|error| self.failed("read back", name, error))?;
        if back != bytes {
            return Err(StorageError::damaged(name, "what was written does not read back"));
        }
        Ok(())
    }

    /// Whether the file of that name has our content; then it is durable and young again afterwards.
    fn reuse(&self, name: &str, len: u64, is_same: &dyn Fn(&[u8]) -> bool) -> Result<bool, StorageError> {
        let Ok(file) = self.inner.storage.open(name, OpenMode::Read) else { return Ok(false) };
        let same = file.stat().is_ok_and(|found| found.len == len)
            && read_all(file.as_ref(), len).is_ok_and(|found| is_same(&found));
        if !same {
            return Ok(false);
        }
        file.touch().map_err(|error| self.failed("touch", name, error))?;
        file.sync().map_err(|error| self.poison("sync", name, error))?;
        self.inner.names_pending.store(true, Ordering::Relaxed);
        Ok(true)
    }

    /// Puts our content in the place of a file that is damaged or only half written. Whoever has the old file open
    /// keeps it.
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), StorageError> {
        let storage = &self.inner.storage;
        // Not numbered by process: a process of the same number may have been killed here before.
        let temporary = format!("{name}.{:016x}.tmp", epoch::random_word());
        let file = storage
            .open(&temporary, OpenMode::CreateNew(MODE_IMMUTABLE))
            .map_err(|error| self.failed("create", &temporary, error))?;
        let done = self.fill(file.as_ref(), &temporary, bytes).and_then(|()| {
            rename_over(storage.as_ref(), &temporary, name)
                .map_err(|error| self.failed("rename", &temporary, error))
        });
        // Nobody else has this name. What cannot be removed now is collected later.
        done.inspect_err(|_| drop(storage.unlink(&temporary)))
    }

    /// Removes a file of ours that could not be written, so that it does not fill the disk for an hour. Under the
    /// lock: another process may have found it complete, and committed it.
    fn discard(&self, file: &dyn StorageFile, name: &str) {
        let storage = self.inner.storage.as_ref();
        let Ok(_lock) = Lock::acquire(storage, DISCARD_WAIT) else { return };
        let reached =
            [CURRENT, PREVIOUS].iter().any(|manifest| match read_manifest_file(storage, manifest) {
                Ok(manifest) => manifest.reachable().contains(name),
                Err(StorageError::Io { source, .. }) => source.kind() != io::ErrorKind::NotFound,
                Err(_) => true,
            });
        let ours = file.stat().is_ok_and(|mine| storage.stat(name).is_ok_and(|named| named.id == mine.id));
        if ours && !reached {
            // Best effort; it is collected later otherwise.
            drop(storage.unlink(name));
        }
    }

    /// Refuses to write after a fork, after a failed sync, and where writing was not asked for.
    pub(super) fn check_writable(&self) -> Result<(), StorageError> {
        self.check_fork()?;
        if let Some(detail) = self.inner.poison.get() {
            return Err(StorageError::Poisoned { detail: detail.clone() });
        }
        if self.inner.read_only {
            let refused = io::Error::new(io::ErrorKind::PermissionDenied, "opened read-only");
            return Err(StorageError::io("write to", self.path(), refused));
        }
        Ok(())
    }

    /// Refuses the handle in a forked child.
    pub(super) fn check_fork(&self) -> Result<(), StorageError> {
        if std::process::id() == self.inner.pid { Ok(()) } else { Err(StorageError::Forked) }
    }

    /// An input/output error on one of our files.
    pub(super) fn failed(&self, action: &'static str, name: &str, error: io::Error) -> StorageError {
        StorageError::io(action, self.file_path(name), error)
    }

    /// An error that leaves unknown what is on disk: nothing is written through this handle any more.
    pub(super) fn poison(&self, action: &'static str, name: &str, error: io::Error) -> StorageError {
        let error = self.failed(action, name, error);
        let _ = self.inner.poison.set(error.to_string());
        error
    }

    fn file_path(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

/// A private, aligned copy of a file.
fn read_copy(file: &dyn StorageFile, len: u64) -> io::Result<Bytes> {
    let len = usize::try_from(len).map_err(io::Error::other)?;
    let mut copy = AlignedVec::new();
    copy.resize(len, 0);
    if file.read_at(&mut copy, 0)? != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Bytes::from_aligned(copy))
}

/// Whether creation came to its end.
fn is_complete(storage: &dyn Storage) -> bool {
    let has = |name| storage.stat(name).is_ok();
    has(CURRENT)
        && storage.stat(RING).is_ok_and(|found| found.len == RING_BYTES as u64)
        && storage.open(EPOCH, OpenMode::Read).is_ok_and(|file| epoch::check(file.as_ref()).is_ok())
}

/// Names that an operator may put into a folder before it becomes a data directory.
const PLACED: [&str; 2] = ["config.toml", "lost+found"];

/// Refuses a folder that is somebody else's: it holds visible files, and none of them is ours.
fn refuse_foreign(storage: &dyn Storage) -> Result<(), StorageError> {
    let names = storage.list().map_err(|error| StorageError::io("list", storage.path(), error))?;
    let foreign = |name: &&String| {
        names::classify(name) == names::NameKind::Foreign
            && !name.starts_with('.')
            && !PLACED.contains(&name.as_str())
    };
    let ours = names.iter().any(|name| names::classify(name) != names::NameKind::Foreign);
    match names.iter().filter(foreign).min() {
        Some(name) if !ours => Err(StorageError::UnsafeDirectory {
            path: storage.path().to_owned(),
            detail: format!("it holds other files ({name:?}, say); name an empty or a new folder"),
        }),
        _ => Ok(()),
    }
}

/// Creates what is missing, under the lock; `CURRENT` last.
fn create_files(storage: &dyn Storage) -> Result<(), StorageError> {
    let _lock = Lock::acquire(storage, Duration::from_millis(COMMIT_LOCK_WAIT_MS))?;
    if is_complete(storage) {
        return Ok(());
    }
    super::recover::create_missing(storage)?;
    storage.sync_dir().map_err(|error| StorageError::io("sync", storage.path(), error))
}

/// Writes a file under a temporary name and renames it; only under the lock.
pub(super) fn install(
    storage: &dyn Storage,
    name: &str,
    bytes: &[u8],
    mode: u32,
) -> Result<(), StorageError> {
    let temporary = format!("{name}.tmp");
    let step = |action: &'static str, result: io::Result<()>| {
        result.map_err(|error| StorageError::io(action, storage.path().join(name), error))
    };
    match storage.unlink(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => step("replace", Err(error))?,
        _ => {}
    }
    let file = storage
        .open(&temporary, OpenMode::CreateNew(mode))
        .map_err(|error| StorageError::io("create", storage.path().join(&temporary), error))?;
    step("write", file.write_at(bytes, 0))?;
    step("sync", file.sync())?;
    step("rename", storage.rename(&temporary, name))
}

/// The name of a source with this content.
pub(crate) fn source_name(bytes: &[u8]) -> String {
    format!("source-{}.jsonl", hash_digits(&Sha256::digest(bytes)))
}

/// Modes by name, for [`install`].
pub(super) fn mode_of(name: &str) -> u32 {
    if matches!(name, EPOCH | RING) { MODE_IN_PLACE } else { MODE_IMMUTABLE }
}

/// The manifest of a new directory.
pub(super) fn first_manifest() -> Manifest {
    Manifest::default()
}
