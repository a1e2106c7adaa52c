//! Canonical JSON: one skill, an array of skills, or one skill a line, read as a stream so that a file of a gigabyte
//! costs no more memory than its skills.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde_json::Value;

use crate::error::Problem;
use crate::import::report::{Format, SkillReport};
use crate::import::skill_md::shadowing_aliases;
use crate::import::text::saturate;
use crate::import::workflow;
use crate::limits::JSON_SKILL_BYTES_MAX;
use crate::model::{Entry, Skill};
use crate::tools::ToolRegistry;

/// Bytes read from the file at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Reads a JSON document: one skill or workflow, or an array of skills. Every skill goes to `sink` as it is read.
///
/// # Errors
/// One problem where the document itself is broken; skills given to `sink` before that are not to be used.
pub fn read_json(
    input: &mut dyn Read,
    registry: &ToolRegistry,
    sink: &mut dyn FnMut(SkillReport),
) -> Result<Format, Problem> {
    let left = Cell::new(JSON_SKILL_BYTES_MAX);
    let mut input = BufReader::with_capacity(CHUNK_BYTES, Metered { input, left: &left });
    skip_bom(&mut input).map_err(|error| unreadable(&error))?;
    let mut document = serde_json::Deserializer::from_reader(input);
    let format = (&mut document)
        .deserialize_any(Skills { registry, sink, left: &left })
        .and_then(|format| document.end().map(|()| format))
        .map_err(|error| broken(&error))?;
    Ok(format)
}

/// Reads JSON lines: one skill a line, blank lines skipped. A broken line is refused alone.
///
/// # Errors
/// One problem where the file cannot be read on.
pub fn read_json_lines(
    input: &mut dyn Read,
    registry: &ToolRegistry,
    sink: &mut dyn FnMut(SkillReport),
) -> Result<Format, Problem> {
    let mut input = BufReader::with_capacity(CHUNK_BYTES, input);
    skip_bom(&mut input).map_err(|error| unreadable(&error))?;
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        let limit = JSON_SKILL_BYTES_MAX as u64 + 1;
        let read =
            (&mut input).take(limit).read_until(b'\n', &mut line).map_err(|error| unreadable(&error))?;
        if read == 0 {
            break;
        }
        if read as u64 == limit && line.last() != Some(&b'\n') {
            sink(SkillReport::refused(None, vec![too_large().at(saturate(number), 1)]));
            skip_line(&mut input).map_err(|error| unreadable(&error))?;
        } else if !line.trim_ascii().is_empty() {
            sink(match serde_json::from_slice::<Value>(&line) {
                Ok(value) => one(&value, registry, Some(number)),
                Err(error) => {
                    let column = saturate(error.column().max(1));
                    SkillReport::refused(None, vec![broken(&error).at(saturate(number), column)])
                }
            });
        }
    }
    Ok(Format::CanonicalJson)
}

/// One skill from its JSON value.
fn one(value: &Value, registry: &ToolRegistry, line: Option<usize>) -> SkillReport {
    let place = |problem: Problem| match line {
        Some(line) => problem.at(saturate(line), 1),
        None => problem,
    };
    let mut report =
        if workflow::is_workflow(value) { workflow::read(value, registry) } else { canonical(value) };
    report.result = report.result.map_err(|problems| problems.into_iter().map(place).collect());
    report.warnings = report.warnings.into_iter().map(place).collect();
    report
}

fn canonical(value: &Value) -> SkillReport {
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    match Skill::from_json(value) {
        Err(problems) => SkillReport::refused(id, problems),
        Ok(mut reading) => {
            if !reading.skill.resources.is_empty() {
                reading.skill.resources.clear();
                let message = "JSON does not hold the bytes of resources; they were left out";
                reading.warnings.push(Problem::new("resource_skipped", "resources", message));
            }
            reading.warnings.extend(shadowing_aliases(&reading.skill));
            let warnings = reading.warnings;
            SkillReport { id, result: Ok(Entry::new(reading.skill)), warnings, unavailable: Vec::new() }
        }
    }
}

/// Takes the document apart: an object is one skill, an array many.
struct Skills<'s> {
    registry: &'s ToolRegistry,
    sink: &'s mut dyn FnMut(SkillReport),
    left: &'s Cell<usize>,
}

