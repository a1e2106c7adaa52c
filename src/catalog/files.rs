//! The two kinds of files of a layer, and what stands in them.

use serde::{Deserialize, Serialize};

use crate::catalog::record::{ArchivedRecord, ArchivedResourceRecord, ArchivedSpan};
use crate::index::SectionKind;
use crate::model::Layer;
use crate::snapshot::Schema;

/// Payload: what is shared by generations.
pub(crate) static SEGMENT_SCHEMA: Schema = Schema {
    kind: 1,
    sections: &[
        SectionKind::Groups.code(),
        SectionKind::Names.code(),
        SectionKind::Facets.code(),
        SectionKind::Text.code(),
        SectionKind::Documents.code(),
        SectionKind::Records.code(),
        SectionKind::Bodies.code(),
    ],
    sizes: &RECORD_SIZES,
};

/// Directory: rebuilt whole in each generation.
pub(crate) static DIRECTORY_SCHEMA: Schema = Schema {
    kind: 2,
    sections: &[
        SectionKind::Directory.code(),
        SectionKind::Ids.code(),
        SectionKind::Live.code(),
        SectionKind::Exact.code(),
        SectionKind::Order.code(),
    ],
    sizes: &RECORD_SIZES,
};

/// What stands beside the skills of a synced generation.
pub(crate) static JOURNAL_SCHEMA: Schema = Schema {
    kind: 3,
    sections: &[SectionKind::Journal.code(), SectionKind::Items.code(), SectionKind::Shadows.code()],
    sizes: &RECORD_SIZES,
};

/// Sizes of the archived types: a build whose types differ must not read these files unnoticed.
static RECORD_SIZES: [u16; 3] = [
    size_u16(size_of::<ArchivedRecord>()),
    size_u16(size_of::<ArchivedResourceRecord>()),
    size_u16(size_of::<ArchivedSpan>()),
];

const fn size_u16(size: usize) -> u16 {
    assert!(size <= u16::MAX as usize, "an archived type is larger than the format allows");
    #[expect(clippy::cast_possible_truncation, reason = "asserted in the line above")]
    let size = size as u16;
    size
}

/// Bytes of a row of the `documents` section: u64 offset of the record, u32 length, u32 crc32c.
pub(crate) const DOCUMENT_BYTES: usize = 16;

/// The `directory` section: JSON, since it is small and read once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DirectoryHead {
    /// Layer.
    pub(crate) layer: Layer,
    /// The segments in ordinal order.
    pub(crate) segments: Vec<SegmentHead>,
}

/// What the directory says of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentHead {
    /// Content hash of the file.
    pub(crate) hash: String,
    /// Fingerprint of the tool registry that its records were compiled against, hexadecimal.
    pub(crate) registry: String,
    /// Skills in it that cannot be used with those tools.
    pub(crate) unavailable: u32,
}
