//! Pieces of messages: what somebody wrote, shown back, and numbers of things.

use std::borrow::Cow;

use crate::limits::ECHOED_CHARS_MAX;

/// The beginning of a text that a message shows back: at most [`ECHOED_CHARS_MAX`] characters, with three dots where
/// something is missing. Borrowed while it fits.
///
/// ```
/// use repertoire::error::shorten;
///
/// assert_eq!(shorten("wifi"), "wifi");
/// assert!(shorten(&"x".repeat(100_000)).ends_with("x..."));
/// ```
#[must_use]
pub fn shorten(text: &str) -> Cow<'_, str> {
    cut(text, ECHOED_CHARS_MAX)
}

/// As [`shorten`], with another limit.
pub(super) fn cut(text: &str, chars_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A number of things in words; `one` is the name of a single one, and makes its plural with an `s`.
///
/// ```
/// use repertoire::error::counted;
///
/// assert_eq!((counted(1, "skill"), counted(0, "skill")), ("1 skill".into(), "0 skills".into()));
/// ```
#[must_use]
pub fn counted(count: u64, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

/// Line and column of a byte of a text, both from 1; the end where it has fewer bytes.
///
/// ```
/// use repertoire::error::line_and_column;
///
/// assert_eq!(line_and_column("a = 1\nb = 2", 10), (2, 5));
/// ```
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> (u32, u32) {
    let before = text.get(..offset.min(text.len())).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_the_last_character_that_fits() {
        let fits = "\u{5c0f}".repeat(ECHOED_CHARS_MAX);
        assert_eq!(shorten(&fits), fits);
        assert_eq!(shorten(&format!("{fits}y")), format!("{fits}..."));
        assert_eq!(shorten(""), "");
    }
}
