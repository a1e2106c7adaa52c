//! What a caller is answered, in every way to ask: it depends on what the caller may see, and on nothing else. Neither what
//! is hidden, nor the way in which the layers came to be, changes a byte.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{amount, open};
use crate::catalog::{Catalog, Filter, LabelledQuery, Look, SkillRef, evaluate};
use crate::entitlement::{LocalStatement, Narrowing};
use crate::error::{Error, Result, StorageError};
use crate::model::{App, Entry, Kind, Layer, Risk, Skill, Status, Step};
use crate::snapshot::storage::MemoryStorage;

/// Words of names, texts and requests.
const WORDS: [&str; 12] = [
    "camera",
    "photo",
    "photos",
    "wifi",
    "alarm",
    "open",
    "the",
    "settings",
    "\u{6253}\u{5f00}",
    "\u{76f8}\u{673a}",
    "\u{43a}\u{430}\u{440}\u{442}\u{430}",
    "kamera",
];
/// The subscription that the caller has.
const GRANTED: &str = "granted";
/// The one that it has not.
const OTHER: &str = "other";

/// A skill by numbers into the words.
#[derive(Clone, Debug)]
struct Draft {
    name: Vec<usize>,
    description: Vec<usize>,
    alias: Vec<usize>,
    example: Vec<usize>,
    body: Vec<usize>,
    tag: usize,
    flow: bool,
    old: bool,
}

fn words(numbers: &[usize]) -> String {
    numbers.iter().map(|number| WORDS[*number]).collect::<Vec<_>>().join(" ")
}

impl Draft {
    fn entry(&self, id: &str) -> Entry {
        let kind = if self.flow { Kind::FlowTemplate } else { Kind::Knowledge };
        let mut skill = Skill::new(id, kind, words(&self.name), format!("{}.", words(&self.description)));
        skill.aliases = vec![words(&self.alias)];
        skill.examples = vec![words(&self.example)];
        skill.tags = vec![WORDS[self.tag].to_owned()];
        skill.apps = vec![App {
            package: format!("org.app{}", self.tag % 3),
            min_version_code: None,
            max_version_code: None,
        }];
        if self.flow {
            let Value::Object(args) = json!({"key": "back"}) else { unreachable!("an object") };
            skill.steps = vec![Step::new("press_key", args)];
        } else {
            skill.content = words(&self.body);
        }
        if self.old {
            skill.status = Status::Deprecated { reason: "old".to_owned(), replaced_by: None };
        }
        Entry::new(skill)
    }
}

fn draft() -> impl Strategy<Value = Draft> {
    let some = |from, to| prop::collection::vec(0..WORDS.len(), from..to);
    (some(1, 4), some(1, 6), some(1, 4), some(1, 5), some(1, 12), 0..WORDS.len(), any::<bool>(), 0..5_u8)
        .prop_map(|(name, description, alias, example, body, tag, flow, old)| Draft {
            name,
            description,
            alias,
            example,
            body,
            tag,
            flow,
            old: old == 0,
        })
}

/// Skills with ids that begin with a letter, some of which skills of other letters share a beginning with.
fn drafts(most: usize) -> impl Strategy<Value = Vec<(u8, Draft)>> {
    prop::collection::btree_map(0..40_u8, draft(), 0..most).prop_map(|drafts| drafts.into_iter().collect())
}

fn entries(prefix: &str, drafts: &[(u8, Draft)], subscriptions: &[&str]) -> Vec<Entry> {
    let entry = |(number, draft): &(u8, Draft)| {
        let mut entry = draft.entry(&format!("{prefix}{number}"));
        entry.subscriptions = subscriptions.iter().map(|sub| (*sub).to_owned()).collect();
        entry
    };
    drafts.iter().map(entry).collect()
}

/// What there is: what the caller sees, and what is kept from it in three ways.
#[derive(Clone, Debug)]
struct World {
    local: Vec<(u8, Draft)>,
    synced: Vec<(u8, Draft)>,
    unseen: Unseen,
}

#[derive(Clone, Debug)]
struct Unseen {
    /// Of a subscription that the caller has not; the ids of some are those of local skills.
    synced: Vec<(u8, Draft)>,
    /// Local, and hidden by a statement.
    local: Vec<(u8, Draft)>,
    /// Learned from one that is hidden.
    learned: Vec<(u8, Draft)>,
}

fn unseen() -> impl Strategy<Value = Unseen> {
    (drafts(14), drafts(8), drafts(5)).prop_map(|(synced, local, learned)| Unseen { synced, local, learned })
}

fn world() -> impl Strategy<Value = World> {
    (drafts(12), drafts(10), unseen()).prop_map(|(local, synced, unseen)| World { local, synced, unseen })
}

