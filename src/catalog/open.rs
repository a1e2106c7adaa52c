//! An open layer: the files of one generation, verified, with what is computed once a state.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::files::{DirectoryHead, SegmentHead};
use crate::catalog::record::{ArchivedRecord, ArchivedSpan, hex, status};
use crate::catalog::segment::{OpenSegment, damaged};
use crate::error::{Problem, Result, StorageError};
use crate::flow::{self, Compiled};
use crate::index::SectionKind;
use crate::index::bits::Bits;
use crate::index::exact::Exact;
use crate::index::facets::Column;
use crate::index::ids::{self, IdIndex};
use crate::index::le::U32s;
use crate::index::live::{Live, Span};
use crate::model::{Entry, Layer, Origin};
use crate::snapshot::{Bytes, Damage, Lazy, Records, SectionFile};
use crate::tools::ToolRegistry;

/// One generation of a layer.
pub(crate) struct OpenLayer {
    pub(crate) layer: Layer,
    pub(crate) generation: u64,
    directory: Arc<SectionFile>,
    heads: Vec<SegmentHead>,
    segments: Vec<OpenSegment>,
    spans: Vec<Span>,
    ids: IdIndex,
    /// The records by their slot in `ids`: a look-up by id goes no other way.
    records: Records<ArchivedRecord>,
    exact: Lazy,
    order: Lazy,
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
            && head.segments.iter().zip(&files).all(|(segment, file)| file.name().contains(&segment.hash));
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
        let ids = IdIndex::open(directory.lazy(SectionKind::Ids.code())?).map_err(|d| damaged(&name, d))?;
        let rows = ids.row_bytes().ok_or_else(|| StorageError::damaged(&name, "the ids have no rows"))?;
        let payloads: Vec<Bytes> = segments.iter().map(OpenSegment::record_bytes).collect::<Result<_>>()?;
        let mut open = Self {
            layer,
            generation,
            ids,
            records: Records::new(rows, ids::PLACES, payloads),
            exact: directory.lazy(SectionKind::Exact.code())?,
            order: directory.lazy(SectionKind::Order.code())?,
            available: live.clone(),
            live,
            directory,
            heads: Vec::new(),
            segments,
            spans,
            overrides: HashMap::new(),
        };
        let live = usize::try_from(open.live.count()).unwrap_or(usize::MAX);
        if open.order.len() != live.saturating_mul(4) {
            return Err(StorageError::damaged(open.name(), "the order does not list every live skill").into());
        }
        let fingerprint = hex(&registry.fingerprint());
        for (index, segment) in head.segments.iter().enumerate() {
            open.find_available(index, segment, registry, &fingerprint)?;
        }
        open.heads = head.segments;
        Ok(open)
    }

    /// Clears the bits of a segment's skills that cannot be used with the tools of this deployment. Cost: nothing if
    /// the tools are those of the build and all skills could be used with them.
    fn find_available(
        &mut self,
        index: usize,
        head: &SegmentHead,
        registry: &ToolRegistry,
        fingerprint: &str,
    ) -> Result<()> {
        let same = head.registry == fingerprint;
        if same && head.unavailable == 0 {
            return Ok(());
        }
        let Some(span) = self.spans.get(index).copied() else { return Ok(()) };
        for ordinal in (span.base..span.end()).filter(|ordinal| self.live.test(*ordinal)).collect::<Vec<_>>()
        {
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
        let segments = self.segments.iter().map(OpenSegment::bytes);
        (self.directory.bytes().len() + segments.sum::<usize>()) as u64
    }

    /// The directory's name.
    pub(crate) fn name(&self) -> &str {
        self.directory.name()
    }

    /// What the directory says of the segments.
    pub(crate) fn heads(&self) -> &[SegmentHead] {
        &self.heads
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
    pub(crate) fn ids(&self) -> &IdIndex {
        &self.ids
    }

    /// The record of a slot of the id index, checked on first touch.
    #[inline]
    pub(crate) fn record_of_slot(&self, slot: u32) -> Result<&ArchivedRecord, Damage> {
        self.records.get(slot as usize)
    }

    /// The exact names.
    pub(crate) fn exact(&self) -> Result<Exact<'_>> {
        Exact::open(self.exact.all()?).map_err(|damage| damaged(self.name(), damage))
    }

    /// The live ordinals in the order of their ids.
    pub(crate) fn order(&self) -> Result<U32s<'_>> {
        Ok(U32s::new(self.order.all()?))
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
        segment.record(doc)
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
        segment.body(doc, &record.body)
    }

    /// A range of bytes beside a record, checked at each touch.
    pub(crate) fn range(&self, ordinal: u32, span: &ArchivedSpan) -> Result<&[u8]> {
        let (segment, doc) = self.locate(ordinal)?;
        segment.range(doc, span)
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
        self.order()?.iter().map(|ordinal| self.entry(ordinal)).collect()
    }

    /// Why a skill cannot be used here; empty if it can.
    pub(crate) fn unavailable(&self, ordinal: u32, record: &ArchivedRecord) -> Vec<Problem> {
        if let Some(now) = self.overrides.get(&ordinal) {
            return now.unavailable.clone();
        }
        record.unavailable_json.iter().map(|text| crate::catalog::record::problem_from_json(text)).collect()
    }
}
