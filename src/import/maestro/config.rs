//! The first document of a flow: what it is called, which app it drives, what can be set.

use crate::error::Problem;
use crate::import::maestro::fields::{Fields, misshapen};
use crate::import::text::Position;
use crate::import::tree::{Node, Value};

/// The keys that a configuration may hold.
pub(crate) const CONFIG_KEYS: [&str; 7] =
    ["appId", "url", "name", "tags", "env", "onFlowStart", "onFlowComplete"];

/// A configuration.
#[derive(Default)]
pub(crate) struct Config {
    /// Package of the app.
    pub(crate) app: Option<Node>,
    /// Address of a web flow.
    pub(crate) url: Option<Node>,
    pub(crate) name: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) env: Vec<(String, Node)>,
    /// Commands before and after.
    pub(crate) start: Vec<Node>,
    pub(crate) complete: Vec<Node>,
    /// Everything else.
    pub(crate) rest: Vec<(String, Node)>,
    /// Keys that stand twice.
    pub(crate) doubled: Vec<(String, Position)>,
}

impl Config {
    /// Reads a configuration; nothing is an empty one.
    pub(crate) fn read(node: Option<Node>) -> Result<Self, Box<Problem>> {
        let Some(node) = node.filter(|node| !node.is_missing()) else { return Ok(Self::default()) };
        if !matches!(node.value, Value::Mapping(_)) {
            return Err(misshapen(
                node.position,
                "the configuration before the line `---` must be `key: value` lines",
            ));
        }
        let mut fields = Fields::of(Some(node));
        Ok(Self {
            app: text(&mut fields, "appId")?,
            url: text(&mut fields, "url")?,
            name: text(&mut fields, "name")?
                .and_then(|node| node.scalar().map(str::to_owned))
                .filter(|name| !name.trim().is_empty()),
            tags: tags(&mut fields)?,
            env: env(fields.take("env"))?,
            start: commands(&mut fields, "onFlowStart")?,
            complete: commands(&mut fields, "onFlowComplete")?,
            doubled: std::mem::take(&mut fields.doubled),
            rest: fields.rest(),
        })
    }
}

fn text(fields: &mut Fields, key: &str) -> Result<Option<Node>, Box<Problem>> {
    match fields.take(key) {
        Some(node) if node.scalar().is_none() => {
            Err(misshapen(node.position, format!("`{key}` must be one text")))
        }
        other => Ok(other),
    }
}

fn tags(fields: &mut Fields) -> Result<Vec<String>, Box<Problem>> {
    let Some(node) = fields.take("tags") else { return Ok(Vec::new()) };
    let items = match node.value {
        Value::Sequence(items) => items,
        Value::Scalar { text, .. } => return Ok(text.split(',').map(|tag| tag.trim().to_owned()).collect()),
        Value::Mapping(_) => return Err(misshapen(node.position, "`tags` must be a list of texts")),
    };
    let text = |item: &Node| {
        let text = item.scalar().map(|text| text.trim().to_owned());
        text.ok_or_else(|| misshapen(item.position, "a tag must be a text"))
    };
    items.iter().map(text).collect()
}

fn commands(fields: &mut Fields, key: &str) -> Result<Vec<Node>, Box<Problem>> {
    match fields.take(key) {
        None => Ok(Vec::new()),
        Some(Node { value: Value::Sequence(items), .. }) => Ok(items),
        Some(node) => Err(misshapen(node.position, format!("`{key}` must be a list of commands"))),
    }
}

/// The variables that a flow defines, in order; those that stand twice are a problem.
pub(crate) fn env(node: Option<Node>) -> Result<Vec<(String, Node)>, Box<Problem>> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let place = node.position;
    if !matches!(node.value, Value::Mapping(_)) {
        return Err(misshapen(place, "`env` must be `NAME: value` lines"));
    }
    let fields = Fields::of(Some(node));
    if let Some((name, position)) = fields.doubled.first() {
        return Err(misshapen(*position, format!("the variable {name:?} is defined twice; keep one")));
    }
    let variables = fields.rest();
    match variables.iter().find(|(_, node)| node.scalar().is_none()) {
        Some((name, node)) => {
            Err(misshapen(node.position, format!("the variable {name:?} must be one text")))
        }
        None => Ok(variables),
    }
}
