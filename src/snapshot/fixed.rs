//! Files checked as they stand: those of a directory with fixed names, and any single file by its bytes. What `verify`
//! and `inspect` say of them, without mending anything.

use std::io;

use super::dir::DataDir;
use super::epoch;
use super::load::read_manifest_file;
use super::manifest::{self, Manifest};
use super::map::PAGE_BYTES;
use super::names::{CURRENT, EPOCH, LOCK, PREVIOUS, RING, SYNC};
use super::notes;
use super::ring::Ring;
use super::storage::OpenMode;
use crate::error::StorageError;

/// One of the fixed files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FixedFile {
    /// Its name.
    pub(crate) name: &'static str,
    /// What is wrong with it.
    pub(crate) problem: Option<String>,
}

impl DataDir {
    /// `CURRENT`, `PREVIOUS`, the ring and the epoch page as they stand on disk. `PREVIOUS` is not there before the
    /// second commit.
    pub(crate) fn fixed_files(&self) -> Vec<FixedFile> {
        let storage = self.inner.storage.as_ref();
        let current = read_manifest_file(storage, CURRENT);
        let folded = current.as_ref().map_or(0, |manifest| manifest.folded_seq);
        let mut found = vec![FixedFile { name: CURRENT, problem: problem(current) }];
        match read_manifest_file(storage, PREVIOUS) {
            Err(StorageError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            previous => found.push(FixedFile { name: PREVIOUS, problem: problem(previous) }),
        }
        let ring = self.read_ring().map_err(|error| error.to_string());
        let damage = ring.map_or_else(Some, |bytes| Ring::read(&bytes, folded).damage);
        found.push(FixedFile { name: RING, problem: damage });
        let page = storage.open(EPOCH, OpenMode::Read).and_then(|file| epoch::check(file.as_ref()));
        found.push(FixedFile { name: EPOCH, problem: page.err().map(|error| error.to_string()) });
        found
    }
}

fn problem(read: Result<Manifest, StorageError>) -> Option<String> {
    read.err().map(|error| error.to_string())
}

/// Checks a file that is known by its name or, as a copy under another name, by its first bytes. `None` for anything else:
/// a segment, a source, or what is not ours.
///
/// The ring is checked record by record; whether its numbers follow those of a manifest shows only in its directory.
pub(crate) fn check(name: &str, bytes: &[u8]) -> Option<Result<(), StorageError>> {
    let damaged = |detail: String| StorageError::damaged(name, detail);
    // `CURRENT.bad` and `CURRENT.1.bad` were `CURRENT`.
    let base = name.split('.').next().unwrap_or(name);
    let begins = |magic: [u8; 8]| bytes.starts_with(&magic);
    if matches!(base, CURRENT | PREVIOUS) || begins(manifest::MAGIC) {
        return Some(Manifest::decode(name, bytes).map(drop));
    }
    if base == EPOCH || begins(epoch::MAGIC) {
        let sound = begins(epoch::MAGIC) && bytes.len() == PAGE_BYTES;
        let detail = || damaged(format!("{} bytes, not an epoch page of {PAGE_BYTES}", bytes.len()));
        return Some(if sound { Ok(()) } else { Err(detail()) });
    }
    match base {
        // No statement is asked for, so that only length and checksums can be wrong.
        RING => Some(Ring::read(bytes, u64::MAX).damage.map_or(Ok(()), |detail| Err(damaged(detail)))),
        SYNC => Some(notes::check(bytes).map_err(damaged)),
        LOCK if bytes.is_empty() => Some(Ok(())),
        LOCK => Some(Err(damaged(format!("{} bytes, but a lock is empty", bytes.len())))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::epoch::new_page;
    use crate::snapshot::ring::{RECORD_BYTES, RING_BYTES, encode};

    #[test]
    fn sound_files_pass_under_any_name_and_a_flipped_byte_does_not() {
        let current = Manifest::default().encode().expect("encodes");
        let mut ring = vec![0; RING_BYTES];
        // A ring that went around: its numbers do not begin at one.
        for (slot, seq) in ring.chunks_exact_mut(RECORD_BYTES).zip(5_000..5_040) {
            slot.copy_from_slice(&encode(seq, 3, b"wifi").expect("fits")[0]);
        }
        let rows: [(&[&str], Vec<u8>, Option<usize>); 4] = [
            (&["CURRENT", "PREVIOUS", "CURRENT.1.bad", "backup"], current, Some(70)),
            (&["epoch", "epoch.bad", "page"], new_page(), Some(3)),
            (&["revocations", "revocations.bad"], ring, Some(20)),
            (&["LOCK"], Vec::new(), None),
        ];
        for (names, bytes, at) in rows {
            for name in names {
                assert!(matches!(check(name, &bytes), Some(Ok(()))), "{name}");
            }
            let name = names[0];
            let mut longer = bytes.clone();
            longer.push(0);
            assert!(matches!(check(name, &longer), Some(Err(_))), "{name}");
            if let Some(at) = at {
                let mut flipped = bytes;
                flipped[at] ^= 1;
                assert!(matches!(check(name, &flipped), Some(Err(StorageError::Damaged { .. }))), "{name}");
                assert!(matches!(check(name, &flipped[..at]), Some(Err(_))), "{name}");
            }
        }
        assert!(check("notes.txt", b"no snapshot").is_none() && check("local-x.seg", b"RPTRSEG\n").is_none());
    }
}
