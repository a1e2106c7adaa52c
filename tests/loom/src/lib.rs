//! The protocol of the epoch page, in every order of steps and of memory that the memory model allows (loom).
//!
//! Writers bump the epoch, change one file, bump again, and only then acknowledge. A reader looks at the epoch, reads the
//! files if it is another one than that of the state it holds, looks again, and keeps what it read only if the epoch stood
//! still. The page is modelled as it is in `src/snapshot/map.rs`: a relaxed load with an acquire fence behind it, a
//! sequentially consistent addition with a fence behind it; a test holds the two together. Files are modelled by acquire and
//! release: a system call on one file orders no less.
//!
//! The parts of the protocol can be left out, and then a model must fail: otherwise it would show nothing.
#![cfg(test)]

use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// The parts of the protocol; all of them in the program.
#[derive(Clone, Copy)]
struct Protocol {
    bump_before: bool,
    bump_after: bool,
    writer_fence: bool,
    second_look: bool,
    reader_fence: bool,
    /// The ring is read before `CURRENT`.
    ring_first: bool,
}

const WHOLE: Protocol = Protocol {
    bump_before: true,
    bump_after: true,
    writer_fence: true,
    second_look: true,
    reader_fence: true,
    ring_first: true,
};

/// Rounds of a reader in which others may commit.
const ROUNDS: usize = 3;
/// Involuntary switches between threads that a schedule may have. Each part that is left out is found with these.
const PREEMPTIONS_MAX: usize = 2;

fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.check(model);
}

/// The page, a ring with one place, `CURRENT`, and the file that its first version names.
struct Directory {
    protocol: Protocol,
    epoch: AtomicU64,
    /// Number of the statement in the only place.
    ring: AtomicU64,
    /// [`pack`] of the version and the last statement that it contains.
    current: AtomicU64,
    /// 1 when the file of version 0 was collected.
    collected: AtomicU64,
    /// What was acknowledged, told by other means than the page: version, statement.
    published: AtomicU64,
    said: AtomicU64,
}

fn pack(version: u64, folded: u64) -> u64 {
    version << 8 | folded
}

/// What a reader holds.
#[derive(Clone, Copy)]
struct State {
    epoch: u64,
    version: u64,
    said: u64,
}

impl Directory {
    fn new(protocol: Protocol) -> Arc<Self> {
        let word = || AtomicU64::new(0);
        Arc::new(Self {
            protocol,
            epoch: word(),
            ring: word(),
            current: word(),
            collected: word(),
            published: word(),
            said: word(),
        })
    }

    fn look(&self) -> u64 {
        let epoch = self.epoch.load(Ordering::Relaxed);
        if self.protocol.reader_fence {
            fence(Ordering::Acquire);
        }
        epoch
    }

