//! Little-endian integers read from bytes with bounds checks, and tables of them.

use crate::index::sections::{BuildError, Damaged, SectionKind};

/// The `u16` at a byte offset; `None` beyond the end.
#[cfg(test)]
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

/// The `u32` at a byte offset; `None` beyond the end.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

/// The `u64` at a byte offset; `None` beyond the end.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

/// An array of `u32` inside a section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct U32s<'a>(&'a [[u8; 4]]);

impl<'a> U32s<'a> {
    /// Takes bytes as an array; a rest of fewer than four bytes is left out.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    /// How many numbers there are.
    #[inline]
    pub(crate) const fn len(self) -> usize {
        self.0.len()
    }

    /// One number; `None` beyond the end.
    #[inline]
    pub(crate) fn get(self, i: usize) -> Option<u32> {
        self.0.get(i).map(|b| u32::from_le_bytes(*b))
    }

    /// The numbers from `start` up to `end`; `None` if that is no range of the array.
    #[inline]
    pub(crate) fn slice(self, start: usize, end: usize) -> Option<Self> {
        self.0.get(start..end).map(Self)
    }

    /// All numbers in order.
    #[inline]
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        self.0.iter().map(|b| u32::from_le_bytes(*b))
    }

    /// Numbers `i` and `i + 1` as a range: how offset tables are read.
    #[inline]
    pub(crate) fn span(self, i: usize) -> Option<(usize, usize)> {
        match self.0.get(i..)? {
            [start, end, ..] => {
                let (start, end) = (u32::from_le_bytes(*start) as usize, u32::from_le_bytes(*end) as usize);
                (start <= end).then_some((start, end))
            }
            _ => None,
        }
    }
}

/// An array of `u64` inside a section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct U64s<'a>(&'a [[u8; 8]]);

impl<'a> U64s<'a> {
    /// Takes bytes as an array; a rest of fewer than eight bytes is left out.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    /// How many numbers there are.
    #[inline]
    pub(crate) const fn len(self) -> usize {
        self.0.len()
    }

    /// One number; `None` beyond the end.
    #[inline]
    pub(crate) fn get(self, i: usize) -> Option<u64> {
        self.0.get(i).map(|b| u64::from_le_bytes(*b))
    }

    /// All numbers in order.
    #[inline]
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.0.iter().map(|b| u64::from_le_bytes(*b))
    }
}

/// Cuts a section into parts, front to back.
#[derive(Debug)]
pub(crate) struct Cutter<'a> {
    section: SectionKind,
    rest: &'a [u8],
}

impl<'a> Cutter<'a> {
    /// Begins at the front of a section.
    pub(crate) const fn new(section: SectionKind, bytes: &'a [u8]) -> Self {
        Self { section, rest: bytes }
    }

    /// The next bytes. Fails if there are fewer.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let (part, rest) =
            self.rest.split_at_checked(len).ok_or(Damaged::new(self.section, "it ends too early"))?;
        self.rest = rest;
        Ok(part)
    }

    /// The next `count` items of `size` bytes each.
    pub(crate) fn take_items(&mut self, count: usize, size: usize) -> Result<&'a [u8], Damaged> {
        let len = count.checked_mul(size).ok_or(Damaged::new(self.section, "a count is impossible"))?;
        self.take(len)
    }

    /// The next `u32`.
    pub(crate) fn u32(&mut self) -> Result<u32, Damaged> {
        self.take(4)?
            .first_chunk()
            .map(|b| u32::from_le_bytes(*b))
            .ok_or(Damaged::new(self.section, "it ends too early"))
    }

    /// The next `u32` as a size in memory.
    pub(crate) fn size(&mut self) -> Result<usize, Damaged> {
        Ok(self.u32()? as usize)
    }

    /// The next `count` numbers.
    pub(crate) fn u32s(&mut self, count: usize) -> Result<U32s<'a>, Damaged> {
        Ok(U32s::new(self.take_items(count, 4)?))
    }

    /// The next `count` numbers.
    pub(crate) fn u64s(&mut self, count: usize) -> Result<U64s<'a>, Damaged> {
        Ok(U64s::new(self.take_items(count, 8)?))
    }

    /// Says that all was read: bytes left over are damage.
    pub(crate) fn finish(self) -> Result<(), Damaged> {
        if self.rest.is_empty() { Ok(()) } else { Err(Damaged::new(self.section, "it has bytes left over")) }
    }
}

/// A size as `u32`. Fails with [`BuildError::TooLarge`] above `u32::MAX`.
pub(crate) fn size_u32(what: &'static str, size: usize) -> Result<u32, BuildError> {
    u32::try_from(size).map_err(|_| BuildError::TooLarge { what, found: size, limit: u32::MAX as usize })
}

/// Appends a `u32`.
pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends many `u32`.
pub(crate) fn put_u32s(out: &mut Vec<u8>, values: &[u32]) {
    out.reserve(values.len() * 4);
    for value in values {
        put_u32(out, *value);
    }
}

/// The lower half of a product or hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
pub(crate) const fn low(value: u128) -> u64 {
    value as u64
}

/// The upper half of a product or hash.
#[inline]
pub(crate) const fn high(value: u128) -> u64 {
    low(value >> 64)
}

#[cfg(test)]
mod tests {
    use super::{Cutter, U32s, high, low, u16_at, u32_at, u64_at};
    use crate::index::sections::SectionKind;

    #[test]
    fn numbers_beyond_the_end_are_none() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(u16_at(&bytes, 7), Some(0x0908));
        assert_eq!(u16_at(&bytes, 8), None);
        assert_eq!(u32_at(&bytes, 5), Some(0x0908_0706));
        assert_eq!(u32_at(&bytes, 6), None);
        assert_eq!(u64_at(&bytes, 1), Some(0x0908_0706_0504_0302));
        assert_eq!(u64_at(&bytes, usize::MAX), None);
    }

    #[test]
    fn a_span_that_runs_backwards_is_none() {
        let table = U32s::new(&[1, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 9]);
        assert_eq!(table.len(), 3);
        assert_eq!(table.span(0), Some((1, 5)));
        assert_eq!(table.span(1), None);
        assert_eq!(table.span(2), None);
        assert_eq!(table.span(usize::MAX), None);
    }

    #[test]
    fn a_cutter_refuses_short_and_long_sections() {
        let mut cutter = Cutter::new(SectionKind::Ids, &[7, 0, 0, 0, 1]);
        assert_eq!(cutter.u32(), Ok(7));
        assert!(cutter.u32().is_err());
        assert!(cutter.take_items(usize::MAX, 2).is_err());
        assert!(cutter.finish().is_err());
    }

    #[test]
    fn halves_make_the_whole() {
        let value = 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210_u128;
        assert_eq!((u128::from(high(value)) << 64) | u128::from(low(value)), value);
    }
}
