//! Flow templates: parsed once at ingest, checked against the tool registry, resolved all or nothing.

// --- interface stubs (owner: flow helper; to be moved to files of their own: parse, program, check, resolve) ---
use crate::error::Problem;
use crate::model::{Parameter, Risk, Skill};
use crate::tools::ToolRegistry;
use serde_json::{Map, Value};

/// What ingest learns about a skill against a tool registry.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The steps as flat programs; empty for knowledge.
    pub program: Program,
    /// Why the skill is unavailable on this registry; empty if it is usable.
    pub unavailable: Vec<Problem>,
    /// Accepted, but to be told (`unused_parameter`, ...).
    pub warnings: Vec<Problem>,
    /// Highest risk of the tools that it names (`None` where it names none).
    pub tool_risk: Option<Risk>,
    /// Canonical names of the tools it may use, sorted: declared, or derived for a flow. `None` = no restriction.
    pub effective_tools: Option<Vec<String>>,
}

/// Parsed steps, ready to be archived (rkyv) and run without parsing.
#[derive(Clone, Debug, Default, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Program {
    /// placeholder until the owner designs it
    pub steps: Vec<u8>,
}

/// Parses and checks a skill's templates and tool names. Template grammar errors, undefined placeholders, unknown
/// tools and literals that a schema refuses go to `unavailable`; nothing here fails.
#[must_use]
pub fn compile(skill: &Skill, registry: &ToolRegistry) -> Compiled {
    let _ = (skill, registry);
    unimplemented!()
}

/// One resolved step.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ResolvedStep {
    /// Canonical tool name.
    pub tool: String,
    /// Arguments, all placeholders substituted.
    pub args: Value,
    /// For the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The agent may skip it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// An argument came from a secret parameter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// Resolves an archived program with values; every problem is listed.
pub fn resolve(
    program: &ArchivedProgram,
    parameters: &[Parameter],
    values: &Map<String, Value>,
    registry: &ToolRegistry,
) -> Result<Vec<ResolvedStep>, Vec<Problem>> {
    let _ = (program, parameters, values, registry);
    unimplemented!()
}