    fn bump(&self) {
        if self.protocol.writer_fence {
            self.epoch.fetch_add(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
        } else {
            self.epoch.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A change of one file by the holder of the lock.
    fn change(&self, file: &AtomicU64, value: u64) {
        if self.protocol.bump_before {
            self.bump();
        }
        file.store(value, Ordering::Release);
        if self.protocol.bump_after {
            self.bump();
        }
    }

    fn state(&self, number: u64) {
        self.change(&self.ring, number);
        self.said.store(number, Ordering::Release);
    }

    fn publish(&self, version: u64, folded: u64) {
        self.change(&self.current, pack(version, folded));
        self.published.store(version, Ordering::Release);
    }

    /// A query: the state that is held if it is current, else another one. `None` if others were faster each time.
    fn query(&self, held: Option<State>) -> Option<State> {
        for _ in 0..ROUNDS {
            let epoch = self.look();
            if let Some(state) = held
                && state.epoch == epoch
            {
                return held;
            }
            let read = |file: &AtomicU64| file.load(Ordering::Acquire);
            let (ring, current) = if self.protocol.ring_first {
                let ring = read(&self.ring);
                (ring, read(&self.current))
            } else {
                let current = read(&self.current);
                (read(&self.ring), current)
            };
            let (version, folded) = (current >> 8, current & 0xff);
            let missing = version == 0 && read(&self.collected) == 1;
            if self.protocol.second_look && self.look() != epoch {
                thread::yield_now();
                continue;
            }
            assert!(!missing, "a file that is still named is missing");
            assert!(ring <= folded + 1, "statement {} is lost", folded + 1);
            return Some(State { epoch, version, said: ring.max(folded) });
        }
        None
    }

    /// A query with what must hold of it.
    fn ask(&self, held: Option<State>) -> Option<State> {
        let (published, said) = (self.published.load(Ordering::Acquire), self.said.load(Ordering::Acquire));
        let found = self.query(held)?;
        assert!(
            found.version >= published && found.said >= said,
            "older than what was acknowledged before the query"
        );
        let goes_on = held.is_none_or(|held| found.version >= held.version && found.said >= held.said);
        assert!(goes_on, "older than the last answer");
        Some(found)
    }
}

/// A writer beside a reader that asks twice, and once more when nobody writes.
fn beside(protocol: Protocol, write: fn(&Directory), last: (u64, u64)) {
    explore(move || {
        let directory = Directory::new(protocol);
        let writer = Arc::clone(&directory);
        let writing = thread::spawn(move || write(&writer));
        let first = directory.ask(None);
        let second = directory.ask(first).or(first);
        writing.join().unwrap();
        let found = directory.ask(second).expect("nobody writes any more");
        assert_eq!((found.version, found.said), last);
    });
}

fn one_statement(directory: &Directory) {
    directory.state(1);
}

/// The place in the ring is used again once its statement is folded.
fn ring_around(directory: &Directory) {
    directory.state(1);
    directory.publish(0, 1);
    directory.state(2);
}

fn publish_and_collect(directory: &Directory) {
    directory.publish(1, 0);
    directory.collected.store(1, Ordering::Release);
}

#[test]
fn a_statement_is_seen_by_every_query_that_begins_after_its_acknowledgement() {
    beside(WHOLE, one_statement, (0, 1));
}

#[test]
fn no_statement_is_lost_when_its_place_in_the_ring_is_used_again() {
    beside(WHOLE, ring_around, (0, 2));
}

#[test]
fn a_file_that_was_collected_is_never_taken_for_damage() {
    beside(WHOLE, publish_and_collect, (1, 0));
}

#[test]
#[should_panic(expected = "older than what was acknowledged")]
fn without_the_bump_after_a_change_an_old_state_is_kept() {
    beside(Protocol { bump_after: false, ..WHOLE }, one_statement, (0, 1));
}

#[test]
#[should_panic(expected = "older than what was acknowledged")]
fn without_the_fence_of_the_reader_an_old_state_is_kept() {
    beside(Protocol { reader_fence: false, ..WHOLE }, one_statement, (0, 1));
}

#[test]
#[should_panic(expected = "older than what was acknowledged")]
fn without_the_fence_of_the_writer_an_old_state_is_kept() {
    beside(Protocol { writer_fence: false, ..WHOLE }, one_statement, (0, 1));
}

#[test]
#[should_panic(expected = "a file that is still named is missing")]
fn without_the_second_look_a_collected_file_is_taken_for_damage() {
    beside(Protocol { second_look: false, ..WHOLE }, publish_and_collect, (1, 0));
}

#[test]
#[should_panic(expected = "is lost")]
fn without_the_second_look_and_the_order_of_reading_a_statement_is_lost() {
    beside(Protocol { second_look: false, ring_first: false, ..WHOLE }, ring_around, (0, 2));
}

/// A writer that is killed behind its write, and the next holder of the lock, which is killed behind its first bump.
fn killed_twice(protocol: Protocol) {
    explore(move || {
        let directory = Directory::new(protocol);
        let writer = Arc::clone(&directory);
        let writing = thread::spawn(move || {
            writer.bump();
            writer.ring.store(1, Ordering::Release);
            if writer.protocol.bump_before {
                writer.bump();
            }
            writer.said.store(1, Ordering::Release);
        });
        let first = directory.ask(None);
        directory.ask(first);
        writing.join().unwrap();
    });
}

#[test]
fn what_a_killed_writer_left_is_announced_by_the_next_one_before_anything_else() {
    killed_twice(WHOLE);
}

#[test]
#[should_panic(expected = "older than what was acknowledged")]
fn without_the_bump_before_a_change_what_a_killed_writer_left_is_not_announced() {
    killed_twice(Protocol { bump_before: false, ..WHOLE });
}

/// The writer's own process: the new state is put into the slot of the process before it is announced, with the number
/// that the announcement is going to give.
fn installed_in_the_process(installs: fn(&Directory) -> State) {
    explore(move || {
        let directory = Directory::new(WHOLE);
        let slot = Arc::new(Mutex::new(State { epoch: 0, version: 0, said: 0 }));
        let (writer, own) = (Arc::clone(&directory), Arc::clone(&slot));
        let writing = thread::spawn(move || {
            writer.bump();
            writer.current.store(pack(1, 0), Ordering::Release);
            *own.lock().unwrap() = installs(&writer);
            writer.bump();
            writer.published.store(1, Ordering::Release);
        });
        let mut held = slot.lock().unwrap();
        if let Some(found) = directory.ask(Some(*held)) {
            *held = found;
        }
        drop(held);
        writing.join().unwrap();
        let held = *slot.lock().unwrap();
        let last = directory.ask(Some(held)).expect("nobody writes any more");
        assert_eq!(last.version, 1, "the slot holds an old state under the new number");
    });
}

#[test]
fn the_state_that_a_writer_installs_for_its_process_is_the_one_it_announces() {
    installed_in_the_process(|writer| State { epoch: writer.look() + 1, version: 1, said: 0 });
}

#[test]
#[should_panic(expected = "older than what was acknowledged")]
fn an_old_state_under_the_number_of_the_announcement_is_found() {
    installed_in_the_process(|writer| State { epoch: writer.look() + 1, version: 0, said: 0 });
}

#[test]
fn the_model_is_of_the_page_as_it_is() {
    let page = include_str!("../../../src/snapshot/map.rs");
    let load = page.split("pub(crate) fn load(").nth(1).and_then(|rest| rest.split("    }\n").next()).unwrap();
    let at = |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
    assert!(at(load, "load(Ordering::Relaxed)") < at(load, "fence(Ordering::Acquire)"));
    let add = page.split("pub(crate) fn add(").nth(1).and_then(|rest| rest.split("    }\n").next()).unwrap();
    assert!(at(add, "fetch_add(amount, Ordering::SeqCst)") < at(add, "fence(Ordering::SeqCst)"));
    let commit = include_str!("../../../src/snapshot/commit.rs");
    for writer in ["fn commit_then(", "fn append(", "fn announce("] {
        let body = commit.split(writer).nth(1).and_then(|rest| rest.split("\n    }\n").next()).unwrap();
        assert_eq!(body.matches("self.ring_bell()?").count(), 2, "{writer} announces before and after");
    }
    let look = include_str!("../../../src/snapshot/load.rs");
    let body = look.split("fn load_with<").nth(1).and_then(|rest| rest.split("\n    }\n").next()).unwrap();
    assert!(at(body, "let epoch = self.epoch();") < at(body, "open(&loaded)?"));
    assert!(at(body, "open(&loaded)?") < at(body, "if self.epoch() != epoch"));
}
