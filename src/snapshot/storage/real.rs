//! The storage of the operating system.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{FileStat, MODE_IN_PLACE, OpenMode, Storage, StorageFile};
use crate::error::StorageError;
use crate::snapshot::map::{Bytes, SharedPage};

/// Bits of a directory's mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// `f_type` of file systems that other machines can write (`linux/magic.h`): NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS,
/// Coda.
const REMOTE: [u32; 9] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x6573_5546,
    0x0102_1997,
    0x00c3_6400,
    0x5346_414f,
    0x7375_7245,
];

/// Where Linux tells one start from another.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// A clock that counts sleep and never jumps.
#[cfg(target_os = "linux")]
const BOOT_CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
/// The nearest that others have.
#[cfg(not(target_os = "linux"))]
const BOOT_CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

/// A directory of the operating system.
#[derive(Debug)]
pub(crate) struct RealStorage {
    path: PathBuf,
}

impl RealStorage {
    /// The storage at a path; nothing is touched yet.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn create_directory(&self) -> io::Result<()> {
        let parent = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            fs::create_dir_all(parent)?;
        }
        match DirBuilder::new().mode(0o700).create(&self.path) {
            Ok(()) => File::open(parent.unwrap_or(Path::new(".")))?.sync_all(),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn unsafe_directory(&self, detail: String) -> StorageError {
        StorageError::UnsafeDirectory { path: self.path.clone(), detail }
    }
}

impl Storage for RealStorage {
    fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&self, create: bool, private: bool) -> Result<(), StorageError> {
        let found = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && create => {
                self.create_directory().map_err(|error| StorageError::io("create", &self.path, error))?;
                fs::metadata(&self.path)
            }
            other => other,
        }
        .map_err(|error| StorageError::io("open", &self.path, error))?;
        if !found.is_dir() {
            return Err(self.unsafe_directory("it is not a directory; name another path".to_owned()));
        }
        if !private {
            return Ok(());
        }
        let me = rustix::process::geteuid().as_raw();
        if found.uid() != me {
            let owner = found.uid();
            return Err(self.unsafe_directory(format!(
                "it belongs to user {owner}, not to us ({me}); `chown` it or open it with map = \"memory\""
            )));
        }
        if found.mode() & OTHERS_WRITE != 0 {
            let mode = found.mode() & 0o777;
            return Err(self.unsafe_directory(format!(
                "others can write it (mode {mode:03o}); `chmod 700` it or open it with map = \"memory\""
            )));
        }
        Ok(())
    }

    fn is_remote(&self) -> bool {
        // What cannot be asked is followed in the way that always works.
        rustix::fs::statfs(&self.path)
            .map_or(true, |found| REMOTE.iter().any(|kind| i64::from(*kind) == found.f_type))
    }

    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Box<dyn StorageFile>> {
        let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits();
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags.cast_signed());
        match mode {
            OpenMode::Read => &mut options,
            OpenMode::Write => options.write(true),
            OpenMode::CreateNew(mode) => options.write(true).create_new(true).mode(mode),
            OpenMode::CreateOrOpen => options.write(true).create(true).mode(MODE_IN_PLACE),
        };
        let irregular = || io::Error::new(io::ErrorKind::InvalidData, "not a regular file");
        let file = options.open(self.path.join(name)).map_err(|error| {
            match error.raw_os_error().map(Errno::from_raw_os_error) {
                // A symbolic link, a directory, a socket.
                Some(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => irregular(),
                _ => error,
            }
        })?;
        if !file.metadata()?.is_file() {
            return Err(irregular());
        }
        Ok(Box::new(RealFile { file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        fs::hard_link(self.path.join(from), self.path.join(to))
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_dir(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            // A name that is not UTF-8 is not ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn stat(&self, name: &str) -> io::Result<FileStat> {
        fs::symlink_metadata(self.path.join(name)).map(|found| file_stat(&found))
    }

    fn now_ms(&self) -> u64 {
        milliseconds(SystemTime::now())
    }

    fn boot_ms(&self) -> u64 {
        let now = rustix::time::clock_gettime(BOOT_CLOCK);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        seconds.saturating_mul(1_000) + u64::try_from(now.tv_nsec).unwrap_or_default() / 1_000_000
    }

    fn boot_id(&self) -> String {
        // Without one every look at a note is an estimate, which is said.
        fs::read_to_string(BOOT_ID).map(|id| id.trim().to_owned()).unwrap_or_default()
    }
}

/// An open file of the operating system.
#[derive(Debug)]
struct RealFile {
    file: File,
}

impl StorageFile for RealFile {
    fn stat(&self) -> io::Result<FileStat> {
        self.file.metadata().map(|found| file_stat(&found))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn touch(&self) -> io::Result<()> {
        self.file.set_modified(SystemTime::now())
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn map(&self) -> io::Result<Bytes> {
        Bytes::map(&self.file)
    }

    fn map_page(&self, writable: bool) -> io::Result<SharedPage> {
        SharedPage::map(&self.file, writable)
    }
}

fn file_stat(found: &fs::Metadata) -> FileStat {
    let modified_ms = found.modified().map_or(0, milliseconds);
    FileStat { id: (found.dev(), found.ino()), len: found.len(), modified_ms }
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
