//! Search over all layers: every statistic is over what the caller sees.
//!
//! What depends on the caller's bits alone is made once a look, and the buffers stay with the thread, so that a warm
//! search allocates its answer and little else.

use std::cell::Cell;

use crate::catalog::answer::{Filter, Hit, SearchPage, Why};
use crate::catalog::look::{clip, out_of_range};
use crate::catalog::state::State;
use crate::catalog::visibility::Seen;
use crate::catalog::{Look, SkillRef};
use crate::error::Result;
use crate::index::bits::Bits;
use crate::index::text::{self, Fields, Found, Part, Scratch, Sight};
use crate::limits::SEARCH_LIMIT_MAX;

/// One searchable piece of a look: a segment of a layer with what the caller sees of it.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Index of the layer in the state.
    layer: usize,
    /// First ordinal of the segment, and its documents.
    base: u32,
    docs: u32,
    /// The visible documents as runs.
    sight: Sight,
}

impl Piece {
    /// The pieces of a look. Cost: one pass over the words of the bits.
    pub(crate) fn all(state: &State, seen: &[Seen]) -> Vec<Self> {
        let mut pieces = Vec::new();
        for (layer, (open, seen)) in state.layers.iter().zip(seen).enumerate() {
            for (_, span) in open.segments().filter(|(_, span)| span.docs > 0) {
                let sight = Sight::new(words(&seen.listed, span.base, span.docs), span.docs);
                pieces.push(Self { layer, base: span.base, docs: span.docs, sight });
            }
        }
        pieces
    }

    /// The words of a layer's bits that belong to the segment.
    fn words<'b>(&self, bits: &'b Bits) -> &'b [u64] {
        words(bits, self.base, self.docs)
    }
}

/// The words of a layer's bits that belong to a segment; segments begin at multiples of 64.
fn words(bits: &Bits, base: u32, docs: u32) -> &[u64] {
    let first = (base / 64) as usize;
    let count = docs.div_ceil(64) as usize;
    bits.words().get(first..first + count).unwrap_or_default()
}

thread_local! {
    /// The buffers of this thread's last search. They hold no result: every search begins by emptying them.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Works with this thread's buffers; with fresh ones inside of another search, or while the thread ends.
fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let answer = work(&mut scratch);
    // A thread that is ending keeps nothing.
    let _ = SCRATCH.try_with(|kept| kept.set(Some(scratch)));
    answer
}

/// What a search found, before the records are looked at.
pub(crate) struct Ranked {
    /// Layer index, ordinal, score.
    pub(crate) hits: Vec<(usize, u32, u32)>,
    /// Skills that hold a word of the query at all.
    pub(crate) total: u64,
    /// 0 to 1.
    pub(crate) confidence: f32,
}

/// Scores are fixed-point numbers with this one.
const SCORE_ONE: f32 = 65_535.0;

impl Look {
    /// The best skills for a query, in any language: words of the name, the aliases, examples, tags, the description
    /// and, with a low weight, the body.
    ///
    /// Scores compare within one answer only. Nothing in the answer depends on skills that the caller may not see.
    ///
    /// # Errors
    /// A limit of 0 or above [`SEARCH_LIMIT_MAX`]; damage as in [`Look::get`].
    pub fn search(&self, query: &str, filter: &Filter, limit: usize) -> Result<SearchPage<'_>> {
        if limit == 0 || limit > SEARCH_LIMIT_MAX {
            return Err(out_of_range("limit", limit, SEARCH_LIMIT_MAX));
        }
        let ranked = self.rank(query, filter, limit)?;
        let hit = |&(layer, ordinal, score): &(usize, u32, u32)| {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a score to look at; the ranking is done in integers"
            )]
            let score = score as f32 / SCORE_ONE;
            Ok(Hit { skill: self.at(layer, ordinal)?, score })
        };
        let hits = ranked.hits.iter().map(hit).collect::<Result<Vec<_>>>()?;
        Ok(SearchPage { hits, total: ranked.total, confidence: ranked.confidence })
    }

    /// Ranks without touching records.
    pub(crate) fn rank(&self, query: &str, filter: &Filter, limit: usize) -> Result<Ranked> {
        let passing = if *filter == Filter::default() { None } else { Some(self.passing(filter)?) };
        let pieces = self.pieces();
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let segment = self.state.layers[piece.layer].locate(piece.base);
            parts.push(Part {
                index: self.noting(segment.and_then(|(segment, _)| segment.text()))?,
                visible: piece.words(&self.seen[piece.layer].listed),
                sight: &piece.sight,
                filter: passing.as_ref().map(|bits| piece.words(&bits[piece.layer])),
            });
        }
        let id = |part: u32, doc: u32| {
            let piece = pieces.get(part as usize)?;
            let record = self.state.layers[piece.layer].record(piece.base + doc).ok()?;
            Some((piece.layer, record.id.as_str()))
        };
        let tie = |a: (u32, u32), b: (u32, u32)| id(a.0, a.1).cmp(&id(b.0, b.1));
        let place = |found: &Found| {
            let piece = pieces.get(found.part as usize)?;
            Some((piece.layer, piece.base + found.doc, found.score))
        };
        Ok(with_scratch(|scratch| {
            let answer = text::search(&parts, clip(query), limit, &tie, scratch);
            let hits = answer.hits.iter().filter_map(place).collect();
            Ranked { hits, total: u64::from(answer.total), confidence: answer.confidence }
        }))
    }
}

impl SkillRef<'_> {
    /// Which words of a query stand in which field of the skill: what a search found it by. The body is named for the
    /// words that no other field has.
    ///
    /// Cost: one analysis of the fields but the body; asked for hits that are shown.
    ///
    /// # Errors
    /// The index on disk is damaged.
    pub fn why(&self, query: &str) -> Result<Vec<Why>> {
        let tags: Vec<&str> = self.tags().collect();
        let aliases: Vec<&str> = self.aliases().collect();
        let examples: Vec<&str> = self.examples().collect();
        let fields = Fields {
            id: self.id(),
            name: self.name(),
            description: self.description(),
            tags: &tags,
            aliases: &aliases,
            examples: &examples,
            ..Fields::default()
        };
        let (segment, doc) = self.look.noting(self.open.locate(self.ordinal))?;
        let index = self.look.noting(segment.text())?;
        let found =
            with_scratch(|scratch| text::why(&fields, clip(query), &|term| index.holds(doc, term), scratch));
        Ok(found.into_iter().map(|(field, words)| Why { field: field.name(), words }).collect())
    }
}
