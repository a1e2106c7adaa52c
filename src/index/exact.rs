//! Whole keys of a layer: normalised id, name or alias -> ordinals.
//!
//! ```text
//! 0   keys u32 | rows u32 | buckets u32 | seed u32 | entries u32 | text bytes u32 | zero, 40 bytes
//! 64  rows     rows x { hash u64 | entries u32 | entries_len u32 | chain u32 | text_len u32 | text, 40 bytes }
//!     pilots   buckets x u32
//!     entries  entries x u32   kind << 24 | ordinal, ascending in a key
//!     text     the keys of more than 40 bytes
//! ```
//!
//! The first `keys` rows are addressed by the perfect hash; `hash` is the lower half of the 128-bit hash of the key.
//! A key with one entry keeps it in `entries` itself; a key of up to 40 bytes stands in its row with zeros behind it,
//! so that a look-up is one cache line; of a longer one the row holds the offset (u32) into the text. Keys with equal 128-bit hashes (made on purpose: the hash is no
//! cryptographic one) hang on `chain`, which is the next row's number or zero.

use crate::index::bits::Bits;
use crate::index::hash::hash128;
use crate::index::le::{Cutter, U32s, low, put_u32s, size_u32, u32_at};
use crate::index::names::Entry;
use crate::index::phf::{PerfectHash, PerfectHashRef};
use crate::index::sections::{BuildError, Damaged, SectionKind};

const HEADER_BYTES: usize = 64;
const ROW_BYTES: usize = 64;
/// Where the text begins in a row.
const TEXT_AT: usize = 24;
/// Longest key that stands in its row.
const INLINE_MAX: usize = ROW_BYTES - TEXT_AT;
/// Most rows on one chain: nobody gets there by chance.
const CHAIN_MAX: usize = 1_000;
const DAMAGED_ROW: Damaged = Damaged::new(SectionKind::Exact, "a row is not where the hash says");
const DAMAGED_ENTRY: Damaged = Damaged::new(SectionKind::Exact, "an entry is not where its row says");
const DAMAGED_CHAIN: Damaged =
    Damaged::new(SectionKind::Exact, "a chain of rows is too long or runs backwards");

/// One key: its entries and where its text is.
#[derive(Clone, Copy, Debug)]
struct Row {
    hash: u64,
    entries: u32,
    entries_len: u32,
    chain: u32,
    text_len: u32,
    /// The text, or where it begins.
    text: [u8; INLINE_MAX],
}

impl Row {
    const EMPTY: Self =
        Self { hash: 0, entries: 0, entries_len: 0, chain: 0, text_len: 0, text: [0; INLINE_MAX] };

    #[inline]
    fn read(bytes: &[u8; ROW_BYTES]) -> Self {
        let word = |i: usize| bytes.as_chunks::<4>().0.get(i).map_or(0, |b| u32::from_le_bytes(*b));
        Self {
            hash: u64::from(word(0)) | (u64::from(word(1)) << 32),
            entries: word(2),
            entries_len: word(3),
            chain: word(4),
            text_len: word(5),
            text: bytes.last_chunk().copied().unwrap_or([0; INLINE_MAX]),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash.to_le_bytes());
        put_u32s(out, &[self.entries, self.entries_len, self.chain, self.text_len]);
        out.extend_from_slice(&self.text);
    }

    /// Puts a key into the row, or behind `long` if it does not fit.
    fn put_text(&mut self, key: &str, long: &mut Vec<u8>) -> Result<(), BuildError> {
        self.text_len = size_u32("a key", key.len())?;
        if let Some(place) = self.text.get_mut(..key.len()) {
            place.copy_from_slice(key.as_bytes());
        } else {
            let at = size_u32("the text of keys", long.len())?;
            if let Some(place) = self.text.first_chunk_mut() {
                *place = at.to_le_bytes();
            }
            long.extend_from_slice(key.as_bytes());
        }
        Ok(())
    }
}

/// Builds the section from normalised keys in any order; an entry's number is an ordinal. Empty keys are left out,
/// repeated entries kept once.
pub(crate) fn build<'k>(uses: impl IntoIterator<Item = (&'k str, Entry)>) -> Result<Vec<u8>, BuildError> {
    build_with(uses, |key| hash128(key.as_bytes()))
}

