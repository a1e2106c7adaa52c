//! The constants of the ranking. Each was chosen by measurement; see `docs/decisions/0010-ranking.md`.

/// Part of a whole in the fixed-point numbers of this module: term frequencies count sixteenths.
pub(super) const UNIT: u32 = 16;
/// Weight of a word in a name, in sixteenths; likewise the others.
pub(super) const NAME: u32 = 4 * UNIT;
/// In an alias.
pub(super) const ALIAS: u32 = 2 * UNIT;
/// In a tag.
pub(super) const TAG: u32 = UNIT;
/// In a description.
pub(super) const DESCRIPTION: u32 = UNIT;
/// In an example.
pub(super) const EXAMPLE: u32 = UNIT;
/// In the body.
pub(super) const BODY: u32 = UNIT / 4;

/// BM25's saturation, as a fraction.
pub(super) const K1: f64 = 2.0;
/// BM25's length normalisation.
pub(super) const B: f64 = 0.5;
/// The length, in words, that counts as average: a constant, since the true one would tell of hidden skills or
/// would have to be divided by at each posting.
pub(super) const LENGTH: f64 = 48.0;
