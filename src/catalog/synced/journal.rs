//! What stands beside the skills of a synced generation: for each subscription where it stopped, and every item that the
//! platform counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog::build::{AT_OPEN, AT_TOUCH};
use crate::catalog::files::JOURNAL_SCHEMA;
use crate::catalog::segment::damaged;
use crate::catalog::source;
use crate::entitlement::History;
use crate::error::{Problem, Result, StorageError};
use crate::index::SectionKind;
use crate::index::le::{Cutter, put_u32};
use crate::index::sections::Damaged;
use crate::model::{Digest, Entry, Layer, Origin};
use crate::snapshot::{Built, FileBuilder, SectionFile};

/// The journal of a generation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Journal {
    /// One shelf a subscription.
    pub(crate) shelves: BTreeMap<String, Shelf>,
    /// Where subscriptions bring one id with different content, the contents that do not show, by (id, subscription).
    pub(crate) shadows: BTreeMap<(String, String), Entry>,
}

/// What one subscription brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shelf {
    /// Where it stopped.
    pub(crate) head: Head,
    /// Every item that the platform counts, the rejected ones included, by id as sent.
    pub(crate) items: BTreeMap<String, Item>,
}

/// Where a subscription stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Head {
    /// The platform's timeline.
    pub(crate) history: History,
    /// Where the next changes begin; without one the whole catalog is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
    /// The `ETag` of what is activated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) etag: Option<String>,
    /// Counter of the content; our own where the platform has none.
    pub(crate) seq: u64,
    /// What is wrong with the items that were rejected, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) rejected: BTreeMap<String, Vec<Problem>>,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its counter.
    pub(crate) seq: u64,
    /// Its digest as sent.
    pub(crate) wire: Option<Digest>,
    /// The last good content; of an earlier version while the item is in `rejected`.
    pub(crate) content: Option<Content>,
}

/// Content that a subscription offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Digest of the skill.
    pub(crate) digest: Digest,
    /// Its version.
    pub(crate) version: String,
}

/// The JSON section.
#[derive(Serialize, Deserialize)]
struct Heads {
    shelves: Vec<Named>,
}

#[derive(Serialize, Deserialize)]
struct Named {
    subscription: String,
    items: u64,
    #[serde(flatten)]
    head: Head,
}

const HAS_WIRE: u32 = 1;
const HAS_CONTENT: u32 = 2;

impl Journal {
    /// The file. The same journal gives the same bytes.
    ///
    /// # Errors
    /// A part is larger than its section can hold.
    pub(crate) fn build(&self, generation: u64) -> Result<Built> {
        let mut items = Vec::new();
        let mut heads = Vec::new();
        for (subscription, shelf) in &self.shelves {
            for (id, item) in &shelf.items {
                item.write(id, &mut items);
            }
            let (subscription, head) = (subscription.clone(), shelf.head.clone());
            heads.push(Named { subscription, items: shelf.items.len() as u64, head });
        }
        let heads = serde_json::to_vec(&Heads { shelves: heads })
            .map_err(|error| StorageError::damaged("build", error.to_string()))?;
        let shadows: Vec<Entry> = self
            .shadows
            .iter()
            .map(|((_, subscription), entry)| {
                // A shadow comes from a subscription, as a local skill comes from a file.
                Entry { origin: Some(Origin::new(subscription, "")), ..entry.clone() }
            })
            .collect();
        Ok(FileBuilder::new(&JOURNAL_SCHEMA)
            .count(0, self.shelves.values().map(|shelf| shelf.items.len() as u64).sum())
            .section(SectionKind::Journal.code(), AT_OPEN, heads)
            .section(SectionKind::Items.code(), AT_TOUCH, items)
            .section(SectionKind::Shadows.code(), AT_TOUCH, source::write(Layer::Synced, &shadows))
            .finish(generation)?)
    }

    /// What the published skills tell of a journal that is lost: who brings what, without cursors and counters. An empty
    /// journal in its place would never take out what the platform has taken out meanwhile.
    pub(crate) fn of_published(entries: &[Entry]) -> Self {
        let mut journal = Self::default();
        for entry in entries {
            let digest = Digest(entry.skill.digest());
            for subscription in &entry.subscriptions {
                let content = Content { digest, version: entry.skill.version.clone() };
                let item = Item { seq: 0, wire: None, content: Some(content) };
                let shelf = journal.shelves.entry(subscription.clone()).or_default();
                shelf.items.insert(entry.skill.id.clone(), item);
            }
        }
        journal
    }

