//! Makes untrusted text harmless for a terminal: what would move the cursor, hide or reorder text is shown as an
//! escape instead.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Whether a character acts on a terminal or on its reader instead of being shown.
///
/// The two joiners of U+200C and U+200D are let through: Persian, Hindi and emoji need them, and they move nothing.
fn is_active(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    if matches!(character, '\u{200c}' | '\u{200d}') {
        return false;
    }
    matches!(
        get_general_category(character),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::Surrogate
    )
}

/// Text for one line: line ends are escaped too. Borrowed while nothing is to be escaped.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_active)
}

/// Text for several lines: line feeds and tabs stay.
pub(crate) fn block(text: &str) -> Cow<'_, str> {
    escape(text, |character| !matches!(character, '\n' | '\t') && is_active(character))
}

/// JSON text: the same characters, as JSON escapes, so that the value stays the same.
///
/// Outside of strings JSON holds none of them but line ends, which stay.
pub(crate) fn json(text: String) -> String {
    let acts = |character: char| !matches!(character, '\n' | '\t') && is_active(character);
    if !text.chars().any(acts) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        if acts(character) {
            let mut units = [0_u16; 2];
            for unit in character.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Replaces what `acts` names by `\u{..}`.
fn escape(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        if acts(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown_and_the_rest_is_left_alone() {
        let rows = [
            ("plain", "plain"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\rb\u{8}\u{7f}", "a\\u{d}b\\u{8}\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("two\nlines", "two\\u{a}lines"),
            ("\u{6253}\u{5f00} \u{1f468}\u{200d}\u{1f469}", "\u{6253}\u{5f00} \u{1f468}\u{200d}\u{1f469}"),
        ];
        for (input, expect) in rows {
            assert_eq!(line(input), expect);
        }
        assert_eq!(block("a\n\tb\u{1b}"), "a\n\tb\\u{1b}");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"a": "\u{1b}\u{9b}\u{202e}\u{e0041}\u{7f}\n", "b": "\u{4e2d}"});
        let text = json(value.to_string());
        assert!(!text.chars().any(is_active), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
