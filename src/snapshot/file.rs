//! A segment file: named sections behind a header that says where they are and how to check them.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::lazy::{self, Lazy};
use super::map::Bytes;
use super::names;
use super::sections as s;
use super::sections::{Section, get_u16, get_u32, get_u64, put};
use crate::error::StorageError;
use crate::limits::SECTIONS_MAX;

/// What a kind of segment file consists of; a constant of the layer that writes it.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Code of the kind.
    pub(crate) kind: u32,
    /// Kinds of sections that this program knows.
    pub(crate) sections: &'static [u32],
    /// Sizes in bytes of the archived types in it (at most [`s::SIZES_MAX`]): another build's types must not
    /// read our bytes unnoticed.
    pub(crate) sizes: &'static [u16],
}

/// Collects sections and writes the file. The same input gives the same bytes.
#[derive(Debug)]
pub(crate) struct FileBuilder {
    schema: &'static Schema,
    counts: [u64; s::COUNTS],
    sections: Vec<(u32, u32, Vec<u8>)>,
}

/// A finished file in memory.
#[derive(Debug)]
pub(crate) struct Built {
    /// The whole file.
    pub(crate) bytes: Vec<u8>,
    /// Digits of the content hash; the generation is left out of it.
    pub(crate) content_hash: String,
}

impl FileBuilder {
    /// A file without sections.
    pub(crate) fn new(schema: &'static Schema) -> Self {
        Self { schema, counts: [0; s::COUNTS], sections: Vec::new() }
    }

    /// Sets one of the eight counts of the header (an index beyond is ignored).
    pub(crate) fn count(mut self, index: usize, value: u64) -> Self {
        if let Some(count) = self.counts.get_mut(index) {
            *count = value;
        }
        self
    }

    /// Adds a section. Sections keep their order.
    pub(crate) fn section(mut self, kind: u32, flags: u32, bytes: Vec<u8>) -> Self {
        self.sections.push((kind, flags, bytes));
        self
    }

    /// Writes the file. Fails if there are too many sections, or two of one kind.
    pub(crate) fn finish(mut self, generation: u64) -> Result<Built, StorageError> {
        let with_blocks = self.sections.iter().filter(|(_, flags, _)| flags & s::FLAG_BLOCKS != 0);
        let sums: Vec<u8> = with_blocks.flat_map(|(.., bytes)| lazy::checksums(bytes)).collect();
        if !sums.is_empty() {
            self.sections.push((s::KIND_BLOCKS, s::FLAG_REQUIRED | s::FLAG_VERIFY_AT_OPEN, sums));
        }
        let count = self.sections.len();
        if count > SECTIONS_MAX {
            return Err(StorageError::TooLarge {
                what: "sections of a segment file",
                got: count as u64,
                limit: SECTIONS_MAX as u64,
            });
        }
        let head = s::head_bytes(count);
        let total = self
            .sections
            .iter()
            .fold(head, |end, (_, _, bytes)| end.next_multiple_of(s::SECTION_ALIGNMENT) + bytes.len());
        let mut out = Vec::with_capacity(total);
        out.resize(head, 0);
        self.write_fixed_header(&mut out, total as u64, generation);
        for (index, (kind, flags, bytes)) in self.sections.iter().enumerate() {
            if self.sections.iter().take(index).any(|(other, _, _)| other == kind) {
                return Err(StorageError::damaged("segment", format!("two sections of kind {kind:#x}")));
            }
            out.resize(out.len().next_multiple_of(s::SECTION_ALIGNMENT), 0);
            let entry = Section {
                kind: *kind,
                flags: *flags,
                offset: out.len() as u64,
                length: bytes.len() as u64,
                crc32c: crc32c::crc32c(bytes),
            };
            put(&mut out, s::HEADER_BYTES + index * s::ENTRY_BYTES, &entry.encode());
            out.extend_from_slice(bytes);
        }
        let crc = header_crc(&out, head);
        put(&mut out, s::AT_HEADER_CRC, &crc.to_le_bytes());
        Ok(Built { content_hash: content_hash(&out), bytes: out })
    }

    fn write_fixed_header(&self, out: &mut [u8], total: u64, generation: u64) {
        put(out, 0, &s::MAGIC);
        put(out, s::AT_VERSION, &s::MAJOR.to_le_bytes());
        put(out, s::AT_VERSION + 2, &s::MINOR.to_le_bytes());
        put(out, s::AT_FILE_KIND, &self.schema.kind.to_le_bytes());
        put(out, s::AT_FILE_LEN, &total.to_le_bytes());
        let count = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
        put(out, s::AT_SECTION_COUNT, &count.to_le_bytes());
        put(out, s::AT_GENERATION, &generation.to_le_bytes());
        put(out, s::AT_GENERATION_CRC, &crc32c::crc32c(&generation.to_le_bytes()).to_le_bytes());
        put(out, s::AT_DESCRIPTOR, &descriptor(self.schema.sizes));
        for (index, value) in self.counts.iter().enumerate() {
            put(out, s::AT_COUNTS + index * 8, &value.to_le_bytes());
        }
    }
}

