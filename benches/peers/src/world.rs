//! What all engines share at one size: the catalog file, the caller's rights, the stream of queries.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use repertoire::model::normalise;
use serde_json::json;

use crate::Result;
use crate::questions;
use crate::random::Random;
use crate::record::{self, Catalog, Record};
use crate::synthetic::{GROUPS, Synthetic};

/// Seed of catalogs and queries.
const SEED: u64 = 20_261_130;
/// Length of the stream of ids.
const IDS: usize = 65_536;
/// Length of the other streams.
const TEXTS: usize = 8_192;

/// One size: a folder with the catalog file, to which engines add theirs.
pub struct World {
    pub skills: usize,
    pub folder: PathBuf,
    pub catalog: Catalog,
}

/// The streams of queries, made from the skills that the caller may see.
pub struct Queries {
    /// 90 % visible, 5 % hidden, 5 % unknown ids.
    pub ids: Vec<String>,
    /// Aliases in normal form.
    pub aliases: Vec<String>,
    /// First letters of names and aliases.
    pub prefixes: Vec<String>,
    /// Words of up to five letters with one letter changed.
    pub typos: Vec<String>,
    /// Longer names with one letter changed.
    pub long_typos: Vec<String>,
    /// Requests of some words.
    pub requests: Vec<String>,
}

impl World {
    /// The world of a size; writes the catalog file on the first call.
    pub fn open(root: &Path, skills: usize) -> Result<Self> {
        let folder = root.join(skills.to_string());
        fs::create_dir_all(&folder)?;
        let path = folder.join("catalog.bin");
        if !path.exists() {
            record::write(&path, skills, &Synthetic::new(skills, SEED))?;
        }
        Ok(Self { skills, catalog: Catalog::open(&path)?, folder })
    }

    /// The streams of queries; made on the first call, since children read them too.
    pub fn queries(&self) -> Result<Queries> {
        let path = self.folder.join("queries.json");
        if !path.exists() {
            let made = self.make_queries();
            let text =
                json!([made.ids, made.aliases, made.prefixes, made.typos, made.long_typos, made.requests]);
            fs::write(&path, serde_json::to_vec(&text)?)?;
        }
        let lists: Vec<Vec<String>> = serde_json::from_slice(&fs::read(&path)?)?;
        let lists: [Vec<String>; 6] = lists.try_into().map_err(|_| "queries.json: not six lists")?;
        let [ids, aliases, prefixes, typos, long_typos, requests] = lists;
        Ok(Queries { ids, aliases, prefixes, typos, long_typos, requests })
    }

    /// All records behind shared pointers, as a map of them is held.
    pub fn records(&self) -> Vec<Arc<Record>> {
        self.catalog.records().map(Arc::new).collect()
    }

    fn make_queries(&self) -> Queries {
        let world = Synthetic::new(self.skills, SEED);
        let rights = rights();
        let (mut ids, mut hidden) = (Vec::new(), Vec::new());
        let (mut aliases, mut names, mut short) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut visible = Vec::new();
        for (index, record) in self.catalog.records().enumerate() {
            if !rights[usize::from(record.group)] {
                hidden.push(record.id);
                continue;
            }
            visible.push(index);
            for alias in &record.aliases {
                let key = normalise(alias);
                if key.is_ascii() && key.len() <= 5 && !key.contains(' ') {
                    short.insert(key.clone());
                }
                aliases.insert(key);
            }
            names.insert(normalise(&record.name));
            ids.push(record.id);
        }
        let mut random = Random::new(SEED ^ 4);
        let stream = (0..IDS).map(|_| match random.below(20) {
            0 => random.one(&hidden).cloned().unwrap_or_default(),
            1 => format!("{}x", random.one(&ids).map_or("", String::as_str)),
            _ => random.one(&ids).cloned().unwrap_or_default(),
        });
        let stream: Vec<String> = stream.collect();
        let (aliases, names): (Vec<_>, Vec<_>) = (aliases.into_iter().collect(), names.into_iter().collect());
        let short: Vec<String> = short.into_iter().collect();
        // As long as about ten visible skills share the beginning.
        let letters = match self.skills {
            0..=2_000 => 2,
            2_001..=200_000 => 3,
            _ => 4,
        };
        let any = |random: &mut Random| {
            let from = if random.percent(50) { &aliases } else { &names };
            random.one(from).cloned().unwrap_or_default()
        };
        let ascii = |random: &mut Random| loop {
            let name = any(random);
            if name.is_ascii() && name.len() > 6 {
                return name;
            }
        };
        Queries {
            ids: stream,
            // In normal form like the keys: without a space at the end.
            prefixes: (0..TEXTS)
                .map(|_| {
                    let prefix: String = any(&mut random).chars().take(letters).collect();
                    prefix.trim_end().to_owned()
                })
                .collect(),
            typos: (0..TEXTS)
                .map(|_| {
                    let word = random.one(&short).cloned().unwrap_or_default();
                    with_typo(&word, &mut random)
                })
                .collect(),
            long_typos: (0..TEXTS)
                .map(|_| {
                    let name = ascii(&mut random);
                    with_typo(&name, &mut random)
                })
                .collect(),
            requests: (0..TEXTS / 4)
                .filter_map(|_| random.one(&visible).map(|index| questions::request(&world, (*index).max(1))))
                .collect(),
            aliases: (0..TEXTS).filter_map(|_| random.one(&aliases).cloned()).collect(),
        }
    }
}

/// The text with one letter changed.
fn with_typo(text: &str, random: &mut Random) -> String {
    let at = random.below(text.len());
    text.char_indices().map(|(place, c)| if place == at { 'q' } else { c }).collect()
}

/// Which groups the caller may see: the check of every peer is one look into this table.
pub fn rights() -> [bool; 256] {
    let mut rights = [false; 256];
    for (group, right) in rights.iter_mut().enumerate().take(GROUPS) {
        *right = questions::sees(group);
    }
    rights
}

/// Bytes that a file or a folder takes.
pub fn bytes_of(path: &Path) -> u64 {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| bytes_of(&entry.path())).sum(),
        Err(_) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
    }
}

/// Copies a folder.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Builds into a folder once: what is there already was built whole.
pub fn once(folder: &Path, build: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if folder.exists() {
        return Ok(());
    }
    let partial = folder.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir_all(&partial)?;
    build(&partial)?;
    Ok(fs::rename(partial, folder)?)
}
