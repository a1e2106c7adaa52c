//! Whether anything below some paths changed, told from what the file system says about files, without opening them.
//!
//! Notifications of the operating system would say it sooner, but they overflow, do not cross network mounts and
//! follow no links; a look at everything misses nothing that a time or a size gives away.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::intake::walk::is_skipped;
use crate::limits::{FINGERPRINT_DEPTH_MAX, FINGERPRINT_ENTRIES_MAX};

/// What files and folders looked like at one moment. Equal ones mean that nothing changed; to be compared within one
/// process only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    sum: u64,
    entries: usize,
}

impl Fingerprint {
    /// Looks at everything below the paths, up to [`FINGERPRINT_ENTRIES_MAX`] files and folders. What cannot be looked
    /// at counts as absent. Cost: one question to the file system for each.
    #[must_use]
    pub fn of(paths: &[PathBuf]) -> Self {
        let mut print = Self::default();
        for path in paths {
            print.path(path, FINGERPRINT_DEPTH_MAX);
        }
        print
    }

    fn path(&mut self, path: &Path, depth_left: usize) {
        if self.entries >= FINGERPRINT_ENTRIES_MAX {
            return;
        }
        let Ok(own) = fs::symlink_metadata(path) else { return };
        self.add(path, &own);
        // A root may be a link; one below a root leads to something that is looked at by its own path, or to a file.
        let target = if own.is_symlink() { fs::metadata(path).ok() } else { None };
        if let Some(target) = &target {
            self.add(path, target);
        }
        let linked_root = depth_left == FINGERPRINT_DEPTH_MAX && target.is_some_and(|target| target.is_dir());
        if depth_left == 0 || !(own.is_dir() || linked_root) {
            return;
        }
        let Ok(items) = fs::read_dir(path) else { return };
        for item in items.flatten() {
            if !item.file_name().to_str().is_some_and(is_skipped) {
                self.path(&item.path(), depth_left - 1);
            }
        }
    }

    /// Sums do not depend on the order in which a folder is read.
    fn add(&mut self, path: &Path, metadata: &Metadata) {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        metadata.file_type().hash(&mut hasher);
        metadata.len().hash(&mut hasher);
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        changed.hash(&mut hasher);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ino(), metadata.mode(), metadata.uid()).hash(&mut hasher);
            (metadata.ctime(), metadata.ctime_nsec()).hash(&mut hasher);
        }
        self.sum = self.sum.wrapping_add(hasher.finish());
        self.entries += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_below_a_path_is_seen_and_looking_is_none() {
        let folder = tempfile::tempdir().expect("folder");
        let root = folder.path().join("root");
        let paths = [root.clone()];
        let absent = Fingerprint::of(&paths);
        fs::create_dir_all(root.join("a/assets")).expect("folders");
        let mut last = Fingerprint::of(&paths);
        assert_ne!(absent, last);
        assert_eq!(last, Fingerprint::of(&paths));
        let changes: [fn(&Path); 5] = [
            |root| fs::write(root.join("a/SKILL.md"), "one").expect("file"),
            |root| fs::write(root.join("a/SKILL.md"), "longer").expect("file"),
            |root| fs::write(root.join("a/assets/x"), "").expect("file"),
            |root| fs::rename(root.join("a"), root.join("b")).expect("rename"),
            |root| fs::remove_file(root.join("b/SKILL.md")).expect("remove"),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            change(&root);
            let now = Fingerprint::of(&paths);
            assert_ne!(now, last, "change {index}");
            last = now;
        }
        fs::create_dir(root.join(".git")).expect("folder");
        let with_git = Fingerprint::of(&paths);
        fs::write(root.join(".git/index"), "x").expect("file");
        assert_eq!(with_git, Fingerprint::of(&paths));
    }
}
