//! Random histories of a catalog against a model of plain maps and a naive scan: changes, statements, rollbacks, reopening,
//! and processes that are stopped, fail or lose power in the middle of any of these.
//!
//! What was acknowledged is there; what was not is there whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use proptest::prelude::*;

use super::{amount, knowledge, open, process};
use crate::catalog::{Catalog, Filter, Look, Snapshot};
use crate::entitlement::{LocalStatement, Narrowing};
use crate::error::{Error, Result, StorageError};
use crate::limits::SEARCH_LIMIT_MAX;
use crate::model::{Entry, Layer};
use crate::snapshot::storage::{Fault, MemoryStorage};

/// Words that no other word of a skill is mistaken for.
const WORDS: [&str; 5] = ["violet", "harbour", "turtle", "saxophone", "glacier"];
const SUBSCRIPTIONS: [&str; 2] = ["a", "b"];
const LAYERS: [Layer; 2] = [Layer::Synced, Layer::Local];
const IDS: u8 = 8;
/// Generations that the options keep.
const KEPT: usize = 2;

/// What one process does.
#[derive(Clone, Debug)]
enum Act {
    Update(u8, Vec<(u8, u8)>),
    Apply(u8, Vec<(u8, u8)>, Vec<u8>),
    Grant(u8),
    Revoke(u8),
    Hide(u8),
    Unhide(u8),
    Rollback(u8),
    Fold,
    Compact,
}

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Do(Act),
    /// The process ends at an operation on the storage.
    Killed(Act, u16, bool),
    /// So does the machine.
    PowerCut(Act, u16, bool, u64),
    /// An operation on the storage fails.
    Failed(Act, u16, bool),
    /// Both processes end and begin again.
    Reopen,
    /// A reader keeps a snapshot over what follows.
    Hold,
    /// Time passes, in minutes.
    Wait(u8),
}

fn act() -> impl Strategy<Value = Act> {
    let skills = |most| prop::collection::vec((0..IDS, any::<u8>()), 0..most);
    prop_oneof![
        3 => (0..2_u8, skills(8)).prop_map(|(layer, skills)| Act::Update(layer, skills)),
        5 => (0..2_u8, skills(3), prop::collection::vec(0..IDS, 0..2))
            .prop_map(|(layer, puts, removes)| Act::Apply(layer, puts, removes)),
        2 => (0..2_u8).prop_map(Act::Grant),
        2 => (0..2_u8).prop_map(Act::Revoke),
        2 => (0..IDS).prop_map(Act::Hide),
        2 => (0..IDS).prop_map(Act::Unhide),
        2 => (0..2_u8).prop_map(Act::Rollback),
        1 => Just(Act::Fold),
        1 => Just(Act::Compact),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let at = || prop_oneof![0..30_u16, 0..90_u16];
    prop_oneof![
        8 => act().prop_map(Step::Do),
        3 => (act(), at(), any::<bool>()).prop_map(|(act, at, half)| Step::Killed(act, at, half)),
        3 => (act(), at(), any::<bool>(), any::<u64>())
            .prop_map(|(act, at, half, seed)| Step::PowerCut(act, at, half, seed)),
        2 => (act(), at(), any::<bool>()).prop_map(|(act, at, full)| Step::Failed(act, at, full)),
        1 => Just(Step::Reopen),
        1 => Just(Step::Hold),
        1 => (0..120_u8).prop_map(Step::Wait),
    ]
}

/// Skills by id.
type Skills = BTreeMap<String, Entry>;

/// A layer of the model.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shelf {
    /// Nothing before the first change.
    now: Option<Skills>,
    before: Vec<Skills>,
}

impl Shelf {
    fn set(&mut self, next: Skills) {
        if next == self.skills() {
            return;
        }
        self.before.splice(0..0, self.now.replace(next));
        self.before.truncate(KEPT);
    }

    fn skills(&self) -> Skills {
        self.now.clone().unwrap_or_default()
    }
}

/// The model.
#[derive(Clone, Debug, Default, PartialEq)]
struct World {
    shelves: [Shelf; 2],
    granted: BTreeSet<String>,
    hidden: BTreeSet<String>,
}

fn id(number: u8) -> String {
    format!("skill-{number}")
}

/// The skill of a number in one of its variants.
fn entry(layer: u8, number: u8, variant: u8) -> Entry {
    let word = |number: u8| WORDS[usize::from(number) % WORDS.len()];
    let mut entry = knowledge(&id(number), &format!("{} {}.", word(variant), word(variant / 7)));
    entry.skill.tags = vec![word(variant / 3).to_owned()];
    if layer == 0 {
        let which: &[&str] = [&["a"][..], &["b"], &["a", "b"]][usize::from(variant) % 3];
        entry.subscriptions = which.iter().map(|sub| (*sub).to_owned()).collect();
    }
    entry
}

