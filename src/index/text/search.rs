//! The scan: query terms to the best documents of all parts.

use std::cmp::Ordering;

use super::analysis::{Analyzer, Kind};
use super::hash::TermHash;
use super::layout::{PAGE_DOCS, u16_in};
use super::open::{Page, Place, TextIndex};
use super::sight::{Sight, bit};
use crate::limits::{QUERY_BYTES_MAX, QUERY_TERMS_MAX};

/// One index with what the caller sees of it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The index.
    pub index: TextIndex<'a>,
    /// One bit a document: only set ones count and can be found.
    pub visible: &'a [u64],
    /// The same bits as runs.
    pub sight: &'a Sight,
    /// One bit a document: only set ones can be found, all visible ones count.
    pub filter: Option<&'a [u64]>,
}

/// One document found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which part it is in.
    pub part: u32,
    /// Its number there.
    pub doc: u32,
    /// Comparable within one answer only.
    pub score: u32,
    /// It ranks behind all active ones.
    pub deprecated: bool,
}

/// What a search found; the hits lie in the scratch.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'s> {
    /// Best first.
    pub hits: &'s [Found],
    /// How many documents hold a word of the query at all.
    pub total: u32,
    /// 0 to 1: how well the best document covers the query, comparable between queries.
    pub confidence: f32,
}

/// Buffers of a search; a warm one allocates nothing.
#[derive(Debug)]
pub struct Scratch {
    analyzer: Analyzer,
    terms: Vec<Term>,
    /// Of each page of each part, one place a term.
    places: Vec<Place>,
    /// Scores of the page being scanned, zero between scans.
    scores: Box<[u16]>,
    candidates: Vec<Candidate>,
    hits: Vec<Found>,
}

/// A term of the query.
#[derive(Clone, Copy, Debug)]
struct Term {
    hash: TermHash,
    function: bool,
    /// Inverse document frequency in 1/256, halved for function words.
    weight: u32,
    /// What an impact is multiplied with, in 1/256, so that a perfect document has 65,535.
    factor: u32,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    found: Found,
    rank: u32,
}

/// Decides between two documents, as (part, number), that score alike.
pub type Tie<'t> = dyn Fn((u32, u32), (u32, u32)) -> Ordering + 't;

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Fresh buffers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            analyzer: Analyzer::new(),
            terms: Vec::new(),
            places: Vec::new(),
            scores: vec![0; PAGE_DOCS as usize].into_boxed_slice(),
            candidates: Vec::new(),
            hits: Vec::new(),
        }
    }
}

/// The best `limit` documents for a query over all parts, deprecated ones last.
///
/// `tie` decides between documents of equal score and must agree with the order of ids inside a part. Cost: the
/// postings of the query's terms.
pub fn search<'s>(
    parts: &[Part<'_>],
    query: &str,
    limit: usize,
    tie: &Tie<'_>,
    scratch: &'s mut Scratch,
) -> Answer<'s> {
    scratch.candidates.clear();
    scratch.hits.clear();
    analyze(query, scratch);
    weigh(parts, scratch);
    let mut total = 0;
    let mut first = 0;
    for (number, part) in (0u32..).zip(parts) {
        for page in part.index.pages() {
            total += scan(&page, number, part, first, scratch);
            first += scratch.terms.len();
            if scratch.candidates.len() > 4 * limit.max(64) {
                keep_best(&mut scratch.candidates, limit, tie);
            }
        }
    }
    keep_best(&mut scratch.candidates, limit, tie);
    scratch.hits.extend(scratch.candidates.iter().map(|candidate| candidate.found));
    let confidence = scratch.hits.first().map_or(0.0, |hit| confidence(hit.score));
    Answer { hits: &scratch.hits, total, confidence }
}

fn confidence(score: u32) -> f32 {
    f32::from(u16::try_from(score).unwrap_or(u16::MAX)) / f32::from(u16::MAX)
}

fn keep_best(candidates: &mut Vec<Candidate>, limit: usize, tie: &Tie<'_>) {
    candidates.sort_unstable_by(|x, y| {
        let (a, b) = (&x.found, &y.found);
        (a.deprecated.cmp(&b.deprecated)).then(b.score.cmp(&a.score)).then_with(|| {
            if a.part == b.part { x.rank.cmp(&y.rank) } else { tie((a.part, a.doc), (b.part, b.doc)) }
        })
    });
    candidates.truncate(limit);
}

/// The query's terms, each once.
fn analyze(query: &str, scratch: &mut Scratch) {
    let mut end = query.len().min(QUERY_BYTES_MAX);
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    let terms = &mut scratch.terms;
    terms.clear();
    scratch.analyzer.tokens(&query[..end], &mut |token| {
        if terms.len() < QUERY_TERMS_MAX && !terms.iter().any(|term| term.hash == token.term) {
            let function = token.kind == Kind::Function;
            terms.push(Term { hash: token.term, function, weight: 0, factor: 0 });
        }
    });
}

