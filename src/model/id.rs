//! Skill ids: their grammar, and how one is made from a written name.

use caseless::Caseless;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use crate::error::Problem;
use crate::limits::ID_BYTES_MAX;
use crate::model::text::{is_invisible, nfc};

/// What an id may look like, for messages.
const GRAMMAR: &str = "segments of lower-case letters and digits with inner '.', '_' or '-', joined by '/'";

/// Checks the grammar of a skill id: segments joined by single `/`; a segment is NFC lower-case Unicode letters and
/// digits with inner `.`, `_`, `-`; at most 128 bytes; no `..`, nothing invisible.
///
/// Marks that belong to a letter (vowel signs, tones) are part of it. Linear in the id, no allocation for ASCII.
///
/// # Errors
/// One [`Problem`] with the code `invalid_id` that names the first fault.
///
/// ```
/// use repertoire::model::check_id;
///
/// assert!(check_id("android/wifi-settings").is_ok());
/// assert!(check_id("../wifi").is_err());
/// ```
pub fn check_id(id: &str) -> Result<(), Problem> {
    let refuse = |why: &str| Err(Problem::new("invalid_id", "id", why).got(id).allowed(GRAMMAR));
    if id.is_empty() {
        return refuse("the id is empty; give one, or a name to make it from");
    }
    if id.len() > ID_BYTES_MAX {
        return refuse("the id is longer than 128 bytes; shorten it");
    }
    if nfc(id) != id {
        return refuse("the id is not in Unicode normal form C; normalise it");
    }
    for segment in id.split('/') {
        if segment.is_empty() {
            return refuse("the id has an empty segment; use single '/' between segments only");
        }
        if let Some(why) = segment_fault(segment) {
            return refuse(why);
        }
    }
    Ok(())
}

/// The first fault of one segment.
fn segment_fault(segment: &str) -> Option<&'static str> {
    if segment.contains("..") {
        return Some("the id holds '..'; it must not look like a path");
    }
    let mut previous = Part::Joint;
    for c in segment.chars() {
        let part = match classify(c) {
            Ok(part) => part,
            Err(why) => return Some(why),
        };
        match (part, previous) {
            (Part::Joint, Part::Joint) if segment.starts_with(c) && segment.len() == c.len_utf8() => {
                return Some("a segment of the id has no letter or digit");
            }
            (Part::Mark, Part::Joint) => {
                return Some("the id has a combining mark without a letter before it");
            }
            _ => previous = part,
        }
    }
    let joint = |c: char| matches!(c, '.' | '_' | '-');
    if segment.starts_with(joint) || segment.ends_with(joint) {
        return Some("a segment of the id begins or ends with '.', '_' or '-'; remove it there");
    }
    None
}

/// What a character is within a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A lower-case letter, a letter of a script without case, or a digit.
    Letter,
    /// A mark that continues a letter.
    Mark,
    /// `.`, `_` or `-`.
    Joint,
}

/// Sorts a character, or says why an id must not hold it.
fn classify(c: char) -> Result<Part, &'static str> {
    use GeneralCategory::{
        DecimalNumber, LowercaseLetter, ModifierLetter, NonspacingMark, OtherLetter, SpacingMark,
        TitlecaseLetter, UppercaseLetter,
    };
    match c {
        'a'..='z' | '0'..='9' => return Ok(Part::Letter),
        '.' | '_' | '-' => return Ok(Part::Joint),
        'A'..='Z' => return Err("the id holds a capital letter; write it in lower case"),
        _ => {}
    }
    if is_invisible(c) {
        return Err("the id holds an invisible character; remove it");
    }
    match get_general_category(c) {
        LowercaseLetter | OtherLetter | ModifierLetter | DecimalNumber => Ok(Part::Letter),
        NonspacingMark | SpacingMark => Ok(Part::Mark),
        UppercaseLetter | TitlecaseLetter => Err("the id holds a capital letter; write it in lower case"),
        _ => Err("the id holds a character that is no letter, digit, '.', '_' or '-'"),
    }
}

/// An id segment made from a written name: NFKC, case fold, every run of other characters to `-`, trimmed; a `.` or
/// `_` between two letters or digits stays. Cut at 128 bytes.
///
/// The result passes [`check_id`], or is empty where the name has no letter and no digit. Linear in the name.
///
/// ```
/// use repertoire::model::slug;
///
/// assert_eq!(slug("Open Wi-Fi Settings!"), "open-wi-fi-settings");
/// assert_eq!(slug("..."), "");
/// ```
#[must_use]
pub fn slug(name: &str) -> String {
    let mut folded: String = fold(name);
    // Folding maps a few scripts to their capitals (Cherokee) and can denormalise; two rounds settle every letter.
    for _ in 0..4 {
        let again = fold(&folded);
        if again == folded {
            break;
        }
        folded = again;
    }
    let joined = join(&folded);
    // Dropping what stood between a letter and a mark can let them compose: the grammar wants NFC of the result.
    let mut id = nfc(&joined).into_owned();
    if id.len() > ID_BYTES_MAX {
        id.truncate(id.floor_char_boundary(ID_BYTES_MAX));
        let kept = id.trim_end_matches(['.', '_', '-']).len();
        id.truncate(kept);
    }
    if check_id(&id).is_ok() { id } else { String::new() }
}

