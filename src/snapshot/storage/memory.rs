//! A file system in memory that tells what is durable from what is only visible, and that fails or stops on command.
//!
//! One [`MemoryStorage`] is one process; [`MemoryStorage::another_process`] is a second one on the same files. Every
//! operation is a numbered step. A fault makes one step fail, or stops the process there: from then on nothing that it
//! does has an effect, its locks are gone, and the files stay as they are. [`MemoryStorage::cut_power`] also loses what
//! was not synced: any subset of the writes and name changes since.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::{FileStat, OpenMode, Storage, StorageFile};
use crate::error::StorageError;
use crate::snapshot::map::{Bytes, PAGE_WORDS, SharedPage};

/// What happens at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process is stopped before the step.
    Stop,
    /// The process is stopped in the step: half of a write is done, another operation wholly.
    StopHalfway,
    /// The step fails with this error and does nothing.
    Fail(io::ErrorKind),
}

/// One process's view of a file system in memory.
#[derive(Debug)]
pub(crate) struct MemoryStorage {
    path: PathBuf,
    disk: Arc<Mutex<Disk>>,
    process: Arc<Process>,
}

/// State of a process.
#[derive(Debug)]
struct Process {
    /// False once it was stopped.
    alive: Arc<AtomicBool>,
    /// Steps so far.
    steps: AtomicU64,
    /// Which step has which fault.
    fault: Mutex<Option<(u64, Fault)>>,
}

/// The files.
#[derive(Debug, Default)]
struct Disk {
    names: BTreeMap<String, Arc<Node>>,
    durable: BTreeMap<String, Arc<Node>>,
    /// Changes of names since the directory was synced; each is atomic.
    pending: Vec<Vec<(String, Option<Arc<Node>>)>>,
    next_id: u64,
    clock_ms: u64,
    /// Time since the machine started.
    boot_ms: u64,
    /// How often it started.
    boots: u64,
}

/// One file.
#[derive(Debug)]
struct Node {
    id: u64,
    content: Mutex<Content>,
    page: Arc<[AtomicU64; PAGE_WORDS]>,
    /// Who holds the lock.
    holder: Mutex<Option<Arc<AtomicBool>>>,
}

/// Bytes of a file.
#[derive(Clone, Debug, Default)]
struct Content {
    visible: Vec<u8>,
    durable: Vec<u8>,
    /// Writes since the last sync.
    pending: Vec<(usize, Vec<u8>)>,
    mapped: bool,
    modified_ms: u64,
}

impl MemoryStorage {
    /// An empty file system with one process.
    pub(crate) fn new() -> Self {
        let disk = Disk { clock_ms: 1_000_000_000_000, ..Disk::default() };
        Self { path: PathBuf::from("memory"), disk: Arc::new(Mutex::new(disk)), process: Process::new() }
    }

    /// Another process on the same files.
    pub(crate) fn another_process(&self) -> Self {
        Self { path: self.path.clone(), disk: Arc::clone(&self.disk), process: Process::new() }
    }

    /// Lets a fault happen at the `step`-th operation from now on (0 = the next).
    pub(crate) fn fault_at(&self, step: u64, fault: Fault) {
        *self.process.fault.lock() = Some((self.steps() + step, fault));
    }

    /// Operations of this process so far.
    pub(crate) fn steps(&self) -> u64 {
        self.process.steps.load(Ordering::SeqCst)
    }

    /// Whether the process was not stopped.
    pub(crate) fn is_alive(&self) -> bool {
        self.process.alive.load(Ordering::SeqCst)
    }

    /// What a power cut now would leave: any subset (chosen by `seed`) of what was not synced is lost. A new process
    /// on a copy of the files; this one goes on as if nothing had happened.
    pub(crate) fn cut_power(&self, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let mut after = Disk::default();
        {
            let disk = self.disk.lock();
            let mut names = disk.durable.clone();
            for change in disk.pending.clone() {
                if dice.flip() {
                    apply(&mut names, change);
                }
            }
            (after.next_id, after.clock_ms, after.boots) = (disk.next_id, disk.clock_ms, disk.boots + 1);
            let mut copies: BTreeMap<u64, Arc<Node>> = BTreeMap::new();
            for (name, node) in names {
                let copy = copies.entry(node.id).or_insert_with(|| Arc::new(node.after_power_cut(&mut dice)));
                after.names.insert(name, Arc::clone(copy));
            }
        }
        after.durable.clone_from(&after.names);
        Self { path: self.path.clone(), disk: Arc::new(Mutex::new(after)), process: Process::new() }
    }

