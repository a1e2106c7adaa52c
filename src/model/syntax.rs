//! Small grammars of single fields: language tags, times, package names, resource paths.

use crate::model::is_invisible;

/// True for a well-formed BCP 47 language tag (RFC 5646 syntax; the registry is not consulted).
pub(super) fn is_language_tag(tag: &str) -> bool {
    let mut parts = tag.split('-').peekable();
    if tag.len() > 64 || !tag.is_ascii() {
        return false;
    }
    let alpha = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let alphanumeric = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let Some(language) = parts.next() else { return false };
    if language.eq_ignore_ascii_case("x") {
        return private_use(parts);
    }
    if !(2..=8).contains(&language.len()) || !alpha(language) {
        return false;
    }
    if language.len() <= 3 {
        for _ in 0..3 {
            if parts.next_if(|part| part.len() == 3 && alpha(part)).is_none() {
                break;
            }
        }
    }
    parts.next_if(|part| part.len() == 4 && alpha(part));
    let region = |part: &&str| {
        (part.len() == 2 && alpha(part))
            || (part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    parts.next_if(region);
    let variant = |part: &&str| {
        alphanumeric(part)
            && ((5..=8).contains(&part.len())
                || (part.len() == 4 && part.as_bytes().first().is_some_and(u8::is_ascii_digit)))
    };
    while parts.next_if(variant).is_some() {}
    while let Some(singleton) = parts.next_if(|part| part.len() == 1 && alphanumeric(part)) {
        if singleton.eq_ignore_ascii_case("x") {
            return private_use(parts);
        }
        let mut values = 0;
        while parts.next_if(|part| (2..=8).contains(&part.len()) && alphanumeric(part)).is_some() {
            values += 1;
        }
        if values == 0 {
            return false;
        }
    }
    parts.next().is_none()
}

/// The rest of a tag after `x`: one to eight letters or digits a part, at least one part.
fn private_use<'t>(parts: impl Iterator<Item = &'t str>) -> bool {
    let mut some = false;
    for part in parts {
        some = true;
        if !(1..=8).contains(&part.len()) || !part.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return false;
        }
    }
    some
}

/// True for an RFC 3339 date-time with a day that exists; a leap second is accepted.
pub(super) fn is_rfc3339(time: &str) -> bool {
    let bytes = time.as_bytes();
    let number = |from: usize, to: usize| -> Option<u32> {
        let digits = bytes.get(from..to)?;
        digits
            .iter()
            .try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u32::from(byte - b'0')))
    };
    let mark = |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|byte| wanted.contains(byte));
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (number(11, 13), number(14, 16), number(17, 19)) else {
        return false;
    };
    let marks = mark(4, b"-") && mark(7, b"-") && mark(10, b"Tt ") && mark(13, b":") && mark(16, b":");
    if !marks || !(1..=days_in(year, month)).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return false;
    }
    let mut at = 19;
    if mark(at, b".") {
        at += 1;
        let digits = bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 9 {
            return false;
        }
        at += digits;
    }
    if mark(at, b"Zz") {
        return bytes.len() == at + 1;
    }
    let offset = (number(at + 1, at + 3), number(at + 4, at + 6));
    mark(at, b"+-")
        && mark(at + 3, b":")
        && matches!(offset, (Some(0..=23), Some(0..=59)))
        && bytes.len() == at + 6
}

/// Days of a month; 0 for a month that does not exist.
fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

/// True for an Android package name: segments of letters, digits and `_` that begin with a letter, joined by `.`.
pub(super) fn is_package(name: &str) -> bool {
    name.len() <= 255
        && name.split('.').all(|segment| {
            segment.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
}

/// True for a path that stays below the skill's folder, in the one written form that the catalog keeps.
pub(super) fn is_resource_path(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 1_024
        && !path.contains('\\')
        && !path.chars().any(|c| c.is_control() || is_invisible(c))
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// True for `[A-Za-z_][A-Za-z0-9_]{0,63}`, the name of a parameter.
pub(super) fn is_parameter_name(name: &str) -> bool {
    let first = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    name.len() <= crate::limits::PARAMETER_NAME_CHARS_MAX
        && name.as_bytes().first().is_some_and(first)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One check of a grammar: what it takes and what it refuses.
    fn check(grammar: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(grammar(text), "{text:?} is good");
        }
        for text in bad {
            assert!(!grammar(text), "{text:?} is bad");
        }
    }

    #[test]
    fn language_tags_follow_rfc_5646() {
        check(
            is_language_tag,
            &[
                "en",
                "zh-Hans-CN",
                "zh-cmn",
                "de-1996",
                "sl-rozaj-biske",
                "es-419",
                "en-u-ca-buddhist",
                "x-a-b",
                "en-x-a",
            ],
            &[
                "",
                "e",
                "en-",
                "-en",
                "en_US",
                "en--US",
                "en-u",
                "x",
                "123",
                "zh-Hans-CN-",
                "\u{4E2D}\u{6587}",
                "en-x",
            ],
        );
    }

    #[test]
    fn times_are_rfc_3339_with_days_that_exist() {
        check(
            is_rfc3339,
            &[
                "2026-02-28T23:59:60Z",
                "2024-02-29t00:00:00z",
                "2026-01-01T00:00:00.123+08:00",
                "2026-01-01 00:00:00Z",
            ],
            &[
                "",
                "2026-02-29T00:00:00Z",
                "2026-13-01T00:00:00Z",
                "2026-01-01",
                "2026-01-01T24:00:00Z",
                "2026-01-01T00:00:00",
                "2026-01-01T00:00:00.Z",
                "2026-01-01T00:00:00+0800",
                "2026-01-01T00:00:00Zx",
                "2026-00-10T00:00:00Z",
            ],
        );
    }

    #[test]
    fn package_names_are_androids() {
        check(
            is_package,
            &["android", "com.android.settings", "com.xingin.xhs", "a.B_1"],
            &["", ".", "com.", ".com", "1com", "com.1a", "com/android", "com.android settings"],
        );
    }

    #[test]
    fn resource_paths_stay_below_their_folder() {
        check(
            is_resource_path,
            &["a", "references/table.md", "a b/c.png", ".hidden"],
            &["", "/etc/passwd", "../a", "a/../b", "a//b", "a/", "./a", "a\\b", "a\0", "a\u{202E}b"],
        );
    }

    #[test]
    fn parameter_names_are_identifiers() {
        let long = "a".repeat(65);
        check(is_parameter_name, &["a", "_", "query_2", "A9"], &["", "9a", "a-b", "a b", "\u{E9}", &long]);
    }
}
