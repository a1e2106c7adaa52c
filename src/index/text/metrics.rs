//! Figures of search quality from judged answers.

/// One query with its answer and what should have been found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Judged {
    /// For each hit, best first, whether it is relevant.
    pub(crate) hits: Vec<bool>,
    /// How many documents are relevant; 0 = the query is out of scope.
    pub(crate) relevant: usize,
    /// The answer's confidence.
    pub(crate) confidence: f32,
}

/// The figures of judged queries; means are over those that have something relevant, as fractions of 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Quality {
    /// All queries.
    pub queries: usize,
    /// A relevant document is first.
    pub recall_at_1: f64,
    /// Share of the relevant documents among the first five (of at most five).
    pub recall_at_5: f64,
    /// Reciprocal of the first relevant place, 0 beyond ten.
    pub mrr_at_10: f64,
    /// Discounted gain of the first ten over the best possible.
    pub ndcg_at_10: f64,
    /// Of queries that nothing is relevant to; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_scope: Option<OutOfScope>,
}

/// How well the confidence tells queries in scope from queries out of scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct OutOfScope {
    /// Chance that a query in scope has a higher confidence than one out of scope; ties count half.
    pub auroc: f64,
    /// Share of out-of-scope queries refused at the threshold that refuses 5 % of those in scope.
    pub refused_at_5: f64,
}

/// The figures for a set of judged queries. Cost: n log n.
#[must_use]
pub(crate) fn quality(judged: &[Judged]) -> Quality {
    let inside: Vec<&Judged> = judged.iter().filter(|one| one.relevant > 0).collect();
    let mean = |value: &dyn Fn(&Judged) -> f64| {
        if inside.is_empty() {
            0.0
        } else {
            inside.iter().map(|one| value(one)).sum::<f64>() / count(inside.len())
        }
    };
    Quality {
        queries: judged.len(),
        recall_at_1: mean(&|one| f64::from(u8::from(one.hits.first() == Some(&true)))),
        recall_at_5: mean(&|one| {
            count(one.hits.iter().take(5).filter(|hit| **hit).count()) / count(one.relevant.min(5))
        }),
        mrr_at_10: mean(&|one| {
            one.hits.iter().take(10).position(|hit| *hit).map_or(0.0, |place| 1.0 / count(place + 1))
        }),
        ndcg_at_10: mean(&gain),
        out_of_scope: out_of_scope(judged),
    }
}

fn gain(one: &Judged) -> f64 {
    let discount = |place: usize| 1.0 / count(place + 2).log2();
    let gained: f64 =
        one.hits.iter().take(10).enumerate().filter(|(_, hit)| **hit).map(|(at, _)| discount(at)).sum();
    let best: f64 = (0..one.relevant.min(10)).map(discount).sum();
    gained / best
}

fn out_of_scope(judged: &[Judged]) -> Option<OutOfScope> {
    let confidences = |inside: bool| {
        let mut all: Vec<f32> =
            judged.iter().filter(|one| (one.relevant > 0) == inside).map(|one| one.confidence).collect();
        all.sort_unstable_by(f32::total_cmp);
        all
    };
    let (inside, outside) = (confidences(true), confidences(false));
    if inside.is_empty() || outside.is_empty() {
        return None;
    }
    let below = |value: f32| outside.partition_point(|other| *other < value);
    let wins: f64 = inside
        .iter()
        .map(|&value| {
            let ties = outside.partition_point(|other| *other <= value) - below(value);
            count(below(value)) + 0.5 * count(ties)
        })
        .sum();
    let threshold = inside[inside.len() / 20];
    Some(OutOfScope {
        auroc: wins / (count(inside.len()) * count(outside.len())),
        refused_at_5: count(below(threshold)) / count(outside.len()),
    })
}

fn count(value: usize) -> f64 {
    f64::from(u32::try_from(value).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(hits: &[bool], relevant: usize, confidence: f32) -> Judged {
        Judged { hits: hits.to_vec(), relevant, confidence }
    }

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-9, "got {got}, expected {expected}");
    }

    #[test]
    fn the_figures_are_those_of_their_definitions() {
        let figures = quality(&[
            judged(&[true, false], 1, 0.9),
            judged(&[false, true], 1, 0.8),
            judged(&[false; 10], 1, 0.7),
            judged(&[true, false, true], 2, 0.6),
        ]);
        assert_eq!(figures.queries, 4);
        near(figures.recall_at_1, 0.5);
        near(figures.recall_at_5, 0.75);
        near(figures.mrr_at_10, (1.0 + 0.5 + 0.0 + 1.0) / 4.0);
        let second = 1.0 / 3f64.log2();
        near(figures.ndcg_at_10, (1.0 + second + 0.0 + 1.5 / (1.0 + second)) / 4.0);
        assert_eq!(figures.out_of_scope, None);
        near(quality(&[judged(&[false; 11], 1, 0.0), judged(&[], 1, 0.0)]).mrr_at_10, 0.0);
        assert_eq!(quality(&[]).queries, 0);
    }

    #[test]
    fn queries_out_of_scope_are_told_by_their_confidence_only() {
        let mut all: Vec<Judged> = (1u8..=20).map(|at| judged(&[true], 1, f32::from(at) / 20.0)).collect();
        all.extend([0.01, 0.09, 0.5, 0.99].map(|confidence| judged(&[], 0, confidence)));
        let told = quality(&all).out_of_scope.expect("both kinds are there");
        // The threshold refuses one of twenty: 0.05 goes, 0.10 stays.
        near(told.refused_at_5, 0.5);
        near(told.auroc, (20.0 + 19.0 + 10.5 + 1.0) / 80.0);
        near(quality(&all).mrr_at_10, 1.0);
        assert_eq!(quality(&all).queries, 24);
    }
}
