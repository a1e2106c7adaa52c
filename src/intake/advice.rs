//! What lint says of the skills that an import brings, as warnings of its report.
//!
//! What is wrong with a skill by itself is looked for where its file is read, on all processors and while the text is
//! there. What is wrong between skills waits for the plan, which knows every id; what `match` answers, for the catalog
//! that holds them. Only what the import brings is told of, and the last two are bounded, so that a large import takes
//! no longer for it: `lint` is there for the rest.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Look};
use crate::entitlement::Narrowing;
use crate::error::{Problem, Result};
use crate::import::{Excerpt, FileReport, Format, Outcome, SkillOutcome};
use crate::intake::ImportReport;
use crate::intake::file;
use crate::intake::walk::Found;
use crate::limits::{
    EXCERPTS_MAX, LINT_FILES_BYTES_MAX, LINT_IMPORT_FILES_MAX, LINT_IMPORT_PHRASES_MAX, PROBLEMS_MAX,
    SKILL_FILE_BYTES_MAX,
};
use crate::lint::{self, Finding, Remark, Subject};
use crate::model::{Entry, Layer, Origin, Skill};
use crate::tools::ToolRegistry;

/// Adds what each skill of a file is told by itself.
pub(crate) fn alone(report: &mut FileReport, found: &Found, registry: &ToolRegistry) {
    let Some(format) = report.format else { return };
    let mut again: Option<Option<Vec<u8>>> = None;
    for skill in &mut report.skills {
        let Ok(entry) = &skill.result else { continue };
        let mut findings =
            lint::alone(&subject(entry, format, skill.place, entry.source_text.as_deref()), registry);
        if !findings.is_empty() && entry.source_text.is_none() {
            // A JSON file is read as a stream; its text is wanted for the places alone.
            let text = again.get_or_insert_with(|| small_text(&found.real));
            if let Some(text) = text {
                findings = lint::alone(&subject(entry, format, skill.place, Some(text)), registry);
            }
        }
        // Of it the readers warn under a name of their own.
        findings.retain(|finding| finding.code != lint::ALIAS_IS_COMMAND.code);
        add(findings, &mut skill.warnings, &mut skill.excerpts);
    }
}

fn subject<'e>(
    entry: &'e Entry,
    format: Format,
    place: Option<(u32, u32)>,
    text: Option<&'e [u8]>,
) -> Subject<'e> {
    let mut left = LINT_FILES_BYTES_MAX;
    let files = entry.resources.iter().map(|bytes| {
        let fits = bytes.len() <= left;
        left -= if fits { bytes.len() } else { 0 };
        if fits { bytes.as_ref() } else { &[] }
    });
    let subject = Subject::new(&entry.skill).in_format(format).begins_at(place).with_files(files);
    match text {
        Some(text) => subject.written(String::new(), Some(text)),
        None => subject,
    }
}

/// Findings as warnings, with the lines around their places, within the limits of a report.
fn add(findings: Vec<Finding>, warnings: &mut Vec<Problem>, excerpts: &mut Vec<Excerpt>) {
    let room = PROBLEMS_MAX.saturating_sub(warnings.len());
    for mut finding in findings.into_iter().take(room) {
        if let Some(file) = finding.path.take().filter(|path| !path.is_empty()) {
            // The place is in a file beside the one that the warning is of.
            let place = match (finding.line.take(), finding.column.take()) {
                (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
                _ => file,
            };
            finding.message = format!("{place}: {}", finding.message);
            finding.excerpt = None;
        }
        let (problem, excerpt) = finding.into_problem();
        warnings.push(problem);
        if excerpts.len() < EXCERPTS_MAX {
            excerpts.extend(excerpt);
        }
    }
}

/// The text of a file of ordinary size, where it can still be read.
fn small_text(path: &Path) -> Option<Vec<u8>> {
    let (open, size) = file::open(path).ok()?;
    (size <= SKILL_FILE_BYTES_MAX).then(|| file::read_at_most(open, size, size).ok()).flatten()
}

/// Whether an outcome stands for a skill that the layer holds afterwards.
fn is_brought(outcome: Outcome, folded: bool) -> bool {
    matches!(outcome, Outcome::Added | Outcome::Changed | Outcome::Unchanged) && !folded
}

/// Adds what is wrong between the skills that an import brings, and between them and those that stand: the layer's other
/// entries, and what `look` sees of the layers that are not imported. Answers the names that two have.
///
/// # Errors
/// What the look fails with.
pub(crate) fn together(
    entries: &[Entry],
    outcomes: &mut [SkillOutcome],
    look: Option<&Look>,
) -> Result<HashSet<String>> {
    let lines: HashMap<&str, usize> = outcomes
        .iter()
        .enumerate()
        .filter(|(_, line)| is_brought(line.outcome, line.folded_into.is_some()))
        .filter_map(|(at, line)| Some((line.id.as_deref()?, at)))
        .collect();
    if lines.is_empty() {
        return Ok(HashSet::new());
    }
    // Those that stand come first: what collides is told at the skill that comes to them.
    let (brought, standing): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| lines.contains_key(entry.skill.id.as_str()));
    let subjects: Vec<Subject<'_>> = brought.iter().map(|entry| Subject::new(&entry.skill)).collect();
    let mut remarks = lint::duplicates(&subjects);
    if let Some(look) = look {
        remarks.extend(lint::standing(&subjects, look, &[Layer::Synced, Layer::Learned])?);
    }
    let all: Vec<Subject<'_>> =
        standing.iter().chain(&brought).map(|entry| Subject::new(&entry.skill)).collect();
    let (collisions, collided) = lint::collisions(&all);
    remarks.extend(collisions.into_iter().filter_map(|mut remark| {
        remark.subject = remark.subject.checked_sub(standing.len())?;
        Some(remark)
    }));
    tracing::debug!(
        brought = brought.len(),
        standing = standing.len(),
        found = remarks.len(),
        "compared skills"
    );
    let mut texts = Texts::default();
    let told: Vec<(usize, Finding)> = remarks
        .into_iter()
        .filter_map(|remark| {
            let entry = brought[remark.subject];
            let line = lines.get(entry.skill.id.as_str())?;
            let text = entry.source_text.as_deref();
            let text = text.or_else(|| texts.of(entry.origin.as_ref()));
            Some((*line, tell(remark, &entry.skill, text)))
        })
        .collect();
    for (line, finding) in told {
        let line = &mut outcomes[line];
        add(vec![finding], &mut line.warnings, &mut line.excerpts);
    }
    Ok(collided)
}

