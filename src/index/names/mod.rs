//! Names of a segment: every normalised id, name, alias and tag, sorted, with the documents behind each.
//!
//! ```text
//! keys u32 | entries u32 | text bytes u32 | fst bytes u32
//! heads       keys x u64          first eight bytes of each key, big-endian, zeros behind short ones
//! text_ends   (keys + 1) x u32    offsets into the text
//! entry_ends  (keys + 1) x u32    offsets into the entries
//! entries     entries x u32       kind << 24 | number, ascending in a key
//! text        the keys, ascending, without anything between them
//! fst         of the keys; the value is the key's rank
//! ```
//!
//! A prefix is found by a binary search over the heads, which decides most comparisons in one load; the transducer
//! answers what neighbours in order cannot: keys within an edit distance.

mod fst;
mod fuzzy;

use std::collections::BTreeMap;

use crate::index::le::{Cutter, U32s, U64s, put_u32, put_u32s, size_u32};
use crate::index::sections::{BuildError, Damaged, SectionKind};
use fst::Fst;

const DAMAGED_KEY: Damaged = Damaged::new(SectionKind::Names, "a key is not where its offset says");
const DAMAGED_ENTRY: Damaged = Damaged::new(SectionKind::Names, "an entry is not where its offset says");
const DAMAGED_FST: Damaged = Damaged::new(SectionKind::Names, "the transducer contradicts the keys");

/// Bits of an entry's number.
const NUMBER_BITS: u32 = 24;
/// Largest number of an entry.
const NUMBER_MAX: u32 = (1 << NUMBER_BITS) - 1;

/// What a key is of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum KeyKind {
    /// Its id.
    Id,
    /// Its name.
    Name,
    /// One of its aliases.
    Alias,
    /// No document: a tag, by its number in [`crate::index::facets`].
    Tag,
    /// One of its examples; only [`crate::index::exact`] keeps these.
    Example,
}

/// One use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Entry {
    /// As what.
    pub(crate) kind: KeyKind,
    /// Local document (an ordinal in [`crate::index::exact`]), or the number of a tag; below 2^24.
    pub(crate) number: u32,
}

impl Entry {
    /// As sections keep it. Fails if the number has more than 24 bits.
    pub(crate) fn pack(self) -> Result<u32, BuildError> {
        if self.number > NUMBER_MAX {
            let (what, found) = ("a document's number", self.number as usize);
            return Err(BuildError::TooLarge { what, found, limit: NUMBER_MAX as usize });
        }
        Ok(((self.kind as u32) << NUMBER_BITS) | self.number)
    }

    /// As a section kept it; `None` for a kind that is none.
    #[inline]
    pub(crate) fn unpack(packed: u32) -> Option<Self> {
        let kind = match packed >> NUMBER_BITS {
            0 => KeyKind::Id,
            1 => KeyKind::Name,
            2 => KeyKind::Alias,
            3 => KeyKind::Tag,
            4 => KeyKind::Example,
            _ => return None,
        };
        Some(Self { kind, number: packed & NUMBER_MAX })
    }
}

/// Builds the section from keys in any order; they are to be normalised. Empty keys are left out, repeated entries
/// kept once. Cost: a sort and an fst, about 0.2 s for 100,000 keys.
pub(crate) fn build<'k>(uses: impl IntoIterator<Item = (&'k str, Entry)>) -> Result<Vec<u8>, BuildError> {
    let mut keys: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (key, entry) in uses {
        if !key.is_empty() {
            keys.entry(key).or_default().push(entry.pack()?);
        }
    }
    let (mut heads, mut text, mut text_ends) = (Vec::with_capacity(keys.len()), Vec::new(), vec![0]);
    let (mut entries, mut entry_ends) = (Vec::new(), vec![0]);
    for (key, mut uses) in keys {
        uses.sort_unstable();
        uses.dedup();
        heads.push(head(key.as_bytes()));
        text.extend_from_slice(key.as_bytes());
        text_ends.push(size_u32("the text of keys", text.len())?);
        entries.extend_from_slice(&uses);
        entry_ends.push(size_u32("the number of entries", entries.len())?);
    }
    let fst = transducer(&text, &text_ends)?;
    let mut out = Vec::with_capacity(heads.len() * 20 + text.len() + fst.len());
    for (what, size) in [
        ("the number of keys", heads.len()),
        ("the number of entries", entries.len()),
        ("the text of keys", text.len()),
        ("the fst", fst.len()),
    ] {
        put_u32(&mut out, size_u32(what, size)?);
    }
    out.extend(heads.iter().flat_map(|head| head.to_le_bytes()));
    for table in [&text_ends, &entry_ends, &entries] {
        put_u32s(&mut out, table);
    }
    out.extend_from_slice(&text);
    out.extend_from_slice(&fst);
    Ok(out)
}

