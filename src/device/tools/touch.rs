//! Taps, long presses and drags.

use crate::device::Gesture;
use crate::device::selector::Target;

use super::aim::required;
use super::{Done, Turn};

/// How long a long press takes unless the caller says otherwise: more than any system's threshold.
const LONG_PRESS_MS: u32 = 800;
/// How long the movement of a drag takes.
const DRAG_MS: u32 = 600;

/// `tap`
pub(super) async fn tap(turn: &mut Turn<'_>) -> Done {
    touch(turn, "tapped", |at, _| Gesture::Tap { at }).await
}

/// `double_tap`
pub(super) async fn double_tap(turn: &mut Turn<'_>) -> Done {
    touch(turn, "tapped twice", |at, _| Gesture::DoubleTap { at }).await
}

/// `long_press`
pub(super) async fn long_press(turn: &mut Turn<'_>) -> Done {
    touch(turn, "pressed long", |at, duration_ms| Gesture::LongPress { at, duration_ms }).await
}

async fn touch(
    turn: &mut Turn<'_>,
    did: &str,
    gesture: impl Fn(crate::device::Point, u32) -> Gesture,
) -> Done {
    let target = required(Target::from_args(turn.args.all(), ""))?;
    let hit = turn.hit(&target).await?;
    turn.permit()?;
    let duration = turn.args.ms("duration_ms", LONG_PRESS_MS);
    turn.seat.driver.gesture(&turn.seat.serial, gesture(hit.point, duration)).await?;
    let did = format!("{did} {}", hit.words());
    turn.finish(did, Some(hit.screen)).await
}

/// `drag_and_drop`
pub(super) async fn drag_and_drop(turn: &mut Turn<'_>) -> Done {
    let source = required(Target::from_args(turn.args.all(), "source_"))?;
    let destination = required(Target::from_args(turn.args.all(), "destination_"))?;
    let from = turn.hit(&source).await?;
    // Both ends are of one look: what lies between two looks may have moved.
    let to = turn.hit_on(std::sync::Arc::clone(&from.screen), &destination)?;
    turn.note(&to);
    turn.permit()?;
    let hold_ms = turn.args.ms("hold_ms", 550);
    let duration_ms = turn.args.ms("duration_ms", DRAG_MS);
    let gesture = Gesture::Drag { from: from.point, to: to.point, hold_ms, duration_ms };
    turn.seat.driver.gesture(&turn.seat.serial, gesture).await?;
    let did = format!("dragged {} to {}", from.words(), to.words());
    turn.finish(did, Some(from.screen)).await
}
