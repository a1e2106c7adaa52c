//! The scan: query terms to the best documents of all parts.

use std::cmp::Ordering;

use super::analysis::Analyzer;
use super::best::Best;
use super::layout::PAGE_DOCS;
use super::open::{Page, Place, TextIndex};
use super::query::{Query, Term};
use super::sight::Sight;
use super::weights;

/// One index with what the caller sees of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// The index.
    pub(crate) index: TextIndex<'a>,
    /// One bit a document: only set ones count and can be found.
    pub(crate) visible: &'a [u64],
    /// The same bits as runs.
    pub(crate) sight: &'a Sight,
    /// One bit a document: only set ones can be found, all visible ones count.
    pub(crate) filter: Option<&'a [u64]>,
}

/// One document found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Which part it is in.
    pub(crate) part: u32,
    /// Its number there.
    pub(crate) doc: u32,
    /// Comparable within one answer only.
    pub(crate) score: u32,
    /// It ranks behind all active ones.
    pub(crate) deprecated: bool,
}

/// What a search found; the hits lie in the scratch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'s> {
    /// Best first.
    pub(crate) hits: &'s [Found],
    /// How many documents hold a word of the query at all.
    pub(crate) total: u32,
    /// 0 to 1: how well the best document covers the query, comparable between queries.
    pub(crate) confidence: f32,
}

/// Decides between two documents, as (part, number), that score alike.
pub(crate) type Tie<'t> = dyn Fn((u32, u32), (u32, u32)) -> Ordering + 't;

/// Buffers of a search; a warm one allocates nothing.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(super) analyzer: Analyzer,
    query: Query,
    /// Scores of the page being scanned, zero between scans.
    scores: Box<[u16]>,
    best: Best,
    hits: Vec<Found>,
}

/// One score for each document that a page can have.
type Scores = [u16; PAGE_DOCS as usize];

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch {
    /// Fresh buffers: 128 KiB and what the first queries need.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            analyzer: Analyzer::new(),
            query: Query::new(),
            scores: vec![0; PAGE_DOCS as usize].into_boxed_slice(),
            best: Best::new(),
            hits: Vec::new(),
        }
    }
}

/// The best `limit` documents for a query over all parts, deprecated ones last.
///
/// `tie` decides between documents of equal score of different parts and must be a total order that agrees with the
/// order of ids inside a part. Cost: the postings of the query's terms; nothing is allocated once `scratch` is warm.
pub(crate) fn search<'s>(
    parts: &[Part<'_>],
    query: &str,
    limit: usize,
    tie: &Tie<'_>,
    scratch: &'s mut Scratch,
) -> Answer<'s> {
    let Scratch { analyzer, query: terms, scores, best, hits } = scratch;
    terms.analyze(analyzer, query);
    terms.weigh(parts);
    best.begin(limit);
    hits.clear();
    let Some(scores) = scores.first_chunk_mut() else {
        return Answer { hits, total: 0, confidence: 0.0 };
    };
    let mut total = 0;
    let mut places = terms.places.as_slice();
    for (number, part) in (0u32..).zip(parts) {
        for page in part.index.pages() {
            let (here, rest) = places.split_at(terms.terms.len());
            places = rest;
            add_up(&page, &terms.terms, here, scores);
            total += collect(&page, number, part, scores, best, tie);
        }
    }
    hits.extend(best.finish(tie));
    let confidence = hits.first().map_or(0.0, |hit| terms.coverage(hit.score));
    Answer { hits, total, confidence }
}

/// Adds each term's share to the documents that have it.
fn add_up(page: &Page<'_>, terms: &[Term], places: &[Place], scores: &mut Scores) {
    for (term, &place) in terms.iter().zip(places) {
        if term.factor == 0 {
            continue;
        }
        let (docs, impacts) = page.postings(place);
        for (doc, &impact) in docs.iter().zip(impacts) {
            let score = &mut scores[usize::from(u16::from_le_bytes(*doc))];
            // The shares of all terms are at most 65,535 together, unless the bytes name a document twice.
            *score = score.wrapping_add(share(impact, term.factor));
        }
    }
}

/// What a posting adds to its document's score.
fn share(impact: u8, factor: u32) -> u16 {
    // A factor is at most 65,792 and an impact 255: the product fits, and its upper part is 16 bits wide.
    let [_, low, high, _] = (u32::from(impact).wrapping_mul(factor)).to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// Moves the visible documents of a page that pass the filter to the best ones and clears the scores; answers how
/// many there were.
fn collect(
    page: &Page<'_>,
    number: u32,
    part: &Part<'_>,
    scores: &mut Scores,
    best: &mut Best,
    tie: &Tie<'_>,
) -> u32 {
    let mut total = 0;
    // Pages begin at multiples of 64, so a block of scores is a word of bits.
    for (block, base) in scores[..page.docs as usize].chunks_mut(64).zip((page.base..).step_by(64)) {
        let word = |bits: &[u64]| bits.get(base as usize / 64).copied().unwrap_or(0);
        let mut mask = word(part.visible) & part.filter.map_or(u64::MAX, word);
        if block.len() < 64 {
            mask &= (1 << block.len()) - 1;
        }
        let highest = block.iter().fold(0, |highest: u16, score| highest.max(*score));
        if mask != 0 && highest >= weights::SCORE_MIN {
            total += count(block, mask);
            let enough = best.enough();
            if highest >= enough {
                for (doc, &score) in (base..).zip(block.iter()) {
                    if score >= enough && mask >> (doc % 64) & 1 == 1 {
                        let local = doc - page.base;
                        let deprecated = page.is_deprecated(local);
                        let found = Found { part: number, doc, score: u32::from(score), deprecated };
                        best.push(found, page.rank(local), tie);
                    }
                }
            }
        }
        if highest != 0 {
            block.fill(0);
        }
    }
    total
}

/// How many masked-in documents of a block score enough to be hits; without branches, since they would be missed.
fn count(block: &[u16], mask: u64) -> u32 {
    if mask == u64::MAX {
        let counted: u16 = block.iter().map(|score| u16::from(*score >= weights::SCORE_MIN)).sum();
        return u32::from(counted);
    }
    let mut bits = 0;
    for (at, score) in block.iter().enumerate() {
        bits |= u64::from(*score >= weights::SCORE_MIN) << at;
    }
    (bits & mask).count_ones()
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
            ("e", "The Who", false),
        ] {
            builder.add(&Fields { id, deprecated, name, ..Fields::default() });
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
        assert_eq!(ask("the who", 0b1_1111), [4], "a name of grammar alone is found by it");
        assert_eq!(ask("camra flahs", 0b1111).first(), Some(&1), "misspelt words are found by their pieces");
    }
}