impl World {
    fn entries(&self, layer: Layer) -> Vec<Entry> {
        let unseen = &self.unseen;
        match layer {
            Layer::Synced => {
                let mut all = entries("s", &self.synced, &[GRANTED, OTHER]);
                // Every second one wants the id of a local skill, which shows all the same.
                let (as_local, own): (Vec<_>, Vec<_>) =
                    unseen.synced.iter().cloned().partition(|(number, _)| number % 2 == 0);
                all.extend(entries("l", &as_local, &[OTHER]));
                all.extend(entries("t", &own, &[OTHER]));
                all
            }
            Layer::Learned => {
                let mut all = entries("d", &unseen.learned, &[]);
                for entry in &mut all {
                    entry.skill.derived_from = vec!["h0".to_owned()];
                }
                all
            }
            _ => [entries("l", &self.local, &[]), entries("h", &unseen.local, &[])].concat(),
        }
    }

    /// Everything that is visible, by id.
    fn visible(&self) -> BTreeSet<String> {
        let local = self.local.iter().map(|(number, _)| format!("l{number}"));
        local.chain(self.synced.iter().map(|(number, _)| format!("s{number}"))).collect()
    }

    fn put(&self, catalog: &Catalog, layer: Layer) {
        let all = self.entries(layer);
        catalog.update(layer, &mut |_| Ok(Some(all.clone()))).unwrap();
    }
}

/// A catalog in memory with the statements under which a world's unseen skills are unseen.
fn catalog() -> Catalog {
    let catalog = open(&Arc::new(MemoryStorage::new())).unwrap();
    catalog.declare(LocalStatement::Grant(GRANTED.to_owned())).unwrap();
    for number in 0..40 {
        catalog.declare(LocalStatement::Hide(format!("h{number}"))).unwrap();
    }
    catalog
}

fn filled(world: &World) -> Catalog {
    let catalog = catalog();
    for layer in [Layer::Synced, Layer::Local, Layer::Learned] {
        world.put(&catalog, layer);
    }
    catalog
}

/// Everything that a caller can be answered, as text, and the ids in it.
#[derive(Debug, Default, PartialEq)]
struct Transcript {
    text: String,
    ids: BTreeSet<String>,
}

impl Transcript {
    fn of(catalog: &Catalog, requests: &[Vec<usize>]) -> Self {
        let mut view = catalog.view(Narrowing::default());
        let pin = view.pin().unwrap();
        let mut transcript = Self::default();
        transcript.lists(&pin).unwrap();
        transcript.ids(&pin).unwrap();
        for request in requests {
            transcript.request(&pin, &words(request)).unwrap();
        }
        let labelled: Vec<LabelledQuery> = requests
            .iter()
            .map(|request| LabelledQuery::new(words(request), vec!["l1".to_owned(), "h1".to_owned()]))
            .collect();
        let figures = evaluate(&pin, &labelled).unwrap();
        transcript.note(&format!("eval {:?} {:?}", figures.quality(), figures.misses));
        transcript
    }

