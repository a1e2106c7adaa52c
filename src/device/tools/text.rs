//! Typing, keys and the keyboard.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::device::call::Stop;
use crate::device::keys;
use crate::device::screen::{Screen, shown};
use crate::device::selector::{Selector, Target};
use crate::device::tree::{Flag, Node};
use crate::device::{Gesture, Outcome};
use crate::error::{DeviceCode, DeviceError};
use crate::limits::{KEYS_MAX, TYPED_BYTES_MAX};
use crate::model::normalise;

use super::aim::Hit;
use super::{Done, Turn};

/// How often a field that does not get empty is tried.
const CLEAR_ROUNDS_MAX: u32 = 3;
/// Characters that are deleted from a field of which nothing is known.
const CLEAR_BLIND: usize = 200;

/// `input_text`
pub(super) async fn input_text(turn: &mut Turn<'_>) -> Done {
    let text = turn.args.text("text").unwrap_or_default().to_owned();
    if text.len() > TYPED_BYTES_MAX {
        return Err(Stop::Failed(DeviceError::new(
            DeviceCode::NotSupported,
            format!("the text has {} bytes, at most {TYPED_BYTES_MAX} are typed in one call", text.len()),
            "type it in parts",
        )));
    }
    let before = turn.seat.look().await?;
    let hit = turn.field(&before)?;
    match &hit {
        Some(hit) => turn.note(hit),
        None => turn.note_focused(&before).await?,
    }
    turn.permit()?;
    if let Some(hit) = &hit {
        turn.focus(hit).await?;
    }
    if turn.args.flag("clear") {
        turn.empty_field().await?;
    }
    if !text.is_empty() {
        turn.seat.driver.text(&turn.seat.serial, &text).await?;
    }
    let submit = turn.args.flag("submit");
    if submit {
        turn.seat.driver.keys(&turn.seat.serial, &[keys::ENTER]).await?;
    }
    let hidden = turn.args.flag("secret") || turn.aim.password;
    let count = text.chars().count();
    let typed =
        if hidden || count > 40 { format!("{count} characters") } else { format!("{:?}", shown(&text)) };
    let into = hit.map(|hit| format!(" into {}", hit.words())).unwrap_or_default();
    let then = if submit { " and submitted" } else { "" };
    turn.finish(format!("typed {typed}{into}{then}"), Some(before)).await
}

/// `clear_text`
pub(super) async fn clear_text(turn: &mut Turn<'_>) -> Done {
    let before = turn.seat.look().await?;
    let hit = turn.field(&before)?;
    match &hit {
        Some(hit) => turn.note(hit),
        None => turn.note_focused(&before).await?,
    }
    turn.permit()?;
    if let Some(hit) = &hit {
        turn.focus(hit).await?;
    }
    turn.empty_field().await?;
    turn.finish("cleared the field".to_owned(), Some(before)).await
}

/// `focus_input`
pub(super) async fn focus_input(turn: &mut Turn<'_>) -> Done {
    let before = turn.seat.look().await?;
    let hit = match turn.field(&before)? {
        Some(hit) => hit,
        None => turn.only_field(&before)?,
    };
    turn.note(&hit);
    turn.permit()?;
    turn.focus(&hit).await?;
    turn.finish(format!("focused {}", hit.words()), Some(before)).await
}

/// `dismiss_keyboard`
pub(super) async fn dismiss_keyboard(turn: &mut Turn<'_>) -> Done {
    turn.permit()?;
    if !turn.seat.driver.keyboard_shown(&turn.seat.serial).await? {
        return Ok(Outcome::new("the keyboard was not shown", json!({"done": "nothing"})));
    }
    turn.seat.driver.keys(&turn.seat.serial, &[keys::BACK]).await?;
    turn.finish("hid the keyboard".to_owned(), None).await
}

/// `press_key`
pub(super) async fn press_key(turn: &mut Turn<'_>) -> Done {
    let key = turn.args.get("key").cloned().unwrap_or(Value::Null);
    let code = keys::code(&key)?;
    turn.permit()?;
    turn.seat.driver.keys(&turn.seat.serial, &[code]).await?;
    let name = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
    turn.finish(format!("pressed {name}"), None).await
}

