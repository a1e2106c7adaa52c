//! Which words of a query stand in which field of a skill.

use std::collections::HashMap;

use super::Scratch;
use super::analysis::{Analyzer, Kind, WORD_BYTES_MAX};
use super::build::Fields;
use super::hash::{BuildTermHasher, TermHash};
use crate::limits::{QUERY_TERMS_MAX, WHY_BODY_BYTES_MAX};

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
/// folded.
///
/// Function words and parts of a longer match are left out. Words of the query beyond [`QUERY_TERMS_MAX`] are not
/// looked for, and a body not beyond its first [`WHY_BODY_BYTES_MAX`]. Cost: one analysis of that much text, less where
/// a field holds every word early, so it is asked for the hits that are shown.
#[must_use]
pub(crate) fn why(fields: &Fields<'_>, query: &str, scratch: &mut Scratch) -> Vec<(Field, Vec<String>)> {
    let analyzer = &mut scratch.analyzer;
    let wanted = Wanted::new(analyzer, query);
    if wanted.words.is_empty() {
        return Vec::new();
    }
    let texts: [(Field, &[&str]); 6] = [
        (Field::Name, &[fields.name]),
        (Field::Alias, fields.aliases),
        (Field::Example, fields.examples),
        (Field::Tag, fields.tags),
        (Field::Description, &[fields.description]),
        (Field::Body, &[beginning(fields.body)]),
    ];
    let mut answer = Vec::new();
    for (field, texts) in texts {
        let words = wanted.held_by(analyzer, texts);
        if !words.is_empty() {
            answer.push((field, words));
        }
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
    fn new(analyzer: &mut Analyzer, query: &str) -> Self {
        let Self { mut words, mut places } = Self::default();
        analyzer.tokens(query, &mut |token| {
            let known = token.kind == Kind::Function || places.contains_key(&token.term);
            if !known && words.len() < QUERY_TERMS_MAX {
                places.insert(token.term, words.len());
                words.push(token.text.to_owned());
            }
        });
        Self { words, places }
    }

    /// Those that the texts of a field hold. Reads line by line, which is how texts are analysed, and no further than
    /// to the line that holds the last of them.
    fn held_by(&self, analyzer: &mut Analyzer, texts: &[&str]) -> Vec<String> {
        let mut held = vec![false; self.words.len()];
        let mut missing = held.len();
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
        let words = self.words.iter().zip(held);
        words.filter(|(_, held)| *held).map(|(word, _)| word.clone()).collect()
    }
}

/// As much of a body as is read, without half a word at its end.
fn beginning(body: &str) -> &str {
    let (cut, rest) = body.split_at(body.floor_char_boundary(WHY_BODY_BYTES_MAX));
    if rest.is_empty() || rest.starts_with(char::is_whitespace) {
        return cut;
    }
    // Not further back than a word is long: a script without spaces would lose whole lines.
    let from = cut.floor_char_boundary(cut.len().saturating_sub(WORD_BYTES_MAX));
    cut[from..].rfind(char::is_whitespace).map_or(cut, |end| &cut[..from + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_the_fields_that_hold_the_querys_words() {
        let fields = Fields {
            name: "Camera",
            description: "Take photos",
            aliases: &["拍照"],
            body: "the camera shutter",
            ..Fields::default()
        };
        let mut scratch = Scratch::new();
        let found: Vec<_> = why(&fields, "take a photo with the CAMERA 拍照", &mut scratch)
            .into_iter()
            .map(|(field, words)| format!("{}: {}", field.name(), words.join(" ")))
            .collect();
        assert_eq!(
            found,
            ["name: camera", "alias: 拍 拍照 照", "description: take photo", "body: camera"],
            "function words are left out"
        );
        assert!(why(&fields, "music", &mut scratch).is_empty());
    }

    #[test]
    fn a_body_is_read_up_to_its_limit_and_no_half_word_counts() {
        let filler = "x ".repeat(WHY_BODY_BYTES_MAX / 2 - 3);
        for (end, found) in [("camera", true), (" camera", false), (" cameraman", false), ("  camera", false)]
        {
            let body = format!("{filler}{end} shutter");
            let fields = Fields { body: &body, ..Fields::default() };
            let expected = if found { vec![(Field::Body, vec!["camera".to_owned()])] } else { Vec::new() };
            assert_eq!(why(&fields, "camera shutter", &mut Scratch::new()), expected, "{end:?}");
        }
        let dense = format!("x {}", "\u{76f8}".repeat(WHY_BODY_BYTES_MAX));
        let fields = Fields { body: &dense, ..Fields::default() };
        assert_eq!(
            why(&fields, "\u{76f8}", &mut Scratch::new()).len(),
            1,
            "a script without spaces is cut between characters"
        );
    }

    #[test]
    fn words_of_a_query_beyond_the_limit_are_not_looked_for() {
        let query = |words: usize| (0..words).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        for (words, named) in [(QUERY_TERMS_MAX, QUERY_TERMS_MAX), (QUERY_TERMS_MAX + 1, QUERY_TERMS_MAX)] {
            let text = query(words);
            let fields = Fields { description: &text, ..Fields::default() };
            let found = why(&fields, &text, &mut Scratch::new());
            assert_eq!(found[0].1.len(), named, "{words} words");
        }
    }

    #[test]
    fn a_field_is_read_no_further_than_to_the_line_with_the_last_word() {
        let mut analyzer = Analyzer::new();
        let wanted = Wanted::new(&mut analyzer, "camera photo");
        for (lines, expected) in [
            (["a camera", "a photo\nmore", "camera"], vec!["camera", "photo"]),
            (["photo", "camera", "photo"], vec!["camera", "photo"]),
            (["photo", "", "x\ny"], vec!["photo"]),
        ] {
            assert_eq!(wanted.held_by(&mut analyzer, &lines), expected, "{lines:?}");
        }
    }
}
