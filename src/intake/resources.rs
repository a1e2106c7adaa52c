//! The files beside a SKILL.md: references, scripts, assets. Kept as bytes, never run.
//!
//! Everything below the skill's folder counts, except hidden files and folders, version control, installed packages,
//! and what is no regular file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Problem;
use crate::intake::walk::{is_skipped, unreadable};
use crate::limits::{FOLDER_DEPTH_MAX, RESOURCES_BYTES_MAX, RESOURCES_MAX};

/// The resources of one skill.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Path below the folder and bytes, sorted by path.
    pub(crate) files: Vec<(String, Arc<[u8]>)>,
    /// What was left out, and why.
    pub(crate) skipped: Vec<Problem>,
}

/// Reads what lies beside a SKILL.md, within the limits of a skill. Fails beyond them, before more is read.
pub(crate) fn read(skill: &Path, root: &Path) -> Result<Read, Box<Problem>> {
    let Some(folder) = skill.parent() else { return Ok(Read::default()) };
    let root = if root.is_file() { folder } else { root };
    let mut list = List { root, files: Vec::new(), skipped: Vec::new(), bytes: 0 };
    list.folder(folder, "", 0)?;
    list.files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    let mut read = Read { files: Vec::with_capacity(list.files.len()), skipped: list.skipped };
    let mut left = RESOURCES_BYTES_MAX as u64;
    for file in list.files {
        let bytes =
            fs::File::open(&file.real).and_then(|open| super::file::read_at_most(open, file.bytes, left));
        match bytes {
            Ok(bytes) if bytes.len() as u64 > left => return Err(too_large()),
            Ok(bytes) => {
                left -= bytes.len() as u64;
                read.files.push((file.path, Arc::from(bytes)));
            }
            Err(error) => read.skipped.push(skipped(&file.path, &unreadable(&error).message)),
        }
    }
    Ok(read)
}

struct Listed {
    real: PathBuf,
    path: String,
    bytes: u64,
}

struct List<'r> {
    root: &'r Path,
    files: Vec<Listed>,
    skipped: Vec<Problem>,
    bytes: u64,
}

impl List<'_> {
    fn folder(&mut self, folder: &Path, path: &str, depth: usize) -> Result<(), Box<Problem>> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.skip(path, &unreadable(&error).message);
                return Ok(());
            }
        };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                self.skip(path, "a name in it is not UTF-8");
                continue;
            };
            let is_skill = depth == 0 && name == "SKILL.md";
            if is_skill || name.starts_with('.') || is_skipped(&name) {
                continue;
            }
            let below = if path.is_empty() { name } else { format!("{path}/{name}") };
            self.item(&entry.path(), below, depth)?;
        }
        Ok(())
    }

    fn item(&mut self, real: &Path, path: String, depth: usize) -> Result<(), Box<Problem>> {
        let Ok(metadata) = fs::symlink_metadata(real) else { return Ok(()) };
        if metadata.is_dir() {
            if depth >= FOLDER_DEPTH_MAX {
                self.skip(&path, "it lies too deep");
                return Ok(());
            }
            return self.folder(real, &path, depth + 1);
        }
        let target = match fs::canonicalize(real) {
            Ok(target) if target.starts_with(self.root) => target,
            _ => {
                self.skip(&path, "the symbolic link leads nowhere or out of the imported folder");
                return Ok(());
            }
        };
        match fs::metadata(&target) {
            Ok(found) if found.is_file() => self.take(target, path, found.len()),
            _ => {
                self.skip(&path, "it is no regular file, or a link to a folder");
                Ok(())
            }
        }
    }

    fn take(&mut self, real: PathBuf, path: String, bytes: u64) -> Result<(), Box<Problem>> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files.len() >= RESOURCES_MAX || self.bytes > RESOURCES_BYTES_MAX as u64 {
            return Err(too_large());
        }
        self.files.push(Listed { real, path, bytes });
        Ok(())
    }

    fn skip(&mut self, path: &str, why: &str) {
        if self.skipped.len() < RESOURCES_MAX {
            self.skipped.push(skipped(path, why));
        }
    }
}

fn skipped(path: &str, why: &str) -> Problem {
    Problem::new("resource_skipped", path, format!("this file beside the skill was left out: {why}"))
}

fn too_large() -> Box<Problem> {
    let message = "too much lies beside the SKILL.md; move what does not belong to the skill elsewhere";
    let allowed = format!("at most {RESOURCES_MAX} files and {RESOURCES_BYTES_MAX} bytes");
    Box::new(Problem::new("too_large", "resources", message).allowed(allowed))
}
