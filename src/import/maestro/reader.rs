//! The walk through a flow: commands in order, `runFlow` in place, variables to parameters.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::error::Problem;
use crate::import::maestro::config::{Config, env};
use crate::import::maestro::convert::{
    Command, Converted, Miss, Place, check_linear, convert, is_observation,
};
use crate::import::maestro::fields::{Fields, boolean, misshapen};
use crate::import::maestro::words::{self, Piece};
use crate::import::maestro::{Document, FlowFile};
use crate::import::report::{FileContext, SkillReport};
use crate::import::text::Position;
use crate::import::tree::{Node, Value as Yaml};
use crate::limits::{FLOW_INLINE_DEPTH_MAX, FLOW_INLINES_MAX, STEPS_MAX};
use crate::model::{Entry, Parameter, ParameterType, Step};
use crate::tools::ToolRegistry;

/// Words in the name of a variable whose value nobody should see.
const SECRET_WORDS: [&str; 6] = ["PASSWORD", "PASSWD", "PASSCODE", "SECRET", "TOKEN", "API_KEY"];

/// Reads one flow with everything that it runs.
pub(crate) struct Reader<'a> {
    load: FlowFile<'a>,
    pub(super) registry: &'a ToolRegistry,
    pub(super) parameters: Vec<Parameter>,
    pub(super) steps: Vec<Step>,
    /// Where each step is written, in the file that is imported.
    places: Vec<Position>,
    problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    pub(super) criterion: Option<String>,
    /// The file that is read and those that led to it, each with the place in the imported file that led there.
    files: Vec<(String, Position)>,
    inlined: usize,
    full: bool,
}

/// What holds for the commands of one file.
#[derive(Clone, Default)]
struct Scope {
    app: Option<Vec<Piece>>,
    /// What a name stands for, where it is no parameter.
    variables: BTreeMap<String, Vec<Piece>>,
    optional: bool,
}

impl<'a> Reader<'a> {
    /// A reader for the file at a path below the root.
    pub(crate) fn new(path: &str, load: FlowFile<'a>, registry: &'a ToolRegistry) -> Self {
        Self {
            load,
            registry,
            parameters: Vec::new(),
            steps: Vec::new(),
            places: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
            criterion: None,
            files: vec![(path.to_owned(), Position::START)],
            inlined: 0,
            full: false,
        }
    }

    /// The flow as a skill, or everything that keeps it from being one.
    pub(crate) fn skill(mut self, document: &Document, file: &FileContext<'_>) -> SkillReport {
        self.run(document, Scope::default(), &BTreeMap::new());
        let skill = self.assemble(document, file.path);
        let refused = !self.problems.is_empty();
        // A flow whose commands were refused has no steps because of that.
        for problem in skill.problems().into_iter().filter(|problem| !refused || problem.field != "steps") {
            let problem = self.placed(problem, document.position);
            self.problems.push(problem);
        }
        let id = Some(skill.id.clone()).filter(|id| !id.is_empty());
        if !self.problems.is_empty() {
            return SkillReport { warnings: self.warnings, ..SkillReport::refused(id, self.problems) };
        }
        self.warnings.extend(skill.advice());
        let mut entry = Entry::new(skill);
        entry.source_text = Some(file.bytes.into());
        let mut report = SkillReport::accepted(id, entry);
        report.warnings = std::mem::take(&mut self.warnings);
        report.judge(self.registry);
        let place = |problem: Problem| self.placed(problem, Position::START);
        report.unavailable = report.unavailable.into_iter().map(place).collect();
        report.warnings = report.warnings.into_iter().map(place).collect();
        report
    }

    /// Runs a file: what it defines, then its commands. `given` is what the flow that runs it defines.
    fn run(&mut self, document: &Document, mut scope: Scope, given: &BTreeMap<String, Vec<Piece>>) {
        let config = &document.config;
        for (key, position) in &config.doubled {
            self.warn("duplicate_key", key, "the field stands here twice; the last one counts", *position);
        }
        let kept = if self.files.len() == 1 { "it is kept in the metadata" } else { "it was left out" };
        for (key, node) in &config.rest {
            let message = format!("a flow template has no such setting; {kept}");
            self.warn("unknown_field", key, &message, node.position);
        }
        scope.variables.extend(given.iter().map(|(name, pieces)| (name.clone(), pieces.clone())));
        self.define(config, &mut scope, given);
        if let Some(node) = &config.app {
            match self.expand(node, &scope) {
                Ok(app) => scope.app = Some(app),
                Err(miss) => self.refuse(miss, node.position),
            }
        }
        for commands in [&config.start, &document.commands, &config.complete] {
            self.commands(commands, &scope);
        }
    }

