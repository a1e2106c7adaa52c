//! The tools of one deployment, found by any of their names.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::Problem;
use crate::tools::{Effect, ToolSpec, listing};

/// The table of this product, as data.
pub(crate) const BUILTIN_JSON: &str = include_str!("builtin.json");

/// The fingerprint of that table, so that opening a catalog need not parse it; a test says that it is true.
static BUILTIN_FINGERPRINT: &[u8; 32] = include_bytes!("builtin.fingerprint");

/// A name resolved to its tool.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<'a> {
    /// The tool.
    pub spec: &'a ToolSpec,
    /// Arguments that the name implies.
    pub fixed: &'a Map<String, Value>,
    /// Place of the tool in the table, below [`ToolRegistry::len`].
    pub ordinal: usize,
}

/// The tools of a deployment. Immutable; cheap to share behind an `Arc`.
#[derive(Debug, Default)]
pub struct ToolRegistry {
    /// The built-in table is read when it is needed first: who only looks skills up never needs it.
    table: OnceLock<Table>,
    is_builtin: bool,
    fingerprint: OnceLock<[u8; 32]>,
}

/// Tools and their names.
#[derive(Debug, Default)]
struct Table {
    specs: Vec<ToolSpec>,
    names: HashMap<String, Place>,
}

/// Where a name leads.
#[derive(Clone, Copy, Debug)]
struct Place {
    ordinal: usize,
    /// Index of the alias; `None` for the canonical name.
    alias: Option<usize>,
}

impl ToolRegistry {
    /// The built-in table. Read at most once a process, when a tool is asked for; an `Arc` clone.
    #[must_use]
    pub fn builtin() -> Arc<Self> {
        static BUILTIN: LazyLock<Arc<ToolRegistry>> = LazyLock::new(|| {
            let fingerprint = OnceLock::from(*BUILTIN_FINGERPRINT);
            Arc::new(ToolRegistry { table: OnceLock::new(), is_builtin: true, fingerprint })
        });
        Arc::clone(&BUILTIN)
    }

    fn table(&self) -> &Table {
        self.table.get_or_init(|| {
            if !self.is_builtin {
                return Table::default();
            }
            // The table is compiled in and a test reads it: the empty default stands for "cannot happen".
            Table::new(
                listing::read(BUILTIN_JSON).map(|added| listing::merge(&[], added)).unwrap_or_default(),
            )
        })
    }

    /// This table extended by a JSON text: `{"tools":[ToolSpec]}`, an array of `ToolSpec`, or the result of an MCP
    /// `tools/list` (whole response, `result` object or bare).
    ///
    /// A tool of the text replaces the one that has its name or one of its names; all others stay. The replacement
    /// goes on answering to the names of the replaced one that the text gives to nobody else.
    ///
    /// # Errors
    /// Every problem of the text at once, each with a JSON pointer.
    pub fn with_json(&self, text: &str) -> Result<Arc<Self>, Vec<Problem>> {
        let added = listing::read(text)?;
        let table = Table::new(listing::merge(&self.table().specs, added));
        Ok(Arc::new(Self { table: OnceLock::from(table), is_builtin: false, fingerprint: OnceLock::new() }))
    }

