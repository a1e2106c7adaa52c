//! A failure or a stop at every single step of every operation: the old or the new state, never a mix, and a retry
//! heals.

use std::io;
use std::sync::OnceLock;

use super::super::storage::Fault;
use super::*;

/// An operation on an open directory.
type Operation = fn(&DataDir) -> Result<()>;

/// Name, operation, state before, state after.
fn operations() -> Vec<(&'static str, Operation, Seen, Seen)> {
    let old = seen(&[("local", "one"), ("learned", "x")], &["-a", "-b"]);
    let imported = seen(&[("local", "two"), ("learned", "x")], &["-a", "-b"]);
    let revoked = seen(&[("local", "one"), ("learned", "x")], &["-a", "-b", "-c"]);
    let long: String = "long".repeat(100);
    let revoked_long = seen(&[("local", "one"), ("learned", "x")], &["-a", "-b", &long]);
    vec![
        ("import", |dir| publish(dir, "local", "two").map(drop), old.clone(), imported),
        ("import of what is there", |dir| publish(dir, "local", "one").map(drop), old.clone(), old.clone()),
        ("revoke", |dir| Ok(dir.append_statement(1, b"-c").map(drop)?), old.clone(), revoked),
        (
            "revoke in many parts",
            |dir| Ok(dir.append_statement(1, "long".repeat(100).as_bytes()).map(drop)?),
            old.clone(),
            revoked_long,
        ),
        ("nothing", |dir| dir.commit(&mut |_| Ok(Edit::Unchanged)).map(drop), old.clone(), old.clone()),
        ("announce", |dir| Ok(dir.announce()?), old.clone(), old.clone()),
        ("collect", |dir| Ok(dir.collect().map(drop)?), old.clone(), old),
    ]
}

/// A directory with two layers, a folded statement, one that is not, and something to collect.
fn prepared() -> Arc<MemoryStorage> {
    static ONCE: OnceLock<Arc<MemoryStorage>> = OnceLock::new();
    Arc::new(ONCE.get_or_init(prepare).copy())
}

fn prepare() -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    publish(&dir, "local", "zero").unwrap();
    publish(&dir, "learned", "x").unwrap();
    publish(&dir, "local", "half").unwrap();
    dir.append_statement(1, b"-a").unwrap();
    publish(&dir, "local", "one").unwrap();
    dir.append_statement(1, b"-b").unwrap();
    storage.advance_clock(100_000);
    storage
}

const FAULTS: [Fault; 4] = [
    Fault::Stop,
    Fault::StopHalfway,
    Fault::Fail(io::ErrorKind::StorageFull),
    Fault::Fail(io::ErrorKind::Other),
];

#[test]
fn a_stop_or_failure_at_any_step_leaves_the_old_or_the_new_state_and_a_retry_heals() {
    for (name, operation, old, new) in operations() {
        for fault in FAULTS {
            let mut steps = 0;
            loop {
                let storage = prepared();
                let bystander = open(&process(&storage)).unwrap();
                assert_eq!(look(&bystander).unwrap(), old);
                let victim = process(&storage);
                let dir = open(&victim).unwrap();
                let began = victim.steps();
                victim.fault_at(steps, fault);
                let result = operation(&dir);
                let reached = victim.steps() - began > steps;
                let at = format!("{name}, {fault:?} at step {steps}: {result:?}");

                let after = look(&open(&process(&storage)).unwrap()).expect(&at);
                // A revocation that could not be written hides the synced layer: that is a safe state too.
                let allowed = Seen { denied: after.denied && name.starts_with("revoke"), ..after.clone() };
                assert!(
                    allowed == after && (after.layers == old.layers || after.layers == new.layers),
                    "{at}: {after:?}"
                );
                assert!(after.said == old.said || after.said == new.said, "{at}: {after:?}");
                if result.is_ok() {
                    assert_eq!(after, new, "{at}");
                    assert_eq!(look(&bystander).unwrap(), new, "{at}");
                }

                let before_retry = bystander.epoch();
                let retry = open(&process(&storage)).unwrap();
                operation(&retry).expect(&at);
                let healed = look(&retry).expect(&at);
                assert_eq!(healed.layers, new.layers, "{at}");
                assert_eq!(healed.said.last(), new.said.last(), "{at}");
                assert_eq!(look(&bystander).unwrap(), healed, "{at}");
                if name != "collect" {
                    assert_ne!(bystander.epoch(), before_retry, "{at}: the retry announced itself");
                }
                if !reached {
                    break;
                }
                steps += 1;
            }
            assert!(steps > 3, "{name} has steps");
        }
    }
}

