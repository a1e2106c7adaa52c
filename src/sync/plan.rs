//! From a whole answer and what stands here to one change: pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::{Content, Item, Journal, Shelf, SyncBase, SyncChange};
use crate::error::{Error, Problem, StorageError};
use crate::limits::LAYER_SKILLS_MAX;
use crate::model::{ContentRoot, Digest, Entry, Skill, compare_versions};
use crate::sync::fetch::Batch;
use crate::sync::refusal::SyncError;
use crate::sync::{History, ItemBody, PageKind, WireItem};

/// What an answer leads to.
#[derive(Debug)]
pub(crate) enum Plan {
    /// What stands is what the platform has.
    Nothing,
    /// A whole catalog that is empty, or at most half of what was: it waits for a second one with this root.
    Hold(Digest),
    /// To be activated.
    Change(Box<Planned>),
}

/// A change with what is told of it.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) change: SyncChange,
    /// Items of the answer that were put in.
    pub(crate) items: u64,
    /// Items that went.
    pub(crate) removed: u64,
}

/// What an answer says of one id.
enum Said {
    Item(Box<WireItem>),
    Gone(Option<u64>),
}

/// Plans. `held` is the root that waits for a second one.
///
/// # Errors
/// A counter or timeline goes back; the result is not what the platform says; the base cannot be read.
pub(crate) fn plan(
    subscription: &str,
    base: &SyncBase,
    mut batch: Batch,
    held: Option<Digest>,
) -> Result<Plan, SyncError> {
    let trust = base.trust(subscription);
    let old = base.journal.shelves.get(subscription).cloned().unwrap_or_default();
    let back = |what, got: String, known: String| SyncError::Rollback { what, got, known };
    if batch.history == History::default() {
        // A platform that names no timeline goes on with the one that is known.
        batch.history = trust.history.clone();
    }
    let history = &batch.history;
    let moved_on = history.counter > trust.history.counter;
    if !moved_on && *history != trust.history && trust != crate::catalog::Trust::default() {
        return Err(back("history", history.to_string(), trust.history.to_string()));
    }
    let known_seq = if *history == trust.history { trust.seq } else { 0 };
    if let Some(seq) = batch.seq.filter(|seq| *seq < known_seq) {
        return Err(back("seq", seq.to_string(), known_seq.to_string()));
    }
    // Counters of another timeline say nothing about those here.
    let continues = old.head.history == *history;
    if batch.kind == PageKind::Delta
        && (!continues || old.head.cursor.is_none() || batch.base.is_some() && batch.base != old.head.cursor)
    {
        return Err(SyncError::OtherBase);
    }
    let (kind, is_signed, count, root) = (batch.kind, batch.is_signed, batch.count_total, batch.content_root);
    let mut merger = Merger {
        own_seq: old.head.seq.max(known_seq) + 1,
        old: &old,
        shelf: old.clone(),
        continues,
        contents: BTreeMap::new(),
        changed: BTreeSet::new(),
        used_own_seq: false,
        removed: 0,
    };
    let seq = batch.seq;
    (merger.shelf.head.history, merger.shelf.head.cursor, merger.shelf.head.etag) =
        (batch.history, batch.cursor, batch.etag);
    merger.merge(kind, batch.items, batch.removed)?;
    merger.shelf.head.seq = match seq {
        Some(seq) => seq,
        None if merger.used_own_seq => merger.own_seq,
        None => old.head.seq.max(known_seq),
    };
    let ours = root_of(&merger.shelf);
    if root.is_some_and(|root| root != ours) {
        return Err(SyncError::Mismatch { what: "content_root" });
    }
    if count.is_some_and(|count| count != merger.shelf.items.len() as u64) {
        return Err(SyncError::Mismatch { what: "count_total" });
    }
    let halved = !old.items.is_empty() && merger.shelf.items.len() * 2 <= old.items.len();
    if kind == PageKind::Full && halved && !is_signed && held != Some(ours) {
        return Ok(Plan::Hold(ours));
    }
    merger.finish(subscription, base)
}

/// The root over a shelf.
pub(crate) fn root_of(shelf: &Shelf) -> Digest {
    let mut root = ContentRoot::default();
    for (id, item) in &shelf.items {
        root.add(id, item.seq, item.wire.as_ref());
    }
    root.finish()
}

struct Merger<'a> {
    old: &'a Shelf,
    shelf: Shelf,
    continues: bool,
    /// Counter of what has none of its own.
    own_seq: u64,
    used_own_seq: bool,
    /// New contents by id.
    contents: BTreeMap<String, Entry>,
    /// Ids whose content or presence changed.
    changed: BTreeSet<String>,
    removed: u64,
}

