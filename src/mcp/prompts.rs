//! Prompts (knowledge skills whose author says `metadata.prompt = "true"`) and completions.

use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, GetPromptResult, JsonObject,
    ListPromptsResult, Prompt, PromptMessage, Reference, Role,
};
use serde_json::{Value, json};

use crate::catalog::{Filter, Look};
use crate::error::shorten;
use crate::limits::{LIST_LIMIT_MAX, MCP_COMPLETIONS_MAX, MCP_PAGE_SKILLS};
use crate::mcp::resources::{TEMPLATE, failed, is_prompt};
use crate::model::Kind;

/// The template as other servers write it; taken as well.
const PLAIN_TEMPLATE: &str = "skill://{id}/SKILL.md";

/// `prompts/list`
pub(super) fn list(look: &Look, cursor: Option<&str>) -> Result<ListPromptsResult, ErrorData> {
    let filter = Filter::default().kind(Kind::Knowledge);
    let mut prompts = Vec::new();
    let mut next = cursor.map(str::to_owned);
    // Few skills are prompts: pages of skills are read until there is a page of prompts.
    loop {
        let page = look
            .list(&filter, LIST_LIMIT_MAX.min(MCP_PAGE_SKILLS * 20), next.as_deref())
            .map_err(|error| failed(&error))?;
        for skill in page.skills.iter().filter(|skill| is_prompt(skill)) {
            prompts.push(Prompt::new(skill.id(), Some(skill.description()), None).with_title(skill.name()));
        }
        next = page.next_cursor;
        if next.is_none() || prompts.len() >= MCP_PAGE_SKILLS {
            break;
        }
    }
    let mut result = ListPromptsResult::with_all_items(prompts);
    result.next_cursor = next;
    Ok(result)
}

/// `prompts/get`
pub(super) fn get(
    look: &Look,
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let found = look.get(name).map_err(|error| failed(&error))?.filter(is_prompt);
    let Some(skill) = found else {
        return Err(ErrorData::invalid_params("Unknown prompt", Some(json!({"name": shorten(name)}))));
    };
    if arguments.is_some_and(|arguments| !arguments.is_empty()) {
        return Err(ErrorData::invalid_params("the prompt takes no arguments", None));
    }
    let content = skill.content().map_err(|error| failed(&error))?;
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, content)])
        .with_description(skill.description()))
}

/// `completion/complete`: ids of skills for the template's `id`, and with an id in the context the values of a flow
/// template's parameter that has a fixed set of them. Anything else completes to nothing.
pub(super) fn complete(look: &Look, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let template = match &request.r#ref {
        Reference::Prompt(prompt) => {
            // A prompt of ours has no arguments; an unknown one is the caller's mistake.
            get(look, &prompt.name, None)?;
            return values(Vec::new(), false);
        }
        Reference::Resource(resource) => resource.uri.as_str(),
        _ => {
            return Err(ErrorData::invalid_params("only prompts and resource templates are completed", None));
        }
    };
    if template != TEMPLATE && template != PLAIN_TEMPLATE {
        return Err(ErrorData::invalid_params(
            "Unknown resource template",
            Some(json!({"uri": shorten(template)})),
        ));
    }
    let written = &request.argument.value;
    if request.argument.name == "id" {
        return ids(look, written);
    }
    let chosen = request.context.as_ref().and_then(|context| context.arguments.as_ref());
    let Some(id) = chosen.and_then(|arguments| arguments.get("id")) else { return values(Vec::new(), false) };
    let Some(skill) = look.get(id).map_err(|error| failed(&error))? else { return values(Vec::new(), false) };
    let skill = skill.to_skill().map_err(|error| failed(&error))?;
    let parameter = skill.parameters.iter().find(|parameter| parameter.name == request.argument.name);
    let allowed = parameter.and_then(|parameter| parameter.choices.as_deref()).unwrap_or_default();
    let texts = allowed.iter().map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let fitting: Vec<_> = texts.filter(|text| text.starts_with(written.as_str())).collect();
    let more = fitting.len() > MCP_COMPLETIONS_MAX;
    values(fitting.into_iter().take(MCP_COMPLETIONS_MAX).collect(), more)
}

/// Ids that begin with what was written, then those of skills whose name or alias does.
fn ids(look: &Look, written: &str) -> Result<CompleteResult, ErrorData> {
    let limit = MCP_COMPLETIONS_MAX + 1;
    let found = if written.is_empty() {
        let page = look.list(&Filter::default(), limit, None).map_err(|error| failed(&error))?;
        page.skills.iter().map(|skill| skill.id().to_owned()).collect::<Vec<_>>()
    } else {
        let skills = look.prefix(written, limit).map_err(|error| failed(&error))?;
        skills.iter().map(|skill| skill.id().to_owned()).collect()
    };
    let more = found.len() > MCP_COMPLETIONS_MAX;
    let (mut first, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(|id| id.starts_with(written));
    first.extend(rest);
    first.truncate(MCP_COMPLETIONS_MAX);
    values(first, more)
}

fn values(values: Vec<String>, more: bool) -> Result<CompleteResult, ErrorData> {
    let total = (!more).then(|| u32::try_from(values.len()).unwrap_or(u32::MAX));
    CompletionInfo::with_pagination(values, total, more)
        .map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}
