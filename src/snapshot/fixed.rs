//! The files with fixed names, looked at one by one: what `verify` says of them, without mending anything.

use std::io;

use super::dir::DataDir;
use super::epoch;
use super::load::read_manifest_file;
use super::manifest::Manifest;
use super::names::{CURRENT, EPOCH, PREVIOUS, RING};
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
