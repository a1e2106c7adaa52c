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
//! ```

use crate::index::bits::Bits;
use crate::index::le::{Cutter, put_u32, put_u32s, size_u32};
use crate::index::phf::{PerfectHash, PerfectHashRef};
use crate::index::sections::{BuildError, Damaged, SectionKind};

/// Bytes of a row and of the header: a cache line each.
const ROW_BYTES: usize = 64;

/// One row: everything that a look-up needs without touching the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// [`hash128`](crate::index::hash::hash128) of the id.
    pub(crate) hash: u128,
    /// Ordinal in the layer.
    pub(crate) ordinal: u32,
    /// Meaning is the catalog's: kind, risk, status, format of the record.
    pub(crate) flags: u32,
    /// Segment that holds the record.
    pub(crate) segment: u32,
    /// Bytes of the record.
    pub(crate) record_len: u32,
    /// Where the record begins in its section.
    pub(crate) record_offset: u64,
    /// Checksum of the record's bytes.
    pub(crate) record_crc32c: u32,
    /// Kept for later versions: zero.
    pub(crate) reserved: [u32; 5],
}

impl Row {
    /// Decodes a row. Cost: eleven loads from one cache line; those not used are left out by the compiler.
    #[inline]
    fn read(bytes: &[u8; ROW_BYTES]) -> Self {
        let word = |i: usize| bytes.as_chunks::<4>().0.get(i).map_or(0, |b| u32::from_le_bytes(*b));
        let long = |i: usize| u64::from(word(i)) | (u64::from(word(i + 1)) << 32);
        Self {
            hash: u128::from(long(0)) | (u128::from(long(2)) << 64),
            ordinal: word(4),
            flags: word(5),
            segment: word(6),
            record_len: word(7),
            record_offset: long(8),
            record_crc32c: word(10),
            reserved: [word(11), word(12), word(13), word(14), word(15)],
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash.to_le_bytes());
        put_u32s(out, &[self.ordinal, self.flags, self.segment, self.record_len]);
        out.extend_from_slice(&self.record_offset.to_le_bytes());
        put_u32(out, self.record_crc32c);
        put_u32s(out, &self.reserved);
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids<'a> {
    rows: &'a [[u8; ROW_BYTES]],
    table: PerfectHashRef<'a>,
}

impl<'a> Ids<'a> {
    /// Opens the section; it should begin at a multiple of 64 in memory. Cost: constant.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let mut cutter = Cutter::new(SectionKind::Ids, bytes);
        let mut header = Cutter::new(SectionKind::Ids, cutter.take(ROW_BYTES)?);
        let (keys, buckets, seed) = (header.u32()?, header.size()?, header.u32()?);
        let rows = cutter.take_items(keys as usize, ROW_BYTES)?.as_chunks().0;
        let pilots = cutter.u32s(buckets)?;
        cutter.finish()?;
        if (keys == 0) != (buckets == 0) {
            return Err(Damaged::new(SectionKind::Ids, "rows and buckets do not fit each other"));
        }
        Ok(Self { rows, table: PerfectHashRef::new(seed, keys, pilots) })
    }

    /// The row of an id's hash if it is visible. Reads the same memory for a hidden id as for a visible one.
    #[inline]
    pub(crate) fn lookup(&self, hash: u128, visible: &Bits) -> Result<Option<Row>, Damaged> {
        let Some(row) = self.candidate(hash)? else { return Ok(None) };
        let same = u64::from(row.hash == hash);
        Ok(if same & visible.bit(row.ordinal) == 1 { Some(row) } else { None })
    }

    /// The row of an id's hash, visible or not: for those who build and verify.
    pub(crate) fn row(&self, hash: u128) -> Result<Option<Row>, Damaged> {
        Ok(self.candidate(hash)?.filter(|row| row.hash == hash))
    }

    /// How many ids there are.
    #[cfg(test)]
    pub(crate) const fn len(&self) -> usize {
        self.rows.len()
    }

    /// All rows, in slot order.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = Row> + use<'a> {
        self.rows.iter().map(Row::read)
    }

    /// Checks that every row is found under its own hash. Cost: one look-up a row; `verify` calls it.
    pub(crate) fn verify(&self) -> Result<(), Damaged> {
        for (i, row) in self.rows().enumerate() {
            if self.table.slot(row.hash).map(|slot| slot as usize) != Some(i) {
                return Err(Damaged::new(SectionKind::Ids, "a row is not where its hash says"));
            }
        }
        Ok(())
    }

    #[inline]
    fn candidate(&self, hash: u128) -> Result<Option<Row>, Damaged> {
        let Some(slot) = self.table.slot(hash) else { return Ok(None) };
        match self.rows.get(slot as usize) {
            Some(row) => Ok(Some(Row::read(row))),
            None => Err(Damaged::new(SectionKind::Ids, "a pilot points beyond the rows")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ids, Row, build};
    use crate::index::bits::Bits;
    use crate::index::hash::hash128;
    use crate::index::sections::BuildError;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn row(id: &str, ordinal: u32) -> Row {
        Row {
            hash: hash128(id.as_bytes()),
            ordinal,
            flags: ordinal ^ 5,
            segment: ordinal % 5,
            record_len: 1_000 + ordinal,
            record_offset: (u64::from(ordinal) << 33) + 16,
            record_crc32c: !ordinal,
            reserved: [0; 5],
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
            let index = Ids::open(&bytes).unwrap();
            index.verify().unwrap();
            prop_assert_eq!(index.len(), rows.len());
            let mut visible = Bits::full(60);
            for ordinal in &hidden {
                visible.clear(u32::from(*ordinal));
            }
            for id in map.keys().cloned().chain([String::new(), "d".to_owned(), "aaaaaa".to_owned()]) {
                let hash = hash128(id.as_bytes());
                let expected = map.get(&id).map(|ordinal| row(&id, *ordinal));
                prop_assert_eq!(index.row(hash).unwrap(), expected);
                let seen = expected.filter(|row| visible.test(row.ordinal));
                prop_assert_eq!(index.lookup(hash, &visible).unwrap(), seen);
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
            if let Ok(index) = Ids::open(&bytes) {
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
        let index = Ids::open(&bytes).unwrap();
        assert!(index.lookup(rows(1)[0].hash, &Bits::full(1)).is_err());
    }
}