fn entries(layer: u8, skills: &[(u8, u8)]) -> Skills {
    skills.iter().map(|(number, variant)| (id(*number), entry(layer, *number, *variant))).collect()
}

impl World {
    /// The world after an act.
    fn after(&self, act: &Act) -> Self {
        let mut next = self.clone();
        match act {
            Act::Update(layer, skills) => next.shelves[usize::from(*layer)].set(entries(*layer, skills)),
            Act::Apply(layer, puts, removes) => {
                let layer_now = &mut next.shelves[usize::from(*layer)];
                let puts = entries(*layer, puts);
                let mut skills = layer_now.skills();
                skills.retain(|known, _| !removes.iter().any(|number| id(*number) == *known));
                skills.extend(puts);
                layer_now.set(skills);
            }
            Act::Grant(number) => drop(next.granted.insert(SUBSCRIPTIONS[usize::from(*number)].to_owned())),
            Act::Revoke(number) => drop(next.granted.remove(SUBSCRIPTIONS[usize::from(*number)])),
            Act::Hide(number) => drop(next.hidden.insert(id(*number))),
            Act::Unhide(number) => drop(next.hidden.remove(&id(*number))),
            Act::Rollback(layer) => {
                let layer_now = &mut next.shelves[usize::from(*layer)];
                if !layer_now.before.is_empty() {
                    let back = layer_now.before.remove(0);
                    layer_now.before.splice(0..0, layer_now.now.replace(back));
                    layer_now.before.truncate(KEPT);
                }
            }
            Act::Fold | Act::Compact => {}
        }
        next
    }

    /// What a caller sees, by a naive scan. `only` narrows to one subscription.
    fn visible(&self, only: Option<&str>) -> Skills {
        let counts = |sub: &String| self.granted.contains(sub) && only.is_none_or(|only| only == sub);
        let mut seen = self.shelves[1].skills();
        seen.extend(
            self.shelves[0].skills().into_iter().filter(|(_, entry)| entry.subscriptions.iter().any(counts)),
        );
        seen.retain(|id, _| !self.hidden.contains(id));
        seen
    }
}

/// Id, description and body of a skill.
type Told = (String, String, String);

/// What a catalog answers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answers {
    /// What is listed.
    listed: Vec<Told>,
    /// Ids of each word's search.
    found: Vec<BTreeSet<String>>,
    /// Ids of each tag's list.
    tagged: Vec<BTreeSet<String>>,
    /// Ids that a caller with the first subscription alone sees.
    narrowed: Vec<String>,
    hidden: BTreeSet<String>,
}

impl Answers {
    fn of_world(world: &World) -> Self {
        let visible = world.visible(None);
        let with = |wanted: &dyn Fn(&Entry) -> bool| -> BTreeSet<String> {
            visible.iter().filter(|(_, entry)| wanted(entry)).map(|(id, _)| id.clone()).collect()
        };
        let each = |wanted: &dyn Fn(&Entry, &str) -> bool| {
            WORDS.iter().map(|word| with(&|entry| wanted(entry, word))).collect()
        };
        Self {
            listed: visible
                .iter()
                .map(|(id, entry)| (id.clone(), entry.skill.description.clone(), entry.skill.content.clone()))
                .collect(),
            found: each(&|entry, word| entry.skill.description.contains(word) || entry.skill.tags[0] == word),
            tagged: each(&|entry, word| entry.skill.tags[0] == word),
            narrowed: world.visible(Some(SUBSCRIPTIONS[0])).into_keys().collect(),
            hidden: world.hidden.clone(),
        }
    }

    /// Asks a catalog in every way; the ways must agree.
    fn of_catalog(catalog: &Catalog) -> Result<Self> {
        let mut view = catalog.view(Narrowing::default());
        let pin = view.pin()?;
        let mut narrow = catalog.view(Narrowing::default().subscriptions([SUBSCRIPTIONS[0]]));
        let narrowed = ids(&*narrow.pin()?, &Filter::default())?;
        let listed = listed(&pin)?;
        for number in 0..IDS {
            let id = id(number);
            let there = listed.iter().any(|(listed, ..)| *listed == id);
            assert_eq!(pin.get(&id)?.is_some(), there, "get {id}");
            assert_eq!(pin.find(&id)?.is_some(), there, "find {id}");
            assert_eq!(pin.lookup(&id)?.iter().any(|skill| skill.id() == id), there, "lookup {id}");
            assert_eq!(pin.prefix(&id, 9)?.iter().any(|skill| skill.id() == id), there, "prefix {id}");
            assert_eq!(pin.fuzzy(&id, 50)?.iter().any(|skill| skill.id() == id), there, "fuzzy {id}");
        }
        let mut found = Vec::new();
        let mut tagged = Vec::new();
        for word in WORDS {
            let page = pin.search(word, &Filter::default(), SEARCH_LIMIT_MAX.min(50))?;
            found.push(page.hits.iter().map(|hit| hit.skill.id().to_owned()).collect());
            tagged.push(ids(&pin, &Filter::default().tag(word))?.into_iter().collect());
        }
        let hidden = catalog.entitlements()?.hidden.into_iter().collect();
        Ok(Self { listed, found, tagged, narrowed, hidden })
    }
}

