//! `CURRENT`: which files make up the catalog, in one small checked file that a commit replaces.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{NameKind, classify};
use super::sections::{get_u16, get_u32, get_u64, put};
use crate::error::StorageError;
use crate::limits::{KEEP_GENERATIONS_MAX, MANIFEST_BYTES_MAX};

/// First bytes of a manifest.
pub(crate) const MAGIC: [u8; 8] = *b"RPTRCUR\n";
/// Major version: another one is refused and never touched.
pub(crate) const MAJOR: u16 = 0;
/// Minor version: a higher one is read, but not written over.
pub(crate) const MINOR: u16 = 0;
/// Bytes before the JSON text.
pub(crate) const HEADER_BYTES: usize = 64;
/// u16 major, u16 minor.
pub(crate) const AT_VERSION: usize = 8;
/// u32 crc32c of everything else.
pub(crate) const AT_CRC: usize = 12;
/// u64 serial number of the commit.
pub(crate) const AT_SERIAL: usize = 16;
/// u64 bytes of the JSON text.
pub(crate) const AT_LENGTH: usize = 24;

/// One file of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRef {
    /// Its name in the directory.
    pub(crate) name: String,
    /// Its length.
    pub(crate) length: u64,
    /// Segments: the checksum of header and table. Sources: of the whole file.
    pub(crate) crc32c: u32,
}

/// One published content of a layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_field_names,
    reason = "the number of a generation is called its generation everywhere"
)]
pub(crate) struct Generation {
    /// Its number; only grows within a layer.
    pub(crate) generation: u64,
    /// Segment files.
    pub(crate) files: Vec<FileRef>,
    /// Canonical text of the skills, for layers whose truth is here: the first file is whole, each later one changes
    /// what those before it say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<FileRef>,
    /// Digest of the content.
    pub(crate) digest: String,
    /// Skills in it.
    pub(crate) skills: u64,
}

/// One layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LayerState {
    /// What is published.
    pub(crate) current: Generation,
    /// Earlier generations, newest first, kept for rollback.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) history: Vec<Generation>,
    /// Whether the layer ever held a skill.
    #[serde(default)]
    pub(crate) ever_filled: bool,
}

impl LayerState {
    /// Publishes the next generation and keeps the former one, up to `keep` earlier ones.
    pub(crate) fn advance(&mut self, next: Generation, keep: usize) {
        self.ever_filled |= next.skills > 0;
        let former = std::mem::replace(&mut self.current, next);
        if former.generation > 0 {
            self.history.insert(0, former);
        }
        self.history.truncate(keep.min(KEEP_GENERATIONS_MAX));
    }
}

/// A file that no generation reaches any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retired {
    /// Its name.
    pub(crate) name: String,
    /// Since when, milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// How a manifest came to be that no commit wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Recovery {
    /// `CURRENT` was damaged; this is the manifest before it.
    Previous,
    /// Both manifests were damaged or missing; layers are to be rebuilt from sources.
    Empty,
}

/// The content of `CURRENT`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Number of the commit; only grows. Set by the commit.
    pub(crate) serial: u64,
    /// Layers by name.
    pub(crate) layers: BTreeMap<String, LayerState>,
    /// Statements of the ring up to this number are contained in `state`.
    #[serde(default)]
    pub(crate) folded_seq: u64,
    /// What the layers above keep: entitlements, counters and trust maxima, holds.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) state: Value,
    /// Files that became unreachable a short time ago. Kept by the commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) retired: Vec<Retired>,
    /// Set by a recovery; the layer above clears it when it has rebuilt what was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recovered: Option<Recovery>,
    /// Set by a recovery: generations up to this number may have been published before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) generation_floor: u64,
    /// Written by a newer minor version: may be read, not replaced.
    #[serde(skip)]
    pub(crate) read_only: bool,
}

