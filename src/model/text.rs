//! Text normalisation: one function for what is indexed and for what is asked.

use std::borrow::Cow;

use caseless::Caseless;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

/// Rounds after which a text counts as stable. Two are enough for every assigned character; the rest is margin.
const ROUNDS_MAX: usize = 8;

/// Normalises a text for lookups: NFKC, full case folding, every run of white space, control characters or
/// punctuation to one space, invisible format characters dropped, trimmed.
///
/// Letters, marks, digits and symbols of every script are kept, so that Chinese, Arabic and Cyrillic names are found
/// as they are, and `C++` is not `C`. Idempotent. Linear in the text; one allocation where the text is ASCII.
///
/// ```
/// use repertoire::model::normalise;
///
/// assert_eq!(normalise("  Wi-Fi:  SETTINGS! "), "wi fi settings");
/// ```
#[must_use]
pub fn normalise(text: &str) -> String {
    if text.is_ascii() {
        return spaced(text.bytes().map(|byte| char::from(byte.to_ascii_lowercase())), text.len());
    }
    let mut current = one_round(text);
    for _ in 0..ROUNDS_MAX {
        if current.is_ascii() {
            break;
        }
        let next = one_round(&current);
        if next == current {
            break;
        }
        current = next;
    }
    current
}

/// A normalised text that takes no heap where it can: borrowed if it is normal already, in place if it is short ASCII.
#[derive(Debug)]
pub(crate) enum Normal<'t> {
    /// It was normal.
    Same(&'t str),
    /// It is ASCII and short.
    Short([u8; Normal::SHORT_MAX], usize),
    /// Anything else.
    Owned(String),
}

impl<'t> Normal<'t> {
    /// Bytes that have room in place.
    const SHORT_MAX: usize = 62;

    /// [`normalise`]s a text. Linear in it; a step a byte where it is normal already, as keys that programs ask for are.
    pub(crate) fn of(text: &'t str) -> Self {
        if is_normal_ascii(text.as_bytes()) {
            return Self::Same(text);
        }
        if !text.is_ascii() || text.len() > Self::SHORT_MAX {
            return Self::Owned(normalise(text));
        }
        let mut bytes = [0; Self::SHORT_MAX];
        let (mut len, mut gap) = (0, false);
        for byte in text.bytes() {
            let lower = byte.to_ascii_lowercase();
            if is_separator(char::from(byte)) {
                gap = true;
                continue;
            }
            for new in gap.then_some(b' ').filter(|_| len > 0).into_iter().chain([lower]) {
                // At most one byte is written for each that was read.
                if let Some(place) = bytes.get_mut(len) {
                    *place = new;
                }
                len += 1;
            }
            gap = false;
        }
        Self::Short(bytes, len)
    }
}

impl std::ops::Deref for Normal<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            Self::Same(text) => text,
            // ASCII is UTF-8.
            Self::Short(bytes, len) => {
                bytes.get(..*len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
            }
            Self::Owned(text) => text,
        }
    }
}

/// What an ASCII byte is to [`is_normal_ascii`]: 1 for one that stays as it is, 0 for a space, 2 for any other.
const PLAIN: [u8; 256] = {
    let mut plain = [2; 256];
    let mut byte: u8 = 0;
    while byte < 0x80 {
        if byte == b' ' {
            plain[byte as usize] = 0;
        } else if !byte.is_ascii_uppercase() && !is_ascii_separator(byte) {
            plain[byte as usize] = 1;
        }
        byte += 1;
    }
    plain
};

/// Whether a text is ASCII and as [`normalise`] leaves it: plain characters with single spaces between.
fn is_normal_ascii(bytes: &[u8]) -> bool {
    // A space where the byte before is one, or where the text begins or ends, is not normal.
    let mut before = 0;
    for &byte in bytes {
        let class = PLAIN[usize::from(byte)];
        if class == 2 || class | before == 0 {
            return false;
        }
        before = class;
    }
    before == 1 || bytes.is_empty()
}

/// Folding can denormalise and dropping a format character can bring a mark to its base, hence the rounds.
fn one_round(text: &str) -> String {
    let visible = text.chars().filter(|&c| !is_invisible(c));
    spaced(visible.nfkc().default_case_fold().nfkc().filter(|&c| !is_invisible(c)), text.len())
}

/// Collects characters with every run of separators as one space, none at the ends.
fn spaced(characters: impl Iterator<Item = char>, capacity: usize) -> String {
    let mut out = String::with_capacity(capacity);
    let mut gap = false;
    for character in characters {
        if is_separator(character) {
            gap = true;
        } else {
            if gap && !out.is_empty() {
                out.push(' ');
            }
            gap = false;
            out.push(character);
        }
    }
    out
}

