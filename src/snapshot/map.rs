//! Memory that is shared with files and processes: the first of the two files with `unsafe`.
//!
//! Three things live here, each behind a safe face: [`Bytes`] (a mapped file, a private copy or a constant, as one
//! slice), [`SharedPage`] (the epoch page, which other processes change while we look) and [`ForkMark`] (a word that
//! a forked child reads as zero).
//!
//! Safety contract of a mapped file: it is immutable from the moment its name is in a manifest, has mode 0400 and
//! stands in a directory that only we can write (checked at open; `map = "memory"` for all others). Somebody who
//! breaks that from outside gets a SIGBUS (truncation) or other bytes than those that were checked.
#![expect(unsafe_code, reason = "mapping memory; each block names the fact that makes it sound")]

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::slice;
use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use memmap2::{Mmap, MmapMut, MmapOptions, MmapRaw};
use rkyv::util::AlignedVec;

#[cfg(not(unix))]
compile_error!("repertoire needs the file system of a Unix: Windows is not supported yet");
#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "repertoire maps files above 4 GiB and atomic 64-bit words: only 64-bit targets are supported"
);

/// Alignment of an owned copy and of every section in a file.
pub(crate) const ALIGNMENT: usize = 64;
/// Bytes of the shared page.
pub(crate) const PAGE_BYTES: usize = 4096;
/// Words of the shared page.
pub(crate) const PAGE_WORDS: usize = PAGE_BYTES / 8;

/// Gives constants such as `include_bytes!` the alignment that sections need.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Aligned<T: ?Sized>(pub(crate) T);

/// Immutable bytes, aligned to 64, cheap to clone; dereferences to a slice at the cost of one load.
#[derive(Clone)]
pub(crate) struct Bytes {
    /// Borrowed from `owner` (or a constant); never handed out with this lifetime.
    slice: &'static [u8],
    owner: Owner,
}

/// What keeps the memory of [`Bytes`] alive.
#[derive(Clone)]
enum Owner {
    Mapped { _map: Arc<Mmap> },
    Copied { _copy: Arc<AlignedVec<ALIGNMENT>> },
    Constant,
}

impl Bytes {
    /// Maps a whole file read-only. An empty file gives empty bytes.
    ///
    /// The file must follow the contract of this module; storage upholds it by opening only files of a data
    /// directory that nobody else can write.
    pub(crate) fn map(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self::from_constant(&[]));
        }
        // SAFETY: files of a data directory are never changed in place (see the module's contract).
        let map = Arc::new(unsafe { Mmap::map(file) }?);
        // SAFETY: the mapping is neither moved nor unmapped before the `Arc` beside the slice is dropped.
        let slice = unsafe { slice::from_raw_parts(map.as_ptr(), map.len()) };
        Ok(Self { slice, owner: Owner::Mapped { _map: map } })
    }

    /// A private copy, aligned.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        let mut copy = AlignedVec::<ALIGNMENT>::with_capacity(bytes.len());
        copy.extend_from_slice(bytes);
        Self::from_aligned(copy)
    }

    /// Takes over bytes that are aligned already.
    pub(crate) fn from_aligned(copy: AlignedVec<ALIGNMENT>) -> Self {
        let copy = Arc::new(copy);
        // SAFETY: the heap block is neither moved nor freed before the `Arc` beside the slice is dropped, and
        // nothing else refers to it.
        let slice = unsafe { slice::from_raw_parts(copy.as_ptr(), copy.len()) };
        Self { slice, owner: Owner::Copied { _copy: copy } }
    }

    /// Bytes of the program itself; copied if they are not aligned (see [`Aligned`]).
    pub(crate) fn from_constant(bytes: &'static [u8]) -> Self {
        if bytes.is_empty() || bytes.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            return Self { slice: bytes, owner: Owner::Constant };
        }
        Self::copy_of(bytes)
    }

    /// The part `offset..offset + len` that shares the memory; `None` outside.
    pub(crate) fn part(&self, offset: u64, len: u64) -> Option<Self> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        Some(Self { slice: self.slice.get(start..end)?, owner: self.owner.clone() })
    }

    /// Whether the bytes are a private copy or a constant, that is, nobody outside can change them.
    pub(crate) fn is_private(&self) -> bool {
        !matches!(self.owner, Owner::Mapped { .. })
    }
}

impl Deref for Bytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.slice
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes, private: {})", self.len(), self.is_private())
    }
}

