//! JSON as it was written: what a [`Value`] does not tell, namely where a member stands and whether its object has it
//! twice.
//!
//! Positions are not kept while reading, since they would cost more than the values. A text is walked a second time
//! where something is wrong with it, which is rare, and only then.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::error::Problem;
use crate::limits::JSON_VALUES_MAX;

/// Keys that stand twice of which [`parse_json`] tells.
const DUPLICATES_SHOWN: usize = 16;

/// How many other values an object takes the memory of.
const OBJECT_WEIGHT: usize = 20;

/// Deepest nesting that the JSON reader follows; the walk need not go beyond.
const WALK_DEPTH_MAX: usize = 128;

/// Reads a JSON text in which no key may stand twice in its object: which of the two is meant cannot be guessed.
///
/// Cost: one pass, a second one where a key stands twice.
///
/// # Errors
/// `json_invalid`, or one `duplicate_key` for each, with line and column.
pub fn parse_json(text: &str) -> Result<Value, Vec<Problem>> {
    let written = read(text).map_err(|broken| {
        let (line, column) = place(text, broken.offset);
        vec![broken.problem().at(line, column)]
    })?;
    if !written.duplicates {
        return Ok(written.value);
    }
    let mut problems = Vec::new();
    duplicates(text, &mut |twice| {
        if problems.len() < DUPLICATES_SHOWN {
            let (line, column) = place(text, twice.offset);
            let message = "the name stands here twice; which one holds cannot be guessed: keep one";
            problems.push(Problem::new("duplicate_key", twice.field(), message).at(line, column));
        }
    });
    Err(problems)
}

/// Line and column of a byte of a text, both from 1, the column in characters.
pub(crate) fn place(text: &str, offset: usize) -> (u32, u32) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    (count(line), count(before[line_start..].chars().count() + 1))
}

/// A value with a word about the text that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Written {
    /// The value; of a key that stands twice in its object, the last.
    pub(crate) value: Value,
    /// Whether a key stands twice in its object, at any depth.
    pub(crate) duplicates: bool,
}

/// Why a text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// What is wrong, without a place.
    pub(crate) cause: String,
    /// Byte at which it was noticed; at a character's first byte.
    pub(crate) offset: usize,
    /// It is JSON as far as it was read, and has more values than one skill may.
    pub(crate) too_large: bool,
}

impl Broken {
    /// The problem, without a place.
    pub(crate) fn problem(&self) -> Problem {
        if self.too_large {
            return Problem::new("too_large", "", "it holds too many values; leave some out")
                .allowed(format!("at most {JSON_VALUES_MAX}, an object counted as {OBJECT_WEIGHT}"));
        }
        Problem::new("json_invalid", "", format!("this is not valid JSON: {}; correct it", self.cause))
    }
}

/// A key that stands in its object for the second time or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Duplicate<'p> {
    /// JSON pointer of the member. Keys are not escaped in it, as in the fields of problems.
    pub(crate) pointer: &'p str,
    /// Byte at which the later key begins.
    pub(crate) offset: usize,
}

impl<'p> Duplicate<'p> {
    /// The member as problems name it: a plain name on the outermost level, else the pointer.
    pub(crate) fn field(&self) -> &'p str {
        let name = self.pointer.trim_start_matches('/');
        if name.contains('/') { self.pointer } else { name }
    }
}

/// Reads a text that holds one JSON value. Fails where it is none, is nested too deeply, or holds too many values.
/// Cost: one pass.
pub(crate) fn read(text: &str) -> Result<Written, Broken> {
    let notes = Notes { duplicates: Cell::new(false), left: Cell::new(JSON_VALUES_MAX) };
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Seed(&notes)
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| broken(text, &error, notes.left.get() == 0))?;
    Ok(Written { value, duplicates: notes.duplicates.get() })
}