    /// A process on a copy of the files as they are now, with everything that is not durable yet.
    pub(crate) fn copy(&self) -> Self {
        let disk = self.disk.lock();
        let mut nodes: BTreeMap<u64, Arc<Node>> = BTreeMap::new();
        let mut copy_of =
            |node: &Arc<Node>| Arc::clone(nodes.entry(node.id).or_insert_with(|| Arc::new(node.copy())));
        let (next_id, clock_ms, boot_ms, boots) = (disk.next_id, disk.clock_ms, disk.boot_ms, disk.boots);
        let mut twin = Disk { next_id, clock_ms, boot_ms, boots, ..Disk::default() };
        twin.names = disk.names.iter().map(|(name, node)| (name.clone(), copy_of(node))).collect();
        twin.durable = disk.durable.iter().map(|(name, node)| (name.clone(), copy_of(node))).collect();
        for change in &disk.pending {
            let change = change.iter().map(|(name, node)| (name.clone(), node.as_ref().map(&mut copy_of)));
            twin.pending.push(change.collect());
        }
        Self { path: self.path.clone(), disk: Arc::new(Mutex::new(twin)), process: Process::new() }
    }

    /// Lets time pass.
    pub(crate) fn advance_clock(&self, by_ms: u64) {
        let mut disk = self.disk.lock();
        disk.clock_ms += by_ms;
        disk.boot_ms += by_ms;
    }

    /// Sets the wall clock, as an operator or a time server does.
    #[cfg(feature = "sync")]
    pub(crate) fn set_wall_clock(&self, to_ms: u64) {
        self.disk.lock().clock_ms = to_ms;
    }

    /// The visible bytes of a file, as an observer from outside sees them.
    pub(crate) fn peek(&self, name: &str) -> Option<Vec<u8>> {
        let node = self.disk.lock().names.get(name).cloned()?;
        let bytes = node.content.lock().visible.clone();
        Some(bytes)
    }

    /// Puts bytes in the place of a file (or removes it), durably, from outside. A page that is mapped stays as it is.
    pub(crate) fn poke(&self, name: &str, bytes: Option<&[u8]>) {
        let mut disk = self.disk.lock();
        disk.next_id += 1;
        let node = bytes.map(|bytes| Arc::new(Node::new(disk.next_id, bytes.to_vec(), disk.clock_ms)));
        let change = vec![(name.to_owned(), node)];
        apply(&mut disk.durable, change.clone());
        apply(&mut disk.names, change);
    }

    /// Counts a step; says whether it is to be done wholly (`true`) or halfway.
    fn step(&self) -> io::Result<bool> {
        let step = self.process.steps.fetch_add(1, Ordering::SeqCst);
        if !self.is_alive() {
            return Err(stopped());
        }
        match *self.process.fault.lock() {
            Some((at, fault)) if at == step => match fault {
                Fault::Fail(kind) => Err(io::Error::new(kind, "injected")),
                Fault::Stop => {
                    self.process.alive.store(false, Ordering::SeqCst);
                    Err(stopped())
                }
                Fault::StopHalfway => Ok(false),
            },
            _ => Ok(true),
        }
    }

    /// Counts a step, does it, and stops the process afterwards if that is the fault.
    fn run<T>(&self, operation: impl FnOnce(&mut Disk) -> io::Result<T>) -> io::Result<T> {
        let whole = self.step()?;
        let result = operation(&mut self.disk.lock());
        if whole {
            return result;
        }
        self.process.alive.store(false, Ordering::SeqCst);
        Err(stopped())
    }
}

impl Process {
    fn new() -> Arc<Self> {
        let alive = Arc::new(AtomicBool::new(true));
        Arc::new(Self { alive, steps: AtomicU64::new(0), fault: Mutex::new(None) })
    }
}