    /// Reads the file.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) fn read(file: &SectionFile) -> Result<Self> {
        for section in file.sections() {
            file.verify_section(section)?;
        }
        let wrong = |detail: String| StorageError::damaged(file.name(), detail);
        let heads: Heads = serde_json::from_slice(&file.required(SectionKind::Journal.code())?)
            .map_err(|error| wrong(error.to_string()))?;
        let bytes = file.required(SectionKind::Items.code())?;
        let mut cutter = Cutter::new(SectionKind::Items, &bytes);
        let mut journal = Self::default();
        for named in heads.shelves {
            let mut items = BTreeMap::new();
            for _ in 0..named.items {
                let (id, item) = Item::read(&mut cutter).map_err(|damage| damaged(file.name(), damage))?;
                items.insert(id, item);
            }
            journal.shelves.insert(named.subscription, Shelf { head: named.head, items });
        }
        cutter.finish().map_err(|damage| damaged(file.name(), damage))?;
        let shadows = source::read(file.name(), &file.required(SectionKind::Shadows.code())?)?;
        for mut entry in shadows.entries {
            let origin =
                entry.origin.take().ok_or_else(|| wrong("a shadow of no subscription".to_owned()))?;
            journal.shadows.insert((entry.skill.id.clone(), origin.root), entry);
        }
        Ok(journal)
    }
}

impl Item {
    fn write(&self, id: &str, out: &mut Vec<u8>) {
        let text = |text: &str, out: &mut Vec<u8>| {
            put_u32(out, u32::try_from(text.len()).unwrap_or(u32::MAX));
            out.extend_from_slice(text.as_bytes());
        };
        text(id, out);
        let has_wire = if self.wire.is_some() { HAS_WIRE } else { 0 };
        let has_content = if self.content.is_some() { HAS_CONTENT } else { 0 };
        put_u32(out, has_wire | has_content);
        out.extend_from_slice(&self.seq.to_le_bytes());
        if let Some(wire) = &self.wire {
            out.extend_from_slice(&wire.0);
        }
        if let Some(content) = &self.content {
            out.extend_from_slice(&content.digest.0);
            text(&content.version, out);
        }
    }

    fn read(cutter: &mut Cutter<'_>) -> Result<(String, Self), Damaged> {
        let wrong = |detail| Damaged::new(SectionKind::Items, detail);
        let text = |cutter: &mut Cutter<'_>| {
            let length = cutter.size()?;
            let bytes = cutter.take(length)?;
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| wrong("a text is not UTF-8"))
        };
        let digest = |cutter: &mut Cutter<'_>| {
            let bytes = cutter.take(32)?;
            bytes.first_chunk().map(|bytes| Digest(*bytes)).ok_or_else(|| wrong("a digest is cut off"))
        };
        let id = text(cutter)?;
        let flags = cutter.u32()?;
        let seq = cutter.take(8)?.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let wire = if flags & HAS_WIRE != 0 { Some(digest(cutter)?) } else { None };
        let content = if flags & HAS_CONTENT != 0 {
            Some(Content { digest: digest(cutter)?, version: text(cutter)? })
        } else {
            None
        };
        Ok((id, Self { seq, wire, content }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Skill};
    use crate::snapshot::Bytes;

    fn sample() -> Journal {
        let mut journal = Journal::default();
        for name in ["sub_7", "sub_8"] {
            let mut shelf = Shelf::default();
            shelf.head.cursor = Some("c57".to_owned());
            shelf.head.history = "3:9f2c".parse().unwrap();
            for number in 0..20_u64 {
                let digest = Digest::of(&number.to_le_bytes());
                let content = Content { digest, version: format!("1.{number}.0") };
                let item = Item {
                    seq: number,
                    wire: (number % 3 > 0).then_some(digest),
                    content: (number % 4 > 0).then_some(content),
                };
                shelf.items.insert(format!("item-{number}"), item);
            }
            let problem = Problem::new("missing_field", "name", "name is missing; add it");
            shelf.head.rejected.insert("item-0".to_owned(), vec![problem]);
            journal.shelves.insert(name.to_owned(), shelf);
        }
        let skill = Skill::new("item-1", Kind::Knowledge, "One", "The first one.");
        journal.shadows.insert(("item-1".to_owned(), "sub_8".to_owned()), Entry::new(skill));
        journal
    }

    fn parse(bytes: &[u8]) -> Result<Journal> {
        Journal::read(&SectionFile::parse("journal", Bytes::copy_of(bytes), &JOURNAL_SCHEMA)?)
    }

    #[test]
    fn a_journal_reads_back_as_it_was() {
        for journal in [Journal::default(), sample()] {
            let built = journal.build(3).unwrap();
            assert_eq!(parse(&built.bytes).unwrap(), journal);
            assert_eq!(built.content_hash, journal.build(9).unwrap().content_hash);
        }
    }

    #[test]
    fn a_changed_byte_or_a_missing_end_is_damage_and_never_a_panic() {
        let bytes = sample().build(3).unwrap().bytes;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x20;
            if let Ok(journal) = parse(&changed) {
                assert_eq!(journal, sample(), "byte {at}");
            }
            assert!(parse(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}