impl Turn<'_> {
    /// The field that the arguments name; `None` if they name none.
    fn field(&self, screen: &Arc<Screen>) -> Result<Option<Hit>, Stop> {
        // `input_text` types `text`, and names its field by `target_text`.
        let prefix = if self.args.declares("field") { "target_" } else { "" };
        if let Some(target) = Target::from_args(self.args.all(), prefix) {
            let hit = self.hit_on(Arc::clone(screen), &target)?;
            return Ok(Some(self.inner_field(hit)));
        }
        let Some(label) = self.args.text("field") else { return Ok(None) };
        labelled_field(screen, label).and_then(|place| touch(screen, place)).map(Some).map_err(Stop::Failed)
    }

    /// The field inside or around what was named: labels of fields are often named instead of the fields.
    fn inner_field(&self, hit: Hit) -> Hit {
        let editable = |node: &Node| node.is(Flag::Editable) && !node.visible.is_empty();
        let Some(place) = hit.place else { return hit };
        if hit.node().is_some_and(editable) {
            return hit;
        }
        let tree = &hit.screen.tree;
        let mut inside = tree.below(place).filter(|below| tree.get(*below).is_some_and(editable));
        match (inside.next(), inside.next()) {
            (Some(only), None) => touch(&hit.screen, only).unwrap_or(hit),
            _ => hit,
        }
    }

    /// The only field of a screen.
    fn only_field(&self, screen: &Arc<Screen>) -> Result<Hit, Stop> {
        let fields = fields(screen);
        match fields.as_slice() {
            [only] => touch(screen, *only).map_err(Stop::Failed),
            [] => Err(Stop::Failed(no_field("there is no field on the screen"))),
            several => Err(Stop::Failed(DeviceError::new(
                DeviceCode::SeveralElements,
                format!("there are {} fields on the screen", several.len()),
                "name one of them",
            ))),
        }
    }

    /// Notes the field that has the focus.
    async fn note_focused(&mut self, screen: &Screen) -> Result<(), Stop> {
        self.aim.app = screen.tree.app().to_owned();
        if let Some(place) = focused(screen) {
            self.note_place(screen, place);
            return Ok(());
        }
        // Fields of web pages and games are in no tree; the keyboard tells that something takes text.
        if self.seat.driver.keyboard_shown(&self.seat.serial).await? {
            return Ok(());
        }
        Err(Stop::Failed(no_field("no field has the focus")))
    }

    async fn focus(&mut self, hit: &Hit) -> Result<(), Stop> {
        if hit.node().is_some_and(|node| node.is(Flag::Focused) && node.is(Flag::Editable)) {
            return Ok(());
        }
        self.seat.driver.gesture(&self.seat.serial, Gesture::Tap { at: hit.point }).await?;
        self.seat.settle(Some(&hit.screen)).await?;
        Ok(())
    }

    /// Deletes what is in the focused field.
    async fn empty_field(&mut self) -> Result<(), Stop> {
        let mut last: Option<String> = None;
        for _ in 0..CLEAR_ROUNDS_MAX {
            let screen = self.seat.look().await?;
            let text = focused(&screen)
                .and_then(|place| screen.tree.get(place))
                .map(|node| if node.text == node.hint { String::new() } else { node.text.clone() });
            let count = match &text {
                // What deleting does not change is the hint of an empty field.
                Some(text) if text.is_empty() || last.as_ref() == Some(text) => return Ok(()),
                Some(text) => text.chars().count(),
                None => CLEAR_BLIND,
            };
            let mut codes = vec![keys::MOVE_END];
            codes.extend(std::iter::repeat_n(keys::DELETE, count));
            for part in codes.chunks(KEYS_MAX) {
                self.seat.driver.keys(&self.seat.serial, part).await?;
            }
            if text.is_none() {
                return Ok(());
            }
            last = text;
        }
        Ok(())
    }
}

fn touch(screen: &Arc<Screen>, place: usize) -> Result<Hit, DeviceError> {
    let point = screen.tree.touch_point(place).ok_or_else(|| {
        DeviceError::new(
            DeviceCode::NotReachable,
            "the field is covered by something else",
            "close what covers it, or scroll it into view, then try again",
        )
    })?;
    Ok(Hit { screen: Arc::clone(screen), place: Some(place), point })
}

fn no_field(what: &str) -> DeviceError {
    DeviceError::new(
        DeviceCode::ElementNotFound,
        what,
        "name the field with target_* or field, or tap it first; describe_screen marks fields with `e`",
    )
}

/// Places of all fields that can be seen.
fn fields(screen: &Screen) -> Vec<usize> {
    let nodes = screen.tree.nodes.iter().enumerate();
    nodes
        .filter(|(_, node)| node.is(Flag::Editable) && !node.visible.is_empty())
        .map(|(place, _)| place)
        .collect()
}

/// The field that has the focus.
fn focused(screen: &Screen) -> Option<usize> {
    fields(screen)
        .into_iter()
        .find(|place| screen.tree.get(*place).is_some_and(|node| node.is(Flag::Focused)))
}

/// The field with a label: its own hint, description, text or id, or else the nearest field behind or below that text.
fn labelled_field(screen: &Screen, label: &str) -> Result<usize, DeviceError> {
    let wanted = normalise(label);
    let fields = fields(screen);
    let named = fields.iter().copied().find(|place| {
        screen.tree.get(*place).is_some_and(|node| {
            let id = node.short_id().replace('_', " ");
            [&node.hint, &node.description, &node.text, &id].iter().any(|own| normalise(own) == wanted)
        })
    });
    if let Some(place) = named {
        return Ok(place);
    }
    let selector = Selector { text: Some(label.to_owned()), ..Selector::default() };
    let beside = selector.find(&screen.tree).into_iter().find_map(|place| {
        let from = screen.tree.get(place)?.visible;
        fields
            .iter()
            .copied()
            .filter(|field| {
                screen
                    .tree
                    .get(*field)
                    .is_some_and(|node| node.visible.bottom > from.top && node.visible.right > from.left)
            })
            .min_by_key(|field| {
                screen.tree.get(*field).map_or(u64::MAX, |node| node.visible.distance(from.centre()))
            })
    });
    beside.ok_or_else(|| no_field(&format!("no field is labelled {:?}", shown(label))))
}