/// A segment file whose header, table and "verify at open" sections hold.
#[derive(Debug)]
pub(crate) struct SectionFile {
    name: String,
    bytes: Bytes,
    sections: Vec<Section>,
    counts: [u64; s::COUNTS],
    header_crc: u32,
}

impl SectionFile {
    /// Checks a file: header, descriptor, table (bounds, order, overlap, alignment) and the checksums of the sections
    /// that are marked so. Cost: the length of those sections. No input makes it panic.
    pub(crate) fn parse(name: &str, bytes: Bytes, schema: &Schema) -> Result<Self, StorageError> {
        let file = Self::parse_table(name, bytes)?;
        file.check_schema(schema)?;
        for section in file.sections.iter().filter(|section| section.is_verified_at_open()) {
            file.verify_section(section)?;
        }
        Ok(file)
    }

    /// Checks header and table of a file of any kind (for `inspect` and `verify`).
    pub(crate) fn parse_table(name: &str, bytes: Bytes) -> Result<Self, StorageError> {
        let damaged = |detail: String| StorageError::damaged(name, detail);
        let truncated = || damaged(format!("{} bytes are shorter than a header", bytes.len()));
        if bytes.len() < s::HEADER_BYTES {
            return Err(truncated());
        }
        if bytes.get(..8) != Some(&s::MAGIC[..]) {
            return Err(damaged("the first bytes are not those of a segment file".to_owned()));
        }
        let major = get_u16(&bytes, s::AT_VERSION).ok_or_else(truncated)?;
        let count = get_u32(&bytes, s::AT_SECTION_COUNT).ok_or_else(truncated)?;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let head = s::head_bytes(count.min(SECTIONS_MAX));
        let header_crc = get_u32(&bytes, s::AT_HEADER_CRC).ok_or_else(truncated)?;
        if count > SECTIONS_MAX || bytes.len() < head || self::header_crc(&bytes, head) != header_crc {
            return Err(damaged("the header does not match its checksum".to_owned()));
        }
        if major != s::MAJOR {
            let file = name.to_owned();
            return Err(StorageError::TooNew { file, found: major, supported: s::MAJOR });
        }
        let generation = get_u64(&bytes, s::AT_GENERATION).ok_or_else(truncated)?;
        let generation_crc = get_u32(&bytes, s::AT_GENERATION_CRC).ok_or_else(truncated)?;
        if crc32c::crc32c(&generation.to_le_bytes()) != generation_crc {
            return Err(damaged("the generation does not match its checksum".to_owned()));
        }
        if get_u64(&bytes, s::AT_FILE_LEN) != Some(bytes.len() as u64) {
            return Err(damaged(format!("{} bytes are not the length in the header", bytes.len())));
        }
        let sections = read_table(&bytes, count, head).map_err(damaged)?;
        let mut counts = [0; s::COUNTS];
        for (index, value) in counts.iter_mut().enumerate() {
            *value = get_u64(&bytes, s::AT_COUNTS + index * 8).ok_or_else(truncated)?;
        }
        Ok(Self { name: name.to_owned(), bytes, sections, counts, header_crc })
    }

    fn check_schema(&self, schema: &Schema) -> Result<(), StorageError> {
        let kind = get_u32(&self.bytes, s::AT_FILE_KIND).unwrap_or_default();
        if kind != schema.kind {
            let expected = schema.kind;
            return Err(self.damaged(format!("kind {kind:#x}, expected {expected:#x}")));
        }
        let found = self.bytes.get(s::AT_DESCRIPTOR..s::AT_COUNTS);
        if found != Some(&descriptor(schema.sizes)[..]) {
            return Err(self.damaged("its archives have another layout than this program's".to_owned()));
        }
        let known = |kind| kind == s::KIND_BLOCKS || schema.sections.contains(&kind);
        let unknown = |section: &&Section| section.is_required() && !known(section.kind);
        if let Some(section) = self.sections.iter().find(unknown) {
            let kind = section.kind;
            return Err(
                self.damaged(format!("section {kind:#x} is required, but this program does not know it"))
            );
        }
        Ok(())
    }

    /// Checks the checksum of one section. Cost: its length.
    pub(crate) fn verify_section(&self, section: &Section) -> Result<(), StorageError> {
        let found = self.slice(section).map(crc32c::crc32c);
        if found == Some(section.crc32c) {
            return Ok(());
        }
        let (kind, expected) = (section.kind, section.crc32c);
        Err(self.damaged(format!(
            "section {kind:#x} has checksum {:08x}, expected {expected:08x}",
            found.unwrap_or_default()
        )))
    }

