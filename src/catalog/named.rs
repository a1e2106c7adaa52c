//! Look-ups by name: whole, by its beginning, or nearly.

use smallvec::SmallVec;

use crate::catalog::look::{clip, out_of_range};
use crate::catalog::segment::damaged;
use crate::catalog::{Look, SkillRef};
use crate::error::Result;
use crate::index::names::KeyKind;
use crate::limits::{LIST_LIMIT_MAX, NAMED_MAX};
use crate::model::{Normal, normalise};

/// Skills that an answer holds without a heap.
const FEW: usize = 10;

/// A few skills, in the order of the answer. Up to ten of them take no heap.
#[derive(Clone, Debug, Default)]
pub struct Skills<'a> {
    all: SmallVec<[SkillRef<'a>; FEW]>,
}

impl<'a> std::ops::Deref for Skills<'a> {
    type Target = [SkillRef<'a>];
    fn deref(&self) -> &[SkillRef<'a>] {
        &self.all
    }
}

impl<'a> IntoIterator for Skills<'a> {
    type Item = SkillRef<'a>;
    type IntoIter = smallvec::IntoIter<[SkillRef<'a>; FEW]>;
    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}

impl<'s, 'a> IntoIterator for &'s Skills<'a> {
    type Item = &'s SkillRef<'a>;
    type IntoIter = std::slice::Iter<'s, SkillRef<'a>>;
    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}

/// Layer and ordinal.
type Place = (usize, u32);

/// Places without repetitions: a few are looked through, many are kept in a set.
#[derive(Default)]
struct Distinct {
    few: SmallVec<[Place; 32]>,
    many: std::collections::BTreeSet<Place>,
}

impl Distinct {
    /// False if the place was there already.
    fn insert(&mut self, place: Place) -> bool {
        if self.few.len() < self.few.inline_size() {
            let new = !self.few.contains(&place);
            if new {
                self.few.push(place);
            }
            return new;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().copied());
        }
        self.many.insert(place)
    }
}

impl Look {
    /// Skills that a text names: by exact id, then by exact name, then by alias (both normalised), each in layer
    /// precedence. Unavailable skills are left out, and what is beyond [`NAMED_MAX`] of one name.
    ///
    /// Cost: a hash and a look-up a layer; nothing is allocated for a short ASCII text that names up to ten skills.
    ///
    /// # Errors
    /// Damage as in [`Look::get`].
    pub fn lookup(&self, text: &str) -> Result<Skills<'_>> {
        let normal = Normal::of(clip(text));
        let mut found = Skills::default();
        if normal.is_empty() {
            // An id of punctuation alone has no key.
            found.all.extend(self.get(text)?.filter(SkillRef::is_available));
            return Ok(found);
        }
        let mut places: SmallVec<[Named; FEW]> = SmallVec::new();
        self.each_named(&normal, &mut |named| {
            if matches!(named.kind, KeyKind::Id | KeyKind::Name | KeyKind::Alias) {
                places.push(named);
            }
        })?;
        if let [only] = places.as_slice() {
            found.all.push(self.at(only.layer, only.ordinal)?);
            return Ok(found);
        }
        places.sort_unstable_by_key(|named| (named.kind, named.layer, named.ordinal));
        places.truncate(NAMED_MAX);
        let mut distinct = Distinct::default();
        places.retain(|named| distinct.insert((named.layer, named.ordinal)));
        let place = |named: &Named| (named.kind, named.layer);
        places.sort_by(|a, b| {
            place(a).cmp(&place(b)).then_with(|| self.by_id((a.layer, a.ordinal), (b.layer, b.ordinal)))
        });
        for named in &places {
            found.all.push(self.at(named.layer, named.ordinal)?);
        }
        // The id as it is written comes before others that only normalise to it.
        if let Some(exact) = found.all.iter().position(|skill| skill.id() == text) {
            found.all[..=exact].rotate_right(1);
        }
        Ok(found)
    }

    /// Every use of a normalised key that the caller sees, in layer order. Touches no record.
    pub(crate) fn named(&self, key: &str) -> Result<Vec<Named>> {
        let mut found = Vec::new();
        self.each_named(key, &mut |named| found.push(named))?;
        Ok(found)
    }

    fn each_named(&self, key: &str, sink: &mut dyn FnMut(Named)) -> Result<()> {
        for (layer, open) in self.state.layers.iter().enumerate() {
            let exact = self.noting(open.exact())?;
            let matches =
                exact.lookup(key, &self.seen[layer].listed).map_err(|damage| damaged(open.name(), damage));
            for entry in self.noting(matches)? {
                let entry = self.noting(entry.map_err(|damage| damaged(open.name(), damage)))?;
                sink(Named { kind: entry.kind, layer, ordinal: entry.number });
            }
        }
        Ok(())
    }

