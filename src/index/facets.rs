//! What lists and searches filter by: kind, risk, status of each document of a segment; tags and apps.
//!
//! ```text
//! docs u32 | zero u32
//! kinds, risks, states     docs x u8 each
//! two dictionaries (tags, then apps), each:
//!   words u32 | postings u32 | text bytes u32
//!   text_ends      (words + 1) x u32   offsets into the text
//!   posting_ends   (words + 1) x u32   offsets into the postings
//!   postings       postings x u32      local documents, ascending in a word
//!   text           the words, ascending
//! ```

use std::collections::BTreeMap;

use crate::index::bits::Bits;
use crate::index::le::{Cutter, U32s, put_u32s, size_u32};
use crate::index::sections::{BuildError, Damaged, SectionKind};

const DAMAGED_WORD: Damaged = Damaged::new(SectionKind::Facets, "a tag or app is not where its offset says");
const DAMAGED_DOCS: Damaged =
    Damaged::new(SectionKind::Facets, "a list of documents is not where its offset says");

/// What every document has one of. The numbers of values are the catalog's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Kind.
    Kind,
    /// Effective risk.
    Risk,
    /// Status.
    Status,
}

/// Facets of one document.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facet<'a> {
    /// Number of its kind.
    pub(crate) kind: u8,
    /// Number of its effective risk.
    pub(crate) risk: u8,
    /// Number of its status.
    pub(crate) status: u8,
    /// Its tags, normalised.
    pub(crate) tags: &'a [String],
    /// Packages of its apps.
    pub(crate) apps: &'a [String],
}

/// Builds the section from documents in local order; answers the tags too, in the order of their numbers, for
/// [`names::build`](crate::index::names::build).
pub(crate) fn build<'a>(docs: &[Facet<'a>]) -> Result<(Vec<u8>, Vec<&'a str>), BuildError> {
    let mut out = Vec::new();
    put_u32s(&mut out, &[size_u32("the number of documents", docs.len())?, 0]);
    out.extend(docs.iter().map(|doc| doc.kind));
    out.extend(docs.iter().map(|doc| doc.risk));
    out.extend(docs.iter().map(|doc| doc.status));
    let tags = put_words(&mut out, docs.iter().map(|doc| doc.tags))?;
    put_words(&mut out, docs.iter().map(|doc| doc.apps))?;
    Ok((out, tags))
}

/// Appends a dictionary; answers its words in order.
fn put_words<'a>(
    out: &mut Vec<u8>,
    docs: impl Iterator<Item = &'a [String]>,
) -> Result<Vec<&'a str>, BuildError> {
    let mut words: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (doc, has) in (0..).zip(docs) {
        for word in has {
            let list = words.entry(word).or_default();
            if list.last() != Some(&doc) {
                list.push(doc);
            }
        }
    }
    let (mut text, mut text_ends) = (Vec::new(), vec![0]);
    let (mut postings, mut posting_ends) = (Vec::new(), vec![0]);
    for (word, list) in &words {
        text.extend_from_slice(word.as_bytes());
        text_ends.push(size_u32("the text of tags or apps", text.len())?);
        postings.extend_from_slice(list);
        posting_ends.push(size_u32("the number of tags or apps of all documents", postings.len())?);
    }
    let count = size_u32("the number of tags or apps", words.len())?;
    let listed = size_u32("the number of tags or apps of all documents", postings.len())?;
    put_u32s(out, &[count, listed, size_u32("the text of tags or apps", text.len())?]);
    for table in [&text_ends, &posting_ends, &postings] {
        put_u32s(out, table);
    }
    out.extend_from_slice(&text);
    Ok(words.into_keys().collect())
}

/// The section, open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facets<'a> {
    columns: [&'a [u8]; 3],
    /// Normalised tags.
    pub(crate) tags: Words<'a>,
    /// Packages of apps.
    pub(crate) apps: Words<'a>,
}

