//! A look-up's answer before the record is touched.

use crate::catalog::record::{effective_risk, risk_from_byte, shown_risk, status};
use crate::catalog::{Look, SkillRef};
use crate::error::Result;
use crate::index::ids::Row;
use crate::model::{Kind, Layer, Risk};

/// A skill that the caller may see, found by its id: what the index itself says of it.
///
/// The index compares 128 bits of a hash; [`Handle::open`] compares the text of the id. Somebody who makes two ids
/// with one hash on purpose gets here what the other one is, and then no skill.
#[derive(Clone, Copy)]
pub struct Handle<'a> {
    look: &'a Look,
    index: usize,
    slot: u32,
    row: Row,
}

impl<'a> Handle<'a> {
    /// The row that a layer's id index answered.
    #[inline]
    pub(crate) fn new(look: &'a Look, index: usize, slot: u32, row: Row) -> Self {
        Self { look, index, slot, row }
    }

    /// The skill, if its id is this one. Cost: the record, checked on first touch.
    ///
    /// # Errors
    /// The record on disk is damaged; the next query works with the last good state.
    pub fn open(&self, id: &str) -> Result<Option<SkillRef<'a>>> {
        let open = &self.look.state.layers[self.index];
        let record = open.record_of_slot(self.slot).map_err(|damage| damage.in_file(open.name()).into());
        let record = self.look.noting(record)?;
        let skill = SkillRef { look: self.look, open, ordinal: self.row.ordinal, record };
        Ok((skill.id() == id).then_some(skill))
    }

    /// Knowledge or flow template.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.flags()[1] == 0 { Kind::Knowledge } else { Kind::FlowTemplate }
    }

    /// The layer that this copy comes from.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.look.state.layers[self.index].layer
    }

    /// Whether the skill can be used with the tools of this deployment.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.look.state.layers[self.index].available.test(self.row.ordinal)
    }

    /// Whether its author has withdrawn it.
    #[must_use]
    pub fn is_deprecated(&self) -> bool {
        self.flags()[0] & status::DEPRECATED != 0
    }

    /// Risk to show: as declared, else that of its tools, else medium.
    #[must_use]
    pub fn risk(&self) -> Risk {
        shown_risk(risk_from_byte(self.flags()[2]), self.tool_risk())
    }

    /// Risk to act on: the highest of the declared one and that of its tools.
    #[must_use]
    pub fn effective_risk(&self) -> Risk {
        effective_risk(risk_from_byte(self.flags()[2]), self.tool_risk())
    }

    fn tool_risk(&self) -> Option<Risk> {
        match self.look.state.layers[self.index].compiled_now(self.row.ordinal) {
            Some(now) => now.tool_risk,
            None => risk_from_byte(self.flags()[3]),
        }
    }

    fn flags(&self) -> [u8; 4] {
        self.row.flags.to_le_bytes()
    }
}

impl std::fmt::Debug for Handle<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle")
            .field("layer", &self.layer())
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}