/// The transducer of sorted keys that lie one after the other in `text`.
fn transducer(text: &[u8], ends: &[u32]) -> Result<Vec<u8>, BuildError> {
    let failed = |_| BuildError::TooLarge { what: "the fst", found: text.len(), limit: u32::MAX as usize };
    let mut builder = ::fst::MapBuilder::memory();
    for (rank, span) in (0_u64..).zip(ends.windows(2)) {
        let key = text.get(span[0] as usize..span[1] as usize).unwrap_or_default();
        builder.insert(key, rank).map_err(failed)?;
    }
    builder.into_inner().map_err(failed)
}

/// The first eight bytes as a number that sorts like them.
fn head(key: &[u8]) -> u64 {
    key.iter().chain(std::iter::repeat(&0)).take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// A key within an edit distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Near {
    /// How many insertions, deletions and replacements away.
    pub(crate) distance: u8,
    /// The key.
    pub(crate) rank: u32,
}

/// The section, open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    heads: U64s<'a>,
    text_ends: U32s<'a>,
    entry_ends: U32s<'a>,
    entries: U32s<'a>,
    text: &'a [u8],
    fst: Fst<'a>,
}

impl<'a> Names<'a> {
    /// Opens the section. Cost: constant.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let mut cutter = Cutter::new(SectionKind::Names, bytes);
        let (keys, entries) = (cutter.size()?, cutter.size()?);
        let (text, fst) = (cutter.size()?, cutter.size()?);
        let heads = cutter.u64s(keys)?;
        let text_ends = cutter.u32s(keys.saturating_add(1))?;
        let entry_ends = cutter.u32s(keys.saturating_add(1))?;
        let entries = cutter.u32s(entries)?;
        let text = cutter.take(text)?;
        let fst = Fst::open(cutter.take(fst)?).ok_or(DAMAGED_FST)?;
        cutter.finish()?;
        Ok(Self { heads, text_ends, entry_ends, entries, text, fst })
    }

    /// How many keys there are; ranks are below it.
    pub(crate) const fn len(&self) -> usize {
        self.heads.len()
    }

    /// The key of a rank.
    pub(crate) fn key(&self, rank: u32) -> Result<&'a str, Damaged> {
        std::str::from_utf8(self.key_bytes(rank as usize)?).map_err(|_| DAMAGED_KEY)
    }

    /// The uses of a key: ids first, then names, aliases, tags; each ascending.
    pub(crate) fn entries(&self, rank: u32) -> Result<Entries<'a>, Damaged> {
        let (start, end) = self.entry_ends.span(rank as usize).ok_or(DAMAGED_ENTRY)?;
        Ok(Entries { packed: self.entries.slice(start, end).ok_or(DAMAGED_ENTRY)?, next: 0 })
    }

    /// The rank of a whole key, if it is there.
    #[cfg(test)]
    pub(crate) fn find(&self, key: &str) -> Result<Option<u32>, Damaged> {
        let at = self.lower_bound(key.as_bytes())?;
        if at >= self.len() || self.key_bytes(at)? != key.as_bytes() {
            return Ok(None);
        }
        Ok(u32::try_from(at).ok())
    }

    /// Ranks of the keys that begin with a text, ascending. Cost: a binary search, then one step a key.
    pub(crate) fn prefix(&self, text: &'a str) -> Result<Prefix<'a>, Damaged> {
        let next = self.lower_bound(text.as_bytes())?;
        let text = text.as_bytes();
        // Behind a short key stand zeros: a text that ends with one needs a look at the key itself.
        let in_head = text.len() <= 8 && text.last().is_some_and(|byte| *byte != 0);
        let shift = if in_head { 64 - 8 * text.len() } else { 0 };
        Ok(Prefix { names: *self, text, in_head, shift, head: head(text) >> shift, next })
    }

    /// Keys within an edit distance of a text (at most 2; 0 finds the key itself), nearest first, then by rank.
    pub(crate) fn fuzzy(&self, text: &str, distance: u8) -> Result<Vec<Near>, Damaged> {
        // Every visited prefix is one of some key: an honest section has at most this many.
        let prefixes_max = self.text.len() + 1;
        let found = fuzzy::near(&self.fst, text, distance, prefixes_max).ok_or(DAMAGED_FST)?;
        let mut near = Vec::with_capacity(found.len());
        for (value, distance) in found {
            let rank = u32::try_from(value).ok().filter(|rank| (*rank as usize) < self.len());
            near.push(Near { distance, rank: rank.ok_or(DAMAGED_FST)? });
        }
        near.sort_unstable();
        Ok(near)
    }

    /// Checks that keys ascend, heads fit them, entries are entries and the transducer knows every key. Cost: the
    /// whole section; `verify` calls it.
    pub(crate) fn verify(&self) -> Result<(), Damaged> {
        let mut before = "";
        for rank in 0..u32::try_from(self.len()).map_err(|_| DAMAGED_KEY)? {
            let key = self.key(rank)?;
            if key <= before || self.heads.get(rank as usize) != Some(head(key.as_bytes())) {
                return Err(DAMAGED_KEY);
            }
            before = key;
            for entry in self.entries(rank)? {
                entry?;
            }
            if self.fst_rank(key) != Some(u64::from(rank)) {
                return Err(DAMAGED_FST);
            }
        }
        Ok(())
    }

    /// The value of a key in the transducer.
    fn fst_rank(&self, key: &str) -> Option<u64> {
        let (mut at, mut sum) = (self.fst.root(), 0_u64);
        for byte in key.bytes() {
            let node = self.fst.node(at)?;
            let i = (0..node.count).find(|i| node.input(*i) == Some(byte))?;
            let way = node.transition(i)?;
            sum = sum.checked_add(way.output)?;
            at = way.target;
        }
        sum.checked_add(self.fst.node(at)?.last?)
    }

    #[inline]
    fn key_bytes(&self, rank: usize) -> Result<&'a [u8], Damaged> {
        let (start, end) = self.text_ends.span(rank).ok_or(DAMAGED_KEY)?;
        self.text.get(start..end).ok_or(DAMAGED_KEY)
    }

    /// The first rank whose key is not below `text`.
    fn lower_bound(&self, text: &[u8]) -> Result<usize, Damaged> {
        let wanted = head(text);
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            let here = self.heads.get(middle).ok_or(DAMAGED_KEY)?;
            // Equal heads say nothing about what follows the eighth byte, nor about zeros behind a short key.
            let below = if here == wanted { self.key_bytes(middle)? < text } else { here < wanted };
            if below { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

/// The uses of a key.
#[derive(Clone, Debug)]
pub(crate) struct Entries<'a> {
    packed: U32s<'a>,
    next: usize,
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let packed = self.packed.get(self.next)?;
        self.next += 1;
        Some(Entry::unpack(packed).ok_or(DAMAGED_ENTRY))
    }
}

/// Ranks of keys that begin with a text.
#[derive(Clone, Debug)]
pub(crate) struct Prefix<'a> {
    names: Names<'a>,
    text: &'a [u8],
    /// Whether the heads alone decide: after a shift, which leaves as many bytes as the text has.
    in_head: bool,
    shift: usize,
    head: u64,
    next: usize,
}

impl Iterator for Prefix<'_> {
    type Item = Result<u32, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rank = self.next;
        let head = self.names.heads.get(rank)?;
        let begins = if self.in_head {
            head >> self.shift == self.head
        } else {
            match self.names.key_bytes(rank) {
                Ok(key) => key.starts_with(self.text),
                Err(damaged) => {
                    self.next = usize::MAX;
                    return Some(Err(damaged));
                }
            }
        };
        if !begins {
            self.next = usize::MAX;
            return None;
        }
        self.next += 1;
        Some(u32::try_from(rank).map_err(|_| DAMAGED_KEY))
    }
}

#[cfg(test)]
mod tests;
