//! What a skill's allowlist permits: a set over the table, one bit test a call.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::Problem;
use crate::tools::schema::equal;
use crate::tools::{Call, ToolRegistry};

/// One entry of an allowlist: a tool, or the part of a tool that an alias with fixed arguments names.
#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    /// The tool's canonical name.
    pub tool: String,
    /// Place of the tool in the table.
    pub ordinal: usize,
    /// The only values permitted for these arguments; empty for the whole tool.
    pub fixed: Map<String, Value>,
    /// The entry's canonical spelling: the tool's name, or the first alias in the table that fixes the same arguments.
    name: String,
}

impl Permission {
    /// Reads an allowlist entry: a tool's name or any alias.
    ///
    /// # Errors
    /// `unknown_tool` at `pointer`.
    pub fn parse(entry: &str, registry: &ToolRegistry, pointer: &str) -> Result<Self, Box<Problem>> {
        let resolved = registry.require(entry, pointer)?;
        let spec = resolved.spec;
        let same = |fixed: &Map<String, Value>| !fixed.is_empty() && fixed == resolved.fixed;
        let name =
            spec.aliases.iter().find(|alias| same(&alias.fixed)).map_or(&spec.name, |alias| &alias.name);
        Ok(Self {
            tool: spec.name.clone(),
            ordinal: resolved.ordinal,
            fixed: resolved.fixed.clone(),
            name: name.clone(),
        })
    }

    /// The canonical spelling; parsing it again gives the same permission.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A precomputed set of permissions over one registry. `permits` is one bit test for a tool that is permitted whole or
/// not at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowlist {
    /// One bit a tool: permitted with any arguments.
    whole: Vec<u64>,
    /// Parts of tools that are not permitted whole.
    parts: Vec<(usize, Map<String, Value>)>,
}

impl Allowlist {
    /// The set of some permissions. An empty one permits nothing.
    #[must_use]
    pub fn new<'a>(permissions: impl IntoIterator<Item = &'a Permission>) -> Self {
        let mut list = Self::default();
        let mut parts: Vec<(usize, Map<String, Value>)> = Vec::new();
        for permission in permissions {
            if permission.fixed.is_empty() {
                list.insert(permission.ordinal);
            } else {
                parts.push((permission.ordinal, permission.fixed.clone()));
            }
        }
        list.keep_parts(parts);
        list
    }

    /// The set that permits every tool of a registry.
    #[must_use]
    pub fn everything(registry: &ToolRegistry) -> Self {
        let mut list = Self::default();
        (0..registry.len()).for_each(|ordinal| list.insert(ordinal));
        list
    }

    /// Whether a checked call is permitted: the tool as a whole, or with just these arguments.
    #[must_use]
    pub fn permits(&self, call: &Call<'_>) -> bool {
        self.permits_whole(call.ordinal)
            || self.parts.iter().any(|(ordinal, fixed)| {
                *ordinal == call.ordinal
                    && fixed
                        .iter()
                        .all(|(name, value)| call.args.get(name).is_some_and(|given| equal(given, value)))
            })
    }

    /// Whether any call of a tool may be permitted: what a filtered tool list shows.
    #[must_use]
    pub fn mentions(&self, ordinal: usize) -> bool {
        self.permits_whole(ordinal) || self.parts.iter().any(|(part, _)| *part == ordinal)
    }

    /// What both sets permit: the scope when a second skill becomes active without approval.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let whole = self.whole.iter().zip(&other.whole).map(|(left, right)| left & right).collect();
        let mut both = Self { whole, parts: Vec::new() };
        let mut parts = Vec::new();
        for (mine, theirs) in [(self, other), (other, self)] {
            parts.extend(mine.parts.iter().filter(|(ordinal, _)| theirs.permits_whole(*ordinal)).cloned());
        }
        for (ordinal, fixed) in &self.parts {
            for (_, more) in other.parts.iter().filter(|(part, _)| part == ordinal) {
                let agree = fixed.iter().all(|(name, value)| more.get(name).is_none_or(|v| equal(v, value)));
                if agree {
                    let joined = fixed.iter().chain(more).map(|(name, value)| (name.clone(), value.clone()));
                    parts.push((*ordinal, joined.collect()));
                }
            }
        }
        both.keep_parts(parts);
        both
    }

    fn permits_whole(&self, ordinal: usize) -> bool {
        self.whole.get(ordinal / 64).is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
    }

    fn insert(&mut self, ordinal: usize) {
        let word = ordinal / 64;
        if self.whole.len() <= word {
            self.whole.resize(word + 1, 0);
        }
        if let Some(bits) = self.whole.get_mut(word) {
            *bits |= 1 << (ordinal % 64);
        }
    }

    /// Takes parts that a whole permission does not cover, each once.
    fn keep_parts(&mut self, parts: Vec<(usize, Map<String, Value>)>) {
        for part in parts {
            if !self.permits_whole(part.0) && !self.parts.contains(&part) {
                self.parts.push(part);
            }
        }
    }
}
