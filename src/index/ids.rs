//! The id index of a layer: id -> ordinal and place of the record.
//!
//! A look-up loads one pilot and one 64-byte row, whatever the id: there for a visible skill, a hidden one, or none.
//! Whether it answers is decided by `hash equal & visible` in one step, so that the time tells nothing of hidden
//! skills. Two ids with one hash cannot both stand in a layer; since the hash is no cryptographic one, the caller
//! compares the id's text in the record afterwards.
//!
//! ```text
//! 0   keys u32 | buckets u32 | seed u32 | zero, 52 bytes
//! 64  rows     keys x 64 bytes, in slot order
//!     pilots   buckets x u32
//! row: hash u128 | ordinal u32 | flags u32 | segment << 56 | offset u64 | length u32 | crc32c u32 | zero, 24 bytes
//! ```
//!
//! Rows are checked in blocks as they are touched: a flipped hash would read as "there is no such skill".

use crate::index::bits::Bits;
use crate::index::le::{Cutter, put_u32s, size_u32};
use crate::index::phf::{self, PerfectHash};
use crate::index::sections::{BuildError, Damaged, SectionKind};
use crate::snapshot::{Bytes, Lazy, RowLayout};

/// Bytes of a row and of the header: a cache line each.
const ROW_BYTES: usize = 64;

/// Where the place of a record stands in the rows from [`IdIndex::rows_at`] on.
pub(crate) const PLACES: RowLayout = RowLayout { stride: ROW_BYTES, at: 24 };

/// One row: everything that a look-up needs without touching the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// [`hash128`](crate::index::hash::hash128) of the id.
    pub(crate) hash: u128,
    /// Ordinal in the layer.
    pub(crate) ordinal: u32,
    /// Meaning is the catalog's: status, kind and risks.
    pub(crate) flags: u32,
    /// Segment that holds the record, and where it begins there: `segment << 56 | offset`.
    pub(crate) place: u64,
    /// Bytes of the record.
    pub(crate) length: u32,
    /// Checksum of the record's bytes.
    pub(crate) crc32c: u32,
}

impl Row {
    /// Decodes a row. Cost: loads from one cache line; those not used are left out by the compiler.
    #[inline]
    fn read(bytes: &[u8; ROW_BYTES]) -> Self {
        let word = |i: usize| bytes.as_chunks::<4>().0.get(i).map_or(0, |b| u32::from_le_bytes(*b));
        let long = |i: usize| u64::from(word(i)) | (u64::from(word(i + 1)) << 32);
        Self {
            hash: u128::from(long(0)) | (u128::from(long(2)) << 64),
            ordinal: word(4),
            flags: word(5),
            place: long(6),
            length: word(8),
            crc32c: word(9),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let end = out.len() + ROW_BYTES;
        out.extend_from_slice(&self.hash.to_le_bytes());
        put_u32s(out, &[self.ordinal, self.flags]);
        out.extend_from_slice(&self.place.to_le_bytes());
        put_u32s(out, &[self.length, self.crc32c]);
        out.resize(end, 0);
    }
}

/// Builds the section from rows in any order. Fails with [`BuildError::SameHash`] (positions in `rows`) if an id
/// stands there twice or two ids share a hash. Cost: about 0.4 s for a million rows.
pub(crate) fn build(rows: &[Row]) -> Result<Vec<u8>, BuildError> {
    let hashes: Vec<u128> = rows.iter().map(|row| row.hash).collect();
    let table = PerfectHash::build(&hashes)?;
    let mut by_slot = vec![Row::default(); rows.len()];
    for row in rows {
        if let Some(place) = table.slot(row.hash).and_then(|slot| by_slot.get_mut(slot as usize)) {
            *place = *row;
        }
    }
    let mut out = Vec::with_capacity((rows.len() + 1) * ROW_BYTES + table.pilots.len() * 4);
    put_u32s(&mut out, &[table.keys, size_u32("the number of buckets", table.pilots.len())?, table.seed]);
    out.resize(ROW_BYTES, 0);
    for row in &by_slot {
        row.write(&mut out);
    }
    put_u32s(&mut out, &table.pilots);
    Ok(out)
}

/// The section, open for look-ups.
#[derive(Debug)]
pub(crate) struct IdIndex {
    section: Lazy,
    seed: u32,
    keys: u32,
    buckets: usize,
    /// Where the pilots begin.
    pilots_at: usize,
}

const DAMAGED_BLOCK: Damaged = Damaged::new(SectionKind::Ids, "a block does not match its checksum");

impl IdIndex {
    /// Opens the section; it should begin at a multiple of 64 in memory. Cost: one block.
    pub(crate) fn open(section: Lazy) -> Result<Self, Damaged> {
        let head = section.get(0, ROW_BYTES.min(section.len())).ok_or(DAMAGED_BLOCK)?;
        let mut header = Cutter::new(SectionKind::Ids, head);
        let (keys, buckets, seed) = (header.u32()?, header.size()?, header.u32()?);
        let wrong = Damaged::new(SectionKind::Ids, "rows and buckets do not fit each other");
        let pilots_at = (keys as usize + 1) * ROW_BYTES;
        let end = buckets.checked_mul(4).and_then(|bytes| bytes.checked_add(pilots_at));
        if end != Some(section.len()) || (keys == 0) != (buckets == 0) {
            return Err(wrong);
        }
        Ok(Self { section, seed, keys, buckets, pilots_at })
    }

