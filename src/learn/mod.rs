//! Learning: the record of a successful task becomes a flow template, and further ones make its parameters.
//!
//! A [`Tape`] records the calls of one task into a [`Timeline`]; `redact` takes the secrets out before anything is kept.
//! `run` keeps the calls that count, `skeleton` says which executions are of one kind, `align` puts them side by side,
//! `unify` finds what varies over them and `span` what of it inside of texts, `name` names it, `synthesis` makes the skill
//! and `verify` proves that it gives back every execution. `evidence` is what is kept beside the skill.
//!
//! Invariant: nothing here does input or output or knows a catalog, and no coordinate ever becomes a parameter.

mod align;
mod evidence;
mod former;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod hostile;
mod name;
mod place;
mod read;
mod redact;
mod role_words;
mod run;
mod secret_words;
mod skeleton;
mod span;
mod synthesis;
#[cfg(test)]
mod tests;
mod timeline;
mod unify;
mod verify;
mod words;

use crate::error::Problem;
use crate::limits::{PARAMETERS_MAX, STEPS_MAX, TIMELINE_EVENTS_MAX};

pub use timeline::{Element, Event, Secrecy, Tape, TaskStatus, Timeline};

pub(crate) use evidence::Evidence;
pub(crate) use run::Run;
pub(crate) use skeleton::{Skeleton, anchor};
pub(crate) use synthesis::{EVIDENCE, ORIGIN, RENAMED, cut, synthesise};

/// Why nothing is learned from a task.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Only success teaches.
    #[error("the task is {}; only succeeded tasks are learned from", status.name())]
    NotSucceeded {
        /// How it ended.
        status: TaskStatus,
    },
    /// No call changed anything.
    #[error("no call of the task changed anything; there is nothing to learn")]
    NothingDone,
    /// The record is not whole.
    #[error("the task had more than {TIMELINE_EVENTS_MAX} calls; record a shorter one")]
    TooLong,
    /// A flow has not so many steps.
    #[error("the task changed something {got} times; a flow has at most {STEPS_MAX} steps")]
    TooManySteps {
        /// How many there are.
        got: usize,
    },
    /// A flow has not so many parameters.
    #[error("{got} arguments differ from the earlier tasks; a flow has at most {PARAMETERS_MAX} parameters")]
    TooManyParameters {
        /// How many there are.
        got: usize,
    },
    /// The executions cannot be put side by side.
    #[error("the calls are not of the form of the earlier tasks")]
    NotOneForm,
    /// The proof failed.
    #[error("the template does not give back every execution; nothing is stored")]
    DoesNotReplay,
    /// There are too many skills like this one.
    #[error("too many learned skills have these tools and name no app; forget some")]
    TooManyAlike,
    /// The skill breaks rules of the model.
    #[error("the skill breaks a rule: {}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Invalid {
        /// Every problem.
        problems: Vec<Problem>,
    },
}