#[test]
fn a_power_cut_after_any_step_keeps_what_was_acknowledged_and_mixes_nothing() {
    for (name, operation, old, new) in operations() {
        for seed in 0..4 {
            let mut steps = 0;
            loop {
                let storage = prepared();
                let victim = process(&storage);
                let dir = open(&victim).unwrap();
                let began = victim.steps();
                victim.fault_at(steps, if seed % 2 == 0 { Fault::Stop } else { Fault::StopHalfway });
                let result = operation(&dir);
                let reached = victim.steps() - began > steps;
                let at = format!("{name}, cut {seed} at step {steps}: {result:?}");
                let storage = Arc::new(storage.another_process().cut_power(seed * 1_000 + steps));
                let dir = open(&storage).expect(&at);
                let after = look(&dir).expect(&at);
                assert!(after.layers == old.layers || after.layers == new.layers, "{at}: {after:?}");
                if result.is_ok() {
                    assert_eq!(after, new, "{at}");
                }
                // A half-written record of a statement that nobody acknowledged may be reported as damage.
                assert!(after.said == old.said || after.said == new.said, "{at}: {after:?}");
                publish(&dir, "local", "three").expect(&at);
                assert_eq!(look(&dir).unwrap().layers["local"], "three", "{at}");
                if !reached {
                    break;
                }
                steps += 1;
            }
        }
    }
}

#[test]
fn opening_can_be_stopped_or_cut_at_any_step() {
    for fault in FAULTS {
        for cut in [false, true] {
            let mut steps = 0;
            loop {
                let storage = Arc::new(MemoryStorage::new());
                storage.fault_at(steps, fault);
                let result = open(&storage);
                let reached = storage.steps() > steps;
                let at = format!("{fault:?} at step {steps}, cut: {cut}: {result:?}");
                let next = if cut {
                    Arc::new(storage.another_process().cut_power(steps))
                } else {
                    process(&storage)
                };
                let dir = open(&next).expect(&at);
                assert_eq!(look(&dir).expect(&at), Seen::default(), "{at}");
                assert_eq!(dir.load().unwrap().manifest.recovered, None, "{at}");
                publish(&dir, "local", "one").expect(&at);
                if !reached {
                    break;
                }
                steps += 1;
            }
            assert!(steps > 10, "opening has steps");
        }
    }
}

#[test]
fn a_failed_sync_poisons_the_handle_until_it_is_opened_again() {
    let storage = prepared();
    let dir = open(&storage).unwrap();
    let mut poisoned = 0;
    for step in 0..60 {
        let victim = process(&storage);
        let dir = open(&victim).unwrap();
        victim.fault_at(step, Fault::Fail(io::ErrorKind::Other));
        let first = publish(&dir, "local", &format!("text {step}"));
        let second = dir.announce();
        if let Err(StorageError::Poisoned { detail }) = second {
            assert!(first.is_err() && detail.contains("sync"), "{first:?} {detail}");
            assert!(publish(&dir, "local", "more").is_err() && dir.append_statement(1, b"z").is_err());
            look(&dir).unwrap();
            poisoned += 1;
        }
    }
    assert!(poisoned >= 4, "segment, source, manifest and directory are synced: {poisoned}");
    publish(&dir, "local", "again").unwrap();
}
