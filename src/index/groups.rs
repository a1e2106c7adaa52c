//! Entitlement groups of a segment: documents with the same set of subscriptions are one range of local numbers.
//!
//! ```text
//! groups u32 | subscriptions u32 | members u32 | text bytes u32
//! text_ends     (subscriptions + 1) x u32   offsets into the text
//! member_ends   (groups + 1) x u32          offsets into the members
//! doc_ends      (groups + 1) x u32          first local document of each group, and the number of documents
//! members       members x u32               numbers of subscriptions, ascending in a group
//! text          the subscriptions, sorted
//! ```
//!
//! A subscription's name stands here once, so that a view asks about each name once and then walks small numbers.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::index::bits::Bits;
use crate::index::le::{Cutter, U32s, put_u32s, size_u32};
use crate::index::sections::{BuildError, Damaged, SectionKind};

const DAMAGED_TEXT: Damaged =
    Damaged::new(SectionKind::Groups, "a subscription is not where its offset says");
const DAMAGED_GROUP: Damaged = Damaged::new(SectionKind::Groups, "a group points beyond its table");

/// The order of documents that makes groups contiguous: sets compare by their subscriptions, one after the other.
/// Documents must be numbered so that their sets ascend; within a group the caller's order stays.
pub(crate) fn build(sets: &[Vec<String>]) -> Result<Vec<u8>, BuildError> {
    let mut names: BTreeMap<&str, u32> = sets.iter().flatten().map(|name| (name.as_str(), 0)).collect();
    for (number, place) in (0..).zip(names.values_mut()) {
        *place = number;
    }
    let (mut members, mut member_ends, mut doc_ends) = (Vec::new(), vec![0], vec![0]);
    for docs in sets.chunk_by(|a, b| a == b) {
        let set = docs.first().map(Vec::as_slice).unwrap_or_default();
        members.extend(set.iter().filter_map(|name| names.get(name.as_str())));
        member_ends.push(size_u32("the number of subscriptions of all groups", members.len())?);
        let before = doc_ends.last().copied().unwrap_or(0) as usize;
        doc_ends.push(size_u32("the number of documents", before + docs.len())?);
    }
    let (mut text, mut text_ends) = (Vec::new(), vec![0]);
    for name in names.keys() {
        text.extend_from_slice(name.as_bytes());
        text_ends.push(size_u32("the text of subscriptions", text.len())?);
    }
    let mut out = Vec::new();
    put_u32s(
        &mut out,
        &[
            size_u32("the number of groups", doc_ends.len() - 1)?,
            size_u32("the number of subscriptions", names.len())?,
            size_u32("the number of subscriptions of all groups", members.len())?,
            size_u32("the text of subscriptions", text.len())?,
        ],
    );
    for table in [&text_ends, &member_ends, &doc_ends, &members] {
        put_u32s(&mut out, table);
    }
    out.extend_from_slice(&text);
    Ok(out)
}

/// The section, open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups<'a> {
    text_ends: U32s<'a>,
    member_ends: U32s<'a>,
    doc_ends: U32s<'a>,
    members: U32s<'a>,
    text: &'a [u8],
}

