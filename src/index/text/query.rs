//! A query's terms, and what each weighs among what the caller sees.

use super::analysis::Analyzer;
use super::features::{Class, features};
use super::hash::TermHash;
use super::open::{Page, Place};
use super::search::Part;
use super::weights;
use crate::limits::{QUERY_BYTES_MAX, QUERY_TERMS_MAX};

/// Postings that are looked at in the time of counting those of one run by binary search.
const RUN_COST: usize = 32;

/// A query made ready for the scan.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) terms: Vec<Term>,
    /// For each page of each part in order, the place of each term.
    pub(super) places: Vec<Place>,
    /// Weight of the terms that somebody visible has: what a perfect score stands for.
    known: u64,
    /// Weight of the words that carry content, known or not.
    content: u64,
}

/// A term of the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    hash: TermHash,
    class: Class,
    repeated: bool,
    weight: u32,
    /// What an impact is multiplied with, in 1/256, so that a perfect document has 65,535.
    pub(super) factor: u32,
}

impl Query {
    pub(super) fn new() -> Self {
        Self { terms: Vec::new(), places: Vec::new(), known: 0, content: 0 }
    }

    /// Splits a text into terms, each once. What lies beyond the limits is ignored.
    pub(super) fn analyze(&mut self, analyzer: &mut Analyzer, text: &str) {
        let text = &text[..text.floor_char_boundary(QUERY_BYTES_MAX)];
        let terms = &mut self.terms;
        terms.clear();
        features(analyzer, text, true, &mut |feature| {
            if let Some(known) = terms.iter_mut().find(|term| term.hash == feature.term) {
                known.repeated = true;
            } else if terms.len() < QUERY_TERMS_MAX {
                terms.push(Term {
                    hash: feature.term,
                    class: feature.class,
                    repeated: false,
                    weight: 0,
                    factor: 0,
                });
            }
        });
    }

    /// Finds each term in each page and weighs it by how many visible documents of all parts have it.
    pub(super) fn weigh(&mut self, parts: &[Part<'_>]) {
        let Self { terms, places, .. } = self;
        places.clear();
        for term in &mut *terms {
            term.weight = 0;
        }
        let mut visible = 0;
        for part in parts {
            visible += part.sight.visible();
            for page in part.index.pages() {
                for term in &mut *terms {
                    let place = page.find(term.hash).unwrap_or_default();
                    term.weight += count(&page, place, part);
                    places.push(place);
                }
            }
        }
        self.known = 0;
        self.content = 0;
        for term in &mut *terms {
            let frequency = term.weight;
            let full = weights::idf(visible, frequency) * weights::class(term.class);
            // The square root of two: a word said twice is not meant twice.
            let full = if term.repeated { full * 91 / 64 } else { full };
            let common = term.class == Class::Piece
                && frequency > (visible / weights::COMMON_PIECE).max(weights::COMMON_PIECE_MIN);
            term.weight = if frequency == 0 || common { 0 } else { full };
            self.known += u64::from(term.weight);
            if matches!(term.class, Class::Word | Class::Single) {
                self.content += u64::from(full);
            }
        }
        for term in terms {
            let factor = (u64::from(term.weight) * 65_535 * 256).checked_div(self.known * 255).unwrap_or(0);
            term.factor = u32::try_from(factor).unwrap_or(u32::MAX);
        }
    }

    /// How much of the query a document of that score covers, 0 to 1: unlike the score it does not forgive words
    /// that nobody visible has. A query of grammar alone is covered by nothing.
    pub(super) fn coverage(&self, score: u32) -> f32 {
        let thousandths =
            (u64::from(score) * self.known * 1_000).checked_div(self.content * 65_535).unwrap_or(0);
        f32::from(u16::try_from(thousandths.min(1_000)).unwrap_or(1_000)) / 1_000.0
    }
}

/// Visible documents among a term's postings.
fn count(page: &Page<'_>, place: Place, part: &Part<'_>) -> u32 {
    let (docs, _) = page.postings(place);
    if docs.is_empty() {
        return 0;
    }
    let runs = part.sight.runs_between(page.base, page.base + page.docs);
    let number = |doc: &[u8; 2]| page.base + u32::from(u16::from_le_bytes(*doc));
    let counted = match runs {
        [] => 0,
        [(start, end)] if *start <= page.base && *end >= page.base + page.docs => docs.len(),
        // Two searches a run, each some steps of a dozen looks at postings, against one look each.
        _ if docs.len() / RUN_COST <= runs.len() => {
            let words = part.visible.get(page.base as usize / 64..).unwrap_or(&[]);
            docs.iter().map(|doc| seen(words, u16::from_le_bytes(*doc))).sum()
        }
        _ => {
            let before = |limit: u32| docs.partition_point(|doc| number(doc) < limit);
            runs.iter().map(|(start, end)| before(*end).saturating_sub(before(*start))).sum()
        }
    };
    u32::try_from(counted).unwrap_or(0)
}

/// 1 for a document whose bit is set, 0 otherwise: no branch, since either is likely.
fn seen(words: &[u64], doc: u16) -> usize {
    let word = words.get(usize::from(doc / 64)).copied().unwrap_or(0);
    usize::from(word >> (doc % 64) & 1 == 1)
}
