//! Exact device commands: whole requests that need no skill, because one tool call does them.
//!
//! A request is compared as a whole after [`normalise`], never as a substring: "connect to my home wifi" is not
//! "home". The table is closed on purpose: "open X", "tap X" and volume words are for skills and the model.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::normalise;

/// One tool call that answers a whole request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExactCommand {
    /// Canonical tool name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// Words of politeness that may stand before or after a command.
const POLITE_BEFORE: [&str; 2] = ["please ", "\u{8bf7}"];
const POLITE_AFTER: [&str; 1] = [" please"];

/// Normalised request, tool, argument, value.
const TABLE: &[(&str, &str, &str, &str)] = &[
    ("back", "press_key", "key", "back"),
    ("go back", "press_key", "key", "back"),
    ("press back", "press_key", "key", "back"),
    ("press the back button", "press_key", "key", "back"),
    ("\u{8fd4}\u{56de}", "press_key", "key", "back"),
    ("\u{540e}\u{9000}", "press_key", "key", "back"),
    ("home", "press_key", "key", "home"),
    ("go home", "press_key", "key", "home"),
    ("press home", "press_key", "key", "home"),
    ("go to the home screen", "press_key", "key", "home"),
    ("\u{56de}\u{5230}\u{4e3b}\u{5c4f}\u{5e55}", "press_key", "key", "home"),
    ("\u{4e3b}\u{5c4f}\u{5e55}", "press_key", "key", "home"),
    ("recents", "press_key", "key", "recents"),
    ("recent apps", "press_key", "key", "recents"),
    ("show recent apps", "press_key", "key", "recents"),
    ("app switcher", "press_key", "key", "recents"),
    ("\u{6700}\u{8fd1}\u{4efb}\u{52a1}", "press_key", "key", "recents"),
    ("scroll up", "scroll", "direction", "up"),
    ("scroll down", "scroll", "direction", "down"),
    ("\u{5411}\u{4e0a}\u{6eda}\u{52a8}", "scroll", "direction", "up"),
    ("\u{5411}\u{4e0b}\u{6eda}\u{52a8}", "scroll", "direction", "down"),
    ("swipe left", "swipe", "direction", "left"),
    ("swipe right", "swipe", "direction", "right"),
    ("swipe up", "swipe", "direction", "up"),
    ("swipe down", "swipe", "direction", "down"),
    ("swipe to the left", "swipe", "direction", "left"),
    ("swipe to the right", "swipe", "direction", "right"),
    ("\u{5411}\u{5de6}\u{6ed1}", "swipe", "direction", "left"),
    ("\u{5411}\u{53f3}\u{6ed1}", "swipe", "direction", "right"),
    ("\u{5411}\u{4e0a}\u{6ed1}", "swipe", "direction", "up"),
    ("\u{5411}\u{4e0b}\u{6ed1}", "swipe", "direction", "down"),
];

/// The tool call that the whole request asks for, if it is one of the exact device commands.
///
/// Cost: one normalisation and a scan of a table of about thirty rows.
#[must_use]
pub fn exact_command(request: &str) -> Option<ExactCommand> {
    let normal = normalise(request);
    let mut text = normal.as_str();
    if let Some(rest) = POLITE_BEFORE.iter().find_map(|polite| text.strip_prefix(polite)) {
        text = rest.trim_start();
    }
    if let Some(rest) = POLITE_AFTER.iter().find_map(|polite| text.strip_suffix(polite)) {
        text = rest;
    }
    let (_, tool, argument, value) = TABLE.iter().find(|(phrase, ..)| *phrase == text)?;
    let arguments = Map::from_iter([((*argument).to_owned(), Value::from(*value))]);
    Some(ExactCommand { tool: (*tool).to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direction_or_key(request: &str) -> Option<String> {
        exact_command(request).map(|c| {
            let (_, value) = c.arguments.iter().next().expect("one argument");
            format!("{} {}", c.tool, value.as_str().unwrap_or_default())
        })
    }

    #[test]
    fn whole_requests_are_commands_in_any_case_and_with_punctuation() {
        for (request, want) in [
            ("Back!", "press_key back"),
            ("please go  home", "press_key home"),
            ("show recent apps, please", "press_key recents"),
            ("SCROLL DOWN", "scroll down"),
            ("swipe to the left", "swipe left"),
            ("\u{8bf7}\u{8fd4}\u{56de}", "press_key back"),
            ("\u{5411}\u{53f3}\u{6ed1}", "swipe right"),
        ] {
            assert_eq!(direction_or_key(request).as_deref(), Some(want), "{request}");
        }
    }

    #[test]
    fn a_command_inside_a_longer_request_is_none() {
        for request in [
            "connect to my home wifi",
            "scroll",
            "open back",
            "",
            "home sweet home",
            "please",
            "volume up",
            "tap home",
        ] {
            assert_eq!(exact_command(request), None, "{request}");
        }
    }
}
