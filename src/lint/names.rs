//! Names, aliases and examples: who else has them, and whom `match` answers.

use std::collections::{BTreeMap, HashSet};

use crate::catalog::{Look, SkillRef};
use crate::error::Result;
use crate::lint::rules::{
    ALIAS_COLLISION, ALIAS_IS_COMMAND, ALIAS_UNREACHABLE, EXAMPLE_IS_COMMAND, EXAMPLE_UNREACHABLE,
    NAME_COLLISION,
};
use crate::lint::subject::{Spot, Subject};
use crate::lint::{Findings, Remark};
use crate::model::{Layer, Skill, normalise};
use crate::tools::exact_command;

/// What somebody calls a skill.
struct Use<'s> {
    subject: usize,
    text: &'s str,
    alias: bool,
}

/// Names and aliases that belong to two skills, told at the later one; and the normalised texts that do.
pub(crate) fn collisions<'s>(subjects: &[Subject<'s>]) -> (Vec<Remark<'s>>, HashSet<String>) {
    // Sorted, so that the findings come in the same order each time.
    let mut uses: BTreeMap<String, Vec<Use<'s>>> = BTreeMap::new();
    let mut remarks = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        let skill: &'s Skill = subject.skill;
        let names = std::iter::once((skill.name.as_str(), false));
        for (text, alias) in names.chain(skill.aliases.iter().map(|alias| (alias.as_str(), true))) {
            let all = uses.entry(normalise(text)).or_default();
            if !all.iter().any(|known| known.subject == index) {
                all.push(Use { subject: index, text, alias });
            }
        }
    }
    uses.retain(|text, uses| uses.len() > 1 && !text.is_empty());
    for owners in uses.values() {
        let (first, others) = owners.split_at(1);
        for other in others {
            let rule = if first[0].alias || other.alias { ALIAS_COLLISION } else { NAME_COLLISION };
            let word = |one: &Use<'_>| if one.alias { "alias" } else { "name" };
            let message = format!(
                "the {} {:?} is also the {} of {:?}; only one of them can answer it: choose another, or be more specific",
                word(other),
                other.text,
                word(&first[0]),
                subjects[first[0].subject].skill.id
            );
            let field = if other.alias { "aliases" } else { "name" };
            let spot = Spot::value(field, other.text);
            remarks.push(Remark { rule, subject: other.subject, spot, message });
        }
    }
    (remarks, uses.into_keys().collect())
}

/// Names and aliases that lead to a skill of one of some layers, to which the subjects do not belong.
pub(crate) fn standing<'s>(
    subjects: &[Subject<'s>],
    look: &Look,
    layers: &[Layer],
) -> Result<Vec<Remark<'s>>> {
    let mut remarks = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        let skill: &'s Skill = subject.skill;
        let aliases = skill.aliases.iter().map(|alias| ("aliases", alias, ALIAS_COLLISION));
        for (field, text, rule) in std::iter::once(("name", &skill.name, NAME_COLLISION)).chain(aliases) {
            let found = look.lookup(text)?;
            let other = found.iter().find(|other| layers.contains(&other.layer()) && other.id() != skill.id);
            let Some(other) = other else { continue };
            let message = format!(
                "{text:?} also leads to {:?} of the {} layer; only one of them can answer it: choose another, or be more specific",
                other.id(),
                other.layer().name()
            );
            remarks.push(Remark { rule, subject: number, spot: Spot::value(field, text), message });
        }
    }
    Ok(remarks)
}

/// Aliases and examples that are whole device commands.
pub(crate) fn commands(subject: &Subject<'_>, findings: &mut Findings) {
    let skill = subject.skill;
    for (field, list, rule) in
        [("aliases", &skill.aliases, ALIAS_IS_COMMAND), ("examples", &skill.examples, EXAMPLE_IS_COMMAND)]
    {
        for text in list {
            if let Some(command) = exact_command(text) {
                let message = format!(
                    "{text:?} is a device command of its own ({}) and never reaches a skill; use a longer phrase",
                    command.tool
                );
                findings.add(rule, subject, &Spot::value(field, text), message);
            }
        }
    }
}

/// Aliases and examples for which `match` answers something else, at most `phrases_max` of them tried; `subject` is the
/// number that remarks carry. Answers how many were tried.
pub(crate) fn reach<'s>(
    (subject, skill): (usize, &'s Skill),
    look: &Look,
    collided: &HashSet<String>,
    phrases_max: usize,
    remarks: &mut Vec<Remark<'s>>,
) -> Result<usize> {
    let mut tried = 0;
    // A skill that nobody can see, or that is on its way out, reaches nobody by intention.
    if !skill.status.is_active() || !look.get(&skill.id)?.is_some_and(|found| found.is_available()) {
        return Ok(tried);
    }
    for (field, list, rule) in
        [("aliases", &skill.aliases, ALIAS_UNREACHABLE), ("examples", &skill.examples, EXAMPLE_UNREACHABLE)]
    {
        for text in list {
            if exact_command(text).is_some() || (field == "aliases" && collided.contains(&normalise(text))) {
                continue;
            }
            if tried == phrases_max {
                return Ok(tried);
            }
            tried += 1;
            let answer = look.match_request(text)?;
            let found = answer.skill.as_ref().map(SkillRef::id);
            if found == Some(skill.id.as_str()) {
                continue;
            }
            let message = match found {
                Some(other) => format!("{text:?} reaches {other:?} and not this skill: {}", answer.reason),
                None => format!(
                    "{text:?} reaches no skill: {}; use words of the name or the aliases",
                    answer.reason
                ),
            };
            remarks.push(Remark { rule, subject, spot: Spot::value(field, text), message });
        }
    }
    Ok(tried)
}
