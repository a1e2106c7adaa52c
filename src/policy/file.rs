//! The policy file: TOML with everything that is wrong told at once, each with its line.

use std::ops::Range;

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as Unknown;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Problem, line_and_column};
use crate::limits::{POLICY_BYTES_MAX, POLICY_LIST_MAX, POLICY_RULES_MAX};
use crate::policy::decide::Verdict;
use crate::policy::pattern::Glob;
use crate::policy::rule::{Policy, Rule};
use crate::policy::words::Words;
use crate::tools::ToolRegistry;

const KEYS: [&str; 12] = [
    "name",
    "effect",
    "risk",
    "skill_risk",
    "tools",
    "apps",
    "text",
    "except",
    "resource_ids",
    "password",
    "submit",
    "decide",
];

/// Reads a file. `starter` is what stays in force beside it.
pub(super) fn read(
    text: &str,
    registry: &ToolRegistry,
    starter: Option<&Policy>,
) -> Result<Policy, Vec<Problem>> {
    if text.len() as u64 > POLICY_BYTES_MAX {
        let message = format!("a policy file has at most {POLICY_BYTES_MAX} bytes");
        return Err(vec![Problem::new("too_large", "", message).got(text.len())]);
    }
    let mut reading = Reading { text, registry, wrong: Vec::new() };
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => {
            let message = format!("is not valid TOML: {}", error.message().replace('\n', ", "));
            reading.wrong("invalid_toml", "", message, error.span());
            return Err(reading.wrong);
        }
    };
    let mut policy = Policy {
        rules: Vec::new(),
        default: starter.map_or([Verdict::Allow, Verdict::Allow, Verdict::Ask], |starter| starter.default),
    };
    let mut beside = starter;
    for (key, value) in &table {
        match key.get_ref().as_ref() {
            "default" => reading.defaults(value, &mut policy.default),
            "rule" => policy.rules = reading.rules(value),
            "starter" => match value.get_ref() {
                DeValue::Boolean(true) => {}
                DeValue::Boolean(false) => beside = None,
                _ => reading.wrong(
                    "wrong_type",
                    "starter",
                    "is true or false, without quotes",
                    Some(value.span()),
                ),
            },
            other => {
                let message = "unknown key; a policy file has default, starter and [[rule]]";
                reading.wrong("unknown_key", other, message, Some(key.span()));
            }
        }
    }
    if !reading.wrong.is_empty() {
        return Err(reading.wrong);
    }
    policy.rules.extend(beside.iter().flat_map(|starter| starter.rules.iter().cloned()));
    Ok(policy)
}

