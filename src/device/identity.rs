//! Whether an element of an earlier screen is still there.

use crate::device::screen::Screen;
use crate::device::tree::{Bounds, Flag, Node, Tree};

/// What an element was when its index was given out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    class: String,
    resource_id: String,
    package: String,
    description: String,
    /// Empty for fields, whose text changes while they stay the same.
    text: String,
    label: String,
    /// Words around it: what tells the buttons of two rows apart.
    around: String,
    bounds: Bounds,
}

impl Identity {
    /// The identity of a node.
    pub(crate) fn of(tree: &Tree, place: usize) -> Option<Self> {
        let node = tree.get(place)?;
        let field = node.is(Flag::Editable);
        Some(Self {
            class: node.class.clone(),
            resource_id: node.resource_id.clone(),
            package: node.package.clone(),
            description: node.description.clone(),
            text: if field { String::new() } else { node.text.clone() },
            label: if field { String::new() } else { tree.label(place) },
            around: around(tree, place),
            bounds: node.bounds,
        })
    }

    /// The element of a screen that this is now: the only one alike, or among several the one with the same
    /// surroundings, or else at the same place. `None` if it is gone or cannot be told.
    pub(crate) fn find(&self, screen: &Screen) -> Option<usize> {
        let tree = &screen.tree;
        let alike: Vec<usize> = tree
            .nodes
            .iter()
            .enumerate()
            .filter(|(place, node)| self.is_like(tree, *place, node))
            .map(|(place, _)| place)
            .collect();
        if let [only] = alike.as_slice() {
            // A list whose rows look alike may have moved on by a screen: what is around must agree.
            let same = self.around == around(tree, *only)
                || tree.get(*only).is_some_and(|n| n.bounds == self.bounds);
            return (same || self.is_named()).then_some(*only);
        }
        let near: Vec<usize> =
            alike.iter().copied().filter(|place| around(tree, *place) == self.around).collect();
        match near.as_slice() {
            [only] => Some(*only),
            several => several
                .iter()
                .copied()
                .find(|place| tree.get(*place).is_some_and(|n| n.bounds == self.bounds)),
        }
    }

    /// Whether it has words or an id of its own.
    fn is_named(&self) -> bool {
        !self.label.is_empty() || !self.resource_id.is_empty()
    }

    fn is_like(&self, tree: &Tree, place: usize, node: &Node) -> bool {
        let field = node.is(Flag::Editable);
        !node.visible.is_empty()
            && node.class == self.class
            && node.resource_id == self.resource_id
            && node.package == self.package
            && node.description == self.description
            && (field || (node.text == self.text && tree.label(place) == self.label))
    }
}

/// The words of the nearest ancestor that has more of them than the element itself.
fn around(tree: &Tree, place: usize) -> String {
    let own = tree.words(place).len();
    for above in tree.ancestors(place).take(3) {
        let words: String = tree
            .below(above)
            .filter(|below| !tree.is_within(*below, place))
            .filter_map(|below| tree.get(below))
            .filter(|node| !node.is(Flag::Editable))
            .map(Node::own_label)
            .filter(|label| !label.is_empty())
            .take(16)
            .collect::<Vec<_>>()
            .join("\n");
        if words.len() > own.min(1) {
            return words;
        }
    }
    String::new()
}