    /// The tool of that name or alias, exactly as written; `None` if there is none. One hash look-up.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Resolved<'_>> {
        static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        let table = self.table();
        let place = table.names.get(name)?;
        let spec = table.specs.get(place.ordinal)?;
        let fixed =
            place.alias.and_then(|alias| spec.aliases.get(alias)).map_or(&*NOTHING, |alias| &alias.fixed);
        Some(Resolved { spec, fixed, ordinal: place.ordinal })
    }

    /// The tool of that name or alias, or the problem that tells which name was meant.
    ///
    /// # Errors
    /// `unknown_tool` at `pointer`, with the nearest name.
    pub fn require(&self, name: &str, pointer: &str) -> Result<Resolved<'_>, Box<Problem>> {
        self.resolve(name).ok_or_else(|| {
            let message = match self.nearest(name) {
                Some(near) => format!("no tool of that name; did you mean {near:?}?"),
                None => "no tool of that name; `repertoire tools` lists them all".to_owned(),
            };
            Box::new(Problem::new("unknown_tool", pointer, message).got(name))
        })
    }

    /// All tools in table order.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.table().specs.iter()
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table().specs.len()
    }

    /// Whether there is no tool at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table().specs.is_empty()
    }

    /// The tool at a place of the table.
    #[must_use]
    pub fn get(&self, ordinal: usize) -> Option<&ToolSpec> {
        self.table().specs.get(ordinal)
    }

    /// Tools that only look or wait: what every flow may use beside its own.
    pub fn harmless(&self) -> impl Iterator<Item = &ToolSpec> {
        self.table().specs.iter().filter(|spec| spec.effect != Effect::Mutate)
    }

    /// SHA-256 over everything that validation depends on (names, schemas, rules, effects, risks), independent of the
    /// order of the tools: equal registries have equal fingerprints. Computed at the first call.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        *self.fingerprint.get_or_init(|| self.table().fingerprint())
    }

    /// The nearest known name, for an error message; `None` if nothing is near. Linear in the number of names.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let wanted: Vec<char> = name.chars().take(65).flat_map(char::to_lowercase).collect();
        if wanted.is_empty() || wanted.len() > 64 {
            return None;
        }
        let most = (wanted.len() / 3).clamp(1, 4);
        let distances = self.table().names.keys().map(|known| (distance(&wanted, known), known.as_str()));
        distances.filter(|(distance, _)| *distance <= most).min().map(|(_, known)| known)
    }
}

impl Table {
    /// A table of tools whose names are already known to be unique.
    fn new(specs: Vec<ToolSpec>) -> Self {
        let mut names = HashMap::new();
        for (ordinal, spec) in specs.iter().enumerate() {
            names.insert(spec.name.clone(), Place { ordinal, alias: None });
            for (alias, named) in spec.aliases.iter().enumerate() {
                names.entry(named.name.clone()).or_insert(Place { ordinal, alias: Some(alias) });
            }
        }
        Self { specs, names }
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut lines: Vec<String> = self.specs.iter().map(canonical_line).collect();
        lines.sort_unstable();
        let mut hash = Sha256::new();
        for line in lines {
            hash.update(line.as_bytes());
            hash.update(b"\n");
        }
        hash.finalize().into()
    }
}

/// One tool for the fingerprint: canonical JSON without the summary; aliases sorted by name.
fn canonical_line(spec: &ToolSpec) -> String {
    let mut spec = spec.clone();
    spec.summary.clear();
    spec.aliases.sort_by(|left, right| left.name.cmp(&right.name));
    serde_json::to_value(&spec)
        .and_then(|value| serde_json_canonicalizer::to_string(&value))
        .unwrap_or_else(|_| spec.name.clone())
}

/// Edit distance with insertions, deletions and substitutions of one character.
fn distance(wanted: &[char], known: &str) -> usize {
    let mut row: Vec<usize> = (0..=wanted.len()).collect();
    for (place, character) in known.chars().enumerate() {
        let mut diagonal = row.first().copied().unwrap_or_default();
        let mut left = place + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (other, cell) in wanted.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(*other != character);
            diagonal = *cell;
            *cell = replaced.min(diagonal + 1).min(left + 1);
            left = *cell;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_fingerprint_is_that_of_the_embedded_table() {
        let registry = ToolRegistry::builtin();
        let found = registry.table().fingerprint();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tools/builtin.fingerprint");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(path, found).unwrap();
        }
        assert!(
            std::fs::read(path).unwrap() == found
                && (registry.fingerprint() == found || std::env::var_os("UPDATE_GOLDEN").is_some()),
            "the table changed; write its fingerprint with UPDATE_GOLDEN=1 cargo test --lib the_embedded_fingerprint, then build again"
        );
        assert!(!registry.is_empty());
    }
}
