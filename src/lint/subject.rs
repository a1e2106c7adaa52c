//! A skill to look at, with the file that it was written in where there is one.

use std::borrow::Cow;

use serde_json::Value;

use crate::import::{Format, Position};
use crate::lint::json;
use crate::model::{Kind, Skill};

/// A skill to look at.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The skill.
    pub skill: &'a Skill,
    /// The file, as findings shall name it.
    pub path: Option<String>,
    /// The text of the file with line feeds; gives places.
    source: Option<Cow<'a, str>>,
    /// Text files beside the skill: path below its folder, and text.
    files: Vec<(&'a str, &'a str)>,
    /// The rules of authorship, where the format is known.
    form: Option<Form>,
    /// Where the skill begins in its file: the place of what is not found in a text.
    pub(crate) begin: Option<Position>,
}

/// Which rules of authorship hold for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Skills v2, or our own JSON: what the Skills v2 text asks of authors holds.
    Own,
    /// Another format, with customs of its own.
    Foreign,
}

/// A piece of text of a skill.
pub(crate) struct Passage<'a> {
    /// Field, or path of a file.
    pub(crate) field: Cow<'a, str>,
    /// Whether it is a file beside the skill.
    pub(crate) file: Option<&'a str>,
    pub(crate) text: &'a str,
    /// Whether it is the body.
    pub(crate) body: bool,
}

/// Where something was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spot<'a> {
    pub(crate) field: Cow<'a, str>,
    pub(crate) file: Option<&'a str>,
    /// Text of the field that stands there.
    pub(crate) needle: Option<&'a str>,
    /// Offset in the body, or in the file beside the skill.
    pub(crate) offset: Option<usize>,
}

impl<'a> Spot<'a> {
    /// A whole field.
    pub(crate) fn field(field: impl Into<Cow<'a, str>>) -> Self {
        Self { field: field.into(), ..Self::default() }
    }

    /// An item or a part of a field.
    pub(crate) fn value(field: impl Into<Cow<'a, str>>, needle: &'a str) -> Self {
        Self { field: field.into(), needle: Some(needle), ..Self::default() }
    }

    /// A range of a text.
    pub(crate) fn within(text: &Passage<'a>, start: usize, end: usize) -> Self {
        let offset = (text.body || text.file.is_some()).then_some(start);
        let needle = text.text.get(start..end).filter(|_| offset.is_none());
        Self { field: text.field.clone(), file: text.file, needle, offset }
    }
}

impl<'a> Subject<'a> {
    /// A skill without a file.
    #[must_use]
    pub fn new(skill: &'a Skill) -> Self {
        Self { skill, path: None, source: None, files: Vec::new(), form: None, begin: None }
    }

    /// Says in which format the skill is written.
    pub(crate) fn in_format(mut self, format: Format) -> Self {
        let own = matches!(format, Format::SkillsV2 | Format::CanonicalJson);
        self.form = Some(if own { Form::Own } else { Form::Foreign });
        self
    }

    /// Says where the skill begins in its file.
    pub(crate) fn begins_at(mut self, place: Option<(u32, u32)>) -> Self {
        self.begin = place.map(|(line, column)| Position { line, column });
        self
    }

    /// Names the file, and gives its bytes where they are known: places are found in them.
    #[must_use]
    pub fn written(mut self, path: impl Into<String>, bytes: Option<&'a [u8]>) -> Self {
        self.path = Some(path.into());
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        self.source = text.map(|text| {
            let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
            if text.contains('\r') && !json::is_json(text) {
                Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
            } else {
                Cow::Borrowed(text)
            }
        });
        self
    }

    /// Adds the files beside the skill, in the order of its resources; those that are no text are passed over.
    #[must_use]
    pub fn with_files(mut self, files: impl Iterator<Item = &'a [u8]>) -> Self {
        let named = self.skill.resources.iter().map(|resource| resource.path.as_str()).zip(files);
        let texts = named.filter_map(|(path, bytes)| Some((path, std::str::from_utf8(bytes).ok()?)));
        self.files = texts.filter(|(_, text)| !text.contains('\0')).collect();
        self
    }

    /// Which rules of authorship hold.
    pub(crate) fn form(&self) -> Form {
        if let Some(form) = self.form {
            return form;
        }
        let Some(source) = &self.source else { return Form::Own };
        if json::is_json(source) {
            // Workflows name no kind.
            return if source.contains("\"kind\"") { Form::Own } else { Form::Foreign };
        }
        let own =
            source.trim_start().starts_with("---") && self.key("id").is_some() && self.key("title").is_some();
        if own { Form::Own } else { Form::Foreign }
    }

