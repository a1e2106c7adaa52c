//! The one repair pass: front matter that is almost YAML becomes YAML, each change told, no safety field touched.
//!
//! The text is cut at its top-level keys. An entry that does not parse alone is tried with spaces for tabs, then with
//! the failing lines below it quoted, then with its whole value as one quoted text. Lines are never moved, so that
//! later problems still name the right one.

use crate::error::Problem;
use crate::import::text::saturate;
use crate::import::tree::{Refusal, check_alone};

/// Fields whose meaning decides identity or permission: a guess is not good enough.
pub(crate) const SAFETY_FIELDS: [&str; 5] = ["id", "name", "risk", "allowed_tools", "allowed-tools"];

/// Front matter after the pass.
#[derive(Debug, PartialEq)]
pub(crate) struct Repaired {
    /// The new text, with the same number of lines.
    pub(crate) text: String,
    /// What was changed: the field, or `tabs`, and its line in the text from 1.
    pub(crate) changes: Vec<(String, u32)>,
    /// Top-level keys in order, as found line by line.
    pub(crate) keys: Vec<String>,
}

/// Repairs what can be repaired. Fails with the reason where a safety field would be touched.
///
/// Cost: each top-level entry is parsed at most four times.
pub(crate) fn repair(text: &str) -> Result<Repaired, Problem> {
    let lines: Vec<&str> = text.split('\n').collect();
    let base = lines.iter().find(|line| is_content(line)).map_or(0, |line| indent(line));
    let starts: Vec<usize> =
        (0..lines.len()).filter(|&at| top_level_key(lines[at], base).is_some()).collect();
    let mut out: Vec<String> = Vec::with_capacity(lines.len());
    let mut changes = Vec::new();
    let mut keys = Vec::with_capacity(starts.len());
    out.extend(lines.iter().take(starts.first().copied().unwrap_or(lines.len())).map(ToString::to_string));
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(lines.len());
        let key = top_level_key(lines[start], base).unwrap_or_default();
        let entry = Entry { key, lines: &lines[start..end], line: start + 1, base, whole: text };
        keys.push(key.to_owned());
        match entry.mend()? {
            Mended::Sound => out.extend(entry.lines.iter().map(ToString::to_string)),
            Mended::Changed(what, mended) => {
                changes.push((what, saturate(entry.line)));
                out.extend(mended);
            }
        }
    }
    Ok(Repaired { text: out.join("\n"), changes, keys })
}

/// One top-level key with the lines that belong to it.
struct Entry<'a> {
    key: &'a str,
    lines: &'a [&'a str],
    line: usize,
    base: usize,
    whole: &'a str,
}

enum Mended {
    Sound,
    Changed(String, Vec<String>),
}

