//! Text to tokens: the same function serves index and query.
//!
//! Compatibility normalisation (NFKC), full case folding, words at everything that is neither letter, digit nor
//! mark. Diacritics of Latin and Greek letters and Arabic and Hebrew vowel points are dropped, since people leave
//! them out on a phone. Identifiers are split where the case changes; the whole identifier is a token as well.
//! Scripts that write no spaces between words give single ideographs and pairs of neighbours instead of words.

use std::collections::HashMap;

use caseless::Caseless;
use snowstem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::function_words;
use super::hash::{BuildTermHasher, TermHash};

/// Longest word that is kept, in bytes of its folded form; longer ones (base64, minified code) are cut here.
pub(super) const WORD_BYTES_MAX: usize = 64;

/// Most words that a building analysis remembers.
const MEMO_WORDS_MAX: usize = 1 << 18;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word, or one part of an identifier.
    Word,
    /// A word that carries grammar rather than content.
    Function,
    /// An identifier of several parts as one word.
    Whole,
    /// One ideograph or syllable.
    Single,
    /// One ideograph or syllable of grammar.
    Particle,
    /// Two neighbours in a script without spaces.
    Pair,
}

/// One token; `text` is the folded form as written, `term` the hash of what it is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) term: TermHash,
}

/// Scratch of the analysis, reused between texts so that a warm one allocates nothing.
#[derive(Debug)]
pub(super) struct Analyzer {
    word: String,
    whole: String,
    parts: u32,
    stem: String,
    pair: String,
    stemmers: Stemmers,
    /// What words were found to be, when texts are many.
    memo: Option<HashMap<TermHash, (Kind, TermHash), BuildTermHasher>>,
}

struct Stemmers {
    english: Stemmer,
    russian: Stemmer,
    arabic: Stemmer,
    greek: Stemmer,
}

impl std::fmt::Debug for Stemmers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stemmers")
    }
}

/// What a character does to the word it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Break,
    Lower,
    Upper,
    Ideograph,
    Dense,
}

impl Analyzer {
    pub(super) fn new() -> Self {
        Self {
            word: String::with_capacity(WORD_BYTES_MAX * 2),
            whole: String::with_capacity(WORD_BYTES_MAX * 2),
            parts: 0,
            stem: String::with_capacity(WORD_BYTES_MAX * 2),
            pair: String::with_capacity(16),
            stemmers: Stemmers {
                english: Stemmer::create(Algorithm::English),
                russian: Stemmer::create(Algorithm::Russian),
                arabic: Stemmer::create(Algorithm::Arabic),
                greek: Stemmer::create(Algorithm::Greek),
            },
            memo: None,
        }
    }

    /// One that remembers words, for building.
    pub(super) fn remembering() -> Self {
        Self { memo: Some(HashMap::default()), ..Self::new() }
    }

