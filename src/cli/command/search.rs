//! `search`: the skills that fit some words, best first.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use repertoire::catalog::{Hit, SearchPage, Why};
use repertoire::error::counted;
use repertoire::limits::SEARCH_LIMIT_MAX;
use serde::Serialize;

use super::list::Filters;
use crate::cli::args::Narrowed;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::summary::{Summary, kind_word, risk_word};

/// Arguments of `search`.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for; several words need no quotes
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Which skills.
    #[command(flatten)]
    filter: Filters,
    /// Most skills to show
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=SEARCH_LIMIT_MAX as u64))]
    limit: usize,
    /// Whose skills.
    #[command(flatten)]
    narrowed: Narrowed,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    skills: Vec<Summary<'a>>,
    total: u64,
}

impl Search {
    /// Searches.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let mut view = context.view(self.narrowed.subscriptions())?;
        let pin = view.pin()?;
        let query = self.query.join(" ");
        let page = pin.search(&query, &self.filter.filter(), self.limit)?;
        let reasons = page.hits.iter().map(|hit| hit.skill.why(&query)).collect::<Result<Vec<_>, _>>()?;
        let hits = page.hits.iter().zip(&reasons);
        let answer = Answer {
            skills: hits.map(|(hit, why)| Summary::found(&hit.skill, hit.score, why.clone())).collect(),
            total: page.total,
        };
        context.output.answer(&answer, |out| write(out, &page, &reasons))?;
        if page.total == 0 && pin.is_empty() {
            context.output.note("no skills yet; add some with `repertoire import PATH`");
        } else {
            context.output.note(&format!("{} of {}", page.hits.len(), counted(page.total, "matching skill")));
        }
        Ok(Exit::Done)
    }
}

fn write(out: &mut Page, page: &SearchPage<'_>, reasons: &[Vec<Why>]) {
    for (index, (hit, why)) in page.hits.iter().zip(reasons).enumerate() {
        write_hit(out, index + 1, hit, why);
    }
}

/// Writes one hit: id and name, the description, what was found in which field.
pub(crate) fn write_hit(out: &mut Page, rank: usize, hit: &Hit<'_>, why: &[Why]) {
    let skill = &hit.skill;
    let (tone, risk) = risk_word(skill.effective_risk());
    out.put(Tone::Faint, &format!("{rank:>3}  "))
        .put(Tone::Name, skill.id())
        .put(Tone::Plain, "  ")
        .put(Tone::Strong, skill.name())
        .put(Tone::Faint, &format!("  {}, {}, ", skill.layer().name(), kind_word(skill.kind())))
        .put(tone, risk)
        .end();
    out.put(Tone::Plain, "     ").line(Tone::Plain, &first_sentence(skill.description()));
    let why: Vec<String> = why.iter().map(|why| format!("{}: {}", why.field, why.words.join(" "))).collect();
    if !why.is_empty() {
        out.put(Tone::Plain, "     ").line(Tone::Faint, &why.join("; "));
    }
}

/// Characters of a description that a hit shows.
const SENTENCE_CHARS_MAX: usize = 160;

/// The beginning of a description, on one line.
fn first_sentence(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let mut short: String = line.chars().take(SENTENCE_CHARS_MAX).collect();
    if short.len() < line.len() {
        short.push_str("...");
    }
    short
}
