//! The writer's protocol: everything that changes what a directory says.
//!
//! Under the lock: move the epoch first (so that what a killed predecessor left durable but unannounced is announced),
//! read the base again, make the change durable, move the epoch again, and only then acknowledge.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::collect::{collect_locked, retire};
use super::dir::{DataDir, mode_of};
use super::epoch::{Bell, Denial};
use super::load::{Loaded, Parts, read_manifest_file};
use super::lock::Lock;
use super::manifest::{MAJOR, Manifest};
use super::names::{CURRENT, CURRENT_TMP, EPOCH, PREVIOUS, PREVIOUS_TMP, RING};
use super::recover::{create_missing, rename_over};
use super::ring::{RECORD_BYTES, encode};
use super::storage::OpenMode;
use crate::error::{Error, Result, StorageError};
use crate::limits::{COMMIT_LOCK_WAIT_MS, REVOKE_LOCK_WAIT_MS, STATEMENT_BYTES_MAX};

/// What a commit should do, decided under the lock on the state that is current then.
#[derive(Debug)]
pub(crate) enum Edit {
    /// Publish this manifest. `serial` and `retired` are filled in.
    Install(Box<Manifest>),
    /// There is nothing to change; what others have written is made durable all the same.
    Unchanged,
    /// The base moved on: build again, then commit again.
    Rebase,
}

/// What a commit did.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The new state, durable and announced.
    Installed(Loaded),
    /// The state as it was, durable and announced.
    Unchanged(Loaded),
    /// Nothing: the base moved on, or files of the new manifest are gone (collected after an hour). Build again.
    Rebase,
}

impl DataDir {
    /// Commits a change. `edit` is called once, under the lock, which is held for milliseconds: build segments before.
    #[cfg(test)]
    pub(crate) fn commit(&self, edit: &mut dyn FnMut(&Loaded) -> Result<Edit>) -> Result<Outcome> {
        self.commit_then(edit, &mut |_| {})
    }

    /// Like [`Self::commit`]; `installed` gets the new state, with the epoch that it is going to have, before others
    /// learn of it: so that no query in this process pays for the change.
    pub(crate) fn commit_then(
        &self,
        edit: &mut dyn FnMut(&Loaded) -> Result<Edit>,
        installed: &mut dyn FnMut(&Loaded),
    ) -> Result<Outcome> {
        self.check_writable()?;
        let _lock = self.lock(COMMIT_LOCK_WAIT_MS)?;
        self.ring_bell()?;
        let outcome = self.commit_locked(edit).map(|mut outcome| {
            if let Outcome::Installed(loaded) | Outcome::Unchanged(loaded) = &mut outcome {
                // Only the holder of the lock moves the epoch, so the next number is known.
                loaded.epoch = self.epoch().wrapping_add(1);
                installed(loaded);
            }
            outcome
        });
        // Also after a failure: others may have seen a part of it.
        self.ring_bell()?;
        if let Ok(Outcome::Installed(loaded)) = &outcome {
            // Garbage that cannot be deleted now is found again.
            let _ = collect_locked(self.inner.storage.as_ref(), &loaded.manifest);
        }
        outcome
    }

    fn commit_locked(&self, edit: &mut dyn FnMut(&Loaded) -> Result<Edit>) -> Result<Outcome> {
        let base = self.base()?;
        let mut next = match edit(&base)? {
            Edit::Rebase => return Ok(Outcome::Rebase),
            Edit::Unchanged => {
                self.sync_everything()?;
                return Ok(Outcome::Unchanged(base));
            }
            Edit::Install(next) => *next,
        };
        next.serial = base.manifest.serial + 1;
        let storage = self.inner.storage.as_ref();
        let is_there = |name: &str| storage.stat(name).is_ok();
        next.retired = retire(&base.manifest, &next, storage.now_ms(), &is_there);
        next.read_only = false;
        check_succession(&base, &next)?;
        if !self.has_new_files(&base.manifest, &next)? {
            return Ok(Outcome::Rebase);
        }
        let bytes = next.encode()?;
        if Manifest::decode(CURRENT_TMP, &bytes)? != next {
            return Err(StorageError::damaged("the new manifest", "it does not read back as it was").into());
        }
        self.install_manifest(&bytes)?;
        let epoch = self.epoch();
        Ok(Outcome::Installed(self.read_state(epoch)?))
    }

