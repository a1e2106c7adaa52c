//! Sets of ordinals as plain 64-bit words: one bit says whether a document is in.

use std::ops::Range;

/// Bits of one word.
const WORD: u32 = u64::BITS;

/// A set of document ordinals below a fixed length.
///
/// A test is one load and a shift, whatever the set holds. Two sets that are combined should have one length; where
/// they differ, the shorter one is taken as having no further members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
    len: u32,
}

impl Bits {
    /// The empty set of ordinals below `len`.
    pub(crate) fn new(len: u32) -> Self {
        Self { words: vec![0; words_for(len)], len }
    }

    /// The set of all ordinals below `len`.
    pub(crate) fn full(len: u32) -> Self {
        let mut bits = Self::new(len);
        bits.set_range(0..len);
        bits
    }

    /// The union of ranges.
    #[cfg(test)]
    pub(crate) fn from_ranges(len: u32, ranges: impl IntoIterator<Item = Range<u32>>) -> Self {
        let mut bits = Self::new(len);
        for range in ranges {
            bits.set_range(range);
        }
        bits
    }

    /// The members from `base` on, a multiple of 64, as a set of `len` ordinals of its own.
    pub(crate) fn part(&self, base: u32, len: u32) -> Self {
        let first = (base / WORD) as usize;
        Self::from_words(len, self.words.get(first..).unwrap_or_default().iter().copied())
    }

    /// Takes words as they are; bits at and beyond `len` are cleared, missing words are empty.
    pub(crate) fn from_words(len: u32, words: impl IntoIterator<Item = u64>) -> Self {
        let mut words: Vec<u64> = words.into_iter().take(words_for(len)).collect();
        words.resize(words_for(len), 0);
        let mut bits = Self { words, len };
        bits.clear_tail();
        bits
    }

    /// One above the largest possible member.
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// The words, lowest ordinals first; bits at and beyond the length are zero.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether an ordinal is in. False beyond the length.
    #[inline]
    pub(crate) fn test(&self, ordinal: u32) -> bool {
        self.bit(ordinal) != 0
    }

    /// Like [`Bits::test`], as 0 or 1: for answers that must not branch on it.
    #[inline]
    pub(crate) fn bit(&self, ordinal: u32) -> u64 {
        let word = self.words.get((ordinal / WORD) as usize).copied().unwrap_or(0);
        (word >> (ordinal % WORD)) & 1
    }

    /// Puts an ordinal in. Nothing happens beyond the length.
    #[inline]
    pub(crate) fn set(&mut self, ordinal: u32) {
        if ordinal < self.len
            && let Some(word) = self.words.get_mut((ordinal / WORD) as usize)
        {
            *word |= 1 << (ordinal % WORD);
        }
    }

    /// Takes an ordinal out.
    #[inline]
    pub(crate) fn clear(&mut self, ordinal: u32) {
        if let Some(word) = self.words.get_mut((ordinal / WORD) as usize) {
            *word &= !(1 << (ordinal % WORD));
        }
    }

    /// Puts a range in, whole words at a time; what is beyond the length is left out.
    pub(crate) fn set_range(&mut self, range: Range<u32>) {
        let (start, end) = (range.start, range.end.min(self.len));
        if start >= end {
            return;
        }
        let (first, last) = ((start / WORD) as usize, ((end - 1) / WORD) as usize);
        let head = u64::MAX << (start % WORD);
        let tail = u64::MAX >> (WORD - 1 - (end - 1) % WORD);
        if first == last {
            if let Some(word) = self.words.get_mut(first) {
                *word |= head & tail;
            }
        } else if let Some([begin, middle @ .., close]) = self.words.get_mut(first..=last) {
            *begin |= head;
            middle.fill(u64::MAX);
            *close |= tail;
        }
    }

    /// Puts up to 64 members in at once: those of `word`, moved up by `base`.
    #[inline]
    pub(crate) fn or_word(&mut self, base: u32, word: u64) {
        let (first, shift) = ((base / WORD) as usize, base % WORD);
        if let Some(here) = self.words.get_mut(first) {
            *here |= word << shift;
        }
        if shift > 0
            && let Some(here) = self.words.get_mut(first + 1)
        {
            *here |= word >> (WORD - shift);
        }
        if first + 2 >= self.words.len() {
            self.clear_tail();
        }
    }

