//! Reads the finite state transducers that the `fst` crate writes (its format 3), with bounds checks.
//!
//! The crate's own reader trusts its bytes: an address or a size that lies makes it panic, and its checksum can be
//! forged. Checking every node at open would cost more than opening everything else; this reader checks what it
//! touches instead. Every transition leads to a strictly smaller address, so no walk is endless.

use crate::index::le::{u32_at, u64_at};

/// The format that is read.
const VERSION: u64 = 3;
/// Length and root address and checksum at the end.
const FOOTER_BYTES: usize = 20;
/// Version and type at the front.
const HEADER_BYTES: usize = 16;
/// Bytes of the input index of a node with more than this many transitions: 256.
const INDEXED_ABOVE: usize = 32;
/// The node that is final, has no transition and no bytes.
const EMPTY_NODE: usize = 0;

/// Inputs that a node writes into its first byte, by number from 1.
const COMMON: &[u8; 63] = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG";

/// A transducer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fst<'a> {
    bytes: &'a [u8],
    root: usize,
}

/// One state of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    /// Number of transitions.
    pub(super) count: usize,
    /// The value of the key that ends here, less what the transitions brought; `None` if none ends here.
    pub(super) last: Option<u64>,
    /// The only input; used when there are no `inputs`.
    only: u8,
    /// The only transition leads to the node just before.
    next: bool,
    /// Inputs, targets and outputs stand in reverse order.
    inputs: &'a [u8],
    targets: &'a [u8],
    outputs: &'a [u8],
    target_size: usize,
    output_size: usize,
    /// Where the node's bytes begin: targets count down from here.
    begin: usize,
}

/// One way from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transition {
    /// The byte.
    pub(super) input: u8,
    /// Added to the key's value.
    pub(super) output: u64,
    /// Address of the node it leads to.
    pub(super) target: usize,
}

impl<'a> Fst<'a> {
    /// Opens a transducer; `None` if it is not one of format 3.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        let footer = bytes.len().checked_sub(FOOTER_BYTES)?;
        if footer < HEADER_BYTES || u64_at(bytes, 0)? != VERSION {
            return None;
        }
        // The checksum of the section is checked at open; the one in here would only be a second one.
        u32_at(bytes, footer + 16)?;
        let root = usize::try_from(u64_at(bytes, footer + 8)?).ok()?;
        Some(Self { bytes: bytes.get(..footer)?, root })
    }

    /// Address of the first node.
    pub(super) const fn root(&self) -> usize {
        self.root
    }

    /// The node at an address; `None` if there cannot be one.
    pub(super) fn node(&self, at: usize) -> Option<Node<'a>> {
        if at == EMPTY_NODE {
            return Some(Node::EMPTY);
        }
        let state = *self.bytes.get(at)?;
        if state & 0x80 == 0 { self.many(at, state) } else { self.one(at, state) }
    }

    /// A node with one transition that is not final.
    fn one(&self, at: usize, state: u8) -> Option<Node<'a>> {
        let (only, after) = match usize::from(state & 0x3f).checked_sub(1) {
            Some(number) => (*COMMON.get(number)?, at),
            None => (*self.bytes.get(at.checked_sub(1)?)?, at - 1),
        };
        if state & 0x40 != 0 {
            return Some(Node { count: 1, only, next: true, begin: after, ..Node::EMPTY_OPEN });
        }
        let sizes_at = after.checked_sub(1)?;
        let (target_size, output_size) = self.sizes(sizes_at)?;
        let (targets, rest) = self.before(sizes_at, target_size)?;
        let (outputs, begin) = self.before(rest, output_size)?;
        Some(Node { count: 1, only, targets, outputs, target_size, output_size, begin, ..Node::EMPTY_OPEN })
    }

    /// A node with any number of transitions.
    fn many(&self, at: usize, state: u8) -> Option<Node<'a>> {
        let (count, after) = match usize::from(state & 0x3f) {
            0 => match *self.bytes.get(at.checked_sub(1)?)? {
                1 => (256, at - 1),
                n => (usize::from(n), at - 1),
            },
            n => (n, at),
        };
        let sizes_at = after.checked_sub(1)?;
        let (target_size, output_size) = self.sizes(sizes_at)?;
        let index = if count > INDEXED_ABOVE { 256 } else { 0 };
        let (inputs, rest) = self.before(sizes_at.checked_sub(index)?, count)?;
        let (targets, rest) = self.before(rest, count * target_size)?;
        let (outputs, rest) = self.before(rest, count * output_size)?;
        let is_final = state & 0x40 != 0;
        let (last, begin) = if is_final {
            let (last, begin) = self.before(rest, output_size)?;
            (Some(number(last)), begin)
        } else {
            (None, rest)
        };
        Some(Node {
            count,
            last,
            only: 0,
            next: false,
            inputs,
            targets,
            outputs,
            target_size,
            output_size,
            begin,
        })
    }

    fn sizes(&self, at: usize) -> Option<(usize, usize)> {
        let byte = usize::from(*self.bytes.get(at)?);
        let (target, output) = (byte >> 4, byte & 0xf);
        (target <= 8 && output <= 8).then_some((target, output))
    }

    /// The `len` bytes that end before `end`, and where they begin.
    fn before(&self, end: usize, len: usize) -> Option<(&'a [u8], usize)> {
        let start = end.checked_sub(len)?;
        Some((self.bytes.get(start..end)?, start))
    }
}

