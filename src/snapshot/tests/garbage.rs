//! Garbage collection removes what is due, and nothing else.

use std::collections::BTreeSet;

use super::super::storage::Fault;
use super::*;
use crate::limits::{RETIRED_GRACE_MS, UNCOMMITTED_GRACE_MS};

fn exists(storage: &MemoryStorage, name: &str) -> bool {
    storage.peek(name).is_some()
}

#[test]
fn a_file_stays_while_a_manifest_its_history_the_former_manifest_or_the_grace_reaches_it() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    publish(&dir, "local", "0").unwrap();
    let first = dir.load().unwrap().manifest.layers["local"].current.clone();
    let (segment, source) = (&first.files[0].name, &first.sources[0].name);
    let still_there = || exists(&storage, segment) && exists(&storage, source);
    publish(&dir, "local", "1").unwrap();
    storage.advance_clock(10 * UNCOMMITTED_GRACE_MS);
    dir.collect().unwrap();
    assert!(still_there(), "the history of CURRENT reaches it");
    publish(&dir, "local", "2").unwrap();
    storage.advance_clock(10 * UNCOMMITTED_GRACE_MS);
    dir.collect().unwrap();
    assert!(still_there(), "PREVIOUS reaches it");
    publish(&dir, "local", "3").unwrap();
    dir.collect().unwrap();
    assert!(!still_there(), "retired for longer than the grace");

    let second = dir.write_file("local", &super::segment("1")).unwrap();
    assert!(exists(&storage, &second.name));
    publish(&dir, "local", "4").unwrap();
    publish(&dir, "local", "5").unwrap();
    publish(&dir, "local", "6").unwrap();
    assert!(exists(&storage, &second.name), "the last minute reached it");
    storage.advance_clock(RETIRED_GRACE_MS);
    dir.collect().unwrap();
    assert!(exists(&storage, &second.name), "somebody has written it again and is about to commit");
    storage.advance_clock(UNCOMMITTED_GRACE_MS);
    dir.collect().unwrap();
    assert!(!exists(&storage, &second.name));
}

#[test]
fn a_commit_that_names_a_collected_file_is_asked_to_build_again() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    let file = dir.write_file("local", &segment("late")).unwrap();
    storage.advance_clock(2 * UNCOMMITTED_GRACE_MS);
    open(&process(&storage)).unwrap().collect().unwrap();
    let outcome = dir.commit(&mut |base| {
        let mut next = (*base.manifest).clone();
        let state = next.layers.entry("local".to_owned()).or_default();
        state.advance(Generation { generation: 1, files: vec![file.clone()], ..Generation::default() }, 1);
        Ok(Edit::Install(Box::new(next)))
    });
    assert!(matches!(outcome.unwrap(), Outcome::Rebase));
    publish(&dir, "local", "late").unwrap();
    assert_eq!(look(&dir).unwrap().layers["local"], "late");
}

#[test]
fn foreign_files_and_the_fixed_ones_are_never_deleted() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    publish(&dir, "local", "0").unwrap();
    let hash = "0".repeat(40);
    let ours_and_dead = [
        format!("local-{hash}.seg"),
        format!("source-{hash}.jsonl"),
        format!("local-{hash}.seg.1-2.tmp"),
        "CURRENT.tmp".to_owned(),
    ];
    let kept =
        ["notes.txt", "notes.tmp", "local.seg", "CURRENT.bad", "SYNC", "source.jsonl", "x-1.seg", ".tmp"];
    for name in ours_and_dead.iter().map(String::as_str).chain(kept) {
        storage.poke(name, Some(b"x"));
    }
    let all = |storage: &MemoryStorage| -> BTreeSet<String> { storage.list().unwrap().into_iter().collect() };
    let before = all(&storage);
    dir.collect().unwrap();
    assert_eq!(all(&storage), before, "all of it is young");
    storage.advance_clock(UNCOMMITTED_GRACE_MS);
    assert_eq!(dir.collect().unwrap(), 4);
    let gone: BTreeSet<String> = before.difference(&all(&storage)).cloned().collect();
    assert_eq!(gone, ours_and_dead.into_iter().collect());
    look(&dir).unwrap();
}

#[test]
fn a_clock_that_goes_back_neither_deletes_early_nor_keeps_for_ever() {
    let base = Manifest::default();
    let with = |at_ms: u64, now_ms: u64| kept(&base, at_ms, now_ms, false);
    let kept_there = |at_ms: u64, now_ms: u64| kept(&base, at_ms, now_ms, true);
    assert_eq!(with(1_000, 500)[0].at_ms, 500, "retired now, at the latest");
    assert_eq!(with(1_000, 1_000 + RETIRED_GRACE_MS - 1).len(), 1);
    assert_eq!(with(1_000, 1_000 + RETIRED_GRACE_MS).len(), 0);
    assert_eq!(kept_there(1_000, 1_000 + 9 * RETIRED_GRACE_MS)[0].at_ms, 1_000, "until it is deleted");
}

/// What is remembered of a file that was retired at a time.
fn kept(base: &Manifest, at_ms: u64, now_ms: u64, is_there: bool) -> Vec<super::super::manifest::Retired> {
    let mut before = base.clone();
    before.retired = vec![super::super::manifest::Retired { name: "x".to_owned(), at_ms }];
    super::super::collect::retire(&before, base, now_ms, &|_| is_there)
}

#[test]
fn a_segment_that_could_not_be_written_does_not_stay_on_a_full_disk() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    publish(&dir, "local", "one").unwrap();
    let names = || -> BTreeSet<String> { storage.another_process().list().unwrap().into_iter().collect() };
    let before = names();
    let mut failed = 0;
    for step in 0..8 {
        let writer = process(&storage);
        let other = open(&writer).unwrap();
        writer.fault_at(step, Fault::Fail(std::io::ErrorKind::StorageFull));
        if other.write_file("local", &segment("two")).is_err() {
            assert_eq!(names(), before, "step {step}");
            failed += 1;
        } else {
            break;
        }
    }
    assert!(failed >= 3, "{failed}");
}
