//! An open layer: the files of one generation, verified, with what is computed once a state.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::files::{DOCUMENT_BYTES, DirectoryHead};
use crate::catalog::record::{ArchivedRecord, ArchivedSpan, hex, status};
use crate::error::{Error, Problem, Result, StorageError};
use crate::flow::{self, Compiled};
use crate::index::bits::Bits;
use crate::index::exact::Exact;
use crate::index::facets::{Column, Facets};
use crate::index::groups::Groups;
use crate::index::ids::Ids;
use crate::index::live::{Live, Span};
use crate::index::names::Names;
use crate::index::text::TextIndex;
use crate::index::{Damaged, SectionKind};
use crate::model::{Entry, Layer, Origin};
use crate::snapshot::{Bytes, Damage, Ranges, Records, RowLayout, SectionFile, Texts};
use crate::tools::ToolRegistry;

/// One payload segment.
pub(crate) struct OpenSegment {
    file: Arc<SectionFile>,
    records: Records<ArchivedRecord>,
    bodies: Texts,
    ranges: Ranges,
    groups: Bytes,
    names: Bytes,
    facets: Bytes,
    text: Bytes,
}

/// One generation of a layer.
pub(crate) struct OpenLayer {
    pub(crate) layer: Layer,
    pub(crate) generation: u64,
    directory: Arc<SectionFile>,
    segments: Vec<OpenSegment>,
    spans: Vec<Span>,
    ids: Bytes,
    exact: Bytes,
    order: Bytes,
    /// Live ordinals.
    pub(crate) live: Bits,
    /// Live ordinals whose skills can be used here.
    pub(crate) available: Bits,
    /// What the records would say if they had been compiled against the registry of today.
    overrides: HashMap<u32, Compiled>,
}

impl std::fmt::Debug for OpenLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenLayer")
            .field("layer", &self.layer)
            .field("generation", &self.generation)
            .field("skills", &self.live.count())
            .finish_non_exhaustive()
    }
}

impl OpenSegment {
    fn new(file: Arc<SectionFile>, docs: u32) -> Result<Self> {
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
        let layout = RowLayout { stride: DOCUMENT_BYTES, at: 0 };
        let bodies = section(SectionKind::Bodies)?;
        let segment = Self {
            records: Records::new(documents, layout, vec![section(SectionKind::Records)?]),
            bodies: Texts::new(bodies.clone(), docs as usize),
            ranges: Ranges::new(bodies, 0),
            groups: section(SectionKind::Groups)?,
            names: section(SectionKind::Names)?,
            facets: section(SectionKind::Facets)?,
            text: section(SectionKind::Text)?,
            file,
        };
        // Opened once here, so that a damaged section is found before the state is served.
        if segment.groups()?.docs() != docs {
            return Err(StorageError::damaged(segment.name(), "the groups do not cover the documents").into());
        }
        segment.names()?;
        let counted = [segment.facets()?.docs(), segment.text()?.docs() as usize];
        if counted != [docs as usize; 2] {
            return Err(StorageError::damaged(segment.name(), "an index does not cover the documents").into());
        }
        Ok(segment)
    }

    /// The file's name.
    pub(crate) fn name(&self) -> &str {
        self.file.name()
    }

    /// The entitlement groups.
    pub(crate) fn groups(&self) -> Result<Groups<'_>> {
        Groups::open(&self.groups).map_err(|damage| damaged(self.name(), damage))
    }

    /// Names, aliases, tags, ids.
    pub(crate) fn names(&self) -> Result<Names<'_>> {
        Names::open(&self.names).map_err(|damage| damaged(self.name(), damage))
    }

    /// Columns and filters.
    pub(crate) fn facets(&self) -> Result<Facets<'_>> {
        Facets::open(&self.facets).map_err(|damage| damaged(self.name(), damage))
    }

    /// The text index.
    pub(crate) fn text(&self) -> Result<TextIndex<'_>> {
        TextIndex::open(&self.text).map_err(|detail| StorageError::damaged(self.name(), detail).into())
    }

    fn damage(&self, damage: Damage) -> Error {
        damage.in_file(self.name()).into()
    }
}

/// An index's complaint as an error that names the file.
pub(crate) fn damaged(file: &str, damage: Damaged) -> Error {
    StorageError::damaged(file, damage.to_string()).into()
}