impl Merger<'_> {
    fn merge(
        &mut self,
        kind: PageKind,
        items: Vec<WireItem>,
        removed: Vec<crate::sync::Tombstone>,
    ) -> Result<(), SyncError> {
        let mut said: BTreeMap<String, Said> = BTreeMap::new();
        let mut nameless = Vec::new();
        for item in items {
            let Some(id) = item.id.clone() else {
                if let ItemBody::Broken(problem) = item.body {
                    nameless.push(problem);
                } else {
                    nameless.push(Problem::new("missing_field", "id", "the item has no id; give it one"));
                }
                continue;
            };
            hear(&mut said, id, item.seq, Said::Item(Box::new(item)));
        }
        for gone in removed {
            hear(&mut said, gone.id, gone.seq, Said::Gone(gone.seq));
        }
        if said.len() > LAYER_SKILLS_MAX {
            return Err(Error::from(StorageError::TooLarge {
                what: "items of a subscription",
                got: said.len() as u64,
                limit: LAYER_SKILLS_MAX as u64,
            })
            .into());
        }
        if kind == PageKind::Full {
            let gone: Vec<String> =
                self.shelf.items.keys().filter(|id| !said.contains_key(*id)).cloned().collect();
            for id in gone {
                self.remove(&id);
            }
            self.shelf.head.rejected.clear();
        }
        if !nameless.is_empty() {
            self.shelf.head.rejected.insert(String::new(), nameless);
        }
        for (id, said) in said {
            match said {
                Said::Item(item) => self.item(kind, id, *item),
                Said::Gone(seq) => {
                    let known = self.shelf.items.get(&id);
                    if known.is_some_and(|known| !self.continues || seq.is_none_or(|seq| seq > known.seq)) {
                        self.remove(&id);
                    }
                }
            }
        }
        Ok(())
    }

    fn remove(&mut self, id: &str) {
        if self.shelf.items.remove(id).is_some() {
            self.shelf.head.rejected.remove(id);
            self.changed.insert(id.to_owned());
            self.removed += 1;
            self.used_own_seq = true;
        }
    }

    fn item(&mut self, kind: PageKind, id: String, item: WireItem) {
        let known = self.old.items.get(&id);
        let was_rejected = self.old.head.rejected.contains_key(&id);
        let comparable = known.filter(|_| self.continues);
        let is_same = known.is_some_and(|known| known.wire.is_some() && known.wire == item.digest);
        let applies = match (item.seq, comparable) {
            (Some(seq), Some(known)) => seq > known.seq,
            // What is not here was removed by then, or never came.
            (Some(seq), None) if self.continues && kind == PageKind::Delta => seq > self.old.head.seq,
            _ => true,
        };
        // What was rejected is looked at again: another version of this program may take it.
        if !(applies || is_same && was_rejected) {
            if was_rejected && let Some(problems) = self.old.head.rejected.get(&id) {
                self.shelf.head.rejected.insert(id, problems.clone());
            }
            return;
        }
        if is_same && !was_rejected && known.is_some_and(|known| known.content.is_some()) {
            if let (Some(seq), Some(known)) = (item.seq, self.shelf.items.get_mut(&id)) {
                known.seq = seq;
            }
            return;
        }
        let (content, problems) = match read(&id, item.body) {
            Ok(entry) => {
                let content =
                    Content { digest: Digest(entry.skill.digest()), version: entry.skill.version.clone() };
                if known.and_then(|known| known.content.as_ref()) != Some(&content) {
                    self.changed.insert(id.clone());
                }
                self.contents.insert(id.clone(), entry);
                (Some(content), Vec::new())
            }
            // Its last good version stays, marked by standing among the rejected.
            Err(problems) => (known.and_then(|known| known.content.clone()), problems),
        };
        let unchanged = known.filter(|known| known.content == content && known.wire == item.digest);
        let seq = item.seq.or_else(|| unchanged.map(|known| known.seq)).unwrap_or_else(|| {
            self.used_own_seq = true;
            self.own_seq
        });
        if problems.is_empty() {
            self.shelf.head.rejected.remove(&id);
        } else {
            self.shelf.head.rejected.insert(id.clone(), problems);
        }
        self.shelf.items.insert(id, Item { seq, wire: item.digest, content });
    }

    /// The union of all subscriptions afterwards.
    fn finish(mut self, subscription: &str, base: &SyncBase) -> Result<Plan, SyncError> {
        if self.shelf == *self.old && self.changed.is_empty() {
            return Ok(Plan::Nothing);
        }
        let before = &base.journal;
        let mut journal = Journal::clone(before);
        journal.shelves.insert(subscription.to_owned(), self.shelf);
        let mut puts = Vec::new();
        let mut removes = BTreeSet::new();
        for id in &self.changed {
            let (was, now) = (offers(&before.shelves, id), offers(&journal.shelves, id));
            let Some(winner) = winner(&now) else {
                if !was.is_empty() {
                    removes.insert(id.clone());
                }
                continue;
            };
            journal.shadows.retain(|(shadowed, _), _| shadowed != id);
            let find = |subscription_of: &str, content: &Content| {
                let fresh = self.contents.get(id).filter(|_| subscription_of == subscription);
                find_content(base, before, id, subscription_of, content, fresh)
            };
            let mut entry = find(winner.0, winner.1)?;
            entry.subscriptions = now.iter().map(|(name, _)| (*name).to_owned()).collect();
            let losers: Vec<(String, Entry)> = now
                .iter()
                .filter(|(_, content)| content.digest != winner.1.digest)
                .map(|(name, content)| Ok(((*name).to_owned(), find(name, content)?)))
                .collect::<Result<_, SyncError>>()?;
            if !losers.is_empty() {
                tracing::warn!(
                    id,
                    "subscriptions bring one skill with different content; the one of {} is shown",
                    winner.0
                );
            }
            puts.push(entry);
            journal.shadows.extend(losers.into_iter().map(|(name, mut entry)| {
                entry.subscriptions.clear();
                ((id.clone(), name), entry)
            }));
        }
        let (items, gone) = (self.contents.len() as u64, self.removed);
        self.contents.clear();
        let change =
            SyncChange { subscription: subscription.to_owned(), puts, removes, journal, checked: None };
        Ok(Plan::Change(Box::new(Planned { change, items, removed: gone })))
    }
}

