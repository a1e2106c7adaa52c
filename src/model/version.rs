//! Comparison of version texts.

use std::cmp::Ordering;

use semver::Version;

/// Compares two version texts: by `SemVer` precedence where both sides parse, otherwise only for equality.
///
/// `None` means that the texts differ and cannot be ordered. Linear in the texts.
///
/// ```
/// use repertoire::model::compare_versions;
/// use std::cmp::Ordering;
///
/// assert_eq!(compare_versions("1.10.0", "1.9.0"), Some(Ordering::Greater));
/// assert_eq!(compare_versions("spring", "spring"), Some(Ordering::Equal));
/// assert_eq!(compare_versions("spring", "autumn"), None);
/// ```
#[must_use]
pub fn compare_versions(left: &str, right: &str) -> Option<Ordering> {
    if left == right {
        return Some(Ordering::Equal);
    }
    let (left, right) = (Version::parse(left).ok()?, Version::parse(right).ok()?);
    Some(left.cmp_precedence(&right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_only_where_both_are_semver() {
        let cases = [
            ("1.0.0", "1.0.1", Some(Ordering::Less)),
            ("1.0.0-rc.1", "1.0.0", Some(Ordering::Less)),
            ("1.0.0+one", "1.0.0+two", Some(Ordering::Equal)),
            ("1.10", "1.9", None),
            ("0", "0", Some(Ordering::Equal)),
            ("0", "1.0.0", None),
            ("", "", Some(Ordering::Equal)),
        ];
        for (left, right, expected) in cases {
            assert_eq!(compare_versions(left, right), expected, "{left} against {right}");
        }
    }
}
