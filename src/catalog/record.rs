//! The archived form of a skill: what a snapshot holds and a query borrows.
//!
//! One rkyv archive a record. Large byte ranges (body, source text, resources) stand outside in their own section,
//! so that validating a record on first touch never walks them. Templates and parameters are flat: nothing in an
//! archive is recursive, so that no hostile file can exhaust the stack.

use rkyv::{Archive, Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Problem, Result, StorageError};
use crate::flow::{Compiled, Program};
use crate::model::{App, Entry, Kind, Parameter, Resource, Risk, Skill, Status, Step};

/// A byte range in the segment's `bodies` section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub(crate) struct Span {
    /// Offset in the section.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) length: u32,
    /// CRC-32C of the bytes.
    pub(crate) crc32c: u32,
}

/// A file beside the skill.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub(crate) struct ResourceRecord {
    pub(crate) path: String,
    pub(crate) media_type: String,
    pub(crate) sha256: [u8; 32],
    pub(crate) span: Span,
}

/// An app that the skill is about; 0 stands for "no bound".
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub(crate) struct AppRecord {
    pub(crate) package: String,
    pub(crate) min_version_code: u64,
    pub(crate) max_version_code: u64,
}

/// Which optional parts of a skill are present; the texts themselves are empty where absent.
pub(crate) mod present {
    pub(crate) const LOCALE: u32 = 1;
    pub(crate) const UPDATED_AT: u32 = 1 << 1;
    pub(crate) const LICENSE: u32 = 1 << 2;
    pub(crate) const AUTHOR: u32 = 1 << 3;
    pub(crate) const COMPATIBILITY: u32 = 1 << 4;
    pub(crate) const ALLOWED_TOOLS: u32 = 1 << 5;
    pub(crate) const EFFECTIVE_TOOLS: u32 = 1 << 6;
    pub(crate) const DEPRECATED: u32 = 1 << 7;
    pub(crate) const REPLACED_BY: u32 = 1 << 8;
    pub(crate) const SOURCE: u32 = 1 << 9;
    pub(crate) const ORIGIN: u32 = 1 << 10;
}

/// Flags of a document: the `status` column of the facets.
pub(crate) mod status {
    /// Cannot be used with the tools that it was compiled against.
    pub(crate) const UNAVAILABLE: u8 = 1;
    /// A flow, or a skill with an allowlist: another tool registry may decide otherwise.
    pub(crate) const NAMES_TOOLS: u8 = 1 << 1;
    /// Deprecated.
    pub(crate) const DEPRECATED: u8 = 1 << 2;
    /// Made from other skills, and masked with them.
    pub(crate) const DERIVED: u8 = 1 << 3;
}

/// One skill. Fields that answers print come last, near the root.
#[derive(Clone, Debug, Archive, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) examples: Vec<String>,
    pub(crate) success_criteria: Vec<String>,
    pub(crate) metadata_json: String,
    pub(crate) parameters_json: String,
    pub(crate) steps_json: String,
    pub(crate) program: Program,
    pub(crate) unavailable_json: Vec<String>,
    pub(crate) resources: Vec<ResourceRecord>,
    pub(crate) derived_from: Vec<String>,
    pub(crate) preapproved_tools: Vec<String>,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) effective_tools: Vec<String>,
    pub(crate) apps: Vec<AppRecord>,
    pub(crate) origin_root: String,
    pub(crate) origin_path: String,
    pub(crate) license: String,
    pub(crate) author: String,
    pub(crate) compatibility: String,
    pub(crate) deprecated_reason: String,
    pub(crate) replaced_by: String,
    pub(crate) locale: String,
    pub(crate) updated_at: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) version: String,
    pub(crate) description: String,
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) body: Span,
    pub(crate) source: Span,
    pub(crate) digest: [u8; 32],
    pub(crate) present: u32,
    pub(crate) kind: u8,
    /// 0 undeclared, else 1 + risk.
    pub(crate) declared_risk: u8,
    /// 0 none, else 1 + highest risk of the tools named.
    pub(crate) tool_risk: u8,
}

/// The spans that the writer of the bodies section assigned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    pub(crate) body: Span,
    pub(crate) source: Option<Span>,
    pub(crate) resources: Vec<Span>,
}

/// Risk as the byte that records and facets keep: 0 for none, else 1 to 3.
pub(crate) fn risk_byte(risk: Option<Risk>) -> u8 {
    match risk {
        None => 0,
        Some(Risk::Low) => 1,
        Some(Risk::Medium) => 2,
        Some(Risk::High) => 3,
    }
}