impl<'a> Facets<'a> {
    /// Opens the section. Cost: constant.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let mut cutter = Cutter::new(SectionKind::Facets, bytes);
        let (docs, _zero) = (cutter.size()?, cutter.u32()?);
        let columns = [cutter.take(docs)?, cutter.take(docs)?, cutter.take(docs)?];
        let tags = Words::open(&mut cutter)?;
        let apps = Words::open(&mut cutter)?;
        cutter.finish()?;
        Ok(Self { columns, tags, apps })
    }

    /// How many documents there are.
    pub(crate) const fn docs(&self) -> usize {
        self.columns[0].len()
    }

    /// A document's value; `None` beyond the last.
    #[inline]
    pub(crate) fn value(&self, column: Column, doc: u32) -> Option<u8> {
        self.column(column).get(doc as usize).copied()
    }

    /// Adds the documents that have a value in a column, moved up by `base`. Cost: a scan of one byte a document.
    pub(crate) fn add_where(&self, column: Column, value: u8, base: u32, bits: &mut Bits) {
        for (at, docs) in (base..).step_by(64).zip(self.column(column).chunks(64)) {
            let word = docs.iter().rev().fold(0, |word, here| (word << 1) | u64::from(*here == value));
            bits.or_word(at, word);
        }
    }

    const fn column(&self, column: Column) -> &'a [u8] {
        match column {
            Column::Kind => self.columns[0],
            Column::Risk => self.columns[1],
            Column::Status => self.columns[2],
        }
    }
}

/// Words with the documents that have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    text_ends: U32s<'a>,
    posting_ends: U32s<'a>,
    postings: U32s<'a>,
    text: &'a [u8],
}

impl<'a> Words<'a> {
    fn open(cutter: &mut Cutter<'a>) -> Result<Self, Damaged> {
        let (words, postings, text) = (cutter.size()?, cutter.size()?, cutter.size()?);
        Ok(Self {
            text_ends: cutter.u32s(words.saturating_add(1))?,
            posting_ends: cutter.u32s(words.saturating_add(1))?,
            postings: cutter.u32s(postings)?,
            text: cutter.take(text)?,
        })
    }

    /// How many words there are; their numbers follow their order.
    pub(crate) const fn len(&self) -> usize {
        self.text_ends.len() - 1
    }

