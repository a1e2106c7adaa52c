//! Canonical JSON and workflows: one skill, an array of skills, or one skill a line, read as a stream so that a file
//! of a gigabyte costs no more memory than its skills.
//!
//! A skill that is refused is told everything that is wrong with it: what cannot be read, the rules that the rest
//! breaks, keys that stand twice, and what the tools of the deployment say about as much of it as could be read. All of
//! it has its place in the file.

use std::io::Read;

use serde_json::Value;

use crate::error::Problem;
use crate::flow::compile;
use crate::import::report::{Format, SkillReport};
use crate::import::skill_md::shadowing_aliases;
use crate::import::stream::{self, Fault, Piece};
use crate::import::text::Position;
use crate::import::twice;
use crate::import::workflow;
use crate::limits::{ALIASES_MAX, EXCERPTS_MAX, PROBLEMS_MAX};
use crate::model::{Entry, Kind, Skill, duplicates, is_within, offsets, read_written};
use crate::tools::ToolRegistry;

/// A skill on its way: as much as could be read, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) id: Option<String>,
    pub(crate) skill: Skill,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// Reads a JSON document: one skill or workflow, or an array of skills. Every skill goes to `sink` as it is read.
///
/// # Errors
/// A refusal of the whole where the document itself is broken; skills given to `sink` before that are not to be used.
pub fn read_json(
    input: &mut dyn Read,
    registry: &ToolRegistry,
    sink: &mut dyn FnMut(SkillReport),
) -> Result<Format, Box<SkillReport>> {
    let mut format = Format::CanonicalJson;
    let mut count = 0_usize;
    stream::document(input, &mut |piece| {
        let (read, report) = one(piece, registry)?;
        format = read;
        count += 1;
        sink(report);
        Ok(())
    })
    .map_err(Fault::refusal)?;
    Ok(if count == 1 { format } else { Format::CanonicalJson })
}

/// Reads JSON lines: one skill a line, blank lines skipped. A broken line is refused alone.
///
/// # Errors
/// A refusal of the whole where the file cannot be read on.
pub fn read_json_lines(
    input: &mut dyn Read,
    registry: &ToolRegistry,
    sink: &mut dyn FnMut(SkillReport),
) -> Result<Format, Box<SkillReport>> {
    stream::lines(input, &mut |line| match line.and_then(|piece| one(&piece, registry)) {
        Ok((_, report)) => sink(report),
        Err(fault) => sink(*fault.refusal()),
    })
    .map_err(Fault::refusal)?;
    Ok(Format::CanonicalJson)
}

/// One skill from its text. Fails where that is no JSON.
fn one(piece: &Piece<'_>, registry: &ToolRegistry) -> Result<(Format, SkillReport), Fault> {
    let written = read_written(piece.text).map_err(|broken| piece.fault(&broken))?;
    let (format, mut draft) = if workflow::is_workflow(&written.value) {
        (Format::WorkflowV1, workflow::read(&written.value, registry))
    } else {
        (Format::CanonicalJson, canonical(&written.value))
    };
    let mut told = Told::default();
    if written.duplicates {
        duplicates(piece.text, &mut |one| {
            let decides = twice::decides(one);
            if decides && one.field() == "id" {
                draft.id = None;
            }
            let list = if decides { &mut told.problems } else { &mut told.warnings };
            if list.len() < PROBLEMS_MAX {
                let problem = if decides { twice::refused(one) } else { twice::accepted(one) };
                list.push((problem, Some(one.offset)));
            }
        });
    }
    let sound = draft.problems.is_empty() && told.problems.is_empty();
    // What is beyond a limit is first made smaller: looking into it would take as much again.
    let oversized = |problem: &Problem| {
        matches!(problem.code.as_str(), "too_large" | "too_many" | "too_deep" | "too_many_problems")
    };
    let needs_tools = (draft.skill.kind == Kind::FlowTemplate || draft.skill.allowed_tools.is_some())
        && !draft.problems.iter().any(oversized);
    let mut unavailable = Vec::new();
    if needs_tools {
        let compiled = compile(&draft.skill, registry);
        unavailable = compiled.unavailable;
        if sound {
            draft.warnings.extend(compiled.warnings);
        } else {
            unavailable.retain(|fault| adds_something(fault, &draft.problems));
        }
    }
    let unplaced = |list: Vec<Problem>| list.into_iter().map(|problem| (problem, None));
    told.problems.extend(unplaced(draft.problems));
    told.warnings.extend(unplaced(draft.warnings));
    told.unavailable.extend(unplaced(unavailable));
    told.place(piece, &draft.skill, format);
    let mut report = told.report(draft.id, draft.skill, piece);
    report.place = Some((piece.start.line, piece.start.column));
    Ok((format, report))
}

/// Canonical JSON as far as it can be read.
fn canonical(value: &Value) -> Draft {
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    let read = Skill::draft_from_json(value);
    let mut draft = Draft { id, skill: read.skill, problems: read.problems, warnings: read.warnings };
    if draft.problems.is_empty() {
        draft.warnings.extend(draft.skill.advice());
    }
    if !draft.skill.resources.is_empty() {
        draft.skill.resources.clear();
        let message = "JSON does not hold the bytes of resources; they were left out";
        draft.warnings.push(Problem::new("resource_skipped", "resources", message));
    }
    draft.warnings.extend(shadowing_aliases(&draft.skill).take(ALIASES_MAX));
    draft
}

