//! Which element is meant: the TARGET rules of the tools.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::device::Point;
use crate::device::screen::{Screen, shown};
use crate::device::tree::{Bounds, Node, Tree};
use crate::error::{DeviceCode, DeviceError};
use crate::model::normalise;

/// How words are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextMatch {
    /// The whole text; another case and other punctuation only where nothing is exactly equal.
    #[default]
    Exact,
    /// A part of it.
    Contains,
}

/// A description of elements by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Words on the element.
    pub text: Option<String>,
    /// Resource id, with or without its package.
    pub resource_id: Option<String>,
    /// Content description.
    pub description: Option<String>,
    /// Class, with or without its package.
    pub class: Option<String>,
    /// How words are compared.
    pub text_match: TextMatch,
}

/// Where a call wants to act.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// An element of a screen that was described.
    Index {
        /// Its number there.
        index: usize,
        /// Which screen; the last one if none is named.
        snapshot: Option<String>,
    },
    /// An element by what it is; the point decides between several.
    Element {
        /// What it is.
        selector: Selector,
        /// Near where.
        hint: Option<(f64, f64)>,
    },
    /// A rectangle.
    Bounds(Bounds),
    /// A point: pixels, or fractions of the screen where both are at most 1.
    Point(f64, f64),
}

/// What stays the same of an element from one run to the next: how a timeline names what was hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementSelector {
    /// Resource id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource_id: String,
    /// Text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Content description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content_description: String,
    /// Class.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Whether it hides what is typed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub password: bool,
}

impl ElementSelector {
    /// The selector of a node; a hidden text is never part of it.
    #[must_use]
    pub fn of(tree: &Tree, place: usize) -> Self {
        let Some(node) = tree.get(place) else { return Self::default() };
        let password = node.is(crate::device::tree::Flag::Password);
        let field = node.is(crate::device::tree::Flag::Editable);
        // What is typed into a field is no name of it.
        let text = if password || field { String::new() } else { tree.label(place) };
        let text = if text == node.description { String::new() } else { text };
        Self {
            resource_id: node.resource_id.clone(),
            text,
            content_description: node.description.clone(),
            class: node.class.clone(),
            password,
        }
    }
}

impl Target {
    /// The target that arguments name; `prefix` is `""`, `target_`, `source_` or `destination_`. `None` if they name
    /// none. The arguments were checked against their tool.
    #[must_use]
    pub fn from_args(args: &Map<String, Value>, prefix: &str) -> Option<Self> {
        let get = |name: &str| args.get(&format!("{prefix}{name}"));
        let text = |name: &str| get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| get(name).and_then(Value::as_f64);
        if let Some(index) = get("index").and_then(Value::as_f64) {
            let snapshot = args.get("snapshot").and_then(Value::as_str).map(str::to_owned);
            return Some(Self::Index { index: whole(index), snapshot });
        }
        if let Some(bounds) = text("bounds") {
            return Bounds::parse(&bounds).map(Self::Bounds);
        }
        let point = number("x").zip(number("y"));
        let selector = Selector {
            text: text("text"),
            resource_id: text("resource_id"),
            description: text("content_description"),
            class: None,
            text_match: TextMatch::from_args(args),
        };
        if selector.is_empty() {
            return point.map(|(x, y)| Self::Point(x, y));
        }
        Some(Self::Element { selector, hint: point })
    }
}

/// A number that a schema has checked to be whole and small.
pub(crate) fn whole(number: f64) -> usize {
    // The schema admits 5.0 for 5; what is beyond any screen is no element of it.
    format!("{:.0}", number.clamp(0.0, 1e9)).parse().unwrap_or(usize::MAX)
}

impl TextMatch {
    pub(crate) fn from_args(args: &Map<String, Value>) -> Self {
        match args.get("text_match").or_else(|| args.get("match")).and_then(Value::as_str) {
            Some("contains") => Self::Contains,
            _ => Self::Exact,
        }
    }
}