    /// A word by its number.
    #[cfg(test)]
    pub(crate) fn word(&self, number: usize) -> Result<&'a str, Damaged> {
        std::str::from_utf8(self.bytes(number)?).map_err(|_| DAMAGED_WORD)
    }

    /// The documents that have a word, ascending.
    pub(crate) fn docs(&self, number: usize) -> Result<U32s<'a>, Damaged> {
        let (start, end) = self.posting_ends.span(number).ok_or(DAMAGED_DOCS)?;
        self.postings.slice(start, end).ok_or(DAMAGED_DOCS)
    }

    /// The number of a word, if any document has it. Cost: a binary search.
    pub(crate) fn find(&self, word: &str) -> Result<Option<usize>, Damaged> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.bytes(middle)? < word.as_bytes() { low = middle + 1 } else { high = middle }
        }
        Ok((low < self.len() && self.bytes(low)? == word.as_bytes()).then_some(low))
    }

    /// Adds the documents that have a word, moved up by `base`; none if nobody has it.
    pub(crate) fn add(&self, word: &str, base: u32, bits: &mut Bits) -> Result<(), Damaged> {
        if let Some(number) = self.find(word)? {
            for doc in self.docs(number)?.iter() {
                bits.set(base.saturating_add(doc));
            }
        }
        Ok(())
    }

    /// How many of the documents that have a word are in a set, when moved up by `base`.
    #[cfg(test)]
    pub(crate) fn count(&self, number: usize, base: u32, visible: &Bits) -> Result<u64, Damaged> {
        Ok(self.docs(number)?.iter().map(|doc| visible.bit(base.saturating_add(doc))).sum())
    }

    fn bytes(&self, number: usize) -> Result<&'a [u8], Damaged> {
        let (start, end) = self.text_ends.span(number).ok_or(DAMAGED_WORD)?;
        self.text.get(start..end).ok_or(DAMAGED_WORD)
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Facet, Facets, build};
    use crate::index::bits::Bits;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Doc = (u8, u8, u8, Vec<String>, Vec<String>);

    fn docs() -> impl Strategy<Value = Vec<Doc>> {
        let words = || proptest::collection::vec("[a-d]{1,2}", 0..4);
        proptest::collection::vec((0_u8..2, 0_u8..3, 0_u8..2, words(), words()), 0..150)
    }

    fn facets(docs: &[Doc]) -> Vec<Facet<'_>> {
        docs.iter()
            .map(|(kind, risk, status, tags, apps)| Facet {
                kind: *kind,
                risk: *risk,
                status: *status,
                tags,
                apps,
            })
            .collect()
    }

    proptest! {
        #[test]
        fn filters_equal_a_scan(docs in docs(), base in 0_u32..130) {
            let (bytes, tags) = build(&facets(&docs)).unwrap();
            let read = Facets::open(&bytes).unwrap();
            let all = Bits::full(400);
            prop_assert_eq!(read.docs(), docs.len());
            for (column, pick) in [
                (Column::Kind, (|d: &Doc| d.0) as fn(&Doc) -> u8),
                (Column::Risk, |d| d.1),
                (Column::Status, |d| d.2),
            ] {
                for value in 0..4 {
                    let mut bits = Bits::new(400);
                    read.add_where(column, value, base, &mut bits);
                    let expected = (base..).zip(&docs).filter(|(_, d)| pick(d) == value).map(|(i, _)| i);
                    prop_assert!(bits.iter().eq(expected));
                }
                let values = (0..).map_while(|i| read.value(column, i));
                prop_assert!(values.eq(docs.iter().map(pick)));
            }
            let expected: BTreeSet<&str> = docs.iter().flat_map(|d| &d.3).map(String::as_str).collect();
            prop_assert_eq!(&tags, &expected.into_iter().collect::<Vec<_>>());
            for (number, tag) in tags.iter().enumerate() {
                prop_assert_eq!(read.tags.word(number).unwrap(), *tag);
                let mut bits = Bits::new(400);
                read.tags.add(tag, base, &mut bits).unwrap();
                let having = (base..).zip(&docs).filter(|(_, d)| d.3.iter().any(|t| t == tag)).map(|(i, _)| i);
                prop_assert!(bits.iter().eq(having));
                prop_assert_eq!(read.tags.count(number, base, &all).unwrap(), bits.count());
            }
            for app in ["a", "dd", "zz", ""] {
                let mut bits = Bits::new(400);
                read.apps.add(app, base, &mut bits).unwrap();
                let having = (base..).zip(&docs).filter(|(_, d)| d.4.iter().any(|a| a == app)).map(|(i, _)| i);
                prop_assert!(bits.iter().eq(having));
            }
        }

        #[test]
        fn flipped_bytes_are_never_a_panic(docs in docs(), at: prop::sample::Index, with: u8, cut: prop::sample::Index) {
            let (mut bytes, _) = build(&facets(&docs)).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            for end in [cut.index(bytes.len() + 1), bytes.len()] {
                let Ok(read) = Facets::open(&bytes[..end]) else { continue };
                let mut bits = Bits::new(100);
                read.add_where(Column::Risk, 1, 0, &mut bits);
                for number in 0..read.tags.len().min(50) {
                    let _ = (read.tags.word(number), read.tags.count(number, 9, &bits));
                }
                let _ = (read.apps.add("a", u32::MAX, &mut bits), read.tags.find("b"));
            }
        }
    }
}
