//! Which words of a query stand in which field of a skill.

use std::collections::HashMap;

use super::Scratch;
use super::analysis::{Analyzer, Kind};
use super::build::Fields;
use super::hash::{BuildTermHasher, TermHash};
use crate::limits::QUERY_TERMS_MAX;

/// A searchable field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Field {
    /// Name.
    Name,
    /// One of the aliases.
    Alias,
    /// One of the examples.
    Example,
    /// One of the tags.
    Tag,
    /// Description.
    Description,
    /// Body.
    Body,
}

impl Field {
    /// Its name in answers.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Alias => "alias",
            Self::Example => "example",
            Self::Tag => "tag",
            Self::Description => "description",
            Self::Body => "body",
        }
    }
}

/// The query's words that each field of a skill holds, fields without any left out; words as the query has them,
/// folded. The body is said to hold those that no other field does.
///
/// `holds` says of a term whether the skill has it at all, which the postings know: a body is never read. Function words
/// and parts of a longer match are left out. Words of the query beyond [`QUERY_TERMS_MAX`] are not looked for. Cost:
/// one analysis of the fields but the body, less where a field holds every word early.
#[must_use]
pub(crate) fn why(
    fields: &Fields<'_>,
    query: &str,
    holds: &dyn Fn(TermHash) -> bool,
    scratch: &mut Scratch,
) -> Vec<(Field, Vec<String>)> {
    let analyzer = &mut scratch.analyzer;
    let wanted = Wanted::new(analyzer, query, holds);
    let texts: [(Field, &[&str]); 5] = [
        (Field::Name, &[fields.name]),
        (Field::Alias, fields.aliases),
        (Field::Example, fields.examples),
        (Field::Tag, fields.tags),
        (Field::Description, &[fields.description]),
    ];
    let mut answer = Vec::new();
    let mut anywhere = vec![false; wanted.words.len()];
    for (field, texts) in texts {
        let held = wanted.held_by(analyzer, texts);
        let words = wanted.chosen(&held);
        if !words.is_empty() {
            answer.push((field, words));
        }
        anywhere.iter_mut().zip(held).for_each(|(anywhere, here)| *anywhere |= here);
    }
    for held in &mut anywhere {
        *held = !*held;
    }
    let words = wanted.chosen(&anywhere);
    if !words.is_empty() {
        answer.push((Field::Body, words));
    }
    answer
}

/// The words of a query, each once and in its order.
#[derive(Default)]
struct Wanted {
    words: Vec<String>,
    places: HashMap<TermHash, usize, BuildTermHasher>,
}

impl Wanted {
    fn new(analyzer: &mut Analyzer, query: &str, holds: &dyn Fn(TermHash) -> bool) -> Self {
        let Self { mut words, mut places } = Self::default();
        analyzer.tokens(query, &mut |token| {
            let known = token.kind == Kind::Function || places.contains_key(&token.term);
            if !known && words.len() < QUERY_TERMS_MAX && holds(token.term) {
                places.insert(token.term, words.len());
                words.push(token.text.to_owned());
            }
        });
        Self { words, places }
    }

    /// Those that the texts of a field hold. Reads line by line, which is how texts are analysed, and no further than
    /// to the line that holds the last of them.
    fn held_by(&self, analyzer: &mut Analyzer, texts: &[&str]) -> Vec<bool> {
        let mut held = vec![false; self.words.len()];
        let mut missing = held.len();
        if missing == 0 {
            return held;
        }
        for line in texts.iter().flat_map(|text| text.split_inclusive('\n')) {
            analyzer.tokens(line, &mut |token| {
                if let Some(held) = self.places.get(&token.term).and_then(|place| held.get_mut(*place)) {
                    missing -= usize::from(!*held);
                    *held = true;
                }
            });
            if missing == 0 {
                break;
            }
        }
        held
    }

    /// The words at the places that are set.
    fn chosen(&self, places: &[bool]) -> Vec<String> {
        let words = self.words.iter().zip(places);
        words.filter(|(_, chosen)| **chosen).map(|(word, _)| word.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::text::{TextBuilder, TextIndex};

    /// Asks of a skill whose postings are those that the builder makes of it.
    fn ask(fields: &Fields<'_>, query: &str) -> Vec<String> {
        let mut builder = TextBuilder::new();
        builder.add(fields);
        let bytes = builder.finish();
        let index = TextIndex::open(&bytes).expect("own bytes");
        why(fields, query, &|term| index.holds(0, term), &mut Scratch::new())
            .into_iter()
            .map(|(field, words)| format!("{}: {}", field.name(), words.join(" ")))
            .collect()
    }

    #[test]
    fn it_names_the_fields_that_hold_the_querys_words() {
        let fields = Fields {
            name: "Camera",
            description: "Take photos",
            aliases: &["拍照"],
            body: "the camera shutter makes 声音",
            ..Fields::default()
        };
        assert_eq!(
            ask(&fields, "take a photo with the CAMERA shutter 拍照 声音"),
            ["name: camera", "alias: 拍 拍照 照", "description: take photo", "body: shutter 声 声音 音"],
            "function words are left out, and the body has what no other field has"
        );
        assert!(ask(&fields, "music").is_empty());
    }

    #[test]
    fn words_of_a_query_beyond_the_limit_are_not_looked_for() {
        let query = |words: usize| (0..words).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        for (words, named) in [(QUERY_TERMS_MAX, QUERY_TERMS_MAX), (QUERY_TERMS_MAX + 1, QUERY_TERMS_MAX)] {
            let text = query(words);
            let fields = Fields { description: &text, ..Fields::default() };
            let found = why(&fields, &text, &|_| true, &mut Scratch::new());
            assert_eq!(found[0].1.len(), named, "{words} words");
        }
    }

    #[test]
    fn a_field_is_read_no_further_than_to_the_line_with_the_last_word() {
        let mut analyzer = Analyzer::new();
        let wanted = Wanted::new(&mut analyzer, "camera photo", &|_| true);
        for (lines, expected) in [
            (["a camera", "a photo\nmore", "camera"], [true, true]),
            (["photo", "camera", "photo"], [true, true]),
            (["photo", "", "x\ny"], [false, true]),
        ] {
            assert_eq!(wanted.held_by(&mut analyzer, &lines), expected, "{lines:?}");
        }
    }
}
