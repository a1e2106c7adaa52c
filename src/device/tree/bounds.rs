//! Rectangles as phones write them.

use std::fmt;

use crate::device::Point;

/// A rectangle in pixels: left and top inside, right and bottom outside. Empty where right or bottom do not come after
/// left and top, however a phone wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Left edge.
    pub left: i32,
    /// Top edge.
    pub top: i32,
    /// Right edge.
    pub right: i32,
    /// Bottom edge.
    pub bottom: i32,
}

impl Bounds {
    /// A rectangle of its edges.
    #[must_use]
    pub const fn new(left: i32, top: i32, right: i32, bottom: i32) -> Self {
        Self { left, top, right, bottom }
    }

    /// Reads `[l,t][r,b]` (a tree) or `l,t,r,b` (an argument). `None` if it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.trim().trim_start_matches('[').trim_end_matches(']').replace("][", ",");
        let mut numbers = inner.split(',').map(|part| part.trim().parse::<i64>());
        let mut next = || {
            let number = numbers.next()?.ok()?;
            // Broken views report extremes; what is that far out is outside of every screen.
            i32::try_from(number.clamp(-1_000_000, 1_000_000)).ok()
        };
        let bounds = Self { left: next()?, top: next()?, right: next()?, bottom: next()? };
        numbers.next().is_none().then_some(bounds)
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.right <= self.left || self.bottom <= self.top
    }

    /// Width; 0 if empty.
    #[must_use]
    pub fn width(self) -> u32 {
        u32::try_from(self.right - self.left).unwrap_or(0)
    }

    /// Height; 0 if empty.
    #[must_use]
    pub fn height(self) -> u32 {
        u32::try_from(self.bottom - self.top).unwrap_or(0)
    }

    /// Pixels in it.
    #[must_use]
    pub fn area(self) -> u64 {
        u64::from(self.width()) * u64::from(self.height())
    }

    /// What both cover.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// Whether a point is in it.
    #[must_use]
    pub const fn contains(self, point: Point) -> bool {
        self.left <= point.x && point.x < self.right && self.top <= point.y && point.y < self.bottom
    }

    /// The point in the middle.
    #[must_use]
    pub fn centre(self) -> Point {
        self.at(1, 2, 1, 2)
    }

    /// The point at a fraction of width and height, inside.
    #[must_use]
    pub fn at(self, x: i32, of_x: i32, y: i32, of_y: i32) -> Point {
        let place = |from: i32, to: i32, part: i32, of: i32| {
            let offset = i64::from(to - from) * i64::from(part) / i64::from(of.max(1));
            let last = to.saturating_sub(1).max(from);
            from.saturating_add(i32::try_from(offset).unwrap_or(0)).min(last)
        };
        Point { x: place(self.left, self.right, x, of_x), y: place(self.top, self.bottom, y, of_y) }
    }

    /// Square of the distance between a point and the middle.
    #[must_use]
    pub fn distance(self, point: Point) -> u64 {
        let centre = self.centre();
        let (x, y) = (i64::from(centre.x) - i64::from(point.x), i64::from(centre.y) - i64::from(point.y));
        (x * x + y * y).unsigned_abs()
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{},{}", self.left, self.top, self.right, self.bottom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_nothing_else() {
        assert_eq!(Bounds::parse("[0,84][1080,2400]"), Some(Bounds::new(0, 84, 1080, 2400)));
        assert_eq!(Bounds::parse(" -5,0,10,20 "), Some(Bounds::new(-5, 0, 10, 20)));
        assert_eq!(Bounds::parse("[-3,-4][2147483647,99999999999]").map(|b| b.right), Some(1_000_000));
        for wrong in ["", "1,2,3", "1,2,3,4,5", "[a,b][c,d]", "1 2 3 4"] {
            assert_eq!(Bounds::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn inverted_bounds_are_empty_and_have_a_harmless_middle() {
        let inverted = Bounds::new(100, 50, 20, 10);
        assert!(inverted.is_empty() && inverted.area() == 0);
        assert!(!inverted.contains(inverted.centre()));
        let one = Bounds::new(3, 4, 4, 5);
        assert!(one.contains(one.centre()) && one.contains(one.at(5, 6, 5, 6)));
    }
}
