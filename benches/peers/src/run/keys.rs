//! Point queries: by id, by alias, by prefix, with a typing error, and templates.

use std::path::Path;

use repertoire::model::Step;
use repertoire::{Look, Narrowing, SkillRef, View};

use crate::Result;
use crate::engine::fjall::Fjall;
use crate::engine::lmdb::Lmdb;
use crate::engine::maps::{Maps, touch};
use crate::engine::names::Names;
use crate::engine::ours;
use crate::engine::redb::Redb;
use crate::engine::sqlite::Sqlite;
use crate::measure::{Contender, Figure, chained, race, single};
use crate::questions::template_values;
use crate::record;
use crate::run::{at_size, named};
use crate::synthetic::TEMPLATE_ID;
use crate::table::{Bound, Row};
use crate::world::{Queries, World, once, rights};

const OURS: &str = "ours";

/// Everything that point queries are put to.
pub struct Engines {
    pub maps: Maps,
    pub names: Names,
    pub lmdb: Lmdb,
    pub redb: Redb,
    pub fjall: Fjall,
    pub sqlite: Sqlite,
}

impl Engines {
    pub fn open(world: &World) -> Result<Self> {
        let maps = Maps::new(world.records());
        let folder = |name: &str| world.folder.join(name);
        let built = |name: &str, build: &dyn Fn(&Path) -> Result<()>| once(&folder(name), build);
        built("names", &|path| Names::build(path, &maps))?;
        built("lmdb", &|path| Lmdb::build(path, &world.catalog))?;
        built("redb", &|path| Redb::build(path, &world.catalog))?;
        built("fjall", &|path| Fjall::build(path, &world.catalog))?;
        built("sqlite", &|path| Sqlite::build(path, &world.catalog))?;
        Ok(Self {
            names: Names::open(&folder("names"), &maps)?,
            lmdb: Lmdb::open(&folder("lmdb"))?,
            redb: Redb::open(&folder("redb"))?,
            fjall: Fjall::open(&folder("fjall"))?,
            sqlite: Sqlite::open(&folder("sqlite"))?,
            maps,
        })
    }
}

/// All rows of this theme.
pub fn rows(world: &World, queries: &Queries, engines: &Engines, rounds: usize) -> Result<Vec<Row>> {
    let catalog = ours::open(&world.folder.join("ours").join("data"))?;
    let view = || catalog.view(Narrowing::default());
    let mut rows = get_rows(world.skills, &get_race(queries, engines, &view, rounds)?);
    rows.extend(name_rows(world, queries, engines, &view, rounds));
    rows.push(resolve_row(world, engines, view(), rounds)?);
    Ok(rows)
}

