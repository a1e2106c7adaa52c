//! A validated record, borrowed from a look.

use rkyv::string::ArchivedString;

use crate::catalog::Look;
use crate::catalog::open::OpenLayer;
use crate::catalog::record::{ArchivedRecord, effective_risk, present, risk_from_byte, shown_risk};
use crate::error::{Problem, Result};
use crate::model::{Kind, Layer, Risk, Skill, Status};

/// A skill that the caller may see. Reading its fields cannot fail and copies nothing; body, source text and
/// resources are checked on first touch and can.
#[derive(Clone, Copy)]
pub struct SkillRef<'a> {
    pub(crate) look: &'a Look,
    pub(crate) open: &'a OpenLayer,
    pub(crate) ordinal: u32,
    pub(crate) record: &'a ArchivedRecord,
}

impl std::fmt::Debug for SkillRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillRef")
            .field("id", &self.id())
            .field("layer", &self.layer())
            .finish_non_exhaustive()
    }
}

impl<'a> SkillRef<'a> {
    /// Id.
    #[must_use]
    pub fn id(&self) -> &'a str {
        &self.record.id
    }

    /// Knowledge or flow template.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.record.kind == 0 { Kind::Knowledge } else { Kind::FlowTemplate }
    }

    /// Name for people.
    #[must_use]
    pub fn name(&self) -> &'a str {
        &self.record.name
    }

    /// What it is for.
    #[must_use]
    pub fn description(&self) -> &'a str {
        &self.record.description
    }

    /// Version text.
    #[must_use]
    pub fn version(&self) -> &'a str {
        &self.record.version
    }

    /// Topics.
    #[must_use]
    pub fn tags(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        self.record.tags.iter().map(ArchivedString::as_str)
    }

    /// Other names.
    #[must_use]
    pub fn aliases(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        self.record.aliases.iter().map(ArchivedString::as_str)
    }

    /// Requests that should reach it.
    #[must_use]
    pub fn examples(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        self.record.examples.iter().map(ArchivedString::as_str)
    }

    /// Risk to show: as declared, else that of its tools, else medium.
    #[must_use]
    pub fn risk(&self) -> Risk {
        shown_risk(risk_from_byte(self.record.declared_risk), self.tool_risk())
    }

    /// Risk to act on: the highest of the declared one and that of its tools.
    #[must_use]
    pub fn effective_risk(&self) -> Risk {
        effective_risk(risk_from_byte(self.record.declared_risk), self.tool_risk())
    }

    fn tool_risk(&self) -> Option<Risk> {
        match self.open.compiled_now(self.ordinal) {
            Some(now) => now.tool_risk,
            None => risk_from_byte(self.record.tool_risk),
        }
    }

    /// Active or deprecated.
    #[must_use]
    pub fn status(&self) -> Status {
        self.record.status()
    }

    /// The layer that this copy comes from.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.open.layer
    }

    /// SHA-256 of the canonical JSON.
    #[must_use]
    pub fn digest(&self) -> &'a [u8; 32] {
        &self.record.digest
    }

    /// Whether the skill can be used with the tools of this deployment.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.open.available.test(self.ordinal)
    }

    /// Why the skill cannot be used with the tools of this deployment; empty if it can.
    #[must_use]
    pub fn unavailable(&self) -> Vec<Problem> {
        if self.is_available() { Vec::new() } else { self.open.unavailable(self.ordinal, self.record) }
    }

    /// Canonical names of the tools that it may use; `None` is no restriction, an empty list is none.
    #[must_use]
    pub fn effective_tools(&self) -> Option<Vec<String>> {
        match self.open.compiled_now(self.ordinal) {
            Some(now) => now.effective_tools.clone(),
            None => self
                .record
                .has(present::EFFECTIVE_TOOLS)
                .then(|| self.record.effective_tools.iter().map(ToString::to_string).collect()),
        }
    }

    /// The markdown body; empty for a flow template. Zero-copy.
    ///
    /// # Errors
    /// The bytes on disk do not match their checksum.
    pub fn content(&self) -> Result<&'a str> {
        self.look.noting(self.open.body(self.ordinal, self.record))
    }

    /// The file as it was written, where there was one.
    ///
    /// # Errors
    /// The bytes on disk do not match their checksum.
    pub fn source_text(&self) -> Result<Option<&'a [u8]>> {
        if !self.record.has(present::SOURCE) {
            return Ok(None);
        }
        self.look.noting(self.open.range(self.ordinal, &self.record.source)).map(Some)
    }

    /// The bytes of a resource; `None` if the skill has none of that path.
    ///
    /// # Errors
    /// The bytes on disk do not match their checksum.
    pub fn resource(&self, path: &str) -> Result<Option<&'a [u8]>> {
        match self.record.resources.iter().find(|resource| resource.path.as_str() == path) {
            None => Ok(None),
            Some(resource) => self.look.noting(self.open.range(self.ordinal, &resource.span)).map(Some),
        }
    }

    /// A text of the author's metadata; `None` where there is none of that key. Cost: the metadata are parsed where
    /// they hold the key at all.
    #[must_use]
    pub fn metadata_text(&self, key: &str) -> Option<String> {
        let json = self.record.metadata_json.as_str();
        if !json.contains(key) {
            return None;
        }
        let Ok(serde_json::Value::Object(mut members)) = serde_json::from_str(json) else { return None };
        match members.remove(key)? {
            serde_json::Value::String(text) => Some(text),
            serde_json::Value::Bool(flag) => Some(flag.to_string()),
            _ => None,
        }
    }

    /// An owned copy of everything but resources. Cost: one allocation a field.
    ///
    /// # Errors
    /// The body's bytes on disk do not match their checksum.
    pub fn to_skill(&self) -> Result<Skill> {
        self.look.noting(self.record.to_skill(self.content()?))
    }
}
