//! A screen as an agent sees it: the elements worth a line each, numbered.

use std::fmt::Write as _;

use crate::device::tree::{Flag, Node, Tree};
use crate::device::{DeviceInfo, Point};
use crate::limits::LABEL_CHARS_MAX;

/// One element of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Place of its node in the tree.
    pub place: usize,
    /// What a person reads on it.
    pub label: String,
    /// Where a touch reaches it.
    pub point: Point,
}

/// A tree with the elements of it that are worth a line.
#[derive(Clone, Debug)]
pub struct Screen {
    /// All nodes.
    pub tree: Tree,
    /// What is listed, in reading order of the tree.
    pub elements: Vec<Element>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes of the dump.
    pub raw_bytes: usize,
}

impl Screen {
    /// Chooses the elements of a tree. An element that no touch reaches is not listed: it is not there for a person.
    #[must_use]
    pub fn new(tree: Tree, info: &DeviceInfo, raw_bytes: usize) -> Self {
        let mut elements = Vec::new();
        for (place, node) in tree.nodes.iter().enumerate() {
            if !is_listed(&tree, place, node) {
                continue;
            }
            if let Some(point) = tree.touch_point(place) {
                elements.push(Element { place, label: tree.label(place), point });
            }
        }
        Self { tree, elements, width: info.width, height: info.height, raw_bytes }
    }

    /// The line of one element: `index|flags|label|id|x,y`.
    #[must_use]
    pub fn line(&self, index: usize) -> String {
        let Some(element) = self.elements.get(index) else { return String::new() };
        let Some(node) = self.tree.get(element.place) else { return String::new() };
        let mut line = format!("{index}|{}|{}|", flags(node), shown(&element.label));
        // Words already say what it is; the id is for what has none.
        if element.label.is_empty() || node.is(Flag::Editable) {
            let name = if node.short_id().is_empty() { node.short_class() } else { node.short_id() };
            line.push_str(&shown(name));
        }
        // Writing into a String cannot fail.
        let _ = write!(line, "|{},{}", element.point.x, element.point.y);
        line
    }

    /// The first line of a description: app, size, snapshot.
    #[must_use]
    pub fn head(&self, snapshot: &str, activity: &str) -> String {
        let app = self.tree.app();
        let activity = activity.strip_prefix(app).unwrap_or(activity);
        let slash = if activity.is_empty() { "" } else { "/" };
        format!("{app}{slash}{activity} {}x{} snapshot={snapshot}", self.width, self.height)
    }

    /// Index of the element that lists a node, or the nearest one above it that is listed.
    #[must_use]
    pub fn index_of(&self, place: usize) -> Option<usize> {
        std::iter::once(place)
            .chain(self.tree.ancestors(place))
            .find_map(|above| self.elements.iter().position(|element| element.place == above))
    }
}

/// Whether a node is worth a line: it takes input, or has words that no other line tells.
fn is_listed(tree: &Tree, place: usize, node: &Node) -> bool {
    if node.visible.is_empty() {
        return false;
    }
    if node.takes_touches() || node.is(Flag::Editable) {
        // Layers that only catch touches around a dialog cover everything and say nothing.
        let nameless = node.short_id().is_empty() && tree.label(place).is_empty();
        let layer = nameless && node.parent.is_none();
        return !layer;
    }
    if node.is(Flag::Scrollable) || (node.is(Flag::Opaque) && tree.below(place).len() < 2) {
        return true;
    }
    if node.own_label().is_empty() {
        return false;
    }
    // The words of an element that takes touches are on its own line already, unless it has words of its own.
    let owner = tree.touch_owner(place);
    owner.is_none_or(|owner| {
        tree.get(owner).is_some_and(|owner| {
            !owner.own_label().is_empty()
                && owner.own_label() != node.own_label()
                && !node.text.trim().is_empty()
        })
    })
}

/// Letters for what an element does: `c` tap, `l` long press, `s` scroll, `e` text, `o`/`x` off/on, `f` focused,
/// `v` chosen, `p` hides what is typed, `d` disabled, `w` draws itself.
fn flags(node: &Node) -> String {
    let plain = [
        (Flag::Clickable, 'c'),
        (Flag::Scrollable, 's'),
        (Flag::Editable, 'e'),
        (Flag::Focused, 'f'),
        (Flag::Selected, 'v'),
        (Flag::Password, 'p'),
        (Flag::Opaque, 'w'),
    ];
    let mut letters: String =
        plain.iter().filter(|(flag, _)| node.is(*flag)).map(|(_, letter)| letter).collect();
    if node.is(Flag::LongClickable) && !node.is(Flag::Clickable) {
        letters.push('l');
    }
    if node.is(Flag::Checkable) {
        letters.push(if node.is(Flag::Checked) { 'x' } else { 'o' });
    }
    if !node.is(Flag::Enabled) {
        letters.push('d');
    }
    letters
}

/// A text within a line: short, on one line, without the separator.
pub(crate) fn shown(text: &str) -> String {
    let mut out: String = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "/")
        .chars()
        .take(LABEL_CHARS_MAX + 1)
        .collect();
    if let Some((end, _)) = out.char_indices().nth(LABEL_CHARS_MAX) {
        out.truncate(end);
        out.push_str("...");
    }
    out
}
