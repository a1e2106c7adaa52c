//! What a new full set changes of what is there: decides between nothing, a small change and a whole build.

use std::collections::BTreeSet;

use crate::catalog::open::OpenLayer;
use crate::catalog::record::{ArchivedRecord, hex, present};
use crate::catalog::state::ordinal_of;
use crate::error::Result;
use crate::index::bits::Bits;
use crate::model::Entry;
use crate::tools::ToolRegistry;

/// A change of more than one skill in so many builds the layer anew.
pub(crate) const WHOLE_FROM: usize = 8;

/// How to get from an open generation to a set of entries.
#[derive(Debug)]
pub(crate) enum Plan {
    /// The set is there already.
    Nothing,
    /// Put some in, take some out.
    Delta(Delta),
    /// Build everything.
    Whole(Vec<Entry>),
}

/// A small change.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// Skills to put in, in the place of those of the same id.
    pub(crate) puts: Vec<Entry>,
    /// Ids to take out.
    pub(crate) removes: BTreeSet<String>,
}

impl Delta {
    /// What of a small change is not there already. `puts` are sorted by id; an id of theirs is not taken out.
    ///
    /// # Errors
    /// A record that is compared is damaged.
    pub(crate) fn new(open: &OpenLayer, puts: &[Entry], removes: &BTreeSet<String>) -> Result<Self> {
        let mut delta = Self::default();
        for entry in puts {
            if same(open, entry)?.is_none() {
                delta.puts.push(entry.clone());
            }
        }
        for id in removes {
            let is_put = puts.binary_search_by(|entry| entry.skill.id.cmp(id)).is_ok();
            if !is_put && ordinal_of(open, id)?.is_some_and(|ordinal| open.live.test(ordinal)) {
                delta.removes.insert(id.clone());
            }
        }
        Ok(delta)
    }
}

impl Plan {
    /// Compares entries with a generation. Cost: one digest an entry, on all processors; bodies are not read.
    ///
    /// # Errors
    /// A record that is compared is damaged.
    pub(crate) fn new(
        open: Option<&OpenLayer>,
        entries: Vec<Entry>,
        registry: &ToolRegistry,
    ) -> Result<Self> {
        let Some(open) = open else { return Ok(Self::Whole(entries)) };
        let tools = hex(&registry.fingerprint());
        if entries.is_empty() || open.heads().iter().any(|head| head.registry != tools) {
            return Ok(Self::Whole(entries));
        }
        let same = compare(open, &entries)?;
        let mut gone = open.live.clone();
        let mut puts = 0;
        for place in &same {
            match place {
                Some(ordinal) => gone.clear(*ordinal),
                None => puts += 1,
            }
        }
        // The old copies of changed skills are counted here too, which only makes a whole build likelier.
        let live = usize::try_from(open.live.count()).unwrap_or(usize::MAX);
        let changed = usize::try_from(gone.count()).unwrap_or(usize::MAX).max(puts);
        if changed == 0 && entries.len() == live {
            return Ok(Self::Nothing);
        }
        if changed.saturating_mul(WHOLE_FROM) > live || entries.len() > live + puts {
            return Ok(Self::Whole(entries));
        }
        let mut removes = ids(open, &gone)?;
        let puts: Vec<Entry> = entries
            .into_iter()
            .zip(same)
            .filter(|(_, same)| same.is_none())
            .map(|(entry, _)| entry)
            .collect();
        for entry in &puts {
            removes.remove(&entry.skill.id);
        }
        Ok(Self::Delta(Delta { puts, removes }))
    }
}

/// For each entry the ordinal that holds the same already.
fn compare(open: &OpenLayer, entries: &[Entry]) -> Result<Vec<Option<u32>>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = entries.len().div_ceil(threads).max(64);
    let parts: Vec<Result<Vec<Option<u32>>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = entries
            .chunks(chunk)
            .map(|part| scope.spawn(move || part.iter().map(|entry| same(open, entry)).collect()))
            .collect();
        // A worker that ended early has compared nothing: its entries are built again.
        let chunks = entries.chunks(chunk);
        workers
            .into_iter()
            .zip(chunks)
            .map(|(w, part)| w.join().unwrap_or(Ok(vec![None; part.len()])))
            .collect()
    });
    let mut all = Vec::with_capacity(entries.len());
    for part in parts {
        all.extend(part?);
    }
    Ok(all)
}

/// The ordinal that holds exactly this entry, if one does.
fn same(open: &OpenLayer, entry: &Entry) -> Result<Option<u32>> {
    let Some(ordinal) = ordinal_of(open, &entry.skill.id)?.filter(|ordinal| open.live.test(*ordinal)) else {
        return Ok(None);
    };
    let record = open.record(ordinal)?;
    let equal = record.digest == entry.skill.digest()
        && is_around(record, entry)
        && open.subscriptions(ordinal)? == entry.subscriptions;
    Ok(equal.then_some(ordinal))
}

/// Whether origin and source text are those of the record. The digest is over everything else but subscriptions.
fn is_around(record: &ArchivedRecord, entry: &Entry) -> bool {
    let origin = match &entry.origin {
        Some(origin) => {
            record.has(present::ORIGIN)
                && record.origin_root.as_str() == origin.root
                && record.origin_path.as_str() == origin.path
        }
        None => !record.has(present::ORIGIN),
    };
    let source = match &entry.source_text {
        Some(text) => {
            record.has(present::SOURCE)
                && u64::from(record.source.length.to_native()) == text.len() as u64
                && record.source.crc32c.to_native() == crc32c::crc32c(text)
        }
        None => !record.has(present::SOURCE),
    };
    origin && source
}

fn ids(open: &OpenLayer, ordinals: &Bits) -> Result<BTreeSet<String>> {
    ordinals.iter().map(|ordinal| Ok(open.record(ordinal)?.id.to_string())).collect()
}