impl Node<'_> {
    const EMPTY: Self = Self { last: Some(0), ..Self::EMPTY_OPEN };

    const EMPTY_OPEN: Self = Self {
        count: 0,
        last: None,
        only: 0,
        next: false,
        inputs: &[],
        targets: &[],
        outputs: &[],
        target_size: 0,
        output_size: 0,
        begin: 0,
    };

    /// The input of transition `i`; `None` if there is no such transition.
    #[inline]
    pub(super) fn input(&self, i: usize) -> Option<u8> {
        if self.inputs.is_empty() {
            (i == 0 && self.count == 1).then_some(self.only)
        } else {
            self.inputs.get(self.inputs.len().checked_sub(i + 1)?).copied()
        }
    }

    /// Transition `i`, in ascending order of inputs; `None` if there is none or if it leads nowhere.
    #[inline]
    pub(super) fn transition(&self, i: usize) -> Option<Transition> {
        let input = self.input(i)?;
        if self.next {
            return Some(Transition { input, output: 0, target: self.begin.checked_sub(1)? });
        }
        let output = if self.output_size == 0 { 0 } else { number(item(self.outputs, i, self.output_size)?) };
        let target = match number(item(self.targets, i, self.target_size)?) {
            0 => EMPTY_NODE,
            delta => self.begin.checked_sub(usize::try_from(delta).ok()?)?,
        };
        Some(Transition { input, output, target })
    }
}

/// Item `i` of items in reverse order.
#[inline]
fn item(bytes: &[u8], i: usize, size: usize) -> Option<&[u8]> {
    let start = bytes.len().checked_sub((i + 1) * size)?;
    bytes.get(start..start + size)
}

/// A little-endian number of up to eight bytes.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::Fst;
    use fst::Streamer;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Every key and value, by a walk over all nodes; at most `limit` steps.
    fn walk(fst: &Fst<'_>, limit: usize) -> Option<Vec<(Vec<u8>, u64)>> {
        let mut found = Vec::new();
        let mut stack = vec![(fst.root(), Vec::new(), 0_u64)];
        let mut steps = 0;
        while let Some((at, key, sum)) = stack.pop() {
            steps += 1;
            if steps > limit {
                return None;
            }
            let node = fst.node(at)?;
            if let Some(last) = node.last {
                found.push((key.clone(), sum.wrapping_add(last)));
            }
            for i in (0..node.count).rev() {
                let way = node.transition(i)?;
                assert!(way.target < at, "a walk could be endless");
                let mut longer = key.clone();
                longer.push(way.input);
                stack.push((way.target, longer, sum.wrapping_add(way.output)));
            }
        }
        Some(found)
    }

    fn written(map: &BTreeMap<Vec<u8>, u64>) -> Vec<u8> {
        fst::Map::from_iter(map.iter().map(|(key, value)| (key, *value))).unwrap().into_fst().into_inner()
    }

    fn same_as_the_crate(map: &BTreeMap<Vec<u8>, u64>) {
        let bytes = written(map);
        let fst = Fst::open(&bytes).unwrap();
        let expected: Vec<_> = map.iter().map(|(k, v)| (k.clone(), *v)).collect();
        let mut streamed = Vec::new();
        let theirs = fst::Map::new(&bytes[..]).unwrap();
        let mut stream = theirs.stream();
        while let Some((key, value)) = stream.next() {
            streamed.push((key.to_vec(), value));
        }
        assert_eq!(streamed, expected);
        let ours = walk(&fst, usize::MAX).unwrap();
        if map.is_empty() {
            assert_eq!(ours, Vec::new());
        } else {
            assert_eq!(ours, expected);
        }
    }

    proptest! {
        #[test]
        fn keys_and_values_equal_those_of_the_crate(
            map in proptest::collection::btree_map(proptest::collection::vec(any::<u8>(), 1..6), any::<u64>(), 1..400),
        ) {
            same_as_the_crate(&map);
        }

        #[test]
        fn flipped_bytes_are_never_a_panic(at: prop::sample::Index, with: u8, more: prop::sample::Index) {
            let map = (0_u64..300).map(|i| (format!("key {}", i * 7).into_bytes(), i)).collect();
            let mut bytes = written(&map);
            for index in [at, more] {
                let at = index.index(bytes.len());
                bytes[at] ^= with;
            }
            if let Some(fst) = Fst::open(&bytes) {
                let _ = walk(&fst, 20_000);
            }
        }
    }

    #[test]
    fn nodes_of_every_size_are_read() {
        let mut map = BTreeMap::new();
        for first in 0..=255_u8 {
            for second in 0..=first {
                map.insert(vec![first, second], u64::from(first) << (second % 50));
            }
            map.insert(vec![first], 7);
        }
        same_as_the_crate(&map);
    }

    #[test]
    fn bytes_that_are_no_transducer_are_refused() {
        assert!(Fst::open(&[]).is_none());
        assert!(Fst::open(&[0; 36]).is_none());
        assert!(Fst::open(&[3; 35]).is_none());
    }
}
