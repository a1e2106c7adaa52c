//! A problem of a file in the manner of a compiler: the message with its code, `file:line:column`, and the line with
//! carets below the place.
//!
//! What comes from files is escaped before it is laid out, so that columns and carets count what is shown.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Effects, Style};
use repertoire::Problem;
use repertoire::import::Excerpt;
use repertoire::lint;

use super::escape;

/// Columns where nobody's terminal is known.
const WIDTH_DEFAULT: usize = 140;

/// What a cut line shows at its ends.
const CUT: &str = "...";

/// The arrow before a place, as the layout paints what stands beside lines.
const ARROW: Style = AnsiColor::BrightBlue.on_default().effects(Effects::BOLD);

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// It is refused.
    Error,
    /// It is taken.
    Warning,
    /// It is taken and cannot be used.
    Unavailable,
    /// It is taken, and could be better.
    Note,
}

impl Severity {
    fn level(self) -> Level<'static> {
        match self {
            Self::Error => Level::ERROR,
            Self::Warning => Level::WARNING,
            Self::Unavailable => Level::WARNING.with_name("unavailable"),
            Self::Note => Level::NOTE,
        }
    }
}

/// Lays a problem out, with a line end behind it; `excerpts` may hold the line that its place is in.
pub(crate) fn render(
    severity: Severity,
    path: &str,
    problem: &Problem,
    excerpts: &[Excerpt],
    paint: bool,
    width: Option<usize>,
) -> String {
    let title = severity.level().primary_title(escape::line(&problem.to_string()).into_owned());
    let title = title.id(escape::line(&problem.code).into_owned());
    let excerpt = excerpts
        .iter()
        .find(|excerpt| (Some(excerpt.line), Some(excerpt.column)) == (problem.line, problem.column));
    let group = match excerpt {
        Some(excerpt) => title.element(snippet(excerpt)),
        None => Group::with_title(title),
    };
    let renderer = if paint { Renderer::styled() } else { Renderer::plain() };
    let text = renderer.term_width(width.unwrap_or(WIDTH_DEFAULT)).render(&[group]);
    let (title, lines) = text.split_once('\n').unwrap_or((&text, ""));
    let place = place(path, problem, paint);
    if lines.is_empty() { format!("{title}\n{place}\n") } else { format!("{title}\n{place}\n{lines}\n") }
}

/// The line that names the place. Written here, since the layout would count the column in the part of a line that is
/// shown, and after escapes.
fn place(path: &str, problem: &Problem, paint: bool) -> String {
    let mut place = escape::line(path).into_owned();
    for number in [problem.line, problem.column].into_iter().flatten() {
        place.push(':');
        place.push_str(&number.to_string());
    }
    let indent = problem.line.map_or(1, |line| line.max(1).ilog10() as usize + 1);
    let arrow = if paint { format!("{ARROW}-->{ARROW:#}") } else { "-->".to_owned() };
    format!("{:indent$}{arrow} {place}", "")
}

/// The line with its carets.
fn snippet(excerpt: &Excerpt) -> Snippet<'static, annotate_snippets::Annotation<'static>> {
    let at = excerpt.column.saturating_sub(excerpt.first_column) as usize;
    let start = excerpt.text.char_indices().nth(at).map_or(excerpt.text.len(), |(start, _)| start);
    let (before, rest) = excerpt.text.split_at(start);
    let (word, after) = rest.split_at(word_length(rest));
    let mut source = String::new();
    if excerpt.first_column > 1 {
        source.push_str(CUT);
    }
    source.push_str(&escape::block(before));
    let first = source.len();
    source.push_str(&escape::block(word));
    let last = source.len();
    source.push_str(&escape::block(after));
    if excerpt.goes_on {
        source.push_str(CUT);
    }
    Snippet::source(source)
        .line_start(excerpt.line as usize)
        .annotation(AnnotationKind::Primary.span(first..last))
}

/// Bytes of the string, word or character that a text begins with.
fn word_length(text: &str) -> usize {
    let first = text.chars().next();
    if first == Some('"') {
        let mut escaped = true; // the opening quote closes nothing
        for (index, character) in text.char_indices() {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => return index + 1,
                _ => {}
            }
        }
    }
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = text.find(|c| !word(c)).unwrap_or(text.len());
    length.max(first.map_or(0, char::len_utf8))
}

impl From<lint::Severity> for Severity {
    fn from(severity: lint::Severity) -> Self {
        match severity {
            lint::Severity::Error => Self::Error,
            lint::Severity::Warning => Self::Warning,
            lint::Severity::Note => Self::Note,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_cover_the_string_or_word_that_begins_there() {
        for (text, length) in [
            (r#""a\"b": 1"#, 6),
            ("\"never closed", 1),
            ("risk: low", 4),
            ("allowed-tools: x", 13),
            ("{\"a\"", 1),
            ("\u{4e2d}\u{6587} x", 6),
            ("", 0),
        ] {
            assert_eq!(word_length(text), length, "{text}");
        }
    }
}