impl Manifest {
    /// Every file that a generation reaches.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileRef> {
        let generations =
            self.layers.values().flat_map(|layer| [&layer.current].into_iter().chain(&layer.history));
        generations.flat_map(|generation| generation.files.iter().chain(&generation.sources))
    }

    /// Names of [`Self::files`].
    pub(crate) fn reachable(&self) -> BTreeSet<&str> {
        self.files().map(|file| file.name.as_str()).collect()
    }

    /// What must hold of every manifest, before it is written and after it was read.
    pub(crate) fn check(&self) -> Result<(), String> {
        for file in self.files() {
            if !matches!(classify(&file.name), NameKind::Segment | NameKind::Source) {
                return Err(format!("{:?} is not the name of a segment or source", file.name));
            }
        }
        for (name, layer) in &self.layers {
            let mut last = layer.current.generation;
            for generation in &layer.history {
                if generation.generation >= last {
                    return Err(format!(
                        "generations of {name} are out of order at {}",
                        generation.generation
                    ));
                }
                last = generation.generation;
            }
        }
        Ok(())
    }

    /// The bytes of `CURRENT`.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, StorageError> {
        let refused = |detail: String| StorageError::damaged("the new manifest", detail);
        self.check().map_err(refused)?;
        let mut out = vec![0; HEADER_BYTES];
        serde_json::to_writer(&mut out, self).map_err(|error| refused(error.to_string()))?;
        if out.len() as u64 > MANIFEST_BYTES_MAX {
            return Err(StorageError::TooLarge {
                what: "the manifest",
                got: out.len() as u64,
                limit: MANIFEST_BYTES_MAX,
            });
        }
        let length = (out.len() - HEADER_BYTES) as u64;
        put(&mut out, 0, &MAGIC);
        put(&mut out, AT_VERSION, &MAJOR.to_le_bytes());
        put(&mut out, AT_VERSION + 2, &MINOR.to_le_bytes());
        put(&mut out, AT_SERIAL, &self.serial.to_le_bytes());
        put(&mut out, AT_LENGTH, &length.to_le_bytes());
        let crc = checksum(&out);
        put(&mut out, AT_CRC, &crc.to_le_bytes());
        Ok(out)
    }

    /// Reads the bytes of `CURRENT` or `PREVIOUS`.
    pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<Self, StorageError> {
        let damaged = |detail: String| StorageError::damaged(name, detail);
        if bytes.len() < HEADER_BYTES || bytes.get(..8) != Some(&MAGIC[..]) {
            return Err(damaged(format!("{} bytes without the header of a manifest", bytes.len())));
        }
        if get_u32(bytes, AT_CRC) != Some(checksum(bytes)) {
            return Err(damaged("it does not match its checksum".to_owned()));
        }
        let (major, minor) = (get_u16(bytes, AT_VERSION), get_u16(bytes, AT_VERSION + 2));
        if let Some(found) = major.filter(|found| *found != MAJOR) {
            return Err(StorageError::TooNew { file: name.to_owned(), found, supported: MAJOR });
        }
        let text = bytes.get(HEADER_BYTES..).unwrap_or_default();
        if get_u64(bytes, AT_LENGTH) != Some(text.len() as u64) {
            return Err(damaged(format!("{} bytes of text are not the length in the header", text.len())));
        }
        let mut manifest: Self = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        manifest.check().map_err(damaged)?;
        if get_u64(bytes, AT_SERIAL) != Some(manifest.serial) {
            return Err(damaged("header and text have different serial numbers".to_owned()));
        }
        manifest.read_only = minor.is_some_and(|minor| minor > MINOR);
        Ok(manifest)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Checksum of everything but itself.
fn checksum(bytes: &[u8]) -> u32 {
    let before = bytes.get(..AT_CRC).unwrap_or_default();
    let after = bytes.get(AT_CRC + 4..).unwrap_or_default();
    crc32c::crc32c_append(crc32c::crc32c(before), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back_as_it_was_and_is_small() {
        let mut manifest =
            Manifest { serial: 7, folded_seq: 3, state: serde_json::json!({"a": 1}), ..Manifest::default() };
        let mut layer = LayerState::default();
        for generation in 1..=20 {
            let name = format!("local-{generation:040x}.seg");
            let files = vec![FileRef { name, length: generation, crc32c: 5 }];
            layer.advance(Generation { generation, files, skills: 1, ..Generation::default() }, 3);
        }
        assert_eq!(layer.history.iter().map(|former| former.generation).collect::<Vec<_>>(), [19, 18, 17]);
        assert!(layer.ever_filled);
        manifest.layers.insert("local".to_owned(), layer);
        let bytes = manifest.encode().unwrap();
        assert_eq!(bytes, manifest.encode().unwrap(), "the same bytes each time");
        assert_eq!(Manifest::decode("CURRENT", &bytes).unwrap(), manifest);
        assert!(bytes.len() < 1024, "{} bytes", bytes.len());
        assert_eq!(manifest.reachable().len(), 4);
    }

    #[test]
    fn generations_out_of_order_are_refused() {
        let generation = |generation| Generation { generation, ..Generation::default() };
        for history in [vec![5], vec![6], vec![4, 4], vec![3, 4]] {
            let history = history.into_iter().map(generation).collect();
            let layer = LayerState { current: generation(5), history, ever_filled: true };
            let manifest = Manifest { layers: [("local".to_owned(), layer)].into(), ..Manifest::default() };
            assert!(manifest.check().is_err() && manifest.encode().is_err());
        }
    }
}
