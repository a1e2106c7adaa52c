//! Every rule that a skill has to keep, reported all at once.

use std::collections::HashSet;
use std::io;

use serde::Serialize;

use crate::error::Problem;
use crate::limits::{
    ALIAS_CHARS_MAX, ALIASES_MAX, APPS_MAX, ATTRIBUTE_CHARS_MAX, CONTENT_BYTES_ADVISED, CONTENT_BYTES_MAX,
    CRITERIA_MAX, CRITERION_CHARS_MAX, DERIVED_FROM_MAX, DESCRIPTION_CHARS_ADVISED, DESCRIPTION_CHARS_MAX,
    EXAMPLE_CHARS_MAX, EXAMPLES_MAX, MEDIA_TYPE_CHARS_MAX, METADATA_BYTES_MAX, METADATA_DEPTH_MAX,
    NAME_CHARS_MAX, NOTE_CHARS_MAX, PARAMETERS_MAX, REASON_CHARS_MAX, RESOURCES_BYTES_MAX, RESOURCES_MAX,
    STEPS_MAX, TAG_CHARS_MAX, TAGS_MAX, TEMPLATE_BYTES_MAX, TEMPLATE_DEPTH_MAX, TOOL_ENTRY_CHARS_MAX,
    TOOL_NAME_CHARS_MAX, TOOLS_LISTED_MAX, VERSION_CHARS_MAX,
};
use crate::model::number::{self, Fault};
use crate::model::text::nfc;
use crate::model::{App, Kind, Resource, Skill, Status, check_id, is_invisible, parameter_rules, syntax};

