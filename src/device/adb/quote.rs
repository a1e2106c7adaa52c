//! The one place where a text becomes part of a command line.

use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError};

/// A text as one word of a POSIX shell, whatever characters are in it: in single quotes nothing is special but the
/// single quote itself.
///
/// ```
/// use repertoire::device::adb::quote;
///
/// assert_eq!(quote("$(reboot); it's"), r"'$(reboot); it'\''s'");
/// ```
#[must_use]
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A command line of words, each quoted.
pub(super) fn line(words: &[&str]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// Refuses what no command line can carry: a NUL ends an argument on every system.
pub(super) fn carries(text: &str) -> DeviceResult<()> {
    if text.contains('\0') {
        return Err(DeviceError::new(
            DeviceCode::NotSupported,
            "an argument holds a NUL character, which no command can take",
            "leave it out",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_in_single_quotes() {
        assert_eq!(line(&["am", "start", "-d", "a&b"]), "'am' 'start' '-d' 'a&b'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("'"), r"''\'''");
    }

    #[test]
    fn a_nul_is_refused() {
        assert_eq!(carries("a\0b").unwrap_err().code, DeviceCode::NotSupported);
        assert_eq!(carries("a\nb"), Ok(()));
    }
}
