//! What is wrong with skills that can be imported: lint looks at them one by one and side by side.
//!
//! `rules` lists every code; `subject` is a skill with the file it was written in, and finds places in it (`json` in
//! JSON). One file a
//! theme: `names` (collisions, device commands, what `match` answers), `similar` (near duplicates), `author` (what the
//! Skills v2 text asks of authors), `risk`, `secret`, `hidden` (characters), `widening` (texts that want more than they
//! may). `sarif` writes findings for code review.
//!
//! Every rule is a guess about intent: it names the place and says what to do, and changes nothing.
//!
//! Invariant: never reads a file, never shows a secret that it found.

mod author;
mod hidden;
mod json;
mod names;
mod patterns;
mod risk;
mod rules;
mod sarif;
mod secret;
mod similar;
mod subject;
mod widening;

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::catalog::Look;
use crate::error::{Problem, Result};
use crate::flow::compile;
use crate::import::{Excerpt, Position};
use crate::lint::subject::Spot;
use crate::tools::ToolRegistry;

pub(crate) use names::{collisions, reach, standing};
pub(crate) use rules::ALIAS_IS_COMMAND;
pub use rules::severity_of;
pub use rules::{RULES, Rule, Severity};
pub use sarif::sarif;
pub(crate) use similar::duplicates;
pub use subject::Subject;

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule's code.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The file, as the subject names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The field or the file beside the skill; empty for the whole skill.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// Line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
    /// The line around the place, unless it holds a secret.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
}

impl Finding {
    /// A file that could not be imported, or a skill in it that was refused.
    #[must_use]
    pub fn rejected(path: impl Into<String>, id: Option<&str>, problem: &Problem) -> Self {
        Self::of_problem(rules::REJECTED, path.into(), id, problem)
    }

    /// A skill that the tools of the deployment make unusable.
    #[must_use]
    pub fn unavailable(path: impl Into<String>, id: Option<&str>, problem: &Problem) -> Self {
        Self::of_problem(rules::UNAVAILABLE, path.into(), id, problem)
    }

    fn of_problem(rule: Rule, path: String, id: Option<&str>, problem: &Problem) -> Self {
        Self {
            code: rule.code,
            severity: rule.severity,
            path: Some(path),
            id: id.map(str::to_owned),
            field: problem.field.clone(),
            line: problem.line,
            column: problem.column,
            message: format!("{problem} [{}]", problem.code),
            excerpt: None,
        }
    }

    /// Adds the line around the place of a problem from those that its reader kept.
    #[must_use]
    pub fn with_excerpts(mut self, excerpts: &[Excerpt]) -> Self {
        self.excerpt = excerpts
            .iter()
            .find(|excerpt| (Some(excerpt.line), Some(excerpt.column)) == (self.line, self.column))
            .cloned();
        self
    }

    /// The finding as a problem of a file.
    pub(crate) fn into_problem(self) -> (Problem, Option<Excerpt>) {
        let problem = Problem::new(self.code, self.field, self.message);
        let problem = match (self.line, self.column) {
            (Some(line), Some(column)) => problem.at(line, column),
            _ => problem,
        };
        (problem, self.excerpt)
    }
}

/// Something that was found beside other skills, before its place is looked for.
#[derive(Debug)]
pub(crate) struct Remark<'s> {
    rule: Rule,
    /// Which subject it is about.
    pub(crate) subject: usize,
    spot: Spot<'s>,
    message: String,
}

impl Remark<'_> {
    /// The finding, with its place in the subject's file.
    pub(crate) fn told_of(self, subject: &Subject<'_>) -> Finding {
        let mut findings = Findings::default();
        findings.add(self.rule, subject, &self.spot, self.message);
        // One was added.
        findings.all.remove(0)
    }
}