    /// Makes the new manifest durable and current.
    fn install_manifest(&self, bytes: &[u8]) -> Result<(), StorageError> {
        let storage = self.inner.storage.as_ref();
        if self.inner.names_pending.swap(false, Ordering::Relaxed) {
            // The names of new segments must not be younger than the manifest that reaches them.
            self.sync_names()?;
        }
        self.unlink_if_there(CURRENT_TMP)?;
        let file = storage
            .open(CURRENT_TMP, OpenMode::CreateNew(mode_of(CURRENT)))
            .map_err(|error| self.failed("create", CURRENT_TMP, error))?;
        file.write_at(bytes, 0).map_err(|error| self.failed("write", CURRENT_TMP, error))?;
        file.sync().map_err(|error| self.poison("sync", CURRENT_TMP, error))?;
        drop(file);
        self.keep_previous()?;
        storage.rename(CURRENT_TMP, CURRENT).map_err(|error| self.failed("replace", CURRENT, error))?;
        self.sync_names()
    }

    /// Gives the manifest that is about to be replaced the name `PREVIOUS`.
    fn keep_previous(&self) -> Result<(), StorageError> {
        let storage = self.inner.storage.as_ref();
        self.unlink_if_there(PREVIOUS_TMP)?;
        if storage.link(CURRENT, PREVIOUS_TMP).is_err() {
            // A file system without hard links: a copy does it.
            let bytes = read_manifest_file(storage, CURRENT)?.encode()?;
            let file = storage
                .open(PREVIOUS_TMP, OpenMode::CreateNew(mode_of(PREVIOUS)))
                .map_err(|error| self.failed("create", PREVIOUS_TMP, error))?;
            file.write_at(&bytes, 0).map_err(|error| self.failed("write", PREVIOUS_TMP, error))?;
            file.sync().map_err(|error| self.poison("sync", PREVIOUS_TMP, error))?;
        }
        rename_over(storage, PREVIOUS_TMP, PREVIOUS)
            .map_err(|error| self.failed("replace", PREVIOUS, error))?;
        // If both names were the same file already (a commit was killed here), the rename did nothing.
        self.unlink_if_there(PREVIOUS_TMP)
    }

    /// Makes a statement durable in the ring and announces it; its number. Waits at most a second for the lock.
    ///
    /// If it cannot be written, the synced layer is suspended in every process (`deny_all`) and
    /// the error says why.
    pub(crate) fn append_statement(&self, kind: u8, payload: &[u8]) -> Result<u64, StorageError> {
        self.append(kind, payload, Denial::UntilResumed)
    }

    /// As [`Self::append_statement`] for words of the platform, which a later fetch repeats: if it cannot be written, the
    /// suspension lasts until then.
    pub(crate) fn append_removal(&self, kind: u8, payload: &[u8]) -> Result<u64, StorageError> {
        self.append(kind, payload, Denial::UntilFetched)
    }

    /// As [`Self::append_statement`] for a statement that masks nothing: if it cannot be written, nothing changes.
    pub(crate) fn append_grant(&self, kind: u8, payload: &[u8]) -> Result<u64, StorageError> {
        self.append(kind, payload, Denial::No)
    }

    fn append(&self, kind: u8, payload: &[u8], otherwise: Denial) -> Result<u64, StorageError> {
        self.check_writable()?;
        let _lock = self.lock(REVOKE_LOCK_WAIT_MS)?;
        self.ring_bell()?;
        let appended = self.append_locked(kind, payload);
        let denied = match &appended {
            Err(StorageError::TooLarge { .. } | StorageError::TooNew { .. }) | Ok(_) => Ok(()),
            Err(_) if otherwise == Denial::No => Ok(()),
            Err(_) => {
                // What only the operator can end is not made easier to end.
                let standing = self.inner.epoch.denial().unwrap_or(otherwise);
                let denial = if standing == Denial::UntilResumed { standing } else { otherwise };
                self.with_bell(|bell| bell.deny_all(denial))
            }
        };
        self.ring_bell()?;
        denied?;
        appended
    }

    fn append_locked(&self, kind: u8, payload: &[u8]) -> Result<u64, StorageError> {
        let Parts { manifest, ring } = self.base_parts()?;
        let folded = manifest.folded_seq;
        let sync = || {
            let synced = self.with_ring(|file| file.sync_data());
            synced.map_err(|error| self.poison("sync", RING, error))
        };
        if ring.torn {
            sync()?;
        }
        let seq = ring.next_seq(folded);
        let records = encode(seq, kind, payload).ok_or(StorageError::TooLarge {
            what: "a statement about entitlements",
            got: payload.len() as u64,
            limit: STATEMENT_BYTES_MAX as u64,
        })?;
        // A slot is free only if the manifest before this one contains its statement too: it may come back.
        let Some(slots) = ring.place(records.len(), folded.min(self.folded_before())) else {
            return Err(StorageError::RingFull { detail: "no commit has emptied it".to_owned() });
        };
        self.with_ring(|file| {
            let mut written = slots.iter().zip(&records);
            written.try_for_each(|(slot, record)| file.write_at(record, (slot * RECORD_BYTES) as u64))
        })
        .map_err(|error| self.failed("write", RING, error))?;
        sync()?;
        Ok(seq)
    }

