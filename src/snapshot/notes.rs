//! `SYNC`: its lock elects the one process that polls the platform; its bytes are what was noted about the last tries.
//!
//! The notes are changed in place and never synced: what a power cut takes from them only makes the age of the last check
//! an older one. A reader that finds them torn keeps what it knew.

use std::io;

use super::dir::DataDir;
use super::names::SYNC;
use super::sections::{get_u32, put};
use super::storage::{OpenMode, StorageFile, read_all};
use crate::error::StorageError;
use crate::limits::SYNC_NOTES_BYTES_MAX;

/// First bytes of the notes.
pub(crate) const MAGIC: [u8; 8] = *b"RPTRSYN\n";
/// Bytes before the text.
pub(crate) const HEADER_BYTES: usize = 16;
/// u32 crc32c of the text.
pub(crate) const AT_CRC: usize = 8;
/// u32 bytes of the text.
pub(crate) const AT_LENGTH: usize = 12;

/// The poller's office, held until it is dropped or the process ends.
#[cfg_attr(not(feature = "sync"), allow(dead_code, reason = "only the sync polls"))]
#[derive(Debug)]
pub(crate) struct Election {
    _file: Box<dyn StorageFile>,
}

impl DataDir {
    /// Takes the poller's office if it is free.
    #[cfg_attr(not(feature = "sync"), allow(dead_code, reason = "only the sync polls"))]
    pub(crate) fn elect(&self) -> Result<Option<Election>, StorageError> {
        self.check_writable()?;
        let failed = |error| self.failed("lock", SYNC, error);
        let file = self.inner.storage.open(SYNC, OpenMode::CreateOrOpen).map_err(failed)?;
        Ok(file.try_lock().map_err(failed)?.then_some(Election { _file: file }))
    }

    /// The text that was noted last; `None` if there is none, or it is torn.
    pub(crate) fn notes(&self) -> Option<Vec<u8>> {
        let file = self.inner.storage.open(SYNC, OpenMode::Read).ok()?;
        let bytes = read_all(file.as_ref(), SYNC_NOTES_BYTES_MAX).ok()?;
        text_of(&bytes).map(<[u8]>::to_vec)
    }

    /// Replaces the text in place.
    pub(crate) fn set_notes(&self, text: &[u8]) -> Result<(), StorageError> {
        self.check_writable()?;
        let failed = |error| self.failed("write", SYNC, error);
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.extend_from_slice(text);
        if bytes.len() as u64 > SYNC_NOTES_BYTES_MAX {
            return Err(failed(io::ErrorKind::FileTooLarge.into()));
        }
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, AT_CRC, &crc32c::crc32c(text).to_le_bytes());
        put(&mut bytes, AT_LENGTH, &u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
        let file = self.inner.storage.open(SYNC, OpenMode::CreateOrOpen).map_err(failed)?;
        file.write_at(&bytes, 0).map_err(failed)
    }

    /// Milliseconds since the machine started.
    pub(crate) fn boot_ms(&self) -> u64 {
        self.inner.storage.boot_ms()
    }

    /// Which start of the machine this is.
    pub(crate) fn boot_id(&self) -> String {
        self.inner.storage.boot_id()
    }

    /// Milliseconds since 1970, by a clock that may jump.
    pub(crate) fn wall_ms(&self) -> u64 {
        self.inner.storage.now_ms()
    }
}

/// The text of whole notes.
fn text_of(bytes: &[u8]) -> Option<&[u8]> {
    let length = usize::try_from(get_u32(bytes, AT_LENGTH)?).ok()?;
    let text = bytes.get(HEADER_BYTES..)?.get(..length)?;
    let holds = bytes.starts_with(&MAGIC) && get_u32(bytes, AT_CRC)? == crc32c::crc32c(text);
    holds.then_some(text)
}

/// Checks the file by its bytes; an empty one is only a lock.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() || text_of(bytes).is_some() {
        return Ok(());
    }
    Err(format!("{} bytes that are no whole notes; the next try writes them anew", bytes.len()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::snapshot::OpenOptions;
    use crate::snapshot::storage::MemoryStorage;

    fn open(storage: &Arc<MemoryStorage>) -> DataDir {
        let storage = Some(Arc::clone(storage) as Arc<dyn crate::snapshot::storage::Storage>);
        DataDir::open(Path::new("memory"), &OpenOptions { storage, ..OpenOptions::default() }).unwrap()
    }

    #[test]
    fn one_process_is_elected_until_it_lets_go() {
        let storage = Arc::new(MemoryStorage::new());
        let (first, second) = (open(&storage), open(&Arc::new(storage.another_process())));
        let office = first.elect().unwrap().expect("it was free");
        assert!(second.elect().unwrap().is_none());
        first.set_notes(b"noted").unwrap();
        assert_eq!(second.notes().unwrap(), b"noted", "notes are for everybody");
        drop(office);
        assert!(second.elect().unwrap().is_some());
    }

    #[test]
    fn shorter_notes_replace_longer_ones_and_torn_ones_are_none() {
        let storage = Arc::new(MemoryStorage::new());
        let dir = open(&storage);
        assert_eq!(dir.notes(), None);
        dir.set_notes(b"a long text").unwrap();
        dir.set_notes(b"short").unwrap();
        assert_eq!(dir.notes().unwrap(), b"short");
        let mut bytes = storage.peek(SYNC).unwrap();
        assert_eq!(check(&bytes), Ok(()));
        bytes[HEADER_BYTES] ^= 1;
        storage.poke(SYNC, Some(&bytes));
        assert_eq!(dir.notes(), None);
        assert!(check(&bytes).is_err() && check(b"").is_ok());
        let most = usize::try_from(SYNC_NOTES_BYTES_MAX).unwrap() - HEADER_BYTES;
        assert!(dir.set_notes(&vec![0; most + 1]).is_err());
        dir.set_notes(&vec![b' '; most]).unwrap();
        assert_eq!(dir.notes().unwrap().len(), most);
    }
}
