//! What lint looks for: every code with its severity and what it says, in the order of the document.

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Advice of the house style.
    Note,
    /// Something that probably does not work as it was meant.
    Warning,
    /// Something that must not be published.
    Error,
}

impl Severity {
    /// The word for it; also the level of SARIF.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A thing that lint looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Stable code, beginning with `lint_`.
    pub code: &'static str,
    /// How much a finding of it matters.
    pub severity: Severity,
    /// What it finds, in a sentence.
    pub summary: &'static str,
}

macro_rules! rules {
    ($($name:ident $severity:ident $code:literal $summary:literal;)*) => {
        $(pub(crate) const $name: Rule = Rule { code: $code, severity: Severity::$severity, summary: $summary };)*
        /// Every rule, in the order of `docs/lint.md`.
        pub const RULES: &[Rule] = &[$($name),*];
    };
}

rules! {
    REJECTED Error "lint_rejected" "The file cannot be imported, so nothing in it could be looked at.";
    UNAVAILABLE Warning "lint_unavailable" "The skill cannot be used with the tools of this deployment.";
    ALIAS_COLLISION Warning "lint_alias_collision" "An alias is also an alias or the name of another skill.";
    NAME_COLLISION Warning "lint_name_collision" "Two skills have the same name.";
    ALIAS_IS_COMMAND Warning "lint_alias_is_command" "An alias is a whole device command, which never reaches a skill.";
    EXAMPLE_IS_COMMAND Warning "lint_example_is_command" "An example is a whole device command, which never reaches a skill.";
    ALIAS_UNREACHABLE Warning "lint_alias_unreachable" "Matching an alias does not answer its skill.";
    EXAMPLE_UNREACHABLE Warning "lint_example_unreachable" "Matching an example does not answer its skill.";
    NEAR_DUPLICATE Warning "lint_near_duplicate" "Two skills say almost the same.";
    DESCRIPTION_DUPLICATE Warning "lint_description_duplicate" "Two skills have almost the same description.";
    DESCRIPTION_EMPTY Warning "lint_description_empty" "The description has no word that is not in the name.";
    DESCRIPTION_SENTENCES Note "lint_description_sentences" "The description is more than one sentence.";
    METADATA_KEY Note "lint_metadata_key" "A metadata key is not in lower_snake_case.";
    CRITERION_VAGUE Note "lint_criterion_vague" "A success criterion says nothing that a screen can show.";
    TOOL_UNNEEDED Note "lint_tool_unneeded" "A tool is allowed that the skill never speaks of.";
    RAW_OBSERVATION Warning "lint_raw_observation" "The raw screen tree is allowed outside of a debugging skill.";
    RISK_BELOW_TOOLS Warning "lint_risk_below_tools" "The declared risk is below the risk of the tools.";
    RISK_SUBJECT Warning "lint_risk_subject" "A subject that asks for high risk has a lower one.";
    SECRET Error "lint_secret" "The text holds a key or token in the form that a service gives out.";
    POSSIBLE_SECRET Warning "lint_possible_secret" "The text sets a password or key to what looks like a real one.";
    PERSONAL_DATA Warning "lint_personal_data" "The text holds an e-mail address or a telephone number.";
    DEVICE_STATE Note "lint_device_state" "The text or a step holds what is true for one device only.";
    SELF_WIDENING Error "lint_self_widening" "The text tells the agent to go around its tools, approvals or instructions.";
    HIDDEN_CHARACTER Error "lint_hidden_character" "The text holds characters that nobody sees and a model reads.";
    BIDI_CHARACTER Error "lint_bidi_character" "The text holds characters that change the order in which others are shown.";
}

impl Rule {
    /// Whether what it finds must not be shown.
    pub(crate) fn is_secret(self) -> bool {
        is_secret(self.code)
    }
}

/// Whether the rule of a code finds what must not be shown.
pub(crate) fn is_secret(code: &str) -> bool {
    code == SECRET.code || code == POSSIBLE_SECRET.code
}

/// How much a finding of a code matters; `None` for a code that is no rule's.
#[must_use]
pub fn severity_of(code: &str) -> Option<Severity> {
    RULES.iter().find(|rule| rule.code == code).map(|rule| rule.severity)
}