fn tell(remark: Remark<'_>, skill: &Skill, text: Option<&[u8]>) -> Finding {
    remark.told_of(&Subject::new(skill).written(String::new(), text))
}

/// Texts of files that are read again for the places in them.
#[derive(Default)]
struct Texts(HashMap<PathBuf, Option<Vec<u8>>>);

impl Texts {
    fn of(&mut self, origin: Option<&Origin>) -> Option<&[u8]> {
        let path = real_path(origin?);
        if self.0.len() >= LINT_IMPORT_FILES_MAX && !self.0.contains_key(&path) {
            return None;
        }
        let read = |path: &PathBuf| small_text(path);
        self.0.entry(path).or_insert_with_key(read).as_deref()
    }
}

/// Where the file of an origin lies; a file that is a root of its own is its root.
#[must_use]
pub fn real_path(origin: &Origin) -> PathBuf {
    let root = Path::new(&origin.root);
    if root.is_dir() { root.join(&origin.path) } else { root.to_owned() }
}

/// Skills whose aliases and examples are put to `match` once the catalog holds them.
#[derive(Default)]
pub(crate) struct Phrases {
    /// What is asked, without the rest of the skill, with the file that it is from.
    skills: Vec<(Skill, Option<Origin>)>,
    collided: HashSet<String>,
}

impl Phrases {
    /// Of what is new or changed, up to a number of phrases.
    pub(crate) fn of(entries: &[Entry], outcomes: &[SkillOutcome], collided: HashSet<String>) -> Self {
        let changed: HashSet<&str> = outcomes
            .iter()
            .filter(|line| {
                is_brought(line.outcome, line.folded_into.is_some()) && line.outcome != Outcome::Unchanged
            })
            .filter_map(|line| line.id.as_deref())
            .collect();
        let mut left = LINT_IMPORT_PHRASES_MAX;
        let mut skills = Vec::new();
        for entry in entries.iter().filter(|entry| changed.contains(entry.skill.id.as_str())) {
            let skill = &entry.skill;
            let count = skill.aliases.len() + skill.examples.len();
            if left == 0 {
                break;
            }
            if count == 0 {
                continue;
            }
            left = left.saturating_sub(count);
            let mut asked = Skill::new(skill.id.clone(), skill.kind, skill.name.clone(), String::new());
            asked.aliases.clone_from(&skill.aliases);
            asked.examples.clone_from(&skill.examples);
            asked.status.clone_from(&skill.status);
            skills.push((asked, entry.origin.clone()));
        }
        Self { skills, collided }
    }

    /// Asks, and adds what does not reach its skill to the report.
    ///
    /// # Errors
    /// What the catalog fails with.
    pub(crate) fn ask(self, catalog: &Catalog, report: &mut ImportReport) -> Result<()> {
        if self.skills.is_empty() {
            return Ok(());
        }
        let mut view = catalog.view(Narrowing::default());
        let pin = view.pin()?;
        let mut remarks = Vec::new();
        let mut left = LINT_IMPORT_PHRASES_MAX;
        for (number, (skill, _)) in self.skills.iter().enumerate() {
            left -= lint::reach((number, skill), pin.look(), &self.collided, left, &mut remarks)?;
        }
        tracing::debug!(tried = LINT_IMPORT_PHRASES_MAX - left, "put aliases and examples to match");
        let mut lines: HashMap<String, usize> = HashMap::new();
        for (at, line) in report.skills.iter().enumerate() {
            if let (true, Some(id)) = (is_brought(line.outcome, line.folded_into.is_some()), &line.id) {
                lines.insert(id.clone(), at);
            }
        }
        let mut texts = Texts::default();
        for remark in remarks {
            let (skill, origin) = &self.skills[remark.subject];
            let Some(line) = lines.get(&skill.id) else { continue };
            let finding = tell(remark, skill, texts.of(origin.as_ref()));
            let line = &mut report.skills[*line];
            add(vec![finding], &mut line.warnings, &mut line.excerpts);
        }
        Ok(())
    }
}