impl<'a> Groups<'a> {
    /// Opens the section. Cost: constant.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Damaged> {
        let mut cutter = Cutter::new(SectionKind::Groups, bytes);
        let (groups, names) = (cutter.size()?, cutter.size()?);
        let (members, text) = (cutter.size()?, cutter.size()?);
        let text_ends = cutter.u32s(names.saturating_add(1))?;
        let member_ends = cutter.u32s(groups.saturating_add(1))?;
        let doc_ends = cutter.u32s(groups.saturating_add(1))?;
        let members = cutter.u32s(members)?;
        let text = cutter.take(text)?;
        cutter.finish()?;
        Ok(Self { text_ends, member_ends, doc_ends, members, text })
    }

    /// How many groups there are.
    pub(crate) const fn len(&self) -> usize {
        self.doc_ends.len() - 1
    }

    /// How many documents there are.
    pub(crate) fn docs(&self) -> u32 {
        self.doc_ends.get(self.len()).unwrap_or(0)
    }

    /// How many subscriptions are named.
    pub(crate) const fn subscriptions(&self) -> usize {
        self.text_ends.len() - 1
    }

    /// A subscription by its number; numbers follow the order of the names.
    pub(crate) fn subscription(&self, number: usize) -> Result<&'a str, Damaged> {
        let (start, end) = self.text_ends.span(number).ok_or(DAMAGED_TEXT)?;
        let bytes = self.text.get(start..end).ok_or(DAMAGED_TEXT)?;
        std::str::from_utf8(bytes).map_err(|_| DAMAGED_TEXT)
    }

    /// The subscriptions of a group, as ascending numbers; none for skills that need no subscription.
    pub(crate) fn members(&self, group: usize) -> Result<U32s<'a>, Damaged> {
        let (start, end) = self.member_ends.span(group).ok_or(DAMAGED_GROUP)?;
        self.members.slice(start, end).ok_or(DAMAGED_GROUP)
    }

    /// The local documents of a group.
    pub(crate) fn range(&self, group: usize) -> Result<Range<u32>, Damaged> {
        let (start, end) = (self.doc_ends.get(group), self.doc_ends.get(group + 1));
        match (start, end) {
            (Some(start), Some(end)) if start <= end && end <= self.docs() => Ok(start..end),
            _ => Err(DAMAGED_GROUP),
        }
    }

    /// The group of a local document; `None` beyond the last. Cost: a binary search.
    pub(crate) fn group_of(&self, doc: u32) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.doc_ends.get(middle + 1)? <= doc { low = middle + 1 } else { high = middle }
        }
        (low < self.len()).then_some(low)
    }

    /// Adds the documents of every group that `allowed` lets pass, moved up by `base`. It is given a group's
    /// subscriptions in order.
    pub(crate) fn visible(
        &self,
        bits: &mut Bits,
        base: u32,
        mut allowed: impl FnMut(&[&str]) -> bool,
    ) -> Result<(), Damaged> {
        let names = (0..self.subscriptions()).map(|i| self.subscription(i)).collect::<Result<Vec<_>, _>>()?;
        let mut set = Vec::new();
        for group in 0..self.len() {
            set.clear();
            for number in self.members(group)?.iter() {
                set.push(*names.get(number as usize).ok_or(DAMAGED_GROUP)?);
            }
            if allowed(&set) {
                let range = self.range(group)?;
                bits.set_range(base.saturating_add(range.start)..base.saturating_add(range.end));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Groups, build};
    use crate::index::bits::Bits;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn visible_documents_equal_a_scan(
            mut sets in proptest::collection::vec(proptest::collection::btree_set("[a-d]{1,2}", 0..4), 0..40),
            active in proptest::collection::btree_set("[a-d]{1,2}", 0..6),
            base in 0_u32..100,
        ) {
            sets.sort();
            let sets: Vec<Vec<String>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
            let bytes = build(&sets).unwrap();
            let groups = Groups::open(&bytes).unwrap();
            prop_assert_eq!(groups.docs() as usize, sets.len());
            let mut bits = Bits::new(200);
            let allowed = |set: &[&str]| set.iter().any(|name| active.contains(*name));
            groups.visible(&mut bits, base, allowed).unwrap();
            for (doc, set) in (0..).zip(&sets) {
                let expected = set.iter().any(|name| active.contains(name));
                prop_assert_eq!(bits.test(base + doc), expected);
                let group = groups.group_of(doc).unwrap();
                prop_assert!(groups.range(group).unwrap().contains(&doc));
                let members = groups.members(group).unwrap().iter();
                let named: Vec<_> = members.map(|i| groups.subscription(i as usize).unwrap()).collect();
                prop_assert_eq!(named, set.iter().map(String::as_str).collect::<Vec<_>>());
            }
            prop_assert_eq!(groups.group_of(groups.docs()), None);
        }

        #[test]
        fn flipped_bytes_are_never_a_panic(at: prop::sample::Index, with: u8, cut: prop::sample::Index) {
            let sets = [vec![], vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]];
            let mut bytes = build(&sets).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            for end in [cut.index(bytes.len() + 1), bytes.len()] {
                if let Ok(groups) = Groups::open(&bytes[..end]) {
                    let _ = groups.visible(&mut Bits::new(10), u32::MAX, |_| true);
                    let _ = (groups.group_of(1), groups.group_of(u32::MAX), groups.range(0));
                }
            }
        }
    }

    #[test]
    fn skills_without_a_subscription_are_a_group_with_no_member() {
        let bytes = build(&[vec![], vec![]]).unwrap();
        let groups = Groups::open(&bytes).unwrap();
        assert_eq!(groups.len(), 1);
        assert_eq!(groups.members(0).unwrap().len(), 0);
        assert_eq!(groups.range(0).unwrap(), 0..2);
    }

    #[test]
    fn an_empty_segment_has_no_group() {
        let bytes = build(&[]).unwrap();
        let groups = Groups::open(&bytes).unwrap();
        assert_eq!((groups.len(), groups.docs(), groups.group_of(0)), (0, 0, None));
    }
}
