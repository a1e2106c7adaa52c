//! A minimal perfect hash of 128-bit hashes: `n` keys get the slots `0..n`, one each.
//!
//! Keys fall into buckets of about three by the lower half of their hash. The builder takes the buckets by size,
//! largest first, and tries pilots 0, 1, 2, ... until every key of the bucket lands on a free slot; a bucket with one
//! key stores the slot itself. A look-up loads one pilot and knows the slot. Nothing is random: the same keys in any
//! order give the same table.

use crate::index::hash::fold;
use crate::index::le::{U32s, high, low};
use crate::index::sections::BuildError;

/// Keys a bucket, on average.
const LAMBDA: usize = 3;
/// Set in a pilot that is a slot.
const DIRECT: u32 = 1 << 31;
/// Pilots tried for one bucket before the next seed; the bucket that needs the most in a million keys takes 10,000.
const PILOTS_MAX: u32 = 1 << 18;
/// Seeds tried. Seed 0 leaves hashes as they are; others are for hashes that were made to be alike.
const SEEDS_MAX: u32 = 16;
/// A bucket above this is not what a spread hash makes: next seed.
const BUCKET_MAX: usize = 64;
/// Most keys: slots must fit beside the direct flag.
const KEYS_MAX: usize = 1 << 31;
/// Multiplies a pilot before it meets the hash.
const PILOT_STEP: u64 = 0x9216_d5d9_8979_fb1b;
/// Multiplies the two.
const PILOT_MIX: u64 = 0xd131_0ba6_98df_b5ac;
/// Make a seed into two words.
const SEED_STEPS: [u64; 2] = [0x2ffd_72db_d01a_dfb7, 0xb8e1_afed_6a26_7e96];

/// The slots of some keys: what a section keeps of a perfect hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PerfectHash {
    /// How often the search began anew.
    pub(crate) seed: u32,
    /// Number of keys, and of slots.
    pub(crate) keys: u32,
    /// One pilot a bucket.
    pub(crate) pilots: Vec<u32>,
}

impl PerfectHash {
    /// Finds the table of `hashes`. Cost: 0.3 s for a million keys. Fails on equal hashes (and says which), and if
    /// the bounded search finds nothing.
    pub(crate) fn build(hashes: &[u128]) -> Result<Self, BuildError> {
        let limit = KEYS_MAX - 1;
        let too_large = BuildError::TooLarge { what: "the number of keys", found: hashes.len(), limit };
        let keys = u32::try_from(hashes.len()).map_err(|_| too_large.clone())?;
        if hashes.len() > limit {
            return Err(too_large);
        }
        for seed in 0..SEEDS_MAX {
            let buckets = Buckets::new(hashes, seed);
            buckets.find_equal(hashes)?;
            if let Some(pilots) = buckets.find_pilots(keys) {
                return Ok(Self { seed, keys, pilots });
            }
        }
        Err(BuildError::NoPerfectHash { items: hashes.len() })
    }

    /// The slot of a key.
    pub(crate) fn slot(&self, hash: u128) -> Option<u32> {
        let (bucket, key) = place(hash, self.seed, self.pilots.len());
        self.pilots.get(bucket).map(|pilot| slot(key, *pilot, self.keys))
    }
}

/// A perfect hash read from a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerfectHashRef<'a> {
    seed: u32,
    keys: u32,
    pilots: U32s<'a>,
}

impl<'a> PerfectHashRef<'a> {
    /// Takes the parts as a section keeps them.
    pub(crate) const fn new(seed: u32, keys: u32, pilots: U32s<'a>) -> Self {
        Self { seed, keys, pilots }
    }

    /// The only slot where a key can be; another key's slot for one that was not there at building time. `None` if
    /// there are no keys. With damaged pilots the slot may be any number.
    #[inline]
    pub(crate) fn slot(&self, hash: u128) -> Option<u32> {
        let key = Key::new(hash, self.seed, self.pilots.len());
        self.pilots.get(key.bucket).map(|pilot| key.slot(pilot, self.keys))
    }
}

/// A key on its way to a slot, for those who read the pilots themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Number of the pilot to read; below the number of buckets unless that is 0.
    pub(crate) bucket: usize,
    rest: u64,
}

impl Key {
    /// The bucket of a hash.
    #[inline]
    pub(crate) fn new(hash: u128, seed: u32, buckets: usize) -> Self {
        let (bucket, rest) = place(hash, seed, buckets);
        Self { bucket, rest }
    }

    /// The slot under the bucket's pilot.
    #[inline]
    pub(crate) fn slot(self, pilot: u32, keys: u32) -> u32 {
        slot(self.rest, pilot, keys)
    }
}

/// Number of buckets for a number of keys.
pub(crate) const fn bucket_count(keys: usize) -> usize {
    keys.div_ceil(LAMBDA)
}