    /// The section of a kind, sharing the file's memory; `None` if there is none.
    pub(crate) fn section(&self, kind: u32) -> Option<Bytes> {
        let section = self.sections.iter().find(|section| section.kind == kind)?;
        self.bytes.part(section.offset, section.length)
    }

    /// The section of a kind, or the damage that it is missing.
    pub(crate) fn required(&self, kind: u32) -> Result<Bytes, StorageError> {
        self.section(kind).ok_or_else(|| self.damaged(format!("section {kind:#x} is missing")))
    }

    /// The section of a kind, to be checked where it is touched.
    ///
    /// # Errors
    /// The section is missing, or its blocks have no checksums.
    pub(crate) fn lazy(self: &Arc<Self>, kind: u32) -> Result<Lazy, StorageError> {
        let mut before = 0;
        for section in &self.sections {
            let blocks = if section.has_blocks() {
                lazy::blocks(self.slice(section).map_or(0, <[u8]>::len))
            } else {
                0
            };
            if section.kind != kind {
                before += blocks;
                continue;
            }
            let sums = self.section(s::KIND_BLOCKS);
            let sums = match blocks {
                0 => Some(Bytes::from_constant(&[])),
                _ => sums.and_then(|sums| sums.part(4 * before as u64, 4 * blocks as u64)),
            };
            let bytes = self.bytes.part(section.offset, section.length);
            if let (Some(sums), Some(bytes), true) = (sums, bytes, section.has_blocks()) {
                return Ok(Lazy::new(bytes, sums, Some(Arc::clone(self)), kind));
            }
            return Err(self.damaged(format!("section {kind:#x} has no checksums of its blocks")));
        }
        Err(self.damaged(format!("section {kind:#x} is missing")))
    }

    /// The table.
    pub(crate) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// One of the eight counts of the header; 0 beyond.
    pub(crate) fn count(&self, index: usize) -> u64 {
        self.counts.get(index).copied().unwrap_or_default()
    }

    /// Generation in which the file was written first.
    #[cfg(test)]
    pub(crate) fn generation(&self) -> u64 {
        get_u64(&self.bytes, s::AT_GENERATION).unwrap_or_default()
    }

    /// Checksum of header and table, and so of everything: the table holds the checksums of the sections.
    pub(crate) fn header_crc(&self) -> u32 {
        self.header_crc
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    fn slice(&self, section: &Section) -> Option<&[u8]> {
        let start = usize::try_from(section.offset).ok()?;
        self.bytes.get(start..start.checked_add(usize::try_from(section.length).ok()?)?)
    }

    fn damaged(&self, detail: String) -> StorageError {
        StorageError::damaged(&self.name, detail)
    }
}

/// Reads the table and checks that the sections are aligned, in order, apart from each other and inside.
fn read_table(bytes: &[u8], count: usize, head: usize) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::with_capacity(count);
    let mut end = head as u64;
    for index in 0..count {
        let section = Section::decode(bytes, s::HEADER_BYTES + index * s::ENTRY_BYTES)
            .ok_or_else(|| format!("section {index} is beyond the end"))?;
        let Section { kind, offset, length, .. } = section;
        let next = offset.checked_add(length);
        let Some(next) = next.filter(|next| *next <= bytes.len() as u64) else {
            return Err(format!("section {kind:#x} ends beyond the file"));
        };
        // Sections follow each other at the next aligned place, so no byte of a file is outside the checks but padding.
        if offset != end.next_multiple_of(s::SECTION_ALIGNMENT as u64) {
            return Err(format!("section {kind:#x} begins at {offset}, not behind its predecessor"));
        }
        if sections.iter().any(|other| other.kind == kind) {
            return Err(format!("two sections of kind {kind:#x}"));
        }
        end = next;
        sections.push(section);
    }
    if end != bytes.len() as u64 {
        return Err(format!("{} bytes behind the last section", bytes.len() as u64 - end));
    }
    Ok(sections)
}

/// How rkyv writes archives in this build, and the sizes of the archived types.
fn descriptor(sizes: &[u16]) -> [u8; s::AT_COUNTS - s::AT_DESCRIPTOR] {
    let mut out = [0; s::AT_COUNTS - s::AT_DESCRIPTOR];
    let endian = rkyv::Archived::<u16>::from(1_u16);
    // An archived u16 of 1 has its first byte set only if archives are little-endian.
    let little =
        u8::from(rkyv::to_bytes::<rkyv::rancor::Failure>(&1_u16).is_ok_and(|b| b.first() == Some(&1)));
    let pointer = u8::try_from(size_of::<rkyv::primitive::ArchivedUsize>()).unwrap_or_default();
    let align = u8::try_from(align_of::<rkyv::Archived<u64>>()).unwrap_or_default();
    let count = u8::try_from(sizes.len().min(s::SIZES_MAX)).unwrap_or_default();
    debug_assert!(sizes.len() <= s::SIZES_MAX && endian.to_native() == 1);
    put(&mut out, 0, &[little, pointer, align, count]);
    for (index, size) in sizes.iter().take(s::SIZES_MAX).enumerate() {
        put(&mut out, 8 + index * 2, &size.to_le_bytes());
    }
    out
}

