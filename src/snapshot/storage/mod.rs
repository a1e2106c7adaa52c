//! What the engine asks of a file system, as a trait: so that tests can fail it at every step and cut its power.
//!
//! A storage is one flat directory. [`RealStorage`] is the operating system's; its twin in the tests keeps files in
//! memory, tells what is durable from what is not, and fails or stops on command.

#[cfg(test)]
mod memory;
mod real;

use std::fmt;
use std::io;
use std::path::Path;

use crate::error::StorageError;
use crate::snapshot::map::{Bytes, SharedPage};

#[cfg(test)]
pub(crate) use memory::{Fault, MemoryStorage};
pub(crate) use real::RealStorage;

/// Mode of files that never change.
pub(crate) const MODE_IMMUTABLE: u32 = 0o400;
/// Mode of the files that are changed in place, and of the lock.
pub(crate) const MODE_IN_PLACE: u32 = 0o600;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// For reading; it must exist.
    Read,
    /// For reading and writing; it must exist.
    Write,
    /// For reading and writing, with this mode; it must not exist.
    CreateNew(u32),
    /// For reading and writing; created with [`MODE_IN_PLACE`] if it is missing.
    CreateOrOpen,
}

/// Facts about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStat {
    /// Device and inode: equal only for the same file.
    pub(crate) id: (u64, u64),
    /// Length in bytes.
    pub(crate) len: u64,
    /// Time of the last change, milliseconds since 1970.
    pub(crate) modified_ms: u64,
}

/// A directory of files.
pub(crate) trait Storage: fmt::Debug + Send + Sync {
    /// The directory, for messages.
    fn path(&self) -> &Path;
    /// Makes sure that the directory exists (created with mode 0700 if `create`) and, if `private`, that it is ours
    /// and that nobody else can write it.
    fn prepare(&self, create: bool, private: bool) -> Result<(), StorageError>;
    /// Whether other machines may write here too, whose changes a mapping would not show.
    fn is_remote(&self) -> bool {
        false
    }
    /// Opens a file; what has the name without being a regular file (a link, a directory) is `InvalidData`.
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn StorageFile>>;
    /// Renames a file over another.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Gives a file a second name, which must be free.
    fn link(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a name.
    fn unlink(&self, name: &str) -> io::Result<()>;
    /// Makes names durable.
    fn sync_dir(&self) -> io::Result<()>;
    /// All names, in no order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Facts about the file that has the name now.
    fn stat(&self, name: &str) -> io::Result<FileStat>;
    /// Called before the epoch moves: a place where a test can stop the process.
    fn before_announcement(&self) -> io::Result<()> {
        Ok(())
    }
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// Milliseconds since the machine started, sleep included: unlike the wall clock, it never jumps.
    fn boot_ms(&self) -> u64;
    /// Tells one start of the machine from another.
    fn boot_id(&self) -> String;
}

/// An open file. Closing it releases its lock.
pub(crate) trait StorageFile: fmt::Debug + Send + Sync {
    /// Facts about this file, whatever name it has now.
    fn stat(&self) -> io::Result<FileStat>;
    /// Reads up to a buffer of bytes; fewer only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes content and length durable.
    fn sync(&self) -> io::Result<()>;
    /// Makes content durable (the length must not have changed).
    fn sync_data(&self) -> io::Result<()>;
    /// Sets the time of the last change to now.
    fn touch(&self) -> io::Result<()>;
    /// Takes the exclusive lock if it is free.
    fn try_lock(&self) -> io::Result<bool>;
    /// Maps the file for reading.
    fn map(&self) -> io::Result<Bytes>;
    /// Maps the first page, shared with other processes.
    fn map_page(&self, writable: bool) -> io::Result<SharedPage>;
}

/// Reads a whole open file of at most `limit` bytes; longer ones are refused with `InvalidData`.
pub(crate) fn read_all(file: &dyn StorageFile, limit: u64) -> io::Result<Vec<u8>> {
    let len = file.stat()?.len;
    if len > limit {
        let message = format!("{len} bytes, more than the limit of {limit}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes)
}
