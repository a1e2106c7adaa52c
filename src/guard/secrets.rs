//! Values that must not be written down, known by keyed hashes only.

use std::collections::VecDeque;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::limits::{SECRET_SEARCH_BYTES_MAX, SECRETS_KEPT_MAX};

/// What stands in place of a secret.
pub(super) const MARKER: &str = "[secret]";

/// Secrets of one session. The values themselves are not kept: a key made at the start makes their hashes worthless to
/// anybody else.
#[derive(Debug)]
pub(super) struct Secrets {
    /// `None` where the system gave no randomness: then every typed text is taken for a secret.
    key: Option<[u8; 32]>,
    known: VecDeque<Known>,
}

#[derive(Debug, PartialEq, Eq)]
struct Known {
    chars: usize,
    hash: [u8; 32],
}

impl Secrets {
    pub(super) fn new() -> Self {
        let mut key = [0; 32];
        let key = getrandom::fill(&mut key).ok().map(|()| key);
        Self { key, known: VecDeque::new() }
    }

    /// Remembers a value; an empty one is no secret.
    pub(super) fn add(&mut self, value: &str) {
        let Some(key) = &self.key else { return };
        if value.is_empty() {
            return;
        }
        let known = Known { chars: value.chars().count(), hash: hash(key, value) };
        if !self.known.contains(&known) {
            self.known.push_back(known);
        }
        while self.known.len() > SECRETS_KEPT_MAX {
            self.known.pop_front();
        }
    }

    /// Arguments with every secret masked. `typed` says that the text of this call is one.
    pub(super) fn mask(&self, args: &Map<String, Value>, typed: bool) -> Map<String, Value> {
        args.iter()
            .map(|(name, value)| {
                let hidden = typed && name == "text";
                let value = if hidden { Value::from(MARKER) } else { self.mask_value(value) };
                (name.clone(), value)
            })
            .collect()
    }

    fn mask_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.mask_text(text)),
            Value::Number(number) if self.finds(&number.to_string()) => Value::from(MARKER),
            Value::Array(items) => items.iter().map(|item| self.mask_value(item)).collect(),
            Value::Object(members) => {
                let masked = members.iter().map(|(name, value)| (name.clone(), self.mask_value(value)));
                Value::Object(masked.collect())
            }
            other => other.clone(),
        }
    }

    /// A text with every known secret in it masked.
    pub(super) fn mask_text(&self, text: &str) -> String {
        if self.key.is_none() || (!self.known.is_empty() && text.len() > SECRET_SEARCH_BYTES_MAX) {
            return MARKER.to_owned();
        }
        let Some((begin, end)) = self.find(text) else { return text.to_owned() };
        let rest = text.get(end..).unwrap_or_default();
        format!("{}{MARKER}{}", text.get(..begin).unwrap_or_default(), self.mask_text(rest))
    }

    fn finds(&self, text: &str) -> bool {
        self.key.is_none() || self.find(text).is_some()
    }

    /// Where the first known secret stands; the longest at its place.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let key = self.key.as_ref()?;
        let mut lengths: Vec<usize> = self.known.iter().map(|known| known.chars).collect();
        lengths.sort_unstable_by(|left, right| right.cmp(left));
        lengths.dedup();
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for (index, begin) in places.iter().enumerate() {
            for length in &lengths {
                let Some(end) = places.get(index + length) else { continue };
                let Some(part) = text.get(*begin..*end) else { continue };
                let hash = hash(key, part);
                if self.known.iter().any(|known| known.chars == *length && known.hash == hash) {
                    return Some((*begin, *end));
                }
            }
        }
        None
    }
}

/// SHA-256 over a key of one block's half and the value: nobody without the key can try values.
fn hash(key: &[u8; 32], value: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update(value.as_bytes());
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_known_secret_is_masked_wherever_it_stands() {
        let mut secrets = Secrets::new();
        for value in ["hunter2", "4711", "\u{5bc6}\u{7801}", ""] {
            secrets.add(value);
        }
        let args = json!({"text": "my hunter2!hunter2", "url": "x?pin=4711&a=1", "list": ["\u{5bc6}\u{7801}", 4711, 47], "other": "hunter"});
        let masked = secrets.mask(args.as_object().unwrap(), false);
        assert_eq!(
            Value::Object(masked),
            json!({"text": "my [secret]![secret]", "url": "x?pin=[secret]&a=1", "list": ["[secret]", "[secret]", 47], "other": "hunter"})
        );
        assert_eq!(
            Value::Object(secrets.mask(json!({"text": "abc"}).as_object().unwrap(), true)),
            json!({"text": "[secret]"})
        );
    }

    #[test]
    fn what_is_too_long_to_search_or_cannot_be_hashed_is_masked_whole() {
        let mut secrets = Secrets::new();
        let long = "x".repeat(SECRET_SEARCH_BYTES_MAX + 1);
        assert_eq!(secrets.mask_text(&long), long);
        secrets.add("s");
        assert_eq!(secrets.mask_text(&long), MARKER);
        let blind = Secrets { key: None, known: VecDeque::new() };
        assert_eq!(blind.mask_text("anything"), MARKER);
    }

    #[test]
    fn the_number_of_secrets_has_an_end() {
        let mut secrets = Secrets::new();
        (0..SECRETS_KEPT_MAX + 10).for_each(|number| secrets.add(&format!("secret-{number}")));
        assert_eq!(secrets.known.len(), SECRETS_KEPT_MAX);
        assert!(!format!("{secrets:?}").contains("secret-"));
    }
}
