//! Rules and the set that they make.

use std::sync::{Arc, LazyLock};

use crate::error::Problem;
use crate::model::Risk;
use crate::policy::decide::Verdict;
use crate::policy::file;
use crate::policy::pattern::Glob;
use crate::policy::words::Words;
use crate::tools::{Effect, ToolRegistry};

/// The rules that are built in.
pub(super) const STARTER: &str = include_str!("starter.toml");

/// One rule. It applies where all of its conditions hold; a condition that is not given always holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Name, shown to the person who is asked.
    pub name: String,
    /// Only calls that do this.
    pub effect: Option<Effect>,
    /// Only tools of this risk or a higher one.
    pub risk: Option<Risk>,
    /// Only while a skill of this risk or a higher one is active.
    pub skill_risk: Option<Risk>,
    /// Only these tools, by canonical name.
    pub tools: Vec<String>,
    /// Only while one of these apps is in the foreground, owns the element, or is named by the call.
    pub apps: Vec<Glob>,
    /// Only where one of these words is in a text of the arguments or on the element.
    pub text: Words,
    /// Where the words do not count inside of these.
    pub except: Words,
    /// Only where the element has one of these resource ids, with or without its package.
    pub resource_ids: Vec<Glob>,
    /// Only where the element hides what is typed, or does not.
    pub password: Option<bool>,
    /// Only where typed text is submitted at once, or is not.
    pub submit: Option<bool>,
    /// The answer.
    pub decide: Verdict,
}

/// A set of rules with the answers for calls that no rule speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub(super) rules: Vec<Rule>,
    /// Answers for tools of low, medium and high risk.
    pub(super) default: [Verdict; 3],
}

impl Default for Policy {
    /// The starter set.
    fn default() -> Self {
        Self::starter()
    }
}

impl Policy {
    /// The built-in rules: low and medium risk are allowed, high risk asks, and so does what pays, sends, deletes,
    /// changes accounts, grants permissions or touches security, in English and Chinese.
    #[must_use]
    pub fn starter() -> Self {
        static STARTER_SET: LazyLock<Policy> = LazyLock::new(|| {
            // A test reads the built-in file; without it everything that acts would ask, which is the safe side.
            file::read(STARTER, &ToolRegistry::builtin(), None).unwrap_or_else(|_| Policy::ask_always())
        });
        STARTER_SET.clone()
    }

    /// Every call of medium or high risk asks.
    #[must_use]
    pub fn ask_always() -> Self {
        Self { rules: Vec::new(), default: [Verdict::Allow, Verdict::Ask, Verdict::Ask] }
    }

    /// Everything is allowed: for a person who makes each call by hand.
    #[must_use]
    pub fn allow_all() -> Self {
        Self { rules: Vec::new(), default: [Verdict::Allow; 3] }
    }

    /// Reads a policy file. The starter rules stay in force beside it unless it says `starter = false`.
    ///
    /// # Errors
    /// Everything that is wrong at once, each with its line.
    pub fn from_toml(text: &str, registry: &Arc<ToolRegistry>) -> Result<Self, Vec<Problem>> {
        file::read(text, registry, Some(&Self::starter()))
    }

    /// The rules in order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether a rule may need to know the foreground app of a call that only looks or waits.
    #[must_use]
    pub fn needs_app(&self) -> bool {
        self.rules.iter().any(|rule| !rule.apps.is_empty() && rule.effect != Some(Effect::Mutate))
    }
}
