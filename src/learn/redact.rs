//! Secrets leave a call before it is kept.
//!
//! What is secret is told by the field (its label, resource id, hint, class or input type; where a call names no field,
//! that of the element touched before it), by the name of an argument, by the words before a value in the goal, or by
//! the caller's mark. The value becomes a marker, everywhere in the task where it stands; of the value itself only a
//! keyed hash stays, under a key that no other task has, so that it is recognised when it comes again.
//!
//! Invariant: a value that was found to be secret is in no text that this module has let go.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value};

use crate::learn::secret_words::{NOT, PARTS, PHRASES, PLAIN_CODES, WORDS};
use crate::learn::timeline::{Element, Event, Secrecy};
use crate::learn::words;
use crate::tools::ToolRegistry;

/// What stands for a secret in goals, names and notes.
pub(super) const SHOWN: &str = "[secret]";
const BEGIN: &str = "[secret:";
const END: &str = "]";

/// The marker of the secret of that number.
pub(super) fn marker(number: u32) -> String {
    format!("{BEGIN}{number}{END}")
}

/// Whether a value is a marker and nothing else.
pub(super) fn is_marker(value: &Value) -> bool {
    value
        .as_str()
        .and_then(find_marker)
        .is_some_and(|(start, end)| start == 0 && value.as_str().is_some_and(|text| text.len() == end))
}

/// The first marker in a text, as bytes.
pub(super) fn find_marker(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text[from..].find(BEGIN) {
        let start = from + at;
        let digits = &text[start + BEGIN.len()..];
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length > 0 && digits[length..].starts_with(END) {
            return Some((start, start + BEGIN.len() + length + END.len()));
        }
        from = start + BEGIN.len();
    }
    None
}

/// A secret that was seen: enough to recognise it.
#[derive(Debug)]
struct Known {
    bytes: usize,
    hash: u64,
    number: u32,
    /// So short that it counts on word boundaries only.
    short: bool,
}

/// Characters below which a secret is only looked for on word boundaries.
const SHORT_CHARS: usize = 4;

/// Takes the secrets out of the calls of one task.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    /// A key of its own for each task.
    key: RandomState,
    known: Vec<Known>,
    numbers: u32,
    /// Texts of the element that was touched last, where nothing was typed since.
    focus: Vec<String>,
}

impl Redactor {
    /// Takes the secrets out of a call, and those that it brings out of the goal and the calls before it.
    pub(super) fn redact(&mut self, event: &mut Event, goal: &mut String, earlier: &mut [Event]) {
        let tool = Tool::of(&event.tool);
        let mut found: Vec<String> = Vec::new();
        self.find(event, tool, goal, &mut found);
        if !found.is_empty()
            && tool == Tool::Types
            && let Some(element) = &mut event.element
        {
            // What the field shows now may be what was typed.
            element.text = None;
        }
        for value in found {
            let number = self.learn(&value);
            let secret = Plain::new(&value);
            for secret in &secret {
                secret.take_out(goal, SHOWN);
                for event in &mut *earlier {
                    each_text(event, &mut |text| secret.take_out(text, &marker(number)));
                }
            }
        }
        each_number(&mut event.args, &mut |value| {
            if let Some(known) = self.whole(&value.to_string()) {
                *value = Value::String(marker(known));
            }
        });
        each_text(event, &mut |text| self.mask_with(text, None));
        self.mask_with(goal, Some(SHOWN));
        self.remember_focus(event, tool);
        event.secret = Secrecy::Unmarked;
    }

    /// Replaces every known secret in a text for people.
    pub(super) fn mask(&self, text: &mut String) {
        self.mask_with(text, Some(SHOWN));
    }

