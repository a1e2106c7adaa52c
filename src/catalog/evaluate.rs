//! How well searches find what people mean: a labelled set put to the real search.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::catalog::{Filter, Look, SearchPage};
use crate::error::Result;
use crate::index::text::{Judged, quality};

pub use crate::index::text::{OutOfScope, Quality};

/// Hits of a search that are judged.
const HITS: usize = 10;

/// A query with the skills that it should find.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct LabelledQuery {
    /// What is asked.
    pub q: String,
    /// Ids of the skills that answer it; with none the query is out of scope, and nothing should be found.
    pub relevant: Vec<String>,
    /// Its language, for a row of its own.
    #[serde(default)]
    pub lang: Option<String>,
}

impl LabelledQuery {
    /// A query without a language.
    #[must_use]
    pub fn new(q: impl Into<String>, relevant: Vec<String>) -> Self {
        Self { q: q.into(), relevant, lang: None }
    }
}

/// The figures of a labelled set; means are fractions of 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// All queries. The means are over those that have something relevant.
    pub queries: usize,
    /// A relevant skill is first.
    pub recall_at_1: f64,
    /// Share of the relevant skills among the first five (of at most five).
    pub recall_at_5: f64,
    /// Reciprocal of the first relevant place, 0 beyond ten.
    pub mrr_at_10: f64,
    /// Discounted gain of the first ten over the best possible.
    pub ndcg_at_10: f64,
    /// Half of the searches took at most this long, in microseconds.
    pub p50_us: f64,
    /// 99 of 100 searches took at most this long, in microseconds.
    pub p99_us: f64,
    /// The figures of each language that queries name.
    pub by_language: BTreeMap<String, Quality>,
    /// How well confidence tells what is out of scope; absent unless there are queries of both kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_scope: Option<OutOfScope>,
    /// All searches together.
    #[serde(skip)]
    pub took: Duration,
    /// Indexes of the queries whose first hit is not relevant, worst first: what was not found at all, then what
    /// stands lowest; among equals first where the answer was surest.
    #[serde(skip)]
    pub misses: Vec<usize>,
}

impl Evaluation {
    /// The figures of all queries in the form of those of a language.
    #[must_use]
    pub fn quality(&self) -> Quality {
        Quality {
            queries: self.queries,
            recall_at_1: self.recall_at_1,
            recall_at_5: self.recall_at_5,
            mrr_at_10: self.mrr_at_10,
            ndcg_at_10: self.ndcg_at_10,
            out_of_scope: self.out_of_scope,
        }
    }
}

/// Puts every query to [`Look::search`] and compares the first ten hits with the labels.
///
/// Times are those of whole searches on this thread, after a first one that is not counted. Cost: one search a query.
///
/// # Errors
/// As [`Look::search`].
pub fn evaluate(look: &Look, queries: &[LabelledQuery]) -> Result<Evaluation> {
    let search = |query: &LabelledQuery| look.search(&query.q, &Filter::default(), HITS);
    queries.first().map(search).transpose()?;
    let mut judged = Vec::with_capacity(queries.len());
    let mut times = Vec::with_capacity(queries.len());
    for query in queries {
        let begun = Instant::now();
        let page = search(query)?;
        times.push(begun.elapsed());
        judged.push(judge(query, &page));
    }
    let mut languages: BTreeMap<&str, Vec<Judged>> = BTreeMap::new();
    for (query, judged) in queries.iter().zip(&judged) {
        if let Some(lang) = &query.lang {
            languages.entry(lang).or_default().push(judged.clone());
        }
    }
    let all = quality(&judged);
    let took = times.iter().sum();
    times.sort_unstable();
    Ok(Evaluation {
        queries: all.queries,
        recall_at_1: all.recall_at_1,
        recall_at_5: all.recall_at_5,
        mrr_at_10: all.mrr_at_10,
        ndcg_at_10: all.ndcg_at_10,
        p50_us: percentile(&times, 50),
        p99_us: percentile(&times, 99),
        by_language: languages
            .into_iter()
            .map(|(lang, judged)| (lang.to_owned(), quality(&judged)))
            .collect(),
        out_of_scope: all.out_of_scope,
        took,
        misses: misses(&judged),
    })
}

fn judge(query: &LabelledQuery, page: &SearchPage<'_>) -> Judged {
    let mut relevant: Vec<&str> = query.relevant.iter().map(String::as_str).collect();
    relevant.sort_unstable();
    relevant.dedup();
    Judged {
        hits: page.hits.iter().map(|hit| relevant.binary_search(&hit.skill.id()).is_ok()).collect(),
        relevant: relevant.len(),
        confidence: page.confidence,
    }
}

fn misses(judged: &[Judged]) -> Vec<usize> {
    let mut misses: Vec<(usize, usize)> = judged
        .iter()
        .enumerate()
        .filter(|(_, one)| one.relevant > 0)
        .map(|(at, one)| (one.hits.iter().position(|hit| *hit).unwrap_or(HITS), at))
        .filter(|(place, _)| *place > 0)
        .collect();
    misses.sort_by(|(a_place, a), (b_place, b)| {
        Reverse(a_place)
            .cmp(&Reverse(b_place))
            .then(judged[*b].confidence.total_cmp(&judged[*a].confidence))
            .then(a.cmp(b))
    });
    misses.into_iter().map(|(_, at)| at).collect()
}

/// The least time that so many of a hundred do not exceed, in microseconds; 0 without any.
fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    // A tenth of a microsecond is finer than what is measured.
    sorted.get(rank - 1).map_or(0.0, |time| (time.as_secs_f64() * 1e7).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(hits: &[bool], relevant: usize, confidence: f32) -> Judged {
        Judged { hits: hits.to_vec(), relevant, confidence }
    }

    #[test]
    fn the_worst_misses_come_first() {
        let all = [
            judged(&[true], 1, 0.9),
            judged(&[false, true], 1, 0.1),
            judged(&[false, false], 1, 0.2),
            judged(&[], 1, 0.0),
            judged(&[false, false], 1, 0.8),
            judged(&[false], 0, 0.9),
            judged(&[false, false, true], 1, 0.9),
        ];
        assert_eq!(misses(&all), [4, 2, 3, 6, 1]);
    }

    #[test]
    fn percentiles_are_times_that_occurred() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_micros).collect();
        let rows = [(&times[..], 50, 100.0), (&times[..], 99, 198.0), (&times[..1], 99, 1.0), (&[], 50, 0.0)];
        for (times, percent, expect) in rows {
            let got = percentile(times, percent);
            assert!((got - expect).abs() < 1e-9, "{got}, expected {expect}");
        }
        assert!((percentile(&[Duration::from_nanos(1_260)], 50) - 1.3).abs() < 1e-9);
    }
}
