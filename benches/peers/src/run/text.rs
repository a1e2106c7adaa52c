//! Full-text search, the ten best.

use repertoire::{Filter, Narrowing};

use crate::Result;
use crate::engine::full::{Full, Rights};
use crate::engine::ours;
use crate::engine::sqlite::Sqlite;
use crate::measure::{Contender, race, single};
use crate::run::named;
use crate::table::{Bound, Row};
use crate::world::{Queries, World};

pub fn rows(world: &World, queries: &Queries, sqlite: &Sqlite, rounds: usize) -> Result<Vec<Row>> {
    let full = Full::open(&world.folder.join("tantivy"))?;
    let catalog = ours::open(&world.folder.join("ours").join("data"))?;
    let mut view = catalog.view(Narrowing::default());
    let filter = Filter::default();
    let (texts, count) = (&queries.requests, queries.requests.len());
    let (mut plain, mut filtered) = (sqlite.search(false)?, sqlite.search(true)?);
    let mut matched = catalog.view(Narrowing::default());
    let tantivy = |name, rights| {
        let full = &full;
        single(name, count, move |i| full.run(&texts[i], rights))
    };
    let contenders: Vec<Contender<'_>> = vec![
        single("ours", count, |i| {
            let page = view.pin().expect("a pin").look().search(&texts[i], &filter, 10).expect("an answer");
            page.hits.len() as u64
        }),
        single("ours, match", count, |i| {
            let answer = matched.pin().expect("a pin").look().match_request(&texts[i]).expect("an answer");
            u64::from(answer.skill.is_some())
        }),
        tantivy("tantivy filtered by a column", Rights::Column),
        tantivy("tantivy filtered by a clause", Rights::Clause),
        tantivy("tantivy plain", Rights::Plain),
        single("SQLite FTS5 filtered", count, |i| filtered.run(&texts[i])),
        single("SQLite FTS5 plain", count, |i| plain.run(&texts[i])),
    ];
    let figures = race(rounds, contenders);
    let best = ["tantivy filtered by a column", "tantivy filtered by a clause"]
        .map(|name| named(&figures, name))
        .into_iter()
        .min_by(|a, b| a.p50.total_cmp(&b.p50))
        .ok_or("no tantivy")?;
    let ours = named(&figures, "ours");
    let row = |peer: &str| Row::of("search, ten best", world.skills, ours, named(&figures, peer));
    let mut rows = vec![
        Row::of("search, ten best", world.skills, ours, best),
        row("tantivy plain"),
        row("SQLite FTS5 filtered"),
        row("SQLite FTS5 plain"),
        Row::of("match", world.skills, named(&figures, "ours, match"), best),
    ];
    if world.skills == 10_000 {
        rows[0].bar = Some(Bound::Times(0.5));
        rows[0].goal = Some(Bound::Times(0.2));
        rows[1].goal = Some(Bound::Times(1.0 / 3.0));
    }
    Ok(rows)
}
