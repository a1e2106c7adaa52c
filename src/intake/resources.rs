//! The files beside a SKILL.md: references, scripts, assets. Kept as bytes, never run.
//!
//! Everything below the skill's folder counts, except hidden files and folders, version control, installed packages,
//! and what is no regular file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Problem;
use crate::intake::walk::{is_skipped, unreadable};
use crate::limits::{FOLDER_DEPTH_MAX, IMPORT_RESOURCES_BYTES_MAX, RESOURCES_BYTES_MAX, RESOURCES_MAX};

/// How many bytes of resources an import may still hold; shared by its reading threads.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicU64::new(IMPORT_RESOURCES_BYTES_MAX))
    }
}

impl Budget {
    /// Sets bytes aside, if there are as many left.
    fn share(&self, bytes: u64) -> Option<Share<'_>> {
        let mut share = Share { budget: self, bytes: 0 };
        share.grow(bytes).then_some(share)
    }
}

/// A part of the budget; given back when dropped.
#[derive(Debug)]
pub(crate) struct Share<'b> {
    budget: &'b Budget,
    bytes: u64,
}

impl Share<'_> {
    fn grow(&mut self, by: u64) -> bool {
        let take = |left: u64| left.checked_sub(by);
        let taken = self.budget.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        self.bytes += if taken { by } else { 0 };
        taken
    }

    /// The bytes stay with the import to its end.
    pub(crate) fn spend(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// The resources of one skill.
#[derive(Debug)]
pub(crate) struct Read<'b> {
    /// Path below the folder and bytes, sorted by path.
    pub(crate) files: Vec<(String, Arc<[u8]>)>,
    /// What was left out, and why.
    pub(crate) skipped: Vec<Problem>,
    /// What the files take of the import's budget.
    pub(crate) share: Share<'b>,
}

/// Reads what lies beside a SKILL.md, within the limits of a skill and of the import. Fails beyond them, before more is
/// read.
pub(crate) fn read<'b>(skill: &Path, root: &Path, budget: &'b Budget) -> Result<Read<'b>, Box<Problem>> {
    let folder = skill.parent().unwrap_or(root);
    let root = if root.is_file() { folder } else { root };
    let mut list = List { root, files: Vec::new(), skipped: Vec::new(), bytes: 0 };
    list.folder(folder, "", 0)?;
    list.files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    let share = budget.share(list.bytes).ok_or_else(import_too_large)?;
    let mut read = Read { files: Vec::with_capacity(list.files.len()), skipped: list.skipped, share };
    let mut left = RESOURCES_BYTES_MAX as u64;
    for file in list.files {
        // What was a file when it was listed may be a pipe by now.
        let opened = super::file::open(&file.real).map_err(|problem| problem.message);
        let read_whole = |(open, _)| {
            super::file::read_at_most(open, file.bytes, left).map_err(|error| unreadable(&error).message)
        };
        match opened.and_then(read_whole) {
            Ok(bytes) if bytes.len() as u64 > left => return Err(too_large()),
            Ok(bytes) => {
                left -= bytes.len() as u64;
                // A file may have grown since it was listed.
                if !read.share.grow((bytes.len() as u64).saturating_sub(file.bytes)) {
                    return Err(import_too_large());
                }
                read.files.push((file.path, Arc::from(bytes)));
            }
            Err(why) => read.skipped.push(skipped(&file.path, &why)),
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

fn import_too_large() -> Box<Problem> {
    let message =
        "the files beside the skills of this import are too much together; import fewer folders at once";
    let allowed = format!("at most {IMPORT_RESOURCES_BYTES_MAX} bytes beside all skills of one import");
    Box::new(Problem::new("too_large", "resources", message).allowed(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::file::Reader;
    use crate::intake::{read_all, walk};
    use crate::tools::ToolRegistry;

    #[test]
    fn a_budget_is_spent_to_its_last_byte_and_what_is_not_held_is_given_back() {
        let budget = Budget(AtomicU64::new(10));
        let share = budget.share(6).expect("enough");
        assert!(budget.share(5).is_none(), "one beyond");
        let mut rest = budget.share(3).expect("enough");
        assert!(rest.grow(1) && !rest.grow(1), "grows to the last byte");
        drop(share);
        rest.spend();
        assert!(budget.share(7).is_none() && budget.share(6).is_some());
    }

    #[test]
    fn skills_whose_files_exceed_the_import_are_rejected_and_told_while_others_and_broken_ones_cost_nothing()
    {
        let folder = tempfile::tempdir().expect("folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            fs::write(path, text).expect("file");
        };
        write("0/SKILL.md", "---\nname: zero\n");
        write("0/more.txt", "12345678");
        for name in ["a", "b", "c"] {
            write(
                &format!("{name}/SKILL.md"),
                &format!("---\nname: {name}\ndescription: D.\n---\n\nBody.\n"),
            );
            write(&format!("{name}/more.txt"), "12345678");
        }
        write("plain/SKILL.md", "---\nname: plain\ndescription: D.\n---\n\nBody.\n");
        let root = fs::canonicalize(folder.path()).expect("real path");
        let found = walk::search(&root).found;
        for (bytes, taken) in [(24, 3), (23, 2), (16, 2), (8, 1), (7, 0)] {
            let budget = Budget(AtomicU64::new(bytes));
            // One after the other, so that the broken one comes first.
            let mut reports = Vec::new();
            for file in found.chunks(1) {
                let registry = &ToolRegistry::builtin();
                let reader = Reader { root: &root, registry, budget: &budget, keep_bytes: true, lint: false };
                reports.extend(read_all(file, reader, &|| {}));
            }
            assert_eq!(reports.len(), 5, "every file has its report");
            let skills: Vec<_> = reports.iter().flat_map(|report| &report.skills).collect();
            let read: Vec<_> = skills.iter().filter_map(|skill| skill.result.as_ref().ok()).collect();
            assert_eq!(read.len(), taken + 1, "{bytes} bytes");
            assert!(read.iter().any(|entry| entry.skill.id == "plain"), "{bytes} bytes");
            let refused = skills.iter().filter_map(|skill| skill.result.as_ref().err()).flatten();
            let refused =
                refused.filter(|problem| problem.code == "too_large" && problem.field == "resources");
            // With room for none, the broken one is not looked into either.
            assert_eq!(refused.count(), 3 - taken + usize::from(taken == 0), "{bytes} bytes");
        }
    }
}