    /// Announces what stands and makes it durable: how a statement that changes nothing is acknowledged.
    pub(crate) fn announce(&self) -> Result<(), StorageError> {
        self.check_writable()?;
        let _lock = self.lock(REVOKE_LOCK_WAIT_MS)?;
        self.ring_bell()?;
        let synced = self.sync_everything();
        self.ring_bell()?;
        synced
    }

    /// Ends (or begins) the suspension of the synced layer.
    pub(crate) fn set_deny_all(&self, denial: Denial) -> Result<(), StorageError> {
        self.check_writable()?;
        let _lock = self.lock(REVOKE_LOCK_WAIT_MS)?;
        self.with_bell(|bell| bell.deny_all(denial))?;
        self.ring_bell()
    }

    /// The state under the lock, after a recovery if one is due.
    fn base(&self) -> Result<Loaded, StorageError> {
        let epoch = self.epoch();
        let parts = self.base_parts()?;
        self.state_of(epoch, parts)
    }

    /// Manifest and ring under the lock, after a recovery if one is due; refuses what we may not replace.
    fn base_parts(&self) -> Result<Parts, StorageError> {
        let parts = match self.read_parts(self.epoch()) {
            Ok(parts) => parts,
            Err(error @ StorageError::TooNew { .. }) => return Err(error),
            Err(_) => {
                create_missing(self.inner.storage.as_ref())?;
                self.read_parts(self.epoch())?
            }
        };
        if parts.manifest.read_only {
            let file = CURRENT.to_owned();
            return Err(StorageError::TooNew { file, found: MAJOR, supported: MAJOR });
        }
        Ok(parts)
    }

    fn lock(&self, wait_ms: u64) -> Result<Lock, StorageError> {
        Lock::acquire(self.inner.storage.as_ref(), Duration::from_millis(wait_ms))
    }

    /// Moves the epoch.
    pub(super) fn ring_bell(&self) -> Result<(), StorageError> {
        self.inner.storage.before_announcement().map_err(|error| self.failed("announce in", EPOCH, error))?;
        self.with_bell(Bell::ring)
    }

    /// Runs with the writing side of the epoch page, opened again if the file was replaced.
    fn with_bell(&self, run: impl FnOnce(&Bell) -> io::Result<()>) -> Result<(), StorageError> {
        let inner = &self.inner;
        let mut bell = inner.bell.lock();
        let current = bell.take().filter(|bell| bell.is_current(inner.storage.as_ref()));
        let opened = current.map_or_else(|| Bell::open(inner.storage.as_ref(), inner.follow), Ok);
        let opened = opened.map_err(|error| self.failed("open", EPOCH, error))?;
        let done = run(&opened).map_err(|error| self.failed("write", EPOCH, error));
        *bell = Some(opened);
        done
    }

    /// Whether every file that a manifest reaches and its predecessor did not is there with its length. A file that was
    /// reached before and is missing now is damage, which is healed elsewhere and must not block other changes.
    fn has_new_files(&self, base: &Manifest, next: &Manifest) -> Result<bool, StorageError> {
        let known = base.reachable();
        for file in next.files().filter(|file| !known.contains(file.name.as_str())) {
            match self.inner.storage.stat(&file.name) {
                Ok(found) if found.len == file.length => {}
                Ok(_) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(self.failed("look at", &file.name, error)),
            }
        }
        Ok(true)
    }

    /// Makes durable what a killed predecessor may have left only visible.
    fn sync_everything(&self) -> Result<(), StorageError> {
        self.with_ring(|file| file.sync_data()).map_err(|error| self.poison("sync", RING, error))?;
        self.sync_names()
    }

    fn sync_names(&self) -> Result<(), StorageError> {
        self.inner.storage.sync_dir().map_err(|error| self.poison("sync", ".", error))
    }

    fn unlink_if_there(&self, name: &str) -> Result<(), StorageError> {
        match self.inner.storage.unlink(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed("replace", name, error)),
            _ => Ok(()),
        }
    }
}

/// What must hold between a manifest and its successor.
fn check_succession(base: &Loaded, next: &Manifest) -> Result<(), Error> {
    let wrong = |detail: String| Err(StorageError::damaged("the new manifest", detail).into());
    if next.folded_seq < base.manifest.folded_seq || next.folded_seq > base.last_seq {
        let (from, to) = (base.manifest.folded_seq, base.last_seq);
        return wrong(format!("statements folded up to {}, outside of {from}..={to}", next.folded_seq));
    }
    for (name, layer) in &base.manifest.layers {
        let Some(after) = next.layers.get(name) else { return wrong(format!("the layer {name} is missing")) };
        let (before, after) = (&layer.current, &after.current);
        if after.generation < before.generation || (after.generation == before.generation && after != before)
        {
            return wrong(format!("{name} has another content, but still generation {}", after.generation));
        }
    }
    Ok(())
}
