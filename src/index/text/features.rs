//! What a text is indexed and asked by: its tokens, pairs of neighbouring words, and pieces of words.

use super::analysis::{Analyzer, Kind};
use super::hash::TermHash;

/// Longest word that is cut into pieces, in characters.
const PIECED_CHARS_MAX: usize = 36;
/// Characters of a piece.
const PIECE_CHARS: usize = 4;

/// How a feature counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A word, a whole identifier, or two neighbours of a script without spaces.
    Word,
    /// A word or ideograph of grammar.
    Function,
    /// A single ideograph.
    Single,
    /// Two neighbouring words.
    Phrase,
    /// Four characters of a word, its ends marked.
    Piece,
}

/// One feature of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Feature {
    pub(super) class: Class,
    pub(super) term: TermHash,
    /// Whether it adds to the length of the text: what stands beside another reading of the same letters does not.
    pub(super) counts: bool,
}

/// Calls `sink` with the features of a text; phrases and pieces only where `rich`.
pub(super) fn features(analyzer: &mut Analyzer, text: &str, rich: bool, sink: &mut impl FnMut(Feature)) {
    let mut before: Option<TermHash> = None;
    analyzer.tokens(text, &mut |token| {
        let (class, counts) = match token.kind {
            Kind::Word | Kind::Pair => (Class::Word, true),
            Kind::Whole => (Class::Word, false),
            Kind::Function => (Class::Function, true),
            Kind::Particle => (Class::Function, false),
            Kind::Single => (Class::Single, false),
        };
        sink(Feature { class, term: token.term, counts });
        if !rich {
            return;
        }
        match token.kind {
            Kind::Word | Kind::Function => {
                if let Some(left) = before {
                    sink(Feature {
                        class: Class::Phrase,
                        term: TermHash::pair(left, token.term),
                        counts: false,
                    });
                }
                before = Some(token.term);
            }
            Kind::Whole => {}
            Kind::Single | Kind::Pair | Kind::Particle => before = None,
        }
        if token.kind == Kind::Word {
            pieces(token.text, sink);
        }
    });
}

/// Whether a text has no content words at all, so that its function words must stand for it ("The Who").
pub(super) fn only_grammar(analyzer: &mut Analyzer, text: &str) -> bool {
    let mut content = false;
    features(analyzer, text, false, &mut |feature| content |= feature.class != Class::Function);
    !content
}

/// The pieces of `^word$`.
fn pieces(word: &str, sink: &mut impl FnMut(Feature)) {
    let mut window = ['\0', '\0', '\0', '^'];
    let count = word.chars().take(PIECED_CHARS_MAX + 1).count();
    if count + 2 < PIECE_CHARS || count > PIECED_CHARS_MAX {
        return;
    }
    for (at, c) in word.chars().chain(std::iter::once('$')).enumerate() {
        window.rotate_left(1);
        window[PIECE_CHARS - 1] = c;
        if at + 2 >= PIECE_CHARS {
            sink(Feature { class: Class::Piece, term: TermHash::piece(window), counts: false });
        }
    }
}