/// Whether what the tools say about a broken skill is more than an echo of what is broken.
fn adds_something(fault: &Problem, problems: &[Problem]) -> bool {
    let parts: &[&str] = match fault.code.as_str() {
        "undefined_placeholder" => &["name"],
        "placeholder_mismatch" | "optional_without_default" => {
            &["name", "type", "required", "default", "enum"]
        }
        _ => &[],
    };
    let unread = |problem: &Problem| {
        let mut path = problem.field.trim_start_matches('/').split('/');
        path.next() == Some("parameters") && path.nth(1).is_none_or(|part| parts.contains(&part))
    };
    let echo =
        |problem: &Problem| is_within(&fault.field, &problem.field) || (!parts.is_empty() && unread(problem));
    !fault.field.is_empty() && !problems.iter().any(echo)
}

/// Everything that is to be told about one skill, with the byte of its text where that is known.
#[derive(Default)]
struct Told {
    problems: Vec<(Problem, Option<usize>)>,
    warnings: Vec<(Problem, Option<usize>)>,
    unavailable: Vec<(Problem, Option<usize>)>,
}

impl Told {
    fn all(&mut self) -> impl Iterator<Item = &mut (Problem, Option<usize>)> {
        self.problems.iter_mut().chain(&mut self.warnings).chain(&mut self.unavailable)
    }

    /// Finds the place of everything that has none yet.
    fn place(&mut self, piece: &Piece<'_>, skill: &Skill, format: Format) {
        let fields: Vec<String> = self
            .all()
            .filter(|(_, offset)| offset.is_none())
            .map(|(problem, _)| field_in_text(problem, skill, format))
            .collect();
        if !fields.is_empty() {
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            let mut found = offsets(piece.text, &fields).into_iter();
            for (_, offset) in self.all().filter(|(_, offset)| offset.is_none()) {
                *offset = found.next();
            }
        }
        let offsets: Vec<usize> = self.all().filter_map(|(_, offset)| *offset).collect();
        let mut places = piece.places(&offsets).into_iter();
        for (problem, _) in self.all() {
            if let Some(place) = places.next() {
                (problem.line, problem.column) = (Some(place.line), Some(place.column));
            }
        }
    }

    /// The report: a refusal names the reasons for it first, in the order of the file, then what the tools say.
    fn report(mut self, id: Option<String>, skill: Skill, piece: &Piece<'_>) -> SkillReport {
        for list in [&mut self.problems, &mut self.warnings, &mut self.unavailable] {
            list.sort_by_key(|(_, offset)| *offset);
        }
        let mut known = Vec::new();
        for (problem, offset) in self.all().take(EXCERPTS_MAX) {
            if let (Some(line), Some(column), Some(offset)) = (problem.line, problem.column, *offset) {
                known.push((offset, Position { line, column }));
            }
        }
        known.sort_unstable_by_key(|(offset, _)| *offset);
        known.dedup();
        let bare =
            |list: Vec<(Problem, Option<usize>)>| list.into_iter().map(|(problem, _)| problem).collect();
        let (problems, warnings): (Vec<Problem>, Vec<Problem>) = (bare(self.problems), bare(self.warnings));
        let unavailable: Vec<Problem> = bare(self.unavailable);
        let mut report = if problems.is_empty() {
            SkillReport { unavailable, ..SkillReport::accepted(id, Entry::new(skill)) }
        } else {
            SkillReport::refused(id, problems.into_iter().chain(unavailable).collect())
        };
        report.warnings = warnings;
        report.excerpts = known.into_iter().map(|(offset, place)| piece.excerpt(offset, place)).collect();
        report
    }
}

/// The field of a problem as the text has it.
fn field_in_text(problem: &Problem, skill: &Skill, format: Format) -> String {
    if problem.code == "alias_shadows_builtin" {
        let index = skill.aliases.iter().position(|alias| *alias == problem.field);
        return index.map_or_else(|| "aliases".to_owned(), |index| format!("/aliases/{index}"));
    }
    match format {
        Format::WorkflowV1 => workflow::field_in_text(&problem.field, skill),
        _ => problem.field.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    const SKILL: &str = r#"{"id":"a","kind":"knowledge","name":"A","description":"About a.","content":"x"}"#;

    fn read(text: &str, lines: bool) -> (Result<Format, Box<SkillReport>>, Vec<SkillReport>) {
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

    fn code(result: Result<Format, Box<SkillReport>>) -> String {
        let problems = result.expect_err("broken").result.expect_err("a refusal");
        assert_eq!(problems.len(), 1);
        problems[0].code.clone()
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
            assert_eq!(code(read(text, false).0), "json_invalid", "{text}");
        }
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(code(read(&deep, false).0), "json_invalid");
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
        assert_eq!(code(result), "too_large");
    }
}
