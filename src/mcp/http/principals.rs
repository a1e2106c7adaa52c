//! `principals.toml`: who may call over HTTP, and with what sight.
//!
//! ```toml
//! [[principal]]
//! name = "phone-1"
//! token_sha256 = "<64 hexadecimal digits>"
//! subscriptions = ["sub_7"]      # absent: all of the deployment
//! layers = ["synced", "local"]   # absent: all
//! tools = "skills"               # absent: as the server
//! skill = "android/wifi"         # pinned scope; absent: none
//! policy = "phone-1-policy.toml" # absent: the deployment's
//! metrics = true                 # may read /metrics; absent: no
//! ```
//!
//! The file is checked whole: everything that is wrong is named at once, and nothing of a wrong file counts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::entitlement::Narrowing;
use crate::error::Problem;
use crate::limits::{PRINCIPAL_NAME_BYTES_MAX, PRINCIPALS_MAX};
use crate::mcp::http::token::TokenHash;
use crate::mcp::options::ToolFilter;
use crate::model::{Layer, check_id};

/// The name of whoever has the token of the token file.
pub(crate) const OPERATOR: &str = "operator";
/// The keys of one principal.
const KEYS: [&str; 8] =
    ["name", "token_sha256", "subscriptions", "layers", "tools", "skill", "policy", "metrics"];

/// Somebody who may call: a token and what it reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// For the log, the list of principals and its removal.
    pub name: String,
    /// Hash of the token.
    pub token: TokenHash,
    /// How the caller's sight is narrower than the deployment's.
    pub narrowing: Narrowing,
    /// Which tools are offered; `None` is as the server.
    pub tools: Option<ToolFilter>,
    /// The skill whose scope is pinned.
    pub skill: Option<String>,
    /// The file of the policy; a relative path starts at the folder of `principals.toml`.
    pub policy: Option<PathBuf>,
    /// Whether `/metrics` is shown.
    pub metrics: bool,
}

impl Principal {
    /// A principal with the deployment's sight.
    #[must_use]
    pub fn new(name: impl Into<String>, token: TokenHash) -> Self {
        Self {
            name: name.into(),
            token,
            narrowing: Narrowing::default(),
            tools: None,
            skill: None,
            policy: None,
            metrics: false,
        }
    }

    /// The lines of the file for this principal.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let text = |value: &str| Value::String(value.to_owned()).to_string();
        let list =
            |values: Vec<&str>| Value::Array(values.into_iter().map(Value::from).collect()).to_string();
        let mut lines = vec![
            "[[principal]]".to_owned(),
            format!("name = {}", text(&self.name)),
            format!("token_sha256 = {}", text(&self.token.to_hex())),
        ];
        if let Some(subscriptions) = &self.narrowing.subscriptions {
            lines.push(format!(
                "subscriptions = {}",
                list(subscriptions.iter().map(String::as_str).collect())
            ));
        }
        if let Some(layers) = &self.narrowing.layers {
            lines.push(format!("layers = {}", list(layers.iter().map(|layer| layer.name()).collect())));
        }
        if let Some(tools) = &self.tools {
            lines.push(format!("tools = {}", text(&tools.to_string())));
        }
        if let Some(skill) = &self.skill {
            lines.push(format!("skill = {}", text(skill)));
        }
        if let Some(policy) = &self.policy {
            lines.push(format!("policy = {}", text(&policy.to_string_lossy())));
        }
        if self.metrics {
            lines.push("metrics = true".to_owned());
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

/// Reads the text of a file; `folder` is where it lies.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse_principals(text: &str, folder: &Path) -> Result<Vec<Principal>, Vec<Problem>> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let place =
            error.span().map(|span| text.get(..span.start).map_or(1, |before| before.lines().count().max(1)));
        let problem = Problem::new("toml_invalid", "", error.message());
        vec![match place.and_then(|line| u32::try_from(line).ok()) {
            Some(line) => problem.at(line, 1),
            None => problem,
        }]
    })?;
    let mut problems = Vec::new();
    for key in table.keys().filter(|key| key.as_str() != "principal") {
        problems.push(Problem::new("unknown_field", key, "the file holds [[principal]] tables only"));
    }
    let none = Vec::new();
    let items = match table.get("principal") {
        None => &none,
        Some(Value::Array(items)) => items,
        Some(_) => {
            problems.push(Problem::new("wrong_type", "principal", "write each principal as [[principal]]"));
            &none
        }
    };
    if items.len() > PRINCIPALS_MAX {
        let problem = Problem::new("too_many", "principal", "the file names too many principals");
        return Err(vec![problem.got(items.len()).allowed(format!("at most {PRINCIPALS_MAX}"))]);
    }
    let mut principals = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let mut reader = Reader { at: format!("/principal/{index}"), problems: &mut problems };
        principals.extend(reader.principal(item, folder));
    }
    let mut names = BTreeSet::new();
    for (index, principal) in principals.iter().enumerate() {
        let at = |field: &str| format!("/principal/{index}/{field}");
        if principal.name == OPERATOR {
            let message = "the name is that of the token in the token file; choose another";
            problems.push(Problem::new("reserved", at("name"), message).got(OPERATOR));
        }
        if !names.insert(&principal.name) {
            problems
                .push(Problem::new("duplicate", at("name"), "the name stands twice").got(&principal.name));
        }
        if principals[..index].iter().any(|earlier| earlier.token == principal.token) {
            let message = "two principals share a token; give each its own";
            problems.push(Problem::new("duplicate", at("token_sha256"), message));
        }
    }
    if problems.is_empty() { Ok(principals) } else { Err(problems) }
}