/// Compatibility form in lower case without invisible characters.
fn fold(text: &str) -> String {
    let visible = text.chars().filter(|&c| !is_invisible(c));
    visible
        .nfkc()
        .default_case_fold()
        .flat_map(char::to_lowercase)
        .nfkc()
        .filter(|&c| !is_invisible(c))
        .collect()
}

/// Letters and digits with one joint for every run of anything else.
fn join(folded: &str) -> String {
    let mut out = String::with_capacity(folded.len());
    let mut gap = String::new();
    for c in folded.chars() {
        match classify(c) {
            Ok(Part::Letter) => {
                if !gap.is_empty() && !out.is_empty() {
                    out.push_str(if gap == "." || gap == "_" { &gap } else { "-" });
                }
                gap.clear();
                out.push(c);
            }
            Ok(Part::Mark) if gap.is_empty() && !out.is_empty() => out.push(c),
            Ok(Part::Joint) if gap.is_empty() => gap.push(c),
            _ => {
                gap.clear();
                gap.push('-');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_of_the_grammar_are_accepted() {
        let long = "a".repeat(ID_BYTES_MAX);
        let ids = [
            "wifi",
            "a",
            "7",
            "android/wifi-settings",
            "a.b_c-d",
            "a--b",
            "\u{5FAE}\u{4FE1}-\u{53D1}\u{6D88}\u{606F}",
            "caf\u{E9}",
            "\u{939}\u{93F}\u{928}\u{94D}\u{926}\u{940}",
            long.as_str(),
        ];
        for id in ids {
            assert_eq!(check_id(id), Ok(()), "{id}");
        }
    }

    #[test]
    fn ids_outside_the_grammar_are_refused_with_a_reason() {
        let long = "a".repeat(ID_BYTES_MAX + 1);
        let cases = [
            ("", "empty"),
            (long.as_str(), "128 bytes"),
            ("A", "capital"),
            ("\u{41D}", "capital"),
            ("a b", "no letter"),
            ("/a", "empty segment"),
            ("a/", "empty segment"),
            ("a//b", "empty segment"),
            ("..", ".."),
            ("a/../b", ".."),
            (".", "no letter or digit"),
            ("-a", "begins or ends"),
            ("a-", "begins or ends"),
            ("a/.b", "begins or ends"),
            ("a\u{200B}b", "invisible"),
            ("a\u{FE0F}", "invisible"),
            ("cafe\u{301}", "normal form"),
            ("-\u{301}", "combining mark"),
            ("a\0", "no letter"),
            ("a\u{1F600}", "no letter"),
        ];
        for (id, part) in cases {
            let problem = check_id(id).unwrap_err();
            assert_eq!(problem.code, "invalid_id");
            assert!(problem.message.contains(part), "{id:?}: {}", problem.message);
        }
    }

    #[test]
    fn written_names_become_ids() {
        let cases = [
            ("Send A Text", "send-a-text"),
            ("acme:send-text", "acme-send-text"),
            ("WiFi", "wifi"),
            ("my_skill v1.2", "my_skill-v1.2"),
            ("a - b", "a-b"),
            ("a._b", "a-b"),
            (".hidden.", "hidden"),
            ("a/b", "a-b"),
            (
                "\u{5FAE}\u{4FE1} \u{53D1}\u{6D88}\u{606F}\u{FF01}",
                "\u{5FAE}\u{4FE1}-\u{53D1}\u{6D88}\u{606F}",
            ),
            ("\u{2460}", "1"),
            ("", ""),
            ("\u{1F600}", ""),
            ("\u{301}", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(slug(name), expected, "{name:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut_at_a_character() {
        let id = slug(&"\u{5FAE}".repeat(200));
        assert_eq!(id.len(), 126);
        assert_eq!(check_id(&id), Ok(()));
    }

    #[test]
    fn every_single_letter_has_a_valid_slug_or_none() {
        for c in (0..=0x10_FFFF_u32).filter_map(char::from_u32) {
            let id = slug(&c.to_string());
            assert!(id.is_empty() || check_id(&id).is_ok(), "U+{:04X}", u32::from(c));
            assert!(c.is_alphanumeric() || id.is_empty() || !c.is_ascii(), "U+{:04X}", u32::from(c));
            assert!(!c.is_ascii_alphanumeric() || !id.is_empty(), "U+{:04X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn a_slug_is_a_valid_id_or_empty(name in any::<String>()) {
            let id = slug(&name);
            prop_assert!(id.is_empty() || check_id(&id).is_ok(), "{id:?}");
            prop_assert_eq!(slug(&id), id);
        }

        #[test]
        fn a_name_with_a_letter_has_a_slug(name in "[^a-z]{0,20}[a-z][^a-z]{0,20}") {
            prop_assert!(!slug(&name).is_empty(), "{name:?}");
        }
    }
}
