//! Records that are checked on their first touch and trusted afterwards: the second of the two files with `unsafe`.
//!
//! The first touch of a record verifies its crc32c **and** runs bytecheck (a checksum alone does not stop a hostile
//! file, bytecheck alone does not notice most bit flips), then sets a bit; later touches read the bit. Threads that
//! race on the first touch all do the work and come to the same answer: the bytes are immutable.
//!
//! The bit of an index may only ever speak of one range of bytes and one type. That is why [`Records`] reads the
//! place of a record from rows that it owns, and why [`Ranges`] remembers the place itself.
#![expect(unsafe_code, reason = "access without a second check; each block names the earlier check")]

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use rkyv::Portable;
use rkyv::api::high::HighValidator;
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Failure;

use super::map::Bytes;
use super::sections::{get_u32, get_u64};
use crate::error::StorageError;

/// Bits of a row's place that number the payload; the lower 56 are the offset in it.
pub(crate) const PAYLOAD_SHIFT: u32 = 56;
/// Records begin at multiples of this in their section.
pub(crate) const RECORD_ALIGNMENT: usize = 16;
/// Bits of a remembered length.
const LENGTH_BITS: u32 = 24;

/// Where a row says where its record is: at `at` stand u64 place, u32 length, u32 crc32c, little-endian.
///
/// The place is `payload << 56 | offset`: which of the payload sections, and where in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLayout {
    /// Bytes of a row.
    pub(crate) stride: usize,
    /// Offset of the place in a row.
    pub(crate) at: usize,
}

/// Archives of one type in the payload sections of a layer.
pub(crate) struct Records<T> {
    rows: Bytes,
    layout: RowLayout,
    payloads: Vec<Bytes>,
    checked: Box<[AtomicU64]>,
    archive: PhantomData<fn() -> T>,
}

/// Why a record or a range was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    /// There is no row of that index, or it points outside.
    #[error("record {0} is outside of its section")]
    Outside(usize),
    /// The bytes do not match their checksum.
    #[error("record {0} does not match its checksum")]
    Checksum(usize),
    /// The bytes are not an archive of the type.
    #[error("record {0} has a matching checksum, but not the structure of a record")]
    Structure(usize),
    /// The bytes are not UTF-8.
    #[error("text {0} is not UTF-8")]
    Text(usize),
}

impl Damage {
    /// The damage as an error that names the file.
    pub(crate) fn in_file(self, name: &str) -> StorageError {
        StorageError::damaged(name, self.to_string())
    }
}

impl<T> Records<T>
where
    T: Portable + for<'a> CheckBytes<HighValidator<'a, Failure>>,
{
    /// Records whose places stand in `rows`. Costs one bit a row.
    pub(crate) fn new(rows: Bytes, layout: RowLayout, payloads: Vec<Bytes>) -> Self {
        let count = rows.len().checked_div(layout.stride).unwrap_or(0);
        let checked = (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { rows, layout, payloads, checked, archive: PhantomData }
    }

    /// The record of a row. First touch: its length (crc and bytecheck); later: one load.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Result<&T, Damage> {
        let (bytes, crc) = self.locate(row).ok_or(Damage::Outside(row))?;
        let bit = 1_u64 << (row % 64);
        let word = self.checked.get(row / 64).ok_or(Damage::Outside(row))?;
        if word.load(Ordering::Relaxed) & bit == 0 {
            return Self::check(bytes, crc, row).inspect(|_| {
                word.fetch_or(bit, Ordering::Relaxed);
            });
        }
        // SAFETY: the bit of this row is set only behind `check` for the bytes that the row names; rows and payloads
        // are immutable and owned by `self`, so these are the same bytes, and `rkyv::access` accepted them as a `T`.
        Ok(unsafe { rkyv::access_unchecked::<T>(bytes) })
    }

    #[cold]
    fn check(bytes: &[u8], crc: u32, row: usize) -> Result<&T, Damage> {
        if crc32c::crc32c(bytes) != crc {
            return Err(Damage::Checksum(row));
        }
        rkyv::access::<T, Failure>(bytes).map_err(|_| Damage::Structure(row))
    }

    #[inline]
    fn locate(&self, row: usize) -> Option<(&[u8], u32)> {
        let at = row.checked_mul(self.layout.stride)?.checked_add(self.layout.at)?;
        let place: &[u8; 16] = self.rows.get(at..)?.first_chunk()?;
        let (place, length, crc) = (get_u64(place, 0)?, get_u32(place, 8)?, get_u32(place, 12)?);
        let payload = self.payloads.get(usize::try_from(place >> PAYLOAD_SHIFT).ok()?)?;
        let start = usize::try_from(place & ((1 << PAYLOAD_SHIFT) - 1)).ok()?;
        Some((payload.get(start..start.checked_add(usize::try_from(length).ok()?)?)?, crc))
    }
}

impl<T> Records<T> {
    /// Rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len().checked_div(self.layout.stride).unwrap_or(0)
    }
}

