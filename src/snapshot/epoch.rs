//! The epoch page: the number that every process of a directory compares before it answers.
//!
//! Looking costs two loads. The number that callers see is the page's plus a mark of this process: a forked child
//! reads the mark as 0 and a replaced page gets a new mark, so that in both cases the number differs from the one
//! that was remembered. It is compared for inequality only and never leaves the process.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::map::{ForkMark, PAGE_BYTES, SharedPage};
use super::names::EPOCH;
use super::sections::{get_u64, put};
use super::storage::{OpenMode, Storage, StorageFile};

/// First word of the page.
pub(crate) const MAGIC: [u8; 8] = *b"RPTREPO\n";
/// Word of the number (on a cache line of its own).
pub(crate) const WORD_EPOCH: usize = 8;
/// Word of the [`Denial`].
pub(crate) const WORD_DENY_ALL: usize = 16;

/// Whether the synced layer is suspended because a revocation could not be written, or may have been lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Denial {
    /// It is not.
    #[default]
    No,
    /// It is, until the operator says that it is right. An unknown word is read as this.
    UntilResumed,
    /// It is, until the platform has been asked again: only its own word could be missing.
    UntilFetched,
}

impl Denial {
    fn word(self) -> u64 {
        match self {
            Self::No => 0,
            Self::UntilResumed => 1,
            Self::UntilFetched => 2,
        }
    }

    fn from_word(word: u64) -> Self {
        match word {
            0 => Self::No,
            2 => Self::UntilFetched,
            _ => Self::UntilResumed,
        }
    }
}

/// How a process sees that the number moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follow {
    /// A shared mapping: a look costs a load. Local file systems.
    #[default]
    Map,
    /// A read of the file: some 200 ns a look. Network file systems, and directories that others can write.
    Pread,
}

/// The reading side.
#[derive(Debug)]
pub(crate) struct Epoch {
    first: Node,
}

/// One file that was `epoch` at some time; the last of the chain is it now.
#[derive(Debug)]
struct Node {
    source: Source,
    mark: ForkMark,
    id: (u64, u64),
    next: OnceLock<Box<Node>>,
}

/// Where the words are.
#[derive(Debug)]
enum Source {
    Page(SharedPage),
    File(Box<dyn StorageFile>),
}

/// Numbers for looks that failed: never the same, so that the caller looks closer.
static FAILED_LOOKS: AtomicU64 = AtomicU64::new(1);

impl Epoch {
    /// Opens the page of a directory.
    pub(crate) fn open(storage: &dyn Storage, follow: Follow) -> io::Result<Self> {
        Ok(Self { first: Node::open(storage, follow)? })
    }

