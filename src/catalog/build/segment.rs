//! From entries to one payload segment.

use crate::catalog::bodies::BodiesWriter;
use crate::catalog::build::{AT_OPEN, AT_TOUCH, build_error, doc_number};
use crate::catalog::files::{SEGMENT_SCHEMA, SegmentHead};
use crate::catalog::record::{Record, Spans, effective_risk, hex, risk_byte, status};
use crate::error::{Result, StorageError};
use crate::flow::{self, Compiled};
use crate::index::facets::Facet;
use crate::index::hash::hash128;
use crate::index::ids::Row;
use crate::index::names::{Entry as Key, KeyKind};
use crate::index::text::{Fields, TextBuilder};
use crate::index::{SectionKind, facets, groups, names};
use crate::model::{Entry, Kind, normalise};
use crate::snapshot::record::{PAYLOAD_SHIFT, RECORD_ALIGNMENT};
use crate::snapshot::{Built, FLAG_REQUIRED, FileBuilder};
use crate::tools::ToolRegistry;

/// A segment in memory, and what the directory needs of it.
pub(super) struct NewSegment {
    /// The file.
    pub(super) built: Built,
    /// What the directory says of it.
    pub(super) head: SegmentHead,
    /// Its skills in the order of its documents.
    entries: Vec<Entry>,
    documents: Vec<Document>,
    places: Places,
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

/// Where each record stands in its section.
type Places = Vec<(u64, u32, u32)>;

impl NewSegment {
    /// Builds a segment. `entries` are ordered by subscription set, then id.
    ///
    /// # Errors
    /// A part that is larger than its section can hold.
    pub(super) fn new(entries: Vec<Entry>, registry: &ToolRegistry, generation: u64) -> Result<Self> {
        let sets: Vec<Vec<String>> = entries.iter().map(|entry| entry.subscriptions.clone()).collect();
        let group_bytes = groups::build(&sets).map_err(build_error)?;
        let mut bodies = BodiesWriter::default();
        let spans = entries.iter().map(|entry| bodies.add(entry)).collect::<Result<Vec<Spans>>>()?;
        let documents = documents(&entries, &spans, registry)?;
        let (built, places) = segment(&entries, &documents, group_bytes, bodies.finish(), generation)?;
        let unavailable =
            documents.iter().filter(|document| document.status & status::UNAVAILABLE != 0).count();
        let head = SegmentHead {
            hash: built.content_hash.clone(),
            registry: hex(&registry.fingerprint()),
            unavailable: doc_number(unavailable),
        };
        Ok(Self { built, head, entries, documents, places })
    }

    /// Documents.
    pub(super) fn docs(&self) -> u32 {
        doc_number(self.entries.len())
    }

    /// Its rows of the id index, if it is segment `number` and begins at ordinal `base`.
    pub(super) fn rows(&self, number: u64, base: u32) -> impl Iterator<Item = Row> {
        let documents = self.entries.iter().zip(&self.documents).zip(&self.places);
        (base..).zip(documents).map(move |(ordinal, ((entry, document), (offset, length, crc)))| Row {
            hash: hash128(entry.skill.id.as_bytes()),
            ordinal,
            flags: u32::from_le_bytes(document.flags),
            place: number << PAYLOAD_SHIFT | offset,
            length: *length,
            crc32c: *crc,
        })
    }

    /// The keys of the exact table, if it begins at ordinal `base`.
    pub(super) fn keys(&self, base: u32) -> impl Iterator<Item = (&str, Key)> {
        (base..).zip(&self.documents).flat_map(|(ordinal, document)| {
            let keys = document.keys.iter();
            keys.map(move |(kind, key)| (key.as_str(), Key { kind: *kind, number: ordinal }))
        })
    }

    /// Id, content digest and subscriptions of a document.
    pub(super) fn leaf(&self, doc: u32) -> Option<(&str, &[u8; 32], Vec<&str>)> {
        let (entry, document) = (self.entries.get(doc as usize)?, self.documents.get(doc as usize)?);
        let subscriptions = entry.subscriptions.iter().map(String::as_str).collect();
        Some((&entry.skill.id, &document.digest, subscriptions))
    }
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
