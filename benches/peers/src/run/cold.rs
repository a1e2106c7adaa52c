//! From nothing to the first answer, each time in a new process with a warm page cache.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use repertoire::Narrowing;

use crate::Result;
use crate::engine::lmdb::Lmdb;
use crate::engine::ours;
use crate::engine::sqlite::Sqlite;
use crate::measure::{Contender, cpu_ns, few, race};
use crate::record::{Catalog, Record};
use crate::run::named;
use crate::table::Row;
use crate::world::{Queries, World};

/// Processes a round.
const STARTS: usize = 5;

pub fn rows(world: &World, queries: &Queries, rounds: usize) -> Result<Vec<Row>> {
    let folder = &world.folder;
    let id = &queries.ids[0];
    let starts = |name, engine: &'static str, count| {
        few(name, count, move || child(&["cold", engine, &folder.to_string_lossy(), id]).expect("a child"))
    };
    let contenders: Vec<Contender<'_>> = vec![
        starts("ours", "ours", STARTS),
        starts("LMDB", "lmdb", STARTS),
        starts("SQLite", "sqlite", STARTS),
        starts("HashMap, decoded", "map", 1),
    ];
    let figures = race(rounds, contenders);
    let row = |peer: &str| {
        Row::of("cold open to first get", world.skills, named(&figures, "ours"), named(&figures, peer))
    };
    let first = match world.skills {
        10_000 => row("LMDB").most(0.3e6, 60e3),
        1_000_000 => row("LMDB").most(10e6, 1.5e6),
        _ => row("LMDB"),
    };
    Ok(vec![first, row("SQLite"), row("HashMap, decoded")])
}

/// Runs this program with other arguments and reads the number that it prints.
pub fn child(arguments: &[&str]) -> Result<f64> {
    let done = Command::new(std::env::current_exe()?).args(arguments).output()?;
    if !done.status.success() {
        return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)).into());
    }
    Ok(String::from_utf8(done.stdout)?.trim().parse()?)
}

/// In the child: opens an engine and gets one id; nanoseconds of CPU, since with warm files there is nothing to wait for.
pub fn measure(engine: &str, folder: &Path, id: &str) -> Result<f64> {
    let begun = cpu_ns();
    match engine {
        "ours" => {
            let catalog = ours::open(&folder.join("ours").join("data"))?;
            let mut view = catalog.view(Narrowing::default());
            let pin = view.pin()?;
            black_box(pin.get(id)?.map(|skill| skill.name().len()));
            Ok(cpu_ns() - begun)
        }
        "lmdb" => {
            let lmdb = Lmdb::open(&folder.join("lmdb"))?;
            let read = lmdb.read()?;
            black_box(lmdb.get(&read, id).map(crate::record::touch));
            Ok(cpu_ns() - begun)
        }
        "sqlite" => {
            let sqlite = Sqlite::open(&folder.join("sqlite"))?;
            black_box(sqlite.by_id()?.get(id));
            Ok(cpu_ns() - begun)
        }
        "map" => {
            let catalog = Catalog::open(&folder.join("catalog.bin"))?;
            let map: HashMap<String, Record> =
                catalog.records().map(|record| (record.id.clone(), record)).collect();
            black_box(map.get(id).map(|record| record.name.len()));
            let took = cpu_ns() - begun;
            // Freeing it is no part of the start.
            std::mem::forget(map);
            Ok(took)
        }
        other => Err(format!("no engine {other}").into()),
    }
}
