//! A skill as a directory of files, with the digests by which hosts remember what a user approved.

use rmcp::model::{Skill as Entry, SkillFrontmatter, SkillResource, SkillResources};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::catalog::{Look, SkillRef};
use crate::error::Result;
use crate::import::{served, served_name};
use crate::limits::{RESOURCES_BYTES_MAX, SERVED_FILES_MAX};
use crate::mcp::uri::{self, SKILL_MD};
use crate::model::Resource;

/// Media type of `SKILL.md`.
pub(super) const MARKDOWN: &str = "text/markdown";

/// The files of one skill.
pub(super) struct Document<'a> {
    pub(super) skill: SkillRef<'a>,
    /// The bytes of `SKILL.md`.
    pub(super) text: String,
    front: Map<String, Value>,
    /// The files beside it.
    pub(super) files: Vec<Resource>,
}

/// What a URI names.
pub(super) enum Place<'a> {
    /// `SKILL.md` of a skill.
    Main(Document<'a>),
    /// Another file of it.
    File(Document<'a>, usize),
    /// The directory of a skill, or one in it; the text is its path below the skill, empty for the skill itself.
    Directory(Document<'a>, String),
}

impl<'a> Document<'a> {
    /// The document of a skill that the caller sees; `None` where it is served by the tools only: it cannot be used
    /// here, its id does not fit the standard, or it is larger than hosts take.
    pub(super) fn of(found: SkillRef<'a>) -> Result<Option<Self>> {
        if !found.is_available() || served_name(found.id()).is_none() {
            return Ok(None);
        }
        let mut skill = found.to_skill()?;
        // Ids of other skills, which this caller may not see.
        skill.derived_from.clear();
        let Some(file) = served(&skill, found.source_text()?) else { return Ok(None) };
        let mut files = std::mem::take(&mut skill.resources);
        files.retain(|resource| resource.path != SKILL_MD);
        let bytes =
            files.iter().fold(file.text.len() as u64, |sum, resource| sum.saturating_add(resource.bytes));
        if files.len() >= SERVED_FILES_MAX || bytes > RESOURCES_BYTES_MAX as u64 {
            return Ok(None);
        }
        Ok(Some(Self { skill: found, text: file.text, front: file.front, files }))
    }

    /// The URI of its `SKILL.md`.
    pub(super) fn uri(&self) -> String {
        uri::file(self.skill.id(), SKILL_MD)
    }

    /// The URI of a file beside it.
    pub(super) fn file_uri(&self, resource: &Resource) -> String {
        uri::file(self.skill.id(), &resource.path)
    }

    /// `name` of the front matter.
    pub(super) fn name(&self) -> &str {
        self.front.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// `description` of the front matter.
    pub(super) fn description(&self) -> &str {
        self.front.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// As `skills/list` and `skills/get` show it.
    pub(super) fn entry(&self) -> Entry {
        let mut front = SkillFrontmatter::new(self.name(), self.description());
        for (key, value) in self.front.iter().filter(|(key, _)| *key != "name" && *key != "description") {
            front = front.with_field(key.clone(), value.clone());
        }
        let mut files = vec![SkillResource::from_bytes(self.uri(), self.text.as_bytes())];
        files.extend(self.files.iter().map(|resource| {
            SkillResource::new(self.file_uri(resource), format!("sha256:{}", resource.sha256), resource.bytes)
        }));
        Entry::new(self.uri(), front, SkillResources::Files(files))
    }
}

/// What a URI names for this caller; `None` for nothing, whatever the reason.
pub(super) fn place<'a>(look: &'a Look, uri: &str) -> Result<Option<Place<'a>>> {
    let Some(path) = uri::path(uri) else { return Ok(None) };
    if let Some(document) = document(look, &path)? {
        return Ok(Some(Place::Directory(document, String::new())));
    }
    for (id, below) in uri::cuts(&path) {
        let Some(document) = document(look, id)? else { continue };
        if below == SKILL_MD {
            return Ok(Some(Place::Main(document)));
        }
        if let Some(index) = document.files.iter().position(|resource| resource.path == below) {
            return Ok(Some(Place::File(document, index)));
        }
        let inside = format!("{below}/");
        if document.files.iter().any(|resource| resource.path.starts_with(&inside)) {
            return Ok(Some(Place::Directory(document, below.to_owned())));
        }
    }
    Ok(None)
}

fn document<'a>(look: &'a Look, id: &str) -> Result<Option<Document<'a>>> {
    match look.get(id)? {
        Some(found) => Document::of(found),
        None => Ok(None),
    }
}

/// The digest of what a URI answers; `None` for nothing.
pub(super) fn digest(look: &Look, uri: &str) -> Result<Option<[u8; 32]>> {
    Ok(match place(look, uri)? {
        Some(Place::Main(document)) => Some(Sha256::digest(document.text.as_bytes()).into()),
        Some(Place::File(document, index)) => {
            Some(Sha256::digest(document.files[index].sha256.as_bytes()).into())
        }
        Some(Place::Directory(..)) | None => None,
    })
}
