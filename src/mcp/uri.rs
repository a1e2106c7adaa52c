//! `skill://` URIs: the id of a skill and a path below it, percent-encoded where a URI needs it.

use std::fmt::Write as _;

use crate::limits::MCP_URI_BYTES_MAX;

/// What every URI begins with.
pub(super) const SCHEME: &str = "skill://";
/// The file that every skill has.
pub(super) const SKILL_MD: &str = "SKILL.md";

/// The URI of a file of a skill.
pub(super) fn file(id: &str, path: &str) -> String {
    format!("{SCHEME}{}/{}", encode(id), encode(path))
}

/// The decoded path of a URI; `None` for another scheme, a query, a fragment, dots that walk, or what is no UTF-8.
/// Only the spelling that [`file()`] writes is taken, so that a file has one URI.
pub(super) fn path(uri: &str) -> Option<String> {
    if uri.len() > MCP_URI_BYTES_MAX {
        return None;
    }
    let encoded = uri.strip_prefix(SCHEME)?;
    let decoded = decode(encoded)?;
    let walks = decoded.split('/').any(|segment| segment.is_empty() || segment == "." || segment == "..");
    (!walks && encode(&decoded) == encoded).then_some(decoded)
}

/// The ways to cut a path into an id and what is below it, longest id first.
pub(super) fn cuts(path: &str) -> impl Iterator<Item = (&str, &str)> {
    path.rmatch_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]))
}

/// Everything but unreserved characters and `/` as `%XX`.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing into a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_a_skill_and_a_file_in_one_spelling() {
        for (id, below, uri) in [
            ("android/wifi", SKILL_MD, "skill://android/wifi/SKILL.md"),
            ("\u{e9}/x", "a b.md", "skill://%C3%A9/x/a%20b.md"),
        ] {
            assert_eq!(file(id, below), uri);
            assert_eq!(path(uri), Some(format!("{id}/{below}")));
        }
        for wrong in [
            "https://android/wifi",
            "skill://a/../b",
            "skill://a//b",
            "skill:///a",
            "skill://a/",
            "skill://",
            "skill://a?b",
            "skill://a#b",
            "skill://%61/b",
            "skill://%c3%a9",
            "skill://%",
            "skill://%2",
            "skill://%ff",
            "skill://%2e%2e/x",
            "skill://a%00b\u{0}",
        ] {
            assert_eq!(path(wrong), None, "{wrong}");
        }
        assert_eq!(path(&format!("skill://{}", "a".repeat(MCP_URI_BYTES_MAX))), None);
    }

    #[test]
    fn a_path_is_cut_at_every_slash_from_its_end() {
        assert_eq!(cuts("a/b/c").collect::<Vec<_>>(), [("a/b", "c"), ("a", "b/c")]);
        assert_eq!(cuts("a").count(), 0);
    }
}