impl<'de> Visitor<'de> for Skills<'_> {
    type Value = Format;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a skill or an array of skills")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Format, A::Error> {
        while let Some(value) = items.next_element::<Value>()? {
            self.left.set(JSON_SKILL_BYTES_MAX);
            (self.sink)(one(&value, self.registry, None));
        }
        Ok(Format::CanonicalJson)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Format, A::Error> {
        let value: Value = serde::Deserialize::deserialize(MapAccessDeserializer::new(members))?;
        let format = if workflow::is_workflow(&value) { Format::WorkflowV1 } else { Format::CanonicalJson };
        (self.sink)(one(&value, self.registry, None));
        Ok(format)
    }
}

/// Stops a reader when one skill has taken more than its share.
struct Metered<'m> {
    input: &'m mut dyn Read,
    left: &'m Cell<usize>,
}

impl Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "one skill is too large"));
        }
        let read = self.input.read(buffer)?;
        self.left.set(self.left.get().saturating_sub(read));
        Ok(read)
    }
}

fn skip_bom(input: &mut impl BufRead) -> io::Result<()> {
    if input.fill_buf()?.starts_with(b"\xEF\xBB\xBF") {
        input.consume(3);
    }
    Ok(())
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(());
        }
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(chunk.len(), |at| at + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(());
        }
    }
}

fn too_large() -> Problem {
    let message = "one skill is too large; move long material out of it";
    Problem::new("too_large", "", message).allowed(format!("at most {JSON_SKILL_BYTES_MAX} bytes a skill"))
}

fn broken(error: &serde_json::Error) -> Problem {
    if error.io_error_kind() == Some(io::ErrorKind::FileTooLarge) {
        return too_large().at(saturate(error.line().max(1)), saturate(error.column().max(1)));
    }
    if error.is_io() {
        return Problem::new("unreadable", "", format!("the file cannot be read: {error}"));
    }
    let text = error.to_string();
    let cause = text.split(" at line ").next().unwrap_or_default();
    let problem = Problem::new("json_invalid", "", format!("this is not valid JSON: {cause}; correct it"));
    problem.at(saturate(error.line().max(1)), saturate(error.column().max(1)))
}

fn unreadable(error: &io::Error) -> Problem {
    Problem::new("unreadable", "", format!("the file cannot be read: {error}; check its permissions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKILL: &str = r#"{"id":"a","kind":"knowledge","name":"A","description":"About a.","content":"x"}"#;

    fn read(text: &str, lines: bool) -> (Result<Format, Problem>, Vec<SkillReport>) {
        let mut skills = Vec::new();
        let mut sink = |skill| skills.push(skill);
        let registry = ToolRegistry::builtin();
        let result = if lines {
            read_json_lines(&mut text.as_bytes(), &registry, &mut sink)
        } else {
            read_json(&mut text.as_bytes(), &registry, &mut sink)
        };
        (result, skills)
    }

    #[test]
    fn one_skill_and_many_are_read() {
        for text in [SKILL.to_owned(), format!("\u{FEFF}[{SKILL}]"), format!(" {SKILL}\n")] {
            let (result, skills) = read(&text, false);
            assert_eq!(result.expect(&text), Format::CanonicalJson);
            assert_eq!(skills[0].result.as_ref().expect(&text).skill.id, "a");
        }
        let (result, skills) = read("[]", false);
        assert!(result.is_ok() && skills.is_empty());
    }

    #[test]
    fn a_bad_skill_is_refused_alone_and_a_bad_document_whole() {
        let (result, skills) = read(&format!("[{SKILL},{{\"id\":\"b\"}},{SKILL}]"), false);
        assert!(result.is_ok());
        assert!(skills[0].result.is_ok() && skills[1].result.is_err() && skills[2].result.is_ok());
        assert_eq!(skills[1].id.as_deref(), Some("b"));
        for text in ["", "{", "[1,", "nonsense", "[]x", "7"] {
            assert_eq!(read(text, false).0.expect_err(text).code, "json_invalid", "{text}");
        }
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(read(&deep, false).0.expect_err("deep").code, "json_invalid");
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        let (result, skills) = read(&format!("{SKILL}\n\n{{]\n{SKILL}"), true);
        assert!(result.is_ok());
        assert_eq!(skills.len(), 3);
        let problem = &skills[1].result.as_ref().expect_err("line")[0];
        assert_eq!((problem.code.as_str(), problem.line), ("json_invalid", Some(3)));
    }

    /// Endless text inside one skill.
    struct Endless(&'static [u8]);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if !self.0.is_empty() {
                return self.0.read(buffer);
            }
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }

    #[test]
    fn a_skill_without_end_is_refused_before_memory_is() {
        let registry = ToolRegistry::builtin();
        let result = read_json(&mut Endless(b"[{\"id\":\""), &registry, &mut |_| {});
        assert_eq!(result.expect_err("endless").code, "too_large");
    }
}
