//! Whole words of any script.

use crate::model::normalise;

/// Words and phrases that are looked for in a text. A phrase of letters with spaces between words matches at word
/// boundaries; in scripts that write without spaces every place is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Normalised, not empty.
    phrases: Vec<String>,
}

impl Words {
    /// The words of a list; those that are nothing but punctuation are left out.
    #[must_use]
    pub fn new<'a>(phrases: impl IntoIterator<Item = &'a str>) -> Self {
        let phrases = phrases.into_iter().map(normalise).filter(|phrase| !phrase.is_empty()).collect();
        Self { phrases }
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// The first of the words that a [`normalise`]d text holds outside of `except`. Linear in the text for each word.
    #[must_use]
    pub fn find(&self, normal: &str, except: &Self) -> Option<&str> {
        let hidden: Vec<(usize, usize)> =
            except.phrases.iter().flat_map(|phrase| places(normal, phrase)).collect();
        self.phrases.iter().map(String::as_str).find(|phrase| {
            places(normal, phrase)
                .any(|(begin, end)| !hidden.iter().any(|(from, to)| *from <= begin && end <= *to))
        })
    }
}

/// Where a phrase stands as whole words.
fn places<'t>(text: &'t str, phrase: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
    text.match_indices(phrase).map(move |(begin, found)| (begin, begin + found.len())).filter(
        move |(begin, end)| {
            let before = text.get(..*begin).and_then(|head| head.chars().next_back());
            let after = text.get(*end..).and_then(|tail| tail.chars().next());
            boundary(before, phrase.chars().next()) && boundary(phrase.chars().next_back(), after)
        },
    )
}

/// Whether a word may end between two characters.
fn boundary(left: Option<char>, right: Option<char>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return true };
    !(joins(left) && joins(right))
}

/// Whether a character makes words with its neighbours: a letter or digit of a script that writes spaces.
fn joins(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

/// Scripts without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF      // Thai, Lao
        | 0x1000..=0x109F    // Myanmar
        | 0x1780..=0x17FF    // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30FF    // Hiragana, Katakana
        | 0x3400..=0x9FFF    // Han
        | 0xF900..=0xFAFF
        | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], text: &str) -> bool {
        Words::new(words.iter().copied()).find(&normalise(text), &Words::default()).is_some()
    }

    #[test]
    fn a_word_is_found_whole_only() {
        let rows = [
            ("bank", "My bank", true),
            ("bank", "bankrupt", false),
            ("bank", "Riverbank", false),
            ("bank", "BANK.", true),
            ("bank", "e-bank", true),
            ("pay now", "Pay now!", true),
            ("pay now", "pay  NOW (9.99)", true),
            ("pay now", "repay now", false),
            ("pay now", "pay nowhere", false),
            ("send", "sender", false),
            (
                "\u{43e}\u{43f}\u{43b}\u{430}\u{442}\u{430}",
                "\u{43f}\u{440}\u{435}\u{434}\u{43e}\u{43f}\u{43b}\u{430}\u{442}\u{430}",
                false,
            ),
            (
                "\u{43e}\u{43f}\u{43b}\u{430}\u{442}\u{430}",
                "\u{41e}\u{43f}\u{43b}\u{430}\u{442}\u{430} 5",
                true,
            ),
            ("\u{652f}\u{4ed8}", "\u{7acb}\u{5373}\u{652f}\u{4ed8}", true),
            ("\u{652f}\u{4ed8}", "pay\u{652f}\u{4ed8}now", true),
            ("pay", "\u{7528}pay\u{652f}\u{4ed8}", true),
            ("ok", "book", false),
        ];
        for (word, text, expect) in rows {
            assert_eq!(found(&[word], text), expect, "{word} in {text}");
        }
    }

    #[test]
    fn an_exception_hides_what_is_inside_of_it_and_nothing_else() {
        let pay = Words::new(["\u{652f}\u{4ed8}"]);
        let except = Words::new(["\u{652f}\u{4ed8}\u{5b9d}"]);
        assert_eq!(pay.find(&normalise("\u{6253}\u{5f00}\u{652f}\u{4ed8}\u{5b9d}"), &except), None);
        assert!(pay.find(&normalise("\u{652f}\u{4ed8}\u{5b9d} \u{652f}\u{4ed8}"), &except).is_some());
        assert!(Words::new(["!", " "]).is_empty());
    }
}
