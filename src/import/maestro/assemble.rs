//! What the walk has collected, as a skill.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::Problem;
use crate::flow::{Segment, Template};
use crate::import::identity::one_line;
use crate::import::maestro::Document;
use crate::import::maestro::reader::Reader;
use crate::import::tree::{Node, Value as Yaml};
use crate::import::workflow::{exact, retype};
use crate::limits::{CRITERION_CHARS_MAX, DESCRIPTION_CHARS_ADVISED};
use crate::model::{App, Kind, Skill, slug};

impl Reader<'_> {
    /// The skill, with its rules not yet checked; takes what the walk has collected.
    pub(super) fn assemble(&mut self, document: &Document, path: &str) -> Skill {
        let config = &document.config;
        let stem = path.rsplit('/').next().unwrap_or(path);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let name = one_line(config.name.as_deref().unwrap_or(stem));
        let id = Some(slug(&name)).filter(|id| !id.is_empty()).unwrap_or_else(|| slug(stem));
        let app = config.app.as_ref().and_then(Node::scalar).filter(|app| !app.contains("${"));
        let mut description = one_line(&document.comment);
        if description.is_empty() {
            let place = app.map(|app| format!(" in {app}")).unwrap_or_default();
            description = format!("{name}: a flow{place}.");
            let message =
                "a flow has no description; write a comment above its configuration that says what it is for";
            self.warnings.push(Problem::new("description_defaulted", "description", message).at(1, 1));
        }
        let description = description.chars().take(DESCRIPTION_CHARS_ADVISED).collect::<String>();
        let mut skill = Skill::new(id, Kind::FlowTemplate, name, description);
        skill.tags.clone_from(&config.tags);
        skill.tags.retain(|tag| !tag.is_empty());
        skill.apps = app.map(App::new).into_iter().collect();
        for (key, value) in
            config.url.iter().map(|url| ("url", url)).chain(config.rest.iter().map(|(k, v)| (k.as_str(), v)))
        {
            skill.metadata.insert(key.to_owned(), plain(value));
        }
        skill.success_criteria = self
            .criterion
            .take()
            .map(|text| text.chars().take(CRITERION_CHARS_MAX).collect())
            .into_iter()
            .collect();
        self.type_parameters();
        skill.steps = std::mem::take(&mut self.steps);
        skill.parameters = std::mem::take(&mut self.parameters);
        skill
    }

    /// Gives a parameter the type of the arguments that it fills, where it is the whole of each and they agree.
    fn type_parameters(&mut self) {
        let mut uses: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
        for step in &self.steps {
            let spec = self.registry.resolve(&step.tool).map(|resolved| resolved.spec);
            for (key, value) in &step.args_template {
                let Some(template) = value.as_str().and_then(|text| Template::parse(text).ok()) else {
                    continue;
                };
                let wanted =
                    spec.and_then(|spec| spec.argument(key)).and_then(|schema| schema["type"].as_str());
                let whole = template.whole().is_some();
                for parameter in &self.parameters {
                    let named = |part: &Segment| matches!(part, Segment::Placeholder(name) if *name == parameter.name);
                    if template.segments().iter().any(named) {
                        uses.entry(&parameter.name).or_default().push(wanted.filter(|_| whole));
                    }
                }
            }
        }
        let agreed: Vec<(String, Option<String>)> = uses
            .into_iter()
            .filter(|(_, wanted)| wanted.windows(2).all(|pair| pair[0] == pair[1]))
            .map(|(name, wanted)| (name.to_owned(), wanted[0].map(str::to_owned)))
            .collect();
        for parameter in &mut self.parameters {
            if let Some((_, wanted)) = agreed.iter().find(|(name, _)| *name == parameter.name) {
                let fits = parameter
                    .default
                    .as_ref()
                    .and_then(Value::as_str)
                    .is_none_or(|text| exact(text, wanted.as_deref()).is_some());
                if fits {
                    retype(parameter, wanted.as_deref());
                }
            }
        }
    }
}

/// A value as JSON, for the metadata.
fn plain(node: &Node) -> Value {
    match &node.value {
        Yaml::Scalar { text, .. } => Value::String(text.clone()),
        Yaml::Sequence(items) => items.iter().map(plain).collect(),
        Yaml::Mapping(pairs) => pairs
            .iter()
            .map(|(key, value)| (key.scalar().unwrap_or_default().to_owned(), plain(value)))
            .collect(),
    }
}
