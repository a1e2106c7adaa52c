//! From entries to the files of a layer: one payload segment and one directory.
//!
//! Deterministic: documents are ordered by subscription set, then id, and the parallel part (compiling and archiving)
//! keeps that order; the same entries give the same bytes whatever the number of threads.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::catalog::bodies::BodiesWriter;
use crate::catalog::files::{DIRECTORY_SCHEMA, DirectoryHead, SEGMENT_SCHEMA, SegmentHead};
use crate::catalog::record::{Record, Spans, effective_risk, hex, risk_byte, status};
use crate::error::{Error, Problem, Result, StorageError};
use crate::flow::{self, Compiled};
use crate::index::bits::Bits;
use crate::index::facets::Facet;
use crate::index::hash::hash128;
use crate::index::ids::Row;
use crate::index::names::{Entry as Key, KeyKind};
use crate::index::text::{Fields, TextBuilder};
use crate::index::{BuildError, SectionKind, exact, facets, groups, ids, live, names};
use crate::limits::LAYER_SKILLS_MAX;
use crate::model::{Entry, Kind, Layer, normalise};
use crate::snapshot::record::RECORD_ALIGNMENT;
use crate::snapshot::{Built, FLAG_BLOCKS, FLAG_REQUIRED, FLAG_VERIFY_AT_OPEN, FileBuilder};
use crate::tools::ToolRegistry;

/// Flags of sections that every view needs.
const AT_OPEN: u32 = FLAG_REQUIRED | FLAG_VERIFY_AT_OPEN;
/// Flags of sections that are large or not needed by everybody.
const AT_TOUCH: u32 = FLAG_REQUIRED | FLAG_BLOCKS;

/// The files of a new generation, in memory.
pub(crate) struct BuiltLayer {
    /// Directory and segments, in this order; none if the layer is empty.
    pub(crate) files: Vec<Built>,
    /// Skills.
    pub(crate) skills: u64,
    /// Digest over every id and content digest, hexadecimal.
    pub(crate) digest: String,
}

/// What is known of a document after the parallel part.
struct Document {
    archive: Vec<u8>,
    status: u8,
    /// Status, kind, declared risk, risk of the tools: what a look-up answers without the record.
    flags: [u8; 4],
    risk: u8,
    digest: [u8; 32],
    tags: Vec<String>,
    apps: Vec<String>,
    keys: Vec<(KeyKind, String)>,
}

/// Builds a layer.
///
/// # Errors
/// Two entries of one id, or more skills than a layer holds.
pub(crate) fn build(
    layer: Layer,
    mut entries: Vec<Entry>,
    registry: &ToolRegistry,
    generation: u64,
) -> Result<BuiltLayer> {
    if entries.len() > LAYER_SKILLS_MAX {
        return Err(StorageError::TooLarge {
            what: "skills in a layer",
            got: entries.len() as u64,
            limit: LAYER_SKILLS_MAX as u64,
        }
        .into());
    }
    for entry in &mut entries {
        entry.subscriptions.sort_unstable();
        entry.subscriptions.dedup();
    }
    entries.sort_by(|a, b| (&a.subscriptions, &a.skill.id).cmp(&(&b.subscriptions, &b.skill.id)));
    refuse_duplicates(&entries)?;
    if entries.is_empty() {
        return Ok(BuiltLayer { files: Vec::new(), skills: 0, digest: hex(&Sha256::digest(b"")) });
    }
    let sets: Vec<Vec<String>> = entries.iter().map(|entry| entry.subscriptions.clone()).collect();
    let group_bytes = groups::build(&sets).map_err(build_error)?;
    let mut bodies = BodiesWriter::default();
    let spans = entries.iter().map(|entry| bodies.add(entry)).collect::<Result<Vec<Spans>>>()?;
    let documents = documents(&entries, &spans, registry)?;
    let digest = layer_digest(&entries, &documents);
    let segment = segment(&entries, &documents, group_bytes, bodies.finish(), generation)?;
    let unavailable = documents.iter().filter(|document| document.status & status::UNAVAILABLE != 0).count();
    let head = SegmentHead {
        hash: segment.0.content_hash.clone(),
        registry: hex(&registry.fingerprint()),
        unavailable: doc_number(unavailable),
    };
    let head = DirectoryHead { layer, segments: vec![head] };
    let directory = directory(&entries, &documents, &segment.1, &head, generation)?;
    Ok(BuiltLayer { files: vec![directory, segment.0], skills: entries.len() as u64, digest })
}

fn refuse_duplicates(entries: &[Entry]) -> Result<()> {
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    let problems: Vec<Problem> = entries
        .iter()
        .filter(|entry| !seen.insert(entry.skill.id.as_str()))
        .map(|entry| {
            Problem::new("duplicate_id", "id", "two skills of a layer have this id; rename or merge one")
                .got(&entry.skill.id)
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Rejected { what: "the layer".to_owned(), problems }) }
}

