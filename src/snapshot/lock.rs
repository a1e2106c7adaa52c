//! The lock of one commit: an advisory file lock, so that the kernel releases it when its holder dies.

use std::thread;
use std::time::{Duration, Instant};

use super::names::LOCK;
use super::storage::{OpenMode, Storage, StorageFile};
use crate::error::StorageError;

/// First pause between two tries.
const PAUSE_MIN: Duration = Duration::from_micros(100);
/// Longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_millis(5);

/// The lock, held until it is dropped. The file is never deleted.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Box<dyn StorageFile>,
}

impl Lock {
    /// Takes the lock within `wait`, or fails with `Locked`.
    pub(crate) fn acquire(storage: &dyn Storage, wait: Duration) -> Result<Self, StorageError> {
        let path = || storage.path().join(LOCK);
        let began = Instant::now();
        let mut pause = PAUSE_MIN;
        loop {
            let file = storage
                .open(LOCK, OpenMode::CreateOrOpen)
                .map_err(|error| StorageError::io("open", path(), error))?;
            while !file.try_lock().map_err(|error| StorageError::io("lock", path(), error))? {
                if began.elapsed() >= wait {
                    let waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                    return Err(StorageError::Locked { path: path(), waited_ms });
                }
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
            }
            // Somebody may have replaced the whole directory while we waited: a lock on a file without a name
            // keeps nobody out.
            let held = file.stat().map_err(|error| StorageError::io("look at", path(), error))?;
            if storage.stat(LOCK).is_ok_and(|named| named.id == held.id) {
                return Ok(Self { _file: file });
            }
        }
    }
}