impl Storage for MemoryStorage {
    fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&self, _create: bool, _private: bool) -> Result<(), StorageError> {
        self.run(|_| Ok(())).map_err(|error| StorageError::io("open", &self.path, error))
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn StorageFile>> {
        let node = self.run(|disk| {
            let found = disk.names.get(name).cloned();
            match (found, mode) {
                (Some(_), OpenMode::CreateNew(_)) => Err(io::ErrorKind::AlreadyExists.into()),
                (Some(node), _) => Ok(node),
                (None, OpenMode::Read | OpenMode::Write) => Err(io::ErrorKind::NotFound.into()),
                (None, OpenMode::CreateNew(_) | OpenMode::CreateOrOpen) => {
                    disk.next_id += 1;
                    let node = Arc::new(Node::new(disk.next_id, Vec::new(), disk.clock_ms));
                    disk.change(vec![(name.to_owned(), Some(Arc::clone(&node)))]);
                    Ok(node)
                }
            }
        })?;
        let storage = Self {
            path: self.path.clone(),
            disk: Arc::clone(&self.disk),
            process: Arc::clone(&self.process),
        };
        Ok(Box::new(MemoryFile { node, storage, locked: AtomicBool::new(false) }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.run(|disk| {
            let node = disk.names.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
            // As POSIX has it: two names of one file stay two names.
            if disk.names.get(to).is_none_or(|other| other.id != node.id) {
                disk.change(vec![(to.to_owned(), Some(node)), (from.to_owned(), None)]);
            }
            Ok(())
        })
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.run(|disk| {
            let node = disk.names.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
            if disk.names.contains_key(to) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            disk.change(vec![(to.to_owned(), Some(node))]);
            Ok(())
        })
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        self.run(|disk| {
            if !disk.names.contains_key(name) {
                return Err(io::ErrorKind::NotFound.into());
            }
            disk.change(vec![(name.to_owned(), None)]);
            Ok(())
        })
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.run(|disk| {
            disk.pending.clear();
            disk.durable = disk.names.clone();
            Ok(())
        })
    }

    fn list(&self) -> io::Result<Vec<String>> {
        self.run(|disk| Ok(disk.names.keys().cloned().collect()))
    }

    fn stat(&self, name: &str) -> io::Result<FileStat> {
        self.run(|disk| disk.names.get(name).map(|node| node.stat()).ok_or(io::ErrorKind::NotFound.into()))
    }

    fn before_announcement(&self) -> io::Result<()> {
        self.run(|_| Ok(()))
    }

    fn now_ms(&self) -> u64 {
        self.disk.lock().clock_ms
    }

    fn boot_ms(&self) -> u64 {
        self.disk.lock().boot_ms
    }

    fn boot_id(&self) -> String {
        self.disk.lock().boots.to_string()
    }
}

impl Disk {
    fn change(&mut self, change: Vec<(String, Option<Arc<Node>>)>) {
        apply(&mut self.names, change.clone());
        self.pending.push(change);
    }
}

impl Node {
    fn new(id: u64, bytes: Vec<u8>, modified_ms: u64) -> Self {
        let page = Arc::new(std::array::from_fn(|_| AtomicU64::new(0)));
        let content = Content { durable: bytes.clone(), visible: bytes, modified_ms, ..Content::default() };
        Self { id, content: Mutex::new(content), page, holder: Mutex::new(None) }
    }

    fn stat(&self) -> FileStat {
        let content = self.content.lock();
        FileStat { id: (1, self.id), len: content.visible.len() as u64, modified_ms: content.modified_ms }
    }

    fn copy(&self) -> Self {
        let content = self.content.lock().clone();
        let copy = Self { content: Mutex::new(content), ..Self::new(self.id, Vec::new(), 0) };
        copy.set_page(&self.page_bytes());
        copy
    }

    /// The file as a power cut leaves it: the synced bytes and any subset of the writes since.
    fn after_power_cut(&self, dice: &mut Dice) -> Self {
        let content = self.content.lock();
        let mut bytes = content.durable.clone();
        for (offset, written) in &content.pending {
            if dice.flip() {
                write_into(&mut bytes, *offset, written);
            }
        }
        if content.mapped && dice.flip() {
            bytes = self.page_bytes();
        }
        Self::new(self.id, bytes, content.modified_ms)
    }

    fn set_page(&self, bytes: &[u8]) {
        for (word, bytes) in self.page.iter().zip(bytes.chunks_exact(8)) {
            word.store(bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)), Ordering::SeqCst);
        }
    }

    fn page_bytes(&self) -> Vec<u8> {
        self.page.iter().flat_map(|word| word.load(Ordering::SeqCst).to_le_bytes()).collect()
    }
}

