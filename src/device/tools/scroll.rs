//! Swipes and scrolls.

use std::sync::Arc;

use serde_json::json;

use crate::device::call::Stop;
use crate::device::desk::Seat;
use crate::device::look::fingerprint;
use crate::device::screen::Screen;
use crate::device::selector::{Selector, Target, TextMatch};
use crate::device::tree::{Bounds, Flag, Node};
use crate::device::{DeviceResult, Gesture, Outcome, Point};
use crate::error::{DeviceCode, DeviceError};

use super::aim::whole_screen;
use super::{Done, Turn};

/// Part of the area that a scroll covers unless the caller says otherwise.
const SCROLL_PART: f64 = 0.6;
/// Part of the area that a swipe covers.
const SWIPE_PART: f64 = 0.5;
/// Slow enough that the content stops with the finger.
const SCROLL_MS: u32 = 500;
/// Fast enough to count as a flick.
const SWIPE_MS: u32 = 200;

/// Where the finger goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finger {
    Up,
    Down,
    Left,
    Right,
}

/// `swipe`: the direction is that of the finger.
pub(super) async fn swipe(turn: &mut Turn<'_>) -> Done {
    moved(turn, false).await
}

/// `scroll`: the direction is that of what one wants to see.
pub(super) async fn scroll(turn: &mut Turn<'_>) -> Done {
    moved(turn, true).await
}

async fn moved(turn: &mut Turn<'_>, scrolls: bool) -> Done {
    let (did, usual_ms, usual_part) =
        if scrolls { ("scrolled", SCROLL_MS, SCROLL_PART) } else { ("swiped", SWIPE_MS, SWIPE_PART) };
    let number = |name: &str| turn.args.number(name);
    let points = [number("x1"), number("y1"), number("x2"), number("y2")];
    let duration_ms = turn.args.ms("duration_ms", usual_ms);
    let (screen, from, to, words) = if let [Some(x1), Some(y1), Some(x2), Some(y2)] = points {
        let screen = turn.seat.look().await?;
        let (from, to) = (Seat::pixels(&screen, x1, y1)?, Seat::pixels(&screen, x2, y2)?);
        turn.aim.app = screen.tree.app().to_owned();
        (screen, from, to, String::new())
    } else {
        let target = Target::from_args(turn.args.all(), "");
        let (screen, area, class) = match target {
            Some(target) => {
                let hit = turn.hit(&target).await?;
                // A movement over an element is none of its acts: its words are not what is judged.
                turn.aim.words.clear();
                let (area, class) = area_of(&hit.screen, hit.place, scrolls);
                (hit.screen, area, class)
            }
            None => {
                let screen = turn.seat.look().await?;
                turn.aim.app = screen.tree.app().to_owned();
                let place = if scrolls { main_scrollable(&screen) } else { None };
                let (area, class) = area_of(&screen, place, scrolls);
                (screen, area, class)
            }
        };
        let direction = turn.args.text("direction").unwrap_or("forward");
        let part = turn.args.number("distance").unwrap_or(usual_part);
        let (from, to) = line(area, finger(direction, &class, scrolls), part);
        (screen, from, to, format!(" {direction}"))
    };
    turn.permit()?;
    turn.seat.driver.gesture(&turn.seat.serial, Gesture::Swipe { from, to, duration_ms }).await?;
    let did = format!("{did}{words} from {},{} to {},{}", from.x, from.y, to.x, to.y);
    turn.finish(did, Some(screen)).await
}

/// `scroll_to_element`
pub(super) async fn scroll_to_element(turn: &mut Turn<'_>) -> Done {
    let selector = match Target::from_args(turn.args.all(), "") {
        Some(Target::Element { selector, .. }) => selector,
        _ => Selector { text_match: TextMatch::Exact, ..Selector::default() },
    };
    let direction = turn.args.text("direction").unwrap_or("forward").to_owned();
    let most = turn.args.count("max_scrolls").unwrap_or(8);
    let mut screen = turn.seat.look().await?;
    turn.aim.app = screen.tree.app().to_owned();
    turn.permit()?;
    let mut scrolls = 0;
    loop {
        if let Some(outcome) = turn.found(&selector, &screen, scrolls) {
            return Ok(outcome);
        }
        if scrolls >= most {
            return Err(missing(&selector, scrolls, "the limit of scrolls is reached"));
        }
        let Some(place) = main_scrollable(&screen) else {
            return Err(missing(&selector, scrolls, "nothing on the screen scrolls"));
        };
        let before = fingerprint(&screen);
        screen = turn.scroll_once(&screen, place, &direction).await?;
        scrolls += 1;
        turn.watch.tell(as_f64(scrolls), as_f64(most), "scrolling");
        if fingerprint(&screen) == before {
            if let Some(outcome) = turn.found(&selector, &screen, scrolls) {
                return Ok(outcome);
            }
            return Err(missing(&selector, scrolls, "the end of the list is reached"));
        }
    }
}

