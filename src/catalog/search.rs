//! Search over all layers: every statistic is over what the caller sees.

use crate::catalog::answer::{Filter, Hit, SearchPage, Why};
use crate::catalog::look::{clip, out_of_range};
use crate::catalog::{Look, SkillRef};
use crate::error::Result;
use crate::index::bits::Bits;
use crate::index::text::{self, Fields, Part, Scratch, Sight};
use crate::limits::SEARCH_LIMIT_MAX;

/// One searchable piece of a look: a segment of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Index of the layer in the state.
    layer: usize,
    /// First ordinal of the segment, and its documents.
    base: u32,
    docs: u32,
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
        let mut hits = Vec::with_capacity(ranked.hits.len());
        for (layer, ordinal, score) in ranked.hits {
            let skill = self.at(layer, ordinal)?;
            let why = why(&skill, query)?;
            #[expect(
                clippy::cast_precision_loss,
                reason = "a score to look at; the ranking is done in integers"
            )]
            hits.push(Hit { skill, score: score as f32 / SCORE_ONE, why });
        }
        Ok(SearchPage { hits, total: ranked.total, confidence: ranked.confidence })
    }

    /// Ranks without touching records.
    pub(crate) fn rank(&self, query: &str, filter: &Filter, limit: usize) -> Result<Ranked> {
        let passing = if *filter == Filter::default() { None } else { Some(self.passing(filter)?) };
        let pieces = self.pieces();
        let sights: Vec<Sight> = pieces
            .iter()
            .map(|piece| Sight::new(words_of(&self.seen[piece.layer].listed, *piece), piece.docs))
            .collect();
        let mut parts = Vec::with_capacity(pieces.len());
        for (piece, sight) in pieces.iter().zip(&sights) {
            let open = &self.state.layers[piece.layer];
            let segment =
                open.segments().find(|(_, span)| span.base == piece.base).map(|(segment, _)| segment);
            let Some(segment) = segment else { continue };
            parts.push(Part {
                index: self.noting(segment.text())?,
                visible: words_of(&self.seen[piece.layer].listed, *piece),
                sight,
                filter: passing.as_ref().map(|bits| words_of(&bits[piece.layer], *piece)),
            });
        }
        let id = |part: u32, doc: u32| {
            let piece = pieces.get(part as usize)?;
            let record = self.state.layers[piece.layer].record(piece.base + doc).ok()?;
            Some((piece.layer, record.id.as_str()))
        };
        let mut scratch = Scratch::new();
        let tie = |a: (u32, u32), b: (u32, u32)| id(a.0, a.1).cmp(&id(b.0, b.1));
        let answer = text::search(&parts, clip(query), limit, &tie, &mut scratch);
        let hits = answer
            .hits
            .iter()
            .filter_map(|found| {
                let piece = pieces.get(found.part as usize)?;
                Some((piece.layer, piece.base + found.doc, found.score))
            })
            .collect();
        Ok(Ranked { hits, total: u64::from(answer.total), confidence: answer.confidence })
    }

    fn pieces(&self) -> Vec<Piece> {
        let layers = self.state.layers.iter().enumerate();
        layers
            .flat_map(|(layer, open)| {
                open.segments().map(move |(_, span)| Piece { layer, base: span.base, docs: span.docs })
            })
            .collect()
    }
}

/// The words of a layer's bits that belong to a segment; segments begin at multiples of 64.
fn words_of(bits: &Bits, piece: Piece) -> &[u64] {
    let first = (piece.base / 64) as usize;
    let count = piece.docs.div_ceil(64) as usize;
    bits.words().get(first..first + count).unwrap_or_default()
}

fn why(skill: &SkillRef<'_>, query: &str) -> Result<Vec<Why>> {
    let tags: Vec<&str> = skill.tags().collect();
    let aliases: Vec<&str> = skill.aliases().collect();
    let examples: Vec<&str> = skill.examples().collect();
    let fields = Fields {
        id: skill.id(),
        name: skill.name(),
        description: skill.description(),
        tags: &tags,
        aliases: &aliases,
        examples: &examples,
        body: skill.content()?,
        ..Fields::default()
    };
    let found = text::why(&fields, clip(query));
    Ok(found.into_iter().map(|(field, words)| Why { field: field.name(), words }).collect())
}
