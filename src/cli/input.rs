//! Reads the files that a person names: regular files up to a limit, never waiting for what has no end.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use super::exit::{Exit, Failure};

/// Why a file was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The operating system refused, or it is no regular file.
    Failed(io::Error),
    /// It holds more than this many bytes.
    TooLarge(u64),
    /// It is no text.
    NotUtf8,
}

/// What a file is for, in the words of its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Purpose {
    /// What the process exits with if it cannot be read.
    pub(crate) exit: Exit,
    /// As in "cannot read the configuration PATH"; empty if the path says enough.
    pub(crate) what: &'static str,
    /// What to do where it is too large.
    pub(crate) smaller: &'static str,
}

impl Purpose {
    /// Reads a whole text file of at most `limit` bytes.
    pub(crate) fn read_text(self, path: &Path, limit: u64) -> Result<String, Failure> {
        let read = open(path, limit).and_then(|file| text(file, limit));
        read.map_err(|why| self.failure(path, &why))
    }

    /// Reads a whole file of at most `limit` bytes.
    pub(crate) fn read(self, path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
        let read = open(path, limit).and_then(|file| bytes(file, limit));
        read.map_err(|why| self.failure(path, &why))
    }

    /// Reads text from a stream, standard input say, up to `limit` bytes; `name` is what errors call it.
    pub(crate) fn read_stream(self, from: impl Read, name: &str, limit: u64) -> Result<String, Failure> {
        text(from, limit).map_err(|why| self.failure(Path::new(name), &why))
    }

    fn failure(self, path: &Path, why: &Unread) -> Failure {
        let (exit, path) = (self.exit, path.display());
        let space = if self.what.is_empty() { "" } else { " " };
        let hint = match why {
            Unread::Failed(cause) if is_no_file(cause) => "name a regular file",
            Unread::Failed(_) => "check the path and its permissions",
            Unread::TooLarge(_) => self.smaller,
            Unread::NotUtf8 => "save it as UTF-8 text",
        };
        Failure::new(exit, "file_failed", format!("cannot read {}{space}{path}: {why}", self.what), hint)
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(cause) => cause.fmt(f),
            Self::TooLarge(limit) => write!(f, "it is larger than {limit} bytes"),
            Self::NotUtf8 => f.write_str("it is not UTF-8"),
        }
    }
}

/// Refuses what is not there or is no regular file; opens nothing.
pub(crate) fn require_file(path: &Path) -> Result<(), Failure> {
    let purpose = Purpose { exit: Exit::Usage, what: "", smaller: "" };
    let found = std::fs::metadata(path).and_then(|found| regular(&found));
    found.map(drop).map_err(|cause| purpose.failure(path, &Unread::Failed(cause)))
}

/// Opens a regular file whose size is within the limit. Does not wait for the other end of a pipe.
fn open(path: &Path, limit: u64) -> Result<File, Unread> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path).map_err(Unread::Failed)?;
    let size = file.metadata().and_then(|found| regular(&found)).map_err(Unread::Failed)?;
    if size > limit { Err(Unread::TooLarge(limit)) } else { Ok(file) }
}

/// The size of a regular file.
fn regular(found: &std::fs::Metadata) -> io::Result<u64> {
    if found.is_file() { Ok(found.len()) } else { Err(io::Error::new(NO_FILE, NO_FILE_TEXT)) }
}

/// Kind and text of the refusal of what is no regular file.
const NO_FILE: io::ErrorKind = io::ErrorKind::InvalidInput;
const NO_FILE_TEXT: &str = "it is no regular file (a folder, a pipe or a device)";

fn is_no_file(cause: &io::Error) -> bool {
    cause.kind() == NO_FILE && cause.raw_os_error().is_none()
}

/// Everything up to the limit; a file may have grown since its size was looked at.
fn bytes(from: impl Read, limit: u64) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(Unread::Failed)?;
    if bytes.len() as u64 > limit { Err(Unread::TooLarge(limit)) } else { Ok(bytes) }
}

fn text(from: impl Read, limit: u64) -> Result<String, Unread> {
    String::from_utf8(bytes(from, limit)?).map_err(|_| Unread::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSE: Purpose = Purpose { exit: Exit::Usage, what: "the list", smaller: "give less" };

    #[test]
    fn a_file_is_read_up_to_its_limit_and_not_one_byte_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(PURPOSE.read_text(&path, 5).unwrap(), "12345");
        let failure = PURPOSE.read_text(&path, 4).unwrap_err();
        assert!(failure.message.contains("the list") && failure.message.contains("4 bytes"), "{failure:?}");
        assert_eq!(failure.hint, "give less");
        assert_eq!(PURPOSE.read_stream(&b"12345"[..], "standard input", 5).unwrap(), "12345");
        assert!(
            PURPOSE.read_stream(io::repeat(b'x'), "standard input", 4).is_err(),
            "a stream without an end"
        );
        std::fs::write(&path, b"\xff").unwrap();
        assert!(PURPOSE.read_text(&path, 5).unwrap_err().message.contains("not UTF-8"));
        assert_eq!(PURPOSE.read(&path, 5).unwrap(), b"\xff");
    }

    #[test]
    fn a_folder_and_a_device_are_no_files() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
            let failure = PURPOSE.read(path, 5).unwrap_err();
            assert!(failure.message.contains("no regular file"), "{failure:?}");
            assert_eq!(failure.hint, "name a regular file");
            assert!(require_file(path).is_err());
        }
    }
}
