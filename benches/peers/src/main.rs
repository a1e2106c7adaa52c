//! Measures repertoire beside what a team would use instead: one catalog file, one stream of queries, one run, one table.
//!
//! `peers [--root DIR] [--rounds N] [--only THEME,...] SIZE...` prints the table of these sizes (`1k`, `10k`, `100k`, `1M`;
//! also as `--skills 1k,10k`);
//! themes are `keys`, `text`, `cold`, `swap`, `durable`, `sizes`. What is built stays in DIR for the next run.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod engine;
mod full_text;
mod measure;
#[path = "../../support/questions.rs"]
mod questions;
#[path = "../../../src/cli/command/bench/random.rs"]
mod random;
mod record;
mod run;
#[path = "../../../src/cli/command/bench/synthetic.rs"]
mod synthetic;
mod table;
mod world;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::run::keys::Engines;
use crate::table::{Count, HEAD, Row};
use crate::world::World;

/// Any failure ends the run with its text.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
pub type Result<T> = std::result::Result<T, Error>;

const THEMES: [&str; 6] = ["keys", "text", "cold", "swap", "durable", "sizes"];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["cold", engine, folder, id] => {
            println!("{}", run::cold::measure(engine, Path::new(folder), id)?);
        }
        ["memory", engine, folder] => {
            println!("{}", run::sizes::memory(engine, &run::sizes::world_of(Path::new(folder))?)?);
        }
        ["import", engine, path] => println!("{}", run::sizes::import(engine, Path::new(path))?),
        ["swap", data, rate] => run::swap::endless(Path::new(data), rate.parse()?)?,
        _ => all(&Plan::read(&words)?)?,
    }
    Ok(())
}

/// What the command line asks for.
struct Plan {
    root: PathBuf,
    rounds: usize,
    themes: Vec<String>,
    sizes: Vec<usize>,
}

impl Plan {
    fn read(words: &[&str]) -> Result<Self> {
        let mut plan = Self {
            root: PathBuf::from("target/peers-data"),
            rounds: 7,
            themes: THEMES.map(str::to_owned).to_vec(),
            sizes: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().copied().ok_or(format!("{word} wants a value"));
            match *word {
                "--root" => plan.root = PathBuf::from(value()?),
                "--rounds" => plan.rounds = value()?.parse()?,
                "--only" => plan.themes = value()?.split(',').map(str::to_owned).collect(),
                "--skills" => {
                    for size in value()?.split(',') {
                        plan.sizes.push(size_of(size)?);
                    }
                }
                size => plan.sizes.push(size_of(size)?),
            }
        }
        if let Some(unknown) = plan.themes.iter().find(|theme| !THEMES.contains(&theme.as_str())) {
            return Err(format!("no theme {unknown}; there are {}", THEMES.join(", ")).into());
        }
        if plan.sizes.is_empty() || plan.rounds == 0 {
            return Err(
                "usage: peers [--root DIR] [--rounds N] [--only THEME,...] SIZE... (1k, 10k, 1M)".into()
            );
        }
        Ok(plan)
    }

    fn wants(&self, theme: &str) -> bool {
        self.themes.iter().any(|wanted| wanted == theme)
    }
}

fn size_of(text: &str) -> Result<usize> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    let count: usize = digits.parse().map_err(|_| format!("{text} is no size; write 1k, 10k, 100k or 1M"))?;
    match count * unit {
        size @ 100.. => Ok(size),
        _ => Err(format!("{text} is too small; at least 100 skills").into()),
    }
}

fn all(plan: &Plan) -> Result<()> {
    println!("{HEAD}");
    for size in &plan.sizes {
        let begun = Instant::now();
        let rows = rows(plan, *size);
        eprintln!("{} skills: {:.0} s", Count(*size), begun.elapsed().as_secs_f64());
        rows?;
    }
    Ok(())
}

/// The rows of a size, each printed as soon as it is there.
fn rows(plan: &Plan, size: usize) -> Result<()> {
    let show = |rows: Vec<Row>| rows.iter().for_each(|row| println!("{row}"));
    let world = World::open(&plan.root, size)?;
    let queries = world.queries()?;
    eprintln!("building ours");
    world::once(&world.folder.join("ours"), |folder| engine::ours::build(folder, &world.catalog))?;
    eprintln!("building the others");
    world::once(&world.folder.join("tantivy"), |folder| engine::full::Full::build(folder, &world.catalog))?;
    let engines = Engines::open(&world)?;
    if plan.wants("keys") {
        run::agree::check(&world, &queries, &engines)?;
        show(run::keys::rows(&world, &queries, &engines, plan.rounds)?);
    }
    if plan.wants("text") {
        show(run::text::rows(&world, &queries, &engines.sqlite, plan.rounds)?);
    }
    drop(engines);
    if plan.wants("cold") {
        show(run::cold::rows(&world, &queries, plan.rounds)?);
    }
    if plan.wants("swap") && size <= 200_000 {
        show(run::swap::rows(&world, &queries, plan.rounds.min(5))?);
    }
    if plan.wants("durable") {
        show(run::durable::rows(&world, &queries, plan.rounds)?);
    }
    if plan.wants("sizes") {
        show(run::sizes::rows(&world, plan.rounds)?);
    }
    Ok(())
}
