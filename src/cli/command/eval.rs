//! `eval`: how well searches do on a labelled set, in a temporary catalog.

use std::path::{Path, PathBuf};

use clap::Args;
use repertoire::catalog::{
    BundledMode, Catalog, Evaluation, Hit, LabelledQuery, Look, Options, Quality, SearchPage, Why, evaluate,
};
use repertoire::import::Outcome;
use repertoire::intake::{self, ImportOptions, ImportReport};
use repertoire::limits::LABELLED_QUERIES_BYTES_MAX;
use repertoire::{Error, Filter, Narrowing, Problem};
use serde::Serialize;

use super::import::sums;
use super::search::write_hit;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, word};
use crate::cli::folder::Folder;
use crate::cli::input::Purpose;
use crate::cli::page::{Page, Tone};
use crate::cli::progress;
use crate::cli::table::Table;

/// Hits of a miss that are shown.
const GOT_MAX: usize = 5;
/// Wrong lines of one file that are named.
const WRONG_LINES_MAX: usize = 20;

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Skills: a folder, or a file of JSON or JSON lines
    #[arg(long, value_name = "PATH")]
    docs: PathBuf,
    /// Labelled queries, JSON lines: {"q", "relevant": [ids], "lang"}
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Show the N worst misses and what was found in their place
    #[arg(long, value_name = "N")]
    explain: Option<usize>,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    figures: &'a Evaluation,
    #[serde(skip_serializing_if = "Option::is_none")]
    misses: Option<Vec<MissLine<'a>>>,
}

#[derive(Debug, Serialize)]
struct MissLine<'a> {
    q: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lang: Option<&'a str>,
    expected: &'a [String],
    got: Vec<Got<'a>>,
}

#[derive(Debug, Serialize)]
struct Got<'a> {
    id: &'a str,
    score: f32,
    why: &'a [Why],
}

/// A query that did not find first what it should, with what it found.
struct Miss<'a> {
    query: &'a LabelledQuery,
    page: SearchPage<'a>,
    /// For each hit.
    reasons: Vec<Vec<Why>>,
}

impl Eval {
    /// Measures. Rejected skills are only warned about: the figures are those of the rest.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let queries = read_queries(&self.queries)?;
        let folder = Folder::create("eval")?;
        let catalog = self.catalog(context, &folder)?;
        let mut view = catalog.view(Narrowing::default());
        let pin = view.pin()?;
        let figures = evaluate(pin.look(), &queries)?;
        let wanted = figures.misses.iter().take(self.explain.unwrap_or(0)).map(|at| &queries[*at]);
        let misses =
            wanted.map(|query| Miss::find(pin.look(), query)).collect::<Result<Vec<_>, Failure>>()?;
        let answer = Answer {
            figures: &figures,
            misses: self.explain.map(|_| misses.iter().map(MissLine::from).collect()),
        };
        context.output.answer(&answer, |out| {
            write(out, &figures);
            write_misses(out, &misses);
        })?;
        folder.remove()?;
        Ok(Exit::Done)
    }

    /// A catalog in the folder with the skills in it.
    fn catalog(&self, context: &Context, folder: &Folder) -> Result<Catalog, Failure> {
        let options =
            Options::default().registry(context.registry()?).bundled(BundledMode::Never).keep_generations(1);
        let catalog = Catalog::open_with(folder.path().join("data"), options)?;
        let mut options = ImportOptions::default();
        options.any_name = true;
        let bar = progress::files(&context.output, "reading");
        let docs = [self.docs.clone()];
        let report = intake::import_paths(&catalog, &docs, &options, &|progress| {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
        });
        bar.finish_and_clear();
        check(context, &self.docs, &report?)?;
        Ok(catalog)
    }
}

impl<'a> Miss<'a> {
    fn find(look: &'a Look, query: &'a LabelledQuery) -> Result<Self, Failure> {
        let page = look.search(&query.q, &Filter::default(), GOT_MAX)?;
        let reasons = page.hits.iter().map(|hit| hit.skill.why(&query.q)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { query, page, reasons })
    }
}