impl Turn<'_> {
    async fn scroll_once(
        &mut self,
        screen: &Screen,
        place: usize,
        direction: &str,
    ) -> DeviceResult<Arc<Screen>> {
        let (area, class) = area_of(screen, Some(place), true);
        let (from, to) = line(area, finger(direction, &class, true), SCROLL_PART);
        let gesture = Gesture::Swipe { from, to, duration_ms: SCROLL_MS };
        self.seat.driver.gesture(&self.seat.serial, gesture).await?;
        self.seat.settle(Some(screen)).await
    }

    /// The answer if an element that fits can be touched.
    fn found(&mut self, selector: &Selector, screen: &Arc<Screen>, scrolls: usize) -> Option<Outcome> {
        let tree = &screen.tree;
        let (place, point) =
            selector.find(tree).into_iter().find_map(|place| Some((place, tree.touch_point(place)?)))?;
        self.aim.element = None;
        self.note_place(screen, place);
        let snapshot = self.seat.desk.remember(screen);
        let index = screen.index_of(place);
        let line = index.map(|index| screen.line(index)).unwrap_or_default();
        let text = format!("found after {scrolls} scrolls, snapshot={snapshot}\n{line}");
        let data =
            json!({"scrolls": scrolls, "snapshot": snapshot, "index": index, "x": point.x, "y": point.y});
        Some(Outcome::new(text, data))
    }
}

fn missing(selector: &Selector, scrolls: usize, why: &str) -> Stop {
    Stop::Failed(DeviceError::new(
        DeviceCode::ElementNotFound,
        format!("no element with {} after {scrolls} scrolls: {why}", selector.words()),
        "try the other direction, or look with describe_screen",
    ))
}

/// The list or page that a person would scroll: the largest one that scrolls.
fn main_scrollable(screen: &Screen) -> Option<usize> {
    let nodes = screen.tree.nodes.iter().enumerate();
    nodes
        .filter(|(place, node)| {
            node.is(Flag::Scrollable) && !node.visible.is_empty() && screen.tree.touch_point(*place).is_some()
        })
        .max_by_key(|(place, node)| (node.visible.area(), *place))
        .map(|(place, _)| place)
}

/// Where to move: the element, for a scroll the nearest one around it that scrolls, or the screen.
fn area_of(screen: &Screen, place: Option<usize>, scrolls: bool) -> (Bounds, String) {
    let tree = &screen.tree;
    let whole = || (whole_screen(screen), String::new());
    let Some(place) = place else { return whole() };
    let scrollable = std::iter::once(place)
        .chain(tree.ancestors(place))
        .find(|above| tree.get(*above).is_some_and(|node| node.is(Flag::Scrollable)));
    let chosen = if scrolls { scrollable.unwrap_or(place) } else { place };
    match tree.get(chosen) {
        Some(Node { visible, class, .. }) if !visible.is_empty() => (*visible, class.clone()),
        _ => whole(),
    }
}

fn finger(direction: &str, class: &str, scrolls: bool) -> Finger {
    let sideways = class.contains("Horizontal") || class.contains("ViewPager");
    match (direction, scrolls, sideways) {
        ("forward", _, true) | ("left", false, _) | ("right", true, _) => Finger::Left,
        ("backward", _, true) | ("right", false, _) | ("left", true, _) => Finger::Right,
        ("backward", _, false) | ("down", false, _) | ("up", true, _) => Finger::Down,
        _ => Finger::Up,
    }
}

/// A movement around the middle of an area, away from its edges: those belong to the system's own gestures.
fn line(area: Bounds, finger: Finger, part: f64) -> (Point, Point) {
    let steps = 1_000;
    let reach = crate::device::look::integer(part.clamp(0.02, 0.9) * f64::from(steps) / 2.0);
    let middle = steps / 2;
    let at = |x: i32, y: i32| area.at(x, steps, y, steps);
    let (low, high) = (middle - reach, middle + reach);
    match finger {
        Finger::Up => (at(middle, high), at(middle, low)),
        Finger::Down => (at(middle, low), at(middle, high)),
        Finger::Left => (at(high, middle), at(low, middle)),
        Finger::Right => (at(low, middle), at(high, middle)),
    }
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scroll_shows_what_it_names_and_a_swipe_moves_as_it_says() {
        let rows = [
            ("down", "", true, Finger::Up),
            ("up", "", true, Finger::Down),
            ("right", "", true, Finger::Left),
            ("left", "", true, Finger::Right),
            ("forward", "", true, Finger::Up),
            ("backward", "", true, Finger::Down),
            ("forward", "androidx.viewpager.widget.ViewPager", true, Finger::Left),
            ("up", "", false, Finger::Up),
            ("down", "", false, Finger::Down),
            ("left", "", false, Finger::Left),
            ("right", "", false, Finger::Right),
            ("forward", "", false, Finger::Up),
            ("backward", "", false, Finger::Down),
        ];
        for (direction, class, scrolls, expect) in rows {
            assert_eq!(finger(direction, class, scrolls), expect, "{direction} {class} {scrolls}");
        }
    }

    #[test]
    fn a_movement_stays_inside_of_its_area() {
        let area = Bounds::new(100, 200, 300, 1_000);
        for part in [0.01, 0.5, 1.0] {
            for way in [Finger::Up, Finger::Down, Finger::Left, Finger::Right] {
                let (from, to) = line(area, way, part);
                assert!(area.contains(from) && area.contains(to) && from != to, "{way:?} {part}");
            }
        }
    }
}
