//! Generated skills, as files that `import` reads.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

/// Id and description: what tells the versions of a skill apart.
pub(crate) type Set = BTreeMap<String, String>;

/// A knowledge skill.
pub(crate) fn skill(id: &str, description: &str) -> Value {
    json!({"id": id, "kind": "knowledge", "name": format!("The skill {id}"), "description": description,
        "content": format!("# {id}\n\n{description}\n\n{}", "Tap what is there, then look again. ".repeat(20))})
}

/// The skill `target-N` that a watcher looks for: it has a word and a tag that no other skill has.
pub(crate) fn target(number: usize) -> Value {
    let id = target_id(number);
    let mut value = skill(&id, &format!("Looks for the word {}.", target_word(&id)));
    value["tags"] = json!([target_tag(&id)]);
    value
}

/// The id of a target.
pub(crate) fn target_id(number: usize) -> String {
    format!("target-{number}")
}

/// The word that only this target has.
pub(crate) fn target_word(id: &str) -> String {
    format!("zq{}qz", digits(id))
}

/// The tag that only this target has.
pub(crate) fn target_tag(id: &str) -> String {
    format!("tag {}", digits(id))
}

fn digits(id: &str) -> String {
    id.chars().filter(char::is_ascii_digit).collect()
}

/// A version of a set: half of the ids stand in every version with another text, the others in this one alone.
pub(crate) fn version(number: usize, skills: usize) -> Set {
    let each = (0..skills).map(|index| {
        let id = if index % 2 == 0 { format!("kept-{index}") } else { format!("v{number}-{index}") };
        (id, format!("Version {number} of number {index}."))
    });
    each.collect()
}

/// Makes a folder hold exactly this set, in files of ten skills.
pub(crate) fn write_folder(folder: &Path, set: &Set) {
    if folder.exists() {
        fs::remove_dir_all(folder).expect("the folder can be removed");
    }
    fs::create_dir_all(folder).expect("a folder");
    let skills: Vec<Value> = set.iter().map(|(id, description)| skill(id, description)).collect();
    for (number, some) in skills.chunks(10).enumerate() {
        write_lines(&folder.join(format!("{number}.skill.jsonl")), some.iter().cloned());
    }
}

/// Writes JSON lines.
pub(crate) fn write_lines(path: &Path, skills: impl Iterator<Item = Value>) {
    let mut file = std::io::BufWriter::new(fs::File::create(path).expect("a file"));
    for skill in skills {
        writeln!(file, "{skill}").expect("a line");
    }
    file.flush().expect("the file is written");
}