/// [`build`] with a hash function of the caller's: the tests make keys collide.
fn build_with<'k>(
    uses: impl IntoIterator<Item = (&'k str, Entry)>,
    hash: impl Fn(&str) -> u128,
) -> Result<Vec<u8>, BuildError> {
    let mut keys: Vec<(u128, &str, u32)> = Vec::new();
    for (key, entry) in uses {
        if !key.is_empty() {
            keys.push((hash(key), key, entry.pack()?));
        }
    }
    // Most comparisons end at the hash; texts are looked at only for repeated and for colliding keys.
    keys.sort_unstable();
    keys.dedup();
    let mut hashes: Vec<u128> = keys.iter().map(|(hash, ..)| *hash).collect();
    hashes.dedup();
    let table = PerfectHash::build(&hashes)?;
    let (mut rows, mut entries, mut text) = (vec![Row::EMPTY; hashes.len()], Vec::new(), Vec::new());
    let (mut before, mut chained) = (None, 0);
    for uses in keys.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let Some((hash, key, first)) = uses.first() else { continue };
        let mut row = Row {
            hash: low(*hash),
            entries: if uses.len() == 1 { *first } else { size_u32("the number of entries", entries.len())? },
            entries_len: size_u32("the number of entries", uses.len())?,
            ..Row::EMPTY
        };
        row.put_text(key, &mut text)?;
        if uses.len() > 1 {
            entries.extend(uses.iter().map(|(.., packed)| *packed));
        }
        let place = match before {
            Some((same, at)) if same == hash => {
                chained += 1;
                if chained > CHAIN_MAX {
                    let (what, found) = ("the number of keys with one hash", chained);
                    return Err(BuildError::TooLarge { what, found, limit: CHAIN_MAX });
                }
                chain(&mut rows, at)?
            }
            _ => {
                chained = 0;
                table.slot(*hash).map_or(0, |slot| slot as usize)
            }
        };
        if let Some(slot) = rows.get_mut(place) {
            *slot = row;
        }
        before = Some((hash, place));
    }
    write(&table, &rows, &entries, &text)
}

/// Appends a row and hangs it on row `at`; answers its place.
fn chain(rows: &mut Vec<Row>, at: usize) -> Result<usize, BuildError> {
    let place = rows.len();
    let number = size_u32("the number of keys", place)?;
    if let Some(row) = rows.get_mut(at) {
        row.chain = number;
    }
    rows.push(Row::EMPTY);
    Ok(place)
}

fn write(table: &PerfectHash, rows: &[Row], entries: &[u32], text: &[u8]) -> Result<Vec<u8>, BuildError> {
    let mut out = Vec::with_capacity(HEADER_BYTES + rows.len() * (ROW_BYTES + 2) + text.len());
    put_u32s(
        &mut out,
        &[
            table.keys,
            size_u32("the number of keys", rows.len())?,
            size_u32("the number of buckets", table.pilots.len())?,
            table.seed,
            size_u32("the number of entries", entries.len())?,
            size_u32("the text of keys", text.len())?,
        ],
    );
    out.resize(HEADER_BYTES, 0);
    for row in rows {
        row.write(&mut out);
    }
    put_u32s(&mut out, &table.pilots);
    put_u32s(&mut out, entries);
    out.extend_from_slice(text);
    Ok(out)
}

/// The section, open for look-ups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact<'a> {
    rows: &'a [[u8; ROW_BYTES]],
    table: PerfectHashRef<'a>,
    entries: U32s<'a>,
    text: &'a [u8],
}

