//! Texts of skills to the bytes of a text section.

use std::collections::HashMap;

use super::analysis::{Analyzer, Kind};
use super::hash::TermHash;
use super::layout::{HEADER_BYTES, MAGIC, PAGE_DOCS, PAGE_ENTRY_BYTES, PAGE_HEADER_WORDS};
use super::weights;

/// The searchable text of one skill.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    /// Id: decides ties, is not searched.
    pub id: &'a str,
    /// Deprecated skills rank behind active ones.
    pub deprecated: bool,
    /// Name.
    pub name: &'a str,
    /// Description.
    pub description: &'a str,
    /// Tags.
    pub tags: &'a [&'a str],
    /// Aliases.
    pub aliases: &'a [&'a str],
    /// Examples.
    pub examples: &'a [&'a str],
    /// Body.
    pub body: &'a str,
}

/// Collects documents in order and writes their section.
#[derive(Debug)]
pub struct TextBuilder {
    analyzer: Analyzer,
    ids: Vec<String>,
    pages: Vec<Vec<u8>>,
    page: PageBuilder,
}

/// Terms and postings of the page that is being filled.
#[derive(Debug, Default)]
struct PageBuilder {
    terms: HashMap<TermHash, u32>,
    hashes: Vec<TermHash>,
    postings: Vec<Posting>,
    deprecated: Vec<u8>,
    docs: u32,
    /// Weighted frequency of each term in the current document, and the terms that have one.
    frequency: Vec<u32>,
    touched: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    term: u32,
    doc: u16,
    impact: u8,
}

impl Default for TextBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl TextBuilder {
    /// An empty section.
    #[must_use]
    pub fn new() -> Self {
        Self { analyzer: Analyzer::new(), ids: Vec::new(), pages: Vec::new(), page: PageBuilder::default() }
    }

    /// Adds the next document; its number is how many were added before.
    pub fn add(&mut self, fields: &Fields<'_>) {
        if self.page.docs == PAGE_DOCS {
            let full = std::mem::take(&mut self.page);
            self.pages.push(full.finish());
        }
        self.ids.push(fields.id.to_owned());
        let page = &mut self.page;
        let mut length = 0;
        let mut field = |text: &str, weight: u32, functions: bool| {
            self.analyzer.tokens(text, &mut |token| {
                let weight = match token.kind {
                    Kind::Function if !functions => return,
                    _ => weight,
                };
                if !matches!(token.kind, Kind::Whole | Kind::Single) {
                    length += weight;
                }
                page.count(token.term, weight);
            });
        };
        field(fields.name, weights::NAME, false);
        field(fields.description, weights::DESCRIPTION, false);
        for tag in fields.tags {
            field(tag, weights::TAG, false);
        }
        for alias in fields.aliases {
            field(alias, weights::ALIAS, true);
        }
        for example in fields.examples {
            field(example, weights::EXAMPLE, true);
        }
        field(fields.body, weights::BODY, false);
        page.end_doc(length, fields.deprecated);
    }

    /// The section's bytes: the same for the same documents in the same order.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if self.page.docs > 0 {
            let last = std::mem::take(&mut self.page);
            self.pages.push(last.finish());
        }
        let docs = self.ids.len();
        let ranks = ranks(&self.ids);
        let mut out = Vec::new();
        put(&mut out, MAGIC);
        put_len(&mut out, docs);
        put_len(&mut out, self.pages.len());
        put(&mut out, 0);
        let mut offset = HEADER_BYTES + self.pages.len() * PAGE_ENTRY_BYTES;
        for (page, at) in self.pages.iter().zip((0..).step_by(PAGE_DOCS as usize)) {
            let docs = (docs - at).min(PAGE_DOCS as usize);
            let length = page.len() + docs * 4;
            out.extend((offset as u64).to_le_bytes());
            out.extend((length as u64).to_le_bytes());
            offset += length.next_multiple_of(8);
        }
        for (page, ranks) in self.pages.iter().zip(ranks.chunks(PAGE_DOCS as usize)) {
            out.extend(page);
            for &rank in ranks {
                put(&mut out, rank);
            }
            out.resize(out.len().next_multiple_of(8), 0);
        }
        out
    }
}

impl PageBuilder {
    fn count(&mut self, term: TermHash, weight: u32) {
        let next = u32::try_from(self.hashes.len()).unwrap_or(u32::MAX);
        let id = *self.terms.entry(term).or_insert_with(|| {
            self.hashes.push(term);
            self.frequency.push(0);
            next
        });
        let frequency = &mut self.frequency[id as usize];
        if *frequency == 0 {
            self.touched.push(id);
        }
        *frequency = frequency.saturating_add(weight);
    }

