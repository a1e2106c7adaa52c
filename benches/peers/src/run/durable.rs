//! Changes: a revocation against one fdatasync, the first query after one, a view for a new caller, a delta of 1 %.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use repertoire::{Filter, Layer, LocalStatement, Narrowing};

use crate::Result;
use crate::engine::full::{Full, Rights};
use crate::engine::ours;
use crate::measure::{Contender, few, ns, race};
use crate::record::Record;
use crate::run::{at_size, named};
use crate::table::{Bound, Row};
use crate::world::{Queries, World, copy, rights};

/// A word that no skill has.
const NEW_WORD: &str = "zzyzxdelta";

pub fn rows(world: &World, queries: &Queries, rounds: usize) -> Result<Vec<Row>> {
    let folder = world.folder.join("durable");
    copy(&world.folder.join("ours").join("data"), &folder)?;
    let mut rows = revoke_rows(world, queries, &folder, rounds)?;
    // A delta takes long; above 20,000 skills one round has to do.
    rows.push(delta_row(world, &folder, if world.skills > 20_000 { 1 } else { rounds.min(3) })?);
    fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn revoke_rows(world: &World, queries: &Queries, folder: &Path, rounds: usize) -> Result<Vec<Row>> {
    let (writer, reader) = (ours::open(folder)?, ours::open(folder)?);
    let mut view = reader.view(Narrowing::default());
    view.pin()?;
    let id = queries.ids.iter().find(|id| visible(&reader, id)).ok_or("nothing is visible")?;
    let page = folder.join("page");
    let file = prepared(&page)?;
    let mut number = 0_u64;
    let contenders: Vec<Contender<'_>> = vec![
        few("ours", 20, || {
            let begun = Instant::now();
            writer.declare(LocalStatement::Hide(id.clone())).expect("it is hidden");
            let took = ns(begun);
            writer.declare(LocalStatement::Unhide(id.clone())).expect("it shows");
            took
        }),
        few("one fdatasync", 20, || {
            number += 1;
            let begun = Instant::now();
            let at = number % 1_000 * 64;
            file.write_all_at(&[number.to_le_bytes()[0]; 64], at).expect("it is written");
            file.sync_data().expect("it is durable");
            ns(begun)
        }),
    ];
    let mut figures = race(rounds, contenders);
    let contenders = vec![few("ours, after a revocation", 20, || {
        writer.declare(LocalStatement::Hide(id.clone())).expect("it is hidden");
        let begun = Instant::now();
        let gone = view.pin().expect("a pin").get(id).expect("an answer").is_none();
        let took = ns(begun);
        assert!(gone, "a revoked skill is gone");
        writer.declare(LocalStatement::Unhide(id.clone())).expect("it shows");
        view.pin().expect("a pin");
        took
    })];
    figures.extend(race(rounds, contenders));
    let mut turn = 0_u32;
    let contenders = vec![few("ours, a new view", 20, || {
        turn += 1;
        // Another set each time, since equal ones are shared.
        let named = BTreeSet::from(["sub-03".to_owned(), format!("other-{turn}")]);
        let narrowing = Narrowing::default().subscriptions(named);
        let begun = Instant::now();
        let mut view = reader.view(narrowing);
        black_box(view.pin().expect("a pin").is_current());
        ns(begun)
    })];
    figures.extend(race(rounds, contenders));
    fs::remove_file(page)?;
    let alone = |operation: &str, name: &str, bars: [f64; 4]| {
        let row = Row::alone(operation, world.skills, named(&figures, name));
        row.bounds(at_size(world.skills, bars).filter(|bar| bar.is_finite()).map(Bound::Most), None)
    };
    let (ours, sync) = (named(&figures, "ours"), named(&figures, "one fdatasync"));
    let revoke = Row::of("revoke, acknowledged", world.skills, ours, sync);
    let none = f64::INFINITY;
    Ok(vec![
        if world.skills == 10_000 { revoke.times(2.0, 1.2) } else { revoke },
        alone(
            "first get after another handle's revocation",
            "ours, after a revocation",
            [none, 30e3, none, 1e6],
        ),
        alone("a view for a new caller", "ours, a new view", [none, none, none, none]),
    ])
}

fn visible(catalog: &repertoire::Catalog, id: &str) -> bool {
    let mut view = catalog.view(Narrowing::default());
    view.pin().and_then(|pin| Ok(pin.get(id)?.is_some())).unwrap_or(false)
}

/// A file of 64 KiB whose blocks are there already.
fn prepared(path: &Path) -> Result<File> {
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(path)?;
    file.write_all_at(&[0; 65_536], 0)?;
    file.sync_all()?;
    Ok(file)
}

fn delta_row(world: &World, folder: &Path, rounds: usize) -> Result<Row> {
    let tantivy = world.folder.join("durable-tantivy");
    copy(&world.folder.join("tantivy"), &tantivy)?;
    let full = Full::open(&tantivy)?;
    let mut writer = full.writer()?;
    let rights = rights();
    let size = (world.skills / 100).max(1);
    let records: Vec<Record> = world
        .catalog
        .records()
        .filter(|record| rights[usize::from(record.group)])
        .skip(1)
        .take(size)
        .collect();
    let catalog = ours::open(folder)?;
    let mut view = catalog.view(Narrowing::default());
    let (mut turn, mut their_turn) = (0_u32, 0_u32);
    let contenders: Vec<Contender<'_>> = vec![
        few("ours", 2, || {
            turn += 1;
            let word = format!("{NEW_WORD}{turn}");
            let changed: Vec<_> = changed(&records, &word);
            let changed: Vec<repertoire::Entry> =
                changed.iter().filter_map(|record| record.entry().ok()).collect();
            let begun = Instant::now();
            let update = catalog.apply(Layer::Synced, changed, &std::collections::BTreeSet::new());
            assert!(update.expect("the update").changed);
            let page =
                view.pin().expect("a pin").search(&word, &Filter::default(), 10).expect("an answer").total;
            let took = ns(begun);
            assert!(page > 0, "the new word is found");
            took
        }),
        few("tantivy add, commit, reload", 2, || {
            their_turn += 1;
            let word = format!("{NEW_WORD}{their_turn}");
            let changed = changed(&records, &word);
            let begun = Instant::now();
            full.replace(&mut writer, &changed).expect("the update");
            let found = full.run(&word, Rights::Column);
            let took = ns(begun);
            assert!(found > 0, "the new word is found");
            took
        }),
    ];
    let figures = race(rounds, contenders);
    writer.wait_merging_threads()?;
    fs::remove_dir_all(&tantivy)?;
    let row = Row::of("1 % delta, durable and searchable", world.skills, &figures[0], &figures[1]);
    Ok(match world.skills {
        10_000 => row.most(100e6, 30e6),
        100_000 => row.most(200e6, 50e6),
        _ => row,
    })
}

fn changed(records: &[Record], word: &str) -> Vec<Record> {
    let change = |record: &Record| {
        let mut record = record.clone();
        record.description.push_str(&format!(" {word}"));
        record
    };
    records.iter().map(change).collect()
}