impl Entry<'_> {
    fn mend(&self) -> Result<Mended, Problem> {
        let lines: Vec<String> = self.lines.iter().map(ToString::to_string).collect();
        match check_alone(&lines.join("\n"), self.whole) {
            Ok(()) => return Ok(Mended::Sound),
            Err(Refusal::Final(problem)) => return Err(shift(problem, self.line)),
            Err(Refusal::Invalid(problem)) => self.refuse_safety(&problem)?,
        }
        let spaced: Vec<String> = lines.iter().map(|line| tabs_to_spaces(line)).collect();
        if spaced != lines && self.parses(&spaced) {
            return Ok(Mended::Changed("tabs".to_owned(), spaced));
        }
        let quoted: Vec<String> = spaced
            .iter()
            .enumerate()
            .map(|(at, line)| if at == 0 { line.clone() } else { quote_line(line) })
            .collect();
        if quoted != spaced && self.parses(&quoted) {
            return Ok(Mended::Changed(self.key.to_owned(), quoted));
        }
        let joined = self.as_one_text();
        if self.parses(&joined) {
            return Ok(Mended::Changed(self.key.to_owned(), joined));
        }
        Ok(Mended::Sound)
    }

    fn parses(&self, lines: &[String]) -> bool {
        check_alone(&lines.join("\n"), self.whole).is_ok()
    }

    /// A broken entry that is a safety field, or that swallowed one, is not guessed at.
    fn refuse_safety(&self, cause: &Problem) -> Result<(), Problem> {
        let below = self.lines.iter().skip(1).map(|line| line.trim_start().trim_start_matches("- "));
        let touched = std::iter::once(self.key)
            .filter(|key| SAFETY_FIELDS.contains(key))
            .chain(
                below.filter_map(|line| SAFETY_FIELDS.into_iter().find(|field| begins_with_key(line, field))),
            )
            .next();
        let Some(field) = touched else { return Ok(()) };
        let message = format!(
            "{}; `{field}` decides what the skill is or may do and is never repaired: correct it by hand",
            cause.message
        );
        let line = cause.line.unwrap_or(1);
        let column = cause.column.unwrap_or(1);
        Err(shift(Problem::new("yaml_invalid", field, message).at(line, column), self.line))
    }

    /// The entry with its value as one quoted text on its first line; the other lines become blank.
    fn as_one_text(&self) -> Vec<String> {
        let first = self.lines[0];
        let colon = first.find(':').map_or(first.len(), |at| at + 1);
        let mut parts = vec![first[colon..].trim()];
        let mut rest = Vec::with_capacity(self.lines.len());
        for line in &self.lines[1..] {
            if indent(line) <= self.base && line.trim_start().starts_with('#') {
                rest.push((*line).to_owned());
            } else {
                parts.push(line.trim());
                rest.push(String::new());
            }
        }
        parts[0] = without_block_header(parts[0]);
        parts.retain(|part| !part.is_empty());
        let mut lines = vec![format!("{} {}", &first[..colon], quote(&unquote(&parts.join(" "))))];
        lines.append(&mut rest);
        lines
    }
}

/// Moves a problem found in an entry to its place in the front matter.
fn shift(mut problem: Problem, entry_line: usize) -> Problem {
    problem.line = problem.line.map(|line| line.saturating_add(saturate(entry_line)).saturating_sub(1));
    problem
}

fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The key that begins at the top level on this line.
fn top_level_key(line: &str, base: usize) -> Option<&str> {
    if indent(line) != base {
        return None;
    }
    key_of(&line[base..])
}

/// A `key:` at the start of a text: one word, quoted or not.
fn key_of(text: &str) -> Option<&str> {
    let (key, rest) = text.split_once(':')?;
    let closed = rest.is_empty() || rest.starts_with([' ', '\t']);
    let quoted = |mark: char| key.strip_prefix(mark).and_then(|key| key.strip_suffix(mark));
    let word = quoted('"').or_else(|| quoted('\'')).unwrap_or(key.trim_end());
    let good = word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (closed && good).then_some(word)
}

fn begins_with_key(line: &str, field: &str) -> bool {
    let line = line.trim_start_matches(['"', '\'']);
    line.strip_prefix(field)
        .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
}

/// Two spaces for each tab in the indentation.
fn tabs_to_spaces(line: &str) -> String {
    let body = line.trim_start_matches([' ', '\t']);
    let indentation = &line[..line.len() - body.len()];
    format!("{}{body}", indentation.replace('\t', "  "))
}

/// Quotes the value of one nested line (`- value`, `key: value`, `- key: value`) where the line does not parse alone.
fn quote_line(line: &str) -> String {
    let body = line.trim_start();
    if body.is_empty() || check_alone(body, body).is_ok() {
        return line.to_owned();
    }
    let mut at = line.len() - body.len();
    while let Some(rest) = line[at..].strip_prefix("- ") {
        at = line.len() - rest.trim_start().len();
    }
    if let Some(key) = key_of(&line[at..]) {
        let after = line[at..].find(key).map_or(at, |found| at + found + key.len());
        at = line[after..].find(':').map_or(at, |found| after + found + 1);
        let value = line[at..].trim();
        return format!("{} {}", &line[..at], quote(&unquote(value)));
    }
    format!("{}{}", &line[..at], quote(&unquote(line[at..].trim())))
}

/// A value behind `|` or `>` (with indicators), where text follows on the same line.
fn without_block_header(value: &str) -> &str {
    let Some(rest) = value.strip_prefix(['|', '>']) else { return value };
    let text = rest.trim_start_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    if text.is_empty() || text.starts_with([' ', '\t']) { text.trim() } else { value }
}

