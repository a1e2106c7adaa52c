//! Import from the outside: the front matter cases, folders, duplicates, bad files.

mod cases;
mod docs;
mod folders;
mod hostile;
mod json;
mod maestro;
mod mirror;
mod round_trip;

use std::fs;
use std::path::{Path, PathBuf};

use repertoire::intake::{ImportOptions, ImportReport, check_paths};
use repertoire::tools::ToolRegistry;

/// Writes files below a folder.
fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("file");
    }
}

/// What an import of these paths into an empty layer would do.
fn check(paths: &[&Path]) -> ImportReport {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let mut options = ImportOptions::default();
    options.check = true;
    check_paths(&paths, &ToolRegistry::builtin(), &options)
}

/// `path id outcome` of every line, sorted.
fn lines(report: &ImportReport) -> Vec<String> {
    let mut lines: Vec<String> = report
        .skills
        .iter()
        .map(|line| format!("{} {} {}", line.path, line.id.as_deref().unwrap_or("-"), line.outcome.name()))
        .collect();
    lines.sort();
    lines
}

/// An Agent Skills file.
fn agent(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\nBody.\n")
}
