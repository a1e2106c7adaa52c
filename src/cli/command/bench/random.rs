//! Numbers that look random and are the same in every run.

/// A counter behind a mixing function (`SplitMix64`): one word of state, equal on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The numbers of the `index`-th thing made from a seed, whatever was made before it.
    pub(crate) fn of(seed: u64, index: usize) -> Self {
        let mut own = Self(seed ^ (index as u64).wrapping_mul(0xd134_2543_de82_ef95));
        own.next();
        own
    }

    /// 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let scaled = (u128::from(self.next()) * bound as u128) >> 64;
        usize::try_from(scaled).unwrap_or_default()
    }

    /// A number from 0 up to, not including, 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap_or_default()) / 4_294_967_296.0
    }

    /// A number of the standard normal distribution.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (self.fraction() + 1e-12).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.fraction()).cos()
    }

    /// One of these; `None` if there is none.
    pub(crate) fn one<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// True `percent` times of a hundred.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers_within_their_bounds() {
        let (mut one, mut two) = (Random::of(7, 3), Random::of(7, 3));
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            let number = one.below(10);
            assert_eq!(number, two.below(10));
            seen[number] += 1;
            let (fraction, _) = (one.fraction(), two.fraction());
            assert!((0.0..1.0).contains(&fraction));
        }
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
        assert_ne!(Random::of(7, 3).next(), Random::of(7, 4).next());
        assert_eq!((one.below(0), one.one::<u8>(&[])), (0, None));
    }
}
