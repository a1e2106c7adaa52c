//! The one catalog file that every engine is built from, and the row that key-value stores keep of a skill.
//!
//! A row can be read without decoding it: the numbers that a look-up wants stand at fixed places in front of the texts.
//! No store of values has less to do.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use memmap2::Mmap;
use repertoire::{Entry, Kind, Skill};
use serde_json::{Value, json};

use crate::Result;
use crate::synthetic::Synthetic;

/// A skill as a team would hold it in memory.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub id: String,
    pub name: String,
    pub description: String,
    pub version: String,
    pub content: String,
    /// Parameters and steps as JSON; empty for knowledge.
    pub flow: String,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    pub examples: Vec<String>,
    /// Number of its set of subscriptions.
    pub group: u8,
    /// 1 for a flow template.
    pub kind: u8,
}

const HEAD: usize = 12;

impl Record {
    fn of(entry: &Entry, group: usize) -> Self {
        let skill = &entry.skill;
        let flow = match skill.kind {
            Kind::Knowledge => String::new(),
            Kind::FlowTemplate => json!({"parameters": skill.parameters, "steps": skill.steps}).to_string(),
        };
        Self {
            id: skill.id.clone(),
            name: skill.name.clone(),
            description: skill.description.clone(),
            version: skill.version.clone(),
            content: skill.content.clone(),
            flow,
            tags: skill.tags.clone(),
            aliases: skill.aliases.clone(),
            examples: skill.examples.clone(),
            group: group as u8,
            kind: u8::from(skill.kind == Kind::FlowTemplate),
        }
    }

    /// The row: group, kind, lengths of name and version at fixed places, then all texts.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.group, self.kind, 0, 0];
        out.extend_from_slice(&(self.name.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.version.len() as u32).to_le_bytes());
        for text in [&self.id, &self.name, &self.description, &self.version, &self.content, &self.flow] {
            put(&mut out, text);
        }
        for list in [&self.tags, &self.aliases, &self.examples] {
            out.extend_from_slice(&(list.len() as u32).to_le_bytes());
            list.iter().for_each(|text| put(&mut out, text));
        }
        out
    }

    pub fn decode(row: &[u8]) -> Option<Self> {
        let mut rest = row.get(HEAD..)?;
        let mut text = || take(&mut rest);
        let (id, name, description) = (text()?, text()?, text()?);
        let (version, content, flow) = (text()?, text()?, text()?);
        let mut list = || {
            let count = number(&mut rest)?;
            (0..count).map(|_| take(&mut rest)).collect::<Option<Vec<_>>>()
        };
        let (tags, aliases, examples) = (list()?, list()?, list()?);
        Some(Self {
            id,
            name,
            description,
            version,
            content,
            flow,
            tags,
            aliases,
            examples,
            group: row[0],
            kind: row[1],
        })
    }

    /// Bytes of all texts.
    pub fn raw_bytes(&self) -> u64 {
        let lists = [&self.tags, &self.aliases, &self.examples];
        let listed: usize = lists.iter().flat_map(|list| list.iter()).map(String::len).sum();
        let texts = [&self.id, &self.name, &self.description, &self.version, &self.content, &self.flow];
        (listed + texts.iter().map(|text| text.len()).sum::<usize>()) as u64
    }

    /// The skill as our own engine takes it.
    pub fn entry(&self) -> Result<Entry> {
        let kind = if self.kind == 1 { Kind::FlowTemplate } else { Kind::Knowledge };
        let mut skill = Skill::new(&*self.id, kind, &*self.name, &*self.description);
        skill.version.clone_from(&self.version);
        skill.content.clone_from(&self.content);
        skill.tags.clone_from(&self.tags);
        skill.aliases.clone_from(&self.aliases);
        skill.examples.clone_from(&self.examples);
        if kind == Kind::FlowTemplate {
            let mut flow: Value = serde_json::from_str(&self.flow)?;
            skill.parameters = serde_json::from_value(flow["parameters"].take())?;
            skill.steps = serde_json::from_value(flow["steps"].take())?;
        }
        let mut entry = Entry::new(skill);
        entry.subscriptions = Synthetic::subscriptions(usize::from(self.group));
        Ok(entry)
    }
}

/// Group of a row.
pub fn group(row: &[u8]) -> u8 {
    row[0]
}

/// What "touching the record" reads: kind and the lengths of name and version.
pub fn touch(row: &[u8]) -> u64 {
    let length = |at: usize| u64::from(u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]));
    u64::from(row[1]) + length(4) + length(8)
}

fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (head, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    Some(u32::from_le_bytes(*head) as usize)
}

fn take(rest: &mut &[u8]) -> Option<String> {
    let length = number(rest)?;
    let (text, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    String::from_utf8(text.to_vec()).ok()
}

/// Writes the catalog file: rows with their lengths in front.
pub fn write(path: &Path, skills: usize, world: &Synthetic) -> Result<()> {
    let partial = path.with_extension("partial");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&partial)?);
    for index in 0..skills {
        let row = Record::of(&world.entry(index), world.group(index)).encode();
        out.write_all(&(row.len() as u32).to_le_bytes())?;
        out.write_all(&row)?;
    }
    out.into_inner().map_err(|error| error.into_error())?.sync_all()?;
    Ok(std::fs::rename(partial, path)?)
}

/// The catalog file, mapped.
pub struct Catalog(Mmap);

impl Catalog {
    pub fn open(path: &Path) -> Result<Self> {
        // SAFETY: nothing changes the file once it has its name.
        Ok(Self(unsafe { Mmap::map(&File::open(path)?)? }))
    }

    /// The rows in the order of their numbers.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || {
            let length = number(&mut rest)?;
            let (row, tail) = rest.split_at_checked(length)?;
            rest = tail;
            Some(row)
        })
    }

    /// All skills, decoded.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        self.rows().filter_map(Record::decode)
    }
}
