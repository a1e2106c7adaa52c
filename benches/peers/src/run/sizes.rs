//! Bytes and CPU: disk over raw text, anonymous memory, the import of many files.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use repertoire::intake::{ImportOptions, import_paths};
use repertoire::{Filter, Narrowing};

use crate::Result;
use crate::engine::full::{Full, Rights};
use crate::engine::maps::Maps;
use crate::engine::ours;
use crate::engine::sqlite::Sqlite;
use crate::measure::{Contender, cpu_ns, few, race};
use crate::run::cold::child;
use crate::table::{Bound, Row, Unit};
use crate::world::{World, bytes_of};

pub fn rows(world: &World, rounds: usize) -> Result<Vec<Row>> {
    let mut rows = vec![disk_row(world)?];
    rows.extend(memory_rows(world)?);
    if world.skills <= 10_000 {
        rows.push(import_row(world, rounds.min(3))?);
    }
    Ok(rows)
}

fn disk_row(world: &World) -> Result<Row> {
    let raw = world.catalog.records().map(|record| record.raw_bytes()).sum::<u64>() as f64;
    let ours = ours::bytes(&world.folder.join("ours"))? as f64 / raw;
    let sqlite = bytes_of(&world.folder.join("sqlite")) as f64 / raw;
    let row = Row::plain("disk over raw text", world.skills, Unit::Share, ours, "SQLite with FTS5", sqlite);
    Ok(row.most(1.5, 1.25))
}

fn memory_rows(world: &World) -> Result<Vec<Row>> {
    let folder = world.folder.to_string_lossy();
    let of = |engine: &str| child(&["memory", engine, &folder]);
    let nothing = of("nothing")?;
    let over = |engine: &str| Ok::<f64, crate::Error>((of(engine)? - nothing).max(0.0) * 1024.0);
    let ours = over("ours")?;
    let row = |peer: &str, theirs: f64| {
        Row::plain("anonymous memory", world.skills, Unit::Bytes, ours, peer, theirs)
    };
    let first = row("HashMap", over("map")?);
    let bounds = (world.skills == 10_000).then_some((4.0 * 1_048_576.0, 1_048_576.0));
    Ok(vec![
        first.bounds(bounds.map(|b| Bound::Most(b.0)), bounds.map(|b| Bound::Most(b.1))),
        row("SQLite with FTS5", over("sqlite")?),
        row("tantivy", over("tantivy")?),
    ])
}

/// In the child: opens an engine, asks it some hundred queries, and tells the anonymous memory in KiB.
pub fn memory(engine: &str, world: &World) -> Result<f64> {
    let queries = world.queries()?;
    let (ids, requests) = (&queries.ids[..2_000], &queries.requests[..500]);
    let folder = |name: &str| world.folder.join(name);
    match engine {
        "nothing" => anonymous_kib(&queries),
        "ours" => {
            let catalog = ours::open(&folder("ours").join("data"))?;
            let mut view = catalog.view(Narrowing::default());
            for id in ids {
                black_box(view.pin()?.get(id)?.is_some());
            }
            for request in requests {
                black_box(view.pin()?.search(request, &Filter::default(), 10)?.hits.len());
            }
            anonymous_kib(&view)
        }
        "map" => anonymous_kib(&Maps::new(world.records())),
        "sqlite" => {
            let sqlite = Sqlite::open(&folder("sqlite"))?;
            let (mut by_id, mut search) = (sqlite.by_id()?, sqlite.search(true)?);
            let found = ids.iter().filter(|id| by_id.get(id).is_some()).count();
            black_box((found, requests.iter().map(|request| search.run(request)).sum::<u64>()));
            anonymous_kib(&by_id)
        }
        "tantivy" => {
            let full = Full::open(&folder("tantivy"))?;
            black_box(requests.iter().map(|request| full.run(request, Rights::Column)).sum::<u64>());
            anonymous_kib(&full)
        }
        other => Err(format!("no engine {other}").into()),
    }
}

/// Anonymous memory of this process while `_held` is there.
fn anonymous_kib<T>(_held: &T) -> Result<f64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:")).ok_or("no line Anonymous")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}

fn import_row(world: &World, rounds: usize) -> Result<Row> {
    let files = files(world)?;
    let (files, folder) = (files.to_string_lossy(), world.folder.to_string_lossy());
    let (files, folder) = (&*files, &*folder);
    let contenders: Vec<Contender<'_>> = vec![
        few("ours", 1, || child(&["import", "ours", files]).expect("an import")),
        few("tantivy, indexing alone", 1, || child(&["import", "tantivy", folder]).expect("an import")),
    ];
    let figures = race(rounds, contenders);
    let row = Row::of("import of files, CPU", world.skills, &figures[0], &figures[1]);
    Ok(if world.skills == 10_000 { row.most(6.6e9, 2e9) } else { row })
}

/// The skills as files that people write; made once.
fn files(world: &World) -> Result<PathBuf> {
    let folder = world.folder.join("files");
    crate::world::once(&folder, |folder| {
        for record in world.catalog.records() {
            let name = record.id.replace('/', "-");
            if record.kind == 1 {
                let skill = serde_json::to_vec(&record.entry()?.skill)?;
                fs::write(folder.join(format!("{name}.skill.json")), skill)?;
                continue;
            }
            let folder = folder.join(&name);
            fs::create_dir(&folder)?;
            let text =
                format!("---\nname: {name}\ndescription: {}\n---\n{}", record.description, record.content);
            fs::write(folder.join("SKILL.md"), text)?;
        }
        Ok(())
    })?;
    Ok(folder)
}

/// In the child: CPU nanoseconds of an import.
pub fn import(engine: &str, path: &Path) -> Result<f64> {
    let target = tempfile::tempdir()?;
    match engine {
        "ours" => {
            let begun = cpu_ns();
            let catalog = ours::open(&target.path().join("data"))?;
            let report = import_paths(&catalog, &[path.to_owned()], &ImportOptions::default(), &|_| ())?;
            let took = cpu_ns() - begun;
            let refused = report.counts.rejected;
            if refused > 0 {
                return Err(format!("{refused} skills were rejected").into());
            }
            Ok(took)
        }
        "tantivy" => {
            let catalog = crate::record::Catalog::open(&path.join("catalog.bin"))?;
            let begun = cpu_ns();
            Full::build(target.path(), &catalog)?;
            Ok(cpu_ns() - begun)
        }
        other => Err(format!("no engine {other}").into()),
    }
}

/// Used by the children that need no queries.
pub fn world_of(folder: &Path) -> Result<World> {
    let skills = folder.file_name().and_then(|name| name.to_str()).ok_or("no size in the path")?.parse()?;
    World::open(folder.parent().ok_or("no root")?, skills)
}