impl Skill {
    /// Every rule of the model that this skill breaks; empty if it is sound.
    ///
    /// The tool registry is not consulted: whether a tool exists is a matter of the deployment. Linear in the skill;
    /// allocates nothing for a sound knowledge skill.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        out.extend(check_id(&self.id).err());
        name(&self.name, &mut out);
        text(&self.description, "description", 1, DESCRIPTION_CHARS_MAX, &mut out);
        text(&self.version, "version", 1, VERSION_CHARS_MAX, &mut out);
        texts(&self.tags, "tags", TAGS_MAX, TAG_CHARS_MAX, &mut out);
        texts(&self.aliases, "aliases", ALIASES_MAX, ALIAS_CHARS_MAX, &mut out);
        texts(&self.examples, "examples", EXAMPLES_MAX, EXAMPLE_CHARS_MAX, &mut out);
        if let Some(tools) = &self.allowed_tools {
            texts(tools, "allowed_tools", TOOLS_LISTED_MAX, TOOL_ENTRY_CHARS_MAX, &mut out);
        }
        texts(&self.preapproved_tools, "preapproved_tools", TOOLS_LISTED_MAX, TOOL_ENTRY_CHARS_MAX, &mut out);
        texts(&self.success_criteria, "success_criteria", CRITERIA_MAX, CRITERION_CHARS_MAX, &mut out);
        self.attributes(&mut out);
        self.metadata_rules(&mut out);
        self.kind_rules(&mut out);
        apps(&self.apps, &mut out);
        resources(&self.resources, &mut out);
        count(self.derived_from.len(), "derived_from", DERIVED_FROM_MAX, &mut out);
        for (index, id) in self.derived_from.iter().take(DERIVED_FROM_MAX).enumerate() {
            out.extend(check_id(id).err().map(|problem| at(problem, format!("/derived_from/{index}"))));
        }
        out
    }

    /// Things that are accepted but worth a word to the author: `description_too_long`, `body_over_limit`,
    /// `empty_body`.
    #[must_use]
    pub fn advice(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        let chars = self.description.chars().count();
        if chars > DESCRIPTION_CHARS_ADVISED {
            let message = "the description is long; readers and models see it in every list";
            let problem = Problem::new("description_too_long", "description", message);
            out.push(
                problem
                    .got(format!("{chars} characters"))
                    .allowed(format!("{DESCRIPTION_CHARS_ADVISED} advised")),
            );
        }
        if self.content.len() > CONTENT_BYTES_ADVISED {
            let message = "the body is long; move parts of it into resources";
            let problem = Problem::new("body_over_limit", "content", message);
            out.push(
                problem
                    .got(format!("{} bytes", self.content.len()))
                    .allowed(format!("{CONTENT_BYTES_ADVISED} advised")),
            );
        }
        if self.kind == Kind::Knowledge && self.content.trim().is_empty() {
            out.push(Problem::new(
                "empty_body",
                "content",
                "the skill has no body; nothing is told beyond its description",
            ));
        }
        out
    }

    /// Single optional values.
    fn attributes(&self, out: &mut Vec<Problem>) {
        for (field, value) in
            [("license", &self.license), ("author", &self.author), ("compatibility", &self.compatibility)]
        {
            if let Some(value) = value {
                text(value, field, 1, ATTRIBUTE_CHARS_MAX, out);
            }
        }
        if let Some(locale) = &self.locale
            && !syntax::is_language_tag(locale)
        {
            let message = "the locale is no language tag of BCP 47";
            out.push(
                Problem::new("invalid_value", "locale", message)
                    .got(locale)
                    .allowed("en, zh-Hans, pt-BR, ..."),
            );
        }
        if let Some(time) = &self.updated_at
            && !syntax::is_rfc3339(time)
        {
            let message = "updated_at is no RFC 3339 time";
            out.push(
                Problem::new("invalid_value", "updated_at", message)
                    .got(time)
                    .allowed("2026-01-31T12:00:00Z"),
            );
        }
        if let Status::Deprecated { reason, replaced_by } = &self.status {
            text(reason, "/status/reason", 1, REASON_CHARS_MAX, out);
            if let Some(id) = replaced_by {
                out.extend(check_id(id).err().map(|problem| at(problem, "/status/replaced_by".to_owned())));
            }
        }
    }

    fn metadata_rules(&self, out: &mut Vec<Problem>) {
        if self.metadata.is_empty() {
            return;
        }
        match number::check_members(self.metadata.values(), METADATA_DEPTH_MAX) {
            Err(fault) => out.push(fault_problem(fault, "metadata".to_owned(), METADATA_DEPTH_MAX)),
            Ok(()) => bytes(json_size(&self.metadata), || "metadata".to_owned(), METADATA_BYTES_MAX, out),
        }
    }

    /// What a kind must have and must not have.
    fn kind_rules(&self, out: &mut Vec<Problem>) {
        match self.kind {
            Kind::Knowledge => {
                bytes(self.content.len(), || "content".to_owned(), CONTENT_BYTES_MAX, out);
                if self.content.contains('\0') {
                    out.push(Problem::new(
                        "control_character",
                        "content",
                        "the body holds a NUL byte; remove it",
                    ));
                }
                for (field, given) in [("parameters", self.parameters.len()), ("steps", self.steps.len())] {
                    if given > 0 {
                        let message = format!("a knowledge skill has no {field}; make it a flow_template");
                        out.push(Problem::new("field_not_of_kind", field, message).got(given));
                    }
                }
            }
            Kind::FlowTemplate => {
                if !self.content.is_empty() {
                    let message = "a flow template has no content; put the words into description and notes";
                    out.push(Problem::new("field_not_of_kind", "content", message));
                }
                if self.steps.is_empty() {
                    let problem = Problem::new("too_few", "steps", "a flow template needs a step; add one");
                    out.push(problem.got(0).allowed(format!("1-{STEPS_MAX}")));
                }
                count(self.steps.len(), "steps", STEPS_MAX, out);
                count(self.parameters.len(), "parameters", PARAMETERS_MAX, out);
                self.parameter_rules(out);
                self.step_rules(out);
            }
        }
    }

    fn parameter_rules(&self, out: &mut Vec<Problem>) {
        let mut seen = HashSet::with_capacity(self.parameters.len());
        for (index, parameter) in self.parameters.iter().take(PARAMETERS_MAX).enumerate() {
            let pointer = format!("/parameters/{index}");
            if !seen.insert(parameter.name.as_str()) {
                let message = "two parameters have this name; rename one";
                out.push(
                    Problem::new("duplicate_name", format!("{pointer}/name"), message).got(&parameter.name),
                );
            }
            parameter_rules::problems(parameter, &pointer, out);
        }
    }

    fn step_rules(&self, out: &mut Vec<Problem>) {
        for (index, step) in self.steps.iter().take(STEPS_MAX).enumerate() {
            let pointer = |field: &str| format!("/steps/{index}/{field}");
            text_at(&step.tool, || pointer("tool"), 1, TOOL_NAME_CHARS_MAX, out);
            let values = step.args_template.values();
            if let Err(fault) = number::check_members(values, TEMPLATE_DEPTH_MAX) {
                out.push(fault_problem(fault, pointer("args_template"), TEMPLATE_DEPTH_MAX));
            } else {
                bytes(json_size(&step.args_template), || pointer("args_template"), TEMPLATE_BYTES_MAX, out);
            }
            if let Some(note) = &step.note {
                text_at(note, || pointer("note"), 0, NOTE_CHARS_MAX, out);
            }
        }
    }
}