    /// The values of a call that are secret.
    fn find(&self, event: &Event, tool: Tool, goal: &str, found: &mut Vec<String>) {
        let labels: Vec<&str> = labels(event, tool);
        let focus: Vec<&str> = self.focus.iter().map(String::as_str).collect();
        let labels = if labels.is_empty() { &focus } else { &labels };
        let hidden = event.element.as_ref().is_some_and(hides);
        let marked = event.secret == Secrecy::Typed || event.args.get("secret") == Some(&Value::Bool(true));
        let field = labels.iter().any(|label| names_secret(label).is_some());
        let code = labels.iter().any(|label| names_code(label));
        for (name, value) in &event.args {
            let named = match &event.secret {
                Secrecy::Arguments(names) => names.contains(name),
                _ => false,
            };
            let by_name = names_secret(name).is_some();
            let label = is_label(name, tool);
            let typed = !label && (tool == Tool::Types || marked);
            each_leaf(value, name, &mut |key, leaf| {
                let Some(text) = leaf_text(leaf).filter(|text| !text.trim().is_empty()) else { return };
                let inner = by_name || (key != name && names_secret(key).is_some());
                let whole_code = code && is_code(&text);
                let secret = named
                    || (inner && !label)
                    || (typed && (marked || hidden || field || whole_code || announced(goal, &text)));
                if secret && !is_marker(leaf) {
                    found.push(text);
                }
            });
        }
        found.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
        found.dedup();
    }

    /// The number of a secret; it is known from now on.
    fn learn(&mut self, value: &str) -> u32 {
        if let Some(number) = self.whole(value) {
            return number;
        }
        self.numbers += 1;
        let number = self.numbers;
        for Plain { text, short } in Plain::new(value) {
            let hash = self.key.hash_one(text.as_bytes());
            self.known.push(Known { bytes: text.len(), hash, number, short });
        }
        // The longest first, so that a secret within another one does not hide it.
        self.known.sort_by_key(|known| std::cmp::Reverse(known.bytes));
        number
    }

    fn whole(&self, text: &str) -> Option<u32> {
        if self.known.is_empty() {
            return None;
        }
        let text = text.trim();
        let hash = self.key.hash_one(text.as_bytes());
        self.known
            .iter()
            .find(|known| known.bytes == text.len() && known.hash == hash)
            .map(|known| known.number)
    }

    /// Replaces every known secret in a text. Cost: one pass for each secret that there is.
    fn mask_with(&self, text: &mut String, shown: Option<&str>) {
        for known in &self.known {
            let shown = shown.map_or_else(|| marker(known.number), str::to_owned);
            replace(
                text,
                &shown,
                &|part| self.key.hash_one(part.as_bytes()) == known.hash,
                known.bytes,
                known.short,
            );
        }
    }

    fn remember_focus(&mut self, event: &Event, tool: Tool) {
        match tool {
            Tool::Touches if event.ok => {
                self.focus = labels(event, tool).into_iter().map(str::to_owned).collect();
            }
            // What is typed next may go to the next field.
            Tool::Types | Tool::Moves => self.focus.clear(),
            Tool::Touches | Tool::Other => {}
        }
    }
}

/// A secret at hand, in each form in which it may stand in a text.
struct Plain {
    text: String,
    short: bool,
}

impl Plain {
    fn new(value: &str) -> Vec<Self> {
        let text = value.trim().to_owned();
        let short = text.chars().count() < SHORT_CHARS;
        let mut all = Vec::new();
        let encoded = percent_encoded(&text);
        if encoded != text {
            all.push(Self { text: encoded, short: false });
        }
        all.push(Self { text, short });
        all
    }

    fn take_out(&self, text: &mut String, shown: &str) {
        if text.contains(&self.text) {
            replace(text, shown, &|part| part == self.text, self.text.len(), self.short);
        }
    }
}