/// The inverse of [`risk_byte`]; unknown bytes count as high, the most careful value.
pub(crate) fn risk_from_byte(byte: u8) -> Option<Risk> {
    match byte {
        0 => None,
        1 => Some(Risk::Low),
        2 => Some(Risk::Medium),
        _ => Some(Risk::High),
    }
}

/// Risk that an answer shows: declared, else that of the tools, else medium.
pub(crate) fn shown_risk(declared: Option<Risk>, tools: Option<Risk>) -> Risk {
    declared.or(tools).unwrap_or(Risk::Medium)
}

/// Risk that policy works with: the highest of declared and tools; medium where neither is known.
pub(crate) fn effective_risk(declared: Option<Risk>, tools: Option<Risk>) -> Risk {
    declared.max(tools).unwrap_or(Risk::Medium)
}

impl Record {
    /// The archived form of an entry.
    pub(crate) fn new(entry: &Entry, compiled: Compiled, spans: &Spans) -> Self {
        let skill = &entry.skill;
        let mut bits = Present(0);
        let (reason, replaced_by) = match &skill.status {
            Status::Active => (None, &None),
            Status::Deprecated { reason, replaced_by } => (Some(reason.clone()), replaced_by),
        };
        let root = entry.origin.as_ref().map(|origin| origin.root.clone());
        bits.note(present::SOURCE, spans.source.is_some());
        Self {
            examples: skill.examples.clone(),
            success_criteria: skill.success_criteria.clone(),
            metadata_json: if skill.metadata.is_empty() { String::new() } else { json_text(&skill.metadata) },
            parameters_json: if skill.parameters.is_empty() {
                String::new()
            } else {
                json_text(&skill.parameters)
            },
            steps_json: if skill.steps.is_empty() { String::new() } else { json_text(&skill.steps) },
            program: compiled.program,
            unavailable_json: compiled.unavailable.iter().map(json_text).collect(),
            resources: resource_records(&skill.resources, &spans.resources),
            derived_from: skill.derived_from.clone(),
            preapproved_tools: skill.preapproved_tools.clone(),
            allowed_tools: bits.take(present::ALLOWED_TOOLS, skill.allowed_tools.as_ref()),
            effective_tools: bits.take(present::EFFECTIVE_TOOLS, compiled.effective_tools.as_ref()),
            apps: skill.apps.iter().map(app_record).collect(),
            origin_root: bits.take(present::ORIGIN, root.as_ref()),
            origin_path: entry.origin.as_ref().map(|origin| origin.path.clone()).unwrap_or_default(),
            license: bits.take(present::LICENSE, skill.license.as_ref()),
            author: bits.take(present::AUTHOR, skill.author.as_ref()),
            compatibility: bits.take(present::COMPATIBILITY, skill.compatibility.as_ref()),
            deprecated_reason: bits.take(present::DEPRECATED, reason.as_ref()),
            replaced_by: bits.take(present::REPLACED_BY, replaced_by.as_ref()),
            locale: bits.take(present::LOCALE, skill.locale.as_ref()),
            updated_at: bits.take(present::UPDATED_AT, skill.updated_at.as_ref()),
            aliases: skill.aliases.clone(),
            tags: skill.tags.clone(),
            version: skill.version.clone(),
            description: skill.description.clone(),
            name: skill.name.clone(),
            id: skill.id.clone(),
            body: spans.body,
            source: spans.source.unwrap_or_default(),
            digest: skill.digest(),
            kind: u8::from(skill.kind == Kind::FlowTemplate),
            declared_risk: risk_byte(skill.risk),
            tool_risk: risk_byte(compiled.tool_risk),
            present: bits.0,
        }
    }
}

/// Collects which optional parts are there.
struct Present(u32);

impl Present {
    fn note(&mut self, bit: u32, there: bool) {
        if there {
            self.0 |= bit;
        }
    }

    fn take<T: Clone + Default>(&mut self, bit: u32, value: Option<&T>) -> T {
        self.note(bit, value.is_some());
        value.cloned().unwrap_or_default()
    }
}

impl ArchivedRecord {
    /// Whether an optional part is there.
    pub(crate) fn has(&self, bit: u32) -> bool {
        self.present.to_native() & bit != 0
    }