/// Tells of every key of a readable text that stands in its object twice, in the order of the text. Cost: one pass, and
/// memory for the keys of the objects around a place.
pub(crate) fn duplicates(text: &str, each: &mut dyn FnMut(Duplicate<'_>)) {
    let mut tell = |pointer: &str, offset: usize, again: bool| {
        if again {
            each(Duplicate { pointer, offset });
        }
    };
    Walk::new(text, true, &mut tell).run();
}

/// Where the member or item of each field begins in a readable text: its key, or the item itself.
///
/// A field is a JSON pointer, or the name of a member of the outermost object. Where there is no such member, it is
/// the place of the nearest one around it that there is. Cost: one pass, and a question for each member.
pub(crate) fn offsets(text: &str, fields: &[&str]) -> Vec<usize> {
    let start = text.len() - text.trim_start().len();
    let wanted: Vec<Vec<String>> = fields.iter().map(|field| spellings(field)).collect();
    let mut known: HashMap<&str, Option<usize>> = HashMap::new();
    for pointer in wanted.iter().flatten() {
        for end in pointer.match_indices('/').skip(1).map(|(end, _)| end).chain([pointer.len()]) {
            known.insert(&pointer[..end], None);
        }
    }
    let mut place = |pointer: &str, offset: usize, _: bool| {
        if let Some(known) = known.get_mut(pointer) {
            *known = Some(offset);
        }
    };
    Walk::new(text, false, &mut place).run();
    let nearest = |pointer: &str| {
        let mut end = pointer.len();
        loop {
            if let Some(Some(offset)) = known.get(&pointer[..end]) {
                return Some((end, *offset));
            }
            end = pointer[..end].rfind('/').filter(|&end| end > 0)?;
        }
    };
    let best = |spellings: &Vec<String>| spellings.iter().filter_map(|pointer| nearest(pointer)).max();
    wanted.iter().map(|spellings| best(spellings).map_or(start, |(_, offset)| offset)).collect()
}

/// A field as the pointers that it may mean: with its escapes as they are, and read.
fn spellings(field: &str) -> Vec<String> {
    if field.is_empty() {
        return Vec::new();
    }
    let pointer = if field.starts_with('/') { field.to_owned() } else { format!("/{field}") };
    let plain = pointer.replace("~1", "/").replace("~0", "~");
    if plain == pointer { vec![pointer] } else { vec![pointer, plain] }
}

/// What is noticed while a value is built.
struct Notes {
    /// A key that its object has already.
    duplicates: Cell<bool>,
    /// How many more values there may be.
    left: Cell<usize>,
}

impl Notes {
    /// Counts values; fails where there are too many.
    fn count<E: serde::de::Error>(&self, values: usize) -> Result<(), E> {
        self.left.set(self.left.get().saturating_sub(values));
        if self.left.get() == 0 { Err(E::custom("too many values")) } else { Ok(()) }
    }
}

/// Builds a value.
struct Seed<'n>(&'n Notes);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Seed(self.0))? {
            self.0.count(1)?;
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        self.0.count(OBJECT_WEIGHT)?;
        while let Some(key) = members.next_key::<String>()? {
            self.0.count(1)?;
            if map.insert(key, members.next_value_seed(Seed(self.0))?).is_some() {
                self.0.duplicates.set(true);
            }
        }
        Ok(Value::Object(map))
    }
}

/// The reader's error with its place as an offset.
fn broken(text: &str, error: &serde_json::Error, too_large: bool) -> Broken {
    let line_start = match error.line().checked_sub(2) {
        None => 0,
        Some(nth) => text.match_indices('\n').nth(nth).map_or(text.len(), |(at, _)| at + 1),
    };
    // Columns are counted in bytes and name the last byte that was looked at.
    let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    let message = error.to_string();
    let cause = message.rsplit_once(" at line ").map_or(message.as_str(), |(cause, _)| cause);
    Broken { cause: cause.to_owned(), offset: text.floor_char_boundary(offset), too_large }
}

/// A walk over a text that the JSON reader has read: it checks nothing, and ends early where it is mistaken.
struct Walk<'t, 'v> {
    text: &'t str,
    at: usize,
    /// Pointer of the place where the walk is.
    pointer: String,
    /// Whether to look for keys that stand twice.
    again: bool,
    /// Told of each member and item: its pointer, where it begins, and whether its key stood in the object before.
    visit: &'v mut dyn FnMut(&str, usize, bool),
}

impl<'t, 'v> Walk<'t, 'v> {
    fn new(text: &'t str, again: bool, visit: &'v mut dyn FnMut(&str, usize, bool)) -> Self {
        Self { text, at: 0, pointer: String::new(), again, visit }
    }

    fn run(mut self) {
        // A walk that ends early has told what it found until there.
        let _ = self.value(0);
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            _ if depth > WALK_DEPTH_MAX => None,
            b'{' => self.members(depth),
            b'[' => self.items(depth),
            b'"' => self.string().map(|_| ()),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find(|c: char| matches!(c, ',' | ']' | '}') || c.is_ascii_whitespace());
                self.at += end.unwrap_or(rest.len());
                // A bracket where a value belongs: the text is none that was read.
                (end != Some(0)).then_some(())
            }
        }
    }

    fn members(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        let mut seen = HashSet::new();
        loop {
            match self.peek()? {
                b'}' => break,
                b',' => self.at += 1,
                _ => {
                    let start = self.at;
                    let key = self.string()?;
                    let key =
                        if key.contains('\\') { serde_json::from_str(key).ok()? } else { unquoted(key) };
                    let parent = self.pointer.len();
                    self.pointer.push('/');
                    self.pointer.push_str(&key);
                    let again = self.again && !seen.insert(key);
                    (self.visit)(&self.pointer, start, again);
                    if self.peek()? == b':' {
                        self.at += 1;
                    }
                    self.value(depth + 1)?;
                    self.pointer.truncate(parent);
                }
            }
        }
        self.at += 1;
        Some(())
    }

    fn items(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        let mut index = 0_usize;
        loop {
            match self.peek()? {
                b']' => break,
                b',' => self.at += 1,
                _ => {
                    let parent = self.pointer.len();
                    self.pointer.push('/');
                    self.pointer.push_str(&index.to_string());
                    (self.visit)(&self.pointer, self.at, false);
                    self.value(depth + 1)?;
                    self.pointer.truncate(parent);
                    index += 1;
                }
            }
        }
        self.at += 1;
        Some(())
    }

    /// Takes a string, with its quotes.
    fn string(&mut self) -> Option<&'t str> {
        let start = self.at;
        let mut escaped = true; // the opening quote closes nothing
        for (index, byte) in self.text.as_bytes()[start..].iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at = start + index + 1;
                    return self.text.get(start..self.at);
                }
                _ => {}
            }
        }
        None
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }
}

