//! What the platform publishes: a catalog and a statement for each subscription, each with a counter that only grows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::limits::PLATFORM_REMOVED_KEPT_MAX;
use crate::platform::folder::{Reading, Shelf};

/// Everything that is published.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) history: History,
    pub(crate) subscriptions: BTreeMap<String, Subscription>,
    /// Files beside skills by the SHA-256 of their bytes.
    pub(crate) files: HashMap<String, PathBuf>,
}

/// The platform's own timeline. A new start is a new one, since counters begin again.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) counter: u64,
    pub(crate) random: String,
}

/// One subscription.
#[derive(Debug, Default)]
pub(crate) struct Subscription {
    pub(crate) items: BTreeMap<String, Item>,
    /// Skills that left, with the counter of their leaving.
    pub(crate) removed: BTreeMap<String, u64>,
    /// Deltas from before this counter cannot be answered any more.
    pub(crate) floor: u64,
    pub(crate) seq: u64,
    pub(crate) ent_seq: u64,
    /// Members of the entitlements document, without the counters.
    statement: Map<String, Value>,
    revoked: BTreeMap<String, u64>,
}

/// One skill as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) seq: u64,
    /// SHA-256 of the RFC 8785 form, lower-case hexadecimal.
    pub(crate) digest: String,
    pub(crate) skill: Value,
    /// Length of the RFC 8785 form.
    pub(crate) bytes: usize,
    /// The file it is from.
    pub(crate) path: String,
}

/// What changed for one subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) subscription: String,
    pub(crate) history: String,
    pub(crate) seq: Option<u64>,
    pub(crate) ent_seq: Option<u64>,
    /// Ids that are revoked now and were not before.
    pub(crate) revoked: Vec<String>,
}

impl Store {
    /// Nothing yet, in a history that is newer than those of all earlier starts.
    pub(crate) fn new(random: String) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let counter = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        Self { history: History { counter, random }, subscriptions: BTreeMap::new(), files: HashMap::new() }
    }

    /// Takes what the folder holds now; answers what changed.
    pub(crate) fn take(&mut self, reading: Reading) -> Vec<Change> {
        let Reading { shelves, statements, files, .. } = reading;
        self.files = files;
        let stated = statements.as_ref().map(|statements| statements.keys().cloned());
        let mut names: BTreeSet<String> =
            shelves.keys().cloned().chain(stated.into_iter().flatten()).collect();
        if statements.is_none() {
            // A file that cannot be read takes nothing away.
            names.extend(self.subscriptions.keys().cloned());
        }
        self.subscriptions.retain(|name, _| names.contains(name));
        let mut shelves = shelves;
        let mut changes = Vec::new();
        for name in names {
            let new = !self.subscriptions.contains_key(&name);
            let subscription = self.subscriptions.entry(name.clone()).or_default();
            let catalog = subscription.take_shelf(shelves.remove(&name).unwrap_or_default());
            let (stated, revoked) = match &statements {
                Some(statements) => subscription.take_statement(statements.get(&name)),
                None if new => subscription.take_statement(None),
                None => (false, Vec::new()),
            };
            if new || catalog || stated {
                changes.push(Change {
                    subscription: name,
                    history: self.history.text(),
                    seq: (new || catalog).then_some(subscription.seq),
                    ent_seq: (new || stated).then_some(subscription.ent_seq),
                    revoked,
                });
            }
        }
        changes
    }
}

impl History {
    /// `{counter}:{random}`, as documents carry it.
    pub(crate) fn text(&self) -> String {
        format!("{}:{}", self.counter, self.random)
    }
}

impl Subscription {
    /// Whether anything changed. Every change gets a number of its own, in the order of ids.
    fn take_shelf(&mut self, stock: Shelf) -> bool {
        let before = self.seq;
        let gone: Vec<String> = self
            .items
            .iter()
            .filter(|(id, item)| !stock.items.contains_key(*id) && !stock.unread.contains(&item.path))
            .map(|(id, _)| id.clone())
            .collect();
        for id in gone {
            self.items.remove(&id);
            self.seq += 1;
            self.removed.insert(id, self.seq);
        }
        for (id, mut item) in stock.items {
            if self.items.get(&id).is_some_and(|known| known.digest == item.digest) {
                continue;
            }
            self.seq += 1;
            item.seq = self.seq;
            self.removed.remove(&id);
            self.items.insert(id, item);
        }
        while self.removed.len() > PLATFORM_REMOVED_KEPT_MAX {
            let Some((id, seq)) =
                self.removed.iter().min_by_key(|(_, seq)| **seq).map(|(id, seq)| (id.clone(), *seq))
            else {
                break;
            };
            self.removed.remove(&id);
            self.floor = seq;
        }
        self.seq != before
    }

