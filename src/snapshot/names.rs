//! Names of the files in a data directory; what has no name from here is never opened, changed or deleted.

use crate::limits::FILE_PREFIX_BYTES_MAX;

/// The one commit point.
pub(crate) const CURRENT: &str = "CURRENT";
/// The manifest before it.
pub(crate) const PREVIOUS: &str = "PREVIOUS";
/// The page that every process of the directory looks at.
pub(crate) const EPOCH: &str = "epoch";
/// The revocation ring.
pub(crate) const RING: &str = "revocations";
/// The lock of one commit.
pub(crate) const LOCK: &str = "LOCK";
/// Elects the process that polls the platform; holds what it noted.
pub(crate) const SYNC: &str = "SYNC";
/// A manifest that is being written.
pub(crate) const CURRENT_TMP: &str = "CURRENT.tmp";
/// A second name of the old manifest on its way to [`PREVIOUS`].
pub(crate) const PREVIOUS_TMP: &str = "PREVIOUS.tmp";
/// Hexadecimal digits of a content hash in a name (160 bits of SHA-256).
pub(crate) const HASH_DIGITS: usize = 40;

/// What a name says about its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// `{prefix}-{hash}.seg`.
    Segment,
    /// `source-{hash}.jsonl`.
    Source,
    /// `*.tmp`: being written.
    Temporary,
    /// `*.bad`: set aside because it was damaged.
    Quarantined,
    /// One of the fixed names.
    Fixed,
    /// Not ours.
    Foreign,
}

/// Classifies a file name.
pub(crate) fn classify(name: &str) -> NameKind {
    if matches!(name, CURRENT | PREVIOUS | EPOCH | RING | LOCK | SYNC) {
        return NameKind::Fixed;
    }
    if let Some(rest) = name.strip_suffix(".tmp") {
        let base = rest.split_once('.').map_or(rest, |(base, _)| base);
        let ours = matches!(base, CURRENT | PREVIOUS | EPOCH | RING) || is_hashed(base);
        return if ours { NameKind::Temporary } else { NameKind::Foreign };
    }
    if let Some(rest) = name.strip_suffix(".bad") {
        let base = rest.split_once('.').map_or(rest, |(base, _)| base);
        let ours = matches!(base, CURRENT | PREVIOUS | EPOCH | RING) || is_hashed(base);
        return if ours { NameKind::Quarantined } else { NameKind::Foreign };
    }
    match name.rsplit_once('.') {
        Some((stem, "seg")) if is_hashed(stem) => NameKind::Segment,
        Some((stem, "jsonl")) if is_hashed(stem) && stem.starts_with("source-") => NameKind::Source,
        _ => NameKind::Foreign,
    }
}

/// Whether a text can stand before the hash: lower-case ASCII letters and inner `-`.
pub(crate) fn is_prefix(prefix: &str) -> bool {
    !prefix.is_empty()
        && prefix.len() <= FILE_PREFIX_BYTES_MAX
        && prefix
            .split('-')
            .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// `{prefix}-{hash}`.
fn is_hashed(stem: &str) -> bool {
    stem.rsplit_once('-').is_some_and(|(prefix, hash)| {
        is_prefix(prefix)
            && hash.len() == HASH_DIGITS
            && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// The first digits of a SHA-256, as they stand in a name.
pub(crate) fn hash_digits(sha256: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(HASH_DIGITS);
    for byte in sha256.iter().take(HASH_DIGITS / 2) {
        // Writing to a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_patterns_are_ours() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let table = [
            ("CURRENT".to_owned(), NameKind::Fixed),
            ("LOCK".to_owned(), NameKind::Fixed),
            ("SYNC".to_owned(), NameKind::Fixed),
            (format!("local-{hash}.seg"), NameKind::Segment),
            (format!("local-delta-{hash}.seg"), NameKind::Segment),
            (format!("source-{hash}.jsonl"), NameKind::Source),
            (format!("other-{hash}.jsonl"), NameKind::Foreign),
            (format!("local-{hash}.seg.12-3.tmp"), NameKind::Temporary),
            ("CURRENT.tmp".to_owned(), NameKind::Temporary),
            ("CURRENT.7.bad".to_owned(), NameKind::Quarantined),
            (format!("local-{hash}.seg.bad"), NameKind::Quarantined),
            ("notes.tmp".to_owned(), NameKind::Foreign),
            ("my.bad".to_owned(), NameKind::Foreign),
            (format!("local-{}.seg", &hash[1..]), NameKind::Foreign),
            (format!("local-{}.seg", hash.to_uppercase()), NameKind::Foreign),
            (format!("../local-{hash}.seg"), NameKind::Foreign),
            (format!("Local-{hash}.seg"), NameKind::Foreign),
            (format!("-{hash}.seg"), NameKind::Foreign),
            (String::new(), NameKind::Foreign),
        ];
        for (name, kind) in table {
            assert_eq!(classify(&name), kind, "{name}");
        }
    }
}
