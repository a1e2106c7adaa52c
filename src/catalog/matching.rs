//! The intent gate: which one skill should handle a request, or none.

use std::collections::HashSet;

use crate::catalog::answer::{Filter, MatchAnswer};
use crate::catalog::look::clip;
use crate::catalog::named::Named;
use crate::catalog::{Look, SkillRef, phrase};
use crate::error::Result;
use crate::index::names::KeyKind;
use crate::limits::{NAMED_MAX, SEARCH_LIMIT_MAX};
use crate::model::normalise;
use crate::tools::exact_command;

/// Others that an answer names.
const CANDIDATES_MAX: usize = 3;
/// Confidence below which a request is out of scope: where the best hit becomes more often right than wrong
/// (`docs/decisions/0007-match-threshold.md`).
const CONFIDENCE_MIN: f32 = 0.25;
/// How far the best hit must be ahead of the second, as a ratio of scores.
const LEAD_MIN: f32 = 1.05;

impl Look {
    /// The skill that should handle a request, or none with the candidates that came close.
    ///
    /// In this order: blank is none; a whole request that is an exact device command needs no skill; the longest
    /// alias, name or example that stands in the request on word boundaries (where several skills own it, the one that
    /// search puts first); else the best search hit, if it is confident and clearly ahead.
    ///
    /// # Errors
    /// Damage as in [`Look::get`].
    pub fn match_request(&self, request: &str) -> Result<MatchAnswer<'_>> {
        let normal = normalise(clip(request));
        if normal.is_empty() {
            return Ok(MatchAnswer::none("the request is blank"));
        }
        if let Some(command) = exact_command(request) {
            let reason = format!("the whole request is a device command: call {}", command.tool);
            return Ok(MatchAnswer {
                exact_command: Some(command),
                confidence: 1.0,
                ..MatchAnswer::none(&reason)
            });
        }
        if let Some(answer) = self.match_phrase(request, &normal)? {
            return Ok(answer);
        }
        self.match_search(request)
    }

    /// The owner of the longest phrase.
    fn match_phrase(&self, request: &str, normal: &str) -> Result<Option<MatchAnswer<'_>>> {
        let mut failed = None;
        let found = phrase::longest(normal, |phrase| {
            self.named(phrase).unwrap_or_else(|error| {
                failed = Some(error);
                Vec::new()
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let Some((_, mut uses)) = found else { return Ok(None) };
        uses.sort_unstable_by_key(|named| (named.kind, named.layer, named.ordinal));
        uses.truncate(NAMED_MAX);
        let mut seen = HashSet::new();
        uses.retain(|named| named.kind != KeyKind::Tag && seen.insert((named.layer, named.ordinal)));
        let distinct = self.by_evidence(request, &uses)?;
        let Some((kind, skill)) = distinct.first().copied() else { return Ok(None) };
        let what = match kind {
            KeyKind::Id | KeyKind::Name => "name",
            KeyKind::Alias | KeyKind::Tag => "alias",
            KeyKind::Example => "example",
        };
        let others: Vec<&str> =
            distinct[1..].iter().map(|(_, other)| other.id()).take(CANDIDATES_MAX).collect();
        let mut reason = format!("the request holds a whole {what} of {:?}", skill.id());
        if !others.is_empty() {
            reason.push_str("; equally specific: ");
            reason.push_str(&others.join(", "));
        }
        let candidates = distinct[1..].iter().map(|(_, other)| *other).take(CANDIDATES_MAX).collect();
        Ok(Some(MatchAnswer { skill: Some(skill), confidence: 1.0, reason, exact_command: None, candidates }))
    }

    /// The owners of equally long phrases, the likeliest first: the more deliberate ones (an id or name, then an alias,
    /// then an example), among them those that the rest of the request speaks for.
    fn by_evidence(&self, request: &str, uses: &[Named]) -> Result<Vec<(KeyKind, SkillRef<'_>)>> {
        let ranked = match uses {
            [] | [_] => Vec::new(),
            _ => self.rank(request, &Filter::default(), SEARCH_LIMIT_MAX)?.hits,
        };
        let mut owners = Vec::with_capacity(uses.len());
        for named in uses {
            let hit =
                |(layer, ordinal, _): &(usize, u32, u32)| (*layer, *ordinal) == (named.layer, named.ordinal);
            let place = ranked.iter().position(hit).unwrap_or(ranked.len());
            owners.push((named.kind, place, self.at(named.layer, named.ordinal)?));
        }
        owners.sort_by_key(|(kind, place, skill)| {
            (!skill.status().is_active(), *kind, *place, skill.layer(), skill.id())
        });
        Ok(owners.into_iter().map(|(kind, _, skill)| (kind, skill)).collect())
    }

    /// The best search hit, if it is confident and clearly ahead.
    fn match_search(&self, request: &str) -> Result<MatchAnswer<'_>> {
        let ranked = self.rank(request, &Filter::default(), CANDIDATES_MAX + 1)?;
        let candidates = ranked
            .hits
            .iter()
            .map(|(layer, ordinal, _)| self.at(*layer, *ordinal))
            .collect::<Result<Vec<_>>>()?;
        let score = |index: usize| ranked.hits.get(index).map(|(_, _, score)| f64::from(*score));
        let (Some(best), Some(first)) = (candidates.first().copied(), score(0)) else {
            return Ok(MatchAnswer::none("no skill shares a word with the request"));
        };
        let confidence = ranked.confidence;
        let ahead = score(1).is_none_or(|second| first >= second * f64::from(LEAD_MIN));
        if confidence >= CONFIDENCE_MIN && ahead {
            let reason = format!("the best search hit is {:?}", best.id());
            let candidates = candidates[1..].to_vec();
            return Ok(MatchAnswer {
                skill: Some(best),
                confidence,
                reason,
                exact_command: None,
                candidates,
            });
        }
        let why = if ahead {
            "no skill covers enough of the request"
        } else {
            "two skills fit the request equally well"
        };
        Ok(MatchAnswer {
            confidence,
            candidates: candidates.into_iter().take(CANDIDATES_MAX).collect(),
            ..MatchAnswer::none(why)
        })
    }
}

impl MatchAnswer<'_> {
    fn none(reason: &str) -> Self {
        Self {
            skill: None,
            confidence: 0.0,
            reason: reason.to_owned(),
            exact_command: None,
            candidates: Vec::new(),
        }
    }
}