/// Finds each term in each page and weighs it by how many visible documents of all parts have it.
fn weigh(parts: &[Part<'_>], scratch: &mut Scratch) {
    let Scratch { terms, places, .. } = scratch;
    places.clear();
    let mut visible = 0;
    for part in parts {
        visible += part.sight.visible();
        for page in part.index.pages() {
            places.extend(terms.iter().map(|term| page.find(term.hash).unwrap_or_default()));
        }
    }
    for (at, term) in terms.iter_mut().enumerate() {
        let mut frequency = 0;
        let mut place = at;
        for part in parts {
            for page in part.index.pages() {
                frequency += count(&page, places[place], part);
                place += places.len() / page_count(parts);
            }
        }
        term.weight = if frequency == 0 { 0 } else { idf(visible, frequency) };
        if term.function {
            term.weight /= 2;
        }
    }
    let sum: u64 = terms.iter().map(|term| u64::from(term.weight)).sum();
    for term in terms {
        let factor = (u64::from(term.weight) * 65_535 * 256).checked_div(sum * 255).unwrap_or(0);
        term.factor = u32::try_from(factor).unwrap_or(0);
    }
}

fn page_count(parts: &[Part<'_>]) -> usize {
    parts.iter().map(|part| part.index.pages().count()).sum::<usize>().max(1)
}

/// Robertson's inverse document frequency in 1/256.
fn idf(visible: u32, frequency: u32) -> u32 {
    let (all, with) = (f64::from(visible), f64::from(frequency));
    let value = (1.0 + (all - with + 0.5) / (with + 0.5)).ln() * 256.0;
    (1..=16)
        .rev()
        .map(|bit| 1u32 << bit)
        .fold(1, |sum, bit| if f64::from(sum + bit) <= value { sum + bit } else { sum })
}

/// Visible documents among a term's postings.
fn count(page: &Page<'_>, place: Place, part: &Part<'_>) -> u32 {
    let (docs, _) = page.postings(place);
    let postings = docs.len() / 2;
    let visible =
        (0..postings).filter(|&at| bit(part.visible, page.base + u32::from(u16_in(docs, at)))).count();
    u32::try_from(visible).unwrap_or(0)
}

/// Scores the documents of one page; answers how many visible ones passed the filter and hold a term.
fn scan(page: &Page<'_>, number: u32, part: &Part<'_>, first: usize, scratch: &mut Scratch) -> u32 {
    let Scratch { terms, places, scores, candidates, .. } = scratch;
    for (term, &place) in terms.iter().zip(&places[first..]) {
        let (docs, impacts) = page.postings(place);
        for (at, &impact) in impacts.iter().enumerate() {
            let score = &mut scores[usize::from(u16_in(docs, at))];
            let share = u32::from(impact) * term.factor >> 8;
            *score = score.saturating_add(u16::try_from(share).unwrap_or(u16::MAX));
        }
    }
    let mut total = 0;
    for (doc, score) in (0..page.docs).zip(scores.iter_mut()) {
        let value = std::mem::take(score);
        let global = page.base + doc;
        if value == 0 || !bit(part.visible, global) || part.filter.is_some_and(|filter| !bit(filter, global))
        {
            continue;
        }
        total += 1;
        let found =
            Found { part: number, doc: global, score: u32::from(value), deprecated: page.is_deprecated(doc) };
        candidates.push(Candidate { found, rank: page.rank(doc) });
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::text::{Fields, TextBuilder};

    #[test]
    fn hidden_documents_are_not_found_and_deprecated_ones_come_last() {
        let mut builder = TextBuilder::new();
        for (id, name, deprecated) in [
            ("a", "Open the camera", true),
            ("b", "Camera flash settings", false),
            ("c", "打开相机", false),
            ("d", "camera", false),
        ] {
            builder.add(&Fields { id, name, deprecated, ..Fields::default() });
        }
        let bytes = builder.finish();
        let index = TextIndex::open(&bytes).expect("own bytes");
        let mut scratch = Scratch::new();
        let mut ask = |query: &str, visible: u64| -> Vec<u32> {
            let bits = [visible];
            let sight = Sight::new(&bits, index.docs());
            let parts = [Part { index, visible: &bits, sight: &sight, filter: None }];
            search(&parts, query, 10, &|a, b| a.cmp(&b), &mut scratch)
                .hits
                .iter()
                .map(|hit| hit.doc)
                .collect()
        };
        assert_eq!(ask("Cameras", 0b1111), [3, 1, 0]);
        assert_eq!(ask("Cameras", 0b0111), [1, 0]);
        assert_eq!(ask("相机", 0b1111), [2]);
        assert!(ask("the of", 0b1111).is_empty());
    }
}
