//! Writes skills into a folder: one file (or folder) a skill, never outside the folder, never over another file.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::error::Problem;
use crate::import::{Exported, Format, agent_skill_md, json, skill_md_v2, verbatim};
use crate::intake::file::{open, read_at_most};
use crate::model::Entry;
use crate::tools::ToolRegistry;

/// The formats that skills are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// `TouchPilot` Skills v2.
    SkillsV2,
    /// The Agent Skills standard.
    AgentSkills,
    /// Canonical JSON, one file a skill.
    Json,
}

impl ExportFormat {
    /// The format of that name: `skills-v2`, `agent-skills` or `json`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "skills-v2" => Some(Self::SkillsV2),
            "agent-skills" => Some(Self::AgentSkills),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// What an export did.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ExportReport {
    /// One line a skill.
    pub skills: Vec<ExportLine>,
}

/// One exported skill.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ExportLine {
    /// The skill.
    pub id: String,
    /// The file below the folder; absent where none could be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Fields that the format could not hold.
    pub lost: Vec<String>,
    /// Why nothing was written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Writes entries into a folder, which is made if it is not there. What was written by an equal export is left alone;
/// a file with another content is refused, never replaced. A skill that a format cannot hold is a line with problems.
///
/// # Errors
/// What the operating system says about the folder itself.
pub fn export(
    entries: &[Entry],
    format: ExportFormat,
    folder: &Path,
    registry: &ToolRegistry,
) -> io::Result<ExportReport> {
    fs::create_dir_all(folder)?;
    let folder = fs::canonicalize(folder)?;
    let ids: HashSet<&str> = entries.iter().map(|entry| entry.skill.id.as_str()).collect();
    let line = |entry: &Entry| {
        let mut line =
            ExportLine { id: entry.skill.id.clone(), path: None, lost: Vec::new(), problems: Vec::new() };
        match write_entry(entry, format, &folder, &ids, registry) {
            Ok((path, lost)) => {
                line.path = Some(path);
                line.lost = lost;
            }
            Err(problems) => line.problems = problems,
        }
        line
    };
    Ok(ExportReport { skills: entries.iter().map(line).collect() })
}

type Written = Result<(String, Vec<String>), Vec<Problem>>;

fn write_entry(
    entry: &Entry,
    format: ExportFormat,
    folder: &Path,
    ids: &HashSet<&str>,
    registry: &ToolRegistry,
) -> Written {
    let skill = &entry.skill;
    let again = |format| verbatim(entry, format, registry).map(Ok);
    let mut exported: Exported = match format {
        ExportFormat::Json => json(skill),
        ExportFormat::SkillsV2 => again(Format::SkillsV2).unwrap_or_else(|| skill_md_v2(skill, registry))?,
        ExportFormat::AgentSkills => {
            again(Format::AgentSkills).unwrap_or_else(|| agent_skill_md(skill, registry))?
        }
    };
    let name = place(&skill.id, ids);
    if format == ExportFormat::Json {
        let path = format!("{name}.skill.json");
        put(folder, &path, exported.text.as_bytes()).map_err(|problem| vec![*problem])?;
        return Ok((path, exported.lost));
    }
    let path = format!("{name}/SKILL.md");
    put(folder, &path, exported.text.as_bytes()).map_err(|problem| vec![*problem])?;
    if entry.resources.len() != skill.resources.len() {
        exported.lost.push("resources".to_owned());
    }
    for (resource, bytes) in skill.resources.iter().zip(&entry.resources) {
        let below = format!("{name}/{}", resource.path);
        put(folder, &below, &Arc::clone(bytes)).map_err(|problem| vec![*problem])?;
    }
    Ok((path, exported.lost))
}

/// Where a skill goes below the folder: its id, unless a skill with the first part of the id lies there already, in
/// whose folder it would not be found again.
fn place(id: &str, ids: &HashSet<&str>) -> String {
    let inside = id.match_indices('/').any(|(at, _)| ids.contains(&id[..at]));
    if inside { id.replace('/', ".") } else { id.to_owned() }
}