    /// The variables of a configuration: parameters with a default, unless the flow that runs this one gave a value.
    fn define(&mut self, config: &Config, scope: &mut Scope, given: &BTreeMap<String, Vec<Piece>>) {
        for (name, node) in &config.env {
            if given.contains_key(name) {
                continue;
            }
            if !words::is_variable(name) {
                let message = "no `${...}` can name this variable; it was left out";
                self.warn("argument_dropped", name, message, node.position);
                continue;
            }
            let pieces = match words::pieces(node.scalar().unwrap_or_default()) {
                Ok(pieces) => pieces,
                Err(expression) => {
                    self.refuse(Miss::Refused(expression_problem(&expression, node.position)), node.position);
                    continue;
                }
            };
            match words::literal(&pieces) {
                // `A: ${A}` says that somebody else gives it.
                None if pieces == [Piece::Variable(name.clone())] => {}
                None => {
                    let pieces = self.resolve(pieces, scope);
                    scope.variables.insert(name.clone(), pieces);
                }
                Some(text) => {
                    let known = self.parameters.iter().find(|parameter| parameter.name == *name);
                    let taken = scope.variables.contains_key(name)
                        || known.is_some_and(|known| known.default != Some(json!(text)));
                    if taken {
                        scope.variables.insert(name.clone(), pieces);
                    } else if known.is_none() {
                        self.declare(name, Some(text));
                    }
                }
            }
        }
    }

    fn declare(&mut self, name: &str, default: Option<String>) {
        let mut parameter = Parameter::new(name, ParameterType::String);
        parameter.required = default.is_none();
        parameter.default = default.map(Value::String);
        let upper = name.to_ascii_uppercase();
        parameter.secret = SECRET_WORDS.iter().any(|word| upper.contains(word));
        self.parameters.push(parameter);
    }

    fn commands(&mut self, items: &[Node], scope: &Scope) {
        for item in items {
            if self.full {
                return;
            }
            match command(item) {
                Err(problem) => self.refuse(Miss::Refused(problem), item.position),
                Ok(command) => self.command(&command, scope),
            }
        }
    }

    fn command(&mut self, command: &Command<'_>, scope: &Scope) {
        if is_observation(command.name) {
            let message = "this only records or judges what is there; it was left out";
            self.warn("command_dropped", command.name, message, command.position);
            return;
        }
        if let Err(problem) = check_linear(command) {
            return self.refuse(Miss::Refused(problem), command.position);
        }
        if command.name == "runFlow" {
            return match self.run_flow(command, scope) {
                Ok(()) => {}
                Err(miss) => self.refuse(miss, command.position),
            };
        }
        match convert(command, &mut Here { reader: self, scope }) {
            Ok(Converted { calls, optional, shows }) => {
                if shows.is_some() {
                    self.criterion = shows;
                }
                for (tool, args) in calls {
                    self.push(Step::new(tool, args), optional || scope.optional, command);
                }
            }
            Err(Miss::Feature(feature)) => self.without_counterpart(command, &feature, scope),
            Err(miss) => self.refuse(miss, command.position),
        }
    }

    fn push(&mut self, mut step: Step, optional: bool, command: &Command<'_>) {
        if self.steps.len() == STEPS_MAX {
            self.full = true;
            let message = format!("the flow has more than {STEPS_MAX} steps; make it two flows");
            let problem = Box::new(command.position.mark(Problem::new("too_large", "steps", message)));
            return self.refuse(Miss::Refused(problem), command.position);
        }
        step.optional = optional;
        let label = match command.value {
            Some(Node { value: Yaml::Mapping(pairs), .. }) => pairs
                .iter()
                .rfind(|(key, _)| key.scalar() == Some("label"))
                .and_then(|(_, node)| node.scalar()),
            _ => None,
        };
        step.note = label.map(str::trim).filter(|label| !label.is_empty()).map(str::to_owned);
        self.steps.push(step);
        self.places.push(self.outside(command.position));
    }

    /// Keeps a command that no tool does under its own name.
    fn without_counterpart(&mut self, command: &Command<'_>, feature: &str, scope: &Scope) {
        let name =
            if feature.is_empty() { command.name.to_owned() } else { format!("{}.{feature}", command.name) };
        let mut args = Map::new();
        let mut optional = scope.optional;
        let result = match command.value {
            None => Ok(()),
            Some(node @ Node { value: Yaml::Mapping(_), .. }) => {
                Fields::of(Some(node.clone())).rest().into_iter().try_for_each(|(key, value)| {
                    match key.as_str() {
                        "label" => {}
                        "optional" => optional |= boolean(&value).unwrap_or(false),
                        _ => drop(args.insert(key, self.value(&value, scope)?)),
                    }
                    Ok(())
                })
            }
            Some(node) => self.value(node, scope).map(|value| drop(args.insert("value".to_owned(), value))),
        };
        if let Err(miss) = result {
            return self.refuse(miss, command.position);
        }
        let with = if feature.is_empty() { String::new() } else { format!(" with `{feature}`") };
        let message = format!(
            "`{}`{with} has no counterpart among the device tools; the skill is unavailable until there is a tool {name:?}",
            command.name
        );
        self.warn("command_without_counterpart", &name, &message, command.position);
        self.push(Step::new(name, args), optional, command);
    }

