//! `source-{hash}.jsonl`: the truth of the `local` and `learned` layers, from which their snapshots are derived.
//!
//! The first line says of which layer it is, and which file it changes if it is not whole. Then one JSON object a
//! line: the canonical skill, the file that it mirrors, the source text and the resources; or the id of a skill that is
//! taken out. Where the body is the end of the source text (the usual SKILL.md) only the text before it is written, so
//! that nothing is kept twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result, StorageError};
use crate::model::{Entry, Layer, Origin, Skill};
use crate::snapshot::dir::source_name;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    source: Layer,
    skills: u64,
    /// Name of the file that this one changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Ids taken out.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    removed: BTreeSet<String>,
}

/// What a source file holds.
#[derive(Debug)]
pub(crate) struct Found {
    /// The layer that it is the truth of.
    pub(crate) layer: Layer,
    /// Its skills.
    pub(crate) entries: Vec<Entry>,
    /// Name of the file that it changes; `None` if it is whole.
    pub(crate) after: Option<String>,
    /// Ids that it takes out.
    pub(crate) removed: BTreeSet<String>,
}

/// The entries that files say together, by id: the first one is whole, each later one changes what stands there.
pub(crate) fn fold(files: impl IntoIterator<Item = Found>) -> Vec<Entry> {
    let mut all: BTreeMap<String, Entry> = BTreeMap::new();
    for file in files {
        for id in &file.removed {
            all.remove(id);
        }
        all.extend(file.entries.into_iter().map(|entry| (entry.skill.id.clone(), entry)));
    }
    all.into_values().collect()
}

/// One line.
#[derive(Serialize, Deserialize)]
struct Line {
    skill: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    /// Source text before the body, base64, where the body ends the source text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<String>,
    /// The whole source text, base64, otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Bytes of the resources in the order of `skill.resources`, base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resources: Vec<String>,
}

/// The lines of these entries. Deterministic: the order is that of the slice.
pub(crate) fn write(layer: Layer, entries: &[Entry]) -> Vec<u8> {
    write_after(layer, entries, None, BTreeSet::new())
}

/// The lines of a file that changes another one.
pub(crate) fn write_after(
    layer: Layer,
    entries: &[Entry],
    after: Option<String>,
    removed: BTreeSet<String>,
) -> Vec<u8> {
    let head = Head { source: layer, skills: entries.len() as u64, after, removed };
    let mut out = serde_json::to_vec(&head).unwrap_or_default();
    out.push(b'\n');
    for entry in entries {
        out.extend_from_slice(b"{\"skill\":");
        out.extend_from_slice(entry.skill.canonical_json().as_bytes());
        let (mut head, mut text) = (None, None);
        if let Some(source) = &entry.source_text {
            match source.strip_suffix(entry.skill.content.as_bytes()) {
                Some(before) if !entry.skill.content.is_empty() => head = Some(BASE64.encode(before)),
                _ => text = Some(BASE64.encode(source)),
            }
        }
        let rest = Line {
            skill: Value::Null,
            origin: entry.origin.clone(),
            head,
            text,
            resources: entry.resources.iter().map(|bytes| BASE64.encode(bytes)).collect(),
        };
        // The skill is spliced in as canonical text: serialising it a second time could lose digits.
        let rest = serde_json::to_string(&rest).unwrap_or_default();
        let rest = rest.strip_prefix("{\"skill\":null").unwrap_or("}");
        out.extend_from_slice(rest.as_bytes());
        out.push(b'\n');
    }
    out
}

/// Reads a source file.
///
/// # Errors
/// [`StorageError::Damaged`] with the line, if a line is not what [`write`] makes.
pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<Found> {
    let damaged = |line: usize, detail: String| {
        Error::Storage(StorageError::damaged(file, format!("line {line}: {detail}")))
    };
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let (_, first) = lines.next().ok_or_else(|| damaged(1, "the file is empty".to_owned()))?;
    let head: Head = serde_json::from_slice(first).map_err(|error| damaged(1, error.to_string()))?;
    let entries = lines
        .map(|(index, line)| read_line(line).map_err(|detail| damaged(index + 1, detail)))
        .collect::<Result<Vec<Entry>>>()?;
    if entries.len() as u64 != head.skills {
        return Err(damaged(1, format!("{} skills are announced, {} are there", head.skills, entries.len())));
    }
    Ok(Found { layer: head.source, entries, after: head.after, removed: head.removed })
}

/// Checks a source file by itself: its lines, and its name, which holds the hash of its bytes.
///
/// # Errors
/// [`StorageError::Damaged`] with what is wrong.
pub(crate) fn check(file: &str, bytes: &[u8]) -> Result<()> {
    let name = source_name(bytes);
    if file != name {
        return Err(StorageError::damaged(file, format!("its bytes are those of {name}")).into());
    }
    read(file, bytes).map(drop)
}

fn read_line(line: &[u8]) -> Result<Entry, String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let reading = Skill::from_json(&line.skill)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let decode = |text: &str| BASE64.decode(text).map_err(|error| error.to_string());
    let source_text = match (&line.head, &line.text) {
        (Some(head), _) => {
            let mut bytes = decode(head)?;
            bytes.extend_from_slice(reading.skill.content.as_bytes());
            Some(Arc::from(bytes))
        }
        (None, Some(text)) => Some(Arc::from(decode(text)?)),
        (None, None) => None,
    };
    let resources: Vec<Arc<[u8]>> =
        line.resources.iter().map(|text| decode(text).map(Arc::from)).collect::<Result<_, _>>()?;
    if resources.len() != reading.skill.resources.len() {
        return Err(format!(
            "{} resources are listed, {} are there",
            reading.skill.resources.len(),
            resources.len()
        ));
    }
    Ok(Entry { skill: reading.skill, subscriptions: Vec::new(), origin: line.origin, source_text, resources })
}