    /// The number now, and a fence: whatever is read afterwards is at least as new.
    #[inline]
    pub(crate) fn look(&self) -> u64 {
        let node = self.last();
        match node.source.word(WORD_EPOCH) {
            Ok(value) => value.wrapping_add(node.mark.get()),
            Err(_) => FAILED_LOOKS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Whether the synced layer is suspended.
    pub(crate) fn denial(&self) -> io::Result<Denial> {
        self.last().source.word(WORD_DENY_ALL).map(Denial::from_word)
    }

    /// Makes the number of this process differ from what it was.
    pub(crate) fn nudge(&self) {
        self.last().mark.add(random_word() | 1);
    }

    /// Follows the file that is called `epoch` now, if it is another one.
    pub(crate) fn remap_if_replaced(&self, storage: &dyn Storage, follow: Follow) -> io::Result<bool> {
        let last = self.last();
        if storage.stat(EPOCH)?.id == last.id {
            return Ok(false);
        }
        let node = Box::new(Node::open(storage, follow)?);
        // If another thread was faster, its node is as good as ours.
        Ok(last.next.set(node).is_ok())
    }

    #[inline]
    fn last(&self) -> &Node {
        let mut node = &self.first;
        while let Some(next) = node.next.get() {
            node = next;
        }
        node
    }
}

impl Node {
    fn open(storage: &dyn Storage, follow: Follow) -> io::Result<Self> {
        // On overlayfs a read-only mapping made before the first write never sees it: opening for writing once forces
        // the copy-up. On a read-only file system there is nothing to follow, so a refusal is fine.
        drop(storage.open(EPOCH, OpenMode::Write));
        let file = storage.open(EPOCH, OpenMode::Read)?;
        check(file.as_ref())?;
        let id = file.stat()?.id;
        let source = match follow {
            Follow::Map => Source::Page(file.map_page(false)?),
            Follow::Pread => Source::File(file),
        };
        Ok(Self { source, mark: ForkMark::new(random_word() | 1)?, id, next: OnceLock::new() })
    }
}

impl Source {
    #[inline]
    fn word(&self, word: usize) -> io::Result<u64> {
        match self {
            Self::Page(page) => Ok(page.load(word)),
            Self::File(file) => read_word(file.as_ref(), word),
        }
    }
}

/// The writing side, used under the lock only.
#[derive(Debug)]
pub(crate) struct Bell {
    file: Box<dyn StorageFile>,
    page: Option<SharedPage>,
    id: (u64, u64),
}

impl Bell {
    /// Opens the page for writing.
    pub(crate) fn open(storage: &dyn Storage, follow: Follow) -> io::Result<Self> {
        let file = storage.open(EPOCH, OpenMode::Write)?;
        check(file.as_ref())?;
        let page = if follow == Follow::Map { Some(file.map_page(true)?) } else { None };
        Ok(Self { id: file.stat()?.id, file, page })
    }

    /// Whether this is still the file called `epoch`.
    pub(crate) fn is_current(&self, storage: &dyn Storage) -> bool {
        storage.stat(EPOCH).is_ok_and(|found| found.id == self.id)
    }

    /// Moves the number: every query that starts afterwards, in any process, looks closer.
    pub(crate) fn ring(&self) -> io::Result<()> {
        match &self.page {
            Some(page) => writable(page.add(WORD_EPOCH, 1)),
            None => self.write_word(WORD_EPOCH, read_word(self.file.as_ref(), WORD_EPOCH)?.wrapping_add(1)),
        }
    }

    /// Suspends the synced layer in every process, or ends that; kept on disk as far as the disk allows.
    pub(crate) fn deny_all(&self, denial: Denial) -> io::Result<()> {
        match &self.page {
            Some(page) => {
                writable(page.store(WORD_DENY_ALL, denial.word()))?;
                page.flush()?;
            }
            None => self.write_word(WORD_DENY_ALL, denial.word())?,
        }
        self.file.sync_data()
    }

    fn write_word(&self, word: usize, value: u64) -> io::Result<()> {
        self.file.write_at(&value.to_le_bytes(), word as u64 * 8)
    }
}

fn writable(done: bool) -> io::Result<()> {
    if done { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

fn read_word(file: &dyn StorageFile, word: usize) -> io::Result<u64> {
    let mut bytes = [0; 8];
    if file.read_at(&mut bytes, word as u64 * 8)? < bytes.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(u64::from_le_bytes(bytes))
}

/// Checks that a file is an epoch page: magic and length.
pub(crate) fn check(file: &dyn StorageFile) -> io::Result<()> {
    let len = file.stat()?.len;
    if len != PAGE_BYTES as u64 || read_word(file, 0)? != u64::from_le_bytes(MAGIC) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("not an epoch page ({len} bytes)")));
    }
    Ok(())
}

/// A page as it is created: the number starts at random, so that it repeats neither after a removal nor a restore.
pub(crate) fn new_page() -> Vec<u8> {
    let mut page = vec![0; PAGE_BYTES];
    put(&mut page, 0, &MAGIC);
    put(&mut page, WORD_EPOCH * 8, &random_word().to_le_bytes());
    debug_assert!(get_u64(&page, 0) == Some(u64::from_le_bytes(MAGIC)));
    page
}

/// 64 bits that nobody can guess to be repeated: the operating system's seed of a fresh hash state.
pub(crate) fn random_word() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
