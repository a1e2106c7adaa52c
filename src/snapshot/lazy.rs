//! A section that is checked where it is touched, in blocks: opening a large file costs nothing for what is not read.
//!
//! The checksums of the blocks stand in a section of their own, which is verified when the file is opened. A block is
//! checked once; then a bit says so. Threads that race on a block all do the work and come to the same answer: the
//! bytes are immutable.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::file::SectionFile;
use super::map::Bytes;
use super::sections::get_u32;
use crate::error::StorageError;

/// Bits of an offset inside a block.
const BLOCK_SHIFT: u32 = 16;
/// Bytes that one checksum covers.
pub(crate) const BLOCK_BYTES: usize = 1 << BLOCK_SHIFT;

/// The section, and which of its blocks were found good.
pub(crate) struct Lazy {
    bytes: Bytes,
    /// A u32 a block.
    checksums: Bytes,
    checked: Box<[AtomicU64]>,
    all_checked: AtomicBool,
    /// Where the bytes come from, for messages; none in tests.
    file: Option<Arc<SectionFile>>,
    kind: u32,
}

/// Blocks of so many bytes.
pub(crate) const fn blocks(bytes: usize) -> usize {
    bytes.div_ceil(BLOCK_BYTES)
}

/// The checksums of the blocks of a section, a u32 each.
pub(crate) fn checksums(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(BLOCK_BYTES).flat_map(|block| crc32c::crc32c(block).to_le_bytes()).collect()
}

impl Lazy {
    /// A section of a file with the checksums of its blocks.
    pub(super) fn new(bytes: Bytes, checksums: Bytes, file: Option<Arc<SectionFile>>, kind: u32) -> Self {
        let words = blocks(bytes.len()).div_ceil(64);
        let checked = (0..words).map(|_| AtomicU64::new(0)).collect();
        Self { bytes, checksums, checked, all_checked: AtomicBool::new(false), file, kind }
    }

    /// Bytes that stand in no file.
    #[cfg(test)]
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self::new(Bytes::copy_of(bytes), Bytes::copy_of(&checksums(bytes)), None, 0)
    }

    /// Length of the section.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The section without any check: for what is checked by other means before it is believed.
    pub(crate) fn unchecked(&self) -> &Bytes {
        &self.bytes
    }

    /// A part of the section; `None` if it lies outside, or in a block that does not match its checksum. Cost: one
    /// load once the block was touched, 64 KiB of checksum before.
    #[inline]
    pub(crate) fn get(&self, at: usize, len: usize) -> Option<&[u8]> {
        let part = self.bytes.get(at..at.checked_add(len)?)?;
        let (first, last) = (at >> BLOCK_SHIFT, (at + len.saturating_sub(1)) >> BLOCK_SHIFT);
        if first == last && self.is_checked(first) || len == 0 {
            return Some(part);
        }
        (first..=last).all(|block| self.check(block)).then_some(part)
    }

    /// The whole section. Cost: its length at the first call, one load later.
    ///
    /// # Errors
    /// A block does not match its checksum.
    #[inline]
    pub(crate) fn all(&self) -> Result<&[u8], StorageError> {
        if self.all_checked.load(Ordering::Relaxed) {
            return Ok(&self.bytes);
        }
        self.check_all()
    }

    #[cold]
    fn check_all(&self) -> Result<&[u8], StorageError> {
        if let Some(bad) = (0..blocks(self.len())).find(|block| !self.check(*block)) {
            return Err(self.damaged(bad));
        }
        self.all_checked.store(true, Ordering::Relaxed);
        Ok(&self.bytes)
    }

    #[inline]
    fn is_checked(&self, block: usize) -> bool {
        self.checked.get(block / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (block % 64) & 1 == 1)
    }

    #[cold]
    fn check(&self, block: usize) -> bool {
        if self.is_checked(block) {
            return true;
        }
        let start = block << BLOCK_SHIFT;
        let bytes = self.bytes.get(start..self.len().min(start + BLOCK_BYTES)).unwrap_or_default();
        if get_u32(&self.checksums, block * 4) != Some(crc32c::crc32c(bytes)) {
            return false;
        }
        if let Some(word) = self.checked.get(block / 64) {
            word.fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
        true
    }

    fn damaged(&self, block: usize) -> StorageError {
        let name = self.file.as_ref().map_or("section", |file| file.name());
        let kind = self.kind;
        StorageError::damaged(name, format!("block {block} of section {kind:#x} does not match its checksum"))
    }
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lazy({} bytes of section {:#x})", self.len(), self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_there_and_a_damaged_block_alone_is_not() {
        let mut bytes: Vec<u8> = (0..251_u8).cycle().take(3 * BLOCK_BYTES + 100).collect();
        let sums = checksums(&bytes);
        let places =
            [(0, 1), (0, BLOCK_BYTES), (BLOCK_BYTES - 1, 2), (100, 3 * BLOCK_BYTES), (bytes.len() - 1, 1)];
        let whole = Lazy::of(&bytes);
        for _ in 0..2 {
            for (at, len) in places {
                assert_eq!(whole.get(at, len).unwrap(), &bytes[at..at + len]);
            }
            assert_eq!(whole.all().unwrap(), bytes);
        }
        for (at, len) in [(bytes.len(), 1), (usize::MAX, 2), (1, usize::MAX), (0, bytes.len() + 1)] {
            assert!(whole.get(at, len).is_none());
        }
        assert_eq!(whole.get(bytes.len(), 0), Some(&[][..]));
        bytes[BLOCK_BYTES + 7] ^= 1;
        let broken = Lazy::new(Bytes::copy_of(&bytes), Bytes::copy_of(&sums), None, 5);
        for _ in 0..2 {
            assert!(broken.get(0, BLOCK_BYTES).is_some() && broken.get(2 * BLOCK_BYTES, 10).is_some());
            assert!(broken.get(BLOCK_BYTES, 1).is_none() && broken.get(BLOCK_BYTES - 1, 2).is_none());
            let error = broken.all().unwrap_err().to_string();
            assert!(error.contains("block 1 of section 0x5"), "{error}");
        }
    }

    #[test]
    fn missing_checksums_are_damage() {
        let short = Lazy::new(Bytes::copy_of(&[7; 10]), Bytes::copy_of(&[]), None, 5);
        assert!(short.get(0, 1).is_none() && short.all().is_err());
        assert!(Lazy::of(&[]).all().unwrap().is_empty());
    }
}