impl Selector {
    /// Whether nothing is described.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_none()
            && self.resource_id.is_none()
            && self.description.is_none()
            && self.class.is_none()
    }

    /// The selector in words, for messages.
    #[must_use]
    pub fn words(&self) -> String {
        let parts = [
            ("text", &self.text),
            ("resource_id", &self.resource_id),
            ("content_description", &self.description),
            ("class_name", &self.class),
        ];
        let named =
            parts.iter().filter_map(|(name, value)| Some(format!("{name} {:?}", shown(value.as_ref()?))));
        named.collect::<Vec<_>>().join(", ")
    }

    /// Places of all nodes that fit and are on the screen: exact fits alone if there are any.
    #[must_use]
    pub fn find(&self, tree: &Tree) -> Vec<usize> {
        let fitting = |loose: bool| -> Vec<usize> {
            let nodes = tree.nodes.iter().enumerate();
            nodes
                .filter(|(place, node)| !node.visible.is_empty() && self.fits(tree, *place, node, loose))
                .map(|(place, _)| place)
                .collect()
        };
        let exact = fitting(false);
        if exact.is_empty() { fitting(true) } else { exact }
    }

    fn fits(&self, tree: &Tree, place: usize, node: &Node, loose: bool) -> bool {
        let word = |wanted: &Option<String>, found: &[&str]| {
            wanted.as_ref().is_none_or(|wanted| found.iter().any(|found| self.same(wanted, found, loose)))
        };
        let id = self.resource_id.as_ref().is_none_or(|wanted| {
            node.resource_id == *wanted || (!wanted.contains('/') && node.short_id() == wanted)
        });
        let class = self
            .class
            .as_ref()
            .is_none_or(|wanted| node.class == *wanted || node.short_class().eq_ignore_ascii_case(wanted));
        if !id || !class {
            return false;
        }
        let label = if loose && self.text.is_some() && node.takes_touches() {
            tree.label(place)
        } else {
            String::new()
        };
        word(
            &self.text,
            &[
                &node.text,
                if loose { &node.description } else { "" },
                if loose { &node.hint } else { "" },
                &label,
            ],
        ) && word(&self.description, &[&node.description])
    }

    fn same(&self, wanted: &str, found: &str, loose: bool) -> bool {
        if found.is_empty() {
            return false;
        }
        match (self.text_match, loose) {
            (TextMatch::Exact, false) => wanted == found,
            (TextMatch::Exact, true) => {
                let normal = normalise(wanted);
                !normal.is_empty() && normal == normalise(found)
            }
            (TextMatch::Contains, false) => found.contains(wanted),
            (TextMatch::Contains, true) => {
                let normal = normalise(wanted);
                !normal.is_empty() && normalise(found).contains(&normal)
            }
        }
    }

    /// The one node that is meant: several that are parts of one element count as one, and a hint decides between
    /// others.
    ///
    /// # Errors
    /// `element_not_found`, `element_ambiguous` with the candidates, `element_not_reachable`.
    pub fn one(&self, screen: &Screen, hint: Option<Point>) -> Result<usize, DeviceError> {
        let tree = &screen.tree;
        let found = self.find(tree);
        if found.is_empty() {
            return Err(not_found(self, screen));
        }
        let reachable: Vec<usize> =
            found.iter().copied().filter(|place| tree.touch_point(*place).is_some()).collect();
        let Some(&first) = reachable.first() else {
            return Err(DeviceError::new(
                DeviceCode::NotReachable,
                format!("the element with {} is covered by something else", self.words()),
                "close what covers it, or scroll it into view, then try again",
            ));
        };
        if let Some(hint) = hint {
            let nearest = reachable.iter().copied().min_by_key(|place| {
                tree.get(*place).map_or(u64::MAX, |node| {
                    if node.visible.contains(hint) { 0 } else { node.visible.distance(hint) }
                })
            });
            return Ok(nearest.unwrap_or(first));
        }
        let owner = |place: usize| tree.touch_owner(place);
        if reachable.iter().all(|place| owner(*place) == owner(first) && owner(first).is_some()) {
            return Ok(first);
        }
        // Of a heading and a button with the same words the button is meant.
        let acting: Vec<usize> = reachable.iter().copied().filter(|place| owner(*place).is_some()).collect();
        match (reachable.as_slice(), acting.as_slice()) {
            ([only], _) | (_, [only]) => Ok(*only),
            _ => Err(several(self, screen, &reachable)),
        }
    }
}

fn not_found(selector: &Selector, screen: &Screen) -> DeviceError {
    let opaque = screen.tree.nodes.iter().any(|node| {
        node.is(crate::device::tree::Flag::Opaque)
            && node.visible.area() * 2 > u64::from(screen.width) * u64::from(screen.height)
    });
    let hint = if opaque {
        "a view on this screen draws its content itself and tells nothing about it; use screenshot and x, y"
    } else {
        "look with describe_screen, scroll_to_element if it may be further down, or wait_for it"
    };
    DeviceError::new(
        DeviceCode::ElementNotFound,
        format!("no element with {} is on the screen", selector.words()),
        hint,
    )
}

fn several(selector: &Selector, screen: &Screen, places: &[usize]) -> DeviceError {
    let lines: Vec<String> = places
        .iter()
        .take(5)
        .filter_map(|place| {
            let point = screen.tree.touch_point(*place)?;
            let index = screen.index_of(*place).map(|index| format!("index {index} ")).unwrap_or_default();
            Some(format!("{index}{:?} at {},{}", shown(&screen.tree.label(*place)), point.x, point.y))
        })
        .collect();
    DeviceError::new(
        DeviceCode::SeveralElements,
        format!("{} elements have {}: {}", places.len(), selector.words(), lines.join("; ")),
        "name one by index, or add x and y near the one that is meant",
    )
}