/// Reads one table and notes what is wrong.
struct Reader<'p> {
    at: String,
    problems: &'p mut Vec<Problem>,
}

impl Reader<'_> {
    fn principal(&mut self, item: &Value, folder: &Path) -> Option<Principal> {
        let Value::Table(table) = item else {
            self.wrong("wrong_type", "", "write each principal as [[principal]]");
            return None;
        };
        for key in table.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            self.problems.push(
                Problem::new("unknown_field", format!("{}/{key}", self.at), "a principal has no such field")
                    .allowed(KEYS.join(", ")),
            );
        }
        let name = self.text(table, "name", true);
        let token = self.token(table);
        let narrowing = Narrowing {
            subscriptions: self.texts(table, "subscriptions").map(|all| all.into_iter().collect()),
            layers: self.texts(table, "layers").map(|names| self.layers(names)),
        };
        let tools = self.text(table, "tools", false).and_then(|text| match ToolFilter::parse(&text) {
            Ok(filter) => Some(filter),
            Err(problems) => {
                for problem in problems {
                    self.problems.push(Problem { field: format!("{}/tools", self.at), ..problem });
                }
                None
            }
        });
        let skill = self.text(table, "skill", false);
        if let Some(Err(problem)) = skill.as_deref().map(check_id) {
            self.problems.push(Problem { field: format!("{}/skill", self.at), ..problem });
        }
        let policy = self.text(table, "policy", false).map(|path| folder.join(path));
        let metrics = match table.get("metrics") {
            None => false,
            Some(Value::Boolean(shown)) => *shown,
            Some(_) => {
                self.wrong("wrong_type", "metrics", "write true or false");
                false
            }
        };
        let name = name?;
        if name.len() > PRINCIPAL_NAME_BYTES_MAX || name.chars().any(char::is_control) {
            self.wrong("too_long", "name", "a name is one line of at most 64 bytes");
        }
        Some(Principal { name, token: token?, narrowing, tools, skill, policy, metrics })
    }

    fn token(&mut self, table: &Table) -> Option<TokenHash> {
        let text = self.text(table, "token_sha256", true)?;
        let hash = TokenHash::from_hex(&text);
        if hash.is_none() {
            // What stands there may be a token: it is not shown.
            let message =
                "the hash of a token is 64 hexadecimal digits; `repertoire principal add` writes it";
            self.wrong("invalid_value", "token_sha256", message);
        }
        hash
    }

    fn layers(&mut self, names: Vec<String>) -> BTreeSet<Layer> {
        let mut layers = BTreeSet::new();
        for name in names {
            if let Some(layer) = Layer::from_name(&name) {
                layers.insert(layer);
                continue;
            }
            let known: Vec<_> = Layer::ALL.iter().map(|layer| layer.name()).collect();
            let problem =
                Problem::new("invalid_value", format!("{}/layers", self.at), "there is no such layer");
            self.problems.push(problem.got(name).allowed(known.join(", ")));
        }
        layers
    }

    /// A text that is not empty.
    fn text(&mut self, table: &Table, key: &str, required: bool) -> Option<String> {
        match table.get(key) {
            None if required => {
                self.wrong("missing", key, "the field is needed");
                None
            }
            None => None,
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Some(Value::String(_)) if !required => None,
            Some(Value::String(_)) => {
                self.wrong("empty", key, "the field is empty");
                None
            }
            Some(_) => {
                self.wrong("wrong_type", key, "write a text");
                None
            }
        }
    }

    /// A list of texts. A wrong one counts as empty: it must never widen what the caller sees.
    fn texts(&mut self, table: &Table, key: &str) -> Option<Vec<String>> {
        let value = table.get(key)?;
        let texts = value.as_array().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        if texts.is_none() {
            self.wrong("wrong_type", key, "write a list of texts");
        }
        Some(texts.unwrap_or_default())
    }

    fn wrong(&mut self, code: &str, field: &str, message: &str) {
        self.problems.push(Problem::new(code, format!("{}/{field}", self.at), message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn problems(text: &str) -> Vec<String> {
        let problems = parse_principals(text, Path::new("/folder")).expect_err(text);
        problems.iter().map(|problem| format!("{} {}", problem.code, problem.field)).collect()
    }

    #[test]
    fn a_principal_is_read_and_written() {
        let text = format!(
            "[[principal]]\nname = \"phone-1\"\ntoken_sha256 = \"{HASH}\"\nsubscriptions = [\"a\", \"b\"]\n\
             layers = [\"synced\"]\ntools = \"get_skill,list_skills\"\nskill = \"android/wifi\"\n\
             policy = \"p.toml\"\nmetrics = true\n"
        );
        let read = parse_principals(&text, Path::new("/folder")).expect("reads");
        let [principal] = &read[..] else { panic!("{read:?}") };
        assert_eq!(
            principal.narrowing,
            Narrowing::default().subscriptions(["a", "b"]).layers([Layer::Synced])
        );
        assert_eq!(principal.policy.as_deref(), Some(Path::new("/folder/p.toml")));
        assert_eq!(principal.skill.as_deref(), Some("android/wifi"));
        assert!(principal.metrics);
        let again = parse_principals(&principal.to_toml(), Path::new("/other")).expect("reads");
        assert_eq!(again, read);
        assert_eq!(parse_principals("", Path::new("/")), Ok(vec![]));
    }

    #[test]
    fn everything_that_is_wrong_is_named_at_once() {
        let text = "other = 1\n[[principal]]\nname = 7\ntoken_sha256 = \"my secret token\"\nlayers = [\"sunk\"]\n\
                    tools = \"get_skil\"\nskill = \"../x\"\nmetrics = 1\nsubscription = []\nsubscriptions = \"a\"\n";
        let mut found = problems(text);
        found.sort();
        assert_eq!(
            found,
            [
                "invalid_id /principal/0/skill",
                "invalid_value /principal/0/layers",
                "invalid_value /principal/0/token_sha256",
                "unknown_field /principal/0/subscription",
                "unknown_field other",
                "unknown_tool /principal/0/tools",
                "wrong_type /principal/0/metrics",
                "wrong_type /principal/0/name",
                "wrong_type /principal/0/subscriptions",
            ]
        );
        let shown = format!("{:?}", parse_principals(text, Path::new("/")));
        assert!(!shown.contains("my secret token"), "what may be a token is not shown");
    }

    #[test]
    fn names_and_tokens_are_unique() {
        let one = Principal::new("a", TokenHash::from_hex(HASH).expect("a hash")).to_toml();
        assert_eq!(
            problems(&format!("{one}{one}")),
            ["duplicate /principal/1/name", "duplicate /principal/1/token_sha256"]
        );
        assert_eq!(problems("[[principal]\n"), ["toml_invalid "]);
    }
}