    fn end_doc(&mut self, length: u32, deprecated: bool) {
        let doc = u16::try_from(self.docs).unwrap_or(u16::MAX);
        for term in self.touched.drain(..) {
            let frequency = std::mem::take(&mut self.frequency[term as usize]);
            self.postings.push(Posting { term, doc, impact: impact(frequency, length) });
        }
        if self.docs.is_multiple_of(8) {
            self.deprecated.push(0);
        }
        if let (true, Some(byte)) = (deprecated, self.deprecated.last_mut()) {
            *byte |= 1 << (self.docs % 8);
        }
        self.docs += 1;
    }

    /// Everything of the page but the ranks, which follow it.
    fn finish(self) -> Vec<u8> {
        let mut order: Vec<u32> = (0u32..).take(self.hashes.len()).collect();
        order.sort_unstable_by_key(|&term| self.hashes[term as usize]);
        let mut position = vec![0u32; order.len()];
        for (at, &term) in (0u32..).zip(&order) {
            position[term as usize] = at;
        }
        let mut starts = vec![0u32; order.len() + 1];
        for posting in &self.postings {
            starts[position[posting.term as usize] as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut docs = vec![0u16; self.postings.len()];
        let mut impacts = vec![0u8; self.postings.len()];
        let mut next = starts.clone();
        for posting in &self.postings {
            let slot = &mut next[position[posting.term as usize] as usize];
            docs[*slot as usize] = posting.doc;
            impacts[*slot as usize] = posting.impact;
            *slot += 1;
        }
        let hashes: Vec<TermHash> = order.iter().map(|&term| self.hashes[term as usize]).collect();
        write_page(self.docs, &hashes, &starts, &docs, &impacts, &self.deprecated)
    }
}

fn write_page(
    count: u32,
    hashes: &[TermHash],
    starts: &[u32],
    docs: &[u16],
    impacts: &[u8],
    deprecated: &[u8],
) -> Vec<u8> {
    let bits = hashes.len().next_power_of_two().ilog2().clamp(1, 24);
    let mut out = vec![0u8; PAGE_HEADER_WORDS * 4];
    let mut offsets = Vec::new();
    let mut mark = |out: &mut Vec<u8>| {
        out.resize(out.len().next_multiple_of(4), 0);
        offsets.push(out.len());
    };
    mark(&mut out);
    let mut at = 0;
    for bucket in 0..=1usize << bits {
        while at < hashes.len() && (hashes[at].0 >> (64 - bits)) < bucket as u64 {
            at += 1;
        }
        put_len(&mut out, at);
    }
    mark(&mut out);
    for (hash, &start) in hashes.iter().zip(starts) {
        put(&mut out, hash.low());
        put(&mut out, start);
    }
    put(&mut out, 0);
    put(&mut out, starts.last().copied().unwrap_or(0));
    mark(&mut out);
    for doc in docs {
        out.extend(doc.to_le_bytes());
    }
    mark(&mut out);
    out.extend(impacts);
    mark(&mut out);
    out.extend(deprecated);
    mark(&mut out);
    let mut header = Vec::with_capacity(PAGE_HEADER_WORDS * 4);
    put(&mut header, count);
    put(&mut header, bits);
    put_len(&mut header, hashes.len());
    put_len(&mut header, docs.len());
    for offset in offsets {
        put_len(&mut header, offset);
    }
    out[..header.len()].copy_from_slice(&header);
    out
}

/// BM25's share of one term in one document, 1 to 255, with 255 for the limit K1 + 1.
pub(super) fn impact(frequency: u32, length: u32) -> u8 {
    let unit = f64::from(weights::UNIT);
    let (frequency, length) = (f64::from(frequency) / unit, f64::from(length) / unit);
    let norm = weights::K1 * (1.0 - weights::B + weights::B * length / weights::LENGTH);
    let share = frequency / (frequency + norm);
    (1..=255u8).rev().find(|&impact| f64::from(impact) <= share * 255.0 + 0.5).unwrap_or(1)
}

/// The place of each id among all of them.
fn ranks(ids: &[String]) -> Vec<u32> {
    let mut order: Vec<u32> = (0u32..).take(ids.len()).collect();
    order.sort_by(|&a, &b| ids[a as usize].cmp(&ids[b as usize]));
    let mut ranks = vec![0; ids.len()];
    for (rank, &doc) in (0u32..).zip(&order) {
        ranks[doc as usize] = rank;
    }
    ranks
}

fn put(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

/// Writes a count or offset; pages and sections stay far below 4 GiB (see the limits of a layer).
fn put_len(out: &mut Vec<u8>, value: usize) {
    put(out, u32::try_from(value).unwrap_or(u32::MAX));
}