/// Compiles and archives every entry on all processors, in order.
fn documents(entries: &[Entry], spans: &[Spans], registry: &ToolRegistry) -> Result<Vec<Document>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = entries.len().div_ceil(threads).max(64);
    let parts: Vec<Result<Vec<Document>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = entries
            .chunks(chunk)
            .zip(spans.chunks(chunk))
            .map(|(entries, spans)| {
                scope.spawn(move || {
                    entries.iter().zip(spans).map(|(entry, spans)| document(entry, spans, registry)).collect()
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| {
                worker.join().unwrap_or_else(|_| {
                    Err(StorageError::damaged("build", "a worker ended early; please report this").into())
                })
            })
            .collect()
    });
    let mut documents = Vec::with_capacity(entries.len());
    for part in parts {
        documents.extend(part?);
    }
    Ok(documents)
}

fn document(entry: &Entry, spans: &Spans, registry: &ToolRegistry) -> Result<Document> {
    let skill = &entry.skill;
    let compiled = flow::compile(skill, registry);
    let status = status_of(entry, &compiled);
    let risk = risk_byte(Some(effective_risk(skill.risk, compiled.tool_risk)));
    let record = Record::new(entry, compiled, spans);
    let flags = [status, record.kind, record.declared_risk, record.tool_risk];
    let archive = rkyv::to_bytes::<rkyv::rancor::Error>(&record)
        .map_err(|error| StorageError::damaged("build", format!("skill {:?}: {error}", skill.id)))?
        .to_vec();
    let mut keys = vec![(KeyKind::Id, normalise(&skill.id)), (KeyKind::Name, normalise(&skill.name))];
    keys.extend(skill.aliases.iter().map(|alias| (KeyKind::Alias, normalise(alias))));
    keys.extend(skill.examples.iter().map(|example| (KeyKind::Example, normalise(example))));
    keys.retain(|(_, key)| !key.is_empty());
    let mut tags: Vec<String> =
        skill.tags.iter().map(|tag| normalise(tag)).filter(|tag| !tag.is_empty()).collect();
    tags.sort_unstable();
    tags.dedup();
    let apps = skill.apps.iter().map(|app| app.package.clone()).collect();
    Ok(Document { archive, status, flags, risk, digest: record.digest, tags, apps, keys })
}

fn status_of(entry: &Entry, compiled: &Compiled) -> u8 {
    let mut flags = 0;
    if !compiled.unavailable.is_empty() {
        flags |= status::UNAVAILABLE;
    }
    if entry.skill.kind == Kind::FlowTemplate || entry.skill.allowed_tools.is_some() {
        flags |= status::NAMES_TOOLS;
    }
    if !entry.skill.status.is_active() {
        flags |= status::DEPRECATED;
    }
    if !entry.skill.derived_from.is_empty() {
        flags |= status::DERIVED;
    }
    flags
}

/// SHA-256 over the id-sorted (length-prefixed id, content digest, sorted subscriptions).
fn layer_digest(entries: &[Entry], documents: &[Document]) -> String {
    let sorted: BTreeMap<&str, (&[u8; 32], &[String])> = entries
        .iter()
        .zip(documents)
        .map(|(entry, document)| {
            (entry.skill.id.as_str(), (&document.digest, entry.subscriptions.as_slice()))
        })
        .collect();
    let mut sha = Sha256::new();
    for (id, (digest, subscriptions)) in sorted {
        sha.update((id.len() as u64).to_be_bytes());
        sha.update(id);
        sha.update(digest);
        for subscription in subscriptions {
            sha.update((subscription.len() as u64).to_be_bytes());
            sha.update(subscription);
        }
    }
    hex(&sha.finalize())
}

/// Where each record stands in its section.
type Places = Vec<(u64, u32, u32)>;

