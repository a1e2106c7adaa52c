//! What queries take and answer.

use serde::Serialize;

use crate::catalog::SkillRef;
use crate::model::{Kind, Layer, Risk};
use crate::tools::ExactCommand;

/// Restrictions of a list or a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