/// Scales a spread 64-bit number to one below `n`.
#[inline]
fn scale(spread: u64, n: usize) -> usize {
    usize::try_from(high(u128::from(spread) * n as u128)).unwrap_or(usize::MAX)
}

/// Bucket of a key, and what is left of its hash for the slot.
#[inline]
fn place(hash: u128, seed: u32, buckets: usize) -> (usize, u64) {
    let (mut lower, mut upper) = (low(hash), high(hash));
    if seed != 0 {
        let step = u64::from(seed);
        let mixed = fold(lower ^ step.wrapping_mul(SEED_STEPS[0]), upper ^ SEED_STEPS[1]).wrapping_add(upper);
        upper = fold(upper ^ step.wrapping_mul(SEED_STEPS[1]), lower ^ SEED_STEPS[0]).wrapping_add(lower);
        lower = mixed;
    }
    (scale(lower, buckets), upper)
}

/// Slot of a key under a pilot.
#[inline]
fn slot(key: u64, pilot: u32, keys: u32) -> u32 {
    let spread = fold(key ^ u64::from(pilot).wrapping_mul(PILOT_STEP), PILOT_MIX);
    let hashed = (u128::from(spread) * u128::from(keys)) >> 64;
    let hashed = u32::try_from(hashed).unwrap_or(u32::MAX);
    if pilot & DIRECT == 0 { hashed } else { pilot & !DIRECT }
}

/// Keys by bucket.
struct Buckets {
    /// Where each bucket begins in `members`, and the end.
    starts: Vec<usize>,
    /// Slot part of the hash and position among the keys, bucket after bucket.
    members: Vec<(u64, usize)>,
}