    /// Calls `sink` with each token in order.
    pub(super) fn tokens(&mut self, text: &str, sink: &mut impl FnMut(Token<'_>)) {
        // Normalisation never reaches over white space, so only the words that need it pay for it.
        for line in text.split_inclusive('\n') {
            if line.is_ascii() {
                self.run(line.bytes().map(char::from), sink);
                continue;
            }
            for word in line.split_inclusive(' ') {
                if word.is_ascii() {
                    self.run(word.bytes().map(char::from), sink);
                } else {
                    self.run(word.nfkc(), sink);
                }
            }
        }
    }

    fn run(&mut self, chars: impl Iterator<Item = char>, sink: &mut impl FnMut(Token<'_>)) {
        let mut before = Class::Break;
        let mut neighbour: Option<char> = None;
        let mut alone = false;
        let mut chars = chars.peekable();
        while let Some(c) = chars.next() {
            let class = classify(c, before);
            match class {
                Class::Ideograph | Class::Dense => {
                    self.end_whole(sink);
                    if let Some(left) = neighbour {
                        self.two(left, c, sink);
                        alone = false;
                    } else {
                        alone = class == Class::Dense;
                    }
                    if class == Class::Ideograph {
                        self.one(c, sink);
                    }
                    neighbour = Some(c);
                }
                _ => {
                    if let (true, Some(left)) = (alone, neighbour) {
                        self.one(left, sink);
                    }
                    alone = false;
                    neighbour = None;
                    if class == Class::Break {
                        self.end_whole(sink);
                    } else {
                        let starts = class == Class::Upper
                            && (before == Class::Lower
                                || (before == Class::Upper
                                    && chars.peek().is_some_and(|next| next.is_lowercase())));
                        if starts {
                            self.end_part(sink);
                        }
                        self.push(c);
                    }
                }
            }
            before = class;
        }
        if let (true, Some(left)) = (alone, neighbour) {
            self.one(left, sink);
        }
        self.end_whole(sink);
    }

    fn push(&mut self, c: char) {
        if self.word.len() >= WORD_BYTES_MAX {
            return;
        }
        if c.is_ascii() {
            self.word.push(c.to_ascii_lowercase());
            return;
        }
        if is_optional_mark(c) {
            return;
        }
        for folded in std::iter::once(c).default_case_fold() {
            if drops_marks(folded) {
                let word = &mut self.word;
                decompose_canonical(folded, |part| {
                    if !is_combining_mark(part) {
                        word.push(part);
                    }
                });
            } else if !(is_combining_mark(folded) && self.word.bytes().last().is_some_and(|b| b.is_ascii())) {
                self.word.push(folded);
            }
        }
    }

    fn end_part(&mut self, sink: &mut impl FnMut(Token<'_>)) {
        if self.word.is_empty() {
            return;
        }
        if self.whole.len() + self.word.len() <= WORD_BYTES_MAX {
            self.whole.push_str(&self.word);
        }
        self.parts += 1;
        let (kind, term) = self.look_up();
        sink(Token { kind, text: &self.word, term });
        self.word.clear();
    }

    /// What the current word is and what it is compared by.
    fn look_up(&mut self) -> (Kind, TermHash) {
        let written = TermHash::of(&self.word);
        if let Some(known) = self.memo.as_ref().and_then(|memo| memo.get(&written)) {
            return *known;
        }
        let kind = if function_words::contains(written) { Kind::Function } else { Kind::Word };
        let known = (kind, stem_hash(&self.stemmers, &self.word, &mut self.stem));
        if let Some(memo) = &mut self.memo {
            if memo.len() >= MEMO_WORDS_MAX {
                memo.clear();
            }
            memo.insert(written, known);
        }
        known
    }

    fn end_whole(&mut self, sink: &mut impl FnMut(Token<'_>)) {
        self.end_part(sink);
        if self.parts > 1 {
            let term = stem_hash(&self.stemmers, &self.whole, &mut self.stem);
            sink(Token { kind: Kind::Whole, text: &self.whole, term });
        }
        self.parts = 0;
        self.whole.clear();
    }

    fn one(&mut self, c: char, sink: &mut impl FnMut(Token<'_>)) {
        self.pair.clear();
        self.pair.extend(std::iter::once(c).default_case_fold());
        let kind = if function_words::is_function_char(c) { Kind::Particle } else { Kind::Single };
        sink(Token { kind, text: &self.pair, term: TermHash::of(&self.pair) });
    }

    fn two(&mut self, left: char, right: char, sink: &mut impl FnMut(Token<'_>)) {
        self.pair.clear();
        self.pair.push(left);
        self.pair.push(right);
        sink(Token { kind: Kind::Pair, text: &self.pair, term: TermHash::of(&self.pair) });
    }
}

/// The term of a word: its stem, by the algorithm that its script tells.
fn stem_hash(stemmers: &Stemmers, word: &str, stem: &mut String) -> TermHash {
    let first = word.chars().next().unwrap_or(' ');
    let stemmer = match u32::from(first) {
        0x61..=0x7a if word.is_ascii() => &stemmers.english,
        0x0370..=0x03ff => &stemmers.greek,
        0x0400..=0x04ff => &stemmers.russian,
        0x0600..=0x06ff => &stemmers.arabic,
        _ => return TermHash::of(word),
    };
    stem.clear();
    stemmer.stem_into(word, stem);
    if stem.is_empty() { TermHash::of(word) } else { TermHash::of(stem) }
}

fn classify(c: char, before: Class) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_uppercase() {
            Class::Upper
        } else if c.is_ascii_alphanumeric() {
            Class::Lower
        } else {
            Class::Break
        };
    }
    match u32::from(c) {
        // Han with its extensions, iteration mark, Hangul syllables.
        0x3005
        | 0x3007
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xac00..=0xd7af
        | 0xf900..=0xfaff
        | 0x2_0000..=0x3_ffff => Class::Ideograph,
        // Thai, Lao, Myanmar, Khmer; kana.
        0x0e01..=0x0e3a
        | 0x0e40..=0x0e4e
        | 0x0e81..=0x0ece
        | 0x1000..=0x109f
        | 0x1780..=0x17d3
        | 0x3041..=0x309f
        | 0x30a1..=0x30ff
        | 0x31f0..=0x31ff => Class::Dense,
        // Zero-width joiners stand inside words.
        0x200c | 0x200d | 0x00ad => before,
        _ if is_combining_mark(c) => match before {
            Class::Break => Class::Break,
            Class::Ideograph | Class::Dense => Class::Dense,
            Class::Lower | Class::Upper => Class::Lower,
        },
        _ if c.is_uppercase() => Class::Upper,
        _ if c.is_alphanumeric() => Class::Lower,
        _ => Class::Break,
    }
}

/// Marks and fillers that readers leave out: joiners, tatweel, Arabic and Hebrew points.
fn is_optional_mark(c: char) -> bool {
    matches!(u32::from(c), 0x200c | 0x200d | 0x00ad | 0x0640 | 0x064b..=0x065f | 0x0670 | 0x0591..=0x05c7 | 0x06d6..=0x06ed)
}

/// Letters that are reduced to their base: Latin, Greek, Arabic with hamza, and the Cyrillic io.
fn drops_marks(c: char) -> bool {
    matches!(u32::from(c), 0xc0..=0x24f | 0x370..=0x3ff | 0x451 | 0x622..=0x626 | 0x1e00..=0x1fff)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a text, written `w:` word, `f:` function word, `i:` whole identifier, `s:` single, `p:` pair,
    /// `g:` particle.
    fn written(text: &str) -> String {
        let mut all = Vec::new();
        Analyzer::new().tokens(text, &mut |token| {
            let kind = match token.kind {
                Kind::Word => 'w',
                Kind::Function => 'f',
                Kind::Whole => 'i',
                Kind::Single => 's',
                Kind::Pair => 'p',
                Kind::Particle => 'g',
            };
            all.push(format!("{kind}:{}", token.text));
        });
        all.join(" ")
    }

    fn terms(text: &str) -> Vec<TermHash> {
        let mut all = Vec::new();
        Analyzer::new().tokens(text, &mut |token| all.push(token.term));
        all
    }

    #[test]
    fn texts_of_many_scripts_become_the_tokens_people_search_by() {
        for (text, expected) in [
            ("Open the Camera!", "w:open f:the w:camera"),
            ("  ,,  ", ""),
            ("set_alarm-clock v2.1", "w:set w:alarm w:clock w:v2 w:1"),
            ("openCamera", "w:open w:camera i:opencamera"),
            ("HTTPServer", "w:http w:server i:httpserver"),
            ("WhatsApp mp3", "f:whats w:app i:whatsapp w:mp3"),
            // Chinese: ideographs and pairs; particles carry little.
            ("打开相机", "s:打 p:打开 s:开 p:开相 s:相 p:相机 s:机"),
            ("我的wifi", "g:我 p:我的 g:的 w:wifi"),
            // Japanese: kana in pairs, a lone kana as it is.
            ("カメラ", "p:カメ p:メラ"),
            ("写真を", "s:写 p:写真 s:真 p:真を"),
            ("を", "g:を"),
            // Half-width kana with a voicing mark is the same text.
            ("ﾊﾞｽ", "p:バス"),
            // Korean syllables.
            ("사진을", "s:사 p:사진 s:진 p:진을 g:을"),
            // Full-width letters and digits.
            ("ＷｉＦｉ　２４", "w:wi w:fi i:wifi w:24"),
            // German: sharp s folds to two, the umlaut is dropped.
            ("Straße SCHÖN", "w:strasse w:schon"),
            // A combining mark is the same as the letter with it.
            ("cafe\u{301} caf\u{e9}", "w:cafe w:cafe"),
            // Arabic: points and the stretching stroke are dropped, hamza sits on its alif.
            ("الكَامِيرَا كـتـاب أحمد", "w:الكاميرا w:كتاب w:احمد"),
            ("Настройки её", "w:настройки f:ее"),
            ("ΚΆΜΕΡΑ", "w:καμερα"),
            // Thai has no spaces: pairs.
            ("กลอง", "p:กล p:ลอ p:อง"),
            // Devanagari vowel signs belong to the word.
            ("कैमरा खोलें", "w:कैमरा w:खोलें"),
            ("zero\u{200d}width so\u{ad}ft", "w:zerowidth w:soft"),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn forms_of_one_word_are_one_term_in_languages_that_a_script_tells() {
        for (one, other) in
            [("photos", "Photo"), ("settings", "SETTING"), ("настройка", "настройки"), ("ﬁle", "files")]
        {
            assert_eq!(terms(one), terms(other), "{one} and {other}");
        }
        assert_ne!(terms("camera"), terms("calendar"));
    }

    #[test]
    fn a_remembering_analysis_says_the_same() {
        let text = "The photos of the openCamera app, the photos";
        let (mut plain, mut remembering) = (Vec::new(), Vec::new());
        Analyzer::new().tokens(text, &mut |token| plain.push((token.kind, token.term)));
        Analyzer::remembering().tokens(text, &mut |token| remembering.push((token.kind, token.term)));
        assert_eq!(plain, remembering);
    }

    #[test]
    fn words_are_cut_at_their_limit_and_nothing_is_unbounded() {
        let long = "x".repeat(100_000);
        let mut longest = 0;
        Analyzer::new().tokens(&long, &mut |token| longest = longest.max(token.text.len()));
        assert!((1..=WORD_BYTES_MAX).contains(&longest));
        // A letter with many marks.
        let marks = format!("e{}", "\u{301}".repeat(10_000));
        assert_eq!(written(&marks), "f:e");
    }
}