/// Takes off quotes that enclose the whole text, reading only the escapes of the quote itself.
fn unquote(text: &str) -> String {
    if let Some(inner) = enclosed(text, '"') {
        let bare = inner.replace("\\\"", "");
        if !bare.contains('"') && !inner.ends_with('\\') {
            return inner.replace("\\\"", "\"");
        }
    }
    if let Some(inner) = enclosed(text, '\'') {
        let inner = inner.replace("''", "'");
        if apostrophes_only(&inner) {
            return inner;
        }
    }
    text.to_owned()
}

fn enclosed(text: &str, mark: char) -> Option<&str> {
    text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark))
}

/// Every `'` stands between two letters, as in "user's".
fn apostrophes_only(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    letters.iter().enumerate().filter(|(_, c)| **c == '\'').all(|(at, _)| {
        let letter =
            |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric());
        letter(at.checked_sub(1)) && letter(at.checked_add(1))
    })
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_broken_value_is_mended_in_place() {
        let cases = [
            ("d: Use this when: asked.", "d: 'Use this when: asked.'", "d"),
            ("d: | Opens it.", "d: 'Opens it.'", "d"),
            ("d: >- Opens it.", "d: 'Opens it.'", "d"),
            ("d: First line\nsecond line\nlicense: MIT", "d: 'First line second line'\n\nlicense: MIT", "d"),
            ("d: 'the user's calendar.", "d: '''the user''s calendar.'", "d"),
            ("d: 'the user's calendar.'", "d: 'the user''s calendar.'", "d"),
            (r#"d: "C:\Users\d+ paths.""#, r"d: 'C:\Users\d+ paths.'", "d"),
            (r#"d: "one" and "two""#, r#"d: '"one" and "two"'"#, "d"),
            ("d: @mention someone", "d: '@mention someone'", "d"),
            ("d: [Beta] Search", "d: '[Beta] Search'", "d"),
            ("d: *bold* text", "d: '*bold* text'", "d"),
            ("d: *missing", "d: '*missing'", "d"),
            ("m:\n\ta: b", "m:\n  a: b", "tabs"),
            ("e:\n- @x y\n- z", "e:\n- '@x y'\n- z", "e"),
            ("m:\n  a: b: c\n  d: e", "m:\n  a: 'b: c'\n  d: e", "m"),
            ("  d: a: b\n  e: f", "  d: 'a: b'\n  e: f", "d"),
        ];
        for (broken, mended, what) in cases {
            let repaired = repair(broken).expect(broken);
            assert_eq!(repaired.text, mended, "{broken}");
            assert_eq!(repaired.changes, [(what.to_owned(), 1)], "{broken}");
        }
    }

    #[test]
    fn sound_entries_stay_as_they_are() {
        let text = "# note\na: &x b\nc: *x\nd: |\n  e: f: g\n\n  h\n";
        assert_eq!(
            repair(text).expect("repair"),
            Repaired {
                text: text.to_owned(),
                changes: Vec::new(),
                keys: ["a", "c", "d"].map(str::to_owned).to_vec(),
            }
        );
    }

    #[test]
    fn a_broken_safety_field_is_never_repaired() {
        for text in [
            "name: a: b",
            "id: @x",
            "d: x\nrisk: [low",
            "allowed_tools: [tap, swipe",
            "allowed-tools:\n- \"tap\" x",
            "d: a: b\n  allowed-tools: tap",
            "metadata:\n\tallowed_tools: tap",
            "d: \"never closed\n  \"name\": x",
        ] {
            let problem = repair(text).expect_err(text);
            assert_eq!(problem.code, "yaml_invalid", "{text}");
            assert!(SAFETY_FIELDS.contains(&problem.field.as_str()), "{text}");
        }
    }

    #[test]
    fn a_tag_in_a_broken_file_is_still_refused_as_a_tag() {
        assert_eq!(repair("a: b: c\nd: !!python/x y").expect_err("tag").code, "unsupported_yaml_tag");
    }
}