/// A name shows on screens and in lists: nothing in it may be hidden.
fn name(name: &str, out: &mut Vec<Problem>) {
    text(name, "name", 1, NAME_CHARS_MAX, out);
    if name.contains(['\t', '\n', '\r']) {
        out.push(Problem::new(
            "control_character",
            "name",
            "the name holds a line break or tab; use a space",
        ));
    }
    if nfc(name) != name {
        out.push(
            Problem::new("not_nfc", "name", "the name is not in Unicode normal form C; normalise it")
                .got(name),
        );
    }
    if !name.is_ascii() && hides_something(name) {
        let message = "the name holds an invisible character; remove it";
        out.push(Problem::new("invisible_character_in_name", "name", message).got(name));
    }
}

/// True for an invisible character that neither shapes an emoji nor joins letters of a script that needs it.
fn hides_something(name: &str) -> bool {
    let chars: Vec<char> = name.chars().collect();
    let symbol = |c: char| !c.is_alphabetic() && !c.is_whitespace() && !c.is_ascii() && !is_invisible(c);
    let joining = |c: char| c.is_alphanumeric() && ('\u{600}'..'\u{1100}').contains(&c) || is_mark(c);
    chars.iter().enumerate().filter(|&(_, &c)| is_invisible(c)).any(|(index, &c)| {
        let before = index.checked_sub(1).and_then(|previous| chars.get(previous)).copied();
        let after = chars.get(index + 1).copied();
        !match (c, before, after) {
            ('\u{FE0E}' | '\u{FE0F}', Some(before), _) => {
                symbol(before) || matches!(before, '0'..='9' | '#' | '*')
            }
            ('\u{200D}', Some(before), Some(after)) if symbol(after) => {
                symbol(before) || before == '\u{FE0F}'
            }
            ('\u{200C}' | '\u{200D}', Some(before), Some(after)) => joining(before) && joining(after),
            _ => false,
        }
    })
}

/// Marks of the scripts between Arabic and Myanmar, after which a joiner is ordinary spelling.
fn is_mark(c: char) -> bool {
    ('\u{600}'..'\u{1100}').contains(&c) && unicode_normalization::char::is_combining_mark(c)
}

/// A text of `min` to `max` characters without control characters other than tab and line breaks.
pub(super) fn text(value: &str, field: &str, min: usize, max: usize, out: &mut Vec<Problem>) {
    text_at(value, || field.to_owned(), min, max, out);
}

/// As [`text`], with a field name that is made only for a problem.
fn text_at(value: &str, field: impl Fn() -> String, min: usize, max: usize, out: &mut Vec<Problem>) {
    if min > 0 && value.trim().is_empty() {
        out.push(Problem::new(
            "empty",
            field(),
            "the text is empty; write one, or leave the field out if it is optional",
        ));
        return;
    }
    // A text has at most as many characters as bytes, so that counting is needed for long ones only.
    if value.len() > max {
        let chars = value.chars().count();
        if chars > max {
            out.push(
                Problem::new("too_long", field(), "the text is too long; shorten it")
                    .got(format!("{chars} characters"))
                    .allowed(format!("at most {max} characters")),
            );
        }
    }
    let control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    // Controls are C0, DEL and, beginning with 0xC2 in UTF-8, C1.
    let suspicious = |byte: u8| byte < 0x20 || byte == 0x7F || byte == 0xC2;
    if value.bytes().any(suspicious) && value.contains(control) {
        let found = value.chars().find(|&c| control(c)).map(String::from).unwrap_or_default();
        out.push(
            Problem::new("control_character", field(), "the text holds a control character; remove it")
                .got(found),
        );
    }
}

