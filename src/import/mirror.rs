//! The import of a folder is a mirror: a pure function from what the layer holds and what the folders hold now to the
//! layer's new content, with one outcome for every skill.
//!
//! Who owns an id is settled in this order: other roots (they were imported earlier), files that were published under
//! it before, then the files in the order of their paths. A file that cannot be read keeps what it published before.

use std::collections::{HashMap, HashSet};

use crate::error::Problem;
use crate::import::excerpt::Excerpt;
use crate::import::published::Published;
use crate::import::qualify::{Numbers, Wanted};
use crate::import::report::{Doubt, FileReport};
use crate::model::{Entry, Origin};

/// One imported folder (or file), read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RootReading {
    /// Real path.
    pub root: String,
    /// Every file that holds skills or should, in any order.
    pub files: Vec<FileReport>,
    /// Folders and files below the root that could not be looked at; what they published before stays.
    pub unread: Vec<String>,
    /// False if the search was cut short: nothing is removed.
    pub complete: bool,
}

impl RootReading {
    /// A folder that was searched to its end.
    #[must_use]
    pub fn new(root: impl Into<String>, files: Vec<FileReport>) -> Self {
        Self { root: root.into(), files, unread: Vec::new(), complete: true }
    }
}

/// How to mirror.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MirrorOptions {
    /// Skills that vanished from a root stay in the layer.
    pub keep: bool,
    /// Prefix of every id.
    pub namespace: Option<String>,
}

/// What became of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// New in the layer.
    Added,
    /// Another content than before.
    Changed,
    /// As it was, or the same as another file.
    Unchanged,
    /// No longer in its root.
    Removed,
    /// Not taken; what its file published before stays.
    Rejected,
}

impl Outcome {
    /// Name as reports show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Rejected => "rejected",
        }
    }
}

/// One line of the report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillOutcome {
    /// Real path of its root; empty where there is none.
    pub root: String,
    /// Path below its root.
    pub path: String,
    /// The id it is published under; for a rejected one the id it asks for, where it could be read.
    pub id: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// Path of the file that holds the same skill, where this one adds nothing.
    pub folded_into: Option<String>,
    /// Why it cannot be used with the tools that there are.
    pub unavailable: Vec<Problem>,
    /// What was accepted with a warning.
    pub warnings: Vec<Problem>,
    /// Why it was rejected.
    pub problems: Vec<Problem>,
    /// The lines around the places of all these, as far as they are known.
    pub excerpts: Vec<Excerpt>,
}

/// A file that cannot be told to be a skill or none, and that published none before.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassedOver {
    /// Real path of its root.
    pub root: String,
    /// Path below its root.
    pub path: String,
    /// Why it cannot be told.
    pub problem: Problem,
    /// The lines around its place, as far as it is known.
    pub excerpts: Vec<Excerpt>,
}

/// The layer's new content.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// Every entry, sorted by id.
    pub entries: Vec<Entry>,
    /// False if the layer already holds exactly this.
    pub changed: bool,
    /// One outcome for each skill of each file, by root and path, then what was removed.
    pub outcomes: Vec<SkillOutcome>,
    /// Files of which it cannot be told whether they were meant, by root and path.
    pub passed_over: Vec<PassedOver>,
}

/// Plans an import. Cost: linear in entries and skills, with one comparison of contents for each id that was there.
#[must_use]
pub fn plan(existing: Vec<Entry>, roots: Vec<RootReading>, options: &MirrorOptions) -> Plan {
    Planner::new(existing, options).run(roots)
}

/// A skill that was read and waits for its id.
struct Candidate {
    entry: Entry,
    wanted: Wanted,
    location: String,
    report: usize,
    place: Option<(u32, u32)>,
}

struct Planner<'o> {
    options: &'o MirrorOptions,
    /// What the layer holds and what does not simply stay, by id.
    old: HashMap<String, Entry>,
    /// Ids by the file that published them.
    published: Published,
    /// The new content, by id.
    new: HashMap<String, Entry>,
    /// Whether anything differs from what the layer holds.
    changed: bool,
    outcomes: Vec<SkillOutcome>,
    passed_over: Vec<PassedOver>,
}

