//! A reader that is stopped over many swaps, and then goes on.

use std::collections::BTreeSet;

use repertoire::catalog::BundledMode;
use repertoire::model::{Entry, Layer, Skill};
use repertoire::{Catalog, LocalStatement, Options};
use rustix::process::Signal;

use crate::random::{Scale, now};
use crate::skills::{skill, target, target_id};
use crate::stress::fast_folder;
use crate::watcher::Watcher;

fn entry(value: &serde_json::Value) -> Entry {
    Entry::new(Skill::from_json(value).expect("a sound skill").skill)
}

#[test]
fn a_reader_stopped_over_many_swaps_goes_on_with_what_holds_now() {
    let swaps = Scale::of_this_run().pick(60, 200, 1_000);
    let folder = fast_folder();
    let data = folder.path().join("data");
    let options = Options::default().bundled(BundledMode::Never);
    let catalog = Catalog::open_with(&data, options).expect("the catalog opens");
    let first: Vec<Entry> = (0..2)
        .map(|n| entry(&target(n)))
        .chain((0..30).map(|n| entry(&skill(&format!("o-{n}"), "O."))))
        .collect();
    catalog.update(Layer::Local, &mut |_| Ok(Some(first.clone()))).expect("the first import");
    let mut watcher = Watcher::start(&data);
    watcher.watch(&target_id(0));
    watcher.signal(Signal::STOP);
    for swap in 0..swaps {
        let changed = vec![entry(&skill("o-1", &format!("Swap {swap}.")))];
        catalog.apply(Layer::Local, changed, &BTreeSet::new()).expect("a swap");
    }
    catalog.declare(LocalStatement::Hide(target_id(0))).expect("a statement");
    let acknowledged = now();
    watcher.signal(Signal::CONT);
    let report = watcher.report();
    // The round in which it was stopped began before; every query that began afterwards knows better.
    assert!(report.last_round > acknowledged, "{report:?}");
    assert!(report.seen_by.iter().all(|moment| *moment < acknowledged), "{report:?}");
    watcher.watch(&target_id(1));
    watcher.end();
}
