//! Whole keys of a layer: normalised id, name or alias -> ordinals.
//!
//! ```text
//! 0   keys u32 | rows u32 | buckets u32 | seed u32 | entries u32 | text bytes u32 | zero, 40 bytes
//! 64  rows     rows x { hash u64 | text u32 | text_len u32 | entries u32 | entries_len u32 | chain u32 | zero u32 }
//!     pilots   buckets x u32
//!     entries  entries x u32   kind << 24 | ordinal, ascending in a key
//!     text
//! ```
//!
//! The first `keys` rows are addressed by the perfect hash; `hash` is the lower half of the 128-bit hash of the key.
//! A key with one entry keeps it in `entries` itself. Keys with equal 128-bit hashes (made on purpose: the hash is no
//! cryptographic one) hang on `chain`, which is the next row's number or zero.

use std::collections::BTreeMap;

use crate::index::bits::Bits;
use crate::index::hash::hash128;
use crate::index::le::{Cutter, U32s, low, put_u32s, size_u32};
use crate::index::names::Entry;
use crate::index::phf::{PerfectHash, PerfectHashRef};
use crate::index::sections::{BuildError, Damaged, SectionKind};

const HEADER_BYTES: usize = 64;
const ROW_BYTES: usize = 32;
const DAMAGED_ROW: Damaged = Damaged::new(SectionKind::Exact, "a row is not where the hash says");
const DAMAGED_ENTRY: Damaged = Damaged::new(SectionKind::Exact, "an entry is not where its row says");
const DAMAGED_CHAIN: Damaged = Damaged::new(SectionKind::Exact, "a chain of rows runs backwards");

/// One key: its place in the text and its entries.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    hash: u64,
    text: u32,
    text_len: u32,
    entries: u32,
    entries_len: u32,
    chain: u32,
}

impl Row {
    #[inline]
    fn read(bytes: &[u8; ROW_BYTES]) -> Self {
        let word = |i: usize| bytes.as_chunks::<4>().0.get(i).map_or(0, |b| u32::from_le_bytes(*b));
        Self {
            hash: u64::from(word(0)) | (u64::from(word(1)) << 32),
            text: word(2),
            text_len: word(3),
            entries: word(4),
            entries_len: word(5),
            chain: word(6),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash.to_le_bytes());
        put_u32s(out, &[self.text, self.text_len, self.entries, self.entries_len, self.chain, 0]);
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
    let mut keys: BTreeMap<(u128, &str), Vec<u32>> = BTreeMap::new();
    for (key, entry) in uses {
        if !key.is_empty() {
            keys.entry((hash(key), key)).or_default().push(entry.pack()?);
        }
    }
    let mut hashes: Vec<u128> = keys.keys().map(|(hash, _)| *hash).collect();
    hashes.dedup();
    let table = PerfectHash::build(&hashes)?;
    let (mut rows, mut entries, mut text) = (vec![Row::default(); hashes.len()], Vec::new(), Vec::new());
    let mut before = None;
    for ((hash, key), mut uses) in keys {
        uses.sort_unstable();
        uses.dedup();
        let row = Row {
            hash: low(hash),
            text: size_u32("the text of keys", text.len())?,
            text_len: size_u32("a key", key.len())?,
            entries: match uses.as_slice() {
                [one] => *one,
                _ => size_u32("the number of entries", entries.len())?,
            },
            entries_len: size_u32("the number of entries", uses.len())?,
            chain: 0,
        };
        text.extend_from_slice(key.as_bytes());
        if uses.len() > 1 {
            entries.extend_from_slice(&uses);
        }
        let place = match before {
            Some((same, at)) if same == hash => chain(&mut rows, at)?,
            _ => table.slot(hash).map_or(0, |slot| slot as usize),
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
    rows.push(Row::default());
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
    /// key that only hidden skills have is not compared as text. Cost: one pilot, one row, the text; no allocation.
    #[inline]
    pub(crate) fn lookup<'v>(&self, key: &str, visible: &'v Bits) -> Result<Matches<'a, 'v>, Damaged> {
        self.lookup_hash(hash128(key.as_bytes()), key, visible)
    }

    #[inline]
    fn lookup_hash<'v>(&self, hash: u128, key: &str, visible: &'v Bits) -> Result<Matches<'a, 'v>, Damaged> {
        let nothing = Matches { packed: U32s::default(), one: None, next: 0, visible };
        let Some(slot) = self.table.slot(hash) else { return Ok(nothing) };
        let mut at = slot as usize;
        loop {
            let row = Row::read(self.rows.get(at).ok_or(DAMAGED_ROW)?);
            let matches = self.matches(&row, visible)?;
            if (row.hash == low(hash)) & matches.any() && self.text_is(&row, key)? {
                return Ok(matches);
            }
            match row.chain as usize {
                0 => return Ok(nothing),
                next if next > at => at = next,
                _ => return Err(DAMAGED_CHAIN),
            }
        }
    }

    /// How many keys there are.
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Checks that every row is found by its own text and that its entries are entries; `verify` calls it.
    pub(crate) fn verify(&self, ordinals: u32) -> Result<(), Damaged> {
        let all = Bits::full(ordinals);
        for row in self.rows.iter().map(Row::read) {
            let (start, len) = (row.text as usize, row.text_len as usize);
            let text = self.text.get(start..start.saturating_add(len)).ok_or(DAMAGED_ROW)?;
            let text = std::str::from_utf8(text).map_err(|_| DAMAGED_ROW)?;
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
    fn text_is(&self, row: &Row, key: &str) -> Result<bool, Damaged> {
        let (start, len) = (row.text as usize, row.text_len as usize);
        let text = self.text.get(start..start.saturating_add(len)).ok_or(DAMAGED_ROW)?;
        Ok(text == key.as_bytes())
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
        let one = ("[a-c]{1,3}", 0_usize..3, 0_u32..90)
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
    fn a_chain_that_bites_its_tail_is_damage() {
        let alias = |number| Entry { kind: KeyKind::Alias, number };
        let mut bytes = build([("wifi", alias(1)), ("camera", alias(2))]).unwrap();
        for row in 0..2 {
            bytes[64 + row * 32 + 24] = 1;
        }
        let exact = Exact::open(&bytes).unwrap();
        let visible = Bits::full(9);
        let failed = ["a", "b", "c", "d"].iter().filter(|key| exact.lookup(key, &visible).is_err()).count();
        assert_eq!(failed, 4);
    }
}
