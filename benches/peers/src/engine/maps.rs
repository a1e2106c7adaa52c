//! What a team would write by hand: maps from texts to shared records, and the caller's rights beside them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use repertoire::model::normalise;

use crate::record::Record;

type Fold = foldhash::fast::RandomState;

/// The records and the maps on them.
pub struct Maps {
    pub records: Vec<Arc<Record>>,
    pub std: HashMap<String, Arc<Record>>,
    pub fold: hashbrown::HashMap<String, Arc<Record>, Fold>,
    /// With group and kind beside the pointer, for a caller who wants no more than these.
    pub inline: hashbrown::HashMap<String, Inline, Fold>,
    pub tree: BTreeMap<String, Arc<Record>>,
    /// Normal forms of names and aliases; numbers of records.
    pub named: HashMap<String, Vec<u32>>,
    /// Normal forms of ids, names and aliases in their order; numbers of records.
    pub keys: BTreeMap<String, Vec<u32>>,
}

/// A pointer with what is asked most.
pub struct Inline {
    pub group: u8,
    pub kind: u8,
    pub record: Arc<Record>,
}

impl Maps {
    pub fn new(records: Vec<Arc<Record>>) -> Self {
        let mut named: HashMap<String, Vec<u32>> = HashMap::new();
        let mut keys: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (number, record) in records.iter().enumerate() {
            let texts = record.aliases.iter().chain([&record.name, &record.id]);
            for text in texts {
                let key = normalise(text);
                if *text != record.id {
                    push(named.entry(key.clone()).or_default(), number as u32);
                }
                push(keys.entry(key).or_default(), number as u32);
            }
        }
        let pairs = || records.iter().map(|record| (record.id.clone(), Arc::clone(record)));
        let inline = |(id, record): (String, Arc<Record>)| {
            (id, Inline { group: record.group, kind: record.kind, record })
        };
        Self {
            std: pairs().collect(),
            fold: pairs().collect(),
            inline: pairs().map(inline).collect(),
            tree: pairs().collect(),
            named,
            keys,
            records,
        }
    }

    /// The first ten records with a key that begins with the text.
    pub fn prefix<'m>(&'m self, text: &str, rights: &[bool; 256], found: &mut Vec<&'m Record>) {
        found.clear();
        let from = (std::ops::Bound::Included(text), std::ops::Bound::Unbounded);
        for (key, numbers) in self.keys.range::<str, _>(from) {
            if !key.starts_with(text) {
                return;
            }
            for number in numbers {
                let record = &*self.records[*number as usize];
                if rights[usize::from(record.group)]
                    && !found.iter().any(|known| std::ptr::eq(*known, record))
                {
                    found.push(record);
                    if found.len() == 10 {
                        return;
                    }
                }
            }
        }
    }
}

fn push(numbers: &mut Vec<u32>, number: u32) {
    if numbers.last() != Some(&number) {
        numbers.push(number);
    }
}

/// What "touching the record" reads of one in memory.
pub fn touch(record: &Record) -> u64 {
    u64::from(record.kind) + record.name.len() as u64 + record.version.len() as u64
}