    /// Skills with a name, alias or id that begins with a text (normalised), in the order of these, each skill once.
    ///
    /// Cost: a binary search, and the keys up to the last skill of the answer.
    ///
    /// # Errors
    /// Damage as in [`Look::get`].
    pub fn prefix(&self, text: &str, limit: usize) -> Result<Skills<'_>> {
        if limit == 0 || limit > LIST_LIMIT_MAX {
            return Err(out_of_range("limit", limit, LIST_LIMIT_MAX));
        }
        let key = Normal::of(clip(text));
        let mut found: SmallVec<[(&str, usize, u32); 16]> = SmallVec::new();
        let mut pieces = 0;
        for (index, open) in self.state.layers.iter().enumerate() {
            for (segment, span) in open.segments() {
                pieces += 1;
                let wrap = |damage| damaged(segment.name(), damage);
                let names = self.noting(segment.names())?;
                let mut here = Distinct::default();
                let mut count = 0;
                for rank in self.noting(names.prefix(&key).map_err(wrap))? {
                    let rank = self.noting(rank.map_err(wrap))?;
                    let from = found.len();
                    for entry in self.noting(names.entries(rank).map_err(wrap))? {
                        let entry = self.noting(entry.map_err(wrap))?;
                        let ordinal = span.base.saturating_add(entry.number);
                        if entry.kind != KeyKind::Tag
                            && self.seen[index].listed.test(ordinal)
                            && here.insert((index, ordinal))
                        {
                            found.push((self.noting(names.key(rank).map_err(wrap))?, index, ordinal));
                            count += 1;
                        }
                    }
                    if found.len() > from + 1 {
                        found[from..].sort_unstable_by(|a, b| self.by_id((a.1, a.2), (b.1, b.2)));
                    }
                    if count >= limit {
                        break;
                    }
                }
            }
        }
        // One piece is in order as it stands.
        if pieces > 1 {
            found
                .sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| self.by_id((a.1, a.2), (b.1, b.2))));
        }
        let mut skills = Skills::default();
        for (_, index, ordinal) in found.into_iter().take(limit) {
            skills.all.push(self.at(index, ordinal)?);
        }
        Ok(skills)
    }

    /// Skills with a name, alias or id within an edit distance of 1 (up to five characters) or 2, nearest first. A
    /// fallback for typing errors, dearer than the other look-ups.
    ///
    /// # Errors
    /// Damage as in [`Look::get`].
    pub fn fuzzy(&self, text: &str, limit: usize) -> Result<Skills<'_>> {
        let key = normalise(clip(text));
        let distance = if key.chars().count() <= 5 { 1 } else { 2 };
        let mut found: Vec<(u8, &str, usize, u32)> = Vec::new();
        for (index, open) in self.state.layers.iter().enumerate() {
            for (segment, span) in open.segments() {
                let wrap = |damage| damaged(segment.name(), damage);
                let names = self.noting(segment.names())?;
                for near in self.noting(names.fuzzy(&key, distance).map_err(wrap))? {
                    for entry in self.noting(names.entries(near.rank).map_err(wrap))? {
                        let entry = self.noting(entry.map_err(wrap))?;
                        let ordinal = span.base.saturating_add(entry.number);
                        if entry.kind != KeyKind::Tag && self.seen[index].listed.test(ordinal) {
                            let key = self.noting(names.key(near.rank).map_err(wrap))?;
                            found.push((near.distance, key, index, ordinal));
                        }
                    }
                }
            }
        }
        found.sort_unstable_by(|a, b| {
            (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)).then_with(|| self.by_id((a.2, a.3), (b.2, b.3)))
        });
        let mut distinct = Distinct::default();
        let mut skills = Skills::default();
        for (_, _, index, ordinal) in found {
            if skills.len() < limit && distinct.insert((index, ordinal)) {
                skills.all.push(self.at(index, ordinal)?);
            }
        }
        Ok(skills)
    }

    /// The order of two skills by their ids; ordinals say nothing, since they depend on how a layer came to be. What is
    /// damaged comes first and is found to be so when it is read.
    fn by_id(&self, a: (usize, u32), b: (usize, u32)) -> std::cmp::Ordering {
        let id = |(layer, ordinal): (usize, u32)| {
            self.state
                .layers
                .get(layer)
                .and_then(|open| open.record(ordinal).ok())
                .map(|record| record.id.as_str())
        };
        id(a).cmp(&id(b))
    }
}

/// One use of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    /// As what.
    pub(crate) kind: KeyKind,
    /// Index of the layer in the state.
    pub(crate) layer: usize,
    /// Ordinal in the layer.
    pub(crate) ordinal: u32,
}
