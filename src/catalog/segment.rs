//! An open payload segment: records, bodies and the indexes on them, each checked when it is touched first.

use std::sync::Arc;

use crate::catalog::files::DOCUMENT_BYTES;
use crate::catalog::record::{ArchivedRecord, ArchivedSpan};
use crate::error::{Error, Result, StorageError};
use crate::index::facets::Facets;
use crate::index::groups::Groups;
use crate::index::names::Names;
use crate::index::text::TextIndex;
use crate::index::{Damaged, SectionKind};
use crate::snapshot::{Bytes, Damage, Lazy, Ranges, Records, RowLayout, SectionFile, Texts};

/// One payload segment.
pub(crate) struct OpenSegment {
    file: Arc<SectionFile>,
    docs: u32,
    records: Records<ArchivedRecord>,
    bodies: Texts,
    ranges: Ranges,
    groups: Bytes,
    names: Lazy,
    facets: Lazy,
    text: Lazy,
}

impl OpenSegment {
    /// Opens a segment of so many documents. Cost: nothing of the size of its large sections.
    ///
    /// # Errors
    /// The file is not what the directory says.
    pub(crate) fn new(file: Arc<SectionFile>, docs: u32) -> Result<Self> {
        let section = |kind: SectionKind| file.required(kind.code());
        if file.count(0) != u64::from(docs) {
            let detail = format!("{} documents, the directory says {docs}", file.count(0));
            return Err(StorageError::damaged(file.name(), detail).into());
        }
        let documents = section(SectionKind::Documents)?;
        if documents.len() != docs as usize * DOCUMENT_BYTES {
            let detail = format!("{} bytes of documents for {docs} skills", documents.len());
            return Err(StorageError::damaged(file.name(), detail).into());
        }
        // Not verified as a whole: a place that is not true leads to a record that does not match its checksum.
        let layout = RowLayout { stride: DOCUMENT_BYTES, at: 0 };
        let bodies = section(SectionKind::Bodies)?;
        let segment = Self {
            docs,
            records: Records::new(documents, layout, vec![section(SectionKind::Records)?]),
            bodies: Texts::new(bodies.clone(), docs as usize),
            ranges: Ranges::new(bodies, 0),
            groups: section(SectionKind::Groups)?,
            names: file.lazy(SectionKind::Names.code())?,
            facets: file.lazy(SectionKind::Facets.code())?,
            text: file.lazy(SectionKind::Text.code())?,
            file,
        };
        if segment.groups()?.docs() != docs {
            return Err(StorageError::damaged(segment.name(), "the groups do not cover the documents").into());
        }
        Ok(segment)
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        self.file.name()
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> usize {
        self.file.bytes().len()
    }

    /// The section of the records, for those who know the places in it.
    pub(crate) fn record_bytes(&self) -> Result<Bytes> {
        Ok(self.file.required(SectionKind::Records.code())?)
    }

    /// The record of a document, checked on first touch.
    #[inline]
    pub(crate) fn record(&self, doc: u32) -> Result<&ArchivedRecord> {
        self.records.get(doc as usize).map_err(|damage| self.damage(damage))
    }

    /// The body of a document's record.
    pub(crate) fn body(&self, doc: u32, span: &ArchivedSpan) -> Result<&str> {
        let (offset, length, crc) =
            (span.offset.to_native(), span.length.to_native(), span.crc32c.to_native());
        self.bodies.get(doc as usize, offset, length, crc).map_err(|damage| self.damage(damage))
    }

    /// A range of bytes beside a record, checked at each touch.
    pub(crate) fn range(&self, doc: u32, span: &ArchivedSpan) -> Result<&[u8]> {
        let (offset, length, crc) =
            (span.offset.to_native(), span.length.to_native(), span.crc32c.to_native());
        self.ranges.bytes(doc as usize, offset, length, crc).map_err(|damage| self.damage(damage))
    }

    /// The entitlement groups.
    pub(crate) fn groups(&self) -> Result<Groups<'_>> {
        Groups::open(&self.groups).map_err(|damage| damaged(self.name(), damage))
    }

    /// Names, aliases, tags, ids.
    pub(crate) fn names(&self) -> Result<Names<'_>> {
        Names::open(self.names.all()?).map_err(|damage| damaged(self.name(), damage))
    }

    /// Columns and filters.
    pub(crate) fn facets(&self) -> Result<Facets<'_>> {
        let facets = Facets::open(self.facets.all()?).map_err(|damage| damaged(self.name(), damage))?;
        self.covered(facets.docs())?;
        Ok(facets)
    }

    /// The text index.
    pub(crate) fn text(&self) -> Result<TextIndex<'_>> {
        let text =
            TextIndex::open(self.text.all()?).map_err(|detail| StorageError::damaged(self.name(), detail))?;
        self.covered(text.docs() as usize)?;
        Ok(text)
    }

    fn covered(&self, docs: usize) -> Result<()> {
        if docs == self.docs as usize {
            return Ok(());
        }
        Err(StorageError::damaged(self.name(), "an index does not cover the documents").into())
    }

    fn damage(&self, damage: Damage) -> Error {
        damage.in_file(self.name()).into()
    }
}

/// An index's complaint as an error that names the file.
pub(crate) fn damaged(file: &str, damage: Damaged) -> Error {
    StorageError::damaged(file, damage.to_string()).into()
}