impl<'o> Planner<'o> {
    fn new(existing: Vec<Entry>, options: &'o MirrorOptions) -> Self {
        let mut published = Published::default();
        for entry in &existing {
            if let Some(origin) = entry.origin.as_ref().filter(|origin| !origin.root.is_empty()) {
                published.add(location(origin), &entry.skill.id);
            }
        }
        let old = existing.into_iter().map(|entry| (entry.skill.id.clone(), entry)).collect();
        Self {
            options,
            old,
            published,
            new: HashMap::new(),
            changed: false,
            outcomes: Vec::new(),
            passed_over: Vec::new(),
        }
    }

    fn run(mut self, roots: Vec<RootReading>) -> Plan {
        let names: HashSet<String> = roots.iter().map(|root| root.root.clone()).collect();
        let mut incomplete: HashSet<String> = HashSet::new();
        let mut unread: HashSet<String> = HashSet::new();
        let mut candidates = Vec::new();
        for root in roots {
            if !root.complete {
                incomplete.insert(root.root.clone());
            }
            unread.extend(root.unread.iter().map(|path| join(&root.root, path)));
            self.collect(root, &mut candidates);
        }
        let stays = |entry: &Entry| {
            let Some(origin) = &entry.origin else { return true };
            !names.contains(&origin.root)
                || incomplete.contains(&origin.root)
                || self.options.keep
                || self.published.is_kept(&entry.skill.id)
                || (!unread.is_empty() && is_within(&location(origin), &unread))
        };
        let mut staying: Vec<String> =
            self.old.iter().filter(|(_, entry)| stays(entry)).map(|(id, _)| id.clone()).collect();
        let waiting = self.settle_published(candidates);
        staying.retain(|id| !self.new.contains_key(id));
        for id in staying {
            if let Some(entry) = self.old.remove(&id) {
                self.new.insert(id, entry);
            }
        }
        self.settle_others(waiting);
        self.remove_vanished();
        self.finish()
    }

    /// Makes a line of the report for every skill of a root; what was read becomes a candidate.
    fn collect(&mut self, root: RootReading, candidates: &mut Vec<Candidate>) {
        let mut files = root.files;
        files.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        let root_name =
            root.root.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_owned();
        for file in files {
            let origin = Origin::new(root.root.clone(), file.path.clone());
            let location = location(&origin);
            if let Some(doubt) = file.doubt
                && !self.published.has(&location)
            {
                if doubt == Doubt::Unclear {
                    self.pass_over(&root.root, &file);
                }
                continue;
            }
            for skill in file.skills {
                let wanted =
                    |id: &str| Wanted::new(id, &file.path, &root_name, self.options.namespace.as_deref());
                let report = self.outcomes.len();
                let mut outcome = SkillOutcome {
                    root: root.root.clone(),
                    path: file.path.clone(),
                    id: skill.id.as_deref().map(|id| wanted(id).id),
                    outcome: Outcome::Rejected,
                    folded_into: None,
                    unavailable: skill.unavailable,
                    warnings: skill.warnings,
                    problems: Vec::new(),
                    excerpts: skill.excerpts,
                };
                match skill.result {
                    Ok(mut entry) => {
                        let wanted = wanted(&entry.skill.id);
                        entry.origin = Some(origin.clone());
                        let (location, place) = (location.clone(), skill.place);
                        candidates.push(Candidate { entry, wanted, location, report, place });
                    }
                    Err(problems) => {
                        let wanted = skill.id.as_deref().map(wanted);
                        if self.published.keep(&location, wanted.as_ref()) {
                            let message =
                                "the version that was imported before stays until the file is corrected";
                            let problem = Problem::new("previous_version_kept", "", message);
                            outcome.warnings.push(placed(problem, skill.place));
                        }
                        outcome.problems = problems;
                    }
                }
                self.outcomes.push(outcome);
            }
        }
    }

    /// Names a file that nothing is known of.
    fn pass_over(&mut self, root: &str, file: &FileReport) {
        for skill in &file.skills {
            if let Err(problems) = &skill.result {
                self.passed_over.extend(problems.iter().map(|problem| PassedOver {
                    root: root.to_owned(),
                    path: file.path.clone(),
                    problem: problem.clone(),
                    excerpts: skill.excerpts.clone(),
                }));
            }
        }
    }

    /// Gives every file the id that it was published under before; answers those that have none.
    fn settle_published(&mut self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let mut waiting = Vec::new();
        for candidate in candidates {
            // A file with several skills may have published both `x` and `a/x`: each keeps its own.
            let claimed =
                self.published.claim(&candidate.location, &candidate.wanted, |id| self.new.contains_key(id));
            match claimed {
                Some(id) => self.publish(id, candidate),
                None => waiting.push(candidate),
            }
        }
        waiting
    }

