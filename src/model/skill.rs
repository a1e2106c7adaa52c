//! The skill: one unit of knowledge, with everything that an author can say about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::Parameter;

/// Version of a skill whose author gave none.
pub(super) const VERSION_DEFAULT: &str = "0";

/// One skill in its canonical form. `Serialize` writes the canonical JSON members (defaults left out); reading goes
/// through [`Skill::from_json`](crate::model::Skill::from_json), which reports every problem at once.
///
/// A `Skill` never carries subscriptions, layer or digest: those belong to the place where it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Skill {
    /// Stable identifier; see [`crate::model::check_id`] for the grammar.
    pub id: String,
    /// What the skill holds.
    pub kind: Kind,
    /// Short name for people.
    pub name: String,
    /// What it is for, in a sentence or two.
    pub description: String,
    /// Version text; `"0"` when the author gave none.
    #[serde(skip_serializing_if = "is_version_zero")]
    pub version: String,
    /// Topics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Other names under which the skill is found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Requests that should reach the skill.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// BCP 47 tag of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// RFC 3339 time of the last change, only where the author stated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// Risk as declared by the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Android apps that the skill is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apps: Vec<App>,
    /// Enforced allowlist: absent is no restriction, present and empty allows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// Tools an Agent Skills file names as pre-approved; shown, never widening anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preapproved_tools: Vec<String>,
    /// What the screen shows when the task is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub success_criteria: Vec<String>,
    /// Active, or deprecated with a reason.
    #[serde(skip_serializing_if = "Status::is_active")]
    pub status: Status,
    /// Licence text or SPDX expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// What the skill needs, in prose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Anything else the author wrote.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, Value>,
    /// Markdown of a knowledge skill.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// Parameters of a flow template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// Steps of a flow template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Files beside the skill; their bytes are kept apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// Learned layer: the skills it was made from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<String>,
}

impl Skill {
    /// A skill with the four required fields and every other one at its default.
    ///
    /// ```
    /// use repertoire::model::{Kind, Skill};
    ///
    /// let mut skill = Skill::new("wifi", Kind::Knowledge, "Wi-Fi", "Find and change the Wi-Fi settings.");
    /// skill.content = "Prefer the settings panel.".to_owned();
    /// assert!(skill.problems().is_empty());
    /// ```
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        kind: Kind,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            kind,
            name: name.into(),
            description: description.into(),
            version: VERSION_DEFAULT.to_owned(),
            tags: Vec::new(),
            aliases: Vec::new(),
            examples: Vec::new(),
            locale: None,
            updated_at: None,
            risk: None,
            apps: Vec::new(),
            allowed_tools: None,
            preapproved_tools: Vec::new(),
            success_criteria: Vec::new(),
            status: Status::Active,
            license: None,
            author: None,
            compatibility: None,
            metadata: BTreeMap::new(),
            content: String::new(),
            parameters: Vec::new(),
            steps: Vec::new(),
            resources: Vec::new(),
            derived_from: Vec::new(),
        }
    }
}

/// What a skill holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Markdown that a language model reads.
    Knowledge,
    /// Parameters and ordered tool calls.
    FlowTemplate,
}

impl Kind {
    /// Name as written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::FlowTemplate => "flow_template",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Knowledge, Self::FlowTemplate].into_iter().find(|kind| kind.name() == name)
    }
}

/// How much harm a call or a skill can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Looks, or waits.
    Low,
    /// Changes what is on the screen.
    Medium,
    /// Changes a setting, a permission, money, or messages somebody.
    High,
}

impl Risk {
    /// Name as written in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The risk of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|risk| risk.name() == name)
    }
}

/// An Android app that a skill is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct App {
    /// Package name.
    pub package: String,
    /// Lowest version code it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_version_code: Option<u64>,
    /// Highest version code it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_version_code: Option<u64>,
}

impl App {
    /// An app in any version.
    #[must_use]
    pub fn new(package: impl Into<String>) -> Self {
        Self { package: package.into(), min_version_code: None, max_version_code: None }
    }
}

/// Whether a skill should still be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Status {
    /// In use.
    #[default]
    Active,
    /// Ranks below active skills and says so.
    Deprecated {
        /// Why.
        reason: String,
        /// What to use instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaced_by: Option<String>,
    },
}

impl Status {
    /// True for [`Status::Active`].
    #[must_use]
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Active)
    }
}

/// One tool call of a flow template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// Tool name, canonical or alias.
    pub tool: String,
    /// Arguments; string values may hold `{placeholders}`.
    pub args_template: Map<String, Value>,
    /// For the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The agent may skip it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

impl Step {
    /// A step without a note.
    #[must_use]
    pub fn new(tool: impl Into<String>, args_template: Map<String, Value>) -> Self {
        Self { tool: tool.into(), args_template, note: None, optional: false }
    }
}

/// A file beside a SKILL.md: a reference, a script, an asset. Never executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Resource {
    /// Path below the skill's folder, with `/`.
    pub path: String,
    /// Lower-case hexadecimal SHA-256 of the bytes.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Media type, guessed from the name.
    pub media_type: String,
}

impl Resource {
    /// The description of a file's bytes; `sha256` is lower-case hexadecimal.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        sha256: impl Into<String>,
        bytes: u64,
        media_type: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), sha256: sha256.into(), bytes, media_type: media_type.into() }
    }
}

fn is_version_zero(version: &String) -> bool {
    version == VERSION_DEFAULT
}
