//! Readers and writers of one directory follow each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::super::manifest::Recovery;
use super::super::storage::Fault;
use super::*;

#[test]
fn two_handles_follow_each_other() {
    let storage = Arc::new(MemoryStorage::new());
    let (a, b) = (open(&storage).unwrap(), open(&process(&storage)).unwrap());
    let mut last = b.load().unwrap().epoch;
    for round in 0..20 {
        let (writer, reader) = if round % 2 == 0 { (&a, &b) } else { (&b, &a) };
        publish(writer, "local", &format!("text {round}")).unwrap();
        assert_ne!(b.epoch(), last, "announced");
        let now = look(reader).unwrap();
        assert_eq!(now.layers["local"], format!("text {round}"));
        last = b.epoch();
        writer.append_statement(7, format!("-{round}").as_bytes()).unwrap();
        assert_ne!(b.epoch(), last, "announced");
        assert_eq!(look(reader).unwrap().said.len(), round + 1);
        last = b.epoch();
    }
    assert_eq!(a.load().unwrap().epoch, a.epoch(), "nothing moves without a writer");
}

#[test]
fn the_state_is_installed_with_the_epoch_that_others_see_afterwards() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    let mut installed = None;
    let outcome =
        dir.commit_then(&mut |base| Ok(Edit::Install(Box::new((*base.manifest).clone()))), &mut |loaded| {
            installed = Some((loaded.epoch, loaded.manifest.serial));
        });
    assert!(matches!(outcome, Ok(Outcome::Installed(ref loaded)) if loaded.epoch == dir.epoch()));
    assert_eq!(installed, Some((dir.epoch(), 1)));
}

#[test]
fn what_a_killed_writer_left_unannounced_is_announced_by_the_next_and_by_the_tick() {
    // Stop the writer right before its last announcement.
    let storage = Arc::new(MemoryStorage::new());
    let reader = open(&storage).unwrap();
    for (tick, operation) in [(false, "import"), (true, "import"), (false, "revoke")] {
        let victim = process(&storage);
        let dir = open(&victim).unwrap();
        let run = |dir: &DataDir| match operation {
            "import" => publish(dir, "local", &format!("{tick}")).map(drop),
            _ => Ok(dir.append_statement(1, b"-x").map(drop)?),
        };
        let mut step = 0;
        // Find the last step at which the change is already visible on disk, but not announced.
        let (epoch, changed) = loop {
            let trial = process(&storage);
            let before = reader.load().unwrap();
            let dir = open(&trial).unwrap();
            trial.fault_at(step, Fault::Stop);
            let _ = run(&dir);
            let durable = storage.peek("CURRENT").unwrap();
            let serial = Manifest::decode("CURRENT", &durable).unwrap().serial;
            let ring =
                super::super::ring::Ring::read(&storage.peek("revocations").unwrap(), 0).statements.len();
            if serial > before.manifest.serial || ring > before.statements.len() {
                break (reader.epoch(), before);
            }
            step += 1;
            assert!(step < 1_000, "{operation} becomes visible");
        };
        drop(dir);
        if tick {
            reader.tick();
        } else {
            let other = open(&process(&storage)).unwrap();
            other.announce().unwrap();
        }
        assert_ne!(reader.epoch(), epoch, "{operation}, tick: {tick}");
        let now = reader.load().unwrap();
        assert!(
            now.manifest.serial > changed.manifest.serial || now.statements.len() > changed.statements.len()
        );
    }
}