impl OpenLayer {
    /// Opens a generation from its files: the directory first, then the segments.
    ///
    /// # Errors
    /// A file is not what its name and the directory say.
    pub(crate) fn new(
        layer: Layer,
        generation: u64,
        mut files: Vec<Arc<SectionFile>>,
        registry: &ToolRegistry,
    ) -> Result<Self> {
        if files.is_empty() {
            return Err(StorageError::damaged(layer.name(), "a generation without files").into());
        }
        let directory = files.remove(0);
        let name = directory.name().to_owned();
        let section = |kind: SectionKind| directory.required(kind.code());
        let head: DirectoryHead = serde_json::from_slice(&section(SectionKind::Directory)?)
            .map_err(|error| StorageError::damaged(&name, error.to_string()))?;
        let fits = head.layer == layer
            && head.segments.len() == files.len()
            && head.segments.iter().zip(&files).all(|(hash, file)| file.name().contains(hash.as_str()));
        if !fits {
            return Err(StorageError::damaged(&name, "the directory belongs to other segments").into());
        }
        let live_bytes = section(SectionKind::Live)?;
        let live = Live::open(&live_bytes).map_err(|damage| damaged(&name, damage))?;
        let spans = live.spans().to_vec();
        if spans.len() != files.len() {
            return Err(StorageError::damaged(&name, "the live sets are of other segments").into());
        }
        let segments = files
            .into_iter()
            .zip(&spans)
            .map(|(file, span)| OpenSegment::new(file, span.docs))
            .collect::<Result<Vec<_>>>()?;
        let live = live.bits();
        let mut open = Self {
            layer,
            generation,
            ids: section(SectionKind::Ids)?,
            exact: section(SectionKind::Exact)?,
            order: section(SectionKind::Order)?,
            available: live.clone(),
            live,
            directory,
            segments,
            spans,
            overrides: HashMap::new(),
        };
        open.check_directory()?;
        open.find_available(registry, &head.registry)?;
        Ok(open)
    }

    fn check_directory(&self) -> Result<()> {
        self.ids()?;
        self.exact()?;
        let live = usize::try_from(self.live.count()).unwrap_or(usize::MAX);
        if self.order.len() != live.saturating_mul(4) {
            return Err(StorageError::damaged(self.name(), "the order does not list every live skill").into());
        }
        Ok(())
    }

    /// Clears the bits of skills that cannot be used with the tools of this deployment.
    fn find_available(&mut self, registry: &ToolRegistry, compiled_against: &str) -> Result<()> {
        let same = hex(&registry.fingerprint()) == compiled_against;
        let ordinals: Vec<u32> = self.live.iter().collect();
        for ordinal in ordinals {
            let flags = self.status(ordinal)?;
            if same || flags & status::NAMES_TOOLS == 0 {
                if flags & status::UNAVAILABLE != 0 {
                    self.available.clear(ordinal);
                }
                continue;
            }
            let record = self.record(ordinal)?;
            let compiled = flow::compile(&record.to_skill(self.body(ordinal, record)?)?, registry);
            if !compiled.unavailable.is_empty() {
                self.available.clear(ordinal);
            }
            self.overrides.insert(ordinal, compiled);
        }
        Ok(())
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        let segments = self.segments.iter().map(|segment| segment.file.bytes().len());
        (self.directory.bytes().len() + segments.sum::<usize>()) as u64
    }

    /// The directory's name.
    pub(crate) fn name(&self) -> &str {
        self.directory.name()
    }

    /// The segments in ordinal order.
    pub(crate) fn segments(&self) -> impl ExactSizeIterator<Item = (&OpenSegment, Span)> {
        self.segments.iter().zip(self.spans.iter().copied())
    }

    /// One above the last ordinal.
    pub(crate) fn ordinals(&self) -> u32 {
        self.live.len()
    }