    fn note(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn skill(&mut self, skill: &SkillRef<'_>) {
        self.ids.insert(skill.id().to_owned());
        let risks = (skill.risk(), skill.effective_risk(), skill.layer());
        let line = format!("  {} {} {risks:?} {:?}", skill.id(), skill.name(), skill.status());
        self.note(&line);
    }

    fn lists(&mut self, look: &Look) -> Result<()> {
        let filters = [
            Filter::default(),
            Filter::default().kind(Kind::FlowTemplate),
            Filter::default().tag(WORDS[0]),
            Filter::default().app("org.app1"),
            Filter::default().risk(Risk::Low),
            Filter::default().layer(Layer::Synced),
        ];
        for filter in &filters {
            let mut cursor = None;
            loop {
                let page = look.list(filter, 3, cursor.as_deref())?;
                self.note(&format!("list {} {:?}", page.total, page.next_cursor));
                page.skills.iter().for_each(|skill| self.skill(skill));
                cursor = page.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Asks for every id that there can be, seen or unseen.
    fn ids(&mut self, look: &Look) -> Result<()> {
        for number in 0..40 {
            for prefix in ["l", "s", "h", "t", "d"] {
                let id = format!("{prefix}{number}");
                let found = look.get(&id)?;
                self.note(&format!("get {id} {}", found.is_some()));
                if let Some(skill) = found {
                    self.skill(&skill);
                    let whole = skill.to_skill()?.canonical_json();
                    self.note(&whole);
                }
                match look.resolve(&id, &Map::new()) {
                    Ok(steps) => self.note(&format!("{steps:?}")),
                    Err(error) => self.note(&error.to_string()),
                }
                let known = look.lookup(&id)?;
                known.iter().for_each(|skill| self.skill(skill));
            }
        }
        Ok(())
    }

    fn request(&mut self, look: &Look, request: &str) -> Result<()> {
        for filter in [Filter::default(), Filter::default().tag(WORDS[1])] {
            let page = look.search(request, &filter, 5)?;
            let mut line = format!("search {request} {} {}", page.total, page.confidence);
            for hit in &page.hits {
                write!(line, " {:?} {:?}", hit.score, hit.skill.why(request)?).unwrap();
            }
            self.note(&line);
            page.hits.iter().for_each(|hit| self.skill(&hit.skill));
        }
        let answer = look.match_request(request)?;
        self.note(&format!("match {} {} {:?}", answer.reason, answer.confidence, answer.exact_command));
        answer.skill.iter().chain(&answer.candidates).for_each(|skill| self.skill(skill));
        let typed: String = request.chars().skip(1).collect();
        for (name, skills) in [
            ("lookup", look.lookup(request)?),
            ("prefix", look.prefix(&request.chars().take(2).collect::<String>(), 4)?),
            ("fuzzy", look.fuzzy(&typed, 4)?),
        ] {
            self.note(name);
            skills.iter().for_each(|skill| self.skill(skill));
        }
        Ok(())
    }
}

fn requests() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0..WORDS.len(), 1..5), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: amount(24, 200, 2_000), ..ProptestConfig::default() })]

    #[test]
    fn what_is_hidden_changes_no_byte_of_any_answer(
        world in world(),
        others in prop::collection::vec(unseen(), 1..3),
        requests in requests(),
    ) {
        let catalog = filled(&world);
        let told = Transcript::of(&catalog, &requests);
        prop_assert!(told.ids.is_subset(&world.visible()), "{:?} of {:?}", told.ids, world.visible());
        for unseen in others {
            let world = World { unseen, ..world.clone() };
            // Beside a catalog that never held anything else, and one that changes.
            prop_assert_eq!(&Transcript::of(&filled(&world), &requests), &told);
            for layer in [Layer::Synced, Layer::Local, Layer::Learned] {
                world.put(&catalog, layer);
                prop_assert_eq!(&Transcript::of(&catalog, &requests), &told);
            }
        }
    }

    #[test]
    fn the_way_a_layer_came_to_be_changes_no_answer(
        world in world(),
        other in world(),
        order in any::<u64>(),
        requests in requests(),
    ) {
        let told = Transcript::of(&filled(&world), &requests);
        // One by one, in another order, over something else that leaves again.
        let catalog = catalog();
        other.put(&catalog, Layer::Local);
        world.put(&catalog, Layer::Synced);
        let wanted = world.entries(Layer::Local);
        let keep: BTreeSet<String> = wanted.iter().map(|entry| entry.skill.id.clone()).collect();
        let gone = other.entries(Layer::Local).into_iter().map(|entry| entry.skill.id);
        let gone: BTreeSet<String> = gone.filter(|id| !keep.contains(id)).collect();
        let mut shuffled = wanted;
        shuffled.sort_by_key(|entry| {
            entry.skill.id.bytes().fold(order, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        });
        for part in shuffled.chunks(5) {
            catalog.apply(Layer::Local, part.to_vec(), &BTreeSet::new()).unwrap();
        }
        catalog.apply(Layer::Local, Vec::new(), &gone).unwrap();
        world.put(&catalog, Layer::Learned);
        prop_assert_eq!(&Transcript::of(&catalog, &requests), &told, "small changes");
        catalog.compact().unwrap();
        prop_assert_eq!(&Transcript::of(&catalog, &requests), &told, "compacted");
        // A change of a layer and the way back.
        let before = catalog.status().unwrap();
        other.put(&catalog, Layer::Synced);
        let generation = |status: &crate::catalog::Status| {
            status.layers.iter().find(|layer| layer.layer == Layer::Synced).map(|layer| layer.generation)
        };
        if generation(&before) != generation(&catalog.status().unwrap()) {
            match catalog.rollback(Layer::Synced) {
                // Before its first generation a layer has nothing to go back to.
                Err(Error::Storage(StorageError::NoEarlierGeneration { .. })) => {
                    prop_assert!(world.entries(Layer::Synced).is_empty());
                    world.put(&catalog, Layer::Synced);
                }
                done => drop(done.unwrap()),
            }
        }
        prop_assert_eq!(&Transcript::of(&catalog, &requests), &told, "rolled back");
        world.put(&catalog, Layer::Local);
        prop_assert_eq!(&Transcript::of(&catalog, &requests), &told, "swapped");
    }
}