fn unquoted(text: &str) -> String {
    let text = text.strip_prefix('"').unwrap_or(text);
    text.strip_suffix('"').unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_stand_twice_are_found_at_every_depth() {
        let text = r#"{"a": 1, "b": [{"c": 1, "d": 2, "c": 3}], "\u0061": {"a": 1}, "a": 2}"#;
        let written = read(text).expect("JSON");
        assert!(written.duplicates);
        assert_eq!(written.value, json!({"a": 2, "b": [{"c": 3, "d": 2}]}));
        let mut seen = Vec::new();
        duplicates(text, &mut |one| seen.push(format!("{} {}", one.pointer, &text[one.offset..][..3])));
        assert_eq!(seen, ["/b/0/c \"c\"", "/a \"\\u", "/a \"a\""]);
        let none = r#"[{"a": {"a": 1}}, {"a": 1}, "{\"a\":1,\"a\":2}"]"#;
        assert!(!read(none).expect("JSON").duplicates);
        duplicates(none, &mut |one| panic!("{one:?}"));
    }

    #[test]
    fn members_items_and_what_is_around_them_have_a_place() {
        let text = "\n{\"id\": \"x\",\n \"steps\": [{\"tool\": \"t\"}, {\"a/b\": 1}], \"x~y\": \"\\\"]\" }";
        for (field, begins) in [
            ("", "{\"id\""),
            ("gone", "{\"id\""),
            ("id", "\"id\""),
            ("/id", "\"id\""),
            ("/id/0", "\"id\""),
            ("steps", "\"steps\""),
            ("/steps/0", "{\"tool\""),
            ("/steps/0/tool", "\"tool\""),
            ("/steps/0/args/x", "{\"tool\""),
            ("/steps/1/a/b", "\"a/b\""),
            ("/steps/1/a~1b", "\"a/b\""),
            ("/steps/2", "\"steps\""),
            ("x~0y", "\"x~y\""),
        ] {
            let offset = offsets(text, &[field])[0];
            assert!(text[offset..].starts_with(begins), "{field}: {}", &text[offset..]);
        }
    }

    #[test]
    fn as_many_values_as_the_limit_are_read_and_not_more() {
        let list = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        assert!(read(&list(JSON_VALUES_MAX - 1)).is_ok());
        assert!(read(&list(JSON_VALUES_MAX)).expect_err("too many").too_large);
        let objects = format!("[{}{{}}]", "{},".repeat(JSON_VALUES_MAX / OBJECT_WEIGHT));
        assert_eq!(parse_json(&objects).expect_err("too many")[0].code, "too_large");
    }

    #[test]
    fn a_broken_text_is_told_with_the_byte() {
        for (text, offset) in [
            ("", 0),
            ("{\"a\": }", 6),
            ("{\n\"\u{e9}\": 1,\n  x}", 13),
            ("[1] 2", 4),
            ("{\"a\" 1}", 5),
            ("[1,]", 3),
        ] {
            assert_eq!(read(text).expect_err(text).offset, offset, "{text}");
        }
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(read(&deep).is_err());
        duplicates(&deep, &mut |_| ());
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_serde_reads_it_and_walked_without_a_panic(
            text in r#"[\[\]{}:,"a1 \\n\n\u{e9}-]{0,40}"#,
        ) {
            let expected: Result<Value, _> = serde_json::from_str(&text);
            prop_assert_eq!(read(&text).ok().map(|written| written.value), expected.ok());
            duplicates(&text, &mut |_| ());
            let found = offsets(&text, &["", "a", "/a/0", "/0/a"]);
            prop_assert!(found.iter().all(|&offset| text.is_char_boundary(offset)));
            if let Err(broken) = read(&text) {
                prop_assert!(text.is_char_boundary(broken.offset));
            }
        }
    }
}
