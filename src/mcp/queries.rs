//! One thin function for each tool: checked arguments in, a query on a look, an answer out.

use rmcp::model::CallToolResult;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::catalog::{Filter, Look, SkillRef, Why};
use crate::error::{Error, counted};
use crate::flow::ResolvedStep;
use crate::limits::MCP_DESCRIPTION_CHARS_MAX;
use crate::mcp::answer::Form;
use crate::mcp::arguments::{ArgumentProblem, Values};
use crate::mcp::failure::Failure;
use crate::mcp::table::{LIST_DEFAULT, SEARCH_DEFAULT};
use crate::model::{Kind, Risk, Skill};
use crate::tools::ExactCommand;

/// The function behind a tool.
pub(super) type Query = fn(&Look, &Values<'_>, Form) -> Result<CallToolResult, Failure>;

/// One skill in a list.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    name: &'a str,
    description: String,
    kind: Kind,
    tags: Vec<&'a str>,
    risk: Risk,
    /// Only where the tools make it higher than what the author declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_risk: Option<Risk>,
}

#[derive(Serialize)]
struct RankedRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    score: f64,
    why: Vec<Why>,
}

#[derive(Serialize)]
struct ListAnswer<'a> {
    state: &'static str,
    skills: Vec<Row<'a>>,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct SearchAnswer<'a> {
    state: &'static str,
    skills: Vec<RankedRow<'a>>,
    total: u64,
}

#[derive(Serialize)]
struct MatchAnswer<'a> {
    state: &'static str,
    matched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<Row<'a>>,
    confidence: f64,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact_command: Option<ExactCommand>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<&'a str>,
}

#[derive(Serialize)]
struct GetAnswer {
    state: &'static str,
    skill: FullSkill,
}

/// The canonical members of a skill with what its place adds. `risk` replaces the declared one.
#[derive(Serialize)]
struct FullSkill {
    #[serde(flatten)]
    skill: Map<String, Value>,
    effective_risk: Risk,
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_tools: Option<Vec<String>>,
    layer: &'static str,
    digest: String,
}

#[derive(Serialize)]
struct ResolveAnswer<'a> {
    state: &'static str,
    id: &'a str,
    steps: Vec<ResolvedStep>,
}

/// `list_skills`
pub(super) fn list(look: &Look, values: &Values<'_>, form: Form) -> Result<CallToolResult, Failure> {
    let limit = usize_of(values.count("limit").unwrap_or(LIST_DEFAULT));
    let page = look
        .list(&filter(values), limit, values.text("cursor"))
        .map_err(|error| failed("list_skills", error))?;
    let skills: Vec<_> = page.skills.iter().map(row).collect();
    let brief = brief_list(skills.iter().map(|row| row.id), page.total);
    form.write(
        &ListAnswer { state: look.sync_state(), skills, total: page.total, next_cursor: page.next_cursor },
        brief,
    )
}

/// `search_skills`
pub(super) fn search(look: &Look, values: &Values<'_>, form: Form) -> Result<CallToolResult, Failure> {
    let limit = usize_of(values.count("limit").unwrap_or(SEARCH_DEFAULT));
    let query = values.text("query").unwrap_or_default();
    let page = look.search(query, &filter(values), limit).map_err(|error| failed("search_skills", error))?;
    let mut skills = Vec::with_capacity(page.hits.len());
    for hit in page.hits {
        let why = hit.skill.why(query).map_err(|error| failed("search_skills", error))?;
        skills.push(RankedRow { row: row(&hit.skill), score: rounded(hit.score), why });
    }
    let brief = brief_list(skills.iter().map(|ranked| ranked.row.id), page.total);
    form.write(&SearchAnswer { state: look.sync_state(), skills, total: page.total }, brief)
}

/// `match_skill`
pub(super) fn match_request(look: &Look, values: &Values<'_>, form: Form) -> Result<CallToolResult, Failure> {
    let request = values.text("request").unwrap_or_default();
    let found = look.match_request(request).map_err(|error| failed("match_skill", error))?;
    let confidence = rounded(found.confidence);
    let brief = match &found.skill {
        Some(skill) => format!("{} (confidence {confidence}): {}", skill.id(), found.reason),
        None => format!("No skill: {}", found.reason),
    };
    let answer = MatchAnswer {
        state: look.sync_state(),
        matched: found.skill.is_some(),
        skill: found.skill.as_ref().map(row),
        confidence,
        reason: found.reason,
        exact_command: found.exact_command,
        candidates: found.candidates.iter().map(SkillRef::id).collect(),
    };
    form.write(&answer, brief)
}

