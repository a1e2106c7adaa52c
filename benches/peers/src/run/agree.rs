//! Before anything is measured: do the engines do the same job?

use repertoire::{Narrowing, Pin};

use crate::Result;
use crate::engine::maps::touch;
use crate::engine::ours;
use crate::record;
use crate::run::keys::Engines;
use crate::world::{Queries, World, rights};

/// Queries of each stream that are compared.
const COMPARED: usize = 2_000;

/// Puts queries to ours and to the peers and compares the answers.
pub fn check(world: &World, queries: &Queries, engines: &Engines) -> Result<()> {
    let catalog = ours::open(&world.folder.join("ours").join("data"))?;
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin()?;
    ids(&pin, queries, engines)?;
    names(&pin, queries, engines)
}

fn ids(pin: &Pin<'_>, queries: &Queries, engines: &Engines) -> Result<()> {
    let rights = rights();
    let sees = |group: u8| rights[usize::from(group)];
    let read = engines.lmdb.read()?;
    let mut by_id = engines.sqlite.by_id()?;
    let row = |row: &[u8]| sees(record::group(row)).then(|| record::touch(row));
    let mut seen = 0;
    for id in queries.ids.iter().take(COMPARED) {
        let got = pin
            .get(id)?
            .map(|skill| skill.kind() as u64 + skill.name().len() as u64 + skill.version().len() as u64);
        seen += usize::from(got.is_some());
        let held = |record: &crate::record::Record| sees(record.group).then(|| touch(record));
        let theirs = [
            ("hashbrown", engines.maps.fold.get(id).and_then(|record| held(record))),
            ("inline", engines.maps.inline.get(id).and_then(|inline| held(&inline.record))),
            ("BTreeMap", engines.maps.tree.get(id).and_then(|record| held(record))),
            ("LMDB", engines.lmdb.get(&read, id).and_then(row)),
            ("redb", engines.redb.get(id, row).flatten()),
            ("fjall", engines.fjall.get(id, row).flatten()),
            ("SQLite", by_id.get(id).and_then(|(group, touched)| sees(group).then_some(touched))),
        ];
        for (name, theirs) in theirs {
            if theirs != got {
                return Err(format!("{id}: ours says {got:?}, {name} {theirs:?}").into());
            }
        }
    }
    let share = seen as f64 / queries.ids.len().min(COMPARED) as f64;
    if (0.85..0.95).contains(&share) { Ok(()) } else { Err(format!("{share} of the ids are seen").into()) }
}

fn names(pin: &Pin<'_>, queries: &Queries, engines: &Engines) -> Result<()> {
    let (rights, maps) = (rights(), &engines.maps);
    let (mut found, mut numbers) = (Vec::new(), Vec::new());
    for alias in queries.aliases.iter().take(COMPARED) {
        let named = maps.named.get(alias).into_iter().flatten();
        let theirs =
            named.filter(|number| rights[usize::from(maps.records[**number as usize].group)]).count();
        let got = pin.lookup(alias)?.len();
        if got != theirs {
            return Err(format!("{alias}: ours has {got} skills, the map {theirs}").into());
        }
    }
    for prefix in queries.prefixes.iter().take(COMPARED) {
        let got: Vec<&str> = pin.look().prefix(prefix, 10)?.iter().map(|skill| skill.id()).collect();
        maps.prefix(prefix, &rights, &mut found);
        engines.names.prefix(prefix, maps, &rights, &mut numbers);
        let same = |theirs: &[&str]| {
            // Of several skills with one key each engine may take others.
            theirs.len() == got.len() && theirs.iter().filter(|id| got.contains(id)).count() * 2 >= got.len()
        };
        let streamed: Vec<&str> = numbers.iter().map(|number| &*maps.records[*number as usize].id).collect();
        let ranged: Vec<&str> = found.iter().map(|record| &*record.id).collect();
        if !same(&streamed) || !same(&ranged) {
            return Err(format!("{prefix}: ours {got:?}, BTreeMap {ranged:?}, fst {streamed:?}").into());
        }
    }
    for (texts, distance) in [(&queries.typos, 1), (&queries.long_typos, 2)] {
        for text in texts.iter().take(COMPARED / 10) {
            let got = pin.fuzzy(text, 10)?.len();
            let theirs = engines.names.fuzzy(text, distance, maps, &rights).len();
            if got != theirs {
                return Err(format!("{text}: ours finds {got}, fst {theirs}").into());
            }
        }
    }
    Ok(())
}
