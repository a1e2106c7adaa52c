//! Where to touch an element so that the touch arrives there.

use crate::device::Point;
use crate::device::tree::{Flag, Tree};

/// Places that are tried, in twelfths of width and height: the middle first, then what people would try next.
const TRIED: [(i32, i32); 13] = [
    (6, 6),
    (3, 6),
    (9, 6),
    (6, 3),
    (6, 9),
    (3, 3),
    (9, 3),
    (3, 9),
    (9, 9),
    (1, 6),
    (11, 6),
    (6, 1),
    (6, 11),
];

impl Tree {
    /// The point at which a touch reaches an element: its middle unless something else is there. `None` where it is
    /// not on the screen or covered everywhere.
    #[must_use]
    pub fn touch_point(&self, place: usize) -> Option<Point> {
        let node = self.get(place)?;
        if node.visible.is_empty() {
            return None;
        }
        TRIED.iter().map(|&(x, y)| node.visible.at(x, 12, y, 12)).find(|point| self.reaches(place, *point))
    }

    /// Whether a touch at a point arrives at an element: nothing that takes touches is drawn over it there, apart from
    /// the element's own parts that only decorate it.
    #[must_use]
    pub fn reaches(&self, place: usize, point: Point) -> bool {
        let Some(node) = self.get(place) else { return false };
        if !node.visible.contains(point) {
            return false;
        }
        let Some(top) = self.touched(point) else { return true };
        if top < place {
            // An ancestor that takes the touch for its whole area, or something below that the element lies on.
            return true;
        }
        // A container that is scrolled may be touched on its content.
        top == place || (node.is(Flag::Scrollable) && !node.takes_touches() && self.is_within(top, place))
    }

    /// The topmost node that takes a touch at a point; `None` if it goes through to nothing.
    #[must_use]
    pub fn touched(&self, point: Point) -> Option<usize> {
        self.nodes.iter().rposition(|node| node.takes_touches() && node.visible.contains(point))
    }

    /// The topmost node with words, or at least the deepest one, at a point.
    #[must_use]
    pub fn seen_at(&self, point: Point) -> Option<usize> {
        self.nodes.iter().rposition(|node| node.visible.contains(point))
    }

    /// What takes the touch for an element: itself, or its nearest ancestor that takes touches.
    #[must_use]
    pub fn touch_owner(&self, place: usize) -> Option<usize> {
        std::iter::once(place)
            .chain(self.ancestors(place))
            .find(|above| self.get(*above).is_some_and(super::Node::takes_touches))
    }
}

#[cfg(test)]
mod tests {
    use crate::device::tree::read_tree;

    use super::*;

    #[test]
    fn a_covered_middle_moves_the_touch_and_a_covered_element_has_none() {
        let tree = read_tree(
            b"<hierarchy><node bounds=\"[0,0][120,120]\">\
              <node text=\"row\" clickable=\"true\" bounds=\"[0,0][120,60]\"><node text=\"x\" clickable=\"true\" bounds=\"[40,10][80,50]\"/></node>\
              <node text=\"hidden\" clickable=\"true\" bounds=\"[0,60][120,120]\"/>\
              <node text=\"sheet\" clickable=\"true\" bounds=\"[0,60][120,120]\"/>\
              <node text=\"decoration\" bounds=\"[0,60][120,120]\"/></node></hierarchy>",
            None,
        )
        .unwrap();
        assert_eq!(tree.touch_point(1), Some(Point { x: 30, y: 30 }));
        assert_eq!(tree.touch_point(2), Some(Point { x: 60, y: 30 }));
        assert_eq!(tree.touch_point(3), None);
        assert_eq!(tree.touch_point(4), Some(Point { x: 60, y: 90 }));
        assert_eq!(tree.touched(Point { x: 60, y: 30 }), Some(2));
        assert_eq!(tree.touched(Point { x: 500, y: 30 }), None);
    }
}