/// Of what an answer says about one id, the highest counter counts; without counters the last word.
fn hear(said: &mut BTreeMap<String, Said>, id: String, seq: Option<u64>, new: Said) {
    let known = said.get(&id).and_then(|known| match known {
        Said::Item(item) => item.seq,
        Said::Gone(seq) => *seq,
    });
    if seq.is_none() || known.is_none_or(|known| seq >= Some(known)) {
        said.insert(id, new);
    }
}

/// Who brings an id, with what, by subscription.
fn offers<'j>(shelves: &'j BTreeMap<String, Shelf>, id: &str) -> Vec<(&'j str, &'j Content)> {
    let each = shelves.iter();
    each.filter_map(|(name, shelf)| Some((name.as_str(), shelf.items.get(id)?.content.as_ref()?))).collect()
}

/// The highest version; among those that cannot be ordered the first subscription's.
fn winner<'j>(offers: &[(&'j str, &'j Content)]) -> Option<(&'j str, &'j Content)> {
    offers.iter().copied().reduce(|best, next| {
        let higher = compare_versions(&next.1.version, &best.1.version) == Some(std::cmp::Ordering::Greater);
        if higher { next } else { best }
    })
}

/// The skill of an offer: just fetched, published, or in the shadow of another one.
fn find_content(
    base: &SyncBase,
    before: &Arc<Journal>,
    id: &str,
    subscription: &str,
    content: &Content,
    fresh: Option<&Entry>,
) -> Result<Entry, SyncError> {
    let fits = |entry: &Entry| entry.skill.digest() == content.digest.0;
    if let Some(entry) = fresh.filter(|entry| fits(entry)) {
        return Ok(entry.clone());
    }
    if let Some(entry) = base.entry(id)?.filter(fits) {
        return Ok(entry);
    }
    let shadow = before.shadows.get(&(id.to_owned(), subscription.to_owned())).filter(|entry| fits(entry));
    shadow.cloned().ok_or_else(|| {
        let detail = format!("the content of {id} that subscription {subscription} brings is not there");
        Error::from(StorageError::damaged("the journal of the sync", detail)).into()
    })
}

/// The skill of an item.
fn read(id: &str, body: ItemBody) -> Result<Entry, Vec<Problem>> {
    let value = match body {
        ItemBody::Inline(value) => value,
        ItemBody::Broken(problem) => return Err(vec![problem]),
        ItemBody::Blob { .. } => {
            return Err(vec![Problem::new(
                "missing_blob",
                "digest",
                "the bytes of the item were not fetched",
            )]);
        }
    };
    let skill = Skill::from_json(&value)?.skill;
    if skill.id != id {
        let message = "the skill has another id than its item";
        return Err(vec![Problem::new("id_mismatch", "id", message).got(&skill.id)]);
    }
    if !skill.resources.is_empty() {
        let message = "skills of a platform carry no resources; put what is needed into the content";
        return Err(vec![Problem::new("resources_not_carried", "resources", message)]);
    }
    Ok(Entry::new(skill))
}
