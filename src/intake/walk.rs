//! Finds the files of an imported root that hold skills, within bounds, without leaving the root.

use std::collections::HashSet;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use crate::error::Problem;
use crate::limits::{FOLDER_DEPTH_MAX, IMPORT_FILES_MAX};

/// Folders that hold no skills of their own: version control and installed packages.
const SKIPPED: [&str; 9] = [".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "CVS", "_darcs", "node_modules"];

/// How a file is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A SKILL.md.
    Markdown,
    /// One JSON document.
    Json,
    /// One JSON document a line.
    JsonLines,
    /// A JSON file that may be a workflow; if not, nothing is said about it.
    MaybeWorkflow,
    /// A Maestro flow.
    Flow,
    /// A YAML file that may be a Maestro flow; if not, nothing is said about it.
    MaybeFlow,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it is read from.
    pub(crate) real: PathBuf,
    /// Path below the root, with `/`.
    pub(crate) path: String,
    /// Name of the folder around it.
    pub(crate) directory: String,
    /// How to read it.
    pub(crate) shape: Shape,
    /// Nothing else is in its folder.
    pub(crate) alone: bool,
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// Files to read.
    pub(crate) found: Vec<Found>,
    /// Paths that are reported as rejected without being read.
    pub(crate) refused: Vec<(String, Problem)>,
    /// The same for paths that may not have been meant to be read.
    pub(crate) doubtful: Vec<(String, Problem)>,
    /// Paths below which nothing is known.
    pub(crate) unread: Vec<String>,
    /// False if a limit cut the search short.
    pub(crate) complete: bool,
}

/// Whether a folder of that name is passed over.
pub(crate) fn is_skipped(name: &str) -> bool {
    SKIPPED.contains(&name)
}

/// How a file of that name is read inside a folder.
pub(crate) fn shape_in_folder(name: &str) -> Option<Shape> {
    match name {
        "SKILL.md" => Some(Shape::Markdown),
        _ if name.ends_with(".skill.json") => Some(Shape::Json),
        _ if name.ends_with(".skill.jsonl") => Some(Shape::JsonLines),
        _ if has_extension(name, "json") => Some(Shape::MaybeWorkflow),
        _ if has_extension(name, "yaml") || has_extension(name, "yml") => Some(Shape::MaybeFlow),
        _ => None,
    }
}

/// Whether a file name has exactly this extension.
pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Searches a folder whose real path is `root`.
pub(crate) fn search(root: &Path) -> Search {
    let mut walker = Walker::new(root);
    walker.run();
    walker.search
}

/// A folder to look into.
struct Folder {
    real: PathBuf,
    path: String,
    depth: usize,
}

/// One entry of a folder.
struct Item {
    name: String,
    kind: FileType,
}

struct Walker<'r> {
    root: &'r Path,
    search: Search,
    stack: Vec<Folder>,
    /// Symbolic links, looked at last, so that a file is known by its own path where it has one.
    links: Vec<(Folder, String)>,
    visited: HashSet<PathBuf>,
    files: usize,
    too_deep: Option<(String, usize)>,
}

impl<'r> Walker<'r> {
    fn new(root: &'r Path) -> Self {
        let first = Folder { real: root.to_owned(), path: String::new(), depth: 0 };
        Self {
            root,
            search: Search { complete: true, ..Search::default() },
            stack: vec![first],
            links: Vec::new(),
            visited: HashSet::new(),
            files: 0,
            too_deep: None,
        }
    }

    fn run(&mut self) {
        loop {
            while let Some(folder) = self.stack.pop() {
                if !self.search.complete {
                    return;
                }
                self.folder(folder);
            }
            let Some((folder, name)) = self.links.pop() else { break };
            self.link(&folder, &name);
        }
        if let Some((path, count)) = self.too_deep.take() {
            let message = if count == 1 {
                "a folder lies deeper than the limit and was not searched; import it by name".to_owned()
            } else {
                format!(
                    "{count} folders lie deeper than the limit and were not searched; import them by name"
                )
            };
            let problem =
                Problem::new("folder_too_deep", "", message).allowed(format!("{FOLDER_DEPTH_MAX} levels"));
            self.search.refused.push((path, problem));
        }
    }

    fn folder(&mut self, folder: Folder) {
        if !self.visited.insert(folder.real.clone()) {
            return;
        }
        if folder.depth > FOLDER_DEPTH_MAX {
            self.search.unread.push(folder.path.clone());
            self.too_deep.get_or_insert((folder.path, 0)).1 += 1;
            return;
        }
        let items = match self.items(&folder) {
            Ok(items) => items,
            Err(error) => return self.unreadable(folder.path, &error),
        };
        if let Some(skill) = items.iter().find(|item| item.name == "SKILL.md" && !item.kind.is_dir()) {
            self.candidate(&folder, skill, items.len() == 1);
            return;
        }
        for item in items.iter().rev() {
            if item.kind.is_dir() {
                if !is_skipped(&item.name) {
                    self.stack.push(Folder {
                        real: folder.real.join(&item.name),
                        path: below(&folder.path, &item.name),
                        depth: folder.depth + 1,
                    });
                }
            } else if item.kind.is_symlink() || shape_in_folder(&item.name).is_some() {
                self.candidate(&folder, item, false);
            }
        }
    }

