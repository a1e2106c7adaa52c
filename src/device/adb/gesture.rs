//! Touches, as `input` of the phone makes them.

use std::time::Duration;

use super::client::Client;
use super::{screen, text};
use crate::device::{DeviceResult, Gesture, Point};

/// From this version on `input` is a call into a running service: two of them are fast enough for a double tap, and a
/// drag can be made of its parts.
const SDK_FAST_INPUT: u32 = 31;
/// Parts of the movement of a drag.
const DRAG_STEPS: i32 = 8;

/// Makes a gesture.
pub(super) async fn make(client: &Client, device: &str, gesture: Gesture) -> DeviceResult<()> {
    let (command, lasts_ms) = match gesture {
        Gesture::Tap { at } => (tap(at), 0),
        Gesture::DoubleTap { at } => {
            let fast = screen::identity(client, device).await?.sdk >= SDK_FAST_INPUT;
            (double_tap(at, fast), 0)
        }
        Gesture::LongPress { at, duration_ms } => (swipe("swipe", at, at, duration_ms), duration_ms),
        Gesture::Swipe { from, to, duration_ms } => (swipe("swipe", from, to, duration_ms), duration_ms),
        Gesture::Drag { from, to, hold_ms, duration_ms } => {
            let fast = screen::identity(client, device).await?.sdk >= SDK_FAST_INPUT;
            (drag(from, to, hold_ms, duration_ms, fast), hold_ms.saturating_add(duration_ms))
        }
    };
    let timeout = client.timeout() + Duration::from_millis(u64::from(lasts_ms));
    let output = client.shell(device, &command, timeout).await?;
    text::checked("the gesture", &output.said(), output.code)
}

fn tap(at: Point) -> String {
    format!("input tap {} {}", at.x, at.y)
}

/// Where `input` starts a virtual machine each time, the second starts before the first is done.
fn double_tap(at: Point, fast: bool) -> String {
    let tap = tap(at);
    if fast { format!("{tap} && {tap}") } else { format!("{tap} & sleep 0.1; {tap}; wait") }
}

fn swipe(kind: &str, from: Point, to: Point, duration_ms: u32) -> String {
    format!("input {kind} {} {} {} {} {duration_ms}", from.x, from.y, to.x, to.y)
}

/// A drag of parts: the finger rests as long as asked for, and is lifted whatever happens in between. Older phones have
/// one command for it, which rests as long as their long press takes.
fn drag(from: Point, to: Point, hold_ms: u32, duration_ms: u32, fast: bool) -> String {
    if !fast {
        return swipe("draganddrop", from, to, duration_ms);
    }
    let event = |kind: &str, at: Point| format!("input motionevent {kind} {} {}", at.x, at.y);
    let pause = |ms: u32| format!("sleep {}.{:03}", ms / 1_000, ms % 1_000);
    let mut parts = vec![event("DOWN", from), pause(hold_ms)];
    for step in 1..=DRAG_STEPS {
        let along = |from: i32, to: i32| {
            let way = i64::from(to) - i64::from(from);
            i32::try_from(i64::from(from) + way * i64::from(step) / i64::from(DRAG_STEPS)).unwrap_or(to)
        };
        parts.push(event("MOVE", Point { x: along(from.x, to.x), y: along(from.y, to.y) }));
        parts.push(pause(duration_ms / DRAG_STEPS.unsigned_abs()));
    }
    format!("trap '{}' EXIT; trap 'exit 1' HUP INT TERM; {}", event("UP", to), parts.join(" && "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Point = Point { x: 10, y: 20 };
    const TO: Point = Point { x: 90, y: 20 };

    #[test]
    fn a_drag_rests_moves_in_steps_and_ends_with_the_release() {
        let command = drag(FROM, TO, 550, 400, true);
        assert!(command.starts_with("trap 'input motionevent UP 90 20' EXIT; "), "{command}");
        let order = ["DOWN 10 20", "sleep 0.550", "MOVE 20 20", "sleep 0.050", "MOVE 90 20"];
        let places: Vec<_> = order.iter().map(|part| command.find(part).unwrap()).collect();
        assert!(places.is_sorted(), "{command}");
        assert_eq!(drag(FROM, TO, 550, 400, false), "input draganddrop 10 20 90 20 400");
    }

    #[test]
    fn a_long_press_is_a_movement_that_goes_nowhere() {
        assert_eq!(swipe("swipe", FROM, FROM, 800), "input swipe 10 20 10 20 800");
        assert_eq!(double_tap(FROM, true), "input tap 10 20 && input tap 10 20");
    }
}
