//! Values of settings: reading them from text and from TOML, typed.

use repertoire::Problem;
use serde::Serialize;
use toml::de::DeValue;

use super::keys::{Key, Kind};

/// What a setting is set to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    /// Text, path, choice or secret; empty is "not set".
    Text(String),
    /// A whole number.
    Number(u64),
    /// A switch.
    Flag(bool),
    /// Texts.
    List(Vec<String>),
}

impl Value {
    /// Reads the form that environment variables have.
    pub(crate) fn from_text(key: Key, text: &str) -> Result<Self, Problem> {
        let row = key.row();
        let refuse = || Problem::new("invalid_value", row.key(), "is not of the right kind").got(text);
        match row.kind {
            Kind::Text | Kind::Path | Kind::Secret => Ok(Self::Text(text.to_owned())),
            Kind::Flag => match text.trim() {
                "true" | "1" => Ok(Self::Flag(true)),
                "false" | "0" => Ok(Self::Flag(false)),
                _ => Err(refuse().allowed("true or false")),
            },
            Kind::Number { min, max } => match text.trim().parse() {
                Ok(number) if (min..=max).contains(&number) => Ok(Self::Number(number)),
                _ => Err(refuse().allowed(format!("a whole number from {min} to {max}"))),
            },
            Kind::Choice(words) if words.contains(&text) => Ok(Self::Text(text.to_owned())),
            Kind::Choice(words) => Err(refuse().allowed(words.join(", "))),
            Kind::List => Ok(Self::List(
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect(),
            )),
        }
    }

    /// Reads the form that the file has.
    pub(crate) fn from_toml(key: Key, value: &DeValue<'_>) -> Result<Self, Problem> {
        let row = key.row();
        let refuse = |allowed: &str| {
            Problem::new("invalid_value", row.key(), "is not of the right kind")
                .got(describe(value))
                .allowed(allowed)
        };
        match (row.kind, value) {
            (Kind::Secret, _) => Err(Problem::new(
                "secret_in_file",
                row.key(),
                format!(
                    "secrets do not belong into this file: set {}, or name a file that holds it",
                    row.variable()
                ),
            )),
            (Kind::Text | Kind::Path | Kind::Choice(_), DeValue::String(text)) => Self::from_text(key, text),
            (Kind::Text | Kind::Path, _) => Err(refuse("a string")),
            (Kind::Choice(words), _) => Err(refuse(&words.join(", "))),
            (Kind::Flag, DeValue::Boolean(flag)) => Ok(Self::Flag(*flag)),
            (Kind::Flag, _) => Err(refuse("true or false, without quotes")),
            (Kind::Number { .. }, DeValue::Integer(number)) if number.radix() == 10 => {
                Self::from_text(key, number.as_str())
            }
            (Kind::Number { min, max }, _) => {
                Err(refuse(&format!("a whole number from {min} to {max}, without quotes")))
            }
            (Kind::List, DeValue::Array(items)) => {
                let texts: Option<Vec<String>> =
                    items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
                texts.map(Self::List).ok_or_else(|| refuse("an array of strings"))
            }
            (Kind::List, _) => Err(refuse("an array of strings")),
        }
    }

    /// The value for a person, on one line.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::List(items) => items.join(", "),
        }
    }

    /// The same with secrets masked: a secret itself, and a password inside an address.
    pub(crate) fn masked(&self, key: Key) -> Self {
        match self {
            Self::Text(text) if text.is_empty() => self.clone(),
            Self::Text(_) if key.row().kind == Kind::Secret => Self::Text(MASK.to_owned()),
            Self::Text(text) => Self::Text(mask_password(text)),
            other => other.clone(),
        }
    }
}

/// What stands for a secret.
const MASK: &str = "********";

/// Replaces what stands before the `@` in an address.
fn mask_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{MASK}{}", &rest[at..]),
        None => text.to_owned(),
    }
}

/// A TOML value in a few words.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string {text}"),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        other => format!("a value of type {}", other.type_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_by_kind_and_refused_with_what_is_allowed() {
        let flag = Key::find("authoring", "enabled").unwrap();
        let list = Key::find("sync", "subscriptions").unwrap();
        assert_eq!(Value::from_text(flag, "true").unwrap(), Value::Flag(true));
        assert_eq!(Value::from_text(list, " a, ,b").unwrap(), Value::List(vec!["a".into(), "b".into()]));
        assert_eq!(Value::from_text(Key::STORAGE_KEEP_GENERATIONS, "16").unwrap(), Value::Number(16));
        let rows = [
            (flag, "yes", "true or false"),
            (Key::STORAGE_KEEP_GENERATIONS, "17", "from 1 to 16"),
            (Key::STORAGE_KEEP_GENERATIONS, "-1", "from 1 to 16"),
            (Key::BUNDLED_MODE, "sometimes", "auto, always, never"),
        ];
        for (key, text, allowed) in rows {
            let problem = Value::from_text(key, text).unwrap_err();
            assert!(problem.allowed.clone().unwrap().contains(allowed), "{problem}");
        }
    }

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let secret = Key::find("sync", "token").unwrap();
        assert_eq!(Value::Text("x".into()).masked(secret), Value::Text(MASK.into()));
        assert_eq!(Value::Text(String::new()).masked(secret), Value::Text(String::new()));
        let url = Value::Text("https://me:pw@host/a@b".into()).masked(Key::SYNC_URL);
        assert_eq!(url, Value::Text("https://********@host/a@b".into()));
        let plain = Value::Text("https://host/a@b".into());
        assert_eq!(plain.masked(Key::SYNC_URL), plain);
    }
}