fn get_race(
    queries: &Queries,
    engines: &Engines,
    view: &dyn Fn() -> View,
    rounds: usize,
) -> Result<Vec<Figure>> {
    let (ids, count, rights) = (&queries.ids, queries.ids.len(), rights());
    let sees = |group: u8| rights[usize::from(group)];
    let Engines { maps, lmdb, redb, fjall, sqlite, .. } = engines;
    let row = |row: &[u8]| if sees(record::group(row)) { record::touch(row) } else { 0 };
    let held = lmdb.read()?;
    let mut by_id = sqlite.by_id()?;
    let (mut one, mut two) = (view(), view());
    let contenders: Vec<Contender<'_>> = vec![
        chained(OURS, count, |i| {
            let look = one.pin().expect("a pin").look();
            let found = look.find(&ids[i]).expect("an answer");
            found.map_or(0, |skill| skill.kind() as u64 + 1)
        }),
        chained("ours, touching", count, |i| {
            get(&mut two, &ids[i], |skill| {
                skill.kind() as u64 + skill.name().len() as u64 + skill.version().len() as u64
            })
        }),
        chained("hashbrown + foldhash", count, |i| match maps.fold.get(&ids[i]) {
            Some(record) if sees(record.group) => touch(record),
            _ => 0,
        }),
        chained("hashbrown, group and kind beside the pointer", count, |i| match maps.inline.get(&ids[i]) {
            Some(inline) if sees(inline.group) => u64::from(inline.kind) + &raw const *inline.record as u64,
            _ => 0,
        }),
        chained("std HashMap", count, |i| match maps.std.get(&ids[i]) {
            Some(record) if sees(record.group) => touch(record),
            _ => 0,
        }),
        chained("BTreeMap", count, |i| match maps.tree.get(&ids[i]) {
            Some(record) if sees(record.group) => touch(record),
            _ => 0,
        }),
        chained("LMDB, one transaction", count, |i| lmdb.get(&held, &ids[i]).map_or(0, row)),
        single("LMDB, a transaction a get", count, |i| {
            let read = lmdb.read().expect("LMDB begins");
            lmdb.get(&read, &ids[i]).map_or(0, row)
        }),
        single("redb", count, |i| redb.get(&ids[i], row).unwrap_or(0)),
        single("fjall", count, |i| fjall.get(&ids[i], row).unwrap_or(0)),
        single("SQLite", count, |i| {
            by_id.get(&ids[i]).map_or(0, |(group, touched)| if sees(group) { touched } else { 0 })
        }),
    ];
    Ok(race(rounds, contenders))
}