impl<'a> Exact<'a> {
    /// Opens the section. Cost: constant.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let mut cutter = Cutter::new(SectionKind::Exact, bytes);
        let mut header = Cutter::new(SectionKind::Exact, cutter.take(HEADER_BYTES)?);
        let (keys, rows, buckets) = (header.u32()?, header.size()?, header.size()?);
        let (seed, entries, text) = (header.u32()?, header.size()?, header.size()?);
        let rows = cutter.take_items(rows, ROW_BYTES)?.as_chunks().0;
        let pilots = cutter.u32s(buckets)?;
        let entries = cutter.u32s(entries)?;
        let text = cutter.take(text)?;
        cutter.finish()?;
        if keys as usize > rows.len() || (keys == 0) != (buckets == 0) {
            return Err(Damaged::new(SectionKind::Exact, "keys, rows and buckets do not fit each other"));
        }
        Ok(Self { rows, table: PerfectHashRef::new(seed, keys, pilots), entries, text })
    }

    /// The visible uses of a key: ids first, then names, then aliases, each by ordinal; none if there are none. A
    /// key that only hidden skills have is not compared as text. Cost: one pilot and one row; no allocation.
    #[inline]
    pub(crate) fn lookup<'v>(&self, key: &str, visible: &'v Bits) -> Result<Matches<'a, 'v>, Damaged> {
        self.lookup_hash(hash128(key.as_bytes()), key, visible)
    }

    #[inline]
    fn lookup_hash<'v>(&self, hash: u128, key: &str, visible: &'v Bits) -> Result<Matches<'a, 'v>, Damaged> {
        let nothing = Matches { packed: U32s::default(), one: None, next: 0, visible };
        let Some(slot) = self.table.slot(hash) else { return Ok(nothing) };
        let mut at = slot as usize;
        for _ in 0..=CHAIN_MAX {
            let row = Row::read(self.rows.get(at).ok_or(DAMAGED_ROW)?);
            let matches = self.matches(&row, visible)?;
            if (row.hash == low(hash)) & matches.any() && self.text_of(&row)? == key.as_bytes() {
                return Ok(matches);
            }
            match row.chain as usize {
                0 => return Ok(nothing),
                next if next > at => at = next,
                _ => break,
            }
        }
        Err(DAMAGED_CHAIN)
    }

    /// Every use of every key, in no order; each use once.
    pub(crate) fn uses(&self) -> impl Iterator<Item = Result<(&'a str, Entry), Damaged>> + '_ {
        self.rows.iter().flat_map(|bytes| {
            let row = Row::read(bytes);
            let len = row.text_len as usize;
            let text = match bytes.get(TEXT_AT..).and_then(|text| text.get(..len)) {
                Some(text) => Some(text),
                None => {
                    u32_at(&row.text, 0).and_then(|start| self.text.get(start as usize..start as usize + len))
                }
            };
            let text = text.and_then(|text| std::str::from_utf8(text).ok()).ok_or(DAMAGED_ROW);
            let (start, end) = (row.entries as usize, row.entries as usize + row.entries_len as usize);
            let many = if row.entries_len == 1 {
                U32s::default()
            } else {
                self.entries.slice(start, end).unwrap_or_default()
            };
            let one = (row.entries_len == 1).then_some(row.entries);
            one.into_iter()
                .chain(many.iter())
                .map(move |packed| Ok((text?, Entry::unpack(packed).ok_or(DAMAGED_ENTRY)?)))
        })
    }

    /// How many keys there are.
    #[cfg(test)]
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Checks that every row is found by its own text and that its entries are entries; `verify` calls it.
    pub(crate) fn verify(&self, ordinals: u32) -> Result<(), Damaged> {
        let all = Bits::full(ordinals);
        let mut listed = 0_usize;
        for row in self.rows.iter().map(Row::read) {
            if row.entries_len > 1 {
                listed = listed.saturating_add(row.entries_len as usize);
            }
            // Lists are not shared: without this a small file could make the check take for ever.
            if listed > self.entries.len() {
                return Err(DAMAGED_ENTRY);
            }
            let text = std::str::from_utf8(self.text_of(&row)?).map_err(|_| DAMAGED_ROW)?;
            let mut found = 0_usize;
            for entry in self.lookup(text, &all)? {
                entry?;
                found += 1;
            }
            if found != row.entries_len as usize || found == 0 {
                return Err(DAMAGED_ENTRY);
            }
        }
        Ok(())
    }

    #[inline]
    fn matches<'v>(&self, row: &Row, visible: &'v Bits) -> Result<Matches<'a, 'v>, Damaged> {
        if row.entries_len == 1 {
            return Ok(Matches { packed: U32s::default(), one: Some(row.entries), next: 0, visible });
        }
        let (start, len) = (row.entries as usize, row.entries_len as usize);
        let packed = self.entries.slice(start, start.saturating_add(len)).ok_or(DAMAGED_ENTRY)?;
        Ok(Matches { packed, one: None, next: 0, visible })
    }

    #[inline]
    fn text_of<'r>(&'r self, row: &'r Row) -> Result<&'r [u8], Damaged> {
        let len = row.text_len as usize;
        if let Some(text) = row.text.get(..len) {
            return Ok(text);
        }
        let start = u32_at(&row.text, 0).ok_or(DAMAGED_ROW)? as usize;
        self.text.get(start..start.saturating_add(len)).ok_or(DAMAGED_ROW)
    }
}

/// Visible uses of a key.
#[derive(Clone, Debug)]
pub(crate) struct Matches<'a, 'v> {
    packed: U32s<'a>,
    one: Option<u32>,
    next: usize,
    visible: &'v Bits,
}

impl Matches<'_, '_> {
    /// Whether there is any.
    #[inline]
    fn any(&self) -> bool {
        self.clone().next().is_some()
    }

    #[inline]
    fn packed(&mut self) -> Option<u32> {
        if let Some(one) = self.one.take() {
            return Some(one);
        }
        let packed = self.packed.get(self.next)?;
        self.next += 1;
        Some(packed)
    }
}

impl Iterator for Matches<'_, '_> {
    type Item = Result<Entry, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(entry) = Entry::unpack(self.packed()?) else { return Some(Err(DAMAGED_ENTRY)) };
            if self.visible.test(entry.number) {
                return Some(Ok(entry));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Exact, build, build_with};
    use crate::index::bits::Bits;
    use crate::index::names::{Entry, KeyKind};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const KINDS: [KeyKind; 3] = [KeyKind::Id, KeyKind::Name, KeyKind::Alias];

