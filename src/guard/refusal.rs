//! Why a call is not made.

use serde::Serialize;

/// A refused call: a stable code, one sentence, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refusal {
    /// `tool_not_allowed`, `skill_no_longer_available`, `policy_denied`, `approval_required` or `approval_declined`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Refusal {
    pub(super) fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }

    /// The tool is outside of the active scope.
    pub(super) fn not_allowed(tool: &str, skills: &[String], allowed: &[String]) -> Self {
        let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
        Self::new(
            "tool_not_allowed",
            format!(
                "The active skill {} does not allow {tool} with these arguments; allowed: {allowed}.",
                skills.join(" and ")
            ),
            "Use an allowed tool. use_skill without an id leaves the skill, if a person approves.",
        )
    }

    /// A skill of the scope is gone.
    pub(super) fn no_longer_available(skill: &str) -> Self {
        Self::new(
            "skill_no_longer_available",
            format!(
                "The skill {skill:?} was changed, hidden or revoked while it was active, so that its scope is closed."
            ),
            "Call use_skill with the skill to go on with, or without an id; a person has to approve it.",
        )
    }

    /// The policy forbids the call.
    #[must_use]
    pub fn denied(tool: &str, reason: &str) -> Self {
        Self::new(
            "policy_denied",
            format!("The policy of this deployment forbids this call of {tool}: {reason}."),
            "Do it another way, or tell the user that the operator's policy is in the way.",
        )
    }

    /// A person would have to approve, and nobody can be asked.
    #[must_use]
    pub fn approval_required(what: &str, reason: &str) -> Self {
        Self::new(
            "approval_required",
            format!("{what} needs a person's approval ({reason}), and this client cannot ask for it."),
            "Ask the user to do this step by hand, or to connect with a client that supports elicitation; the operator can allow it with a rule in the [policy] file.",
        )
    }

    /// A person said no, or nobody answered.
    #[must_use]
    pub fn approval_declined(what: &str, why: &str) -> Self {
        Self::new(
            "approval_declined",
            format!("{what} was not approved: {why}."),
            "Do not try the same again; ask the user how to go on.",
        )
    }
}