    /// A value as it stands, with its variables as placeholders.
    fn value(&mut self, node: &Node, scope: &Scope) -> Result<Value, Miss> {
        Ok(match &node.value {
            Yaml::Scalar { .. } => Value::String(words::template(&self.expand(node, scope)?)),
            Yaml::Sequence(items) => {
                items.iter().map(|item| self.value(item, scope)).collect::<Result<_, Miss>>()?
            }
            Yaml::Mapping(_) => {
                let mut members = Map::new();
                for (key, value) in Fields::of(Some(node.clone())).rest() {
                    members.insert(key, self.value(&value, scope)?);
                }
                Value::Object(members)
            }
        })
    }

    /// `runFlow`: the commands of another file, or those that stand here, in this place.
    fn run_flow(&mut self, command: &Command<'_>, scope: &Scope) -> Result<(), Miss> {
        let mut inner = scope.clone();
        let first = self.steps.len();
        let mut fields = match command.value {
            Some(Node { value: Yaml::Mapping(_), .. }) => Fields::of(command.value.cloned()),
            _ => Fields::of(None),
        };
        let short = command.value.filter(|node| node.scalar().is_some()).cloned();
        let file = fields.take("file").or(short);
        let list = fields.take("commands");
        if let Some(node) = fields.take("optional") {
            let said = boolean(&node);
            inner.optional |= said.ok_or_else(|| misshapen(node.position, "`optional` is true or false"))?;
        }
        let label = fields.take("label").and_then(|node| node.scalar().map(str::to_owned));
        let mut given = BTreeMap::new();
        for (name, node) in env(fields.take("env"))? {
            given.insert(name, self.expand(&node, scope)?);
        }
        if let Some((key, node)) = fields.rest().into_iter().next() {
            return Err(misshapen(node.position, format!("`runFlow` has no `{key}`; take it out")).into());
        }
        match (file, list) {
            (Some(file), None) => self.run_file(&file, &inner, &given, command)?,
            (None, Some(Node { value: Yaml::Sequence(items), .. })) => {
                inner.variables.extend(given);
                self.commands(&items, &inner);
            }
            _ => {
                let message = "`runFlow` needs a `file` or a list of `commands`, and not both";
                return Err(misshapen(command.position, message).into());
            }
        }
        if let Some(step) = self.steps.get_mut(first)
            && step.note.is_none()
        {
            step.note = label;
        }
        Ok(())
    }

    fn run_file(
        &mut self,
        file: &Node,
        scope: &Scope,
        given: &BTreeMap<String, Vec<Piece>>,
        command: &Command<'_>,
    ) -> Result<(), Miss> {
        let refused = |code: &str, message: String| {
            Box::new(file.position.mark(Problem::new(code, "runFlow", message)))
        };
        let Some(written) = words::literal(&self.expand(file, scope)?) else {
            return Err(refused(
                "invalid_flow",
                "which flow to run must not depend on a value; name the file".to_owned(),
            )
            .into());
        };
        let from = self.files.last().map_or("", |(path, _)| path.as_str());
        let path = resolve_path(from, &written).ok_or_else(|| {
            let message = "the flow lies outside of the imported folder and is not read; move it in";
            refused("flow_outside_root", message.to_owned())
        })?;
        if self.files.iter().any(|(known, _)| *known == path) {
            return Err(refused("flow_cycle", format!("{path:?} runs itself; take the cycle out")).into());
        }
        if self.files.len() > FLOW_INLINE_DEPTH_MAX {
            let message =
                format!("flows that run flows are nested deeper than {FLOW_INLINE_DEPTH_MAX}; flatten them");
            return Err(refused("flow_too_deep", message).into());
        }
        self.inlined += 1;
        if self.inlined > FLOW_INLINES_MAX {
            self.full = true;
            let message = format!("more than {FLOW_INLINES_MAX} flows are run; make it two flows");
            return Err(refused("too_large", message).into());
        }
        let bytes = (self.load)(&path).map_err(|problem| {
            refused("flow_unreadable", format!("the flow {path:?} cannot be run: {}", problem.message))
        })?;
        let via = self.outside(command.position);
        self.files.push((path, via));
        match Document::read(&bytes) {
            Ok(document) => self.run(&document, scope.clone(), given),
            Err(problem) => self.refuse(Miss::Refused(problem), Position::START),
        }
        self.files.pop();
        Ok(())
    }