fn get(view: &mut View, id: &str, read: impl FnOnce(SkillRef<'_>) -> u64) -> u64 {
    let pin = view.pin().expect("a pin");
    pin.get(id).expect("an answer").map_or(0, read)
}

fn get_rows(skills: usize, figures: &[Figure]) -> Vec<Row> {
    let row = |operation: &str, ours: &str, peer: &str| {
        Row::of(operation, skills, named(figures, ours), named(figures, peer))
    };
    let times = |row: Row, bar: Option<f64>, goal: Option<f64>| {
        row.bounds(bar.map(Bound::Times), goal.map(Bound::Times))
    };
    let (get, touching) = ("get: handle and metadata", "get, touching the record");
    let only_10k = |bound: f64| (skills == 10_000).then_some(bound);
    vec![
        times(
            row(get, OURS, "hashbrown + foldhash"),
            at_size(skills, [1.2, 0.8, 0.6, 0.5]),
            at_size(skills, [1.0, 0.5, 0.4, 0.35]),
        ),
        row(get, OURS, "hashbrown, group and kind beside the pointer"),
        times(
            row(touching, "ours, touching", "hashbrown + foldhash"),
            at_size(skills, [1.5, 1.0, 0.8, 0.7]),
            at_size(skills, [1.0, 0.75, 0.7, 0.55]),
        ),
        row(touching, "ours, touching", "std HashMap"),
        row(touching, "ours, touching", "BTreeMap"),
        times(row(touching, "ours, touching", "LMDB, one transaction"), only_10k(0.25), only_10k(1.0 / 6.0)),
        row(touching, "ours, touching", "LMDB, a transaction a get"),
        row(touching, "ours, touching", "redb"),
        row(touching, "ours, touching", "fjall"),
        times(row(touching, "ours, touching", "SQLite"), only_10k(1.0 / 30.0), only_10k(0.02)),
    ]
}

fn name_rows(
    world: &World,
    queries: &Queries,
    engines: &Engines,
    view: &dyn Fn() -> View,
    rounds: usize,
) -> Vec<Row> {
    let (skills, rights) = (world.skills, rights());
    let Engines { maps, names, .. } = engines;
    let at_10k = |row: Row, bar: Bound, goal: Bound| {
        if skills == 10_000 { row.bounds(Some(bar), Some(goal)) } else { row }
    };
    let asked = |mut view: View, ask: fn(&Look, &str) -> u64| {
        move |text: &str| ask(view.pin().expect("a pin").look(), text)
    };
    let mut rows = Vec::new();
    let aliases = &queries.aliases;
    let mut ask = asked(view(), |look, text| {
        look.lookup(text).expect("an answer").first().map_or(0, |skill| skill.kind() as u64 + 1)
    });
    let figures = race(
        rounds,
        vec![
            chained(OURS, aliases.len(), |i| ask(&aliases[i])),
            chained("std HashMap", aliases.len(), |i| {
                let numbers = maps.named.get(&aliases[i]).map_or(&[][..], |numbers| &numbers[..]);
                let mut seen = numbers.iter().map(|number| &maps.records[*number as usize]);
                seen.find(|record| rights[usize::from(record.group)])
                    .map_or(0, |record| u64::from(record.kind) + 1)
            }),
        ],
    );
    let row = Row::of("alias, exact", skills, named(&figures, OURS), named(&figures, "std HashMap"));
    rows.push(at_10k(row, Bound::Times(0.8), Bound::Times(0.5)));

    let prefixes = &queries.prefixes;
    let mut ask = asked(view(), |look, text| look.prefix(text, 10).expect("an answer").len() as u64);
    let (mut found, mut numbers) = (Vec::new(), Vec::new());
    let figures = race(
        rounds,
        vec![
            single(OURS, prefixes.len(), |i| ask(&prefixes[i])),
            single("BTreeMap", prefixes.len(), |i| {
                maps.prefix(&prefixes[i], &rights, &mut found);
                found.len() as u64
            }),
            single("fst stream", prefixes.len(), |i| {
                names.prefix(&prefixes[i], maps, &rights, &mut numbers);
                numbers.len() as u64
            }),
        ],
    );
    let row = Row::of("prefix, ten visible", skills, named(&figures, OURS), named(&figures, "BTreeMap"));
    rows.push(at_10k(row, Bound::Times(0.8), Bound::Times(0.4)));
    rows.push(Row::of("prefix, ten visible", skills, named(&figures, OURS), named(&figures, "fst stream")));

    for (operation, texts, distance) in
        [("fuzzy, distance 1", &queries.typos, 1), ("fuzzy, distance 2", &queries.long_typos, 2)]
    {
        let mut ask = asked(view(), |look, text| look.fuzzy(text, 10).expect("an answer").len() as u64);
        let figures = race(
            rounds,
            vec![
                single(OURS, texts.len(), |i| ask(&texts[i])),
                single("fst + levenshtein_automata", texts.len(), |i| {
                    names.fuzzy(&texts[i], distance, maps, &rights).len() as u64
                }),
            ],
        );
        let row = Row::of(operation, skills, &figures[0], &figures[1]);
        let bounded = distance == 1;
        rows.push(if bounded { at_10k(row, Bound::Most(110e3), Bound::Most(10e3)) } else { row });
    }
    rows
}

fn resolve_row(world: &World, engines: &Engines, mut view: View, rounds: usize) -> Result<Row> {
    let flow = &engines.maps.fold[TEMPLATE_ID].flow;
    let flow: serde_json::Value = serde_json::from_str(flow)?;
    let (whole, steps) = (flow.to_string(), flow["steps"].to_string());
    let values = template_values();
    let figures = race(
        rounds,
        vec![
            single(OURS, 1, |_| {
                let pin = view.pin().expect("a pin");
                pin.resolve_text(TEMPLATE_ID, &values).expect("all values are right").json().len() as u64
            }),
            single("JSON decode of the steps", 1, |_| {
                serde_json::from_str::<Vec<Step>>(&steps).expect("steps").len() as u64
            }),
            single("JSON decode of steps and parameters", 1, |_| {
                serde_json::from_str::<serde_json::Value>(&whole)
                    .map_or(0, |value| u64::from(value.is_object()))
            }),
        ],
    );
    let row = Row::of("resolve ten steps, five parameters", world.skills, &figures[0], &figures[1]);
    Ok(row.times(1.0 / 3.0, 0.1))
}
