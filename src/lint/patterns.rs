//! Many patterns at once: one pass tells which of them are in a text at all, and few texts hold any.

use regex::{Regex, RegexSet, SetMatches};

/// Patterns by their numbers.
pub(crate) struct Patterns {
    each: Vec<Option<Regex>>,
    all: Option<RegexSet>,
}

impl Patterns {
    /// Compiles patterns. A word ends where ASCII letters, digits and the underscore end: that of Unicode cannot be
    /// told in one pass, and a key among Chinese text is one all the same.
    pub(crate) fn new(texts: impl Iterator<Item = String>) -> Self {
        let texts: Vec<String> = texts.map(|text| text.replace(r"\b", r"(?-u:\b)")).collect();
        let each = texts.iter().map(|text| Regex::new(text).ok()).collect();
        // The character before keeps the engine from looking for the first words alone, which are in every text.
        let all = RegexSet::new(texts.iter().map(|text| format!("(?s:.)?(?:{text})"))).ok();
        Self { each, all }
    }

    /// Which of them are in a text.
    pub(crate) fn in_text(&self, text: &str) -> Held<'_> {
        Held { patterns: self, matches: self.all.as_ref().map(|all| all.matches(text)) }
    }

    /// Whether every pattern compiled.
    #[cfg(test)]
    pub(crate) fn are_sound(&self) -> bool {
        self.all.is_some() && self.each.iter().all(Option::is_some)
    }
}

/// The patterns that a text holds.
pub(crate) struct Held<'p> {
    patterns: &'p Patterns,
    matches: Option<SetMatches>,
}

impl<'p> Held<'p> {
    /// A pattern, if the text holds it.
    pub(crate) fn get(&self, number: usize) -> Option<&'p Regex> {
        let held = self.matches.as_ref().is_none_or(|matches| matches.matched(number));
        self.patterns.each.get(number)?.as_ref().filter(|_| held)
    }
}
