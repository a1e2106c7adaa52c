//! The compiled form of a flow template: what snapshots archive and `resolve` runs.
//!
//! A program is flat: one text pool, a list of operations, a row for each step and for each parameter. Resolving is the
//! concatenation of pieces of the pool and of rendered values; nothing is parsed and nothing recurses, so a hostile
//! archive can neither overflow a stack nor make it run longer than its own length.
//!
//! **Invariant**: code that reads an [`ArchivedProgram`] takes every index and span in it as untrusted.

use crate::error::Problem;
use crate::model::ParameterType;

/// Parsed steps, ready to be archived and run without parsing.
#[derive(Clone, Debug, Default, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Program {
    /// Every text of the program, one after the other.
    pub(crate) text: String,
    /// The operations of all steps.
    pub(crate) ops: Vec<Op>,
    /// The steps in order.
    pub(crate) steps: Vec<StepRow>,
    /// The declared parameters in order.
    pub(crate) parameters: Vec<ParameterRow>,
    /// Values that parameters are restricted to.
    pub(crate) choices: Vec<Span>,
    /// What must hold for a value beyond its parameter's own rules.
    pub(crate) guards: Vec<Guard>,
    /// Fingerprint of the tool registry that the steps were checked against.
    pub(crate) registry: [u8; 32],
}

/// A half-open range, of bytes in the text pool or of rows in another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) struct Span {
    /// First.
    pub(crate) start: u32,
    /// One after the last.
    pub(crate) end: u32,
}

/// One piece of a resolved step's JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) enum Op {
    /// JSON text as it stands in the pool.
    Raw(Span),
    /// The value of a parameter as a JSON value.
    Value(u16),
    /// The value of a parameter inside a JSON string.
    Text(u16),
    /// A comma, unless nothing stands before it in its array or object.
    Separator,
    /// The next operations run only if the parameter has a value.
    Optional {
        /// The parameter.
        parameter: u16,
        /// How many operations are skipped otherwise.
        ops: u32,
    },
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) struct StepRow {
    /// Its operations: they write the JSON object up to and with the arguments.
    pub(crate) ops: Span,
    /// Its guards.
    pub(crate) guards: Span,
    /// Further members (note, optional), each with a comma before it.
    pub(crate) tail: Span,
    /// Bytes of its text before the tool's name.
    pub(crate) tool_start: u32,
    /// Bytes of its text before the end of the tool's name.
    pub(crate) tool_end: u32,
    /// Bytes of its text before the arguments.
    pub(crate) args_start: u32,
    /// The values alone do not prove that the tool's schema holds: check the resolved step in full.
    pub(crate) recheck: bool,
}

/// One declared parameter.
#[derive(Clone, Copy, Debug, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) struct ParameterRow {
    /// Its name.
    pub(crate) name: Span,
    /// What it means; empty for nothing.
    pub(crate) description: Span,
    /// JSON type.
    pub(crate) kind: ValueKind,
    /// A value must be given.
    pub(crate) required: bool,
    /// Its value is never shown.
    pub(crate) secret: bool,
    /// The default in rendered form: escaped text of a string, JSON text of anything else.
    pub(crate) default: Option<Span>,
    /// Rows of the table of choices.
    pub(crate) choices: Option<Span>,
    /// Regular expression.
    pub(crate) pattern: Option<Span>,
    /// Smallest number.
    pub(crate) minimum: Option<f64>,
    /// Largest number.
    pub(crate) maximum: Option<f64>,
    /// Fewest characters.
    pub(crate) min_length: Option<u32>,
    /// Most characters.
    pub(crate) max_length: Option<u32>,
}

/// JSON type of a parameter in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) enum ValueKind {
    /// Text.
    String,
    /// Whole number.
    Integer,
    /// Any finite number.
    Number,
    /// `true` or `false`.
    Boolean,
}

impl From<ParameterType> for ValueKind {
    fn from(kind: ParameterType) -> Self {
        match kind {
            ParameterType::String => Self::String,
            ParameterType::Integer => Self::Integer,
            ParameterType::Number => Self::Number,
            ParameterType::Boolean => Self::Boolean,
        }
    }
}

/// A cheap test of a given value: if it fails, the step is checked in full.
#[derive(Clone, Copy, Debug, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) struct Guard {
    /// The parameter.
    pub(crate) parameter: u16,
    /// Smallest number, or fewest characters of a string.
    pub(crate) least: f64,
    /// Largest number, or most characters of a string.
    pub(crate) most: f64,
}

/// Writes a program; keeps neighbouring raw text in one operation.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    pub(crate) program: Program,
    /// Raw text is not appended to operations before this one: they belong to a conditional part.
    barrier: usize,
}

impl Builder {
    /// Puts text into the pool.
    pub(crate) fn text(&mut self, text: &str) -> Span {
        let start = offset(self.program.text.len());
        self.program.text.push_str(text);
        Span { start, end: offset(self.program.text.len()) }
    }

    /// Appends JSON text.
    pub(crate) fn raw(&mut self, text: &str) {
        let added = self.text(text);
        if self.program.ops.len() > self.barrier
            && let Some(Op::Raw(last)) = self.program.ops.last_mut()
            && last.end == added.start
        {
            last.end = added.end;
        } else {
            self.program.ops.push(Op::Raw(added));
        }
    }

    /// Appends an operation.
    pub(crate) fn push(&mut self, op: Op) {
        self.program.ops.push(op);
    }

    /// Begins a part that runs only if a parameter has a value; answers what `end_optional` takes.
    pub(crate) fn begin_optional(&mut self, parameter: u16) -> usize {
        self.program.ops.push(Op::Optional { parameter, ops: 0 });
        self.barrier = self.program.ops.len();
        self.barrier
    }

    /// Ends the part.
    pub(crate) fn end_optional(&mut self, begin: usize) {
        let skipped = offset(self.program.ops.len().saturating_sub(begin));
        if let Some(Op::Optional { ops, .. }) =
            begin.checked_sub(1).and_then(|at| self.program.ops.get_mut(at))
        {
            *ops = skipped;
        }
        self.barrier = self.program.ops.len();
    }

    /// Begins a step: no text runs over from the one before.
    pub(crate) fn begin_step(&mut self) -> u32 {
        self.barrier = self.program.ops.len();
        offset(self.barrier)
    }
}

/// A length as the archive holds it. The limits of the model keep programs far below 4 GiB.
pub(crate) fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// What ingest learns about a skill against a tool registry.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The steps as flat programs; empty for knowledge and for a flow that is unavailable.
    pub program: Program,
    /// Why the skill is unavailable on this registry; empty if it is usable.
    pub unavailable: Vec<Problem>,
    /// Accepted, but to be told (`unused_parameter`, ...).
    pub warnings: Vec<Problem>,
    /// Highest risk of the tools that it names (`None` where it names none).
    pub tool_risk: Option<crate::model::Risk>,
    /// What it may use, sorted: canonical tool names, and aliases such as `press_back` where only their fixed arguments
    /// are permitted. Declared, or derived for a flow. `None` = no restriction. Each entry is read back with
    /// [`Permission::parse`](crate::tools::Permission::parse).
    pub effective_tools: Option<Vec<String>>,
}
