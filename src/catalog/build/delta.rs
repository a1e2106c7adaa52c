//! A small change on top of what is there: one segment of the changed skills, and a directory over all.
//!
//! A new segment swallows the segments before it that are not much larger than itself, so that their number grows
//! with the logarithm of the layer, each skill is indexed again few times, and nothing has to be merged later.

use std::collections::BTreeSet;

use crate::catalog::build::directory::{Directory, LayerDigest};
use crate::catalog::build::segment::NewSegment;
use crate::catalog::build::{BuiltLayer, build_error, put_in_order};
use crate::catalog::open::OpenLayer;
use crate::catalog::segment::damaged;
use crate::catalog::state::ordinal_of;
use crate::error::Result;
use crate::index::bits::Bits;
use crate::index::live::{Span, spans};
use crate::limits::SEGMENTS_KEPT_MAX;
use crate::model::Entry;
use crate::tools::ToolRegistry;

/// A segment is swallowed if it has at most so many times the live skills of the new one.
const SWALLOW: usize = 2;

/// Builds a generation from an open one: skills that are put in, in the place of those of the same id, and skills
/// that are taken out. Cost: the changed skills, and the directory; the segments that stay are not read, but for ids
/// and digests.
///
/// # Errors
/// Two entries of one id, more skills than a layer holds, or damage in what stays.
pub(crate) fn build_delta(
    base: &OpenLayer,
    mut puts: Vec<Entry>,
    removes: &BTreeSet<String>,
    registry: &ToolRegistry,
    generation: u64,
) -> Result<BuiltLayer> {
    let mut live = base.live.clone();
    for id in puts.iter().map(|entry| &entry.skill.id).chain(removes) {
        if let Some(ordinal) = ordinal_of(base, id)? {
            live.clear(ordinal);
        }
    }
    let all: Vec<Span> = base.segments().map(|(_, span)| span).collect();
    let mut kept = all.len();
    while let Some(span) = kept.checked_sub(1).and_then(|last| all.get(last)) {
        let alive: Vec<u32> = (span.base..span.end()).filter(|ordinal| live.test(*ordinal)).collect();
        if alive.len() > SWALLOW * puts.len() && kept < SEGMENTS_KEPT_MAX {
            break;
        }
        for ordinal in alive {
            puts.push(base.entry(ordinal)?);
            live.clear(ordinal);
        }
        kept -= 1;
    }
    put_in_order(&mut puts)?;
    let stays = Kept { base, live, spans: all.into_iter().take(kept).collect() };
    let new = if puts.is_empty() { None } else { Some(NewSegment::new(puts, registry, generation)?) };
    stays.with(new, generation)
}

/// What stays of the base.
struct Kept<'a> {
    base: &'a OpenLayer,
    live: Bits,
    spans: Vec<Span>,
}

impl Kept<'_> {
    fn with(&self, new: Option<NewSegment>, generation: u64) -> Result<BuiltLayer> {
        let kept = self.spans.len();
        let docs: Vec<u32> =
            self.spans.iter().map(|span| span.docs).chain(new.as_ref().map(NewSegment::docs)).collect();
        let spans = spans(&docs).map_err(build_error)?;
        let first = spans.get(kept).map_or(u32::MAX, |span| span.base);
        let order = self.order(new.as_ref(), first)?;
        if order.is_empty() {
            return Ok(BuiltLayer::empty());
        }
        let wrap = |damage| damaged(self.base.name(), damage);
        let mut rows: Vec<_> =
            self.base.ids().rows().map_err(wrap)?.filter(|row| self.live.test(row.ordinal)).collect();
        let exact = self.base.exact()?;
        let mut keys = Vec::new();
        for used in exact.uses() {
            let (key, entry) = used.map_err(wrap)?;
            if self.live.test(entry.number) {
                keys.push((key, entry));
            }
        }
        let mut heads: Vec<_> = self.base.heads().iter().take(kept).cloned().collect();
        let mut lives: Vec<Bits> =
            self.spans.iter().map(|span| self.live.part(span.base, span.docs)).collect();
        if let Some(new) = &new {
            rows.extend(new.rows(kept as u64, first));
            keys.extend(new.keys(first));
            heads.push(new.head.clone());
            lives.push(Bits::full(new.docs()));
        }
        let digest = self.digest(new.as_ref(), first, &order)?;
        let directory = Directory { layer: self.base.layer, heads, lives, rows, keys, order };
        let (skills, built) = (directory.order.len() as u64, directory.build(generation)?);
        Ok(BuiltLayer { directory: Some(built), kept, segment: new.map(|new| new.built), skills, digest })
    }

    /// The live ordinals in the order of their ids: those that stay as they stood, the new ones between them.
    fn order(&self, new: Option<&NewSegment>, first: u32) -> Result<Vec<u32>> {
        let stays: Vec<u32> = self.base.order()?.iter().filter(|ordinal| self.live.test(*ordinal)).collect();
        let Some(new) = new else { return Ok(stays) };
        let mut added: Vec<(&str, u32)> =
            (0..new.docs()).filter_map(|doc| Some((new.leaf(doc)?.0, first + doc))).collect();
        added.sort_unstable();
        let mut order = Vec::with_capacity(stays.len() + added.len());
        let mut rest = stays.as_slice();
        for (id, ordinal) in added {
            let (mut low, mut high) = (0, rest.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                let before = match rest.get(middle) {
                    Some(ordinal) => self.base.record(*ordinal)?.id.as_str() < id,
                    None => false,
                };
                if before { low = middle + 1 } else { high = middle }
            }
            let (before, after) = rest.split_at(low);
            order.extend_from_slice(before);
            order.push(ordinal);
            rest = after;
        }
        order.extend_from_slice(rest);
        Ok(order)
    }

    fn digest(&self, new: Option<&NewSegment>, first: u32, order: &[u32]) -> Result<String> {
        let mut digest = LayerDigest::default();
        for ordinal in order {
            let added = new.and_then(|new| new.leaf(ordinal.checked_sub(first)?));
            if let Some((id, content, subscriptions)) = added {
                digest.add(id, content, &subscriptions);
            } else {
                let record = self.base.record(*ordinal)?;
                digest.add(&record.id, &record.digest, &self.base.subscriptions(*ordinal)?);
            }
        }
        Ok(digest.finish())
    }
}