/// Replaces the parts of so many bytes that are meant, markers aside; short ones on word boundaries only.
fn replace(text: &mut String, shown: &str, meant: &dyn Fn(&str) -> bool, bytes: usize, short: bool) {
    let mut out = String::new();
    let mut kept = 0;
    // Nothing stands for nothing.
    let mut at = if bytes == 0 { text.len() + 1 } else { 0 };
    while at + bytes <= text.len() {
        if let Some(end) = marked_end(&text[at..]) {
            at += end;
            continue;
        }
        let end = at + bytes;
        let found =
            text.get(at..end).is_some_and(|part| meant(part) && (!short || words::is_apart(text, at, end)));
        if found {
            out.push_str(&text[kept..at]);
            out.push_str(shown);
            kept = end;
            at = end;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    if kept > 0 {
        out.push_str(&text[kept..]);
        *text = out;
    }
}

/// Where a marker ends that a text begins with.
fn marked_end(text: &str) -> Option<usize> {
    if text.starts_with(SHOWN) {
        return Some(SHOWN.len());
    }
    text.starts_with(BEGIN)
        .then(|| find_marker(text))
        .flatten()
        .filter(|(start, _)| *start == 0)
        .map(|(_, end)| end)
}

/// Replaces a secret at hand in a text, in each of its forms.
pub(super) fn replace_plain(text: &mut String, secret: &str, shown: &str) {
    for form in Plain::new(secret) {
        form.take_out(text, shown);
    }
}

fn percent_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// What a tool does, as far as secrets are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// Puts text into a field.
    Types,
    /// Touches an element, which may give it the focus.
    Touches,
    /// Leaves the screen.
    Moves,
    /// Anything else.
    Other,
}

impl Tool {
    /// By the built-in table, else by the words of the name: foreign servers call their tools otherwise.
    pub(super) fn of(name: &str) -> Self {
        let builtin = ToolRegistry::builtin();
        let known = builtin.resolve(name).map(|resolved| resolved.spec.name.as_str());
        match known {
            Some("input_text") => return Self::Types,
            Some("tap" | "double_tap" | "long_press" | "focus_input" | "clear_text") => return Self::Touches,
            Some("launch_app" | "open_url" | "open_settings_panel") => return Self::Moves,
            Some(_) => return Self::Other,
            None => {}
        }
        let words = split_words(name);
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        if has(&["type", "input", "enter", "fill", "write", "paste", "text", "keys", "keyboard"]) {
            Self::Types
        } else if has(&["tap", "click", "press", "touch", "focus", "select"]) {
            Self::Touches
        } else if has(&["launch", "open", "start", "navigate", "goto"]) {
            Self::Moves
        } else {
            Self::Other
        }
    }
}

/// Arguments that say where a tool acts, not with what.
const LABELS: &[&str] = &[
    "field",
    "target",
    "label",
    "selector",
    "element",
    "resource_id",
    "view_id",
    "node_id",
    "id",
    "hint",
    "content_description",
    "content_desc",
    "contentdescription",
    "description",
    "placeholder",
    "locator",
    "xpath",
    "class_name",
    "class",
    "input_type",
    "package",
    "app",
    "device",
    "serial",
    "direction",
    "bounds",
];

/// Whether an argument says where a tool acts.
pub(super) fn is_label(name: &str, tool: Tool) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("target_").unwrap_or(&name);
    LABELS.contains(&name) || (tool == Tool::Touches && matches!(name, "text" | "name" | "value"))
}

/// The texts of a call that say which field or element it is about.
pub(super) fn labels(event: &Event, tool: Tool) -> Vec<&str> {
    let args = event.args.iter().filter(|(name, _)| {
        is_label(name, tool)
            && !matches!(name.as_str(), "package" | "app" | "device" | "serial" | "direction")
    });
    let mut labels: Vec<&str> = args.filter_map(|(_, value)| value.as_str()).collect();
    if let Some(element) = &event.element {
        labels.extend(element.texts().map(String::as_str));
    }
    labels
}

fn hides(element: &Element) -> bool {
    element.password
        || [&element.input_type, &element.class_name].into_iter().flatten().any(|text| {
            let text = text.to_ascii_lowercase();
            text.contains("password") || text.contains("passwd")
        })
}

/// The parameter name that a label asks for, where it says that a secret is typed there.
pub(super) fn names_secret(label: &str) -> Option<&'static str> {
    if label.len() > LABEL_BYTES_MAX {
        return None;
    }
    let words = split_words(label);
    if words.iter().any(|word| NOT.contains(&word.as_str()))
        || NOT.iter().any(|not| !not.is_ascii() && label.contains(not))
    {
        return None;
    }
    let spaced = format!(" {} ", words.join(" "));
    let phrase = PHRASES.iter().find(|(phrase, _)| spaced.contains(&format!(" {phrase} ")));
    // `password2` is the one that is typed again.
    let plain = |known: &str| known.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    let word =
        || WORDS.iter().find(|(word, _)| words.iter().any(|known| known == word || plain(known) == *word));
    let lower = label.to_lowercase();
    let part = || PARTS.iter().find(|(part, _)| lower.contains(part));
    phrase.or_else(word).or_else(part).map(|(_, name)| *name)
}

