//! Small files that are looked at with every change, kept open.
//!
//! While a file is open its inode belongs to no other, so that one look at the name tells whether it is still the same:
//! a system call instead of the four that opening, looking, reading and closing take.

use std::io;
use std::sync::Arc;

use super::storage::{OpenMode, Storage, StorageFile};

/// The file that had a name when it was looked at last.
#[derive(Debug, Default)]
pub(super) struct Held {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: Arc<dyn StorageFile>,
    id: (u64, u64),
}

impl Held {
    /// The file that has the name now, and whether it is the one of last time.
    pub(super) fn look(
        &mut self,
        storage: &dyn Storage,
        name: &str,
        mode: OpenMode,
    ) -> io::Result<(Arc<dyn StorageFile>, bool)> {
        let same = match &self.open {
            Some(open) => storage.stat(name)?.id == open.id,
            None => false,
        };
        let open = if let Some(open) = self.open.take().filter(|_| same) {
            open
        } else {
            let file: Arc<dyn StorageFile> = Arc::from(storage.open(name, mode)?);
            Open { id: file.stat()?.id, file }
        };
        Ok((Arc::clone(&self.open.insert(open).file), same))
    }

    /// Whether another file than the one of last time was found under the name.
    pub(super) fn is_other(&self, found: (u64, u64)) -> bool {
        self.open.as_ref().is_some_and(|open| open.id != found)
    }

    /// Forgets the file: the next look opens it anew.
    pub(super) fn forget(&mut self) {
        self.open = None;
    }
}
