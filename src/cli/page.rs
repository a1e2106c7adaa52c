//! Text for people: lines, blocks and tables, escaped and painted.

use anstyle::{AnsiColor, Style};
use repertoire::Problem;
use repertoire::import::Excerpt;

use super::diagnostic::{self, Severity};
use super::escape;
use super::table::Table;

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Running text.
    Plain,
    /// A heading.
    Strong,
    /// Beside the point.
    Faint,
    /// An id or a key.
    Name,
    /// Good news.
    Good,
    /// Worth a second look.
    Careful,
    /// Bad news.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        let plain = Style::new();
        let coloured = |colour: AnsiColor| plain.fg_color(Some(colour.into()));
        match self {
            Self::Plain => plain,
            Self::Strong => plain.bold(),
            Self::Faint => plain.dimmed(),
            Self::Name => coloured(AnsiColor::Cyan),
            Self::Good => coloured(AnsiColor::Green),
            Self::Careful => coloured(AnsiColor::Yellow),
            Self::Bad => coloured(AnsiColor::Red).bold(),
        }
    }
}

/// A text that is being written. Everything put on it is escaped, so that skills cannot act on the terminal.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    paint: bool,
    width: Option<usize>,
}

impl Page {
    /// An empty page; `width` is that of the terminal, where there is one.
    pub(crate) fn new(paint: bool, width: Option<usize>) -> Self {
        Self { text: String::new(), paint, width }
    }

    /// What was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Adds a piece to the current line.
    pub(crate) fn put(&mut self, tone: Tone, piece: &str) -> &mut Self {
        let escaped = escape::line(piece);
        let style = tone.style();
        if self.paint && style != Style::new() && !escaped.is_empty() {
            self.text.push_str(&style.render().to_string());
            self.text.push_str(&escaped);
            self.text.push_str(&style.render_reset().to_string());
        } else {
            self.text.push_str(&escaped);
        }
        self
    }

    /// Ends the current line.
    pub(crate) fn end(&mut self) {
        self.text.push('\n');
    }

    /// Adds a whole line.
    pub(crate) fn line(&mut self, tone: Tone, text: &str) {
        self.put(tone, text).end();
    }

    /// Adds a `label: text` line; nothing if there is no text.
    pub(crate) fn field(&mut self, label: &str, text: &str) {
        if !text.is_empty() {
            self.put(Tone::Faint, label).put(Tone::Faint, ": ").line(Tone::Plain, text);
        }
    }

    /// Adds text of several lines; its line ends and tabs stay.
    pub(crate) fn block(&mut self, text: &str) {
        self.text.push_str(&escape::block(text));
        if !text.ends_with('\n') {
            self.end();
        }
    }

    /// Adds a problem of a file, with the line that it is in where `excerpts` has it.
    pub(crate) fn diagnostic(
        &mut self,
        severity: Severity,
        path: &str,
        problem: &Problem,
        excerpts: &[Excerpt],
    ) {
        let text = diagnostic::render(severity, path, problem, excerpts, self.paint, self.width);
        self.text.push_str(&text);
    }

    /// Adds a table, cut to the terminal's width.
    pub(crate) fn table(&mut self, table: &Table) {
        let width = self.width;
        table.write(self, width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_surrounds_escaped_text_only_when_wanted() {
        let mut plain = Page::new(false, None);
        plain.put(Tone::Bad, "a\u{1b}b").put(Tone::Plain, "c").end();
        assert_eq!(plain.text(), "a\\u{1b}bc\n");
        let mut painted = Page::new(true, None);
        painted.put(Tone::Name, "a\u{1b}b").put(Tone::Plain, "c").end();
        assert_eq!(painted.text(), "\u{1b}[36ma\\u{1b}b\u{1b}[0mc\n");
    }

    #[test]
    fn a_block_keeps_its_lines_and_a_field_has_one() {
        let mut page = Page::new(false, None);
        page.block("one\n\ttwo\u{7}");
        page.field("tags", "a\nb");
        page.field("none", "");
        assert_eq!(page.text(), "one\n\ttwo\\u{7}\ntags: a\\u{a}b\n");
    }
}
