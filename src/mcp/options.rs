//! What a server offers and to whom.

use std::sync::Arc;

use crate::device::Devices;
use crate::entitlement::Narrowing;
use crate::error::Problem;
use crate::guard::GuardOptions;
use crate::mcp::arguments::nearest;
use crate::mcp::scope::USE_SKILL;
use crate::mcp::table::TOOLS;
use crate::tools::ToolRegistry;

/// How a [`Server`](crate::mcp::Server) is set up; the default offers every tool with the deployment's sight.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Which tools `tools/list` shows and `tools/call` takes.
    pub tools: ToolFilter,
    /// How the callers' sight is narrower than the deployment's.
    pub narrowing: Narrowing,
    /// Repeat every structured result in full as text. By default a client that knows `structuredContent` gets a
    /// short text beside it; some hosts hand only the text to their model, and need this.
    pub full_text: bool,
    /// The phones of the device tools; without them only the query tools are offered.
    pub devices: Option<Arc<Devices>>,
    /// Policy, pinned skill and observer of the device calls.
    pub guard: GuardOptions,
}

impl ServerOptions {
    /// Sets which tools are offered.
    #[must_use]
    pub fn tools(mut self, tools: ToolFilter) -> Self {
        self.tools = tools;
        self
    }

    /// Narrows what callers see.
    #[must_use]
    pub fn narrowing(mut self, narrowing: Narrowing) -> Self {
        self.narrowing = narrowing;
        self
    }

    /// Sets the phones of the device tools.
    #[must_use]
    pub fn devices(mut self, devices: Arc<Devices>) -> Self {
        self.devices = Some(devices);
        self
    }

    /// Sets policy, pinned skill and observer of the device calls.
    #[must_use]
    pub fn guard(mut self, guard: GuardOptions) -> Self {
        self.guard = guard;
        self
    }

    /// Sets whether structured results are repeated in full as text.
    #[must_use]
    pub fn full_text(mut self, full_text: bool) -> Self {
        self.full_text = full_text;
        self
    }
}

/// A choice of tools: `skills`, `device`, `all`, or names with commas between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    choice: Choice,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Choice {
    #[default]
    All,
    Skills,
    Device,
    /// Canonical names.
    Names(Vec<String>),
}

impl ToolFilter {
    /// Reads `skills`, `device`, `all` or a list of tool names.
    ///
    /// # Errors
    /// One problem for each unknown name, with the nearest known one; one for a list that names nothing.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        let choice = match text.trim() {
            "all" => Choice::All,
            "skills" => Choice::Skills,
            "device" => Choice::Device,
            list => Choice::Names(parse_names(list)?),
        };
        Ok(Self { choice })
    }

    /// Whether a query tool, or `use_skill`, is offered.
    pub(super) fn allows_query(&self, name: &str) -> bool {
        match &self.choice {
            Choice::All | Choice::Skills => true,
            Choice::Device => false,
            Choice::Names(names) => names.iter().any(|known| known == name),
        }
    }

    /// Whether a device tool is offered, by its canonical name.
    pub(super) fn allows_device(&self, name: &str) -> bool {
        match &self.choice {
            Choice::All | Choice::Device => true,
            Choice::Skills => false,
            Choice::Names(names) => names.iter().any(|known| known == name),
        }
    }
}

/// Tool names of a list with commas, each checked against the tables.
fn parse_names(list: &str) -> Result<Vec<String>, Vec<Problem>> {
    let registry = ToolRegistry::builtin();
    let mut names = Vec::new();
    let mut problems = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if query_names().any(|known| known == name) {
            names.push(name.to_owned());
        } else if let Some(resolved) = registry.resolve(name) {
            names.push(resolved.spec.name.clone());
        } else {
            problems.push(unknown_tool(name, &registry));
        }
    }
    if names.is_empty() && problems.is_empty() {
        problems.push(
            Problem::new("missing", "tools", "no tool is named")
                .allowed("skills, device, all, or tool names with commas between them"),
        );
    }
    if problems.is_empty() { Ok(names) } else { Err(problems) }
}

fn query_names<'n>() -> impl Iterator<Item = &'n str> {
    TOOLS.iter().map(|tool| tool.name).chain([USE_SKILL])
}

fn unknown_tool(name: &str, registry: &ToolRegistry) -> Problem {
    let device = registry.specs().map(|spec| spec.name.as_str());
    let message = match nearest(name, query_names().chain(device)) {
        Some(known) => format!("there is no such tool; the nearest is {known:?}"),
        None => "there is no such tool".to_owned(),
    };
    let known: Vec<_> = query_names().collect();
    Problem::new("unknown_tool", "tools", message)
        .got(name)
        .allowed(format!("skills, device, all, {}, or the name of a device tool", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Vec<&'static str> {
        let filter = ToolFilter::parse(text).expect("a filter");
        TOOLS.iter().map(|tool| tool.name).filter(|name| filter.allows_query(name)).collect()
    }

    #[test]
    fn a_filter_names_groups_or_single_tools() {
        let all: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(chosen("all"), all);
        assert_eq!(chosen("skills"), all);
        assert_eq!(chosen("device"), Vec::<&str>::new());
        assert_eq!(chosen(" get_skill, list_skills,"), ["list_skills", "get_skill"]);
        let named = ToolFilter::parse("use_skill,open_app").expect("a filter");
        assert!(
            named.allows_query("use_skill")
                && named.allows_device("launch_app")
                && !named.allows_device("tap")
        );
        let device = ToolFilter::parse("device").expect("a filter");
        assert!(
            device.allows_device("tap")
                && !ToolFilter::parse("skills").expect("a filter").allows_device("tap")
        );
    }

    #[test]
    fn every_unknown_tool_name_is_named_with_the_nearest_known_one() {
        let problems = ToolFilter::parse("get_skil,list_skills,frobnicate").expect_err("two unknown names");
        assert_eq!(problems.len(), 2);
        assert!(problems[0].message.contains("\"get_skill\""), "{problems:?}");
        assert!(ToolFilter::parse(",").is_err(), "a filter that names nothing is a mistake");
    }
}