    fn uses() -> impl Strategy<Value = Vec<(String, Entry)>> {
        let one = (prop_oneof!["[a-c]{1,3}", "[ab]{38,42}"], 0_usize..3, 0_u32..90)
            .prop_map(|(key, kind, number)| (key, Entry { kind: KINDS[kind], number }));
        proptest::collection::vec(one, 0..120)
    }

    fn section(uses: &[(String, Entry)]) -> Vec<u8> {
        build(uses.iter().map(|(key, entry)| (key.as_str(), *entry))).unwrap()
    }

    proptest! {
        #[test]
        fn look_ups_equal_a_tree_map(uses in uses(), hidden in proptest::collection::vec(0_u32..90, 0..60)) {
            let bytes = section(&uses);
            let exact = Exact::open(&bytes).unwrap();
            exact.verify(90).unwrap();
            let mut visible = Bits::full(90);
            for ordinal in hidden {
                visible.clear(ordinal);
            }
            let mut map: BTreeMap<&str, BTreeSet<Entry>> = BTreeMap::new();
            for (key, entry) in &uses {
                map.entry(key).or_default().insert(*entry);
            }
            prop_assert_eq!(exact.len(), map.len());
            for key in map.keys().copied().chain(["", "d", "abcabc"]) {
                let found: Vec<Entry> = exact.lookup(key, &visible).unwrap().map(Result::unwrap).collect();
                let expected = map.get(key).into_iter().flatten().copied();
                prop_assert_eq!(found, expected.filter(|e| visible.test(e.number)).collect::<Vec<_>>());
            }
        }

        #[test]
        fn flipped_bytes_are_never_a_panic(uses in uses(), at: prop::sample::Index, with: u8, cut: prop::sample::Index) {
            let mut bytes = section(&uses);
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            let visible = Bits::full(90);
            for end in [cut.index(bytes.len() + 1), bytes.len()] {
                let Ok(exact) = Exact::open(&bytes[..end]) else { continue };
                let _ = exact.verify(90);
                for (key, _) in &uses {
                    if let Ok(found) = exact.lookup(key, &visible) {
                        found.for_each(drop);
                    }
                }
            }
        }

        #[test]
        fn the_order_of_the_uses_does_not_change_the_bytes(mut uses in uses()) {
            let bytes = section(&uses);
            uses.reverse();
            prop_assert_eq!(section(&uses), bytes);
        }
    }

    #[test]
    fn keys_with_one_hash_are_told_apart_by_their_text() {
        let keys: Vec<String> = (0..200).map(|i| format!("key {i}")).collect();
        let hash = |key: &str| u128::from(key.len() as u64 * 3 + u64::from(key.as_bytes()[4])) << 64;
        let entry = |number| Entry { kind: KeyKind::Name, number };
        let bytes = build_with(keys.iter().map(String::as_str).zip((0..).map(entry)), hash).unwrap();
        let exact = Exact::open(&bytes).unwrap();
        let mut visible = Bits::full(200);
        visible.clear(7);
        for (key, number) in keys.iter().zip(0..) {
            let found: Vec<Entry> =
                exact.lookup_hash(hash(key), key, &visible).unwrap().map(Result::unwrap).collect();
            let expected = if number == 7 { vec![] } else { vec![entry(number)] };
            assert_eq!(found, expected, "{key}");
        }
        assert_eq!(exact.lookup_hash(hash("key 1"), "key x", &visible).unwrap().count(), 0);
    }

    #[test]
    fn more_keys_with_one_hash_than_a_chain_holds_are_refused() {
        let keys: Vec<String> = (0..=super::CHAIN_MAX + 1).map(|i| i.to_string()).collect();
        let entry = Entry { kind: KeyKind::Name, number: 1 };
        let all = |n: usize| build_with(keys.iter().take(n).map(|key| (key.as_str(), entry)), |_| 7);
        let bytes = all(super::CHAIN_MAX + 1).unwrap();
        let exact = Exact::open(&bytes).unwrap();
        for key in &keys[..=super::CHAIN_MAX] {
            assert_eq!(exact.lookup_hash(7, key, &Bits::full(2)).unwrap().count(), 1);
        }
        assert!(all(super::CHAIN_MAX + 2).is_err());
    }

    #[test]
    fn a_chain_that_bites_its_tail_is_damage() {
        let alias = |number| Entry { kind: KeyKind::Alias, number };
        let mut bytes = build([("wifi", alias(1)), ("camera", alias(2))]).unwrap();
        for row in 0..2 {
            bytes[64 + row * 64 + 16] = 1;
        }
        let exact = Exact::open(&bytes).unwrap();
        let visible = Bits::full(9);
        let failed = ["a", "b", "c", "d"].iter().filter(|key| exact.lookup(key, &visible).is_err()).count();
        assert_eq!(failed, 4);
    }
}