#[test]
fn readers_see_every_acknowledged_change_and_no_mixed_state_under_load() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
    publish(&dir, "local", "0").unwrap();
    publish(&dir, "learned", "0").unwrap();
    let acknowledged = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let dir = DataDir::open(&path, &OpenOptions::default()).unwrap();
                while !stop.load(Ordering::SeqCst) {
                    let least = acknowledged.load(Ordering::SeqCst);
                    let (loaded, texts) = dir
                        .load_with(&mut |loaded| {
                            let text = |layer: &str| -> Result<u64> {
                                let file = &loaded.manifest.layers[layer].current.files[0];
                                let text = dir.open_file(file, &SCHEMA)?.required(TEXT)?;
                                Ok(std::str::from_utf8(&text).unwrap().parse().unwrap())
                            };
                            Ok((text("local")?, text("learned")?))
                        })
                        .unwrap();
                    assert_eq!(texts.0, texts.1, "both layers were published in one commit");
                    assert!(texts.0 >= least, "{} < {least}: an acknowledged change is missing", texts.0);
                    let said = loaded.last_seq;
                    assert!(said >= least, "{said} < {least}: an acknowledged statement is missing");
                    reads.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let began = Instant::now();
        let mut number = 0;
        while began.elapsed() < Duration::from_millis(1_500) {
            number += 1;
            let built = segment(&number.to_string());
            let local = dir.write_file("local", &built).unwrap();
            let learned = dir.write_file("learned", &built).unwrap();
            dir.append_statement(1, number.to_string().as_bytes()).unwrap();
            let outcome = dir.commit(&mut |base| {
                let mut next = (*base.manifest).clone();
                for (layer, file) in [("local", &local), ("learned", &learned)] {
                    let state = next.layers.get_mut(layer).unwrap();
                    let generation = state.current.generation + 1;
                    let files = vec![file.clone()];
                    state.advance(Generation { generation, files, skills: 1, ..Generation::default() }, 0);
                }
                // Fold only now and then, so that statements are read from the ring as well.
                if number % 8 == 0 {
                    next.folded_seq = base.last_seq;
                }
                Ok(Edit::Install(Box::new(next)))
            });
            assert!(matches!(outcome.unwrap(), Outcome::Installed(_)));
            acknowledged.store(number, Ordering::SeqCst);
        }
        stop.store(true, Ordering::SeqCst);
        assert!(number > 10, "{number} commits");
    });
    assert!(reads.load(Ordering::SeqCst) > 10);
}

#[test]
fn waiting_ends_with_a_change_and_with_the_time() {
    let storage = Arc::new(MemoryStorage::new());
    let (a, b) = (open(&storage).unwrap(), open(&process(&storage)).unwrap());
    let since = a.load().unwrap().epoch;
    assert_eq!(a.wait_for_change(since, Duration::from_millis(5)), None);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| a.wait_for_change(since, Duration::from_secs(20)));
        b.append_statement(1, b"x").unwrap();
        assert_ne!(waiting.join().unwrap(), None);
    });
}

#[test]
fn a_full_ring_suspends_the_synced_layer_until_a_commit_makes_room() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    let mut count = 0_usize;
    let error = loop {
        match dir.append_statement(1, format!("{count}").as_bytes()) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StorageError::RingFull { .. }), "{error}");
    assert_eq!(count, super::super::ring::SLOTS);
    assert!(look(&dir).unwrap().denied);
    assert_eq!(look(&dir).unwrap().said.len(), count, "nothing was overwritten");
    // One commit is not enough: the manifest before it may come back, and does not contain them.
    publish(&dir, "local", "one").unwrap();
    assert!(matches!(dir.append_statement(1, b"y"), Err(StorageError::RingFull { .. })));
    publish(&dir, "local", "two").unwrap();
    dir.append_statement(1, b"z").unwrap();
    dir.set_deny_all(Denial::No).unwrap();
    let now = look(&dir).unwrap();
    assert!(!now.denied && now.said.len() == count + 1);
}

#[test]
fn statements_survive_the_loss_of_current_also_after_the_ring_wrapped() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    let mut expected = Vec::new();
    for round in 0..15 {
        for number in 0..150 {
            let text = format!("{round}.{number}");
            dir.append_statement(1, text.as_bytes()).unwrap();
            expected.push(text);
        }
        publish(&dir, "local", &format!("{round}")).unwrap();
        let copy = Arc::new(storage.another_process().cut_power(round));
        copy.poke("CURRENT", Some(b"damaged"));
        let restored = open(&copy).unwrap();
        let now = look(&restored).unwrap();
        assert_eq!(now.said, expected, "round {round}");
        assert_eq!(restored.load().unwrap().manifest.recovered, Some(Recovery::Previous));
    }
}

#[test]
fn a_lock_that_is_held_is_waited_for_and_then_named() {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    let held = super::super::lock::Lock::acquire(storage.as_ref(), Duration::ZERO).unwrap();
    let began = Instant::now();
    let error = dir.append_statement(1, b"x").unwrap_err();
    assert!(matches!(error, StorageError::Locked { waited_ms: 1_000.., .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(held);
    dir.append_statement(1, b"x").unwrap();
}
