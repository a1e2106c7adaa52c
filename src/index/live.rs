//! Which ordinals of a layer belong to which segment, and which of them are alive.
//!
//! ```text
//! segments u32 | zero u32
//! segments x { base u32, documents u32 }
//! segments x { live words: ceil(documents / 64) x u64 }
//! ```
//!
//! Bases are multiples of 64 and ascend without gaps beyond the rounding, so that whole words are copied.

use crate::index::bits::{Bits, words_for};
use crate::index::le::{Cutter, U64s, put_u32s, size_u32};
use crate::index::sections::{BuildError, Damaged, SectionKind};

/// Most segments of a layer.
const SEGMENTS_MAX: usize = 16;
/// Ordinals of a layer stay below this: they share a `u32` with a kind of entry.
pub(crate) const ORDINALS_MAX: u32 = 1 << 24;

/// The ordinals of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Ordinal of the segment's first document.
    pub(crate) base: u32,
    /// How many documents it holds, dead ones included.
    pub(crate) docs: u32,
}

impl Span {
    /// One above the last ordinal.
    pub(crate) const fn end(self) -> u32 {
        self.base.saturating_add(self.docs)
    }
}

/// Lays segments with these numbers of documents out after each other. Fails above [`ORDINALS_MAX`].
pub(crate) fn spans(docs: &[u32]) -> Result<Vec<Span>, BuildError> {
    let mut spans = Vec::with_capacity(docs.len());
    let mut base = 0_u32;
    for docs in docs {
        let end = u64::from(base) + u64::from(*docs);
        if end > u64::from(ORDINALS_MAX) {
            let found = usize::try_from(end).unwrap_or(usize::MAX);
            return Err(BuildError::TooLarge {
                what: "the number of documents",
                found,
                limit: ORDINALS_MAX as usize,
            });
        }
        spans.push(Span { base, docs: *docs });
        base = (base + docs).next_multiple_of(u64::BITS);
    }
    Ok(spans)
}

/// Builds the section from each segment's live documents (local numbers; the length of the set is the number of
/// documents).
pub(crate) fn build(segments: &[Bits]) -> Result<Vec<u8>, BuildError> {
    if segments.len() > SEGMENTS_MAX {
        let (what, found) = ("the number of segments", segments.len());
        return Err(BuildError::TooLarge { what, found, limit: SEGMENTS_MAX });
    }
    let docs: Vec<u32> = segments.iter().map(Bits::len).collect();
    let mut out = Vec::new();
    put_u32s(&mut out, &[size_u32("the number of segments", segments.len())?, 0]);
    for span in spans(&docs)? {
        put_u32s(&mut out, &[span.base, span.docs]);
    }
    for word in segments.iter().flat_map(Bits::words) {
        out.extend_from_slice(&word.to_le_bytes());
    }
    Ok(out)
}

/// The section, open.
#[derive(Clone, Debug)]
pub(crate) struct Live<'a> {
    spans: Vec<Span>,
    words: U64s<'a>,
}

impl<'a> Live<'a> {
    /// Opens the section and checks that the segments lie after each other.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let damaged = |detail| Damaged::new(SectionKind::Live, detail);
        let mut cutter = Cutter::new(SectionKind::Live, bytes);
        let (count, _zero) = (cutter.size()?, cutter.u32()?);
        if count > SEGMENTS_MAX {
            return Err(damaged("there are too many segments"));
        }
        let mut docs = Vec::with_capacity(count);
        let mut bases = Vec::with_capacity(count);
        for _ in 0..count {
            bases.push(cutter.u32()?);
            docs.push(cutter.u32()?);
        }
        let spans = spans(&docs).map_err(|_| damaged("there are too many documents"))?;
        if !spans.iter().map(|span| span.base).eq(bases) {
            return Err(damaged("a base is not where the segment before ends"));
        }
        let words = cutter.u64s(docs.iter().map(|docs| words_for(*docs)).sum())?;
        cutter.finish()?;
        Ok(Self { spans, words })
    }

    /// The segments in order.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// One above the last ordinal of the layer: the length of its sets.
    pub(crate) fn ordinals(&self) -> u32 {
        self.spans.last().map_or(0, |span| span.end())
    }

    /// The segment and the local number of an ordinal; `None` in the gaps between segments and beyond the end.
    #[cfg(test)]
    pub(crate) fn locate(&self, ordinal: u32) -> Option<(usize, u32)> {
        let after = self.spans.partition_point(|span| span.base <= ordinal);
        let segment = after.checked_sub(1)?;
        let local = ordinal - self.spans.get(segment)?.base;
        (local < self.spans.get(segment)?.docs).then_some((segment, local))
    }

    /// All live ordinals. Cost: a copy of the words.
    pub(crate) fn bits(&self) -> Bits {
        let mut bits = Bits::new(self.ordinals());
        let mut words = self.words.iter();
        for span in &self.spans {
            let mut left = span.docs;
            let mut at = span.base;
            for word in words.by_ref().take(words_for(span.docs)) {
                let mask = if left >= u64::BITS { u64::MAX } else { (1 << left) - 1 };
                bits.or_word(at, word & mask);
                left = left.saturating_sub(u64::BITS);
                at = at.saturating_add(u64::BITS);
            }
        }
        bits
    }

    /// How many documents are alive.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.bits().count()
    }
}

#[cfg(test)]
mod tests {
    use super::{Live, ORDINALS_MAX, Span, build, spans};
    use crate::index::bits::Bits;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn live_ordinals_are_those_of_every_segment(segments in proptest::collection::vec((0_u32..200, any::<u64>()), 0..6)) {
            let sets: Vec<Bits> = segments
                .iter()
                .map(|(docs, seed)| Bits::from_words(*docs, (0..4).map(|i| seed.rotate_left(i * 13))))
                .collect();
            let bytes = build(&sets).unwrap();
            let live = Live::open(&bytes).unwrap();
            let mut expected = Vec::new();
            for (segment, (set, span)) in sets.iter().zip(live.spans()).enumerate() {
                expected.extend(set.iter().map(|local| span.base + local));
                for local in 0..set.len() {
                    prop_assert_eq!(live.locate(span.base + local), Some((segment, local)));
                }
            }
            prop_assert_eq!(live.locate(live.ordinals()), None);
            prop_assert_eq!(live.count(), expected.len() as u64);
            prop_assert_eq!(live.bits().iter().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn flipped_bytes_are_never_a_panic(at: prop::sample::Index, with: u8, cut: prop::sample::Index) {
            let mut bytes = build(&[Bits::full(70), Bits::full(3)]).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            for end in [cut.index(bytes.len() + 1), bytes.len()] {
                if let Ok(live) = Live::open(&bytes[..end]) {
                    let _ = (live.bits(), live.locate(69), live.locate(u32::MAX));
                }
            }
        }
    }

    #[test]
    fn segments_begin_at_whole_words() {
        let expected = [Span { base: 0, docs: 1 }, Span { base: 64, docs: 64 }, Span { base: 128, docs: 0 }];
        assert_eq!(spans(&[1, 64, 0]).unwrap(), expected);
    }

    #[test]
    fn more_documents_than_a_layer_holds_are_refused() {
        assert!(spans(&[ORDINALS_MAX]).is_ok());
        assert!(spans(&[ORDINALS_MAX, 1]).is_err());
        assert!(spans(&[u32::MAX, u32::MAX]).is_err());
    }
}
