//! `docs/format.md` says what the code does.

use std::collections::BTreeMap;

use super::super::{epoch, lazy, manifest, map, names, record, ring, sections};
use crate::limits;

fn text(magic: [u8; 8]) -> String {
    format!("`{}`", String::from_utf8(magic.to_vec()).unwrap().replace('\n', "\\n"))
}

fn constants() -> BTreeMap<&'static str, String> {
    let numbers: [(&str, u64); 43] = [
        ("segment.major", sections::MAJOR.into()),
        ("segment.minor", sections::MINOR.into()),
        ("segment.header_bytes", sections::HEADER_BYTES as u64),
        ("segment.entry_bytes", sections::ENTRY_BYTES as u64),
        ("segment.alignment", sections::SECTION_ALIGNMENT as u64),
        ("segment.at_version", sections::AT_VERSION as u64),
        ("segment.at_file_kind", sections::AT_FILE_KIND as u64),
        ("segment.at_file_len", sections::AT_FILE_LEN as u64),
        ("segment.at_section_count", sections::AT_SECTION_COUNT as u64),
        ("segment.at_header_crc", sections::AT_HEADER_CRC as u64),
        ("segment.at_generation", sections::AT_GENERATION as u64),
        ("segment.at_generation_crc", sections::AT_GENERATION_CRC as u64),
        ("segment.at_descriptor", sections::AT_DESCRIPTOR as u64),
        ("segment.at_counts", sections::AT_COUNTS as u64),
        ("segment.flag_required", sections::FLAG_REQUIRED.into()),
        ("segment.flag_verify_at_open", sections::FLAG_VERIFY_AT_OPEN.into()),
        ("segment.flag_blocks", sections::FLAG_BLOCKS.into()),
        ("segment.kind_blocks", sections::KIND_BLOCKS.into()),
        ("segment.block_bytes", lazy::BLOCK_BYTES as u64),
        ("segment.sections_max", limits::SECTIONS_MAX as u64),
        ("record.alignment", record::RECORD_ALIGNMENT as u64),
        ("record.payload_shift", record::PAYLOAD_SHIFT.into()),
        ("manifest.major", manifest::MAJOR.into()),
        ("manifest.minor", manifest::MINOR.into()),
        ("manifest.header_bytes", manifest::HEADER_BYTES as u64),
        ("manifest.at_version", manifest::AT_VERSION as u64),
        ("manifest.at_crc", manifest::AT_CRC as u64),
        ("manifest.at_serial", manifest::AT_SERIAL as u64),
        ("manifest.at_length", manifest::AT_LENGTH as u64),
        ("epoch.bytes", map::PAGE_BYTES as u64),
        ("epoch.at_epoch", epoch::WORD_EPOCH as u64 * 8),
        ("epoch.at_deny_all", epoch::WORD_DENY_ALL as u64 * 8),
        ("ring.bytes", ring::RING_BYTES as u64),
        ("ring.record_bytes", ring::RECORD_BYTES as u64),
        ("ring.at_crc", ring::AT_CRC as u64),
        ("ring.at_kind", ring::AT_KIND as u64),
        ("ring.at_part", ring::AT_PART as u64),
        ("ring.at_parts", ring::AT_PARTS as u64),
        ("ring.at_len", ring::AT_LEN as u64),
        ("ring.at_seq", ring::AT_SEQ as u64),
        ("ring.at_payload", ring::AT_PAYLOAD as u64),
        ("ring.statement_bytes_max", limits::STATEMENT_BYTES_MAX as u64),
        ("names.hash_digits", names::HASH_DIGITS as u64),
    ];
    let mut all: BTreeMap<_, _> =
        numbers.into_iter().map(|(name, value)| (name, value.to_string())).collect();
    all.insert("grace.retired_ms", limits::RETIRED_GRACE_MS.to_string());
    all.insert("grace.uncommitted_ms", limits::UNCOMMITTED_GRACE_MS.to_string());
    all.insert("segment.magic", text(sections::MAGIC));
    all.insert("manifest.magic", text(manifest::MAGIC));
    all.insert("epoch.magic", text(epoch::MAGIC));
    all
}

#[test]
fn the_table_of_constants_is_that_of_the_code() {
    let document = include_str!("../../../docs/format.md");
    let (_, table) = document.split_once("## Constants").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let written: BTreeMap<&str, String> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .filter_map(|line| {
            let mut cells = line.split('|').map(str::trim);
            let (name, value) = (cells.next()?, cells.next()?);
            name.contains('.').then(|| (name, value.to_owned()))
        })
        .collect();
    assert_eq!(written, constants());
}
