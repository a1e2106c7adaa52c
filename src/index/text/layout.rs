//! The bytes of a text section, and bounds-checked reading.
//!
//! See `docs/format-text.md` for the picture.

/// First bytes of a section.
pub(super) const MAGIC: u32 = u32::from_le_bytes(*b"RTX0");
/// Documents of a page: ordinals within it are 16 bits wide.
pub(super) const PAGE_DOCS: u32 = 1 << 16;
/// Bytes of the section header before the page table.
pub(super) const HEADER_BYTES: usize = 16;
/// Bytes of a page's entry in the page table.
pub(super) const PAGE_ENTRY_BYTES: usize = 16;
/// Words of 4 bytes in a page header.
pub(super) const PAGE_HEADER_WORDS: usize = 12;

/// The little-endian `u32` at a byte offset, if it lies inside.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let raw = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(raw.try_into().ok()?))
}

/// The little-endian `u64` at a byte offset, if it lies inside.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let raw = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(raw.try_into().ok()?))
}

/// Element `index` of an array of little-endian `u32`.
pub(super) fn u32_in(array: &[u8], index: usize) -> Option<u32> {
    u32_at(array, index.checked_mul(4)?)
}

/// The part of `bytes` that begins at `offset` and has `length` bytes.
pub(super) fn part(bytes: &[u8], offset: usize, length: usize) -> Option<&[u8]> {
    bytes.get(offset..offset.checked_add(length)?)
}

/// Appends a little-endian `u32`.
pub(super) fn put(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

/// Appends a count or an offset. A page of 65,536 documents of the largest size stays below 4 GiB.
pub(super) fn put_len(out: &mut Vec<u8>, value: usize) {
    put(out, u32::try_from(value).unwrap_or(u32::MAX));
}
