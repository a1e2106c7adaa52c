//! Reading a text section where it lies.

use super::hash::TermHash;
use super::layout::{
    HEADER_BYTES, MAGIC, PAGE_DOCS, PAGE_ENTRY_BYTES, PAGE_HEADER_WORDS, part, u32_at, u32_in, u64_at,
};

/// A text section, opened: every answer is read from the bytes at query time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextIndex<'a> {
    bytes: &'a [u8],
    docs: u32,
    pages: u32,
}

/// Up to 65,536 documents with their own terms and postings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page<'a> {
    /// First document of the page within the index.
    pub(super) base: u32,
    pub(super) docs: u32,
    directory: &'a [u8],
    directory_bits: u32,
    terms: &'a [u8],
    postings: &'a [u8],
    impacts: &'a [u8],
    deprecated: &'a [u8],
    ranks: &'a [u8],
}

/// Where a term's postings lie in a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) length: u32,
}

impl<'a> TextIndex<'a> {
    /// Opens a section. Cost: the header only; offsets further in are checked when they are followed.
    ///
    /// # Errors
    /// If the bytes are not a text section of this version, or end early.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let (Some(magic), Some(docs), Some(pages)) = (u32_at(bytes, 0), u32_at(bytes, 4), u32_at(bytes, 8))
        else {
            return Err("the text section is shorter than its header; build the snapshot again".to_owned());
        };
        if magic != MAGIC {
            return Err(format!(
                "text section starts with {magic:#010x}, expected {MAGIC:#010x}; build the snapshot again"
            ));
        }
        if docs.div_ceil(PAGE_DOCS) != pages {
            return Err(format!(
                "text section of {docs} documents claims {pages} pages; build the snapshot again"
            ));
        }
        let table =
            (pages as usize).checked_mul(PAGE_ENTRY_BYTES).and_then(|table| part(bytes, HEADER_BYTES, table));
        if table.is_none() {
            return Err(format!(
                "text section of {} bytes cannot hold {pages} pages; build the snapshot again",
                bytes.len()
            ));
        }
        Ok(Self { bytes, docs, pages })
    }

    /// Number of documents.
    #[must_use]
    pub(crate) fn docs(&self) -> u32 {
        self.docs
    }

    /// Whether a document has a term. Cost: one look at the directory, and a binary search in the postings.
    pub(crate) fn holds(self, doc: u32, term: TermHash) -> bool {
        let Some(page) = self.page(doc / PAGE_DOCS) else { return false };
        let (docs, _) = page.postings(page.find(term).unwrap_or_default());
        docs.binary_search_by_key(&(doc - page.base), |doc| u16::from_le_bytes(*doc).into()).is_ok()
    }

    /// The pages; one that cannot be read is left out.
    pub(super) fn pages(self) -> impl Iterator<Item = Page<'a>> {
        (0..self.pages).filter_map(move |page| self.page(page))
    }

    /// The page of that number; `None` if its bytes do not hold together.
    pub(super) fn page(self, page: u32) -> Option<Page<'a>> {
        let entry = HEADER_BYTES + page as usize * PAGE_ENTRY_BYTES;
        let offset = usize::try_from(u64_at(self.bytes, entry)?).ok()?;
        let length = usize::try_from(u64_at(self.bytes, entry + 8)?).ok()?;
        let bytes = part(self.bytes, offset, length)?;
        let mut word = [0u32; PAGE_HEADER_WORDS];
        for (at, word) in word.iter_mut().enumerate() {
            *word = u32_in(bytes, at)?;
        }
        let [
            docs,
            directory_bits,
            terms,
            postings,
            directory_at,
            terms_at,
            postings_at,
            impacts_at,
            deprecated_at,
            ranks_at,
            ..,
        ] = word;
        let base = page.checked_mul(PAGE_DOCS)?;
        if docs != self.docs.checked_sub(base)?.min(PAGE_DOCS) || directory_bits > 24 {
            return None;
        }
        let slice = |at: u32, count: usize, size: usize| part(bytes, at as usize, count.checked_mul(size)?);
        Some(Page {
            base,
            docs,
            directory: slice(directory_at, (1 << directory_bits) + 1, 4)?,
            directory_bits,
            terms: slice(terms_at, (terms as usize).checked_add(1)?, 8)?,
            postings: slice(postings_at, postings as usize, 2)?,
            impacts: slice(impacts_at, postings as usize, 1)?,
            deprecated: slice(deprecated_at, docs.div_ceil(8) as usize, 1)?,
            ranks: slice(ranks_at, docs as usize, 4)?,
        })
    }
}

impl<'a> Page<'a> {
    /// Where a term's postings are. Cost: one look at the directory, one at the terms.
    pub(super) fn find(&self, term: TermHash) -> Option<Place> {
        let bucket = usize::try_from(term.0.checked_shr(64 - self.directory_bits).unwrap_or(0)).ok()?;
        let from = u32_in(self.directory, bucket)?;
        let to = u32_in(self.directory, bucket + 1)?;
        let low = term.low();
        for at in from..to {
            let entry = at as usize * 2;
            if u32_in(self.terms, entry)? == low {
                let start = u32_in(self.terms, entry + 1)?;
                let length = u32_in(self.terms, entry + 3)?.checked_sub(start)?;
                return Some(Place { start, length });
            }
        }
        None
    }

    /// Documents of a place, each a little-endian `u16`, and their impacts; empty if the place is not inside.
    pub(super) fn postings(&self, place: Place) -> (&'a [[u8; 2]], &'a [u8]) {
        let (start, length) = (place.start as usize, place.length as usize);
        match (part(self.postings, start * 2, length * 2), part(self.impacts, start, length)) {
            (Some(docs), Some(impacts)) => (docs.as_chunks().0, impacts),
            _ => (&[], &[]),
        }
    }

    /// Whether a document is deprecated.
    pub(super) fn is_deprecated(&self, doc: u32) -> bool {
        self.deprecated.get(doc as usize / 8).is_some_and(|byte| byte >> (doc % 8) & 1 == 1)
    }

    /// The document's place among all ids of its index.
    pub(super) fn rank(&self, doc: u32) -> u32 {
        u32_in(self.ranks, doc as usize).unwrap_or(u32::MAX)
    }
}
