//! A folder of our own in the place for temporary files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::exit::{Exit, Failure};

/// How often another name is tried.
const ATTEMPTS: u32 = 16;

/// A folder that is removed with everything in it, at the latest when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes a new folder that only we can read; `purpose` is a part of its name.
    pub(crate) fn create(purpose: &str) -> Result<Self, Failure> {
        let base = std::env::temp_dir();
        let mut attempt = 0;
        loop {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
            let path = base.join(format!("repertoire-{purpose}-{}-{now}-{attempt}", std::process::id()));
            match private(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(_) if attempt < ATTEMPTS && base.is_dir() => attempt += 1,
                Err(cause) => {
                    return Err(Failure::file(Exit::Data, "create the temporary folder", &path, &cause));
                }
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, and says so if that fails.
    pub(crate) fn remove(self) -> Result<(), Failure> {
        fs::remove_dir_all(&self.path)
            .map_err(|cause| Failure::file(Exit::Data, "remove the temporary folder", &self.path, &cause))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // After `remove` there is nothing left; on the way out of an error nothing more can be done.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes a folder that must not exist yet.
fn private(path: &Path) -> std::io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only unix sets a mode"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_folders_differ_and_both_go_away() {
        let (one, two) = (Folder::create("test").unwrap(), Folder::create("test").unwrap());
        assert_ne!(one.path(), two.path());
        fs::write(one.path().join("file"), "x").unwrap();
        let paths = [one.path().to_owned(), two.path().to_owned()];
        one.remove().unwrap();
        drop(two);
        assert!(paths.iter().all(|path| !path.exists()));
    }
}
