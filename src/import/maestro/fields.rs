//! The values of one command, taken out by name; what is left at the end was not understood.

use crate::error::Problem;
use crate::import::text::Position;
use crate::import::tree::{Node, Value};

/// The members of a mapping.
pub(crate) struct Fields {
    members: Vec<(String, Node)>,
    /// Keys that stand twice; the last one counts.
    pub(crate) doubled: Vec<(String, Position)>,
}

impl Fields {
    /// The members of a mapping; a list or a text has none.
    pub(crate) fn of(node: Option<Node>) -> Self {
        let mut fields = Self { members: Vec::new(), doubled: Vec::new() };
        let Some(Node { value: Value::Mapping(pairs), .. }) = node else { return fields };
        for (key, value) in pairs {
            let position = key.position;
            let key = key.scalar().unwrap_or_default().to_owned();
            if let Some(known) = fields.members.iter().position(|(name, _)| *name == key) {
                fields.members.remove(known);
                fields.doubled.push((key.clone(), position));
            }
            fields.members.push((key, value));
        }
        fields
    }

    /// Takes a value; `None` where it is absent or holds nothing.
    pub(crate) fn take(&mut self, key: &str) -> Option<Node> {
        let at = self.members.iter().position(|(name, _)| name == key)?;
        Some(self.members.remove(at).1).filter(|node| !node.is_missing())
    }

    /// Whether the key was written and not taken.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|(name, _)| name == key)
    }

    /// The text of a value that was not taken.
    pub(crate) fn peek(&self, key: &str) -> Option<&str> {
        self.members.iter().find(|(name, _)| name == key)?.1.scalar()
    }

    /// What nobody took, in the order of the file.
    pub(crate) fn rest(self) -> Vec<(String, Node)> {
        self.members
    }
}

/// Whether a value says yes. `None` for anything but yes and no.
pub(crate) fn boolean(node: &Node) -> Option<bool> {
    match node.scalar()?.trim() {
        "true" | "True" | "TRUE" | "yes" => Some(true),
        "false" | "False" | "FALSE" | "no" => Some(false),
        _ => None,
    }
}

/// The problem of a command that is written in a form that nobody reads.
pub(crate) fn misshapen(position: Position, message: impl Into<String>) -> Box<Problem> {
    Box::new(position.mark(Problem::new("invalid_flow", "", message)))
}
