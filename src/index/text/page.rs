//! One page of a text section in the making: terms, postings, marks.

use std::collections::HashMap;

use super::hash::{BuildTermHasher, TermHash};
use super::layout::{PAGE_HEADER_WORDS, put, put_len};
use super::weights::impact;

/// Terms and postings of the page that is being filled.
#[derive(Debug, Default)]
pub(super) struct PageBuilder {
    terms: HashMap<TermHash, u32, BuildTermHasher>,
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

impl PageBuilder {
    /// Documents so far.
    pub(super) fn docs(&self) -> u32 {
        self.docs
    }

    /// Adds to a term's frequency in the current document.
    pub(super) fn count(&mut self, term: TermHash, weight: u32) {
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

    /// Replaces each frequency counted so far.
    pub(super) fn reweigh(&mut self, weigh: impl Fn(u32) -> u32) {
        for &term in &self.touched {
            let frequency = &mut self.frequency[term as usize];
            *frequency = weigh(*frequency);
        }
    }

    /// Ends the current document, of that weighted length.
    pub(super) fn end_doc(&mut self, length: u32, deprecated: bool) {
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
    pub(super) fn finish(self) -> Vec<u8> {
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
