//! How paths of a report are shown: as they were written on the command line, so that they can be opened from where the
//! reader stands.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What was named on the command line, by its real path.
#[derive(Debug, Default)]
pub(crate) struct Roots(HashMap<String, PathBuf>);

impl Roots {
    /// Of the paths that a command was given; the first of two that are the same counts.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        let mut roots = HashMap::new();
        for path in paths {
            if let Ok(real) = path.canonicalize() {
                roots.entry(real.display().to_string()).or_insert_with(|| path.clone());
            }
        }
        Self(roots)
    }

    /// A path below a root, whose real path is given; a root that is unknown or empty shows as it is.
    pub(crate) fn shown(&self, root: &str, path: &str) -> String {
        if root.is_empty() {
            return path.to_owned();
        }
        let given = self.0.get(root).map_or_else(|| Path::new(root), PathBuf::as_path);
        // The root itself, and a file that is a root of its own, have no path below it.
        let whole = path == "." || path.is_empty() || given.is_file();
        if whole { given.display().to_string() } else { given.join(path).display().to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_show_as_they_were_given() {
        let folder = tempfile::tempdir().unwrap();
        let given = folder.path().join("a").join("..").join("a");
        std::fs::create_dir(folder.path().join("a")).unwrap();
        let file = given.join("x.skill.json");
        std::fs::write(&file, "{}").unwrap();
        let roots = Roots::of(&[given.clone(), file.clone(), folder.path().join("gone")]);
        let real = |path: &Path| path.canonicalize().unwrap().display().to_string();
        assert_eq!(roots.shown(&real(&given), "s/SKILL.md"), given.join("s/SKILL.md").display().to_string());
        assert_eq!(roots.shown(&real(&given), "."), given.display().to_string());
        assert_eq!(roots.shown(&real(&file), "x.skill.json"), file.display().to_string());
        assert_eq!(roots.shown("", "gone"), "gone");
        assert_eq!(roots.shown("/other", "s/SKILL.md"), "/other/s/SKILL.md");
    }
}
