//! Nodes and the tree that they make.

use crate::device::tree::Bounds;
use crate::limits::ELEMENT_TEXT_CHARS_MAX;

/// One property of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Flag {
    /// Takes taps.
    Clickable = 1,
    /// Takes long presses.
    LongClickable = 1 << 1,
    /// Scrolls.
    Scrollable = 1 << 2,
    /// Can be on or off.
    Checkable = 1 << 3,
    /// Is on.
    Checked = 1 << 4,
    /// Can have the focus.
    Focusable = 1 << 5,
    /// Has the focus.
    Focused = 1 << 6,
    /// Is the chosen one of several.
    Selected = 1 << 7,
    /// Takes input.
    Enabled = 1 << 8,
    /// Hides what is typed.
    Password = 1 << 9,
    /// Takes text.
    Editable = 1 << 10,
    /// Draws its content itself (web page, game, canvas): there is nothing to see inside.
    Opaque = 1 << 11,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Place of the parent in [`Tree::nodes`]; `None` for a window's root.
    pub parent: Option<usize>,
    /// Place after the last node below this one: nodes are in drawing order, parents first.
    pub end: usize,
    /// As the phone says.
    pub bounds: Bounds,
    /// What of it is inside its ancestors and the screen.
    pub visible: Bounds,
    /// Text.
    pub text: String,
    /// Content description.
    pub description: String,
    /// Resource id with its package, as the phone says.
    pub resource_id: String,
    /// Class.
    pub class: String,
    /// Package.
    pub package: String,
    /// Hint of an empty field, where the phone tells it.
    pub hint: String,
    pub(super) flags: u16,
}

impl Node {
    /// Whether the node has a property.
    #[must_use]
    pub const fn is(&self, flag: Flag) -> bool {
        self.flags & flag as u16 != 0
    }

    pub(super) fn set(&mut self, flag: Flag, on: bool) {
        if on {
            self.flags |= flag as u16;
        }
    }

    /// All properties as one number.
    #[must_use]
    pub const fn states(&self) -> u16 {
        self.flags
    }

    /// Whether a touch on it ends there instead of going through to what is below.
    #[must_use]
    pub const fn takes_touches(&self) -> bool {
        self.is(Flag::Clickable) || self.is(Flag::LongClickable) || self.is(Flag::Checkable)
    }

    /// Its own words: text, else content description; empty if it has none.
    #[must_use]
    pub fn own_label(&self) -> &str {
        let text = self.text.trim();
        if text.is_empty() { self.description.trim() } else { text }
    }

    /// The resource id without its package: `title` of `com.app:id/title`.
    #[must_use]
    pub fn short_id(&self) -> &str {
        self.resource_id.rsplit_once('/').map_or(self.resource_id.as_str(), |(_, name)| name)
    }

    /// The class without its package: `Button` of `android.widget.Button`.
    #[must_use]
    pub fn short_class(&self) -> &str {
        self.class.rsplit_once('.').map_or(self.class.as_str(), |(_, name)| name)
    }
}

/// All nodes of one moment, in drawing order: a later node is drawn over an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The nodes, parents before children.
    pub nodes: Vec<Node>,
    /// Quarter turns, as the dump says; `None` if it does not.
    pub rotation: Option<u8>,
    /// Whether something is missing: the tree was cut, too deep or too large.
    pub cut: bool,
}

impl Tree {
    /// The node at a place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&Node> {
        self.nodes.get(place)
    }

    /// Places of a node's ancestors, nearest first.
    pub fn ancestors(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.get(place).and_then(|node| node.parent), |above| {
            self.get(*above).and_then(|node| node.parent)
        })
    }

    /// Places of all nodes below a node.
    pub fn below(&self, place: usize) -> std::ops::Range<usize> {
        self.get(place).map_or(0..0, |node| place + 1..node.end.max(place + 1))
    }

    /// Whether a node is another one or below it.
    #[must_use]
    pub fn is_within(&self, place: usize, above: usize) -> bool {
        place == above || self.below(above).contains(&place)
    }

    /// What a person reads on an element: its own words, else those below it that belong to no other element that
    /// takes touches; joined by spaces, at most [`ELEMENT_TEXT_CHARS_MAX`] characters. Empty if there are none.
    #[must_use]
    pub fn label(&self, place: usize) -> String {
        let Some(node) = self.get(place) else { return String::new() };
        let own = node.own_label();
        if !own.is_empty() {
            return cut(own);
        }
        let mut words = String::new();
        self.collect_words(place, &mut words);
        cut(words.trim())
    }

    /// All words of an element that takes touches: its own and those below it.
    #[must_use]
    pub fn words(&self, place: usize) -> String {
        let Some(node) = self.get(place) else { return String::new() };
        let mut words = String::new();
        for own in [&node.text, &node.description, &node.hint] {
            push_words(&mut words, own);
        }
        self.collect_words(place, &mut words);
        cut(words.trim())
    }

    fn collect_words(&self, place: usize, words: &mut String) {
        let mut at = place + 1;
        let end = self.below(place).end;
        while at < end && words.len() < 4 * ELEMENT_TEXT_CHARS_MAX {
            let Some(node) = self.get(at) else { break };
            if node.takes_touches() && self.get(place).is_some_and(Node::takes_touches) {
                at = node.end.max(at + 1);
                continue;
            }
            push_words(words, node.own_label());
            at += 1;
        }
    }

    /// The package with the largest window part on the screen: the app that a person would name. Empty if the tree is.
    #[must_use]
    pub fn app(&self) -> &str {
        let mut best: (u64, &str) = (0, "");
        for node in self.nodes.iter().filter(|node| node.parent.is_none()) {
            // A later window is on top and wins among equals; the system's bars lose against any app.
            let area = if node.package == "com.android.systemui" { 0 } else { node.visible.area() };
            if area >= best.0 && !node.package.is_empty() {
                best = (area, &node.package);
            }
        }
        best.1
    }
}

fn push_words(words: &mut String, more: &str) {
    let more = more.trim();
    if more.is_empty() || words.ends_with(more) {
        return;
    }
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(more);
}

fn cut(text: &str) -> String {
    text.chars().take(ELEMENT_TEXT_CHARS_MAX).collect()
}