/// White space, control characters and punctuation of every script.
fn is_separator(c: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, Control, DashPunctuation, FinalPunctuation,
        InitialPunctuation, LineSeparator, OpenPunctuation, OtherPunctuation, ParagraphSeparator,
        SpaceSeparator,
    };
    if c.is_ascii() {
        return u8::try_from(c).is_ok_and(is_ascii_separator);
    }
    matches!(
        get_general_category(c),
        ClosePunctuation
            | ConnectorPunctuation
            | Control
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | LineSeparator
            | OpenPunctuation
            | OtherPunctuation
            | ParagraphSeparator
            | SpaceSeparator
    )
}

/// [`is_separator`] for a byte of an ASCII text.
const fn is_ascii_separator(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric()
        && !matches!(byte, b'$' | b'+' | b'<' | b'=' | b'>' | b'^' | b'`' | b'|' | b'~')
}

/// True for characters that take no room on a screen and so could hide in a name: format characters, fillers,
/// variation selectors, tags. White space and control characters are not meant.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return false;
    }
    get_general_category(c) == GeneralCategory::Format
        || matches!(c,
            '\u{34F}'                       // combining grapheme joiner
            | '\u{115F}' | '\u{1160}'       // Hangul fillers
            | '\u{17B4}' | '\u{17B5}'       // Khmer inherent vowels
            | '\u{180B}'..='\u{180F}'       // Mongolian selectors
            | '\u{2028}' | '\u{2029}'       // line and paragraph separators
            | '\u{2065}'                    // reserved, ignorable
            | '\u{2800}'                    // empty braille pattern
            | '\u{3164}' | '\u{FFA0}'       // Hangul fillers
            | '\u{FE00}'..='\u{FE0F}'       // variation selectors
            | '\u{FFF0}'..='\u{FFF8}'       // reserved, ignorable
            | '\u{E0000}'..='\u{E0FFF}'     // tags and more selectors
        )
}

/// NFC of a text, borrowed where it already is.
pub(super) fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || unicode_normalization::is_nfc(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_every_script_are_normalised_alike_for_index_and_query() {
        let cases = [
            ("", ""),
            ("  \t\n ", ""),
            ("Wi-Fi", "wi fi"),
            ("wi\u{200B}fi", "wifi"),
            ("C++", "c++"),
            ("C#", "c"),
            ("don't", "don t"),
            ("Stra\u{DF}e", "strasse"),
            ("\u{FF37}\u{FF49}\u{FF26}\u{FF49}", "wifi"),
            ("\u{5C0F}\u{7EA2}\u{4E66}\u{FF0C}\u{641C}\u{7D22}", "\u{5C0F}\u{7EA2}\u{4E66} \u{641C}\u{7D22}"),
            (
                "\u{41D}\u{410}\u{421}\u{422}\u{420}\u{41E}\u{419}\u{41A}\u{418}",
                "\u{43D}\u{430}\u{441}\u{442}\u{440}\u{43E}\u{439}\u{43A}\u{438}",
            ),
            ("Caf\u{65}\u{301}", "caf\u{E9}"),
            ("a\u{3000}b\u{A0}c", "a b c"),
            ("\u{130}", "i\u{307}"),
        ];
        for (text, expected) in cases {
            assert_eq!(normalise(text), expected, "{text:?}");
        }
    }

    #[test]
    fn normalising_twice_changes_nothing_for_any_single_character() {
        for c in (0..=0x10_FFFF_u32).filter_map(char::from_u32) {
            let once = normalise(&c.to_string());
            assert_eq!(normalise(&once), once, "U+{:04X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in any::<String>()) {
            let once = normalise(&text);
            prop_assert_eq!(normalise(&once), once);
        }

        #[test]
        fn a_normal_text_without_a_heap_is_the_normalised_one(
            any in any::<String>(), ascii in "[ -~\\t]{0,70}", plain in "[a-z0-9+]{1,5}( [a-z]{1,4}){0,3}"
        ) {
            for text in [&any, &ascii, &plain] {
                let normal = Normal::of(text);
                let expected = normalise(text);
                prop_assert_eq!(&*normal, expected.as_str(), "{:?}", text);
            }
            prop_assert!(matches!(Normal::of(&plain), Normal::Same(_)));
        }

        #[test]
        fn a_normalised_text_has_single_inner_spaces_only(text in any::<String>()) {
            let once = normalise(&text);
            prop_assert_eq!(once.trim(), once.as_str());
            prop_assert!(!once.contains("  "));
        }

        #[test]
        fn marks_and_format_characters_in_any_order_stay_stable(
            text in proptest::collection::vec(prop::sample::select(vec![
                'a', '\u{345}', '\u{301}', '\u{300}', '\u{200D}', '\u{FE0F}', '\u{3B1}', '\u{1F80}', '\u{323}',
                '\u{1100}', '\u{1161}', '\u{11A8}', '\u{13A0}', '\u{AB70}', '\u{FB01}', ' ', '.', '\u{130}',
            ]), 0..12)
        ) {
            let text: String = text.into_iter().collect();
            let once = normalise(&text);
            prop_assert_eq!(normalise(&once), once);
        }
    }
}
