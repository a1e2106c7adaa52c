//! The line of a file around the place of a problem, for those who show it.

use crate::import::text::{Position, saturate};
use crate::limits::{EXCERPT_CHARS_MAX, EXCERPTS_MAX};

/// A line of a file, or the part of it around one place where it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// Line in the file, from 1.
    pub line: u32,
    /// Column of the place in characters, from 1.
    pub column: u32,
    /// Column of the first character of `text`; above 1 if the line's beginning was cut off.
    pub first_column: u32,
    /// The text as it was written, without a line end.
    pub text: String,
    /// Whether the line goes on after `text`.
    pub goes_on: bool,
}

impl Excerpt {
    /// The line around a byte of a text that has this place in its file. Cost: what is shown.
    pub(crate) fn cut(text: &str, offset: usize, place: Position) -> Self {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let (before, after) = text.split_at(offset);
        let ends = |c: &char| matches!(c, '\n' | '\r');
        let head: Vec<char> =
            before.chars().rev().take_while(|c| !ends(c)).take(EXCERPT_CHARS_MAX / 2).collect();
        let room = EXCERPT_CHARS_MAX - head.len();
        let tail: String = after.chars().take_while(|c| !ends(c)).take(room).collect();
        let goes_on = after[tail.len()..].chars().next().is_some_and(|c| !ends(&c));
        let first_column = place.column.saturating_sub(saturate(head.len())).max(1);
        let text = head.into_iter().rev().chain(tail.chars()).collect();
        Self { line: place.line, column: place.column, first_column, text, goes_on }
    }

    /// The lines around places of a whole file; of as many as are shown.
    pub(crate) fn of(text: &str, places: impl Iterator<Item = Position>) -> Vec<Self> {
        let mut places: Vec<Position> = places.take(EXCERPTS_MAX).collect();
        places.sort_by_key(|place| (place.line, place.column));
        places.dedup();
        let mut excerpts = Vec::with_capacity(places.len());
        let mut lines = text.split_inclusive('\n');
        let (mut number, mut start) = (0_u32, 0_usize);
        let mut line = "";
        for place in places {
            while number < place.line {
                start += line.len();
                let Some(next) = lines.next() else { return excerpts };
                line = next;
                number += 1;
            }
            let column = place.column.saturating_sub(1) as usize;
            let within = line.char_indices().nth(column).map_or(line.trim_end().len(), |(at, _)| at);
            excerpts.push(Self::cut(text, start + within, place));
        }
        excerpts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    #[test]
    fn a_short_line_is_whole_and_a_long_one_is_cut_around_the_place() {
        let excerpt = Excerpt::cut("a\nb\u{e9}cd\r\ne", 5, position(2, 3));
        assert_eq!((excerpt.text.as_str(), excerpt.first_column, excerpt.goes_on), ("b\u{e9}cd", 1, false));
        let long = format!("{}X{}", "\u{4e2d}".repeat(500), "b".repeat(500));
        let excerpt = Excerpt::cut(&long, 1_500, position(1, 501));
        assert_eq!(excerpt.text.chars().count(), EXCERPT_CHARS_MAX);
        assert_eq!(excerpt.text.chars().nth((501 - excerpt.first_column) as usize), Some('X'));
        assert!(excerpt.goes_on);
    }

    #[test]
    fn places_of_a_file_are_found_in_any_order_and_those_beyond_it_are_left_out() {
        let text = "one\ntwo\n\nfour";
        let places =
            [position(4, 2), position(1, 1), position(3, 1), position(1, 1), position(2, 99), position(9, 1)];
        let found: Vec<_> = Excerpt::of(text, places.into_iter())
            .into_iter()
            .map(|excerpt| (excerpt.line, excerpt.column, excerpt.text))
            .collect();
        let line = |line, column, text: &str| (line, column, text.to_owned());
        assert_eq!(found, [line(1, 1, "one"), line(2, 99, "two"), line(3, 1, ""), line(4, 2, "four")]);
    }
}