    /// The id index.
    pub(crate) fn ids(&self) -> Result<Ids<'_>> {
        Ids::open(&self.ids).map_err(|damage| damaged(self.name(), damage))
    }

    /// The exact names.
    pub(crate) fn exact(&self) -> Result<Exact<'_>> {
        Exact::open(&self.exact).map_err(|damage| damaged(self.name(), damage))
    }

    /// The ordinal at a position of the order by id.
    pub(crate) fn ordered(&self, position: usize) -> Option<u32> {
        let (words, _) = self.order.as_chunks::<4>();
        words.get(position).map(|word| u32::from_le_bytes(*word))
    }

    /// How many positions the order has.
    pub(crate) fn order_len(&self) -> usize {
        self.order.len() / 4
    }

    /// Segment and local document of an ordinal.
    pub(crate) fn locate(&self, ordinal: u32) -> Result<(&OpenSegment, u32)> {
        let after = self.spans.partition_point(|span| span.base <= ordinal);
        let index = after.wrapping_sub(1);
        match (self.spans.get(index), self.segments.get(index)) {
            (Some(span), Some(segment)) if ordinal - span.base < span.docs => {
                Ok((segment, ordinal - span.base))
            }
            _ => {
                Err(StorageError::damaged(self.name(), format!("ordinal {ordinal} is in no segment")).into())
            }
        }
    }

    /// The record of an ordinal, checked on first touch.
    pub(crate) fn record(&self, ordinal: u32) -> Result<&ArchivedRecord> {
        let (segment, doc) = self.locate(ordinal)?;
        segment.records.get(doc as usize).map_err(|damage| segment.damage(damage))
    }

    /// What the tool registry of today says about a skill, where it differs from the record.
    pub(crate) fn compiled_now(&self, ordinal: u32) -> Option<&Compiled> {
        self.overrides.get(&ordinal)
    }

    /// Every skill for which the registry of today was asked again.
    pub(crate) fn compiled_anew(&self) -> impl Iterator<Item = (u32, &Compiled)> {
        self.overrides.iter().map(|(ordinal, compiled)| (*ordinal, compiled))
    }

    /// The status flags of an ordinal.
    pub(crate) fn status(&self, ordinal: u32) -> Result<u8> {
        let (segment, doc) = self.locate(ordinal)?;
        let flags = segment.facets()?.value(Column::Status, doc);
        flags.ok_or_else(|| {
            StorageError::damaged(segment.name(), format!("no status of document {doc}")).into()
        })
    }

    /// The body of a record.
    pub(crate) fn body(&self, ordinal: u32, record: &ArchivedRecord) -> Result<&str> {
        let (segment, doc) = self.locate(ordinal)?;
        let span = &record.body;
        segment
            .bodies
            .get(doc as usize, span.offset.to_native(), span.length.to_native(), span.crc32c.to_native())
            .map_err(|damage| segment.damage(damage))
    }

    /// A range of bytes beside a record, checked at each touch.
    pub(crate) fn range(&self, ordinal: u32, span: &ArchivedSpan) -> Result<&[u8]> {
        let (segment, doc) = self.locate(ordinal)?;
        segment
            .ranges
            .bytes(doc as usize, span.offset.to_native(), span.length.to_native(), span.crc32c.to_native())
            .map_err(|damage| segment.damage(damage))
    }

    /// The subscriptions of an ordinal's group.
    pub(crate) fn subscriptions(&self, ordinal: u32) -> Result<Vec<&str>> {
        let (segment, doc) = self.locate(ordinal)?;
        let groups = segment.groups()?;
        let group = groups
            .group_of(doc)
            .ok_or_else(|| StorageError::damaged(segment.name(), format!("document {doc} has no group")))?;
        let members = groups.members(group).map_err(|damage| damaged(segment.name(), damage))?;
        members
            .iter()
            .map(|number| {
                groups.subscription(number as usize).map_err(|damage| damaged(segment.name(), damage))
            })
            .collect()
    }

    /// An owned entry: what this layer would be built from again.
    pub(crate) fn entry(&self, ordinal: u32) -> Result<Entry> {
        use crate::catalog::record::present;
        let record = self.record(ordinal)?;
        let skill = record.to_skill(self.body(ordinal, record)?)?;
        let source_text = if record.has(present::SOURCE) {
            Some(Arc::from(self.range(ordinal, &record.source)?))
        } else {
            None
        };
        let origin = record
            .has(present::ORIGIN)
            .then(|| Origin { root: record.origin_root.to_string(), path: record.origin_path.to_string() });
        let resources = record
            .resources
            .iter()
            .map(|resource| self.range(ordinal, &resource.span).map(Arc::from))
            .collect::<Result<Vec<_>>>()?;
        let subscriptions = self.subscriptions(ordinal)?.into_iter().map(str::to_owned).collect();
        Ok(Entry { skill, subscriptions, origin, source_text, resources })
    }

    /// All entries in id order.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>> {
        (0..self.order_len()).filter_map(|position| self.ordered(position)).map(|o| self.entry(o)).collect()
    }

    /// Why a skill cannot be used here; empty if it can.
    pub(crate) fn unavailable(&self, ordinal: u32, record: &ArchivedRecord) -> Vec<Problem> {
        if let Some(now) = self.overrides.get(&ordinal) {
            return now.unavailable.clone();
        }
        record.unavailable_json.iter().map(|text| crate::catalog::record::problem_from_json(text)).collect()
    }
}