impl<'a> From<&'a Miss<'_>> for MissLine<'a> {
    fn from(miss: &'a Miss<'_>) -> Self {
        let got = |(hit, why): (&'a Hit<'_>, &'a Vec<Why>)| Got { id: hit.skill.id(), score: hit.score, why };
        Self {
            q: &miss.query.q,
            lang: miss.query.lang.as_deref(),
            expected: &miss.query.relevant,
            got: miss.page.hits.iter().zip(&miss.reasons).map(got).collect(),
        }
    }
}

/// Warns about what searches cannot find; fails if that is everything.
fn check(context: &Context, docs: &Path, report: &ImportReport) -> Result<(), Failure> {
    let usable = report.skills.iter().filter(|line| {
        line.outcome == Outcome::Added && line.folded_into.is_none() && line.unavailable.is_empty()
    });
    let (usable, total) = (usable.count(), report.skills.len());
    if usable == 0 {
        let problems: Vec<Problem> =
            report.skills.iter().filter_map(|line| line.error.as_ref()?.problems.first()).cloned().collect();
        let first = problems.first().map(|problem| format!(", first because {problem}")).unwrap_or_default();
        return Err(Failure::new(
            Exit::Negative,
            "rejected",
            format!("no usable skill in {}: {}{first}", docs.display(), sums(report.counts)),
            format!("see `repertoire import --check {}` for all reasons", word(&docs.display().to_string())),
        )
        .with_problems(&problems[..problems.len().min(WRONG_LINES_MAX)]));
    }
    if usable < total {
        let lost = total - usable;
        context.output.warn(&format!(
            "{lost} of {total} skills {} rejected, doubled or not usable here, and cannot be found; see `repertoire \
             import --check {}` for the reasons",
            if lost == 1 { "is" } else { "are" },
            word(&docs.display().to_string())
        ));
    }
    Ok(())
}

/// Reads labelled queries, one a line.
fn read_queries(path: &Path) -> Result<Vec<LabelledQuery>, Failure> {
    let purpose = Purpose { exit: Exit::Usage, what: "", smaller: "measure with a part of it" };
    let bytes = purpose.read(path, LABELLED_QUERIES_BYTES_MAX)?;
    let queries = parse_queries(&bytes)
        .map_err(|problems| Error::Rejected { what: path.display().to_string(), problems })?;
    if queries.is_empty() {
        return Err(Failure::new(
            Exit::Negative,
            "rejected",
            format!("there is no query in {}", path.display()),
            "write one JSON object a line: {\"q\": \"...\", \"relevant\": [\"ID\"]}",
        ));
    }
    Ok(queries)
}

/// The queries of a file, or what is wrong with its first wrong lines.
fn parse_queries(bytes: &[u8]) -> Result<Vec<LabelledQuery>, Vec<Problem>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut queries = Vec::new();
    let mut problems = Vec::new();
    for (number, line) in (1u32..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(query) => queries.push(query),
            Err(cause) => {
                let text = cause.to_string();
                let cause_alone = text.split(" at line ").next().unwrap_or_default();
                let message = format!("line {number} is no labelled query: {cause_alone}");
                let column = u32::try_from(cause.column().max(1)).unwrap_or(u32::MAX);
                problems.push(
                    Problem::new("invalid_query", "", message)
                        .allowed("{\"q\": text, \"relevant\": [ids], \"lang\": text}")
                        .at(number, column),
                );
                if problems.len() == WRONG_LINES_MAX {
                    break;
                }
            }
        }
    }
    if problems.is_empty() { Ok(queries) } else { Err(problems) }
}

fn write(out: &mut Page, figures: &Evaluation) {
    let mut table = Table::new(&["LANGUAGE", "QUERIES", "R@1", "R@5", "MRR@10", "nDCG@10"]);
    for (lang, row) in &figures.by_language {
        write_row(&mut table, lang, Tone::Plain, row);
    }
    write_row(&mut table, "all", Tone::Strong, &figures.quality());
    out.table(&table);
    if let Some(told) = figures.out_of_scope {
        out.line(
            Tone::Plain,
            &format!(
                "out of scope: {:.1} % are refused where 5 % of the others are (AUROC {:.3})",
                100.0 * told.refused_at_5,
                told.auroc
            ),
        );
    }
    let rate = if figures.took.is_zero() {
        String::new()
    } else {
        #[expect(clippy::cast_precision_loss, reason = "a rate to look at")]
        let rate = figures.queries as f64 / figures.took.as_secs_f64();
        format!(", {rate:.0} queries/s")
    };
    out.line(
        Tone::Plain,
        &format!("a search: p50 {:.1} us, p99 {:.1} us{rate}", figures.p50_us, figures.p99_us),
    );
}

fn write_row(table: &mut Table, lang: &str, tone: Tone, row: &Quality) {
    let percent = |fraction: f64| format!("{:.1}", 100.0 * fraction);
    table.row([
        (tone, lang),
        (tone, &row.queries.to_string()),
        (tone, &percent(row.recall_at_1)),
        (tone, &percent(row.recall_at_5)),
        (tone, &percent(row.mrr_at_10)),
        (tone, &percent(row.ndcg_at_10)),
    ]);
}

fn write_misses(out: &mut Page, misses: &[Miss<'_>]) {
    for (number, miss) in misses.iter().enumerate() {
        out.end();
        out.put(Tone::Strong, &format!("{}. ", number + 1)).line(Tone::Strong, &miss.query.q);
        out.field("expected", &miss.query.relevant.join(", "));
        for (index, (hit, why)) in miss.page.hits.iter().zip(&miss.reasons).enumerate() {
            write_hit(out, index + 1, hit, why);
        }
        if miss.page.hits.is_empty() {
            out.line(Tone::Careful, "nothing found");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_a_line_each() {
        let text = "\u{FEFF}{\"q\":\"a\",\"relevant\":[]}\r\n\n{\"q\":\"b\",\"relevant\":[\"x\"],\"lang\":\"zh\",\"n\":1}";
        let queries = parse_queries(text.as_bytes()).unwrap();
        assert_eq!((queries.len(), queries[0].relevant.len(), queries[0].lang.as_deref()), (2, 0, None));
        assert_eq!((queries[1].q.as_str(), queries[1].lang.as_deref()), ("b", Some("zh")));
        assert_eq!(parse_queries(b" \n").unwrap(), []);
    }

    #[test]
    fn wrong_lines_are_named_with_their_number_up_to_a_limit() {
        let rows: [&[u8]; 5] = [b"[]", b"{\"q\":\"a\"}", b"{\"q\":1,\"relevant\":[]}", b"\xff", b"{"];
        for row in rows {
            let text = [b"{\"q\":\"a\",\"relevant\":[]}\n\n", row].concat();
            let problems = parse_queries(&text).unwrap_err();
            assert_eq!((problems.len(), problems[0].line), (1, Some(3)), "{problems:?}");
            assert!(problems[0].message.starts_with("line 3 is no labelled query: "), "{problems:?}");
        }
        assert_eq!(parse_queries(&b"x\n".repeat(1_000)).unwrap_err().len(), WRONG_LINES_MAX);
    }
}
