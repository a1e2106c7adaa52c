//! From a target to the point that will be touched, and to what is known about it before.

use std::sync::Arc;

use crate::device::call::{Aim, Stop};
use crate::device::desk::Seat;
use crate::device::screen::{Screen, shown};
use crate::device::selector::{ElementSelector, Target};
use crate::device::tree::{Bounds, Flag, Node};
use crate::device::{DeviceResult, Point};
use crate::error::{DeviceCode, DeviceError};

use super::Turn;

/// What will be touched.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    /// The screen on which it was found.
    pub(super) screen: Arc<Screen>,
    /// Its node, where there is one.
    pub(super) place: Option<usize>,
    /// Where.
    pub(super) point: Point,
}

impl Hit {
    /// The element in words, for the answer.
    pub(super) fn words(&self) -> String {
        let label = self.place.map(|place| self.screen.tree.label(place)).unwrap_or_default();
        let id =
            self.place.and_then(|place| self.screen.tree.get(place)).map(Node::short_id).unwrap_or_default();
        let name = if label.is_empty() { id } else { &label };
        let at = format!("{},{}", self.point.x, self.point.y);
        if name.is_empty() { at } else { format!("{:?} at {at}", shown(name)) }
    }

    pub(super) fn node(&self) -> Option<&Node> {
        self.place.and_then(|place| self.screen.tree.get(place))
    }
}

impl Turn<'_> {
    /// Looks, and finds what a target names.
    pub(super) async fn hit(&mut self, target: &Target) -> Result<Hit, Stop> {
        let screen = self.seat.look().await?;
        let hit = self.hit_on(screen, target)?;
        self.note(&hit);
        Ok(hit)
    }

    /// Finds what a target names on a screen of this moment.
    pub(super) fn hit_on(&self, screen: Arc<Screen>, target: &Target) -> DeviceResult<Hit> {
        let place = match target {
            Target::Index { index, snapshot } => {
                let identity = self.seat.desk.identity(*index, snapshot.as_deref())?;
                identity.find(&screen).ok_or_else(|| {
                    DeviceError::new(
                        DeviceCode::StaleElement,
                        format!("the element {index} is not on the screen any more"),
                        "call describe_screen and use an index of that answer",
                    )
                })?
            }
            Target::Element { selector, hint } => {
                // A hint outside of the screen hints at nothing.
                let hint = hint.and_then(|(x, y)| Seat::pixels(&screen, x, y).ok());
                selector.one(&screen, hint)?
            }
            Target::Bounds(bounds) => {
                let whole = whole_screen(&screen);
                let visible = bounds.intersect(whole);
                if visible.is_empty() {
                    return Err(DeviceError::new(
                        DeviceCode::OutOfScreen,
                        format!("the bounds {bounds} are empty or outside of the screen"),
                        "use bounds of an element that describe_screen or find_element shows",
                    ));
                }
                return Ok(at_point(screen, visible.centre()));
            }
            Target::Point(x, y) => {
                let point = Seat::pixels(&screen, *x, *y)?;
                return Ok(at_point(screen, point));
            }
        };
        let point = screen.tree.touch_point(place).ok_or_else(|| {
            DeviceError::new(
                DeviceCode::NotReachable,
                "the element is covered by something else",
                "close what covers it, or scroll it into view, then try again",
            )
        })?;
        Ok(Hit { screen, place: Some(place), point })
    }

    /// Notes for judge and record what will be hit.
    pub(super) fn note(&mut self, hit: &Hit) {
        self.aim.app = hit.screen.tree.app().to_owned();
        let Some(place) = hit.place else { return };
        self.note_place(&hit.screen, place);
    }

    /// As [`Turn::note`], for a node that is acted upon without a touch.
    pub(super) fn note_place(&mut self, screen: &Screen, place: usize) {
        let tree = &screen.tree;
        let Some(node) = tree.get(place) else { return };
        let aim: &mut Aim = &mut self.aim;
        if !node.package.is_empty() && !aim.packages.contains(&node.package) {
            aim.packages.push(node.package.clone());
        }
        aim.password |= node.is(Flag::Password);
        // What is typed into a hidden field is nobody's business.
        if !node.is(Flag::Password) {
            let words = tree.words(tree.touch_owner(place).unwrap_or(place));
            let own = tree.label(place);
            for more in [words, own] {
                if !more.is_empty() && !aim.words.contains(&more) {
                    aim.words = format!("{} {more}", aim.words).trim().to_owned();
                }
            }
        }
        aim.element.get_or_insert_with(|| ElementSelector::of(tree, place));
    }
}

/// All of a screen.
pub(super) fn whole_screen(screen: &Screen) -> Bounds {
    let side = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
    Bounds::new(0, 0, side(screen.width), side(screen.height))
}

fn at_point(screen: Arc<Screen>, point: Point) -> Hit {
    let place = screen.tree.touched(point).or_else(|| screen.tree.seen_at(point));
    Hit { place, screen, point }
}

/// The target that a call must have.
pub(super) fn required(target: Option<Target>) -> Result<Target, Stop> {
    // The rules of the table were checked; only bounds that are no numbers get here.
    target.ok_or_else(|| {
        Stop::Failed(DeviceError::new(
            DeviceCode::ElementNotFound,
            "the call names no element and no point",
            "give one of index, text, resource_id, content_description, bounds, or x and y",
        ))
    })
}
