//! What the layer published before, by the file that it came from: which id a file claims again, and which ids stay
//! although their file cannot be read.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::import::qualify::{Wanted, numbered};

/// Published ids by file. Every question costs the ids that one skill may have, however many its file published.
#[derive(Debug, Default)]
pub(crate) struct Published {
    /// A number for each file, by its real path.
    files: HashMap<String, usize>,
    /// The file that published an id.
    ids: HashMap<String, usize>,
    /// Numbers of the ids `BASE-2`, `BASE-3` and so on that a file published and nobody claimed yet.
    numbers: HashMap<(usize, String), BTreeSet<u32>>,
    /// Ids that stay.
    kept: HashSet<String>,
    /// Bases whose numbered ids stay.
    kept_bases: HashSet<(usize, String)>,
    /// Files whose every id stays.
    kept_files: HashSet<usize>,
}

impl Published {
    /// Remembers that the file at `location` published an id.
    pub(crate) fn add(&mut self, location: String, id: &str) {
        let next = self.files.len();
        let file = *self.files.entry(location).or_insert(next);
        self.ids.insert(id.to_owned(), file);
        if let Some((base, number)) = numbered(id) {
            self.numbers.entry((file, base.to_owned())).or_default().insert(number);
        }
    }

    /// The id under which the file published this skill before, the best first, unless it is `taken`. What is taken
    /// once must stay so.
    pub(crate) fn claim(
        &mut self,
        location: &str,
        wanted: &Wanted,
        taken: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let file = *self.files.get(location)?;
        if let Some(id) = wanted.ids().find(|id| self.ids.get(*id) == Some(&file) && !taken(id)) {
            return Some(id.to_owned());
        }
        let key = (file, wanted.numbered_base());
        let numbers = self.numbers.get_mut(&key)?;
        // A number that is given or found taken is never looked at again.
        std::iter::from_fn(|| numbers.pop_first())
            .map(|number| format!("{}-{number}", key.1))
            .find(|id| !taken(id))
    }

    /// Keeps what the file published for a skill that cannot be read now; everything, if its id is not known. Answers
    /// whether there is any. To be asked before anything is claimed.
    pub(crate) fn keep(&mut self, location: &str, wanted: Option<&Wanted>) -> bool {
        let Some(&file) = self.files.get(location) else { return false };
        let Some(wanted) = wanted else {
            self.kept_files.insert(file);
            return true;
        };
        let mut any = false;
        for id in wanted.ids().filter(|id| self.ids.get(*id) == Some(&file)) {
            any = true;
            self.kept.insert(id.to_owned());
        }
        let key = (file, wanted.numbered_base());
        if self.numbers.contains_key(&key) {
            any = true;
            self.kept_bases.insert(key);
        }
        any
    }

    /// Whether a published id stays.
    pub(crate) fn is_kept(&self, id: &str) -> bool {
        let Some(&file) = self.ids.get(id) else { return false };
        self.kept_files.contains(&file)
            || self.kept.contains(id)
            || numbered(id).is_some_and(|(base, _)| self.kept_bases.contains(&(file, base.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn published(ids: &[&str]) -> Published {
        let mut published = Published::default();
        for id in ids {
            published.add("/r/b/SKILL.md".to_owned(), id);
        }
        published
    }

    fn wanted() -> Wanted {
        Wanted::new("x", "b/SKILL.md", "r", None)
    }

    #[test]
    fn a_file_claims_only_ids_that_it_could_have_published_for_the_skill() {
        for (id, claimed) in [
            ("x", true),
            ("b/x", true),
            ("b/x-3", true),
            ("b/x-1", false),
            ("b/x-02", false),
            ("b/x-+3", false),
            ("c/x", false),
            ("x-2", false),
        ] {
            let found = published(&[id]).claim("/r/b/SKILL.md", &wanted(), |_| false);
            assert_eq!(found.as_deref(), claimed.then_some(id), "{id}");
            assert_eq!(published(&[id]).claim("/r/c/SKILL.md", &wanted(), |_| false), None, "{id}");
            let mut published = published(&[id]);
            assert_eq!(published.keep("/r/b/SKILL.md", Some(&wanted())), claimed, "{id}");
            assert_eq!(published.is_kept(id), claimed, "{id}");
        }
    }

    #[test]
    fn a_file_claims_the_best_id_first_and_numbers_in_their_order() {
        let mut published = published(&["b/x", "b/x-10", "b/x-2", "b/x-9", "x"]);
        let mut new: Vec<String> = Vec::new();
        while let Some(id) =
            published.claim("/r/b/SKILL.md", &wanted(), |id| id == "b/x-9" || new.contains(&id.to_owned()))
        {
            new.push(id);
        }
        assert_eq!(new, ["x", "b/x", "b/x-2", "b/x-10"]);
    }

    #[test]
    fn a_skill_without_an_id_keeps_everything_of_its_file_and_nothing_else() {
        let mut published = published(&["a", "b"]);
        published.add("/r/other.skill.json".to_owned(), "c");
        assert!(published.keep("/r/b/SKILL.md", None));
        assert!(!published.keep("/r/new.skill.json", None));
        assert_eq!(["a", "b", "c"].map(|id| published.is_kept(id)), [true, true, false]);
    }

    #[test]
    fn many_skills_of_one_file_that_want_one_id_ask_a_few_questions_each() {
        const SKILLS: usize = 2_000;
        let mut published = Published::default();
        for id in ["x".to_owned(), "b/x".to_owned()] {
            published.add("/r/b/SKILL.md".to_owned(), &id);
        }
        for number in 2..SKILLS {
            published.add("/r/b/SKILL.md".to_owned(), &format!("b/x-{number}"));
        }
        let questions = Cell::new(0);
        let mut new = HashSet::new();
        for _ in 0..SKILLS {
            let id = published.claim("/r/b/SKILL.md", &wanted(), |id| {
                questions.set(questions.get() + 1);
                new.contains(id)
            });
            new.insert(id.expect("one for each"));
        }
        assert_eq!(new.len(), SKILLS);
        assert!(questions.get() <= 3 * SKILLS, "{} questions", questions.get());
    }
}