/// Writes one file below the folder. Every part of the path must be a plain name, no part may be a symbolic link, and
/// a file that is there must have these bytes already.
fn put(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), Box<Problem>> {
    let unsafe_path = |why: &str| Box::new(Problem::new("unsafe_path", path, why.to_owned()));
    let mut at: PathBuf = folder.to_owned();
    let mut parts = Path::new(path).components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(unsafe_path("the path leaves the folder; nothing was written"));
        };
        at.push(name);
        let is_link = fs::symlink_metadata(&at).is_ok_and(|metadata| metadata.is_symlink());
        if is_link {
            return Err(unsafe_path(
                "a symbolic link stands in the way; remove it, or export into another folder",
            ));
        }
        if parts.peek().is_some() {
            match fs::create_dir(&at) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(failed(path, &error));
                }
                _ => {}
            }
        }
    }
    match OpenOptions::new().write(true).create_new(true).open(&at) {
        Ok(mut file) => file.write_all(bytes).map_err(|error| failed(path, &error)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let same = holds(&at, bytes);
            let message =
                "another file is there and was left alone; remove it, or export into another folder";
            if same { Ok(()) } else { Err(Box::new(Problem::new("file_exists", path, message))) }
        }
        Err(error) => Err(failed(path, &error)),
    }
}

/// Whether a regular file is there that holds exactly these bytes; anything else is not waited for, nor read far.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let length = bytes.len() as u64;
    let Ok((file, size)) = open(path) else { return false };
    size == length && read_at_most(file, size, length).is_ok_and(|found| found == bytes)
}

fn failed(path: &str, error: &io::Error) -> Box<Problem> {
    let message = format!("the file cannot be written: {error}; check that the folder is yours to write");
    Box::new(Problem::new("unwritable", path, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Resource, Skill};

    fn skill(id: &str) -> Entry {
        let mut skill = Skill::new(id, Kind::Knowledge, "Name", "What it does.");
        skill.content = "Body.\n".to_owned();
        Entry::new(skill)
    }

    #[test]
    fn ids_with_parts_go_into_folders_and_are_never_hidden_in_another_skill() {
        let folder = tempfile::tempdir().expect("folder");
        let entries = [skill("a"), skill("a/b"), skill("c/d")];
        let report = export(&entries, ExportFormat::AgentSkills, folder.path(), &ToolRegistry::builtin())
            .expect("export");
        let paths: Vec<_> = report.skills.iter().filter_map(|line| line.path.as_deref()).collect();
        assert_eq!(paths, ["a/SKILL.md", "a.b/SKILL.md", "c/d/SKILL.md"]);
    }

    #[test]
    fn nothing_is_written_outside_or_over_another_file() {
        let folder = tempfile::tempdir().expect("folder");
        let registry = ToolRegistry::builtin();
        let inner = folder.path().join("inner");
        let mut evil = skill("evil");
        evil.skill.resources.push(Resource::new("../../out.txt", "0".repeat(64), 1, "text/plain"));
        evil.resources.push(Arc::from(&b"x"[..]));
        let report = export(&[evil], ExportFormat::AgentSkills, &inner, &registry).expect("export");
        assert_eq!(report.skills[0].problems[0].code, "unsafe_path");
        assert!(!folder.path().join("out.txt").exists());

        let again = |entry: &Entry| {
            let entries = std::slice::from_ref(entry);
            export(entries, ExportFormat::Json, &inner, &registry).expect("export").skills.remove(0)
        };
        let mut entry = skill("x");
        assert!(again(&entry).problems.is_empty());
        assert!(again(&entry).problems.is_empty());
        entry.skill.description.push('!');
        assert_eq!(again(&entry).problems[0].code, "file_exists");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_folder_is_not_followed() {
        let folder = tempfile::tempdir().expect("folder");
        let outside = tempfile::tempdir().expect("outside");
        std::os::unix::fs::symlink(outside.path(), folder.path().join("a")).expect("link");
        let report =
            export(&[skill("a")], ExportFormat::AgentSkills, folder.path(), &ToolRegistry::builtin())
                .expect("export");
        assert_eq!(report.skills[0].problems[0].code, "unsafe_path");
        assert!(fs::read_dir(outside.path()).expect("folder").next().is_none());
    }
}