/// Longest label that is looked at; what is longer is a page of text.
const LABEL_BYTES_MAX: usize = 256;

/// Whether a label asks for a code of no other kind.
fn names_code(label: &str) -> bool {
    let words = split_words(label);
    label.len() <= LABEL_BYTES_MAX
        && words.iter().any(|word| word == "code")
        && !words.iter().any(|word| PLAIN_CODES.contains(&word.as_str()))
}

/// Four to eight digits, perhaps in two groups.
fn is_code(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    (4..=8).contains(&digits)
        && text.trim().bytes().all(|byte| byte.is_ascii_digit() || b" -".contains(&byte))
}

/// Whether the goal says that this value is a secret: "with password hunter2", "the code is 123456".
fn announced(goal: &str, value: &str) -> bool {
    words::places(goal, value.trim()).any(|(start, _)| {
        let before = &goal[..start];
        let from = before.char_indices().rev().nth(ANNOUNCED_CHARS).map_or(0, |(at, _)| at);
        let words = split_words(&before[from..]);
        let mut near: Vec<&str> = words.iter().map(String::as_str).collect();
        while near.last().is_some_and(|word| COPULAS.contains(word)) {
            near.pop();
        }
        let last = &near[near.len().saturating_sub(3)..];
        // The secret word itself stands last, not only near.
        let ends = |name: &str| {
            WORDS.iter().any(|(word, _)| *word == name)
                || PARTS.iter().any(|(part, _)| name.ends_with(part) || last.concat().ends_with(part))
        };
        let phrase = |(phrase, _): &(&str, &str)| last.join(" ").ends_with(phrase);
        last.last().is_some_and(|word| ends(word))
            || PHRASES.iter().any(phrase)
            || (last.last() == Some(&"code") && is_code(value) && names_code(&last.join(" ")))
    })
}

/// Characters before a value in which its announcement is looked for.
const ANNOUNCED_CHARS: usize = 48;
/// Words between a name and its value.
const COPULAS: &[&str] = &["is", "to", "as", "of", "be", "my", "the", "\u{662f}", "\u{4e3a}"];

/// The folded words of a name in any style.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len() + 4);
    let mut before = ' ';
    for c in text.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            spaced.push(' ');
        }
        spaced.push(if c == '_' { ' ' } else { c });
        before = c;
    }
    words::folded_words(&spaced)
}

/// A string or a number as text.
fn leaf_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Calls with every leaf of a value and the key it stands under.
fn each_leaf<'v>(value: &'v Value, key: &'v str, each: &mut dyn FnMut(&str, &'v Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_leaf(item, key, each)),
        Value::Object(members) => members.iter().for_each(|(name, member)| each_leaf(member, name, each)),
        leaf => each(key, leaf),
    }
}

/// Calls with every text of a call but its names.
fn each_text(event: &mut Event, each: &mut dyn FnMut(&mut String)) {
    fn walk(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
        match value {
            Value::String(text) => each(text),
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, each)),
            Value::Object(members) => members.values_mut().for_each(|member| walk(member, each)),
            _ => {}
        }
    }
    event.args.values_mut().for_each(|value| walk(value, each));
    if let Some(element) = &mut event.element {
        element.texts_mut().for_each(&mut *each);
    }
    for text in [&mut event.error, &mut event.decision].into_iter().flatten() {
        each(text);
    }
}

fn each_number(args: &mut Map<String, Value>, each: &mut dyn FnMut(&mut Value)) {
    fn walk(value: &mut Value, each: &mut dyn FnMut(&mut Value)) {
        match value {
            Value::Number(_) => each(value),
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, each)),
            Value::Object(members) => members.values_mut().for_each(|member| walk(member, each)),
            _ => {}
        }
    }
    args.values_mut().for_each(|value| walk(value, each));
}
