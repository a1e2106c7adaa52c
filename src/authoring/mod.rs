//! Skill authoring: successful tasks become skills of the `learned` layer.
//!
//! [`Authoring`] is the only writer of that layer, and writes no other; [`Authoring::promote`] goes through the import.
//! A [`Recorder`] records the calls of a session's task and hands the record over at its end. Who does not switch
//! authoring on makes no [`Authoring`], and a recorder that is off does nothing at all.
//!
//! Invariant: no secret reaches a file, and no layer but `learned` is written but by `promote`, which a person asks for.

mod clock;
mod learn;
mod manage;
mod recorder;
#[cfg(test)]
mod tests;

use crate::catalog::Catalog;
use crate::limits::LEARNED_SKILLS_MAX;

pub use learn::{LearnOutcome, Learnt};
pub use manage::{LearnedLine, LearnedSkill, Promoted};
pub use recorder::Recorder;

/// The author of learned skills of one catalog. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Authoring {
    catalog: Catalog,
    /// Most skills that are kept.
    skills_max: u64,
    now: fn() -> String,
}

impl Authoring {
    /// The author of a catalog. Reads and writes nothing yet; a deployment that does not want authoring makes none.
    #[must_use]
    pub fn new(catalog: &Catalog) -> Self {
        Self { catalog: catalog.clone(), skills_max: LEARNED_SKILLS_MAX, now: clock::now }
    }

    /// A recorder for one session.
    #[must_use]
    pub fn recorder(&self) -> Recorder {
        Recorder::new(self.clone())
    }
}
