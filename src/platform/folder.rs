//! Reads the platform's folder: a folder with skills for each subscription, and the statements.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::import::hex_sha256;
use crate::intake::{ImportOptions, ReportLine, check_paths};
use crate::limits::SKILL_FILE_BYTES_MAX;
use crate::model::Skill;
use crate::platform::store::Item;
use crate::tools::ToolRegistry;

/// The file with the statements.
const STATEMENTS: &str = "entitlements.json";

/// What the folder holds at one moment.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) shelves: BTreeMap<String, Shelf>,
    /// Absent if the file is there and cannot be read.
    pub(crate) statements: Option<Map<String, Value>>,
    /// Files beside skills by the SHA-256 of their bytes.
    pub(crate) files: HashMap<String, PathBuf>,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
}

/// The skills of one subscription.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) items: BTreeMap<String, Item>,
    /// Files that cannot be read now; what they brought before stays.
    pub(crate) unread: HashSet<String>,
}

/// Reads everything.
///
/// # Errors
/// The folder itself cannot be listed.
pub(crate) fn read(folder: &Path, registry: &ToolRegistry) -> io::Result<Reading> {
    let mut reading = Reading::default();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if !name.starts_with('.') && path.is_dir() {
            let stock = reading.fill(&path, registry);
            reading.shelves.insert(name, stock);
        }
    }
    match fs::read(folder.join(STATEMENTS)) {
        Ok(bytes) => match serde_json::from_slice::<Map<String, Value>>(&bytes) {
            Ok(statements) => reading.statements = Some(statements),
            Err(cause) => reading.notes.push(format!("{STATEMENTS} is not used: {cause}")),
        },
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => reading.statements = Some(Map::new()),
        Err(cause) => reading.notes.push(format!("{STATEMENTS} is not used: {cause}")),
    }
    Ok(reading)
}

impl Reading {
    fn fill(&mut self, root: &Path, registry: &ToolRegistry) -> Shelf {
        let mut stock = Shelf::default();
        let report = check_paths(&[root.to_owned()], registry, &ImportOptions::default());
        for line in report.skills.into_iter().filter(|line| line.folded_into.is_none()) {
            match &line.skill {
                Some(skill) => {
                    self.keep_files(root, &line.path, skill);
                    stock.put(&line.path, skill.id.clone(), skill);
                }
                None => self.rejected(root, &line, &mut stock),
            }
        }
        stock
    }

    /// The files beside a skill, to be asked for by their digest.
    fn keep_files(&mut self, root: &Path, path: &str, skill: &Skill) {
        let folder = root.join(path);
        let folder = folder.parent().unwrap_or(root);
        for resource in &skill.resources {
            self.files.insert(resource.sha256.clone(), folder.join(&resource.path));
        }
    }

    /// A skill that import rejects is sent all the same where it is JSON: this platform is there to show what a client
    /// does, and a client must cope with it.
    fn rejected(&mut self, root: &Path, line: &ReportLine, stock: &mut Shelf) {
        let why = line.error.as_ref().and_then(|error| error.problems.first());
        let why = why.map(ToString::to_string).unwrap_or_default();
        let written = line.id.as_deref().and_then(|id| written(&root.join(&line.path), id));
        let what = if let (Some(id), Some(value)) = (&line.id, written) {
            stock.put(&line.path, id.clone(), &value);
            "is sent as it is written, although it is wrong"
        } else {
            stock.unread.insert(line.path.clone());
            "is not sent"
        };
        self.notes.push(format!("{}/{} {what}: {why}", root.display(), line.path));
    }
}

impl Shelf {
    pub(crate) fn put(&mut self, path: &str, id: String, skill: &impl serde::Serialize) {
        // A skill has only text keys and finite numbers, so that both forms exist.
        let Ok(value) = serde_json::to_value(skill) else { return };
        let Ok(canonical) = serde_json_canonicalizer::to_vec(&value) else { return };
        let digest = hex_sha256(&canonical);
        self.items
            .insert(id, Item { seq: 0, digest, skill: value, bytes: canonical.len(), path: path.to_owned() });
    }
}

/// The JSON object with that id in a file of one object or an array of them.
fn written(path: &Path, id: &str) -> Option<Value> {
    if fs::metadata(path).ok()?.len() > SKILL_FILE_BYTES_MAX {
        return None;
    }
    let value: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let list = match value {
        Value::Array(list) => list,
        one => vec![one],
    };
    list.into_iter().find(|value| value["id"] == *id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_folder_is_read_in_every_format_and_what_is_wrong_does_not_take_the_rest_away() {
        let folder = tempfile::tempdir().expect("folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            fs::write(path, text).expect("file");
        };
        write("gold/wifi/SKILL.md", "---\nname: wifi\ndescription: Open the settings.\n---\n\nTap it.\n");
        write("gold/wifi/scripts/a.sh", "echo a\n");
        write("gold/b.skill.json", r#"{"id":"b","kind":"knowledge","name":"B","description":"b"}"#);
        write("gold/wrong.skill.json", r#"{"id":"w","kind":"knowledge","name":"W"}"#);
        write("gold/broken.skill.json", "{\"id\":");
        write("entitlements.json", r#"{"gold":{"revoked":["b"]}}"#);
        let reading = read(folder.path(), &ToolRegistry::builtin()).expect("read");
        let shelf = &reading.shelves["gold"];
        assert_eq!(shelf.items.keys().collect::<Vec<_>>(), ["b", "w", "wifi"]);
        assert_eq!(shelf.items["w"].skill, json!({"id": "w", "kind": "knowledge", "name": "W"}));
        assert_eq!(shelf.unread.iter().collect::<Vec<_>>(), ["broken.skill.json"]);
        assert_eq!(reading.files.len(), 1);
        assert!(reading.files.values().all(|path| path.ends_with("gold/wifi/scripts/a.sh") && path.exists()));
        assert_eq!(reading.statements.expect("statements").len(), 1);
        assert_eq!(reading.notes.len(), 2);
    }
}