/// A file while it is read.
struct Reading<'a> {
    text: &'a str,
    registry: &'a ToolRegistry,
    wrong: Vec<Problem>,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl Reading<'_> {
    fn wrong(&mut self, code: &str, field: &str, message: impl Into<String>, span: Option<Range<usize>>) {
        let (line, column) = line_and_column(self.text, span.map_or(0, |span| span.start));
        self.wrong.push(Problem::new(code, field, message).at(line, column));
    }

    /// `default = { low = "allow", medium = "allow", high = "ask" }`.
    fn defaults(&mut self, value: &Value<'_>, into: &mut [Verdict; 3]) {
        let DeValue::Table(table) = value.get_ref() else {
            let message = "is a table such as { low = \"allow\", medium = \"allow\", high = \"ask\" }";
            return self.wrong("wrong_type", "default", message, Some(value.span()));
        };
        for (key, value) in table {
            let place = ["low", "medium", "high"].iter().position(|risk| risk == key.get_ref());
            match place.and_then(|place| into.get_mut(place)) {
                Some(slot) => {
                    if let Some(verdict) = self.one("default", value, "allow, ask or deny") {
                        *slot = verdict;
                    }
                }
                None => {
                    self.wrong("unknown_key", "default", "has low, medium and high only", Some(key.span()))
                }
            }
        }
    }

    fn rules(&mut self, value: &Value<'_>) -> Vec<Rule> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong("wrong_type", "rule", "is written as [[rule]]", Some(value.span()));
            return Vec::new();
        };
        if items.len() > POLICY_RULES_MAX {
            let message = format!("a policy file has at most {POLICY_RULES_MAX} rules");
            self.wrong("too_many_items", "rule", message, Some(value.span()));
        }
        let mut rules: Vec<Rule> = Vec::new();
        for item in items.iter().take(POLICY_RULES_MAX) {
            let DeValue::Table(table) = item.get_ref() else {
                self.wrong("wrong_type", "rule", "is written as [[rule]]", Some(item.span()));
                continue;
            };
            let rule = self.rule(table, item.span());
            if rules.iter().any(|other| other.name == rule.name) && !rule.name.is_empty() {
                let message = format!("another rule is named {:?}; give each its own name", rule.name);
                self.wrong("duplicate_key", "rule.name", message, Some(item.span()));
            }
            rules.push(rule);
        }
        rules
    }

    fn rule(&mut self, table: &DeTable<'_>, span: Range<usize>) -> Rule {
        let mut rule = Rule::default();
        let mut decided = false;
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let field = format!("rule.{name}");
            match name {
                "name" => rule.name = self.text(&field, value).unwrap_or_default(),
                "effect" => rule.effect = self.one(&field, value, "observe, wait or mutate"),
                "risk" => rule.risk = self.one(&field, value, "low, medium or high"),
                "skill_risk" => rule.skill_risk = self.one(&field, value, "low, medium or high"),
                "decide" => {
                    decided = true;
                    rule.decide = self.one(&field, value, "allow, ask or deny").unwrap_or(Verdict::Deny);
                }
                "password" => rule.password = self.flag(&field, value),
                "submit" => rule.submit = self.flag(&field, value),
                "tools" => rule.tools = self.tools(&field, value),
                "apps" => rule.apps = self.globs(&field, value),
                "resource_ids" => rule.resource_ids = self.globs(&field, value),
                "text" => rule.text = self.words(&field, value),
                "except" => rule.except = self.words(&field, value),
                other => {
                    let message = format!("unknown key; a rule has {}", KEYS.join(", "));
                    self.wrong("unknown_key", &format!("rule.{other}"), message, Some(key.span()));
                }
            }
        }
        if rule.name.trim().is_empty() {
            self.wrong(
                "missing_field",
                "rule.name",
                "a rule needs a name: whoever is asked is shown it",
                Some(span.clone()),
            );
        }
        if !decided {
            self.wrong(
                "missing_field",
                "rule.decide",
                "a rule needs decide = \"allow\", \"ask\" or \"deny\"",
                Some(span),
            );
        }
        rule
    }

    fn text(&mut self, field: &str, value: &Value<'_>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong("wrong_type", field, "is a text in quotes", Some(value.span()));
        }
        text
    }

    fn flag(&mut self, field: &str, value: &Value<'_>) -> Option<bool> {
        if let DeValue::Boolean(flag) = value.get_ref() {
            return Some(*flag);
        }
        self.wrong("wrong_type", field, "is true or false, without quotes", Some(value.span()));
        None
    }

    /// One of a few words.
    fn one<T: for<'de> Deserialize<'de>>(
        &mut self,
        field: &str,
        value: &Value<'_>,
        allowed: &str,
    ) -> Option<T> {
        let text = value.get_ref().as_str().unwrap_or_default();
        let read: Result<T, Unknown> = T::deserialize(text.into_deserializer());
        if read.is_err() {
            self.wrong("not_in_enum", field, format!("is {allowed}"), Some(value.span()));
        }
        read.ok()
    }

    /// Texts of a list, none of them empty.
    fn list(&mut self, field: &str, value: &Value<'_>) -> Vec<(String, Range<usize>)> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong("wrong_type", field, "is a list of texts", Some(value.span()));
            return Vec::new();
        };
        if items.is_empty() {
            // An empty list would hold for nothing, which is never what somebody means.
            self.wrong(
                "too_few_items",
                field,
                "is empty; leave it out or name something",
                Some(value.span()),
            );
        }
        if items.len() > POLICY_LIST_MAX {
            self.wrong(
                "too_many_items",
                field,
                format!("has at most {POLICY_LIST_MAX} entries"),
                Some(value.span()),
            );
        }
        let mut found = Vec::new();
        for item in items.iter().take(POLICY_LIST_MAX) {
            match item.get_ref().as_str().map(str::trim).filter(|text| !text.is_empty()) {
                Some(text) => found.push((text.to_owned(), item.span())),
                None => self.wrong("wrong_type", field, "holds texts that are not empty", Some(item.span())),
            }
        }
        found
    }

    fn tools(&mut self, field: &str, value: &Value<'_>) -> Vec<String> {
        let mut tools = Vec::new();
        for (name, span) in self.list(field, value) {
            match self.registry.require(&name, field) {
                // An alias with fixed arguments stands for its tool: the rule may only be stricter for it.
                Ok(resolved) => tools.push(resolved.spec.name.clone()),
                Err(problem) => {
                    let (line, column) = line_and_column(self.text, span.start);
                    self.wrong.push((*problem).at(line, column));
                }
            }
        }
        tools
    }

    fn globs(&mut self, field: &str, value: &Value<'_>) -> Vec<Glob> {
        self.list(field, value).iter().map(|(pattern, _)| Glob::new(pattern)).collect()
    }

    fn words(&mut self, field: &str, value: &Value<'_>) -> Words {
        let list = self.list(field, value);
        for (word, span) in &list {
            if Words::new([word.as_str()]).is_empty() {
                self.wrong(
                    "invalid_value",
                    field,
                    "holds a word that is nothing but punctuation",
                    Some(span.clone()),
                );
            }
        }
        Words::new(list.iter().map(|(word, _)| word.as_str()))
    }
}
