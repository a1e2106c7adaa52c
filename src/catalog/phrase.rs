//! Whole-phrase matching: the longest run of words of a request that is somebody's name, alias or example.
//!
//! Words end at white space; a Chinese, Japanese or Korean character is a word of its own, since these scripts write
//! no spaces. A phrase matches on word boundaries only: "bankrupt" holds no "bank".

use crate::limits::{EXAMPLE_CHARS_MAX, QUERY_BYTES_MAX};

/// Most words of a phrase that is tried; the longest example has at most this many.
const PHRASE_WORDS_MAX: usize = 96;

/// Byte ranges of the words of a normalised text.
fn words(normal: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut begin = None;
    for (at, c) in normal.char_indices() {
        let alone = is_cjk(c);
        if (alone || c == ' ')
            && let Some(start) = begin.take()
        {
            words.push((start, at));
        }
        if alone {
            words.push((at, at + c.len_utf8()));
        } else if c != ' ' && begin.is_none() {
            begin = Some(at);
        }
    }
    if let Some(start) = begin {
        words.push((start, normal.len()));
    }
    words
}

/// Whether a character is a word of its own.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// Calls `find` with every phrase of a normalised request, longest first by characters, and answers the hits of the
/// longest length that has any.
///
/// Cost: at most words x 96 calls for a request of [`QUERY_BYTES_MAX`] bytes.
pub(crate) fn longest<'q, T>(
    normal: &'q str,
    mut find: impl FnMut(&'q str) -> Vec<T>,
) -> Option<(usize, Vec<T>)> {
    let normal = &normal[..normal.floor_char_boundary(QUERY_BYTES_MAX)];
    let words = words(normal);
    let mut best: Option<(usize, Vec<T>)> = None;
    for (first, &(start, _)) in words.iter().enumerate() {
        for &(_, end) in words[first..].iter().take(PHRASE_WORDS_MAX) {
            let phrase = &normal[start..end];
            let length = phrase.chars().count();
            if length > EXAMPLE_CHARS_MAX {
                break;
            }
            if best.as_ref().is_some_and(|(known, _)| *known > length) {
                continue;
            }
            let hits = find(phrase);
            if hits.is_empty() {
                continue;
            }
            match &mut best {
                Some((known, all)) if *known == length => all.extend(hits),
                _ => best = Some((length, hits)),
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(request: &str, keys: &[&str]) -> Option<Vec<String>> {
        longest(request, |phrase| keys.iter().filter(|k| **k == phrase).map(|k| (*k).to_owned()).collect())
            .map(|(_, hits)| hits)
    }

    #[test]
    fn the_longest_phrase_on_word_boundaries_wins() {
        let keys = ["wifi", "home wifi", "bank", "\u{76f8}\u{518c}", "\u{5c0f}\u{7ea2}\u{4e66}"];
        for (request, want) in [
            ("connect to my home wifi now", Some("home wifi")),
            ("am i bankrupt", None),
            ("the bank", Some("bank")),
            ("\u{6253}\u{5f00}\u{76f8}\u{518c}", Some("\u{76f8}\u{518c}")),
            ("\u{5c0f}\u{7ea2}\u{4e66}wifi", Some("wifi")),
            ("", None),
        ] {
            assert_eq!(find(request, &keys), want.map(|w| vec![w.to_owned()]), "{request}");
        }
    }

    #[test]
    fn equally_long_phrases_are_all_reported() {
        assert_eq!(find("mute wifi", &["mute", "wifi"]).map(|hits| hits.len()), Some(2));
    }

    #[test]
    fn a_request_of_four_kilobytes_of_words_ends_quickly() {
        let request = "a ".repeat(10_000);
        let mut calls = 0_usize;
        assert!(
            longest(&request, |_| {
                calls += 1;
                Vec::<()>::new()
            })
            .is_none()
        );
        assert!(calls <= QUERY_BYTES_MAX / 2 * PHRASE_WORDS_MAX);
    }
}