/// One page of 64-bit words that several processes read and change.
pub(crate) struct SharedPage {
    /// Borrowed from `owner`; never handed out with this lifetime.
    words: &'static [AtomicU64],
    owner: PageOwner,
    writable: bool,
}

/// What keeps the memory of a [`SharedPage`] alive.
enum PageOwner {
    Mapped(MmapRaw),
    #[cfg(test)]
    Memory {
        _page: Arc<[AtomicU64; PAGE_WORDS]>,
        alive: Option<Arc<AtomicBool>>,
    },
}

impl SharedPage {
    /// Maps the first page of a file, `MAP_SHARED`; read-only unless `writable` (then the file must be so too).
    pub(crate) fn map(file: &File, writable: bool) -> io::Result<Self> {
        if file.metadata()?.len() < PAGE_BYTES as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "shorter than one page"));
        }
        let mut options = MmapOptions::new();
        options.len(PAGE_BYTES);
        let map = if writable { options.map_raw(file) } else { options.map_raw_read_only(file) }?;
        #[expect(clippy::cast_ptr_alignment, reason = "a mapping is page-aligned")]
        let first = map.as_ptr().cast::<AtomicU64>();
        // SAFETY: the mapping is page-aligned, one page long and outlives the slice beside it. The words are only
        // ever touched by atomic operations, here and in other processes; of a read-only mapping they are only
        // loaded, relaxed, which is allowed on read-only memory.
        let words = unsafe { slice::from_raw_parts(first, PAGE_WORDS) };
        Ok(Self { words, owner: PageOwner::Mapped(map), writable })
    }

    /// A page in memory (for a storage in memory): writable as long as `alive` says so, read-only without it.
    #[cfg(test)]
    pub(crate) fn in_memory(page: &Arc<[AtomicU64; PAGE_WORDS]>, alive: Option<Arc<AtomicBool>>) -> Self {
        let owner = Arc::clone(page);
        let writable = alive.is_some();
        // SAFETY: the heap block is neither moved nor freed before the `Arc` beside the slice is dropped.
        let words = unsafe { slice::from_raw_parts(owner.as_ptr(), PAGE_WORDS) };
        Self { words, owner: PageOwner::Memory { _page: owner, alive }, writable }
    }

    /// The word, and a fence so that nothing read afterwards is older than it. 0 beyond the page.
    #[inline]
    pub(crate) fn load(&self, word: usize) -> u64 {
        let value = self.words.get(word).map_or(0, |cell| cell.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        value
    }

    /// Adds to the word, sequentially consistent with a full fence; false if the page is mapped read-only.
    pub(crate) fn add(&self, word: usize, amount: u64) -> bool {
        let Some(cell) = self.words.get(word).filter(|_| self.is_writable()) else { return false };
        cell.fetch_add(amount, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        true
    }

    /// Sets the word; false if the page is mapped read-only.
    pub(crate) fn store(&self, word: usize, value: u64) -> bool {
        let Some(cell) = self.words.get(word).filter(|_| self.is_writable()) else { return false };
        cell.store(value, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        true
    }

    /// Writes the page back to its file.
    pub(crate) fn flush(&self) -> io::Result<()> {
        match &self.owner {
            PageOwner::Mapped(map) => map.flush(),
            #[cfg(test)]
            PageOwner::Memory { .. } => Ok(()),
        }
    }

    fn is_writable(&self) -> bool {
        match &self.owner {
            PageOwner::Mapped(_) => self.writable,
            #[cfg(test)]
            PageOwner::Memory { alive, .. } => {
                alive.as_ref().is_some_and(|alive| alive.load(Ordering::SeqCst))
            }
        }
    }
}

impl fmt::Debug for SharedPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedPage(writable: {})", self.writable)
    }
}

/// A word that a forked child sees as 0 (Linux: a page that the kernel wipes on fork; elsewhere: compared by pid).
pub(crate) struct ForkMark {
    /// Borrowed from `_owner`.
    word: &'static AtomicU64,
    _owner: MmapRaw,
    /// Set where the kernel does not wipe the page: the process that made the mark.
    pid: Option<u32>,
}

impl ForkMark {
    /// A mark with a value that should not be 0.
    pub(crate) fn new(value: u64) -> io::Result<Self> {
        let owner = MmapRaw::from(MmapMut::map_anon(PAGE_BYTES)?);
        let pid = (!wipe_on_fork(&owner)).then(std::process::id);
        // SAFETY: the anonymous page is aligned, writable, zeroed and outlives the reference beside it; it is
        // private to this process and only touched by atomic operations.
        let word = unsafe { AtomicU64::from_ptr(owner.as_mut_ptr().cast()) };
        word.store(value, Ordering::Relaxed);
        Ok(Self { word, _owner: owner, pid })
    }