fn ids(look: &Look, filter: &Filter) -> Result<Vec<String>> {
    Ok(look.list(filter, 50, None)?.skills.iter().map(|skill| skill.id().to_owned()).collect())
}

fn listed(look: &Look) -> Result<Vec<Told>> {
    let page = look.list(&Filter::default(), 50, None)?;
    let each = page.skills.iter().map(|skill| {
        Ok((skill.id().to_owned(), skill.description().to_owned(), skill.content()?.to_owned()))
    });
    each.collect()
}

/// Does an act. A rollback without an earlier generation does nothing.
fn run(catalog: &Catalog, act: &Act) -> Result<()> {
    let layer = |number: &u8| LAYERS[usize::from(*number)];
    let sub = |number: &u8| SUBSCRIPTIONS[usize::from(*number)].to_owned();
    match act {
        Act::Update(number, skills) => {
            let all: Vec<Entry> = entries(*number, skills).into_values().collect();
            catalog.update(layer(number), &mut |_| Ok(Some(all.clone()))).map(drop)
        }
        Act::Apply(number, puts, removes) => {
            let puts: Vec<Entry> = entries(*number, puts).into_values().collect();
            let removes = removes.iter().map(|number| id(*number)).collect();
            catalog.apply(layer(number), puts, &removes).map(drop)
        }
        Act::Grant(number) => catalog.declare(LocalStatement::Grant(sub(number))),
        Act::Revoke(number) => catalog.declare(LocalStatement::Revoke(sub(number))),
        Act::Hide(number) => catalog.declare(LocalStatement::Hide(id(*number))),
        Act::Unhide(number) => catalog.declare(LocalStatement::Unhide(id(*number))),
        Act::Rollback(number) => match catalog.rollback(layer(number)) {
            Err(Error::Storage(StorageError::NoEarlierGeneration { .. })) => Ok(()),
            other => other.map(drop),
        },
        Act::Fold => catalog.fold(),
        Act::Compact => catalog.compact().map(drop),
    }
}

/// A catalog under test, with the world that it should show.
struct Run {
    storage: Arc<MemoryStorage>,
    writer: Catalog,
    reader: Catalog,
    world: World,
    held: Vec<(Snapshot, Vec<Told>)>,
    generations: BTreeMap<Layer, u64>,
}

impl Run {
    fn new() -> Self {
        let storage = Arc::new(MemoryStorage::new());
        let (writer, reader) = (open(&process(&storage)).unwrap(), open(&process(&storage)).unwrap());
        Self {
            storage,
            writer,
            reader,
            world: World::default(),
            held: Vec::new(),
            generations: BTreeMap::new(),
        }
    }

    fn reopen(&mut self) {
        self.writer = open(&process(&self.storage)).unwrap();
        self.reader = open(&process(&self.storage)).unwrap();
    }

    fn step(&mut self, step: &Step) {
        let old = Answers::of_world(&self.world);
        match step {
            Step::Do(act) => {
                run(&self.writer, act).unwrap();
                self.world = self.world.after(act);
            }
            Step::Killed(act, at, half) => {
                let fault = if *half { Fault::StopHalfway } else { Fault::Stop };
                let done = self.with_fault(act, *at, fault);
                self.settle(act, &old, done);
            }
            Step::PowerCut(act, at, half, seed) => {
                let fault = if *half { Fault::StopHalfway } else { Fault::Stop };
                let done = self.with_fault(act, *at, fault);
                self.storage = Arc::new(self.storage.another_process().cut_power(*seed));
                self.reopen();
                self.settle(act, &old, done);
            }
            Step::Failed(act, at, full) => {
                let kind = if *full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
                let done = self.with_fault(act, *at, Fault::Fail(kind));
                self.settle(act, &old, done);
            }
            Step::Reopen => {
                self.reopen();
                let reports = self.reader.verify(None).unwrap();
                assert!(reports.iter().all(|file| file.ok), "{reports:?}");
            }
            Step::Hold => {
                let snapshot = self.reader.view(Narrowing::default()).snapshot().unwrap();
                let said = listed(&snapshot).unwrap();
                self.held.push((snapshot, said));
            }
            Step::Wait(minutes) => self.storage.advance_clock(u64::from(*minutes) * 60_000),
        }
        self.check();
    }