/// `get_skill`
pub(super) fn get(look: &Look, values: &Values<'_>, form: Form) -> Result<CallToolResult, Failure> {
    let found = usable(look, "get_skill", values.text("id").unwrap_or_default())?;
    let mut skill = found.to_skill().map_err(|error| failed("get_skill", error))?;
    skill.risk = Some(found.risk());
    // Ids of other skills, which this caller may not see.
    skill.derived_from.clear();
    let brief = match found.kind() {
        Kind::Knowledge => {
            format!("{}: knowledge, {} of content", found.id(), counted(skill.content.len() as u64, "byte"))
        }
        Kind::FlowTemplate => {
            format!("{}: flow template, {}", found.id(), counted(skill.steps.len() as u64, "step"))
        }
    };
    let skill = FullSkill {
        skill: canonical(&skill)?,
        effective_risk: found.effective_risk(),
        effective_tools: found.effective_tools(),
        layer: found.layer().name(),
        digest: hexadecimal(found.digest()),
    };
    form.write(&GetAnswer { state: look.sync_state(), skill }, brief)
}

/// `resolve_skill`
pub(super) fn resolve(look: &Look, values: &Values<'_>, form: Form) -> Result<CallToolResult, Failure> {
    let found = usable(look, "resolve_skill", values.text("id").unwrap_or_default())?;
    if found.kind() == Kind::Knowledge {
        let message = "the skill is knowledge and has no steps; read it with get_skill".to_owned();
        let problem =
            ArgumentProblem { message: Some(message), ..ArgumentProblem::new("id", "not_a_flow_template") };
        return Err(Failure::arguments("resolve_skill", &[problem]));
    }
    let none = Map::new();
    let given = values.object("parameters").unwrap_or(&none);
    let steps = look.resolve(found.id(), given).map_err(|error| failed("resolve_skill", error))?;
    let tools: Vec<_> = steps.iter().map(|step| step.tool.as_str()).collect();
    let brief = format!("{}: {}", counted(steps.len() as u64, "step"), tools.join(", "));
    form.write(&ResolveAnswer { state: look.sync_state(), id: found.id(), steps }, brief)
}

/// The members of a skill as its canonical JSON has them: a bound of 50 is `50`, not `50.0`.
fn canonical(skill: &Skill) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(&skill.canonical_json()).map_err(|error| {
        tracing::error!(%error, skill = skill.id, "a skill cannot be written as JSON");
        Failure::internal()
    })
}

/// The skill of that id, if the caller may see it and this deployment can use it.
fn usable<'a>(look: &'a Look, tool: &str, id: &str) -> Result<SkillRef<'a>, Failure> {
    let found = look.get(id).map_err(|error| failed(tool, error))?.ok_or_else(|| Failure::not_found(id))?;
    let reasons: Vec<_> = found.unavailable().iter().map(ToString::to_string).collect();
    if reasons.is_empty() { Ok(found) } else { Err(Failure::unavailable(found.id(), reasons)) }
}

fn failed(tool: &str, error: Error) -> Failure {
    Failure::from_error(tool, error)
}

fn filter(values: &Values<'_>) -> Filter {
    Filter {
        kind: values
            .text("kind")
            .map(|kind| if kind == "knowledge" { Kind::Knowledge } else { Kind::FlowTemplate }),
        tag: values.text("tag").map(str::to_owned),
        app: values.text("app").map(str::to_owned),
        ..Filter::default()
    }
}

fn row<'a>(skill: &SkillRef<'a>) -> Row<'a> {
    let (risk, effective) = (skill.risk(), skill.effective_risk());
    Row {
        id: skill.id(),
        name: skill.name(),
        description: cut(skill.description()),
        kind: skill.kind(),
        tags: skill.tags().collect(),
        risk,
        effective_risk: (effective != risk).then_some(effective),
    }
}

/// A description as lists show it.
fn cut(description: &str) -> String {
    match description.char_indices().nth(MCP_DESCRIPTION_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &description[..end]),
        None => description.to_owned(),
    }
}

/// The short text of a list: ids only, since their grammar leaves no room for anything that reads as an order.
fn brief_list<'a>(ids: impl Iterator<Item = &'a str>, total: u64) -> String {
    let ids: Vec<_> = ids.collect();
    if ids.is_empty() {
        return "0 skills".to_owned();
    }
    format!("{} of {}: {}", ids.len(), counted(total, "skill"), ids.join(", "))
}

/// Three decimals: what is behind them is noise, and `0.1_f32` would be written with it.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 1_000.0).round() / 1_000.0
}

/// Lower-case hexadecimal digits.
pub(in crate::mcp) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A count that the table has bounded already.
fn usize_of(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_description_is_cut_between_characters() {
        let exact = "\u{4e2d}".repeat(MCP_DESCRIPTION_CHARS_MAX);
        assert_eq!(cut(&exact), exact);
        let cut_text = cut(&format!("{exact}\u{4e2d}"));
        assert_eq!(cut_text, format!("{exact}..."));
    }

    #[test]
    fn scores_are_written_without_noise() {
        assert_eq!(serde_json::json!(rounded(0.1)).to_string(), "0.1");
        assert_eq!(serde_json::json!(rounded(12.345_678)).to_string(), "12.346");
        assert_eq!(serde_json::json!(rounded(f32::NAN)).to_string(), "null");
    }

    #[test]
    fn the_short_text_of_a_list_names_ids_only() {
        assert_eq!(brief_list(std::iter::empty(), 0), "0 skills");
        assert_eq!(brief_list(["a/b", "c"].into_iter(), 12), "2 of 12 skills: a/b, c");
    }
}