    /// The value; 0 in a forked child.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        match self.pid {
            Some(pid) if pid != std::process::id() => 0,
            _ => self.word.load(Ordering::Relaxed),
        }
    }

    /// Adds to the value.
    pub(crate) fn add(&self, amount: u64) {
        self.word.fetch_add(amount, Ordering::SeqCst);
    }
}

impl fmt::Debug for ForkMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForkMark")
    }
}

/// Asks the kernel to hand a zeroed page to forked children; false where it cannot.
#[cfg(target_os = "linux")]
fn wipe_on_fork(page: &MmapRaw) -> bool {
    let address = page.as_mut_ptr().cast();
    // SAFETY: the range is exactly one anonymous private mapping of ours; the advice takes nothing from this
    // process, only from children.
    unsafe { rustix::mm::madvise(address, page.len(), rustix::mm::Advice::LinuxWipeOnFork) }.is_ok()
}

/// Asks the kernel to hand a zeroed page to forked children; false where it cannot.
#[cfg(not(target_os = "linux"))]
fn wipe_on_fork(_page: &MmapRaw) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_every_origin_are_equal_and_aligned() {
        static CONSTANT: Aligned<[u8; 200]> = Aligned([7; 200]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [7; 200]).unwrap();
        let all = [
            Bytes::map(file.as_file()).unwrap(),
            Bytes::copy_of(&[7; 200]),
            Bytes::from_constant(&CONSTANT.0),
            Bytes::from_constant(&CONSTANT.0[1..]).part(0, 199).unwrap(),
        ];
        for bytes in &all {
            assert!(bytes.as_ptr().addr().is_multiple_of(ALIGNMENT), "{bytes:?}");
            assert!(bytes.iter().all(|byte| *byte == 7));
        }
        assert!(!all[0].is_private() && all[1].is_private() && all[2].is_private());
    }

    #[test]
    fn a_part_outlives_the_whole_and_is_bounds_checked() {
        let whole = Bytes::copy_of(&[1, 2, 3, 4]);
        let part = whole.part(1, 2).unwrap();
        for (offset, len) in [(0, 5), (5, 0), (u64::MAX, 1), (1, u64::MAX)] {
            assert!(whole.part(offset, len).is_none(), "{offset} {len}");
        }
        drop(whole);
        assert_eq!(&*part, &[2, 3]);
        assert!(Bytes::map(&tempfile::tempfile().unwrap()).unwrap().is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_forked_child_reads_the_mark_as_zero_and_a_handle_refuses_to_work_there() {
        use crate::error::StorageError;
        use crate::snapshot::{DataDir, OpenOptions};
        use std::os::unix::process::CommandExt;

        let base = tempfile::tempdir().unwrap();
        let dir = DataDir::open(&base.path().join("data"), &OpenOptions::default()).unwrap();
        let mark = ForkMark::new(7).unwrap();
        let epoch = dir.load().unwrap().epoch;
        assert_eq!((mark.get(), dir.epoch()), (7, epoch));
        // The closure runs in the child between fork and exec; its error comes back to us.
        let check = move || {
            let forked = dir.epoch() != epoch && matches!(dir.load(), Err(StorageError::Forked));
            Err(io::Error::from_raw_os_error(if mark.get() == 0 && forked { 99 } else { 98 }))
        };
        let mut command = std::process::Command::new("/bin/true");
        // SAFETY: the closure only reads memory, asks for the process number and returns.
        let command = unsafe { command.pre_exec(check) };
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(99));
    }

    #[test]
    fn a_page_is_seen_through_another_mapping_and_a_read_only_one_refuses_writes() {
        let file = tempfile::tempfile().unwrap();
        assert!(SharedPage::map(&file, false).is_err(), "an empty file has no page");
        file.set_len(PAGE_BYTES as u64).unwrap();
        let writer = SharedPage::map(&file, true).unwrap();
        let reader = SharedPage::map(&file, false).unwrap();
        assert!(writer.add(8, 5) && writer.store(16, 1));
        assert_eq!((reader.load(8), reader.load(16), reader.load(PAGE_WORDS)), (5, 1, 0));
        assert!(!reader.add(8, 1) && !reader.store(8, 1) && !writer.add(PAGE_WORDS, 1));
    }
}
