//! The question and its answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::POLICY_TEXT_CHARS_MAX;
use crate::model::{Risk, normalise};
use crate::policy::rule::{Policy, Rule};
use crate::tools::ToolSpec;

/// Whether a call may be made, from the least to the most strict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It may.
    #[default]
    Allow,
    /// A person decides.
    Ask,
    /// It may not.
    Deny,
}

impl Verdict {
    /// The name in files and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// An answer with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The answer.
    pub verdict: Verdict,
    /// Name of the rule; `default` where none applies.
    pub rule: String,
    /// Why, one sentence without a full stop; holds no value of an argument.
    pub reason: String,
}

/// What is known of a call before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The tool.
    pub tool: &'a ToolSpec,
    /// Its checked arguments.
    pub args: &'a Map<String, Value>,
    /// Risk of the active skill, where there is one.
    pub skill_risk: Option<Risk>,
    /// Package in the foreground; empty if unknown.
    pub app: &'a str,
    /// Further packages: of the element, of the app that the call names.
    pub packages: &'a [String],
    /// Words on the element and below it; empty if there is none.
    pub words: &'a str,
    /// Resource id of the element; empty if there is none.
    pub resource_id: &'a str,
    /// Whether the element hides what is typed.
    pub password: bool,
}

/// The texts of a question, normalised once for all rules.
struct Texts {
    arguments: Vec<String>,
    words: String,
}

impl Policy {
    /// Answers. Pure; linear in the texts for each rule. Among equally strict rules the first one is named.
    #[must_use]
    pub fn decide(&self, question: &Question<'_>) -> Decision {
        let texts = Texts::of(question);
        let default = self.of_risk(question.tool.risk);
        let mut decision = Decision {
            verdict: default,
            rule: "default".to_owned(),
            reason: format!("{} is a tool of {} risk", question.tool.name, question.tool.risk.name()),
        };
        for rule in &self.rules {
            // What is not stricter changes nothing, so that its words need not be looked for.
            if rule.decide > decision.verdict
                && let Some(reason) = rule.applies(question, &texts)
            {
                decision = Decision { verdict: rule.decide, rule: rule.name.clone(), reason };
            }
        }
        decision
    }

    fn of_risk(&self, risk: Risk) -> Verdict {
        let [low, medium, high] = self.default;
        match risk {
            Risk::Low => low,
            Risk::Medium => medium,
            Risk::High => high,
        }
    }
}

impl Texts {
    fn of(question: &Question<'_>) -> Self {
        let mut arguments = Vec::new();
        for (name, value) in question.args {
            // Names of phones, screens and files say nothing about what is done.
            if !["device", "snapshot", "save_to", "bounds"].contains(&name.as_str()) {
                collect(value, &mut arguments);
            }
        }
        let words = question.words.chars().take(POLICY_TEXT_CHARS_MAX).collect::<String>();
        Self { arguments, words: normalise(&words) }
    }
}

fn collect(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            out.push(normalise(&text.chars().take(POLICY_TEXT_CHARS_MAX).collect::<String>()));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Value::Object(members) => members.values().for_each(|member| collect(member, out)),
        _ => {}
    }
}

impl Rule {
    /// Why the rule applies; `None` if it does not.
    fn applies(&self, question: &Question<'_>, texts: &Texts) -> Option<String> {
        let tool = question.tool;
        let fits = self.effect.is_none_or(|effect| effect == tool.effect)
            && self.risk.is_none_or(|risk| tool.risk >= risk)
            && self.skill_risk.is_none_or(|risk| question.skill_risk.is_some_and(|active| active >= risk))
            && (self.tools.is_empty() || self.tools.contains(&tool.name))
            && self.password.is_none_or(|password| password == question.password)
            && self.submit.is_none_or(|submit| submit == submits(question.args));
        if !fits {
            return None;
        }
        let mut reasons = vec![format!("rule {:?}", self.name)];
        if !self.apps.is_empty() {
            let apps = std::iter::once(question.app).chain(question.packages.iter().map(String::as_str));
            let found =
                apps.filter(|app| !app.is_empty()).find(|app| self.apps.iter().any(|glob| glob.fits(app)))?;
            reasons.push(format!("in {found}"));
        }
        if !self.resource_ids.is_empty() {
            let id = question.resource_id;
            let short = id.rsplit_once('/').map_or(id, |(_, short)| short);
            let named =
                !id.is_empty() && self.resource_ids.iter().any(|glob| glob.fits(id) || glob.fits(short));
            named.then_some(())?;
        }
        if !self.text.is_empty() {
            let mut all = std::iter::once(&texts.words).chain(&texts.arguments);
            let word = all.find_map(|text| self.text.find(text, &self.except))?;
            reasons.push(format!("because of {word:?}"));
        }
        Some(reasons.join(" "))
    }
}

fn submits(args: &Map<String, Value>) -> bool {
    args.get("submit").and_then(Value::as_bool).unwrap_or(false)
}