    /// Slot and row of an id's hash if it is visible. Reads the same memory for a hidden id as for a visible one.
    #[inline]
    pub(crate) fn lookup(&self, hash: u128, visible: &Bits) -> Result<Option<(u32, Row)>, Damaged> {
        let Some((slot, row)) = self.candidate(hash)? else { return Ok(None) };
        let same = u64::from(row.hash == hash);
        Ok(if same & visible.bit(row.ordinal) == 1 { Some((slot, row)) } else { None })
    }

    /// Slot and row of an id's hash, visible or not: for those who build and verify.
    pub(crate) fn row(&self, hash: u128) -> Result<Option<(u32, Row)>, Damaged> {
        Ok(self.candidate(hash)?.filter(|(_, row)| row.hash == hash))
    }

    /// The rows as bytes, for [`PLACES`]. What is read of a row here is checked by the checksum in it.
    pub(crate) fn row_bytes(&self) -> Option<Bytes> {
        self.section.unchecked().part(ROW_BYTES as u64, u64::from(self.keys) * ROW_BYTES as u64)
    }

    /// All rows, in slot order. Cost: their checksums.
    pub(crate) fn rows(&self) -> Result<impl ExactSizeIterator<Item = Row> + '_, Damaged> {
        let rows = self.section.get(ROW_BYTES, self.pilots_at - ROW_BYTES).ok_or(DAMAGED_BLOCK)?;
        Ok(rows.as_chunks().0.iter().map(Row::read))
    }

    /// Checks that every row is found under its own hash. Cost: one look-up a row; `verify` calls it.
    pub(crate) fn verify(&self) -> Result<(), Damaged> {
        for (slot, row) in (0..).zip(self.rows()?) {
            if self.slot(row.hash)? != Some(slot) {
                return Err(Damaged::new(SectionKind::Ids, "a row is not where its hash says"));
            }
        }
        Ok(())
    }

    /// The only slot where a hash can be; any number if pilots are damaged in a way that their checksum does not show.
    #[inline]
    fn slot(&self, hash: u128) -> Result<Option<u32>, Damaged> {
        if self.keys == 0 {
            return Ok(None);
        }
        let key = phf::Key::new(hash, self.seed, self.buckets);
        let pilot = self.section.get(self.pilots_at + key.bucket * 4, 4).ok_or(DAMAGED_BLOCK)?;
        Ok(pilot.first_chunk().map(|pilot| key.slot(u32::from_le_bytes(*pilot), self.keys)))
    }

