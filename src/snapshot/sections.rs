//! Layout of a segment file's header: constants, and little-endian reads and writes with bounds checks.
//!
//! The same numbers stand in `docs/format.md`; a test compares them.

use crate::limits::SECTIONS_MAX;

/// First bytes of a segment file.
pub(crate) const MAGIC: [u8; 8] = *b"RPTRSEG\n";
/// Major version: another one is refused. 0 until the first release.
pub(crate) const MAJOR: u16 = 0;
/// Minor version: a higher one is read all the same.
pub(crate) const MINOR: u16 = 0;

/// Bytes before the section table.
pub(crate) const HEADER_BYTES: usize = 192;
/// Bytes of one entry of the section table.
pub(crate) const ENTRY_BYTES: usize = 32;
/// Sections begin at multiples of this.
pub(crate) const SECTION_ALIGNMENT: usize = super::map::ALIGNMENT;

/// u16 major, u16 minor.
pub(crate) const AT_VERSION: usize = 8;
/// u32 code of the file's kind.
pub(crate) const AT_FILE_KIND: usize = 12;
/// u64 length of the file.
pub(crate) const AT_FILE_LEN: usize = 16;
/// u32 number of sections.
pub(crate) const AT_SECTION_COUNT: usize = 24;
/// u32 crc32c of header and table without the fields from here to the end of the generation block.
pub(crate) const AT_HEADER_CRC: usize = 28;
/// u64 generation in which the file was written first.
pub(crate) const AT_GENERATION: usize = 32;
/// u32 crc32c of the generation.
pub(crate) const AT_GENERATION_CRC: usize = 40;
/// End of the generation block (with four bytes of zero).
pub(crate) const AT_GENERATION_END: usize = 48;
/// 48 bytes: how archives are written.
pub(crate) const AT_DESCRIPTOR: usize = 48;
/// Eight u64 whose meaning the kind of the file gives.
pub(crate) const AT_COUNTS: usize = 96;
/// Counts in the header.
pub(crate) const COUNTS: usize = 8;
/// Sizes of archived types that fit into the descriptor.
pub(crate) const SIZES_MAX: usize = 20;

/// Bit of a section's flags: who does not know the section must refuse the file.
pub(crate) const FLAG_REQUIRED: u32 = 1;
/// Bit of a section's flags: its checksum is verified at open, not at first touch.
pub(crate) const FLAG_VERIFY_AT_OPEN: u32 = 2;
/// Bit of a section's flags: its blocks have checksums, and are verified at first touch.
pub(crate) const FLAG_BLOCKS: u32 = 4;
/// Kind of the section that holds the checksums of blocks: those of each section with [`FLAG_BLOCKS`], in the order of
/// the table.
pub(crate) const KIND_BLOCKS: u32 = 64;

/// Bytes of header and table, up to the first section.
pub(crate) const fn head_bytes(sections: usize) -> usize {
    (HEADER_BYTES + sections * ENTRY_BYTES).next_multiple_of(SECTION_ALIGNMENT)
}

const _: () = assert!(AT_COUNTS + COUNTS * 8 <= HEADER_BYTES && head_bytes(SECTIONS_MAX) < 1 << 16);

/// One entry of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// What it holds; the kinds are named by the layer that writes them.
    pub(crate) kind: u32,
    /// [`FLAG_REQUIRED`], [`FLAG_VERIFY_AT_OPEN`], [`FLAG_BLOCKS`].
    pub(crate) flags: u32,
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// Its length.
    pub(crate) length: u64,
    /// Checksum of its bytes.
    pub(crate) crc32c: u32,
}

impl Section {
    /// Whether a reader that does not know the section must refuse the file.
    pub(crate) fn is_required(&self) -> bool {
        self.flags & FLAG_REQUIRED != 0
    }

    /// Whether the checksum is verified at open.
    pub(crate) fn is_verified_at_open(&self) -> bool {
        self.flags & FLAG_VERIFY_AT_OPEN != 0
    }

    /// Whether its blocks have checksums.
    pub(crate) fn has_blocks(&self) -> bool {
        self.flags & FLAG_BLOCKS != 0
    }

    /// The entry as it stands in the table.
    pub(crate) fn encode(&self) -> [u8; ENTRY_BYTES] {
        let mut entry = [0; ENTRY_BYTES];
        put(&mut entry, 0, &self.kind.to_le_bytes());
        put(&mut entry, 4, &self.flags.to_le_bytes());
        put(&mut entry, 8, &self.offset.to_le_bytes());
        put(&mut entry, 16, &self.length.to_le_bytes());
        put(&mut entry, 24, &self.crc32c.to_le_bytes());
        entry
    }

    /// The entry at an offset of the header; `None` beyond the end.
    pub(crate) fn decode(bytes: &[u8], at: usize) -> Option<Self> {
        Some(Self {
            kind: get_u32(bytes, at)?,
            flags: get_u32(bytes, at + 4)?,
            offset: get_u64(bytes, at + 8)?,
            length: get_u64(bytes, at + 16)?,
            crc32c: get_u32(bytes, at + 24)?,
        })
    }
}

/// Copies `value` to an offset; what does not fit is a mistake of the caller and left out.
pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    debug_assert!(at + value.len() <= bytes.len(), "{at} + {} in {}", value.len(), bytes.len());
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

/// Reads a little-endian u16; `None` beyond the end.
pub(crate) fn get_u16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|word| u16::from_le_bytes(*word))
}

/// Reads a little-endian u32; `None` beyond the end.
pub(crate) fn get_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// Reads a little-endian u64; `None` beyond the end.
pub(crate) fn get_u64(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}
