//! What a reader is given and what it answers.

use std::sync::Arc;

use crate::error::Problem;
use crate::flow::compile;
use crate::import::excerpt::Excerpt;
use crate::model::{Entry, Kind};
use crate::tools::ToolRegistry;

/// A file as intake hands it to a reader.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileContext<'a> {
    /// Path below the imported root, with `/`.
    pub path: &'a str,
    /// Name of the folder that holds the file.
    pub directory: &'a str,
    /// The file.
    pub bytes: &'a [u8],
    /// Files beside a SKILL.md: path below its folder and bytes, sorted by path.
    pub resources: Vec<(String, Arc<[u8]>)>,
}

impl<'a> FileContext<'a> {
    /// A file without resources.
    #[must_use]
    pub fn new(path: &'a str, directory: &'a str, bytes: &'a [u8]) -> Self {
        Self { path, directory, bytes, resources: Vec::new() }
    }
}

/// The formats that people write skills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `TouchPilot` Skills v2: a SKILL.md with `id`, `title` and `risk`.
    SkillsV2,
    /// `TouchPilot` v1: a SKILL.md without front matter.
    SkillsV1,
    /// The Agent Skills standard: a SKILL.md with `name` and `description`.
    AgentSkills,
    /// `TouchPilot` workflow v1: a JSON file with `version` and `steps`.
    WorkflowV1,
    /// A Maestro flow: a YAML file with a configuration and a list of commands.
    MaestroFlow,
    /// Canonical JSON: one skill, an array of skills, or one skill a line.
    CanonicalJson,
}

/// One skill of a file: read, or refused with everything that is wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillReport {
    /// The id that the file asks for, where it could be read.
    pub id: Option<String>,
    /// The skill, without origin; or the problems, in the order of the file.
    pub result: Result<Entry, Vec<Problem>>,
    /// What was accepted with a warning.
    pub warnings: Vec<Problem>,
    /// Why the skill cannot be used with the tools that there are; it is kept all the same.
    pub unavailable: Vec<Problem>,
    /// Line and column where the skill begins in its file, both from 1; `None` where a file holds nothing else.
    pub place: Option<(u32, u32)>,
    /// The lines that the places of problems and warnings are in; of some places only, where there are many.
    pub excerpts: Vec<Excerpt>,
}

impl SkillReport {
    /// Adds what the tools of the deployment say about the skill: warnings, and reasons why it is unavailable.
    pub fn judge(&mut self, registry: &ToolRegistry) {
        let Ok(entry) = &self.result else { return };
        if entry.skill.kind == Kind::FlowTemplate || entry.skill.allowed_tools.is_some() {
            let compiled = compile(&entry.skill, registry);
            self.unavailable = compiled.unavailable;
            self.warnings.extend(compiled.warnings);
        }
    }

    /// A refusal.
    #[must_use]
    pub fn refused(id: Option<String>, problems: Vec<Problem>) -> Self {
        Self::new(id, Err(problems))
    }

    /// A skill that is taken.
    #[must_use]
    pub fn accepted(id: Option<String>, entry: Entry) -> Self {
        Self::new(id, Ok(entry))
    }

    fn new(id: Option<String>, result: Result<Entry, Vec<Problem>>) -> Self {
        Self { id, result, warnings: Vec::new(), unavailable: Vec::new(), place: None, excerpts: Vec::new() }
    }
}

/// Everything that one file holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileReport {
    /// Path below the imported root, with `/`.
    pub path: String,
    /// What it was read as; `None` where it could not be told.
    pub format: Option<Format>,
    /// Its skills in order; exactly one for a SKILL.md.
    pub skills: Vec<SkillReport>,
    /// Why it is not sure that the file was meant to hold skills; they are then all refused.
    pub doubt: Option<Doubt>,
}

/// What is known of a file that nothing says is meant to hold skills. Where it published a skill before, it is refused
/// all the same, so that the skill stays until somebody says what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// It can be read and holds none; nothing needs to be said about it.
    NoSkill,
    /// It cannot be told: the file is passed over, and that is said.
    Unclear,
}

impl FileReport {
    /// A file that could not be read at all.
    #[must_use]
    pub fn refused(path: impl Into<String>, format: Option<Format>, problem: Problem) -> Self {
        Self::new(path, format, vec![SkillReport::refused(None, vec![problem])])
    }

    /// A file that may not have been meant to hold skills.
    #[must_use]
    pub fn doubtful(path: impl Into<String>, doubt: Doubt, problem: Problem) -> Self {
        Self { doubt: Some(doubt), ..Self::refused(path, None, problem) }
    }

    /// A file that was read.
    #[must_use]
    pub fn new(path: impl Into<String>, format: Option<Format>, skills: Vec<SkillReport>) -> Self {
        Self { path: path.into(), format, skills, doubt: None }
    }
}
