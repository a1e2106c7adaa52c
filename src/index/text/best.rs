//! The best documents seen so far.

use std::cmp::Ordering;

use super::search::{Found, Tie};
use super::weights::SCORE_MIN;

/// Collects candidates and keeps the best: cheaper than a heap, since most are refused by one comparison.
#[derive(Debug)]
pub(super) struct Best {
    limit: usize,
    enough: u16,
    candidates: Vec<Candidate>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    found: Found,
    /// Place of the id among those of its part.
    rank: u32,
}

impl Best {
    pub(super) fn new() -> Self {
        Self { limit: 0, enough: SCORE_MIN, candidates: Vec::new() }
    }

    /// Forgets everything and keeps `limit` from now on.
    pub(super) fn begin(&mut self, limit: usize) {
        self.limit = limit;
        self.enough = SCORE_MIN;
        self.candidates.clear();
    }

    /// The least score that still has a chance.
    pub(super) fn enough(&self) -> u16 {
        self.enough
    }

    /// Takes a candidate whose score is enough.
    pub(super) fn push(&mut self, found: Found, rank: u32, tie: &Tie<'_>) {
        self.candidates.push(Candidate { found, rank });
        if self.candidates.len() > self.limit.saturating_mul(2).max(64) {
            self.cut(tie);
        }
    }

    /// The best, in order.
    pub(super) fn finish(&mut self, tie: &Tie<'_>) -> impl Iterator<Item = Found> {
        self.cut(tie);
        self.candidates.sort_unstable_by(|a, b| order(a, b, tie));
        self.candidates.drain(..).map(|candidate| candidate.found)
    }

    fn cut(&mut self, tie: &Tie<'_>) {
        if self.candidates.len() <= self.limit {
            return;
        }
        if self.limit > 0 {
            let (_, worst, _) =
                self.candidates.select_nth_unstable_by(self.limit - 1, |a, b| order(a, b, tie));
            // Behind a deprecated document any active one would still come first.
            if !worst.found.deprecated {
                self.enough = u16::try_from(worst.found.score).unwrap_or(u16::MAX);
            }
        }
        self.candidates.truncate(self.limit);
    }
}

fn order(a: &Candidate, b: &Candidate, tie: &Tie<'_>) -> Ordering {
    let (x, y) = (&a.found, &b.found);
    x.deprecated.cmp(&y.deprecated).then(y.score.cmp(&x.score)).then_with(|| {
        if x.part == y.part { a.rank.cmp(&b.rank) } else { tie((x.part, x.doc), (y.part, y.doc)) }
    })
}