    /// An owned copy of the skill, with this body.
    ///
    /// # Errors
    /// The record's JSON parts do not parse: the file was not written by this program.
    pub(crate) fn to_skill(&self, content: &str) -> Result<Skill> {
        Ok(Skill {
            id: self.id.to_string(),
            kind: if self.kind == 0 { Kind::Knowledge } else { Kind::FlowTemplate },
            name: self.name.to_string(),
            description: self.description.to_string(),
            version: self.version.to_string(),
            tags: strings(&self.tags),
            aliases: strings(&self.aliases),
            examples: strings(&self.examples),
            locale: self.text(&self.locale, present::LOCALE),
            updated_at: self.text(&self.updated_at, present::UPDATED_AT),
            risk: risk_from_byte(self.declared_risk),
            apps: self.apps.iter().map(app).collect(),
            allowed_tools: self.has(present::ALLOWED_TOOLS).then(|| strings(&self.allowed_tools)),
            preapproved_tools: strings(&self.preapproved_tools),
            success_criteria: strings(&self.success_criteria),
            status: self.status(),
            license: self.text(&self.license, present::LICENSE),
            author: self.text(&self.author, present::AUTHOR),
            compatibility: self.text(&self.compatibility, present::COMPATIBILITY),
            metadata: self.json(&self.metadata_json, "metadata")?,
            content: content.to_owned(),
            parameters: self.json::<Vec<Parameter>>(&self.parameters_json, "parameters")?,
            steps: self.json::<Vec<Step>>(&self.steps_json, "steps")?,
            resources: self.resources.iter().map(resource).collect(),
            derived_from: strings(&self.derived_from),
        })
    }

    /// Active, or deprecated with its reason.
    pub(crate) fn status(&self) -> Status {
        if self.has(present::DEPRECATED) {
            Status::Deprecated {
                reason: self.deprecated_reason.to_string(),
                replaced_by: self.text(&self.replaced_by, present::REPLACED_BY),
            }
        } else {
            Status::Active
        }
    }

    fn text(&self, value: &rkyv::string::ArchivedString, bit: u32) -> Option<String> {
        self.has(bit).then(|| value.to_string())
    }

    fn json<T: serde::de::DeserializeOwned + Default>(&self, text: &str, part: &str) -> Result<T> {
        if text.is_empty() {
            return Ok(T::default());
        }
        serde_json::from_str(text).map_err(|error| {
            Error::Storage(StorageError::damaged(
                "snapshot",
                format!("the {part} of skill {:?} are not JSON: {error}", self.id.as_str()),
            ))
        })
    }
}

fn strings(list: &rkyv::vec::ArchivedVec<rkyv::string::ArchivedString>) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// JSON text of plain data. Model types have string keys only, so that this cannot fail on them.
fn json_text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| Value::Null.to_string())
}

fn app_record(app: &App) -> AppRecord {
    AppRecord {
        package: app.package.clone(),
        min_version_code: app.min_version_code.unwrap_or(0),
        max_version_code: app.max_version_code.unwrap_or(0),
    }
}

fn app(record: &ArchivedAppRecord) -> App {
    let bound = |code: u64| (code != 0).then_some(code);
    App {
        package: record.package.to_string(),
        min_version_code: bound(record.min_version_code.to_native()),
        max_version_code: bound(record.max_version_code.to_native()),
    }
}

fn resource_records(resources: &[Resource], spans: &[Span]) -> Vec<ResourceRecord> {
    resources
        .iter()
        .zip(spans)
        .map(|(resource, span)| ResourceRecord {
            path: resource.path.clone(),
            media_type: resource.media_type.clone(),
            sha256: digest_from_hex(&resource.sha256),
            span: *span,
        })
        .collect()
}

fn resource(record: &ArchivedResourceRecord) -> Resource {
    Resource {
        path: record.path.to_string(),
        sha256: hex(&record.sha256),
        bytes: u64::from(record.span.length.to_native()),
        media_type: record.media_type.to_string(),
    }
}

/// A problem as a record keeps it; text that is none becomes a problem that says so.
pub(crate) fn problem_from_json(text: &str) -> Problem {
    serde_json::from_str(text).unwrap_or_else(|_| {
        Problem::new("unreadable_reason", "", "the stored reason cannot be read").got(text)
    })
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// 32 bytes from hexadecimal; digits that are none count as zero (the model's rules refuse such a digest earlier).
fn digest_from_hex(text: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte =
            std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()).unwrap_or(0);
    }
    bytes
}