impl<T> fmt::Debug for Records<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Records({})", self.len())
    }
}

/// Byte ranges of a section (bodies, resources, source texts): checked on first touch.
pub(crate) struct Ranges {
    payload: Bytes,
    /// For each index the range that was found good: offset (40 bits), length (24 bits); 0 = none yet.
    checked: Box<[AtomicU64]>,
}

impl Ranges {
    /// Ranges of a section; `count` indexes are remembered, others are checked at each touch.
    pub(crate) fn new(payload: Bytes, count: usize) -> Self {
        let zeroed = Box::<[AtomicU64]>::new_zeroed_slice(count);
        // SAFETY: all bytes zero are a valid `AtomicU64` (of value 0).
        let checked = unsafe { zeroed.assume_init() };
        Self { payload, checked }
    }

    /// The bytes, after their checksum held once.
    pub(crate) fn bytes(&self, index: usize, offset: u64, len: u32, crc: u32) -> Result<&[u8], Damage> {
        let bytes = self.slice(offset, len).ok_or(Damage::Outside(index))?;
        if !self.is_remembered(index, offset, len) {
            if crc32c::crc32c(bytes) != crc {
                return Err(Damage::Checksum(index));
            }
            self.remember(index, offset, len);
        }
        Ok(bytes)
    }

