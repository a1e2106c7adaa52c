//! Ids that two files want: the later one is qualified by the folders above it.

use std::fmt::Write as _;

use crate::limits::ID_BYTES_MAX;
use crate::model::{check_id, slug};

/// The ids that a file may be published under, best first: the one it asks for, then qualified ones.
#[derive(Debug, PartialEq)]
pub(crate) struct Wanted {
    /// The id that the file asks for, with its namespace.
    pub(crate) id: String,
    /// Qualified by more and more ancestors.
    qualified: Vec<String>,
}

impl Wanted {
    /// The ids for a file at `path` below a root whose own folder is called `root_name`.
    ///
    /// A SKILL.md stands for its folder, any other file for itself; the folders above that qualify. Where there are
    /// none, the folder's (or file's) own name does.
    pub(crate) fn new(id: &str, path: &str, root_name: &str, namespace: Option<&str>) -> Self {
        let prefixed =
            |id: &str| namespace.map_or_else(|| id.to_owned(), |namespace| format!("{namespace}/{id}"));
        let mut parts: Vec<&str> = path.split('/').collect();
        let file = parts.pop().unwrap_or_default();
        let own = if file == "SKILL.md" { parts.pop().unwrap_or(root_name) } else { stem(file) };
        let mut qualified = Vec::new();
        let mut current = id.to_owned();
        for ancestor in parts.iter().rev().map(|part| slug(part)).filter(|part| !part.is_empty()) {
            current = format!("{ancestor}/{current}");
            qualified.push(prefixed(&current));
        }
        let own = slug(own);
        if qualified.is_empty() && !own.is_empty() {
            qualified.push(prefixed(&format!("{own}/{id}")));
        }
        qualified.retain(|candidate| check_id(candidate).is_ok());
        Self { id: prefixed(id), qualified }
    }

    /// Whether an id is one of those that this file could have been published under before.
    pub(crate) fn covers(&self, id: &str) -> bool {
        if id == self.id || self.qualified.iter().any(|candidate| candidate == id) {
            return true;
        }
        let numbered = |base: &str| {
            id.strip_prefix(base)
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|number| number.parse::<u32>().is_ok_and(|n| n >= 2 && n.to_string() == number))
        };
        numbered(&self.base(0))
    }

    /// The first qualified id that is free.
    pub(crate) fn free(&self, taken: impl Fn(&str) -> bool) -> String {
        if let Some(candidate) = self.qualified.iter().find(|candidate| !taken(candidate)) {
            return candidate.clone();
        }
        let mut suffix = String::new();
        let mut number = 1_u64;
        loop {
            number += 1;
            suffix.clear();
            // Writing to a string cannot fail.
            let _ = write!(suffix, "-{number}");
            let candidate = format!("{}{suffix}", self.base(suffix.len()));
            if !taken(&candidate) {
                return candidate;
            }
        }
    }

    /// The longest qualified id, or the plain one, with room for a suffix.
    fn base(&self, room: usize) -> String {
        let base = self.qualified.last().unwrap_or(&self.id);
        let mut end = base.len().min(ID_BYTES_MAX - room.min(ID_BYTES_MAX));
        while !base.is_char_boundary(end) {
            end -= 1;
        }
        base[..end].trim_end_matches(['-', '.', '_', '/']).to_owned()
    }
}

/// A file's name without its extensions.
fn stem(file: &str) -> &str {
    let known = [".skill.jsonl", ".skill.json", ".workflow.json"];
    let cut = known.iter().find_map(|ending| file.strip_suffix(ending));
    cut.unwrap_or_else(|| file.rsplit_once('.').map_or(file, |(stem, _)| stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_qualify_one_after_the_other() {
        let cases = [
            ("other/wifi/SKILL.md", vec!["other/wifi"]),
            ("P x/q/other/wifi/SKILL.md", vec!["other/wifi", "q/other/wifi", "p-x/q/other/wifi"]),
            ("b/SKILL.md", vec!["b/wifi"]),
            ("SKILL.md", vec!["root/wifi"]),
            ("more.skill.json", vec!["more/wifi"]),
            ("d/more.skill.jsonl", vec!["d/wifi"]),
        ];
        for (path, expected) in cases {
            assert_eq!(Wanted::new("wifi", path, "Root", None).qualified, expected, "{path}");
        }
        assert_eq!(
            Wanted::new("wifi", "a/b/SKILL.md", "r", Some("ns")),
            Wanted { id: "ns/wifi".to_owned(), qualified: vec!["ns/a/wifi".to_owned()] }
        );
    }

    #[test]
    fn numbers_follow_when_every_ancestor_is_taken() {
        let wanted = Wanted::new("x", "b/SKILL.md", "r", None);
        assert_eq!(wanted.free(|id| ["b/x", "b/x-2"].contains(&id)), "b/x-3");
        for (id, covered) in
            [("x", true), ("b/x", true), ("b/x-3", true), ("b/x-1", false), ("b/x-02", false), ("c/x", false)]
        {
            assert_eq!(wanted.covers(id), covered, "{id}");
        }
    }

    #[test]
    fn a_long_id_is_cut_to_make_room() {
        let long = "a".repeat(ID_BYTES_MAX);
        let wanted = Wanted::new(&long, "b/SKILL.md", "r", None);
        let free = wanted.free(|id| id == long);
        assert_eq!(free.len(), ID_BYTES_MAX);
        assert!(free.ends_with("-2"));
        assert!(check_id(&free).is_ok());
    }
}