    /// Every text of the skill and of the files beside it.
    pub(crate) fn texts(&self) -> Vec<Passage<'a>> {
        let skill = self.skill;
        let mut texts = Vec::new();
        let mut add = |field: Cow<'a, str>, text: &'a str| {
            texts.push(Passage { field, file: None, text, body: false });
        };
        add("name".into(), &skill.name);
        add("description".into(), &skill.description);
        for (field, list) in [
            ("tags", &skill.tags),
            ("aliases", &skill.aliases),
            ("examples", &skill.examples),
            ("success_criteria", &skill.success_criteria),
        ] {
            for item in list {
                add(field.into(), item);
            }
        }
        for (key, value) in &skill.metadata {
            strings(value, &mut |text| add(format!("metadata/{key}").into(), text));
        }
        for parameter in &skill.parameters {
            let field = || Cow::Owned(format!("parameters/{}", parameter.name));
            add(field(), &parameter.description);
            let values =
                parameter.default.iter().chain(&parameter.examples).chain(parameter.choices.iter().flatten());
            values.for_each(|value| strings(value, &mut |text| add(field(), text)));
        }
        for (index, step) in skill.steps.iter().enumerate() {
            step.args_template
                .values()
                .for_each(|value| strings(value, &mut |text| add(format!("steps/{index}").into(), text)));
            step.note.iter().for_each(|note| add(format!("steps/{index}").into(), note));
        }
        if skill.kind == Kind::Knowledge {
            texts.push(Passage { field: "content".into(), file: None, text: &skill.content, body: true });
        }
        texts.extend(self.files.iter().map(|(path, text)| Passage {
            field: (*path).into(),
            file: Some(path),
            text,
            body: false,
        }));
        texts
    }

    /// The text that a spot is in and its offset there, as exactly as the file shows it.
    pub(crate) fn locate(&self, spot: &Spot<'_>) -> Option<(&str, usize)> {
        if let Some(file) = spot.file {
            let (_, text) = self.files.iter().find(|(path, _)| *path == file)?;
            return Some((text, spot.offset?));
        }
        let source = self.source.as_deref()?;
        let field = spot.field.split('/').next().unwrap_or_default();
        if json::is_json(source) {
            // A skill whose id was taken is published under a longer one.
            let ids = [self.skill.id.as_str(), self.skill.id.rsplit('/').next().unwrap_or_default()];
            let at = ids.iter().find_map(|id| json::find(source, id, field, spot.needle))?;
            return Some((source, at));
        }
        if spot.offset.is_some() || field == "content" {
            let start = source.len().checked_sub(self.skill.content.len())?;
            return source
                .ends_with(&self.skill.content)
                .then_some((source, start + spot.offset.unwrap_or(0)));
        }
        let start = keys(field).iter().find_map(|key| self.key(key))?;
        let inside = &source[start..];
        // The field ends where the next line begins that is not indented and no list item.
        let lines = inside.match_indices('\n').map(|(at, _)| at + 1);
        let end = lines.into_iter().find(|&at| {
            !inside[at..].starts_with([' ', '\t', '-', '\n', '#']) || inside[at..].starts_with("---")
        });
        let inside = &inside[..end.unwrap_or(inside.len())];
        let at = spot.needle.and_then(|needle| find(inside, needle)).unwrap_or(0);
        Some((source, start + at))
    }

    /// Where a top-level key stands in the front matter.
    fn key(&self, key: &str) -> Option<usize> {
        let source = self.source.as_deref()?;
        let mut at = 0;
        for (number, line) in source.split_inclusive('\n').enumerate() {
            if number > 0 && line.trim_end() == "---" && at > 0 && !source[..at].trim().is_empty() {
                return None;
            }
            let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
            if rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':')) {
                return Some(at);
            }
            at += line.len();
        }
        None
    }
}

/// Where a value stands in the text of a field: as a whole item if it is one anywhere, else its first place.
fn find(text: &str, value: &str) -> Option<usize> {
    let is_item = |at: &usize| {
        let before = text[..*at].trim_end_matches([' ', '\t', '"', '\'']);
        let after = text[at + value.len()..].trim_start_matches([' ', '\t', '"', '\'']);
        before.ends_with(['-', '[', ',', ':'])
            && (after.is_empty() || after.starts_with(['\n', ',', ']', '#']))
    };
    let mut places = text.match_indices(value).map(|(at, _)| at);
    let first = places.next()?;
    std::iter::once(first).chain(places).find(is_item).or(Some(first))
}

/// The keys that a field is written under.
fn keys(field: &str) -> [&str; 2] {
    match field {
        "name" => ["title", "name"],
        "id" => ["id", "name"],
        "allowed_tools" => ["allowed_tools", "allowed-tools"],
        other => [other, other],
    }
}

/// Calls `take` with every text in a value.
fn strings<'a>(value: &'a Value, take: &mut dyn FnMut(&'a str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, take)),
        Value::Object(members) => members.values().for_each(|member| strings(member, take)),
        _ => {}
    }
}
