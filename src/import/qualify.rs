//! Ids that two files want: the later one is qualified by the folders above it.

use std::collections::HashMap;

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

    /// The ids without a number, best first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.id).chain(&self.qualified).map(String::as_str)
    }

    /// What stands before a number of so many digits in the ids that come last.
    pub(crate) fn numbered_base(&self, digits: u32) -> String {
        self.base(1 + digits as usize)
    }

    /// The first qualified id that is free. What is `taken` once must stay so while `numbers` lives.
    pub(crate) fn free(&self, numbers: &mut Numbers, taken: impl Fn(&str) -> bool) -> String {
        if let Some(candidate) = self.qualified.iter().find(|candidate| !taken(candidate)) {
            return candidate.clone();
        }
        let mut digits = 1;
        loop {
            let base = self.numbered_base(digits);
            let first = 10_u64.saturating_pow(digits - 1).max(2);
            let end = 10_u64.saturating_pow(digits);
            let next = numbers.0.entry((digits, base.clone())).or_insert(first);
            while *next < end {
                let candidate = format!("{base}-{next}");
                if !taken(&candidate) {
                    return candidate;
                }
                *next += 1;
            }
            digits += 1;
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

/// The next number to try for each base, by how many digits it has: a longer number leaves less of a long id.
#[derive(Debug, Default)]
pub(crate) struct Numbers(HashMap<(u32, String), u64>);

/// An id that ends in a number as [`Wanted::free`] gives them: what stands before it, and the number.
pub(crate) fn numbered(id: &str) -> Option<(&str, u32)> {
    let (base, written) = id.rsplit_once('-')?;
    let number: u32 = written.parse().ok().filter(|number| *number >= 2)?;
    (number.to_string() == written).then_some((base, number))
}

/// A file's name without its extensions.
fn stem(file: &str) -> &str {
    let known = [".skill.jsonl", ".skill.json", ".workflow.json"];
    let cut = known.iter().find_map(|ending| file.strip_suffix(ending));
    cut.unwrap_or_else(|| file.rsplit_once('.').map_or(file, |(stem, _)| stem))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;

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
        let mut taken = vec!["b/x".to_owned()];
        let mut numbers = Numbers::default();
        for number in 2..=120 {
            let free = wanted.free(&mut numbers, |id| taken.iter().any(|taken| taken == id));
            assert_eq!(free, format!("b/x-{number}"));
            taken.push(free);
        }
    }

    #[test]
    fn ids_that_are_cut_to_one_base_do_not_each_count_from_the_start() {
        const SKILLS: usize = 2_000;
        let mut numbers = Numbers::default();
        let mut taken = HashSet::new();
        let questions = Cell::new(0);
        for number in 0..SKILLS {
            let long = format!("{}{number:08}", "a".repeat(ID_BYTES_MAX - 8));
            taken.insert(long.clone());
            let free = Wanted::new(&long, "b/SKILL.md", "r", None).free(&mut numbers, |id| {
                questions.set(questions.get() + 1);
                taken.contains(id)
            });
            assert!(free.len() <= ID_BYTES_MAX);
            assert!(taken.insert(free), "every id is given once");
        }
        assert!(questions.get() <= 8 * SKILLS, "{} questions", questions.get());
    }

    #[test]
    fn a_long_id_is_cut_to_make_room() {
        let long = "a".repeat(ID_BYTES_MAX);
        let wanted = Wanted::new(&long, "b/SKILL.md", "r", None);
        let free = wanted.free(&mut Numbers::default(), |id| id == long);
        assert_eq!(free.len(), ID_BYTES_MAX);
        assert!(free.ends_with("-2"));
        assert!(check_id(&free).is_ok());
    }
}