    /// Gives the rest the id that they ask for, folds copies, qualifies what collides.
    fn settle_others(&mut self, candidates: Vec<Candidate>) {
        let mut numbers = Numbers::default();
        for mut candidate in candidates {
            let wanted = &candidate.wanted;
            candidate.entry.skill.id.clone_from(&wanted.id);
            let Some(owner) = self.new.get(&wanted.id) else {
                let id = wanted.id.clone();
                self.publish(id, candidate);
                continue;
            };
            if owner.skill == candidate.entry.skill {
                let path = owner.origin.as_ref().map(|origin| origin.path.clone()).unwrap_or_default();
                let outcome = &mut self.outcomes[candidate.report];
                outcome.id = Some(wanted.id.clone());
                outcome.outcome = Outcome::Unchanged;
                outcome.folded_into = Some(path);
                continue;
            }
            let id = wanted.free(&mut numbers, |id| self.new.contains_key(id));
            self.publish(id, candidate);
        }
    }

    /// Puts a skill into the new content.
    fn publish(&mut self, id: String, candidate: Candidate) {
        let Candidate { mut entry, wanted, report, place, .. } = candidate;
        entry.skill.id.clone_from(&id);
        let outcome = &mut self.outcomes[report];
        if id != wanted.id {
            let message =
                format!("another skill has the id {:?}; this one is published as {id:?}", wanted.id);
            outcome.warnings.push(placed(Problem::new("duplicate_id", wanted.id, message), place));
        }
        if let Some(old) = self.old.get(&id)
            && let Some(origin) = &old.origin
            && entry.origin.as_ref().is_some_and(|new| location(new) == location(origin))
        {
            // The same file, imported as part of another root: it stays with the root that it came with.
            entry.origin = Some(origin.clone());
        }
        outcome.outcome = match self.old.get(&id) {
            None => Outcome::Added,
            Some(old) if old.skill == entry.skill => Outcome::Unchanged,
            Some(_) => Outcome::Changed,
        };
        self.changed |= self.old.get(&id) != Some(&entry);
        outcome.id = Some(id.clone());
        self.new.insert(id, entry);
    }

    fn remove_vanished(&mut self) {
        let mut gone: Vec<(String, String, String)> = self
            .old
            .iter()
            .filter(|(id, _)| !self.new.contains_key(*id))
            .map(|(id, entry)| {
                let of = |part: fn(&Origin) -> &String| entry.origin.as_ref().map(part).cloned();
                (of(|o| &o.path).unwrap_or_default(), id.clone(), of(|o| &o.root).unwrap_or_default())
            })
            .collect();
        gone.sort();
        self.changed |= !gone.is_empty();
        self.outcomes.extend(gone.into_iter().map(|(path, id, root)| SkillOutcome {
            root,
            path,
            id: Some(id),
            outcome: Outcome::Removed,
            folded_into: None,
            unavailable: Vec::new(),
            warnings: Vec::new(),
            problems: Vec::new(),
            excerpts: Vec::new(),
        }));
    }

    fn finish(mut self) -> Plan {
        let mut entries: Vec<Entry> = std::mem::take(&mut self.new).into_values().collect();
        entries.sort_by(|a, b| a.skill.id.cmp(&b.skill.id));
        let Self { changed, outcomes, passed_over, .. } = self;
        Plan { entries, changed, outcomes, passed_over }
    }
}

/// A problem with a place where that is known.
fn placed(problem: Problem, place: Option<(u32, u32)>) -> Problem {
    match place {
        Some((line, column)) => problem.at(line, column),
        None => problem,
    }
}

/// The real path of the file that an origin names. A file that is a root of its own is its root.
fn location(origin: &Origin) -> String {
    let name = origin.root.rsplit(['/', '\\']).next().unwrap_or_default();
    if name == origin.path { origin.root.clone() } else { join(&origin.root, &origin.path) }
}

fn join(root: &str, path: &str) -> String {
    if path.is_empty() { root.to_owned() } else { format!("{}/{path}", root.trim_end_matches('/')) }
}

/// Whether a path is one of the folders (or files) or lies below one.
fn is_within(path: &str, folders: &HashSet<String>) -> bool {
    folders.contains(path) || path.match_indices('/').any(|(end, _)| folders.contains(&path[..end]))
}
