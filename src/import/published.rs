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
    numbers: HashMap<Series, BTreeSet<u32>>,
    /// Ids that stay.
    kept: HashSet<String>,
    /// Series whose ids stay.
    kept_series: HashSet<Series>,
    /// Files whose every id stays.
    kept_files: HashSet<usize>,
}

/// Ids of one file that differ in their number only. Its digits count, since a longer number leaves less of a long id.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Series {
    file: usize,
    base: String,
    digits: u32,
}

impl Series {
    /// The series of a published id, with its number.
    fn of(file: usize, id: &str) -> Option<(Self, u32)> {
        let (base, number) = numbered(id)?;
        Some((Self { file, base: base.to_owned(), digits: number.ilog10() + 1 }, number))
    }

    /// The series that a skill may be in, in the order in which numbers are given.
    fn all(file: usize, wanted: &Wanted) -> impl Iterator<Item = Self> {
        (1..=u32::MAX.ilog10() + 1).map(move |digits| Self {
            file,
            base: wanted.numbered_base(digits),
            digits,
        })
    }
}

impl Published {
    /// Whether the file at `location` published anything.
    pub(crate) fn has(&self, location: &str) -> bool {
        self.files.contains_key(location)
    }

    /// Remembers that the file at `location` published an id.
    pub(crate) fn add(&mut self, location: String, id: &str) {
        let next = self.files.len();
        let file = *self.files.entry(location).or_insert(next);
        self.ids.insert(id.to_owned(), file);
        if let Some((series, number)) = Series::of(file, id) {
            self.numbers.entry(series).or_default().insert(number);
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
        Series::all(file, wanted).find_map(|series| {
            let numbers = self.numbers.get_mut(&series)?;
            // A number that is given or found taken is never looked at again.
            std::iter::from_fn(|| numbers.pop_first())
                .map(|number| format!("{}-{number}", series.base))
                .find(|id| !taken(id))
        })
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
        for series in Series::all(file, wanted).filter(|series| self.numbers.contains_key(series)) {
            any = true;
            self.kept_series.insert(series);
        }
        any
    }

    /// Whether a published id stays.
    pub(crate) fn is_kept(&self, id: &str) -> bool {
        let Some(&file) = self.ids.get(id) else { return false };
        self.kept_files.contains(&file)
            || self.kept.contains(id)
            || Series::of(file, id).is_some_and(|(series, _)| self.kept_series.contains(&series))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::import::qualify::Numbers;
    use crate::limits::ID_BYTES_MAX;

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
    fn numbered_ids_that_were_cut_to_fit_are_claimed_and_kept_again() {
        let long = "a".repeat(ID_BYTES_MAX);
        let mut numbers = Numbers::default();
        let mut given: Vec<String> = vec![long.clone()];
        let wanted = Wanted::new(&long, "b/SKILL.md", "r", None);
        while given.len() < 120 {
            given.push(wanted.free(&mut numbers, |id| given.iter().any(|known| known == id)));
        }
        assert!(given[1].ends_with("a-2") && given[119].ends_with("a-120"));
        let ids: Vec<&str> = given.iter().map(String::as_str).collect();
        let mut before = published(&ids);
        let mut again: Vec<String> = Vec::new();
        while let Some(id) =
            before.claim("/r/b/SKILL.md", &wanted, |id| again.iter().any(|known| known == id))
        {
            again.push(id);
        }
        assert_eq!(again, given);
        let mut before = published(&ids);
        assert!(before.keep("/r/b/SKILL.md", Some(&wanted)));
        assert!(ids.iter().all(|id| before.is_kept(id)));
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