impl Buckets {
    fn new(hashes: &[u128], seed: u32) -> Self {
        let count = bucket_count(hashes.len());
        let placed: Vec<(usize, u64)> = hashes.iter().map(|hash| place(*hash, seed, count)).collect();
        let mut starts = vec![0; count + 1];
        for (bucket, _) in &placed {
            starts[bucket + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut members = vec![(0, 0); hashes.len()];
        for (i, (bucket, key)) in placed.into_iter().enumerate() {
            members[next[bucket]] = (key, i);
            next[bucket] += 1;
        }
        Self { starts, members }
    }

    fn members(&self, bucket: usize) -> &[(u64, usize)] {
        &self.members[self.starts[bucket]..self.starts[bucket + 1]]
    }

    /// Equal hashes always share a bucket: names the first pair.
    fn find_equal(&self, hashes: &[u128]) -> Result<(), BuildError> {
        let mut sorted = Vec::new();
        for bucket in 0..self.starts.len() - 1 {
            let members = self.members(bucket);
            if members.len() < 2 {
                continue;
            }
            sorted.clear();
            sorted.extend(members.iter().map(|(_, i)| (hashes[*i], *i)));
            sorted.sort_unstable();
            for pair in sorted.windows(2) {
                if pair[0].0 == pair[1].0 {
                    return Err(BuildError::SameHash { first: pair[0].1, second: pair[1].1 });
                }
            }
        }
        Ok(())
    }

    /// Buckets that need a pilot, largest first, then by number.
    fn by_size(&self) -> Option<Vec<usize>> {
        let mut sizes: Vec<Vec<usize>> = vec![Vec::new(); BUCKET_MAX + 1];
        for bucket in 0..self.starts.len() - 1 {
            sizes.get_mut(self.members(bucket).len())?.push(bucket);
        }
        Some(sizes.into_iter().skip(2).rev().flatten().collect())
    }

    /// The pilots, or `None` if this seed does not work.
    fn find_pilots(&self, keys: u32) -> Option<Vec<u32>> {
        let mut pilots = vec![0; self.starts.len() - 1];
        let mut taken = Taken::new(keys);
        for bucket in self.by_size()? {
            let members = self.members(bucket);
            let pilot = (0..PILOTS_MAX)
                .find(|pilot| taken.take_all(members.iter().map(|(key, _)| slot(*key, *pilot, keys))))?;
            pilots[bucket] = pilot;
        }
        let mut free = 0;
        for (bucket, pilot) in pilots.iter_mut().enumerate() {
            if self.members(bucket).len() == 1 {
                free = taken.next_free(free)?;
                *pilot = free | DIRECT;
                free += 1;
            }
        }
        Some(pilots)
    }
}

/// Slots that are taken, one bit each.
struct Taken {
    words: Vec<u64>,
    keys: u32,
}

impl Taken {
    fn new(keys: u32) -> Self {
        Self { words: vec![0; keys.div_ceil(64) as usize], keys }
    }

    /// Takes all of some slots, or none of them if one is taken or named twice.
    fn take_all(&mut self, slots: impl Iterator<Item = u32> + Clone) -> bool {
        if slots.clone().any(|slot| self.words[slot as usize / 64] & (1 << (slot % 64)) != 0) {
            return false;
        }
        for (done, slot) in slots.clone().enumerate() {
            let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
            if self.words[word] & bit != 0 {
                for back in slots.take(done) {
                    self.words[back as usize / 64] &= !(1 << (back % 64));
                }
                return false;
            }
            self.words[word] |= bit;
        }
        true
    }

    /// The first free slot at or above `from`.
    fn next_free(&self, from: u32) -> Option<u32> {
        (from..self.keys).find(|slot| self.words[*slot as usize / 64] & (1 << (slot % 64)) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{PerfectHash, PerfectHashRef};
    use crate::index::hash::hash128;
    use crate::index::le::{U32s, put_u32s};
    use crate::index::sections::BuildError;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn check(hashes: &[u128]) -> PerfectHash {
        let table = PerfectHash::build(hashes).unwrap();
        let mut bytes = Vec::new();
        put_u32s(&mut bytes, &table.pilots);
        let read = PerfectHashRef::new(table.seed, table.keys, U32s::new(&bytes));
        let slots: HashSet<u32> = hashes.iter().map(|hash| table.slot(*hash).unwrap()).collect();
        assert_eq!(slots.len(), hashes.len(), "slots collide");
        assert!(slots.iter().all(|slot| (*slot as usize) < hashes.len()), "a slot is beyond the end");
        for hash in hashes {
            assert_eq!(read.slot(*hash), table.slot(*hash));
        }
        table
    }

    /// Hash of the pilots of `skill-0` to `skill-999`, written down when the format was made.
    const MANY_PILOTS: u128 = 0xa548_c630_1434_dc3d_eab2_ed6e_a13c_1bd2;

    fn named(n: u32) -> Vec<u128> {
        (0..n).map(|i| hash128(format!("skill-{i}").as_bytes())).collect()
    }

    #[test]
    fn no_key_has_no_slot_and_one_key_has_slot_zero() {
        assert_eq!(check(&[]).slot(7), None);
        assert_eq!(check(&[42]).slot(42), Some(0));
    }

    #[test]
    fn every_small_number_of_keys_gets_a_perfect_table() {
        for n in 0..200 {
            check(&named(n));
        }
    }

    #[test]
    fn many_keys_get_a_perfect_table_without_a_second_seed() {
        assert_eq!(check(&named(50_000)).seed, 0);
    }

    #[test]
    fn the_search_never_changes() {
        let hashes =
            ["wifi", "camera", "maps", "alarm", "music", "photos", "browser"].map(|s| hash128(s.as_bytes()));
        let table = check(&hashes);
        assert_eq!((table.seed, table.pilots.as_slice()), (0, &[2, 0, 18][..]));
        let slots: Vec<u32> = hashes.iter().filter_map(|hash| table.slot(*hash)).collect();
        assert_eq!(slots, [0, 1, 4, 3, 6, 2, 5]);
        let many = check(&named(1_000));
        let mut bytes = Vec::new();
        put_u32s(&mut bytes, &many.pilots);
        assert_eq!(hash128(&bytes), MANY_PILOTS);
    }

    #[test]
    fn the_order_of_the_keys_does_not_matter() {
        let mut hashes = named(5_000);
        let forth = PerfectHash::build(&hashes).unwrap();
        hashes.reverse();
        assert_eq!(PerfectHash::build(&hashes).unwrap(), forth);
    }

    #[test]
    fn equal_hashes_are_named() {
        let mut hashes = named(1_000);
        hashes.push(hashes[17]);
        assert_eq!(PerfectHash::build(&hashes), Err(BuildError::SameHash { first: 17, second: 1_000 }));
        assert_eq!(PerfectHash::build(&[5, 5]), Err(BuildError::SameHash { first: 0, second: 1 }));
    }

    #[test]
    fn hashes_made_to_be_alike_are_spread_by_another_seed() {
        let same_lower: Vec<u128> = (0..5_000_u128).map(|i| (i << 64) | 0xffff).collect();
        assert!(check(&same_lower).seed > 0);
        let same_upper: Vec<u128> = (0..5_000_u128).map(|i| (0xabc << 64) | i).collect();
        assert!(check(&same_upper).seed > 0);
        let counting: Vec<u128> = (0..5_000_u128).collect();
        check(&counting);
    }

    proptest! {
        #[test]
        fn any_set_of_hashes_gets_a_perfect_table(hashes in proptest::collection::hash_set(any::<u128>(), 0..300)) {
            check(&hashes.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn any_pilots_are_read_without_a_panic(seed: u32, keys: u32, pilots: Vec<u8>, hash: u128) {
            let table = PerfectHashRef::new(seed, keys, U32s::new(&pilots));
            prop_assert_eq!(table.slot(hash).is_none(), pilots.len() < 4);
        }
    }
}
