//! The constants of the ranking, each chosen by measurement: see `docs/decisions/0005-ranking.md`.
//!
//! All arithmetic of a search is on integers, so that every platform, the index and the naive reference of the tests
//! give the same numbers.

use super::features::Class;

/// One word, in the fixed-point numbers that term frequencies are counted in.
pub(super) const UNIT: u32 = 16;
/// Weight of a word in a name; likewise the others.
pub(super) const NAME: u32 = 4 * UNIT;
/// In an alias.
pub(super) const ALIAS: u32 = 2 * UNIT;
/// In a tag.
pub(super) const TAG: u32 = UNIT;
/// In a description.
pub(super) const DESCRIPTION: u32 = UNIT * 3 / 2;
/// In an example.
pub(super) const EXAMPLE: u32 = UNIT;

/// BM25's saturation.
const K1: f64 = 2.0;
/// BM25's length normalisation.
const B: f64 = 0.6;
/// The length, in words, that counts as average: a constant, since the true one would have to be that of the visible
/// skills, which is another for each caller.
const LENGTH: f64 = 48.0;
/// Weight of a word in a body of average length.
const BODY: f64 = 0.25;
/// What a body's word counts at most, however often it stands there.
const BODY_MAX: f64 = 1.0;
/// The body length, in words, that counts as average.
const BODY_LENGTH: f64 = 600.0;

/// Pieces that more than one in this many visible skills have are left out: long to read, little to tell.
pub(super) const COMMON_PIECE: u32 = 10;
/// But never those of so few skills.
pub(super) const COMMON_PIECE_MIN: u32 = 50;
/// And always those of so many, which bounds the time of a query on a large catalog.
pub(super) const COMMON_PIECE_MAX: u32 = 2_048;

/// Least score of a hit; a perfect one has 65,535. Below lie chance likenesses of words.
pub(super) const SCORE_MIN: u16 = 128;

/// Weight of a class of features, in 1/64.
pub(super) fn class(class: Class) -> u32 {
    match class {
        Class::Word => 64,
        Class::Function => 40,
        Class::Single => 32,
        Class::Phrase => 20,
        Class::Piece => 10,
    }
}

/// The frequency that a word of a body adds, from how often it stands there and how many words the body has.
pub(super) fn body_frequency(count: u32, words: u32) -> u32 {
    let expected = 0.5 + 0.5 * f64::from(words) / BODY_LENGTH;
    rounded((BODY * f64::from(count) / expected).min(BODY_MAX) * f64::from(UNIT)).max(1)
}

/// BM25's share of one term in one skill, 1 to 255, with 255 for a term that is everything.
pub(super) fn impact(frequency: u32, length: u32) -> u8 {
    let unit = f64::from(UNIT);
    let (frequency, length) = (f64::from(frequency) / unit, f64::from(length) / unit);
    let norm = K1 * (1.0 - B + B * length / LENGTH);
    u8::try_from(rounded(255.0 * frequency / (frequency + norm)).clamp(1, 255)).unwrap_or(u8::MAX)
}

/// Robertson's inverse document frequency, log2((N + 1) / (n + 1/2)), in 1/256.
pub(super) fn idf(visible: u32, frequency: u32) -> u32 {
    log2(2 * u64::from(visible) + 2).saturating_sub(log2(2 * u64::from(frequency) + 1)).max(1)
}

/// The binary logarithm in 1/256, by squaring.
fn log2(value: u64) -> u32 {
    let whole = value.max(1).ilog2();
    // The mantissa, between 1 and 2, in 1/2^32.
    let mut mantissa = ((u128::from(value.max(1)) << 32) >> whole).min(u128::from(u64::MAX));
    let mut fraction = 0;
    for _ in 0..8 {
        mantissa = (mantissa * mantissa) >> 32;
        fraction <<= 1;
        if mantissa >> 33 != 0 {
            fraction += 1;
            mantissa >>= 1;
        }
    }
    whole * 256 + fraction
}

/// The nearest whole number of a small positive one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "callers give 0 to 255")]
fn rounded(value: f64) -> u32 {
    (value + 0.5) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integer_logarithm_is_within_a_step_of_the_true_one() {
        for value in [1u32, 2, 3, 5, 7, 100, 255, 1_000, 65_537, 4_000_000_000] {
            let difference = f64::from(log2(u64::from(value))) / 256.0 - f64::from(value).log2();
            assert!(difference.abs() <= 1.0 / 256.0, "log2({value}) is off by {difference}");
        }
    }

    #[test]
    fn rarer_terms_weigh_more_and_impacts_grow_with_frequency_and_shrink_with_length() {
        assert!(idf(1_000, 0) > idf(1_000, 1) && idf(1_000, 1) > idf(1_000, 999));
        assert_eq!(idf(10, 10), 1.max(idf(10, 10)), "never zero");
        assert!(impact(64, 160) > impact(16, 160) && impact(16, 160) > impact(16, 1_600));
        assert!(impact(1, u32::MAX) >= 1);
    }

    #[test]
    fn a_body_cannot_buy_its_place_by_repeating_a_word() {
        assert_eq!(body_frequency(1_000, 1_000), UNIT);
        assert!(body_frequency(1, 600) < UNIT);
        assert_eq!(body_frequency(1, 1_000_000), 1);
    }
}