/// An open file.
#[derive(Debug)]
struct MemoryFile {
    node: Arc<Node>,
    storage: MemoryStorage,
    locked: AtomicBool,
}

impl StorageFile for MemoryFile {
    fn stat(&self) -> io::Result<FileStat> {
        self.storage.run(|_| Ok(self.node.stat()))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.storage.run(|_| {
            let content = self.node.content.lock();
            let page = if content.mapped { self.node.page_bytes() } else { Vec::new() };
            let bytes = if content.mapped { &page } else { &content.visible };
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let rest = bytes.get(start..).unwrap_or_default();
            let read = rest.len().min(buffer.len());
            if let (Some(to), Some(from)) = (buffer.get_mut(..read), rest.get(..read)) {
                to.copy_from_slice(from);
            }
            Ok(read)
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let whole = self.storage.step()?;
        let bytes = if whole { bytes } else { bytes.get(..bytes.len() / 2).unwrap_or_default() };
        let clock_ms = self.storage.now_ms();
        let mut content = self.node.content.lock();
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        if content.mapped {
            let mut page = self.node.page_bytes();
            write_into(&mut page, start, bytes);
            self.node.set_page(&page);
        }
        write_into(&mut content.visible, start, bytes);
        content.pending.push((start, bytes.to_vec()));
        content.modified_ms = clock_ms;
        if whole {
            return Ok(());
        }
        self.storage.process.alive.store(false, Ordering::SeqCst);
        Err(stopped())
    }

    fn sync(&self) -> io::Result<()> {
        self.storage.run(|_| {
            let mut content = self.node.content.lock();
            content.durable = if content.mapped { self.node.page_bytes() } else { content.visible.clone() };
            content.pending.clear();
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn touch(&self) -> io::Result<()> {
        self.storage.run(|disk| {
            self.node.content.lock().modified_ms = disk.clock_ms;
            Ok(())
        })
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.storage.run(|_| {
            let mut holder = self.node.holder.lock();
            if holder.as_ref().is_some_and(|alive| alive.load(Ordering::SeqCst)) {
                return Ok(false);
            }
            *holder = Some(Arc::clone(&self.storage.process.alive));
            self.locked.store(true, Ordering::SeqCst);
            Ok(true)
        })
    }

    fn map(&self) -> io::Result<Bytes> {
        self.storage.run(|_| Ok(Bytes::copy_of(&self.node.content.lock().visible)))
    }

    fn map_page(&self, writable: bool) -> io::Result<SharedPage> {
        self.storage.run(|_| {
            let mut content = self.node.content.lock();
            if !content.mapped {
                content.mapped = true;
                self.node.set_page(&content.visible);
            }
            let alive = writable.then(|| Arc::clone(&self.storage.process.alive));
            Ok(SharedPage::in_memory(&self.node.page, alive))
        })
    }
}

impl Drop for MemoryFile {
    fn drop(&mut self) {
        // A stopped process holds nothing: its successor may have the lock by now.
        if self.locked.load(Ordering::SeqCst) && self.storage.is_alive() {
            *self.node.holder.lock() = None;
        }
    }
}

/// Chooses by a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn flip(&mut self) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) & 1 == 1
    }
}

fn apply(names: &mut BTreeMap<String, Arc<Node>>, change: Vec<(String, Option<Arc<Node>>)>) {
    for (name, node) in change {
        match node {
            Some(node) => names.insert(name, node),
            None => names.remove(&name),
        };
    }
}

fn write_into(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    let end = offset + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(place) = bytes.get_mut(offset..end) {
        place.copy_from_slice(written);
    }
}

fn stopped() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the process was stopped")
}