    fn slice(&self, offset: u64, len: u32) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        self.payload.get(start..start.checked_add(usize::try_from(len).ok()?)?)
    }

    fn is_remembered(&self, index: usize, offset: u64, len: u32) -> bool {
        let Some(word) = fingerprint(offset, len) else { return false };
        self.checked.get(index).is_some_and(|cell| cell.load(Ordering::Relaxed) == word)
    }

    fn remember(&self, index: usize, offset: u64, len: u32) {
        if let (Some(word), Some(cell)) = (fingerprint(offset, len), self.checked.get(index)) {
            cell.store(word, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ranges({})", self.checked.len())
    }
}

/// Texts of a section: like [`Ranges`], and UTF-8.
#[derive(Debug)]
pub(crate) struct Texts {
    ranges: Ranges,
}

impl Texts {
    /// Texts of a section; `count` indexes are remembered, others are checked at each touch.
    pub(crate) fn new(payload: Bytes, count: usize) -> Self {
        Self { ranges: Ranges::new(payload, count) }
    }

    /// The text, after its checksum and UTF-8 held once.
    pub(crate) fn get(&self, index: usize, offset: u64, len: u32, crc: u32) -> Result<&str, Damage> {
        let bytes = self.ranges.slice(offset, len).ok_or(Damage::Outside(index))?;
        if self.ranges.is_remembered(index, offset, len) {
            // SAFETY: a range is remembered in this private `Ranges` only below, after these same immutable bytes
            // were found to be UTF-8.
            return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
        }
        if crc32c::crc32c(bytes) != crc {
            return Err(Damage::Checksum(index));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Damage::Text(index))?;
        self.ranges.remember(index, offset, len);
        Ok(text)
    }
}

/// Offset and length in one word, never 0; `None` if they do not fit.
fn fingerprint(offset: u64, len: u32) -> Option<u64> {
    let fits = len != 0 && u64::from(len) < 1 << LENGTH_BITS && offset < 1 << (64 - LENGTH_BITS);
    fits.then(|| offset << LENGTH_BITS | u64::from(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rkyv::{Archive, Serialize, rancor};

    #[derive(Archive, Serialize)]
    struct Sample {
        name: String,
        numbers: Vec<u64>,
        flag: bool,
    }

    const LAYOUT: RowLayout = RowLayout { stride: 24, at: 8 };

    /// Rows and payloads of samples, alternately in two payload sections.
    fn samples(count: usize) -> (Vec<u8>, Vec<Vec<u8>>) {
        let (mut rows, mut payloads) = (Vec::new(), vec![Vec::new(), Vec::new()]);
        for number in 0..count {
            let sample =
                Sample { name: format!("name {number}"), numbers: vec![number as u64; 3], flag: true };
            let archive = rkyv::to_bytes::<rancor::Error>(&sample).unwrap();
            let payload = &mut payloads[number % 2];
            payload.resize(payload.len().next_multiple_of(RECORD_ALIGNMENT), 0);
            let place = (number as u64 % 2) << PAYLOAD_SHIFT | payload.len() as u64;
            rows.extend_from_slice(&[0xaa; 8]);
            rows.extend_from_slice(&place.to_le_bytes());
            rows.extend_from_slice(&u32::try_from(archive.len()).unwrap().to_le_bytes());
            rows.extend_from_slice(&crc32c::crc32c(&archive).to_le_bytes());
            payload.extend_from_slice(&archive);
        }
        (rows, payloads)
    }

    fn records(rows: &[u8], payloads: &[Vec<u8>]) -> Records<ArchivedSample> {
        let payloads = payloads.iter().map(|payload| Bytes::copy_of(payload)).collect();
        Records::new(Bytes::copy_of(rows), LAYOUT, payloads)
    }

    #[test]
    fn records_are_the_same_on_first_and_later_touch() {
        let (rows, payloads) = samples(130);
        let records = records(&rows, &payloads);
        assert_eq!(records.len(), 130);
        for _ in 0..2 {
            for number in 0..130 {
                let record = records.get(number).unwrap();
                assert_eq!(record.name.as_str(), format!("name {number}"));
                assert_eq!(record.numbers[2].to_native(), number as u64);
            }
        }
        assert_eq!(records.get(130).err(), Some(Damage::Outside(130)));
        assert_eq!(records.get(usize::MAX).err(), Some(Damage::Outside(usize::MAX)));
    }

    #[test]
    fn every_flip_in_rows_or_payload_is_noticed_and_good_records_stay_readable() {
        let (rows, payloads) = samples(3);
        for bit in 0..payloads[0].len() * 8 {
            let mut twin = payloads.clone();
            twin[0][bit / 8] ^= 1 << (bit % 8);
            let records = records(&rows, &twin);
            let broken = [0, 2].iter().filter(|row| records.get(**row).is_err()).count();
            let second = records.get(1).unwrap();
            assert_eq!(second.name.as_str(), "name 1");
            // Padding between two records belongs to neither.
            let unchanged = [0, 2].iter().all(|row| {
                records.get(*row).is_ok_and(|record| record.name.as_str() == format!("name {row}"))
            });
            assert!(broken == 1 || unchanged, "bit {bit}: {broken}");
        }
        for bit in 0..rows.len() * 8 {
            let mut twin = rows.clone();
            twin[bit / 8] ^= 1 << (bit % 8);
            let outside_the_place = bit / 8 % 24 < 8;
            let records = records(&twin, &payloads);
            let row = bit / 8 / 24;
            assert_eq!(records.get(row).is_ok(), outside_the_place, "bit {bit}");
        }
    }

    #[test]
    fn a_right_checksum_over_a_wrong_structure_is_refused_every_time() {
        let (rows, payloads) = samples(1);
        for at in 0..payloads[0].len() {
            for value in [0, 1, 2, 0x7f, 0xff] {
                let mut twin = payloads.clone();
                twin[0][at] = value;
                let mut row = rows.clone();
                row[20..24].copy_from_slice(&crc32c::crc32c(&twin[0]).to_le_bytes());
                let records = records(&row, &twin);
                let (first, second) = (records.get(0).is_ok(), records.get(0).is_ok());
                assert_eq!(first, second);
                if let Ok(record) = records.get(0) {
                    // Whatever it says, reading all of it stays inside.
                    assert!(record.name.len() + record.numbers.len() * 8 <= twin[0].len());
                    assert!(
                        record.name.as_bytes().iter().map(|byte| u64::from(*byte)).sum::<u64>() < u64::MAX
                    );
                }
            }
        }
        for len in 0..payloads[0].len() {
            let mut row = rows.clone();
            row[16..20].copy_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
            row[20..24].copy_from_slice(&crc32c::crc32c(&payloads[0][..len]).to_le_bytes());
            if let Ok(record) = records(&row, &payloads).get(0) {
                assert!(record.name.len() <= len, "{len}");
            }
        }
    }

    #[test]
    fn texts_and_ranges_are_checked_first_and_bound_to_their_place() {
        let payload = b"good text\xff\xfe".to_vec();
        let crc = |range: std::ops::Range<usize>| crc32c::crc32c(&payload[range]);
        let texts = Texts::new(Bytes::copy_of(&payload), 2);
        for _ in 0..2 {
            assert_eq!(texts.get(0, 0, 9, crc(0..9)), Ok("good text"));
            // An index that was found good says nothing about another place.
            assert_eq!(texts.get(0, 5, 5, crc(5..10)), Err(Damage::Text(0)));
            assert_eq!(texts.get(1, 0, 11, crc(0..11)), Err(Damage::Text(1)));
            assert_eq!(texts.get(1, 0, 9, 1), Err(Damage::Checksum(1)));
            assert_eq!(texts.get(1, 9, 3, 0), Err(Damage::Outside(1)));
            assert_eq!(texts.get(1, u64::MAX, 3, 0), Err(Damage::Outside(1)));
            assert_eq!(texts.get(7, 0, 4, crc(0..4)), Ok("good"), "an index beyond is checked each time");
            assert_eq!(texts.get(1, 3, 0, crc(3..3)), Ok(""));
        }
        let ranges = Ranges::new(Bytes::copy_of(&payload), 1);
        for _ in 0..2 {
            assert_eq!(ranges.bytes(0, 0, 11, crc(0..11)), Ok(&payload[..]));
            assert_eq!(ranges.bytes(0, 0, 10, 0), Err(Damage::Checksum(0)));
        }
    }
}
