//! Front matter as fields: the tree under its top-level keys, read once, repaired once, every field asked for by name.

use crate::error::Problem;
use crate::import::fence::Split;
use crate::import::repair::{Repaired, SAFETY_FIELDS, repair};
use crate::import::text::Position;
use crate::import::tree::{Node, Refusal, Value, parse};
use crate::limits::FRONT_MATTER_BYTES_MAX;

/// The fields of one file, taken out one by one; what is left at the end is unknown.
#[derive(Debug)]
pub(crate) struct Front {
    source: String,
    first_line: u32,
    fields: Vec<Field>,
    /// What was accepted with a warning so far.
    pub(crate) warnings: Vec<Problem>,
    /// Safety fields that stand twice: the file is refused for them, after the rest was looked at.
    pub(crate) problems: Vec<Problem>,
}

/// One top-level key.
#[derive(Debug)]
struct Field {
    key: String,
    position: Position,
    node: Option<Node>,
}

impl Front {
    /// Reads front matter. Fails with everything that keeps it from being read.
    pub(crate) fn read(split: &Split<'_>) -> Result<Self, Vec<Problem>> {
        if split.front.len() > FRONT_MATTER_BYTES_MAX {
            let problem =
                Problem::new("yaml_budget_exceeded", "", "the front matter is too large; move text below it")
                    .got(format_args!("{} bytes", split.front.len()))
                    .allowed(format!("at most {FRONT_MATTER_BYTES_MAX} bytes"));
            return Err(vec![problem.at(split.front_line, 1)]);
        }
        if let Some(at) = split.front.find(|c: char| c.is_control() && c != '\n' && c != '\t') {
            let problem = Problem::new(
                "control_character",
                "",
                "the front matter holds a control character; remove it",
            );
            let place = Position::of(split.front, at);
            return Err(vec![on_line(place, split.front_line).mark(problem)]);
        }
        let offset = split.front_line;
        let mut warnings = Vec::new();
        let (source, root) = match parse(split.front) {
            Ok(root) => (split.front.to_owned(), root),
            Err(Refusal::Final(problem)) => return Err(vec![moved(problem, offset)]),
            Err(Refusal::Invalid(problem)) => {
                let repaired =
                    repaired(split.front, problem).map_err(|problem| vec![moved(problem, offset)])?;
                warnings.extend(repaired.0.changes.iter().map(|(what, line)| {
                    let message = "the YAML was not valid and was read as it was probably meant; put the value in quotes";
                    moved(Problem::new("yaml_repaired", what, message).at(*line, 1), offset)
                }));
                (repaired.0.text, repaired.1)
            }
        };
        let mut front =
            Self { source, first_line: split.front_line, fields: Vec::new(), warnings, problems: Vec::new() };
        front.take_root(root)?;
        Ok(front)
    }

    fn take_root(&mut self, root: Option<Node>) -> Result<(), Vec<Problem>> {
        let pairs = match root {
            None => return Ok(()),
            Some(Node { value: Value::Mapping(pairs), .. }) => pairs,
            Some(node) if node.is_missing() => return Ok(()),
            Some(node) => {
                let problem =
                    Problem::new("yaml_invalid", "", "the front matter holds no `key: value` lines");
                return Err(vec![self.place(node.position).mark(problem)]);
            }
        };
        for (key, node) in pairs {
            let position = self.place(key.position);
            let key = key.scalar().map_or_else(|| key.folded_source(&self.source), str::to_owned);
            let Some(known) = self.fields.iter().position(|field| field.key == key) else {
                self.fields.push(Field { key, position, node: Some(node) });
                continue;
            };
            let safety = SAFETY_FIELDS.contains(&key.as_str());
            let message = if safety {
                "the field stands here twice; which one holds cannot be guessed: keep one"
            } else {
                "the field stands here twice; the last one counts"
            };
            let problem = position.mark(Problem::new("duplicate_key", &key, message));
            if safety {
                self.problems.push(problem);
            } else {
                self.warnings.push(problem);
            }
            self.fields[known] = Field { key, position, node: Some(node) };
        }
        Ok(())
    }