/// A list of texts, each of 1 to `chars_max` characters.
fn texts(values: &[String], field: &str, count_max: usize, chars_max: usize, out: &mut Vec<Problem>) {
    count(values.len(), field, count_max, out);
    for (index, value) in values.iter().take(count_max).enumerate() {
        text_at(value, || format!("/{field}/{index}"), 1, chars_max, out);
    }
}

fn count(got: usize, field: &str, max: usize, out: &mut Vec<Problem>) {
    if got > max {
        let problem = Problem::new("too_many", field, "the list is too long; remove entries");
        out.push(problem.got(got).allowed(format!("at most {max}")));
    }
}

fn bytes(got: usize, field: impl Fn() -> String, max: usize, out: &mut Vec<Problem>) {
    if got > max {
        let problem = Problem::new("too_large", field(), "the value is too large; shorten it");
        out.push(problem.got(format!("{got} bytes")).allowed(format!("at most {max} bytes")));
    }
}

fn apps(apps: &[App], out: &mut Vec<Problem>) {
    count(apps.len(), "apps", APPS_MAX, out);
    for (index, app) in apps.iter().take(APPS_MAX).enumerate() {
        if !syntax::is_package(&app.package) {
            out.push(
                Problem::new(
                    "invalid_value",
                    format!("/apps/{index}/package"),
                    "this is no Android package name",
                )
                .got(&app.package)
                .allowed("com.example.app"),
            );
        }
        if let (Some(low), Some(high)) = (app.min_version_code, app.max_version_code)
            && low > high
        {
            let message = "min_version_code is above max_version_code";
            out.push(
                Problem::new("empty_range", format!("/apps/{index}/min_version_code"), message).got(low),
            );
        }
        for (field, code) in
            [("min_version_code", app.min_version_code), ("max_version_code", app.max_version_code)]
        {
            if code.is_some_and(|code| number::tidy_number(&code.into()).is_none()) {
                let message = "the version code is beyond what JSON numbers hold";
                out.push(Problem::new("inexact_number", format!("/apps/{index}/{field}"), message));
            }
        }
    }
}

fn resources(resources: &[Resource], out: &mut Vec<Problem>) {
    count(resources.len(), "resources", RESOURCES_MAX, out);
    let mut sum = 0_u64;
    let mut seen = HashSet::with_capacity(resources.len().min(RESOURCES_MAX));
    for (index, resource) in resources.iter().take(RESOURCES_MAX).enumerate() {
        let pointer = |field: &str| format!("/resources/{index}/{field}");
        sum = sum.saturating_add(resource.bytes);
        if !syntax::is_resource_path(&resource.path) {
            let message = "the path must stay below the skill's folder, with single '/'";
            out.push(Problem::new("unsafe_path", pointer("path"), message).got(&resource.path));
        }
        if !seen.insert(resource.path.as_str()) {
            let message = "two resources have this path; keep one";
            out.push(Problem::new("duplicate_name", pointer("path"), message).got(&resource.path));
        }
        let hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if resource.sha256.len() != 64 || !resource.sha256.bytes().all(hexadecimal) {
            let message = "the digest is no lower-case hexadecimal SHA-256";
            out.push(Problem::new("invalid_value", pointer("sha256"), message).got(&resource.sha256));
        }
        text_at(&resource.media_type, || pointer("media_type"), 1, MEDIA_TYPE_CHARS_MAX, out);
    }
    bytes(usize::try_from(sum).unwrap_or(usize::MAX), || "resources".to_owned(), RESOURCES_BYTES_MAX, out);
}

/// The problem for a value that canonical JSON cannot carry.
pub(super) fn fault_problem(fault: Fault, field: String, depth_max: usize) -> Problem {
    match fault {
        Fault::TooDeep => Problem::new("too_deep", field, "the value is nested too deeply; flatten it")
            .allowed(format!("at most {depth_max} levels")),
        Fault::InexactNumber => {
            Problem::new("inexact_number", field, "a number in it is no double; write it as a string")
        }
    }
}

/// Moves a problem to another field.
fn at(mut problem: Problem, field: String) -> Problem {
    problem.field = field;
    problem
}

/// Bytes of a value as compact JSON, without building it.
fn json_size(value: &impl Serialize) -> usize {
    /// Counts what is written.
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Count(0);
    // The sink never fails and neither metadata nor templates hold anything that JSON cannot write.
    serde_json::to_writer(&mut counter, value).map_or(usize::MAX, |()| counter.0)
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