    /// Keeps what is in both.
    pub(crate) fn and(&mut self, other: &Self) {
        let common = self.words.len().min(other.words.len());
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= b;
        }
        self.words[common..].fill(0);
    }

    /// Adds what is in the other.
    #[cfg(test)]
    pub(crate) fn or(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a |= b;
        }
        self.clear_tail();
    }

    /// Takes out what is in the other.
    #[cfg(test)]
    pub(crate) fn and_not(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }

    /// How many members there are.
    pub(crate) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// How many members a range has.
    #[cfg(test)]
    pub(crate) fn count_range(&self, range: Range<u32>) -> u64 {
        let (start, end) = (range.start, range.end.min(self.len));
        if start >= end {
            return 0;
        }
        let (first, last) = ((start / WORD) as usize, ((end - 1) / WORD) as usize);
        let head = u64::MAX << (start % WORD);
        let tail = u64::MAX >> (WORD - 1 - (end - 1) % WORD);
        let Some(words) = self.words.get(first..=last) else { return 0 };
        match words {
            [one] => u64::from((one & head & tail).count_ones()),
            [begin, middle @ .., close] => {
                u64::from((begin & head).count_ones())
                    + u64::from((close & tail).count_ones())
                    + middle.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()
            }
            [] => 0,
        }
    }

    /// Whether there is no member.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The smallest member at or above `from`.
    #[cfg(test)]
    pub(crate) fn next(&self, from: u32) -> Option<u32> {
        let first = (from / WORD) as usize;
        let words = self.words.get(first..)?;
        let mut mask = u64::MAX << (from % WORD);
        let mut base = from - from % WORD;
        for word in words {
            let here = word & mask;
            if here != 0 {
                return Some(base + here.trailing_zeros());
            }
            mask = u64::MAX;
            base = base.checked_add(WORD)?;
        }
        None
    }

    /// All members, ascending.
    pub(crate) fn iter(&self) -> Ones<'_> {
        Ones { words: &self.words, word: 0, next_word: 0 }
    }

    /// Clears what lies beyond the length in the last word.
    fn clear_tail(&mut self) {
        if !self.len.is_multiple_of(WORD)
            && let Some(last) = self.words.last_mut()
        {
            *last &= u64::MAX >> (WORD - self.len % WORD);
        }
    }
}

/// Members of a [`Bits`], ascending.
#[derive(Clone, Debug)]
pub(crate) struct Ones<'a> {
    words: &'a [u64],
    word: u64,
    next_word: u32,
}

impl Iterator for Ones<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            self.word = *self.words.get(self.next_word as usize)?;
            self.next_word += 1;
        }
        let bit = self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some((self.next_word - 1) * WORD + bit)
    }
}

/// Words that hold `len` bits.
pub(crate) const fn words_for(len: u32) -> usize {
    len.div_ceil(WORD) as usize
}

#[cfg(test)]
mod tests {
    use super::Bits;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::ops::Range;

    fn naive(len: u32, ranges: &[Range<u32>]) -> BTreeSet<u32> {
        ranges.iter().flat_map(Clone::clone).filter(|i| *i < len).collect()
    }

    fn ranges() -> impl Strategy<Value = Vec<Range<u32>>> {
        proptest::collection::vec((0_u32..400, 0_u32..200).prop_map(|(start, n)| start..start + n), 0..6)
    }

    proptest! {
        #[test]
        fn sets_of_ranges_equal_a_tree_set(len in 0_u32..330, a in ranges(), b in ranges(), probe in 0_u32..700) {
            let (x, y) = (Bits::from_ranges(len, a.clone()), Bits::from_ranges(len, b.clone()));
            let (p, q) = (naive(len, &a), naive(len, &b));
            prop_assert_eq!(x.iter().collect::<Vec<_>>(), p.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(x.count(), p.len() as u64);
            prop_assert_eq!(x.is_empty(), p.is_empty());
            prop_assert_eq!(x.test(probe), p.contains(&probe));
            prop_assert_eq!(x.next(probe), p.range(probe..).next().copied());
            prop_assert_eq!(x.count_range(probe / 2..probe), p.range(probe / 2..probe).count() as u64);
            let (mut and, mut or, mut not) = (x.clone(), x.clone(), x.clone());
            and.and(&y);
            or.or(&y);
            not.and_not(&y);
            prop_assert!(and.iter().eq(p.intersection(&q).copied()));
            prop_assert!(or.iter().eq(p.union(&q).copied()));
            prop_assert!(not.iter().eq(p.difference(&q).copied()));
            prop_assert_eq!(Bits::from_words(len, x.words().iter().copied()), x);
        }

        #[test]
        fn single_members_come_and_go(len in 1_u32..300, members in proptest::collection::vec(0_u32..400, 0..50)) {
            let mut bits = Bits::new(len);
            let mut set = BTreeSet::new();
            for member in members {
                if member % 3 == 0 {
                    bits.clear(member);
                    set.remove(&member);
                } else {
                    bits.set(member);
                    if member < len {
                        set.insert(member);
                    }
                }
            }
            prop_assert!(bits.iter().eq(set.into_iter()));
        }
    }

    #[test]
    fn words_beyond_the_length_are_cut() {
        let mut bits = Bits::from_words(70, [u64::MAX; 9]);
        assert_eq!(bits.count(), 70);
        bits.or_word(64, u64::MAX);
        bits.or_word(128, u64::MAX);
        bits.or_word(65, u64::MAX);
        assert_eq!(bits, Bits::full(70));
    }

    #[test]
    fn a_shorter_set_has_no_further_members() {
        let mut long = Bits::full(200);
        long.and(&Bits::full(64));
        assert_eq!(long.count(), 64);
        let mut short = Bits::new(10);
        short.or(&Bits::full(200));
        assert_eq!(short.count(), 10);
    }

    #[test]
    fn the_largest_ordinal_asked_for_is_no_panic() {
        let bits = Bits::full(64);
        assert!(!bits.test(u32::MAX));
        assert_eq!(bits.next(u32::MAX), None);
        assert_eq!(Bits::new(0).next(0), None);
    }
}
