//! Garbage: files that nothing reaches any more. Only the holder of the lock deletes, and only what has one of our
//! own names.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::dir::DataDir;
use super::load::read_manifest_file;
use super::lock::Lock;
use super::manifest::{Manifest, Retired};
use super::names::{CURRENT, NameKind, PREVIOUS, classify};
use super::storage::Storage;
use crate::error::StorageError;
use crate::limits::{COMMIT_LOCK_WAIT_MS, RETIRED_GRACE_MS, UNCOMMITTED_GRACE_MS};

impl DataDir {
    /// Deletes what neither manifest reaches and no grace protects; the bytes freed.
    pub(crate) fn collect(&self) -> Result<u64, StorageError> {
        self.check_writable()?;
        let storage = self.inner.storage.as_ref();
        let _lock = Lock::acquire(storage, Duration::from_millis(COMMIT_LOCK_WAIT_MS))?;
        let manifest = read_manifest_file(storage, CURRENT)?;
        if manifest.read_only {
            return Ok(0);
        }
        collect_locked(storage, &manifest)
    }
}

/// [`DataDir::collect`] for who holds the lock and has just read or written `manifest`.
pub(super) fn collect_locked(storage: &dyn Storage, manifest: &Manifest) -> Result<u64, StorageError> {
    if manifest.recovered.is_some() {
        // What the lost manifest reached may still be wanted for the rebuild.
        return Ok(0);
    }
    let previous = match read_manifest_file(storage, PREVIOUS) {
        Ok(previous) => Some(previous),
        // What a newer program wrote may reach files that we do not know of.
        Err(StorageError::TooNew { .. }) => return Ok(0),
        Err(_) => None,
    };
    let mut reachable = manifest.reachable();
    reachable.extend(previous.iter().flat_map(Manifest::reachable));
    let retired: BTreeMap<&str, u64> =
        manifest.retired.iter().map(|retired| (retired.name.as_str(), retired.at_ms)).collect();
    let now_ms = storage.now_ms();
    let names = storage.list().map_err(|error| StorageError::io("list", storage.path(), error))?;
    let mut freed = 0;
    for name in names {
        let Ok(found) = storage.stat(&name) else { continue };
        let age_ms = now_ms.saturating_sub(found.modified_ms);
        let due = match classify(&name) {
            NameKind::Temporary => age_ms >= UNCOMMITTED_GRACE_MS,
            NameKind::Segment | NameKind::Source if !reachable.contains(name.as_str()) => {
                match retired.get(name.as_str()) {
                    // A writer that uses an old file again touches it first: then it is young, not retired.
                    Some(at_ms) if found.modified_ms < *at_ms => {
                        now_ms.saturating_sub(*at_ms) >= RETIRED_GRACE_MS
                    }
                    _ => age_ms >= UNCOMMITTED_GRACE_MS,
                }
            }
            _ => false,
        };
        if due && storage.unlink(&name).is_ok() {
            freed += found.len;
        }
    }
    Ok(freed)
}

/// The list of retired files for the manifest after `base`: those of `base` that are still in their grace or on the
/// disk (whoever forgets them leaves them to the longer grace of files that nobody knows), and those that `next` drops.
pub(super) fn retire(
    base: &Manifest,
    next: &Manifest,
    now_ms: u64,
    is_there: &dyn Fn(&str) -> bool,
) -> Vec<Retired> {
    let kept = next.reachable();
    let mut seen = BTreeSet::new();
    let old = base.retired.iter().map(|retired| (retired.name.as_str(), retired.at_ms.min(now_ms)));
    let new = base.files().map(|file| (file.name.as_str(), now_ms));
    new.chain(old)
        .filter(|(name, at_ms)| {
            !kept.contains(name)
                && (now_ms - at_ms < RETIRED_GRACE_MS || is_there(name))
                && seen.insert(*name)
        })
        .map(|(name, at_ms)| Retired { name: name.to_owned(), at_ms })
        .collect()
}