    #[inline]
    fn candidate(&self, hash: u128) -> Result<Option<(u32, Row)>, Damaged> {
        let Some(slot) = self.slot(hash)? else { return Ok(None) };
        if slot >= self.keys {
            return Err(Damaged::new(SectionKind::Ids, "a pilot points beyond the rows"));
        }
        let row = self.section.get((slot as usize + 1) * ROW_BYTES, ROW_BYTES).ok_or(DAMAGED_BLOCK)?;
        Ok(row.first_chunk().map(|row| (slot, Row::read(row))))
    }
}

#[cfg(test)]
mod tests {
    use super::{IdIndex, Row, build};
    use crate::index::bits::Bits;
    use crate::index::hash::hash128;
    use crate::index::sections::BuildError;
    use crate::snapshot::Lazy;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn row(id: &str, ordinal: u32) -> Row {
        Row {
            hash: hash128(id.as_bytes()),
            ordinal,
            flags: ordinal ^ 5,
            place: (u64::from(ordinal % 5) << 56) | ((u64::from(ordinal) << 33) + 16),
            length: 1_000 + ordinal,
            crc32c: !ordinal,
        }
    }

    fn rows(n: u32) -> Vec<Row> {
        (0..n).map(|i| row(&format!("com.example.skill-{i}"), i)).collect()
    }

    proptest! {
        #[test]
        fn look_ups_equal_a_tree_map(ids in proptest::collection::btree_set("[a-c]{1,5}", 0..60), hidden: Vec<u8>) {
            let map: BTreeMap<String, u32> = ids.into_iter().zip(0..).collect();
            let rows: Vec<Row> = map.iter().map(|(id, ordinal)| row(id, *ordinal)).collect();
            let bytes = build(&rows).unwrap();
            let index = IdIndex::open(Lazy::of(&bytes)).unwrap();
            index.verify().unwrap();
            prop_assert_eq!(index.rows().unwrap().len(), rows.len());
            let mut visible = Bits::full(60);
            for ordinal in &hidden {
                visible.clear(u32::from(*ordinal));
            }
            for id in map.keys().cloned().chain([String::new(), "d".to_owned(), "aaaaaa".to_owned()]) {
                let hash = hash128(id.as_bytes());
                let expected = map.get(&id).map(|ordinal| row(&id, *ordinal));
                prop_assert_eq!(index.row(hash).unwrap().map(|(_, row)| row), expected);
                let seen = expected.filter(|row| visible.test(row.ordinal));
                prop_assert_eq!(index.lookup(hash, &visible).unwrap().map(|(_, row)| row), seen);
            }
        }

        #[test]
        fn flipped_bytes_are_never_a_panic(flips in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..8), cut: u16) {
            let mut bytes = build(&rows(40)).unwrap();
            for (at, with) in flips {
                let at = usize::from(at) % bytes.len();
                bytes[at] ^= with;
            }
            if cut % 3 == 0 {
                bytes.truncate(usize::from(cut) % (bytes.len() + 1));
            }
            if let Ok(index) = IdIndex::open(Lazy::of(&bytes)) {
                let visible = Bits::full(40);
                for row in rows(60) {
                    let _ = (index.lookup(row.hash, &visible), index.row(row.hash));
                }
                let _ = index.verify();
            }
        }
    }

    #[test]
    fn an_id_that_stands_there_twice_is_named() {
        let mut twice = rows(10);
        twice.push(twice[3]);
        assert_eq!(build(&twice), Err(BuildError::SameHash { first: 3, second: 10 }));
    }

    #[test]
    fn the_order_of_the_rows_does_not_change_the_bytes() {
        let mut shuffled = rows(500);
        let bytes = build(&shuffled).unwrap();
        shuffled.rotate_left(123);
        shuffled.reverse();
        assert_eq!(build(&shuffled).unwrap(), bytes);
    }

    #[test]
    fn a_pilot_beyond_the_rows_is_damage_and_not_an_absent_id() {
        let mut bytes = build(&rows(1)).unwrap();
        let pilot = bytes.len() - 4;
        bytes[pilot] = 9;
        let index = IdIndex::open(Lazy::of(&bytes)).unwrap();
        assert!(index.lookup(rows(1)[0].hash, &Bits::full(1)).is_err());
    }
}
