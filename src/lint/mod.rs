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
mod risk;
mod rules;
mod sarif;
mod secret;
mod similar;
mod subject;
mod widening;

use std::collections::HashMap;

use serde::Serialize;

use crate::catalog::Look;
use crate::error::{Problem, Result};
use crate::flow::compile;
use crate::lint::subject::Spot;
use crate::tools::ToolRegistry;

pub use rules::{RULES, Rule, Severity};
pub use sarif::sarif;
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
        }
    }
}

/// Collects findings.
#[derive(Debug, Default)]
struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, rule: Rule, subject: &Subject<'_>, spot: &Spot<'_>, message: impl Into<String>) {
        let place = subject.place(spot);
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
        });
    }
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
    let collided = names::collisions(subjects, &mut findings);
    similar::duplicates(subjects, &mut findings);
    for subject in subjects {
        let compiled = compile(subject.skill, registry);
        names::commands(subject, &mut findings);
        if let Some(look) = look {
            names::reach(subject, look, &collided, &mut findings)?;
        }
        author::check(subject, registry, &mut findings);
        risk::check(subject, compiled.tool_risk, &mut findings);
        for text in subject.texts() {
            hidden::check(subject, &text, &mut findings);
            secret::check(subject, &text, &mut findings);
            widening::check(subject, &text, &mut findings);
        }
        secret::defaults(subject, &mut findings);
        secret::device_state(subject, &mut findings);
    }
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
