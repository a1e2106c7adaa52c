//! From the bytes of a file to text that can be read: encoding, byte order mark, line ends, positions.

use std::borrow::Cow;

use crate::error::Problem;
use crate::limits::SKILL_FILE_BYTES_MAX;
use crate::model::place;

/// Text of a file with one kind of line end and no byte order mark.
#[derive(Clone, Debug)]
pub(crate) struct Prepared<'a> {
    /// The text; every line ends with `\n`, the last one possibly without.
    pub(crate) text: Cow<'a, str>,
    /// Whether a byte order mark was dropped.
    pub(crate) bom: bool,
}

/// A place in a file: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
}

impl Position {
    /// The first character of a file.
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The place of a byte offset in a text whose lines end with `\n`.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let (line, column) = place(text, offset);
        Self { line, column }
    }

    /// The place of something whose place in a part of a file is `inner`, where the part begins here.
    pub(crate) fn and(self, inner: Self) -> Self {
        let column =
            if inner.line == 1 { self.column.saturating_add(inner.column) - 1 } else { inner.column };
        Self { line: self.line.saturating_add(inner.line).saturating_sub(1), column }
    }

    /// The place of a problem that has one.
    pub(crate) fn marked(problem: &Problem) -> Option<Self> {
        Some(Self { line: problem.line?, column: problem.column? })
    }

    /// Puts the place on a problem.
    pub(crate) fn mark(self, problem: Problem) -> Problem {
        problem.at(self.line, self.column)
    }
}

/// A count as the problem type holds it.
pub(crate) fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Checks the encoding of a one-skill file and unifies its line ends.
///
/// Fails with `too_large`, `empty_file`, `not_utf8` or `control_character` (a NUL). Cost: two passes over the bytes,
/// and a copy only where a carriage return is found.
pub(crate) fn prepare(bytes: &[u8]) -> Result<Prepared<'_>, Problem> {
    check_size(bytes.len() as u64)?;
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
    let (text, bom) = text.strip_prefix('\u{FEFF}').map_or((text, false), |rest| (rest, true));
    if text.trim().is_empty() {
        return Err(
            Problem::new("empty_file", "", "the file is empty; write the skill, or delete the file").at(1, 1)
        );
    }
    let text = unify_line_ends(text);
    if let Some(at) = text.bytes().position(|b| b == 0) {
        let problem =
            Problem::new("control_character", "", "the file holds a NUL byte; save it as plain text");
        return Err(Position::of(&text, at).mark(problem));
    }
    Ok(Prepared { text, bom })
}

/// Refuses a one-skill file beyond the limit; intake asks before it reads.
pub(crate) fn check_size(bytes: u64) -> Result<(), Problem> {
    if bytes <= SKILL_FILE_BYTES_MAX {
        return Ok(());
    }
    let message = "the file is too large for one skill; move long material into files under references/";
    Err(Problem::new("too_large", "", message)
        .got(format_args!("{bytes} bytes"))
        .allowed(format!("at most {SKILL_FILE_BYTES_MAX} bytes")))
}

/// CRLF and CR become LF.
fn unify_line_ends(text: &str) -> Cow<'_, str> {
    if !text.as_bytes().contains(&b'\r') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn not_utf8(bytes: &[u8], offset: usize) -> Problem {
    let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let hint = if utf16 { "it looks like UTF-16; " } else { "" };
    let message = format!("byte {offset} is not UTF-8; {hint}save the file as UTF-8");
    let good = std::str::from_utf8(&bytes[..offset]).unwrap_or_default();
    let good = unify_line_ends(good.strip_prefix('\u{FEFF}').unwrap_or(good));
    Position::of(&good, good.len()).mark(Problem::new("not_utf8", "", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_encoding_has_its_code_and_place() {
        let cases: [(&[u8], &str, u32, u32); 5] = [
            (b"", "empty_file", 1, 1),
            (b"\xEF\xBB\xBF \n", "empty_file", 1, 1),
            (b"a\r\nb\xE9", "not_utf8", 2, 2),
            ("\u{e9}\r\u{e9}\0".as_bytes(), "control_character", 2, 2),
            (b"\xFF\xFEa\0", "not_utf8", 1, 1),
        ];
        for (bytes, code, line, column) in cases {
            let problem = prepare(bytes).expect_err(code);
            assert_eq!(
                (problem.code.as_str(), problem.line, problem.column),
                (code, Some(line), Some(column))
            );
        }
    }

    #[test]
    fn one_byte_order_mark_is_dropped_and_line_ends_become_one_kind() {
        let prepared = prepare("\u{FEFF}a\r\nb\rc\n".as_bytes()).expect("text");
        assert!(prepared.bom);
        assert_eq!(prepared.text, "a\nb\nc\n");
    }

    #[test]
    fn a_file_at_the_limit_is_read_and_one_byte_more_is_refused() {
        assert!(check_size(SKILL_FILE_BYTES_MAX).is_ok());
        assert_eq!(check_size(SKILL_FILE_BYTES_MAX + 1).expect_err("limit").code, "too_large");
    }
}