    /// The entries of a folder by name; counts its files.
    fn items(&mut self, folder: &Folder) -> std::io::Result<Vec<Item>> {
        let mut items = Vec::new();
        for entry in fs::read_dir(&folder.real)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let Ok(name) = entry.file_name().into_string() else {
                let path = below(&folder.path, &entry.file_name().to_string_lossy());
                let shown = entry.file_name().to_string_lossy().ends_with(".json");
                if kind.is_dir() || shown {
                    let problem =
                        Problem::new("path_not_utf8", "", "the name is not UTF-8; rename the file or folder");
                    self.search.refused.push((path, problem));
                }
                continue;
            };
            if !kind.is_dir() {
                self.files += 1;
                if self.files > IMPORT_FILES_MAX {
                    self.too_many();
                    break;
                }
            }
            items.push(Item { name, kind });
        }
        items.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        Ok(items)
    }

    fn candidate(&mut self, folder: &Folder, item: &Item, alone: bool) {
        let path = below(&folder.path, &item.name);
        if item.kind.is_symlink() {
            let folder = Folder { real: folder.real.clone(), path: folder.path.clone(), depth: folder.depth };
            self.links.push((folder, item.name.clone()));
        } else if let Some(shape) = shape_in_folder(&item.name) {
            if item.kind.is_file() {
                let real = folder.real.join(&item.name);
                self.take(real, path, folder_name(&folder.real), shape, alone);
            } else if shape != Shape::MaybeFlow {
                self.refuse(shape, path, not_a_file());
            }
        }
    }

    fn refuse(&mut self, shape: Shape, path: String, problem: Problem) {
        let list =
            if shape == Shape::MaybeWorkflow { &mut self.search.doubtful } else { &mut self.search.refused };
        list.push((path, problem));
    }

    fn take(&mut self, real: PathBuf, path: String, directory: String, shape: Shape, alone: bool) {
        if self.visited.insert(real.clone()) {
            self.search.found.push(Found { real, path, directory, shape, alone });
        }
    }

    /// Follows a symbolic link, unless it leads out of the root.
    fn link(&mut self, folder: &Folder, name: &str) {
        let path = below(&folder.path, name);
        let shape = shape_in_folder(name).filter(|shape| *shape != Shape::MaybeFlow);
        let target = match (fs::canonicalize(folder.real.join(name)), shape) {
            (Ok(target), _) => target,
            (Err(error), Some(Shape::MaybeWorkflow)) => {
                return self.search.doubtful.push((path, unreadable(&error)));
            }
            (Err(error), Some(_)) => return self.unreadable(path, &error),
            (Err(_), None) => return,
        };
        let is_dir = target.is_dir();
        if !target.starts_with(self.root) {
            if shape.is_some() || (is_dir && target.join("SKILL.md").is_file()) {
                let message = "the symbolic link leads out of the imported folder and is not followed; import its target";
                let problem = Problem::new("symlink_outside_root", "", message).got(target.display());
                self.refuse(shape.unwrap_or(Shape::Markdown), path, problem);
            }
            return;
        }
        if is_dir && !is_skipped(name) {
            self.stack.push(Folder { real: target, path, depth: folder.depth + 1 });
        } else if let Some(shape) = shape {
            if target.is_file() {
                self.take(target, path, folder_name(&folder.real), shape, false);
            } else if !is_dir {
                self.refuse(shape, path, not_a_file());
            }
        }
    }

    fn unreadable(&mut self, path: String, error: &std::io::Error) {
        self.search.unread.push(path.clone());
        self.search.refused.push((path, unreadable(error)));
    }

    fn too_many(&mut self) {
        if self.search.complete {
            self.search.complete = false;
            let message = "the folder holds too many files and was not searched to its end; import its parts";
            let problem =
                Problem::new("too_many_files", "", message).allowed(format!("at most {IMPORT_FILES_MAX}"));
            self.search.refused.push((String::new(), problem));
        }
    }
}

/// The problem for what the operating system refuses.
pub(crate) fn unreadable(error: &std::io::Error) -> Problem {
    Problem::new(
        "unreadable",
        "",
        format!("it cannot be read: {error}; check that it exists and is yours to read"),
    )
}

/// The problem for a pipe, a device or a socket under the name of a skill.
pub(crate) fn not_a_file() -> Problem {
    Problem::new(
        "not_a_file",
        "",
        "it is no regular file (a pipe, a device or a socket); put a file in its place",
    )
}

/// The name of a folder, for ids.
pub(crate) fn folder_name(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
