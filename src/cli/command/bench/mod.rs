//! `bench`: how long queries take here, on the own catalog or on a made-up one.

mod clock;
mod questions;
mod random;
mod synthetic;

use std::path::Path;
use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use repertoire::catalog::{BundledMode, Catalog, Options, View};
use repertoire::limits::BENCH_SKILLS_MAX;
use repertoire::{Entry, Filter, Layer, LocalStatement, Narrowing};
use serde::Serialize;

use self::questions::Questions;
use self::synthetic::Synthetic;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::folder::Folder;
use crate::cli::page::{Page, Tone};
use crate::cli::table::Table;

/// Seed of the made-up catalog.
const SEED: u64 = 1;
/// Skills that a prefix query asks for.
const PREFIX_HITS: usize = 10;
/// Skills that a search asks for.
const SEARCH_HITS: usize = 10;

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Measure a made-up catalog of N skills in a temporary folder, not the own one
    #[arg(long, value_name = "N",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=BENCH_SKILLS_MAX as u64))]
    skills: Option<usize>,
    /// Time for each operation, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500,
          value_parser = RangedU64ValueParser::<u64>::new().range(10..=600_000))]
    ms: u64,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer {
    /// Skills that the caller sees.
    skills: u64,
    operations: Vec<Row>,
}

/// One operation.
#[derive(Debug, Serialize)]
struct Row {
    operation: &'static str,
    p50_ns: u64,
    p99_ns: u64,
    calls: usize,
}

impl Row {
    /// Percentiles of times, of which each is one call or the mean of a batch of `calls_each`.
    fn of(operation: &'static str, mut times: Vec<Duration>, calls_each: usize) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            let nanoseconds = times.get(index).map_or(0, Duration::as_nanos);
            u64::try_from(nanoseconds).unwrap_or(u64::MAX)
        };
        Self { operation, p50_ns: at(50), p99_ns: at(99), calls: times.len() * calls_each }
    }
}

impl Bench {
    /// Measures. The data directory is only read.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let answer = match self.skills {
            None => self.measure(&context.catalog()?, &|| context.catalog())?,
            Some(skills) => {
                let folder = Folder::create("bench")?;
                let data = folder.path().join("data");
                let answer = self.measure(&made_up(&data, skills)?, &|| open(&data))?;
                folder.remove()?;
                answer
            }
        };
        context.output.answer(&answer, |out| write(out, &answer))?;
        context.output.note(
            "get, lookup: mean latencies of batches; cold open: with the files in the operating system's cache",
        );
        Ok(Exit::Done)
    }

    fn measure(
        &self,
        catalog: &Catalog,
        reopen: &dyn Fn() -> Result<Catalog, Failure>,
    ) -> Result<Answer, Failure> {
        let mut view = catalog.view(Narrowing::default());
        let (skills, questions) = {
            let pin = view.pin()?;
            let total = pin.list(&Filter::default(), 1, None)?.total;
            (total, Questions::of(pin.look())?)
        };
        let Some(first) = questions.ids.first() else {
            return Err(Failure::new(
                Exit::Negative,
                "nothing_to_measure",
                "there is no skill to ask for",
                "import some with `repertoire import PATH`, or measure made-up ones with --skills N",
            ));
        };
        let mut operations = self.queries(&mut view, &questions)?;
        let cold = clock::single("cold open", Duration::from_millis(self.ms), |_| {
            let mut view = reopen()?.view(Narrowing::default());
            Ok(usize::from(view.pin()?.get(first)?.is_some()))
        })?;
        operations.push(cold);
        Ok(Answer { skills, operations })
    }

    /// The operations of a running program, each with a pin of its own, as a server does it.
    fn queries(&self, view: &mut View, questions: &Questions) -> Result<Vec<Row>, Failure> {
        let time = Duration::from_millis(self.ms);
        let mut rows = vec![
            clock::chained("get", time, |at| {
                let pin = view.pin()?;
                Ok(pin.get(nth(&questions.ids, at))?.map_or(0, |skill| skill.name().len()))
            })?,
            clock::chained("lookup", time, |at| {
                let pin = view.pin()?;
                Ok(pin.lookup(nth(&questions.names, at))?.len())
            })?,
            clock::single("prefix", time, |at| {
                let pin = view.pin()?;
                Ok(pin.prefix(nth(&questions.prefixes, at), PREFIX_HITS)?.len())
            })?,
            clock::single("search", time, |at| {
                let pin = view.pin()?;
                let page = pin.search(nth(&questions.requests, at), &Filter::default(), SEARCH_HITS)?;
                Ok(page.hits.len())
            })?,
        ];
        if !questions.flows.is_empty() {
            rows.push(clock::single("resolve", time, |at| {
                let (id, values) = &questions.flows[at % questions.flows.len()];
                let pin = view.pin()?;
                Ok(pin.resolve(id, values)?.len())
            })?);
        }
        Ok(rows)
    }
}

/// The question of a number; there is one at least.
fn nth(questions: &[String], at: usize) -> &str {
    &questions[at % questions.len()]
}

/// A catalog of made-up skills in a folder, of which the caller sees about 60 %.
fn made_up(data: &Path, skills: usize) -> Result<Catalog, Failure> {
    let catalog = open(data)?;
    let world = Synthetic::new(skills, SEED);
    let mut entries: Option<Vec<Entry>> = Some((0..skills).map(|index| world.entry(index)).collect());
    catalog.update(Layer::Synced, &mut |_| Ok(entries.take()))?;
    for subscription in Synthetic::entitled() {
        catalog.declare(LocalStatement::Grant(subscription))?;
    }
    Ok(catalog)
}

fn open(data: &Path) -> Result<Catalog, Failure> {
    let options = Options::default().bundled(BundledMode::Never).keep_generations(1);
    Ok(Catalog::open_with(data, options)?)
}

fn write(out: &mut Page, answer: &Answer) {
    out.field("visible skills", &answer.skills.to_string());
    let mut table = Table::new(&["OPERATION", "P50", "P99", "CALLS"]);
    for row in &answer.operations {
        table.row([
            (Tone::Name, row.operation),
            (Tone::Strong, &time(row.p50_ns)),
            (Tone::Plain, &time(row.p99_ns)),
            (Tone::Faint, &row.calls.to_string()),
        ]);
    }
    out.table(&table);
}

/// Nanoseconds in the unit that keeps the number short.
fn time(nanoseconds: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let number = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} us", number / 1e3),
        _ => format!("{:.1} ms", number / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let times = (1..=200).rev().map(Duration::from_nanos).collect();
        let row = Row::of("get", times, 32);
        assert_eq!((row.p50_ns, row.p99_ns, row.calls), (101, 199, 6_400));
        let row = Row::of("get", vec![Duration::from_millis(2)], 1);
        assert_eq!((row.p50_ns, row.p99_ns, row.calls), (2_000_000, 2_000_000, 1));
        assert_eq!([time(999), time(1_540), time(20_500_000)], ["999 ns", "1.5 us", "20.5 ms"]);
    }
}
