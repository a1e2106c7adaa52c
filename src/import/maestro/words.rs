//! Texts of a Maestro flow: `${NAME}` in them, and which of them are regular expressions.

use crate::flow::Template;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// As it is.
    Text(String),
    /// The value of a variable.
    Variable(String),
}

/// Words that JavaScript does not take for a variable.
const RESERVED: [&str; 10] =
    ["true", "false", "null", "undefined", "this", "new", "typeof", "void", "NaN", "Infinity"];

/// Cuts a text at its `${NAME}`; `\${` stands for the text `${`.
///
/// # Errors
/// The first `${...}` that is more than a name: an expression, or one without an end.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, slot) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('\\') {
            literal.push_str(before);
            literal.push_str("${");
            rest = &slot[2..];
            continue;
        }
        literal.push_str(before);
        let Some(end) = slot.find('}') else { return Err(slot.to_owned()) };
        let name = slot[2..end].trim();
        if !is_variable(name) {
            return Err(slot[..=end].to_owned());
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Variable(name.to_owned()));
        rest = &slot[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

/// Whether a word is a variable that a parameter can stand for.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !RESERVED.contains(&name)
}

/// The pieces as a template: braces of texts doubled, variables as placeholders.
pub(crate) fn template(pieces: &[Piece]) -> String {
    let part = |piece: &Piece| match piece {
        Piece::Text(text) => Template::escape(text),
        Piece::Variable(name) => format!("{{{name}}}"),
    };
    pieces.iter().map(part).collect()
}

/// The text of pieces without variables.
pub(crate) fn literal(pieces: &[Piece]) -> Option<String> {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Variable(_) => return None,
        }
    }
    Some(out)
}

/// Pieces of a selector with its escapes taken out; `None` where it is a regular expression with more than literals.
pub(crate) fn selector(pieces: Vec<Piece>) -> Option<Vec<Piece>> {
    let mut after_variable = false;
    let mut out = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let plain = match piece {
            Piece::Text(text) => Piece::Text(plain(&text, after_variable)?),
            variable @ Piece::Variable(_) => variable,
        };
        after_variable = matches!(plain, Piece::Variable(_));
        out.push(plain);
    }
    Some(out)
}

/// A text that Maestro matches as it is, its escapes taken out; `None` for a pattern.
///
/// Maestro takes every selector for a pattern, and also for itself. People write "Sure?", "org.app:id/x", "$5" and
/// "Total (3)" and mean just that, so a sign counts as a pattern only where it would do something there.
fn plain(text: &str, after_variable: bool) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        let before = if at == 0 { after_variable.then_some('x') } else { chars.get(at - 1).copied() };
        let repeats = before.is_some_and(|before| !before.is_whitespace());
        match c {
            '\\' => {
                let escaped = next.filter(|next| !next.is_alphanumeric())?;
                out.push(escaped);
                at += 2;
                continue;
            }
            '[' | ']' | '|' | '^' => return None,
            '*' | '+' if repeats => return None,
            '?' if before == Some('(')
                || (repeats && next.is_some_and(|next| !next.is_whitespace() && !is_closing(next))) =>
            {
                return None;
            }
            '?' if matches!(before, Some('.' | ')')) => return None,
            '$' if next.is_none() && at > 0 => return None,
            '{' if repeats && next.is_some_and(|next| next.is_ascii_digit()) => return None,
            _ => {}
        }
        out.push(c);
        at += 1;
    }
    Some(out)
}

/// What may follow a question mark that ends a sentence.
fn is_closing(c: char) -> bool {
    matches!(c, '!' | '?' | '"' | '\'' | ')' | '\u{201d}' | '\u{2019}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_variables_and_everything_else_is_an_expression() {
        let shown = |text: &str| pieces(text).map(|pieces| template(&pieces));
        for (text, want) in [
            ("${A}", "{A}"),
            ("a ${ A_1 } b${B}", "a {A_1} b{B}"),
            ("{x} $5 ${A}", "{{x}} $5 {A}"),
            (r"\${A} is ${A}", "${{A}} is {A}"),
            ("", ""),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(want), "{text}");
        }
        for text in ["${a.b}", "${5 == 5}", "${A || 'x'}", "${true}", "${}", "${A", "x ${a()} y", "${1a}"] {
            assert!(shown(text).is_err(), "{text}");
        }
    }

    #[test]
    fn signs_that_do_nothing_are_literal_and_patterns_are_not() {
        for (text, want) in [
            ("org.app:id/search_box", "org.app:id/search_box"),
            (r"1\.5 \[x\] \\", r"1.5 [x] \"),
            ("Are you sure?", "Are you sure?"),
            ("Sure? (yes)", "Sure? (yes)"),
            ("\"Really?\"", "\"Really?\""),
            ("Loading...", "Loading..."),
            ("$5 off", "$5 off"),
            ("+ Add", "+ Add"),
            ("1 + 1", "1 + 1"),
            ("{name}", "{name}"),
        ] {
            assert_eq!(plain(text, false).as_deref(), Some(want), "{text}");
        }
        for text in [
            ".*", "Item.+", "[0-9]", r"\d", "a|b", "^a", "a$", "colou?r", "(a)?", "a{2}", "(?i)a", "x*", ".?",
        ] {
            assert_eq!(plain(text, false), None, "{text}");
        }
        assert_eq!(plain("*", true), None);
    }
}