/// Collects findings.
#[derive(Debug, Default)]
struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, rule: Rule, subject: &Subject<'_>, spot: &Spot<'_>, message: impl Into<String>) {
        let mut place = subject.begin;
        let mut excerpt = None;
        if let Some((text, offset)) = subject.locate(spot) {
            let found = Position::of(text, offset);
            // Not where a secret stands: what shows the line shows it.
            excerpt = (!rule.is_secret()).then(|| Excerpt::cut(text, offset, found));
            place = Some(found);
        } else if spot.file.is_some() {
            place = None;
        }
        let path = match (&subject.path, spot.file) {
            (Some(path), Some(file)) => {
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                Some(if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") })
            }
            (path, _) => path.clone(),
        };
        self.all.push(Finding {
            code: rule.code,
            severity: rule.severity,
            path,
            id: Some(subject.skill.id.clone()),
            field: spot.field.to_string(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            message: message.into(),
            excerpt,
        });
    }

    /// Takes the lines away that hold a secret which another finding is about.
    fn hide_secrets(&mut self) {
        let secret = |finding: &Finding| {
            (rules::is_secret(finding.code)).then(|| (finding.path.clone(), finding.line))
        };
        let hidden: HashSet<(Option<String>, Option<u32>)> = self.all.iter().filter_map(secret).collect();
        if hidden.is_empty() {
            return;
        }
        for finding in &mut self.all {
            if hidden.contains(&(finding.path.clone(), finding.line)) {
                finding.excerpt = None;
            }
        }
    }
}

/// What is wrong with a skill by itself, in the order of its file.
///
/// Cost: linear in its texts.
pub(crate) fn alone(subject: &Subject<'_>, registry: &ToolRegistry) -> Vec<Finding> {
    let mut findings = Findings::default();
    look_at(subject, registry, &mut findings);
    findings.hide_secrets();
    findings.all.sort_by_cached_key(|finding| (finding.line, finding.column, finding.code));
    findings.all
}

/// Skills that are in each other's way: names and aliases that two have, and texts that say the same; and the normalised
/// names that two have.
///
/// Cost: linear in the texts; nothing is kept but a sketch of each.
pub(crate) fn together<'s>(subjects: &[Subject<'s>]) -> (Vec<Remark<'s>>, HashSet<String>) {
    let (mut remarks, collided) = names::collisions(subjects);
    remarks.extend(similar::duplicates(subjects));
    (remarks, collided)
}

fn look_at(subject: &Subject<'_>, registry: &ToolRegistry, findings: &mut Findings) {
    let tool_risk = compile(subject.skill, registry).tool_risk;
    names::commands(subject, findings);
    author::check(subject, registry, findings);
    risk::check(subject, tool_risk, findings);
    for text in subject.texts() {
        hidden::check(subject, &text, findings);
        secret::check(subject, &text, findings);
        widening::check(subject, &text, findings);
    }
    secret::defaults(subject, findings);
    secret::device_state(subject, findings);
}

/// Looks at skills, one by one and side by side. `look` is a catalog that holds them: with it, aliases and examples are
/// put to `match`. Findings come in the order of the subjects.
///
/// Cost: linear in the texts, and one match for each alias and example.
///
/// # Errors
/// What the look fails with.
pub fn lint(subjects: &[Subject<'_>], look: Option<&Look>, registry: &ToolRegistry) -> Result<Vec<Finding>> {
    let mut findings = Findings::default();
    let (mut remarks, collided) = together(subjects);
    for (number, subject) in subjects.iter().enumerate() {
        look_at(subject, registry, &mut findings);
        if let Some(look) = look {
            names::reach((number, subject.skill), look, &collided, usize::MAX, &mut remarks)?;
        }
    }
    findings.all.extend(remarks.into_iter().map(|remark| {
        let subject = &subjects[remark.subject];
        remark.told_of(subject)
    }));
    findings.hide_secrets();
    let order: HashMap<&str, usize> =
        subjects.iter().enumerate().map(|(index, subject)| (subject.skill.id.as_str(), index)).collect();
    findings.all.sort_by_cached_key(|finding| {
        let place = finding.id.as_deref().and_then(|id| order.get(id)).copied();
        (place, finding.line, finding.column, finding.code)
    });
    Ok(findings.all)
}

#[cfg(test)]
mod tests;
