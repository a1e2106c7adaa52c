//! Errors: one enum an area, folded into [`Error`]; codes are stable, messages say the next step.

mod device;
mod parameter;
mod problem;
mod storage;
mod words;

pub use device::{DeviceCode, DeviceError};
pub use parameter::ParameterProblem;
pub use problem::Problem;
pub use storage::StorageError;
pub use words::{counted, line_and_column, shorten};

/// Result of the library's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that a call into the library can fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data directory failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A phone, or what reaches it, failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No skill of that id is visible to the caller.
    #[error("no skill {:?}; list or search to see which there are", shorten(id))]
    SkillNotFound {
        /// The id asked for.
        id: String,
    },
    /// The skill is there but cannot be used on this deployment.
    #[error("skill {:?} cannot be used here: {}", shorten(id), reasons.join("; "))]
    SkillUnavailable {
        /// The skill.
        id: String,
        /// Why, one sentence each.
        reasons: Vec<String>,
    },
    /// Parameter values for a flow template are wrong; every problem is listed.
    #[error("invalid parameters for skill {:?}: {}", shorten(skill), join(problems))]
    InvalidParameters {
        /// The skill.
        skill: String,
        /// Every problem.
        problems: Vec<ParameterProblem>,
    },
    /// Arguments of a query or of a command are wrong; every problem is listed.
    #[error("invalid arguments: {}", join(problems))]
    InvalidArguments {
        /// Every problem.
        problems: Vec<Problem>,
    },
    /// An input (skill, registry, statement) breaks the rules; every problem is listed.
    #[error("{what} is rejected: {}", join(problems))]
    Rejected {
        /// What was rejected.
        what: String,
        /// Every problem.
        problems: Vec<Problem>,
    },
}

impl Error {
    /// The stable code of the error, as the MCP server and `--json` print it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Storage(StorageError::Locked { .. }) => "storage_locked",
            Self::Storage(StorageError::Damaged { .. }) => "storage_damaged",
            Self::Storage(_) => "storage_failed",
            Self::Device(error) => error.code.name(),
            Self::SkillNotFound { .. } => "skill_not_found",
            Self::SkillUnavailable { .. } => "skill_unavailable",
            Self::InvalidParameters { .. } => "invalid_parameters",
            Self::InvalidArguments { .. } => "invalid_arguments",
            Self::Rejected { .. } => "rejected",
        }
    }
}

/// Joins problems into one line.
fn join<T: ToString>(problems: &[T]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
