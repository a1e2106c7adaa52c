//! From entries to the files of a layer: payload segments and one directory over them.
//!
//! Deterministic: documents are ordered by subscription set, then id, and the parallel part (compiling and archiving)
//! keeps that order; the same entries give the same bytes whatever the number of threads.
//!
//! A small change does not touch what is there: [`build_delta`] writes a segment of the changed skills alone and a
//! directory over it and the segments that stay.

mod delta;
mod directory;
mod segment;

use crate::error::{Error, Problem, Result, StorageError};
use crate::index::BuildError;
use crate::index::bits::Bits;
use crate::limits::LAYER_SKILLS_MAX;
use crate::model::{Entry, Layer};
use crate::snapshot::{Built, FLAG_BLOCKS, FLAG_REQUIRED, FLAG_VERIFY_AT_OPEN};
use crate::tools::ToolRegistry;

pub(crate) use delta::build_delta;
use directory::{Directory, LayerDigest};
use segment::NewSegment;

/// Flags of sections that every view needs.
pub(crate) const AT_OPEN: u32 = FLAG_REQUIRED | FLAG_VERIFY_AT_OPEN;
/// Flags of sections that are large or not needed by everybody.
pub(crate) const AT_TOUCH: u32 = FLAG_REQUIRED | FLAG_BLOCKS;

/// The files of a new generation, in memory.
pub(crate) struct BuiltLayer {
    /// The directory; none if the layer is empty.
    pub(crate) directory: Option<Built>,
    /// How many of the former generation's segments stay in front of the new one.
    pub(crate) kept: usize,
    /// The new segment, if there is one.
    pub(crate) segment: Option<Built>,
    /// Skills.
    pub(crate) skills: u64,
    /// Digest over every id and content digest, hexadecimal.
    pub(crate) digest: String,
}

impl BuiltLayer {
    fn empty() -> Self {
        Self { directory: None, kept: 0, segment: None, skills: 0, digest: LayerDigest::default().finish() }
    }
}

/// Builds a layer anew.
///
/// # Errors
/// Two entries of one id, or more skills than a layer holds.
pub(crate) fn build(
    layer: Layer,
    mut entries: Vec<Entry>,
    registry: &ToolRegistry,
    generation: u64,
) -> Result<BuiltLayer> {
    put_in_order(&mut entries)?;
    if entries.is_empty() {
        return Ok(BuiltLayer::empty());
    }
    let mut order: Vec<u32> = (0..doc_number(entries.len())).collect();
    order.sort_by(|a, b| entries[*a as usize].skill.id.cmp(&entries[*b as usize].skill.id));
    let segment = NewSegment::new(entries, registry, generation)?;
    let mut digest = LayerDigest::default();
    for (id, content, subscriptions) in order.iter().filter_map(|doc| segment.leaf(*doc)) {
        digest.add(id, content, &subscriptions);
    }
    let directory = Directory {
        layer,
        heads: vec![segment.head.clone()],
        lives: vec![Bits::full(segment.docs())],
        rows: segment.rows(0, 0).collect(),
        keys: segment.keys(0).collect(),
        order,
    };
    Ok(BuiltLayer {
        skills: directory.order.len() as u64,
        directory: Some(directory.build(generation)?),
        kept: 0,
        digest: digest.finish(),
        segment: Some(segment.built),
    })
}

/// The order of documents in a segment: by subscription set, then id.
///
/// # Errors
/// Two entries of one id, or more skills than a layer holds.
fn put_in_order(entries: &mut [Entry]) -> Result<()> {
    if entries.len() > LAYER_SKILLS_MAX {
        return Err(StorageError::TooLarge {
            what: "skills in a layer",
            got: entries.len() as u64,
            limit: LAYER_SKILLS_MAX as u64,
        }
        .into());
    }
    for entry in entries.iter_mut() {
        entry.subscriptions.sort_unstable();
        entry.subscriptions.dedup();
    }
    entries.sort_by(|a, b| (&a.subscriptions, &a.skill.id).cmp(&(&b.subscriptions, &b.skill.id)));
    refuse_duplicates(entries)
}

fn refuse_duplicates(entries: &[Entry]) -> Result<()> {
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    let problems: Vec<Problem> = entries
        .iter()
        .filter(|entry| !seen.insert(entry.skill.id.as_str()))
        .map(|entry| {
            Problem::new("duplicate_id", "id", "two skills of a layer have this id; rename or merge one")
                .got(&entry.skill.id)
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Rejected { what: "the layer".to_owned(), problems }) }
}

/// A document's number. A layer holds at most 16 million, so that this never saturates.
fn doc_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err calls")]
fn build_error(error: BuildError) -> Error {
    StorageError::damaged("build", error.to_string()).into()
}