fn segment(
    entries: &[Entry],
    documents: &[Document],
    group_bytes: Vec<u8>,
    bodies: Vec<u8>,
    generation: u64,
) -> Result<(Built, Places)> {
    let (records, places) = records(documents)?;
    let table =
        places.iter().fold(Vec::with_capacity(places.len() * 16), |mut table, (offset, length, crc)| {
            table.extend_from_slice(&offset.to_le_bytes());
            table.extend_from_slice(&length.to_le_bytes());
            table.extend_from_slice(&crc.to_le_bytes());
            table
        });
    let columns: Vec<Facet<'_>> = entries
        .iter()
        .zip(documents)
        .map(|(entry, document)| Facet {
            kind: u8::from(entry.skill.kind == Kind::FlowTemplate),
            risk: document.risk,
            status: document.status,
            tags: &document.tags,
            apps: &document.apps,
        })
        .collect();
    let (facet_bytes, tags) = facets::build(&columns).map_err(build_error)?;
    let tag_keys = tags
        .iter()
        .enumerate()
        .map(|(number, tag)| (*tag, Key { kind: KeyKind::Tag, number: doc_number(number) }));
    let keys = documents.iter().enumerate().flat_map(|(doc, document)| {
        let named = document.keys.iter().filter(|(kind, _)| *kind != KeyKind::Example);
        named.map(move |(kind, key)| (key.as_str(), Key { kind: *kind, number: doc_number(doc) }))
    });
    let name_bytes = names::build(keys.chain(tag_keys)).map_err(build_error)?;
    let built = FileBuilder::new(&SEGMENT_SCHEMA)
        .count(0, documents.len() as u64)
        .section(SectionKind::Groups.code(), AT_OPEN, group_bytes)
        .section(SectionKind::Names.code(), AT_TOUCH, name_bytes)
        .section(SectionKind::Facets.code(), AT_TOUCH, facet_bytes)
        .section(SectionKind::Text.code(), AT_TOUCH, text(entries, documents))
        .section(SectionKind::Documents.code(), FLAG_REQUIRED, table)
        .section(SectionKind::Records.code(), FLAG_REQUIRED, records)
        .section(SectionKind::Bodies.code(), FLAG_REQUIRED, bodies)
        .finish(generation)?;
    Ok((built, places))
}

fn records(documents: &[Document]) -> Result<(Vec<u8>, Places)> {
    let mut bytes = Vec::new();
    let mut places = Vec::with_capacity(documents.len());
    for document in documents {
        bytes.resize(bytes.len().next_multiple_of(RECORD_ALIGNMENT), 0);
        let length = u32::try_from(document.archive.len()).map_err(|_| StorageError::TooLarge {
            what: "a record",
            got: document.archive.len() as u64,
            limit: u64::from(u32::MAX),
        })?;
        places.push((bytes.len() as u64, length, crc32c::crc32c(&document.archive)));
        bytes.extend_from_slice(&document.archive);
    }
    Ok((bytes, places))
}

fn text(entries: &[Entry], documents: &[Document]) -> Vec<u8> {
    let mut builder = TextBuilder::new();
    for (entry, document) in entries.iter().zip(documents) {
        let skill = &entry.skill;
        let tags: Vec<&str> = skill.tags.iter().map(String::as_str).collect();
        let aliases: Vec<&str> = skill.aliases.iter().map(String::as_str).collect();
        let examples: Vec<&str> = skill.examples.iter().map(String::as_str).collect();
        builder.add(&Fields {
            id: &skill.id,
            deprecated: document.status & status::DEPRECATED != 0,
            name: &skill.name,
            description: &skill.description,
            tags: &tags,
            aliases: &aliases,
            examples: &examples,
            body: &skill.content,
        });
    }
    builder.finish()
}

fn directory(
    entries: &[Entry],
    documents: &[Document],
    places: &Places,
    head: &DirectoryHead,
    generation: u64,
) -> Result<Built> {
    let rows: Vec<Row> = entries
        .iter()
        .zip(documents)
        .zip(places)
        .enumerate()
        .map(|(ordinal, ((entry, document), (offset, length, crc)))| Row {
            hash: hash128(entry.skill.id.as_bytes()),
            ordinal: doc_number(ordinal),
            flags: u32::from_le_bytes(document.flags),
            place: *offset,
            length: *length,
            crc32c: *crc,
        })
        .collect();
    let mut order: Vec<u32> = (0..doc_number(entries.len())).collect();
    order.sort_by(|a, b| entries[*a as usize].skill.id.cmp(&entries[*b as usize].skill.id));
    let order = order.iter().flat_map(|ordinal| ordinal.to_le_bytes()).collect();
    let keys = documents.iter().enumerate().flat_map(|(ordinal, document)| {
        let keys = document.keys.iter();
        keys.map(move |(kind, key)| (key.as_str(), Key { kind: *kind, number: doc_number(ordinal) }))
    });
    let head = serde_json::to_vec(head).map_err(|error| StorageError::damaged("build", error.to_string()))?;
    let built = FileBuilder::new(&DIRECTORY_SCHEMA)
        .count(0, documents.len() as u64)
        .section(SectionKind::Directory.code(), AT_OPEN, head)
        .section(SectionKind::Ids.code(), AT_TOUCH, ids::build(&rows).map_err(build_error)?)
        .section(
            SectionKind::Live.code(),
            AT_OPEN,
            live::build(&[Bits::full(doc_number(entries.len()))]).map_err(build_error)?,
        )
        .section(SectionKind::Exact.code(), AT_TOUCH, exact::build(keys).map_err(build_error)?)
        .section(SectionKind::Order.code(), AT_TOUCH, order)
        .finish(generation)?;
    Ok(built)
}

/// A document's number. A layer holds at most 16 million, so that this never saturates.
fn doc_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err calls")]
fn build_error(error: BuildError) -> Error {
    StorageError::damaged("build", error.to_string()).into()
}