    /// Runs an act in a process that has a fault; whether it was acknowledged.
    fn with_fault(&self, act: &Act, at: u16, fault: Fault) -> bool {
        let victim = process(&self.storage);
        let catalog = open(&victim).unwrap();
        victim.fault_at(u64::from(at), fault);
        run(&catalog, act).is_ok()
    }

    /// Finds out whether an act that may have been interrupted happened, and makes that durable.
    fn settle(&mut self, act: &Act, old: &Answers, acknowledged: bool) {
        let survivor = open(&process(&self.storage)).unwrap();
        if survivor.status().unwrap().sync.state == "SUSPENDED" {
            assert!(matches!(act, Act::Hide(_) | Act::Revoke(_)), "only a lost mask suspends");
            assert!(!acknowledged);
            survivor.resume().unwrap();
        }
        let next = self.world.after(act);
        let new = Answers::of_world(&next);
        let seen = Answers::of_catalog(&survivor).unwrap();
        let said = survivor.entitlements().unwrap();
        assert!(seen == *old || seen == new, "neither: {seen:?}\nold: {old:?}\nnew: {new:?}\n{said:?}");
        assert!(!acknowledged || seen == new, "acknowledged and lost: {seen:?}\nnew: {new:?}\n{said:?}");
        survivor.inner.dir.announce().unwrap();
        self.world = self.choose(next, acknowledged, &survivor);
    }

    /// The world that the storage is in: the layers and their history may differ where the answers do not.
    fn choose(&self, next: World, acknowledged: bool, survivor: &Catalog) -> World {
        if acknowledged {
            return next;
        }
        let manifest = survivor.inner.dir.load().unwrap().manifest;
        let fits = |world: &World| {
            let entitled = Answers::of_world(world) == Answers::of_catalog(survivor).unwrap();
            let said = survivor.entitlements().unwrap();
            let active: BTreeSet<String> =
                said.subscriptions.into_iter().filter(|sub| sub.active).map(|sub| sub.id).collect();
            let layers = LAYERS.iter().zip(&world.shelves).all(|(layer, shelf)| {
                let kept: Vec<Entry> = survivor.entries(*layer).unwrap();
                let history = manifest.layers.get(layer.name()).map_or(0, |known| known.history.len());
                kept == shelf.skills().into_values().collect::<Vec<_>>() && history == shelf.before.len()
            });
            entitled && active == world.granted && layers
        };
        let generation_moved = LAYERS.iter().any(|layer| {
            let now = manifest.layers.get(layer.name()).map_or(0, |known| known.current.generation);
            now > self.generations.get(layer).copied().unwrap_or_default()
        });
        // A rollback between equal contents shows in the number alone.
        let candidates = if generation_moved { [&next, &self.world] } else { [&self.world, &next] };
        let found = candidates.into_iter().find(|world| fits(world));
        found.unwrap_or_else(|| panic!("the catalog is in neither world: {:?}\n{next:?}", self.world)).clone()
    }

    fn check(&mut self) {
        let expected = Answers::of_world(&self.world);
        for (who, catalog) in [("writer", &self.writer), ("reader", &self.reader)] {
            assert_eq!(Answers::of_catalog(catalog).unwrap(), expected, "{who}");
        }
        for (layer, shelf) in LAYERS.iter().zip(&self.world.shelves) {
            let kept = self.reader.entries(*layer).unwrap();
            assert_eq!(kept, shelf.skills().into_values().collect::<Vec<_>>(), "{layer:?}");
        }
        for (name, known) in &self.reader.inner.dir.load().unwrap().manifest.layers {
            let layer = Layer::from_name(name).unwrap();
            let before = self.generations.insert(layer, known.current.generation).unwrap_or_default();
            assert!(known.current.generation >= before, "the generation of {name} went back");
        }
        for (snapshot, said) in &self.held {
            assert_eq!(listed(snapshot).unwrap(), *said, "a held snapshot changed");
        }
        if self.held.len() > 3 {
            self.held.remove(0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: amount(60, 1_000, 10_000), max_shrink_iters: 2_000, failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_history_with_stops_failures_and_power_cuts_answers_like_the_model(
        steps in prop::collection::vec(step(), 1..25)
    ) {
        let mut run = Run::new();
        for step in &steps {
            run.step(step);
        }
    }
}
