//! Resources and the Skills extension: `skills/list`, `skills/get`, `resources/*`. One thin function for each method.
//!
//! Pages are keysets: a cursor names the last id that was seen, so that nothing that stays is repeated or left out
//! while the catalog changes between two pages. No answer says how long it may be kept, which rmcp writes as "not at
//! all" where the revision wants it: a revoked skill is to be gone at once.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmcp::model::{
    DIRECTORY_MIME_TYPE, ErrorData, GetSkillResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::catalog::{Filter, Look, SkillRef};
use crate::error::{Error, shorten};
use crate::limits::MCP_PAGE_SKILLS;
use crate::mcp::documents::{Document, MARKDOWN, Place, place};
use crate::mcp::uri;

/// The template of all skills' main files.
pub(super) const TEMPLATE: &str = "skill://{+id}/SKILL.md";

/// A page of the documents that the caller sees, with the cursor of the next one. It may be short or empty where
/// skills are served by the tools only.
pub(super) fn page<'a>(
    look: &'a Look,
    cursor: Option<&str>,
) -> Result<(Vec<Document<'a>>, Option<String>), ErrorData> {
    let page = look.list(&Filter::default(), MCP_PAGE_SKILLS, cursor).map_err(|error| failed(&error))?;
    let mut documents = Vec::with_capacity(page.skills.len());
    for found in page.skills {
        documents.extend(Document::of(found).map_err(|error| failed(&error))?);
    }
    Ok((documents, page.next_cursor))
}

/// `skills/list`
pub(super) fn list_skills(look: &Look, cursor: Option<&str>) -> Result<ListSkillsResult, ErrorData> {
    let (documents, next) = page(look, cursor)?;
    let mut result = ListSkillsResult::with_all_items(documents.iter().map(Document::entry).collect());
    result.next_cursor = next;
    Ok(result)
}

/// `skills/get`
pub(super) fn get_skill(look: &Look, uri: &str) -> Result<GetSkillResult, ErrorData> {
    match place(look, uri).map_err(|error| failed(&error))? {
        Some(Place::Main(document)) => Ok(GetSkillResult::new(document.entry())),
        _ => Err(ErrorData::invalid_params("Skill not found", Some(json!({"uri": shorten(uri)})))),
    }
}

/// `resources/list`: the main file of each skill; the others are found from its directory or manifest.
pub(super) fn list_resources(look: &Look, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let (documents, next) = page(look, cursor)?;
    let mut result = ListResourcesResult::with_all_items(documents.iter().map(main_file).collect());
    result.next_cursor = next;
    Ok(result)
}

/// `resources/templates/list`
pub(super) fn list_templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "skill")
        .with_title("Skill")
        .with_description("The SKILL.md of a skill, by its id")
        .with_mime_type(MARKDOWN);
    ListResourceTemplatesResult::with_all_items(vec![template])
}

/// `resources/read`
pub(super) fn read(look: &Look, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match place(look, uri).map_err(|error| failed(&error))? {
        Some(Place::Main(document)) => ResourceContents::text(document.text, uri).with_mime_type(MARKDOWN),
        Some(Place::File(document, index)) => file_contents(&document, index, uri)?,
        Some(Place::Directory(..)) | None => return Err(not_found(uri)),
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// `resources/directory/read`: everything in one page, since a skill has at most 512 files.
pub(super) fn read_directory(
    look: &Look,
    uri: &str,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    if cursor.is_some() {
        return Err(ErrorData::invalid_params("a directory is a single page and takes no cursor", None));
    }
    let Some(Place::Directory(document, below)) = place(look, uri).map_err(|error| failed(&error))? else {
        return Err(ErrorData::invalid_params("Directory not found", Some(json!({"uri": shorten(uri)}))));
    };
    let mut children = Vec::new();
    let mut directories = BTreeSet::new();
    if below.is_empty() {
        children.push(main_file(&document));
    }
    let inside = if below.is_empty() { String::new() } else { format!("{below}/") };
    for resource in &document.files {
        let Some(rest) = resource.path.strip_prefix(&inside) else { continue };
        match rest.split_once('/') {
            None => children.push(
                Resource::new(document.file_uri(resource), rest)
                    .with_mime_type(resource.media_type.clone())
                    .with_size(resource.bytes),
            ),
            Some((directory, _)) => {
                directories.insert(directory);
            }
        }
    }
    children.extend(directories.into_iter().map(|name| {
        let path = uri::file(document.skill.id(), &format!("{inside}{name}"));
        Resource::new(path, name).with_mime_type(DIRECTORY_MIME_TYPE)
    }));
    Ok(ListResourcesResult::with_all_items(children))
}

/// `SKILL.md` in a list of resources.
fn main_file(document: &Document<'_>) -> Resource {
    Resource::new(document.uri(), document.name())
        .with_title(document.skill.name())
        .with_description(document.description())
        .with_mime_type(MARKDOWN)
        .with_size(document.text.len() as u64)
}

/// The bytes of a file beside `SKILL.md`: text where it is UTF-8 of a text type, else base64.
fn file_contents(document: &Document<'_>, index: usize, uri: &str) -> Result<ResourceContents, ErrorData> {
    let resource = &document.files[index];
    let bytes = document.skill.resource(&resource.path).map_err(|error| failed(&error))?;
    let bytes = bytes.ok_or_else(|| not_found(uri))?;
    let readable = resource.media_type.starts_with("text/") || resource.media_type == "application/json";
    let contents = match std::str::from_utf8(bytes) {
        Ok(text) if readable => ResourceContents::text(text, uri),
        _ => ResourceContents::blob(BASE64.encode(bytes), uri),
    };
    Ok(contents.with_mime_type(resource.media_type.clone()))
}

/// The error for a URI that names nothing for this caller: the same for one that is hidden.
pub(super) fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("Resource not found", Some(json!({"uri": shorten(uri)})))
}

/// A failure of the catalog. A cursor that is none is the caller's; the rest goes to the log.
pub(super) fn failed(error: &Error) -> ErrorData {
    if let Error::InvalidArguments { problems } = error {
        let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
        return ErrorData::invalid_params(said.join("; "), None);
    }
    tracing::error!(code = error.code(), %error, "resources cannot be read");
    ErrorData::internal_error("the catalog could not be read; the detail is in the server's log", None)
}

/// Whether a skill is offered as a prompt.
pub(super) fn is_prompt(skill: &SkillRef<'_>) -> bool {
    skill.kind() == crate::model::Kind::Knowledge
        && skill.is_available()
        && skill.metadata_text("prompt").is_some_and(|value| value == "true")
}