    /// Whether the key was written, with or without a value, taken or not.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.key == key)
    }

    /// Where a key stands, or the first line of the front matter.
    pub(crate) fn position(&self, key: &str) -> Position {
        let start = Position { line: self.first_line, column: 1 };
        self.fields.iter().find(|field| field.key == key).map_or(start, |field| field.position)
    }

    /// Looks at a field's value without taking it.
    pub(crate) fn peek(&self, key: &str) -> Option<&Node> {
        self.fields.iter().find(|field| field.key == key)?.node.as_ref()
    }

    /// Takes a field's value; `None` where it is absent or holds nothing.
    pub(crate) fn take(&mut self, key: &str) -> Option<Node> {
        let node = self.fields.iter_mut().find(|field| field.key == key)?.node.take()?;
        (!node.is_missing()).then_some(node)
    }

    /// The keys that nobody took, with their values.
    pub(crate) fn rest(&mut self) -> Vec<(String, Node)> {
        self.fields.iter_mut().filter_map(|field| Some((field.key.clone(), field.node.take()?))).collect()
    }

    /// Text in which the spans of nodes count.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The place in the file of a place in the front matter.
    pub(crate) fn place(&self, position: Position) -> Position {
        on_line(position, self.first_line)
    }

    /// Adds a warning about a field, at the field.
    pub(crate) fn warn(&mut self, code: &str, field: &str, message: impl Into<String>) {
        let place = self.position(field);
        self.warnings.push(place.mark(Problem::new(code, field, message)));
    }

    /// A problem with a field, at the field.
    pub(crate) fn problem(&self, code: &str, field: &str, message: impl Into<String>) -> Problem {
        self.position(field).mark(Problem::new(code, field, message))
    }
}

/// The repaired text with its tree, or the reason for the refusal.
fn repaired(text: &str, cause: Problem) -> Result<(Repaired, Option<Node>), Problem> {
    let repaired = repair(text)?;
    if repaired.changes.is_empty() {
        return Err(cause);
    }
    let root = parse(&repaired.text).map_err(|refusal| match refusal {
        Refusal::Invalid(_) => cause.clone(),
        Refusal::Final(problem) => problem,
    })?;
    let keys: Vec<Option<&str>> = match &root {
        Some(Node { value: Value::Mapping(pairs), .. }) => {
            pairs.iter().map(|(key, _)| key.scalar()).collect()
        }
        _ => Vec::new(),
    };
    let same = keys.len() == repaired.keys.len()
        && keys.iter().zip(&repaired.keys).all(|(key, expected)| *key == Some(expected.as_str()));
    if same { Ok((repaired, root)) } else { Err(cause) }
}

fn on_line(position: Position, first_line: u32) -> Position {
    Position { line: position.line.saturating_add(first_line).saturating_sub(1), ..position }
}

fn moved(mut problem: Problem, first_line: u32) -> Problem {
    problem.line = problem.line.map(|line| line.saturating_add(first_line).saturating_sub(1));
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::fence::{Cut, split};

    fn read(text: &str) -> Result<Front, Vec<Problem>> {
        match split(text) {
            Ok(Cut::Front(split)) => Front::read(&split),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_safety_field_twice_is_refused_and_another_is_told() {
        let problems =
            read("---\nallowed-tools: a\nname: x\nallowed-tools: b\n---\n").expect("front").problems;
        assert_eq!(problems.len(), 1);
        assert_eq!((problems[0].code.as_str(), problems[0].line), ("duplicate_key", Some(4)));
        let mut front = read("---\ndescription: a\ndescription: b\n---\n").expect("front");
        assert_eq!(front.warnings[0].code, "duplicate_key");
        assert_eq!(front.take("description").expect("node").scalar(), Some("b"));
    }

    #[test]
    fn problems_name_the_line_of_the_file() {
        let problems = read("\n---\nname: ok\nid: @x\n---\n").expect_err("broken id");
        assert_eq!((problems[0].code.as_str(), problems[0].line), ("yaml_invalid", Some(4)));
        let front = read("---\nname: ok\ndescription: a: b\n---\n").expect("front");
        assert_eq!((front.warnings[0].field.as_str(), front.warnings[0].line), ("description", Some(3)));
    }

    #[test]
    fn prose_between_fences_is_no_front_matter() {
        for text in ["---\njust prose\n---\n", "---\n- a\n---\n", "---\nname: x\n...\nmore: y\n---\n"] {
            assert_eq!(read(text).expect_err(text)[0].code, "yaml_invalid", "{text}");
        }
        assert!(!read("---\n# nothing\n---\n").expect("empty").has("name"));
    }

    #[test]
    fn a_value_of_nothing_is_missing() {
        let mut front = read("---\na:\nb: ~\nc: null\nd: 'null'\n---\n").expect("front");
        assert!(front.has("a"));
        assert!([front.take("a"), front.take("b"), front.take("c")].iter().all(Option::is_none));
        assert!(front.take("d").is_some());
    }

    #[test]
    fn front_matter_at_the_limit_is_read_and_beyond_it_refused() {
        let filler = |bytes: usize| format!("---\na: {}\n---\n", "x".repeat(bytes - 4));
        assert!(read(&filler(FRONT_MATTER_BYTES_MAX)).is_ok());
        assert_eq!(
            read(&filler(FRONT_MATTER_BYTES_MAX + 1)).expect_err("limit")[0].code,
            "yaml_budget_exceeded"
        );
    }
}