/// Checksum of header and table without the checksum itself and the generation block.
fn header_crc(bytes: &[u8], head: usize) -> u32 {
    let before = bytes.get(..s::AT_HEADER_CRC).unwrap_or_default();
    let after = bytes.get(s::AT_GENERATION_END..head).unwrap_or_default();
    crc32c::crc32c_append(crc32c::crc32c(before), after)
}

/// Digits of the hash of everything but the generation block.
pub(crate) fn content_hash(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(bytes.get(..s::AT_GENERATION).unwrap_or_default());
    hash.update(bytes.get(s::AT_GENERATION_END..).unwrap_or_default());
    names::hash_digits(&hash.finalize())
}

/// Whether a file has the content of a hash, and a generation that is one: the hash leaves it out, so that a damage there
/// would be taken for the same content.
pub(crate) fn holds_content(bytes: &[u8], hash: &str) -> bool {
    let generation = get_u64(bytes, s::AT_GENERATION).map(|number| crc32c::crc32c(&number.to_le_bytes()));
    generation == get_u32(bytes, s::AT_GENERATION_CRC) && content_hash(bytes) == hash
}

#[cfg(test)]
mod tests {
    use super::*;

    static SCHEMA: Schema = Schema { kind: 7, sections: &[1, 2, 3], sizes: &[8] };

    fn builder() -> FileBuilder {
        FileBuilder::new(&SCHEMA)
            .count(0, 11)
            .section(1, s::FLAG_REQUIRED, b"one".to_vec())
            .section(2, s::FLAG_VERIFY_AT_OPEN, Vec::new())
            .section(3, 0, vec![3; 200])
    }

    #[test]
    fn a_file_reads_back_and_the_same_input_gives_the_same_bytes() {
        let built = builder().finish(5).unwrap();
        assert_eq!(built.bytes, builder().finish(5).unwrap().bytes);
        let file = SectionFile::parse("x", Bytes::copy_of(&built.bytes), &SCHEMA).unwrap();
        assert_eq!((file.generation(), file.count(0), file.count(1), file.count(99)), (5, 11, 0, 0));
        assert_eq!(&*file.required(1).unwrap(), b"one");
        assert_eq!(&*file.required(3).unwrap(), &[3; 200]);
        assert!(
            file.section(2).unwrap().is_empty() && file.section(4).is_none() && file.required(4).is_err()
        );
        for section in file.sections() {
            assert!(section.offset.is_multiple_of(s::SECTION_ALIGNMENT as u64));
            file.verify_section(section).unwrap();
        }
    }

    #[test]
    fn the_generation_is_outside_of_hash_and_header_checksum_but_nothing_else_is() {
        let (five, six) = (builder().finish(5).unwrap(), builder().finish(6).unwrap());
        assert_ne!(five.bytes, six.bytes);
        assert_eq!(five.content_hash, six.content_hash);
        let crc =
            |built: &Built| SectionFile::parse_table("x", Bytes::copy_of(&built.bytes)).unwrap().header_crc();
        assert_eq!(crc(&five), crc(&six));
        let others = [
            builder().count(1, 1).finish(5),
            FileBuilder::new(&SCHEMA).section(1, 0, b"one".to_vec()).finish(5),
            FileBuilder::new(&SCHEMA).section(1, 0, b"onf".to_vec()).finish(5),
            FileBuilder::new(&SCHEMA).finish(5),
        ];
        let mut hashes: Vec<_> = others.map(|other| other.unwrap().content_hash).into();
        hashes.push(five.content_hash);
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 5);
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        assert!(builder().section(1, 0, Vec::new()).finish(1).is_err(), "two of a kind");
        let many = |count: u32| {
            (0..count).fold(FileBuilder::new(&SCHEMA), |file, kind| file.section(kind, 0, vec![1]))
        };
        let limit = u32::try_from(SECTIONS_MAX).unwrap();
        let built = many(limit).finish(1).unwrap();
        assert_eq!(
            SectionFile::parse("x", Bytes::copy_of(&built.bytes), &SCHEMA).unwrap().sections().len(),
            SECTIONS_MAX
        );
        assert!(matches!(many(limit + 1).finish(1), Err(StorageError::TooLarge { .. })));
    }
}
