//! The hash that terms are known by.

use std::hash::{BuildHasherDefault, Hasher};

/// A term: the 64-bit hash of its text. Two texts with one hash are one term; that costs a little ranking and
/// nothing else, since a posting is only followed to a visible document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermHash(pub(super) u64);

impl TermHash {
    /// FNV-1a over the UTF-8 bytes, then one round of mixing, so that the upper bits are as good as the lower.
    pub(super) fn of(text: &str) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self::mixed(hash)
    }

    /// The term for two neighbouring terms.
    pub(super) fn pair(left: Self, right: Self) -> Self {
        Self::mixed(left.0.rotate_left(23) ^ right.0.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The term for a piece of a word.
    pub(super) fn piece(chars: [char; 4]) -> Self {
        let mut hash = 0x9ae1_6a3b_2f90_404f_u64;
        for c in chars {
            hash = (hash ^ u64::from(u32::from(c))).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
        Self::mixed(hash)
    }

    /// The lower half, which a page's term table compares.
    pub(super) fn low(self) -> u32 {
        let [a, b, c, d, ..] = self.0.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    fn mixed(mut hash: u64) -> Self {
        hash ^= hash >> 32;
        hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash ^= hash >> 32;
        Self(hash)
    }
}

/// For maps that are keyed by terms: they are hashes already.
pub(super) type BuildTermHasher = BuildHasherDefault<TermHasher>;

/// Hands a term's own bits on.
#[derive(Debug, Default)]
pub(crate) struct TermHasher(u64);

impl Hasher for TermHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
