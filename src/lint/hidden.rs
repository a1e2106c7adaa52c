//! Characters that a reader does not see, or that show others in another order.

use crate::lint::Findings;
use crate::lint::rules::{BIDI_CHARACTER, HIDDEN_CHARACTER};
use crate::lint::subject::{Passage, Spot, Subject};
use crate::model::is_invisible;

/// Looks for them; one finding a kind and text, with the first place and the count.
pub(crate) fn check(subject: &Subject<'_>, text: &Passage<'_>, findings: &mut Findings) {
    // Nearly every text; what stands beside a character is only looked at where one may be hidden.
    let plain = |c: char| (' '..='~').contains(&c) || !(is_hidden(c) || is_override(c));
    if text.text.chars().all(plain) {
        return;
    }
    let right_to_left = text.text.chars().any(is_right_to_left);
    let (mut order, mut hidden) = (Seen::default(), Seen::default());
    let mut before = None;
    let mut flag = false;
    for (at, c) in text.text.char_indices() {
        flag = c == '\u{1f3f4}' || (flag && is_tag(c));
        let after = text.text[at + c.len_utf8()..].chars().next();
        let allowed = flag || belongs(c, before, after, right_to_left) || (c == '\u{feff}' && at == 0);
        if is_override(c) {
            order.add(at, c);
        } else if is_hidden(c) && !allowed {
            hidden.add(at, c);
        }
        before = Some(c);
    }
    for (rule, seen, message) in [
        (BIDI_CHARACTER, order, "it changes the order in which text is shown"),
        (HIDDEN_CHARACTER, hidden, "nobody sees it, but a model reads it"),
    ] {
        let Some((at, c)) = seen.first else { continue };
        let more = if seen.count > 1 { format!(" and {} more", seen.count - 1) } else { String::new() };
        let message = format!("U+{:04X}{more} in the text: {message}; remove it", u32::from(c));
        // The whole field is named: the character itself could not be shown.
        let spot = Spot { needle: None, ..Spot::within(text, at, at) };
        findings.add(rule, subject, &spot, message);
    }
}

#[derive(Default)]
struct Seen {
    first: Option<(usize, char)>,
    count: usize,
}

impl Seen {
    fn add(&mut self, at: usize, c: char) {
        self.first.get_or_insert((at, c));
        self.count += 1;
    }
}

/// Embeddings, overrides and isolates: no prose needs them in a skill.
fn is_override(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_hidden(c: char) -> bool {
    // The Braille blank and the Hangul fillers are as wide as a letter, and as empty as a space.
    is_invisible(c) || (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
}

/// Whether an invisible character does what it is there for: emoji, scripts that join, text from right to left, line
/// breaks in words.
fn belongs(c: char, before: Option<char>, after: Option<char>, right_to_left: bool) -> bool {
    let symbol = |c: char| !c.is_ascii() && !c.is_alphanumeric() && !is_hidden(c) || c == '\u{fe0f}';
    let joining = |c: char| !c.is_ascii() && (c.is_alphabetic() || is_mark(c));
    match c {
        // One selector chooses the form of the character before it; a row of them would be a hidden message.
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => before.is_some_and(|b| {
            if b.is_ascii() { b.is_ascii_digit() || matches!(b, '#' | '*') } else { !is_hidden(b) }
        }),
        '\u{200d}' => {
            before.is_some_and(|b| symbol(b) || is_modifier(b) || joining(b))
                && after.is_some_and(|a| symbol(a) || joining(a))
        }
        '\u{200c}' => before.is_some_and(joining) && after.is_some_and(joining),
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' => right_to_left,
        // A soft hyphen shows itself where a line ends in it.
        '\u{ad}' => before.is_some_and(char::is_alphabetic) && after.is_some_and(char::is_alphabetic),
        _ => false,
    }
}

/// Vowel signs of Indic and other scripts, which joiners follow.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{dff}')
}

fn is_modifier(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Skill};

    fn codes(text: &str) -> Vec<&'static str> {
        let mut skill = Skill::new("a", Kind::Knowledge, "A", "About a.");
        skill.content = text.to_owned();
        let subject = Subject::new(&skill);
        let mut findings = Findings::default();
        subject.texts().iter().for_each(|text| check(&subject, text, &mut findings));
        findings.all.iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn what_nobody_sees_is_found() {
        for text in [
            "zero\u{200b}width",
            "tag \u{e0041}\u{e0042}",
            "a\u{200d}b",
            "esc \u{1b}[2J",
            "word\u{2060}joiner",
            "a\u{feff}b",
            "x\u{fe0f}",
            "\u{1f600}\u{fe0f}\u{fe01}",
            "mark\u{200e}",
            "a \u{ad}b",
            "\u{3164}",
        ] {
            assert_eq!(codes(text), ["lint_hidden_character"], "{text:?}");
        }
        assert_eq!(codes("a \u{202e}cba\u{202c} \u{2067}x"), ["lint_bidi_character"]);
    }

    #[test]
    fn what_scripts_and_emoji_need_is_left_alone() {
        for text in [
            "plain\r\n\ttext",
            "\u{feff}begins with a mark",
            "\u{2764}\u{fe0f} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} 1\u{fe0f}\u{20e3}",
            "\u{1f44d}\u{1f3fd}\u{200d}\u{1f680}",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645} \u{200f}!",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "Sil\u{ad}be",
            "\u{2139}\u{fe0f} \u{845b}\u{e0100}",
            "\u{4e2d}\u{6587}",
        ] {
            assert_eq!(codes(text), [""; 0], "{text:?}");
        }
    }
}
