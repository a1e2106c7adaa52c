//! Which words of a query stand in which field of a skill.

use super::Scratch;
use super::analysis::Kind;
use super::build::Fields;
use super::hash::TermHash;

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
/// Function words and parts of a longer match are left out. Cost: one analysis of the skill's text, so it is asked
/// for the hits that are shown.
#[must_use]
pub(crate) fn why(fields: &Fields<'_>, query: &str, scratch: &mut Scratch) -> Vec<(Field, Vec<String>)> {
    let analyzer = &mut scratch.analyzer;
    let mut wanted: Vec<(TermHash, String)> = Vec::new();
    analyzer.tokens(query, &mut |token| {
        if token.kind != Kind::Function && !wanted.iter().any(|(term, _)| *term == token.term) {
            wanted.push((token.term, token.text.to_owned()));
        }
    });
    let texts: [(Field, &[&str]); 6] = [
        (Field::Name, &[fields.name]),
        (Field::Alias, fields.aliases),
        (Field::Example, fields.examples),
        (Field::Tag, fields.tags),
        (Field::Description, &[fields.description]),
        (Field::Body, &[fields.body]),
    ];
    let mut answer = Vec::new();
    for (field, texts) in texts {
        let mut held = vec![false; wanted.len()];
        for text in texts {
            analyzer.tokens(text, &mut |token| {
                for (held, (term, _)) in held.iter_mut().zip(&wanted) {
                    *held |= *term == token.term;
                }
            });
        }
        let words: Vec<String> =
            wanted.iter().zip(&held).filter(|(_, held)| **held).map(|((_, text), _)| text.clone()).collect();
        if !words.is_empty() {
            answer.push((field, words));
        }
    }
    answer
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
}
