//! What queries take and answer.

use serde::Serialize;

use crate::catalog::SkillRef;
use crate::model::{Kind, Layer, Risk};
use crate::tools::ExactCommand;

/// Restrictions of a list or a search; the default restricts nothing. Fields may come with any version.
///
/// ```
/// use repertoire::{Filter, Kind};
///
/// let filter = Filter::default().kind(Kind::FlowTemplate).tag("browser");
/// assert_eq!(filter.tag.as_deref(), Some("browser"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only skills with this tag (normalised comparison).
    pub tag: Option<String>,
    /// Only skills about this app package.
    pub app: Option<String>,
    /// Only this effective risk.
    pub risk: Option<Risk>,
    /// Only this layer.
    pub layer: Option<Layer>,
}

impl Filter {
    /// Only this kind.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Only skills with this tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Only skills about this app package.
    #[must_use]
    pub fn app(mut self, package: impl Into<String>) -> Self {
        self.app = Some(package.into());
        self
    }

    /// Only this effective risk.
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Self {
        self.risk = Some(risk);
        self
    }

    /// Only this layer.
    #[must_use]
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layer = Some(layer);
        self
    }
}

/// One page of `list`.
#[derive(Clone, Debug)]
pub struct ListPage<'a> {
    /// The skills.
    pub skills: Vec<SkillRef<'a>>,
    /// How many pass the filter in all.
    pub total: u64,
    /// Opaque; where the next page begins.
    pub next_cursor: Option<String>,
}

/// Answer of `search`.
#[derive(Clone, Debug)]
pub struct SearchPage<'a> {
    /// Best first.
    pub hits: Vec<Hit<'a>>,
    /// How many skills match at all.
    pub total: u64,
    /// 0 to 1: how well the best hit covers the query, comparable between queries.
    pub confidence: f32,
}

/// One search hit.
#[derive(Clone, Debug)]
pub struct Hit<'a> {
    /// The skill.
    pub skill: SkillRef<'a>,
    /// Ranking score; comparable within one answer only. [`SkillRef::why`] says what it was found by.
    pub score: f32,
}

/// Words that matched in one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// `name`, `description`, `alias`, `example`, `tag`, `body`.
    pub field: &'static str,
    /// The words.
    pub words: Vec<String>,
}

/// Answer of `match`.
#[derive(Clone, Debug)]
pub struct MatchAnswer<'a> {
    /// The skill, if one should handle it.
    pub skill: Option<SkillRef<'a>>,
    /// 0 to 1.
    pub confidence: f32,
    /// One sentence.
    pub reason: String,
    /// The whole request is a device command.
    pub exact_command: Option<ExactCommand>,
    /// Others that came close, best first.
    pub candidates: Vec<SkillRef<'a>>,
}
