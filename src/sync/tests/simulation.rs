//! Random histories of a platform, a network, a disk and a clock, each from one seed, against what must always hold.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::json;

use super::platform::{Inner, Simulated, Weather, skill};
use super::{BOTH, World, now};
use crate::catalog::tests::amount;
use crate::entitlement::Removal;
use crate::snapshot::storage::Fault;
use crate::sync::clock::Dice;
use crate::sync::{Due, Failure, Outcome};

const SUBSCRIPTIONS: [&str; 2] = ["a", "b"];
const IDS: u64 = 8;

/// What is known besides the catalog.
#[derive(Default)]
struct Known {
    /// Removals that were acknowledged, by (subscription, id), with their counter: they hold until a document reaches it.
    removed: BTreeMap<(String, String), u64>,
    /// Highest counters that were seen in effect.
    seq: u64,
    ent_seq: BTreeMap<String, u64>,
}

struct Simulation {
    seed: u64,
    dice: Dice,
    world: World,
    known: Known,
    log: Vec<String>,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let world = World::new(&SUBSCRIPTIONS);
        {
            let mut inner = world.platform.0.lock();
            inner.page_items = usize::try_from(dice.between(1, 5)).unwrap();
            inner.shuffle = (dice.between(0, 1) == 1).then_some(seed);
            inner.forgets = dice.between(0, 9) == 0;
        }
        Self { seed, dice, world, known: Known::default(), log: Vec::new() }
    }

    fn subscription(&mut self) -> &'static str {
        SUBSCRIPTIONS[usize::try_from(self.dice.between(0, 1)).unwrap()]
    }

    fn id(&mut self) -> String {
        format!("skill-{}", self.dice.between(0, IDS - 1))
    }

    fn run(&mut self) {
        for _ in 0..self.dice.between(8, 24) {
            self.step();
        }
        // The weather clears: whatever happened, two rounds later everything is as the platform has it.
        self.world.platform.0.lock().weather.clear();
        self.world.storage.advance_clock(400_000);
        let _ = self.world.catalog.resume();
        let _ = self.world.engine.resume();
        for _ in 0..4 {
            let round = self.world.round();
            self.log.push(format!("final {:?} {:?}", round.result, round.errors));
        }
        self.same_as_truth();
    }

    fn step(&mut self) {
        let choice = self.dice.between(0, 17);
        let sub = self.subscription();
        let id = self.id();
        self.log.push(format!("{choice} {sub} {id}"));
        match choice {
            0..=4 => {
                let mut value = skill(&id, &format!("text {}", self.dice.roll() % 1_000));
                value["version"] = json!(format!("{}.0.0", self.dice.between(1, 3)));
                self.world.platform.put(sub, value);
            }
            5 | 6 => self.world.platform.take(sub, &id),
            7 => {
                // One bad item among the others.
                let broken = json!({"id": id, "kind": "knowledge", "name": "", "description": 3});
                self.world.platform.put(sub, broken);
            }
            8 => {
                let status = ["active", "active", "suspended", "expired"];
                let status = status[usize::try_from(self.dice.between(0, 3)).unwrap()];
                self.world.platform.entitle(sub, |truth| truth.status = status.to_owned());
            }
            9 => {
                self.world.platform.entitle(sub, |truth| truth.revoked.clear());
            }
            10 => self.webhook(sub, &id),
            11 => {
                let wall = self.dice.roll() % 4_000_000_000_000;
                self.world.storage.set_wall_clock(wall);
            }
            12 => self.interrupted(),
            13 => {
                let twin = self.world.storage.another_process();
                self.world.reopen(twin);
            }
            14 => self.bad_weather(),
            15 => {
                // Restored from a backup of its own: another timeline.
                let mut inner = self.world.platform.0.lock();
                inner.history.0 += 1;
                inner.history.1 = format!("r{}", inner.history.0);
            }
            _ => self.round(),
        }
        self.always();
    }

    /// A removal is pushed and acknowledged.
    fn webhook(&mut self, sub: &str, id: &str) {
        let ent_seq = self.world.platform.entitle(sub, |truth| {
            let ent_seq = truth.ent_seq;
            truth.revoked.insert(id.to_owned(), ent_seq);
        });
        let history = {
            let inner = self.world.platform.0.lock();
            format!("{}:{}", inner.history.0, inner.history.1).parse().unwrap()
        };
        let removal = Removal::new(sub, [id]).history(history).ent_seq(ent_seq);
        for _ in 0..self.dice.between(1, 2) {
            self.world.catalog.removed(&removal).unwrap();
            self.known.removed.insert((sub.to_owned(), id.to_owned()), ent_seq);
        }
    }

    fn bad_weather(&mut self) {
        let platform = &self.world.platform;
        for _ in 0..self.dice.between(1, 4) {
            platform.weather(match self.dice.between(0, 8) {
                0 => Weather::Fails(Failure::Server { status: 502 }),
                1 => Weather::Fails(Failure::WrongContentType { content_type: "text/html".to_owned() }),
                2 => Weather::Fails(Failure::CutOff { detail: "at byte 7".to_owned() }),
                3 => Weather::Fails(Failure::Forbidden),
                4 => Weather::Fails(Failure::PageExpired),
                5 => Weather::Fails(Failure::PageTooLarge),
                6 => Weather::Garbled(json!({"spp": 1, "items": [], "kind": "full", "history": "1:a"})),
                7 => Weather::Garbled(json!({"error": "a proxy"})),
                _ => Weather::Replayed,
            });
        }
        self.round();
    }

    /// A round that the disk or the end of the process interrupts; then perhaps a power cut.
    fn interrupted(&mut self) {
        let step = self.dice.between(0, 60);
        let fault = match self.dice.between(0, 3) {
            0 => Fault::Stop,
            1 => Fault::StopHalfway,
            2 => Fault::Fail(io::ErrorKind::StorageFull),
            _ => Fault::Fail(io::ErrorKind::Other),
        };
        self.log.push(format!("{fault:?} at {step}"));
        self.world.storage.fault_at(step, fault);
        drop(now(self.world.engine.round(BOTH, self.dice.between(0, 3) == 0)));
        let storage = if self.dice.between(0, 1) == 0 {
            self.world.storage.cut_power(self.seed)
        } else {
            self.world.storage.another_process()
        };
        self.world.reopen(storage);
    }

    fn round(&mut self) {
        let before = self.world.ids();
        let due = match self.dice.between(0, 3) {
            0 => Due { entitlements: true, catalog: false },
            _ => BOTH,
        };
        let round = now(self.world.engine.round(due, self.dice.between(0, 9) == 0));
        self.world.storage.advance_clock(self.dice.between(1_000, 90_000));
        self.log.push(format!("round {:?} {:?}", round.result, round.errors));
        if round.result == Outcome::Unchanged {
            assert_eq!(self.world.ids(), before, "unchanged, but something changed");
        }
    }

    /// What holds after every step.
    fn always(&mut self) {
        let status = self.world.catalog.status().unwrap();
        let statements = self.world.catalog.entitlements().unwrap();
        let active: BTreeSet<&str> =
            statements.subscriptions.iter().filter(|one| one.active).map(|one| one.id.as_str()).collect();
        // P4, P8: what was pushed and acknowledged stays hidden until a document of that counter or a later one came.
        for ((sub, id), ent_seq) in &self.known.removed {
            let reached = status
                .sync
                .subscriptions
                .iter()
                .any(|one| one.id == *sub && one.ent_seq.is_some_and(|taken| taken >= *ent_seq));
            let narrowed = crate::entitlement::Narrowing::default().subscriptions([sub.as_str()]);
            let others = active.iter().any(|other| other != sub);
            if !reached && !others {
                let seen = self.world.seen_by(narrowed);
                assert!(seen.iter().all(|(seen, _)| seen != id), "P4: {id} of {sub} shows");
            }
        }
        // P9: no counter goes back within a timeline, and no seen content is older than what was seen.
        for one in &status.sync.subscriptions {
            let history = self.world.platform.0.lock().history.0;
            let key = format!("{history}/{}", one.id);
            let known = self.known.ent_seq.entry(key).or_default();
            let now = one.ent_seq.unwrap_or(0);
            if self.world.platform.truth(&one.id).ent_seq >= now {
                assert!(now >= *known, "P9: ent_seq of {} went from {known} to {now}", one.id);
                *known = now;
            }
        }
        self.known.seq = self.known.seq.max(status.sync.seq.unwrap_or(0));
        // Nothing damaged is ever left behind.
        let seen = self.world.ids();
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
    }

    /// P5, P7: everything is as the platform has it.
    fn same_as_truth(&self) {
        let mut expected: BTreeSet<String> = BTreeSet::new();
        for sub in SUBSCRIPTIONS {
            let truth = self.world.platform.truth(sub);
            if truth.status != "active" {
                continue;
            }
            let good = truth.items.iter().filter(|(_, (_, value))| value["name"] != "");
            expected.extend(good.map(|(id, _)| id.clone()).filter(|id| !truth.revoked.contains_key(id)));
        }
        let seen: BTreeSet<String> = self.world.ids().into_iter().collect();
        // A broken item may show its last good version, and must show no other.
        let broken: BTreeSet<String> = SUBSCRIPTIONS
            .iter()
            .flat_map(|sub| self.world.platform.truth(sub).items)
            .filter(|(_, (_, value))| value["name"] == "")
            .map(|(id, _)| id)
            .collect();
        assert!(expected.is_subset(&seen), "missing: {:?}", expected.difference(&seen));
        let more: Vec<&String> = seen.difference(&expected).filter(|id| !broken.contains(*id)).collect();
        assert!(more.is_empty(), "too many: {more:?}");
        // The same from nothing, in another order.
        let fresh = World::new(&SUBSCRIPTIONS);
        *fresh.platform.0.lock() = copy(&self.world.platform);
        let round = fresh.round();
        assert!(round.errors.is_empty(), "{:?}", round.errors);
        if broken.is_empty() {
            assert_eq!(fresh.seen(), self.world.seen(), "P5: incremental differs from full");
        }
    }
}

/// A platform with the same truth and no weather, told in another order.
fn copy(platform: &Simulated) -> Inner {
    let inner = platform.0.lock();
    Inner {
        truths: inner.truths.clone(),
        history: inner.history.clone(),
        page_items: 2,
        shuffle: Some(7),
        ..Inner::default()
    }
}

/// Seeds that failed once, for ever.
const FAILED_ONCE: [u64; 2] = [234, 670];

#[test]
fn any_history_from_a_seed_ends_as_the_platform_has_it() {
    let seeds: Vec<u64> = match std::env::var("REPERTOIRE_TEST_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => FAILED_ONCE.into_iter().chain(0..u64::from(amount(150, 1_000, 10_000))).collect(),
    };
    for seed in seeds {
        let mut simulation = Simulation::new(seed);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| simulation.run()));
        if let Err(cause) = done {
            let log = simulation.log.join("\n");
            panic!(
                "seed {seed} fails; repeat it with REPERTOIRE_TEST_SEED={seed}\n{log}\n{:?}",
                cause.downcast_ref::<String>()
            );
        }
    }
}