    /// Whether anything changed, and the ids that are revoked since.
    fn take_statement(&mut self, written: Option<&Value>) -> (bool, Vec<String>) {
        let mut statement = written.and_then(Value::as_object).cloned().unwrap_or_default();
        for counted in ["spp", "history", "subscription", "signature"] {
            statement.remove(counted);
        }
        let stated_seq = statement.remove("ent_seq").and_then(|seq| seq.as_u64()).unwrap_or(0);
        statement.entry("status").or_insert_with(|| json!("active"));
        statement.entry("grants").or_insert_with(|| json!({"mode": "all"}));
        let listed = statement.remove("revoked").unwrap_or_default();
        let listed: Vec<(String, Option<u64>)> = listed
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let id = entry.as_str().or_else(|| entry["id"].as_str())?;
                Some((id.to_owned(), entry["ent_seq"].as_u64()))
            })
            .collect();
        let ids: BTreeSet<&String> = listed.iter().map(|(id, _)| id).collect();
        let same = self.ent_seq > 0
            && self.statement == statement
            && self.ent_seq >= stated_seq
            && ids.iter().copied().eq(self.revoked.keys());
        if same {
            return (false, Vec::new());
        }
        let newest = listed.iter().filter_map(|(_, seq)| *seq).max().unwrap_or(0);
        self.ent_seq = (self.ent_seq + 1).max(stated_seq).max(newest);
        let known = std::mem::take(&mut self.revoked);
        let mut fresh = Vec::new();
        for (id, seq) in listed {
            let seq = seq.or_else(|| known.get(&id).copied()).unwrap_or(self.ent_seq);
            if !known.contains_key(&id) {
                fresh.push(id.clone());
            }
            self.revoked.insert(id, seq);
        }
        self.statement = statement;
        (true, fresh)
    }

    /// The entitlements document, not signed yet.
    pub(crate) fn entitlements(&self, name: &str, history: &History) -> Map<String, Value> {
        let mut document = self.statement.clone();
        let revoked = self.revoked.iter().map(|(id, seq)| json!({"id": id, "ent_seq": seq}));
        document.insert("spp".to_owned(), json!(1));
        document.insert("subscription".to_owned(), json!(name));
        document.insert("history".to_owned(), json!(history.text()));
        document.insert("ent_seq".to_owned(), json!(self.ent_seq));
        document.insert("revoked".to_owned(), revoked.collect());
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, path: &str) -> Item {
        Item {
            seq: 0,
            digest: text.to_owned(),
            skill: json!({"text": text}),
            bytes: 1,
            path: path.to_owned(),
        }
    }

    fn reading(items: &[(&str, &str)], statements: Option<Value>) -> Reading {
        let mut reading = Reading::default();
        let shelf = reading.shelves.entry("s".to_owned()).or_default();
        shelf.items = items.iter().map(|(id, text)| ((*id).to_owned(), item(text, id))).collect();
        reading.statements =
            Some(statements.and_then(|value| value.as_object().cloned()).unwrap_or_default());
        reading
    }

    #[test]
    fn every_change_gets_a_number_of_its_own_and_nothing_else_does() {
        let mut store = Store::new("r".to_owned());
        let changes = store.take(reading(&[("a", "1"), ("b", "1")], None));
        assert_eq!((changes[0].seq, changes[0].ent_seq), (Some(2), Some(1)));
        assert_eq!(store.take(reading(&[("a", "1"), ("b", "1")], None)), []);
        let changes = store.take(reading(&[("b", "2"), ("c", "1")], None));
        assert_eq!((changes[0].seq, changes[0].ent_seq), (Some(5), None));
        let subscription = &store.subscriptions["s"];
        assert_eq!(subscription.removed["a"], 3);
        assert_eq!((subscription.items["b"].seq, subscription.items["c"].seq), (4, 5));
    }

    #[test]
    fn a_file_that_cannot_be_read_keeps_its_skill() {
        let mut store = Store::new("r".to_owned());
        store.take(reading(&[("a", "1")], None));
        let mut broken = reading(&[], None);
        broken.shelves.get_mut("s").unwrap().unread.insert("a".to_owned());
        assert_eq!(store.take(broken), []);
        assert_eq!(store.subscriptions["s"].items.len(), 1);
    }

    #[test]
    fn a_revocation_moves_the_counter_of_statements_and_is_told_once() {
        let mut store = Store::new("r".to_owned());
        store.take(reading(&[("a", "1")], None));
        let revoked = json!({"s": {"revoked": ["a"]}});
        let changes = store.take(reading(&[("a", "1")], Some(revoked.clone())));
        assert_eq!((changes[0].seq, changes[0].ent_seq), (None, Some(2)));
        assert_eq!(changes[0].revoked, ["a"]);
        assert_eq!(store.take(reading(&[("a", "1")], Some(revoked))), []);
        let document = store.subscriptions["s"].entitlements("s", &store.history);
        assert_eq!(document["revoked"], json!([{"id": "a", "ent_seq": 2}]));
        let stated = json!({"s": {"ent_seq": 9, "revoked": [{"id": "a", "ent_seq": 8}]}});
        let changes = store.take(reading(&[("a", "1")], Some(stated)));
        assert_eq!((changes[0].ent_seq, changes[0].revoked.len()), (Some(9), 0));
    }
}
