//! SKILL.md: which of the three formats it is, and what all of them share.

use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::error::Problem;
use crate::import::excerpt::Excerpt;
use crate::import::fence::{self, Cut, Split};
use crate::import::fields::Written;
use crate::import::front::Front;
use crate::import::identity::has_markup;
use crate::import::report::{FileContext, FileReport, Format, SkillReport};
use crate::import::text::{Position, Prepared, prepare};
use crate::import::{agent, legacy, media, v2};
use crate::model::{Entry, Resource, Skill};
use crate::tools::{Permission, ToolRegistry, exact_command};

/// A skill on its way: what was read, what is wrong, what is told.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) skill: Skill,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
    /// Where fields stand, for problems found later.
    pub(crate) places: Vec<(&'static str, Position)>,
    /// Whether its id cannot be told, although there is one.
    pub(crate) nameless: bool,
}

/// Reads a SKILL.md of any format. Cost: linear in the file; nothing is kept but the skill and the bytes.
#[must_use]
pub fn read_skill_file(file: &FileContext<'_>, registry: &ToolRegistry) -> FileReport {
    let prepared = match prepare(file.bytes) {
        Ok(prepared) => prepared,
        Err(problem) => return FileReport::refused(file.path, None, problem),
    };
    let (format, mut skill) = read(&prepared, file, registry);
    let problems = skill.result.as_ref().err().into_iter().flatten();
    let places = problems.chain(&skill.warnings).filter_map(Position::marked);
    skill.excerpts = Excerpt::of(&prepared.text, places);
    FileReport::new(file.path, format, vec![skill])
}

fn read(
    prepared: &Prepared<'_>,
    file: &FileContext<'_>,
    registry: &ToolRegistry,
) -> (Option<Format>, SkillReport) {
    let mut early = Vec::new();
    if prepared.bom {
        let message = "the file begins with a byte order mark; it was dropped: save the file as plain UTF-8";
        early.push(Problem::new("bom_stripped", "", message).at(1, 1));
    }
    let (format, draft) = match fence::split(&prepared.text) {
        Err(problem) => return (None, SkillReport::refused(None, vec![problem])),
        Ok(Cut::NoFence) if legacy::is_legacy(&prepared.text) => {
            (Format::SkillsV1, legacy::read(&prepared.text, file.directory, registry))
        }
        Ok(Cut::NoFence) => return (None, SkillReport::refused(None, vec![fence::missing(&prepared.text)])),
        Ok(Cut::Front(split)) => match read_front(&split, file, registry) {
            Ok(read) => read,
            Err((format, problems)) => return (format, SkillReport::refused(None, problems)),
        },
    };
    early.extend(draft.warnings.iter().cloned());
    (Some(format), finish(Draft { warnings: early, ..draft }, file))
}

type FrontResult = Result<(Format, Draft), (Option<Format>, Vec<Problem>)>;

fn read_front(split: &Split<'_>, file: &FileContext<'_>, registry: &ToolRegistry) -> FrontResult {
    let mut front = Front::read(split).map_err(|problems| (None, problems))?;
    if split.blank_before {
        let message = "blank lines stand before the front matter; other loaders do not find it: remove them";
        front.warnings.push(Problem::new("content_before_front_matter", "", message).at(1, 1));
    }
    let format = if v2::is_v2(&front) { Format::SkillsV2 } else { Format::AgentSkills };
    // Kept apart, since a format's reader takes the fields that are left and has no use for these.
    let twice = std::mem::take(&mut front.problems);
    let mut draft = match format {
        Format::SkillsV2 => v2::read(front, split.body, file.directory, registry),
        _ => agent::read(front, split.body, file.directory, registry),
    };
    draft.nameless = twice.iter().any(|problem| matches!(problem.field.as_str(), "id" | "name"));
    draft.problems.splice(0..0, twice);
    Ok((format, draft))
}

/// Checks the draft against the model's rules and puts what surrounds it around it.
fn finish(mut draft: Draft, file: &FileContext<'_>) -> SkillReport {
    let mut entry = Entry::new(draft.skill);
    for (path, bytes) in &file.resources {
        let media_type = media::media_type(path);
        entry.skill.resources.push(Resource::new(path, hex_sha256(bytes), bytes.len() as u64, media_type));
        entry.resources.push(Arc::clone(bytes));
    }
    for problem in entry.skill.problems() {
        if !draft.problems.iter().any(|known| base(&known.field) == base(&problem.field)) {
            draft.problems.push(placed(problem, &draft.places));
        }
    }
    let id = (!entry.skill.id.is_empty() && !draft.nameless).then(|| entry.skill.id.clone());
    if !draft.problems.is_empty() {
        return SkillReport { warnings: draft.warnings, ..SkillReport::refused(id, draft.problems) };
    }
    draft.warnings.extend(entry.skill.advice().into_iter().map(|problem| placed(problem, &draft.places)));
    if has_markup(&entry.skill.description) {
        let message = "the description holds markup, which a model may take for its own; it is kept as text";
        let problem = Problem::new("markup_in_description", "description", message);
        draft.warnings.push(placed(problem, &draft.places));
    }
    let aliases_at =
        draft.places.iter().find(|(field, _)| *field == "aliases").map_or(Position::START, |place| place.1);
    draft.warnings.extend(shadowing_aliases(&entry.skill).map(|problem| aliases_at.mark(problem)));
    entry.source_text = Some(Arc::from(file.bytes));
    SkillReport { warnings: draft.warnings, ..SkillReport::accepted(id, entry) }
}

/// One warning for each alias that is a whole device command, and so never reaches the skill.
pub(crate) fn shadowing_aliases(skill: &Skill) -> impl Iterator<Item = Problem> + '_ {
    skill.aliases.iter().filter(|alias| exact_command(alias).is_some()).map(|alias| {
        let message =
            "this alias is a device command of its own and never reaches the skill; use a longer phrase";
        Problem::new("alias_shadows_builtin", alias, message)
    })
}

/// Checks every entry of an enforced allowlist against the registry.
pub(crate) fn unknown_tools(tools: &[Written], registry: &ToolRegistry) -> Vec<Problem> {
    let refusals = tools.iter().filter_map(|tool| {
        let problem = Permission::parse(&tool.text, registry, "allowed_tools").err()?;
        Some(tool.position.mark(*problem))
    });
    refusals.collect()
}

/// The texts without their places.
pub(crate) fn texts(list: Option<Vec<Written>>) -> Vec<String> {
    list.unwrap_or_default().into_iter().map(|written| written.text).collect()
}

/// Adds the place of the field that a problem of the model names.
fn placed(problem: Problem, places: &[(&'static str, Position)]) -> Problem {
    if problem.line.is_some() {
        return problem;
    }
    match places.iter().find(|(field, _)| *field == base(&problem.field)) {
        Some((_, place)) => place.mark(problem),
        None => problem,
    }
}

/// The field of a pointer: `tags` for `/tags/3`.
fn base(field: &str) -> &str {
    field.trim_start_matches('/').split('/').next().unwrap_or_default()
}

/// SHA-256 in lower-case hexadecimal.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