    /// The text of a node with the variables of a scope.
    fn expand(&mut self, node: &Node, scope: &Scope) -> Result<Vec<Piece>, Miss> {
        let Some(text) = node.scalar() else {
            return Err(misshapen(node.position, "a text belongs here").into());
        };
        let pieces =
            words::pieces(text).map_err(|expression| expression_problem(&expression, node.position))?;
        Ok(self.resolve(pieces, scope))
    }

    /// Replaces variables by what they stand for; those that stand for nothing become required parameters.
    fn resolve(&mut self, pieces: Vec<Piece>, scope: &Scope) -> Vec<Piece> {
        let mut out = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match &piece {
                Piece::Variable(name) => {
                    if let Some(value) = scope.variables.get(name) {
                        out.extend(value.iter().cloned());
                        continue;
                    }
                    if !self.parameters.iter().any(|parameter| parameter.name == *name) {
                        self.declare(name, None);
                    }
                    out.push(piece);
                }
                Piece::Text(_) => out.push(piece),
            }
        }
        out
    }

    /// The place in the imported file that leads to a place in the file that is read.
    fn outside(&self, position: Position) -> Position {
        match self.files.as_slice() {
            [.., (_, via)] if self.files.len() > 1 => *via,
            _ => position,
        }
    }

    /// A problem of the file that is read, told where it can be found in the imported one.
    fn told(&self, mut problem: Problem, position: Position) -> Problem {
        if self.files.len() < 2 {
            return if problem.line.is_some() { problem } else { position.mark(problem) };
        }
        let inner = Position {
            line: problem.line.unwrap_or(position.line),
            column: problem.column.unwrap_or(position.column),
        };
        let path = self.files.last().map_or("", |(path, _)| path.as_str());
        problem.message = format!("in {path}:{}:{}: {}", inner.line, inner.column, problem.message);
        self.outside(position).mark(problem)
    }

    fn refuse(&mut self, miss: Miss, position: Position) {
        let problem = match miss {
            Miss::Refused(problem) => *problem,
            Miss::Feature(feature) => {
                Problem::new("invalid_flow", feature, "this value has no counterpart here; take it out")
            }
        };
        let problem = self.told(problem, position);
        self.problems.push(problem);
    }

    fn warn(&mut self, code: &str, field: &str, message: &str, position: Position) {
        let problem = self.told(Problem::new(code, field, message), position);
        self.warnings.push(problem);
    }

    /// Adds the place of the step that a problem points into.
    fn placed(&self, problem: Problem, otherwise: Position) -> Problem {
        if problem.line.is_some() {
            return problem;
        }
        let step = problem
            .field
            .strip_prefix("/steps/")
            .and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
        step.and_then(|step| self.places.get(step)).copied().unwrap_or(otherwise).mark(problem)
    }
}

/// Where a command is converted.
struct Here<'h, 'a> {
    reader: &'h mut Reader<'a>,
    scope: &'h Scope,
}

impl Place for Here<'_, '_> {
    fn pieces(&mut self, node: &Node) -> Result<Vec<Piece>, Miss> {
        self.reader.expand(node, self.scope)
    }

    fn app(&self) -> Option<Vec<Piece>> {
        self.scope.app.clone()
    }

    fn warn(&mut self, code: &str, field: &str, message: &str, position: Position) {
        self.reader.warn(code, field, message, position);
    }
}

/// One item of the list: a word, a name with its value, or `action: word`.
fn command(item: &Node) -> Result<Command<'_>, Box<Problem>> {
    let (name, value) = match &item.value {
        Yaml::Scalar { text, .. } => (text.as_str(), None),
        Yaml::Mapping(pairs) => match pairs.as_slice() {
            [(key, value)] if key.scalar() == Some("action") && value.scalar().is_some() => {
                (value.scalar().unwrap_or_default(), None)
            }
            [(key, value)] => (key.scalar().unwrap_or_default(), Some(value)),
            _ => {
                return Err(misshapen(
                    item.position,
                    "a command has one name; begin each with `- ` on a line of its own",
                ));
            }
        },
        Yaml::Sequence(_) => return Err(misshapen(item.position, "a list stands where a command belongs")),
    };
    let word = name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !word || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        let problem = misshapen(item.position, "this is no command; a command is a word such as `tapOn`");
        return Err(Box::new(problem.got(name)));
    }
    Ok(Command { name, value, position: item.position })
}

fn expression_problem(expression: &str, position: Position) -> Box<Problem> {
    let message = "an expression cannot be computed in a flow template; use a plain `${NAME}`, which becomes a parameter";
    Box::new(position.mark(Problem::new("flow_expression", "", message).got(expression)))
}

/// A path as a flow names it, from the flow's own folder, as a path below the root; `None` outside of it.
fn resolve_path(from: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    let written = written.trim();
    if written.starts_with('/') || written.contains(['\\', '\0', ':']) {
        return None;
    }
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
