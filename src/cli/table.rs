//! Columns for people: as wide as their text on a terminal, the last one cut to what is left.

use unicode_width::UnicodeWidthStr as _;

use super::escape;
use super::page::{Page, Tone};

/// Spaces between columns.
const GAP: usize = 2;
/// A column narrower than this is not cut any more.
const NARROW: usize = 12;

/// Rows of equal length under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<(Tone, String)>>,
}

impl Table {
    /// A table with these column heads.
    pub(crate) fn new(heads: &[&'static str]) -> Self {
        Self { heads: heads.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [(Tone, &str); N]) {
        debug_assert_eq!(N, self.heads.len());
        self.rows
            .push(cells.into_iter().map(|(tone, text)| (tone, escape::line(text).into_owned())).collect());
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the table on a page; on a terminal of `width` columns no line is longer than that, while the first
    /// columns leave room.
    pub(crate) fn write(&self, page: &mut Page, width: Option<usize>) {
        let columns = self.columns();
        let heads: Vec<_> = self.heads.iter().map(|head| (Tone::Strong, (*head).to_owned())).collect();
        for row in std::iter::once(&heads).chain(&self.rows) {
            let mut used = 0;
            for (index, (tone, text)) in row.iter().enumerate() {
                let last = index + 1 == row.len();
                let shown = match width {
                    Some(width) if last => cut(text, width.saturating_sub(used).max(NARROW)),
                    _ => text.clone(),
                };
                page.put(*tone, &shown);
                if !last {
                    let pad = columns[index] + GAP - shown.width();
                    page.put(Tone::Plain, &" ".repeat(pad));
                    used += columns[index] + GAP;
                }
            }
            page.end();
        }
    }

    /// Width of each column.
    fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.heads.iter().map(|head| head.width()).collect();
        for row in &self.rows {
            for (column, (_, text)) in columns.iter_mut().zip(row) {
                *column = (*column).max(text.width());
            }
        }
        columns
    }
}

/// The beginning of a text that fits into a number of columns, with three dots where something is missing.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut end = text.len();
    for (at, _) in text.char_indices() {
        if text[..at].width() + 3 > columns {
            break;
        }
        end = at;
    }
    format!("{}...", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: Option<usize>) -> String {
        let mut table = Table::new(&["ID", "NAME"]);
        table.row([(Tone::Name, "wifi"), (Tone::Plain, "Turn the wireless network on")]);
        table.row([(Tone::Name, "\u{6253}\u{5f00}"), (Tone::Plain, "a\u{1b}")]);
        let mut page = Page::new(false, width);
        page.table(&table);
        page.text().to_owned()
    }

    #[test]
    fn columns_line_up_by_width_on_the_terminal() {
        assert_eq!(
            shown(None),
            "ID    NAME\nwifi  Turn the wireless network on\n\u{6253}\u{5f00}  a\\u{1b}\n"
        );
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        assert!(shown(Some(24)).contains("wifi  Turn the wirele...\n"), "{}", shown(Some(24)));
        assert_eq!(cut("\u{6253}\u{5f00}\u{6253}\u{5f00}", 7), "\u{6253}\u{5f00}...");
        assert_eq!(cut("abc", 3), "abc");
    }
}
