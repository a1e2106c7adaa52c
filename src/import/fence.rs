//! Where the front matter begins and ends: a splitter by lines, since `---` may stand anywhere inside a value.

use crate::error::Problem;
use crate::import::text::{Position, saturate};

/// A file cut at its fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    /// Text between the fences.
    pub(crate) front: &'a str,
    /// Line of the first line of `front`, from 1.
    pub(crate) front_line: u32,
    /// Blank lines stood before the opening fence.
    pub(crate) blank_before: bool,
    /// Text below the closing fence, without leading blank lines.
    pub(crate) body: &'a str,
}

/// What a file without a usable pair of fences is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cut<'a> {
    /// It has front matter.
    Front(Split<'a>),
    /// Its first text is no fence.
    NoFence,
}

/// Cuts a text at its first `---` line and at the next one.
///
/// Fails with `unclosed_front_matter` where the first fence has no partner. Cost: one pass over the lines.
pub(crate) fn split(text: &str) -> Result<Cut<'_>, Problem> {
    let mut lines = Lines { text, at: 0, number: 0 };
    let opening = loop {
        match lines.next() {
            Some(line) if line.text.trim().is_empty() => {}
            Some(line) if is_fence(line.text) => break line,
            _ => return Ok(Cut::NoFence),
        }
    };
    let front_start = lines.at;
    while let Some(line) = lines.next() {
        if is_fence(line.text) {
            return Ok(Cut::Front(Split {
                front: &text[front_start..line.start],
                front_line: opening.number + 1,
                blank_before: opening.number > 1,
                body: text[lines.at..].trim_start_matches('\n'),
            }));
        }
    }
    let message = "the front matter is never closed; put a line `---` below it";
    Err(Problem::new("unclosed_front_matter", "", message).at(opening.number, 1))
}

/// The line of the first fence anywhere, for a hint.
pub(crate) fn fence_line(text: &str) -> Option<u32> {
    Lines { text, at: 0, number: 0 }.find(|line| is_fence(line.text)).map(|line| line.number)
}

/// Whether the whole text is the target of a symbolic link that a checkout wrote as a file.
pub(crate) fn is_symlink_placeholder(text: &str) -> bool {
    let path = text.trim();
    let relative =
        path.starts_with("../") || path.starts_with("./") || !path.starts_with(['#', '/', '<', '-']);
    let path_like = path.starts_with("../") || path.starts_with("./") || path.contains('/');
    let one_word = path.len() <= 1_024 && !path.contains(|c: char| c == '\n' || c.is_control() || c == ' ');
    one_word && relative && (path_like || path == "SKILL.md") && !path.contains("://")
}

/// The error for a file that must have front matter and has none.
pub(crate) fn missing(text: &str) -> Problem {
    if is_symlink_placeholder(text) {
        let message = "the file holds only the path of another file: a symbolic link that was checked out as text; \
                       check it out with symbolic links, or copy the target here";
        return Position::START.mark(Problem::new("symlink_placeholder", "", message).got(text.trim()));
    }
    let hint = fence_line(text).map_or_else(String::new, |line| {
        format!("; a fence was found at line {line}: nothing but blank lines may stand before it")
    });
    let message =
        format!("the file has no front matter; begin it with `---`, `name:`, `description:`, `---`{hint}");
    Position::START.mark(Problem::new("missing_front_matter", "", message))
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// A line without its end.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    start: usize,
    number: u32,
}

/// Lines with their numbers and places.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let length = rest.find('\n').unwrap_or(rest.len());
        self.at = (start + length + 1).min(self.text.len());
        self.number += 1;
        Some(Line { text: &rest[..length], start, number: saturate(self.number) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(text: &str) -> Split<'_> {
        match split(text) {
            Ok(Cut::Front(split)) => split,
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn only_a_whole_line_of_three_dashes_is_a_fence() {
        let split = front("---\na: x --- y\n ---\n----\n--- \n\n\nbody\n---\nmore");
        assert_eq!(split.front, "a: x --- y\n ---\n----\n");
        assert_eq!(split.body, "body\n---\nmore");
    }

    #[test]
    fn blank_lines_before_the_fence_are_counted_and_told() {
        let split = front("\n \n---\na: b\n---");
        assert_eq!((split.front_line, split.blank_before, split.body), (4, true, ""));
    }

    #[test]
    fn an_empty_front_matter_is_one() {
        assert_eq!(front("---\n---\nx").front, "");
    }

    #[test]
    fn a_fence_without_partner_is_an_error_at_the_fence() {
        let problem = split("\n---\nname: x\n").expect_err("unclosed");
        assert_eq!((problem.code.as_str(), problem.line), ("unclosed_front_matter", Some(2)));
        assert_eq!(split("# Title\n---\n---\n").expect("cut"), Cut::NoFence);
    }

    #[test]
    fn a_path_alone_is_a_symlink_and_prose_is_not() {
        for (text, expected) in [
            ("../shared/wifi/SKILL.md", true),
            ("shared/SKILL.md\n", true),
            ("SKILL.md", true),
            ("# Title", false),
            ("see a/b for more", false),
            ("https://example.org/a", false),
            ("a\nb/c", false),
        ] {
            assert_eq!(is_symlink_placeholder(text), expected, "{text}");
        }
    }
}
