//! Where a scene stands, and what an event makes of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::device::tree::{Flag, Node, Tree, read_tree};
use crate::device::{DeviceResult, Gesture, Point, keys};
use crate::error::{DeviceCode, DeviceError};

use super::scene::{Event, Scene, Shot, View};
use super::xml::{self, Typed, is_field};

/// The moving part of a scripted phone.
#[derive(Debug)]
pub(super) struct State {
    pub(super) screen: String,
    pub(super) typed: Typed,
    pub(super) keyboard_hidden: bool,
    /// Since when the screen is shown.
    since: Instant,
    /// Calls by the name of their method.
    calls: BTreeMap<&'static str, u32>,
    /// What was done to the phone, one line each.
    pub(super) log: Vec<String>,
}

impl State {
    pub(super) fn new(scene: &Scene) -> Self {
        Self {
            screen: scene.start.clone(),
            typed: Typed::default(),
            keyboard_hidden: false,
            since: Instant::now(),
            calls: BTreeMap::new(),
            log: Vec::new(),
        }
    }

    /// Counts a call and fails it if the scene says so; moves on what moves by itself.
    pub(super) fn begin(&mut self, scene: &Scene, call: &'static str) -> DeviceResult<()> {
        let count = self.calls.entry(call).or_default();
        *count += 1;
        let count = *count;
        let due = scene.faults.iter().find(|fault| {
            fault.call == call && count > fault.after && count <= fault.after.saturating_add(fault.times)
        });
        if let Some(fault) = due {
            return Err(failure(&fault.code));
        }
        let waited = self.since.elapsed();
        let due = |event: &Event| event.after_ms.is_some_and(|ms| waited >= Duration::from_millis(ms));
        self.fire(scene, due).map(|_| ())
    }

    pub(super) fn shot<'a>(&self, scene: &'a Scene) -> &'a Shot {
        static NOTHING: std::sync::LazyLock<Shot> = std::sync::LazyLock::new(Shot::default);
        scene.screens.get(&self.screen).unwrap_or(&NOTHING)
    }

    /// Takes the first event that fits, of the screen or of the scene; false if there is none.
    pub(super) fn fire(&mut self, scene: &Scene, fits: impl Fn(&Event) -> bool) -> DeviceResult<bool> {
        let shot = self.shot(scene);
        let Some(event) = shot.on.iter().chain(&scene.on).find(|event| fits(event)) else { return Ok(false) };
        if let Some(code) = &event.fail {
            return Err(failure(code));
        }
        if let Some(go) = &event.go {
            if *go != self.screen {
                self.typed.focus = None;
                self.keyboard_hidden = false;
            }
            self.screen.clone_from(go);
            self.since = Instant::now();
        }
        Ok(true)
    }

    pub(super) fn gesture(&mut self, scene: &Scene, gesture: Gesture) -> DeviceResult<()> {
        self.log.push(match gesture {
            Gesture::Tap { at } => format!("tap {},{}", at.x, at.y),
            Gesture::DoubleTap { at } => format!("double_tap {},{}", at.x, at.y),
            Gesture::LongPress { at, .. } => format!("long_press {},{}", at.x, at.y),
            Gesture::Swipe { from, to, .. } => format!("swipe {},{} {},{}", from.x, from.y, to.x, to.y),
            Gesture::Drag { from, to, .. } => format!("drag {},{} {},{}", from.x, from.y, to.x, to.y),
        });
        match gesture {
            Gesture::Tap { at } => {
                let names = self.names_at(scene, at);
                self.focus_at(scene, at);
                self.fire(scene, |event| event.tap.as_ref().is_some_and(|name| names.contains(name)))?;
            }
            Gesture::DoubleTap { at } => {
                let names = self.names_at(scene, at);
                self.fire(scene, |event| event.double_tap.as_ref().is_some_and(|name| names.contains(name)))?;
            }
            Gesture::LongPress { at, .. } => {
                let names = self.names_at(scene, at);
                self.fire(scene, |event| event.long_press.as_ref().is_some_and(|name| names.contains(name)))?;
            }
            Gesture::Swipe { from, to, .. } | Gesture::Drag { from, to, .. } => {
                let way = direction(from, to);
                self.fire(scene, |event| event.swipe.as_deref() == Some(way))?;
            }
        }
        Ok(())
    }

    pub(super) fn text(&mut self, scene: &Scene, text: &str) -> DeviceResult<()> {
        self.log.push(format!("text {text}"));
        if let Some(field) = self.focused(scene) {
            let written = self.typed.fields.entry(field.id.clone()).or_insert_with(|| field.text.clone());
            written.push_str(text);
        }
        self.fire(scene, |event| event.text.as_ref().is_some_and(|wanted| wanted == "*" || wanted == text))?;
        Ok(())
    }

    pub(super) fn key(&mut self, scene: &Scene, code: u16) -> DeviceResult<()> {
        self.log.push(format!("key {code}"));
        if code == keys::DELETE
            && let Some(field) = self.focused(scene)
        {
            self.typed.fields.entry(field.id.clone()).or_insert_with(|| field.text.clone()).pop();
        }
        if code == keys::BACK && self.keyboard(scene) {
            self.keyboard_hidden = true;
            return Ok(());
        }
        self.fire(scene, |event| event.key.as_ref().is_some_and(|key| keys::code(key) == Ok(code)))?;
        Ok(())
    }

    /// Whether the keyboard is shown: the screen says so, or a field has the focus.
    pub(super) fn keyboard(&self, scene: &Scene) -> bool {
        !self.keyboard_hidden && (self.shot(scene).keyboard || self.focused(scene).is_some())
    }

    fn focused<'a>(&self, scene: &'a Scene) -> Option<&'a View> {
        all(&self.shot(scene).nodes).into_iter().find(|view| {
            is_field(view) && self.typed.focus.as_ref().map_or(view.focused, |focus| *focus == view.id)
        })
    }

    fn tree(&self, scene: &Scene) -> Option<Tree> {
        let dump = xml::write(self.shot(scene), &self.typed, scene.device.rotation);
        read_tree(dump.as_bytes(), None).ok()
    }

    /// Texts, descriptions and ids of what a touch at a point hits.
    fn names_at(&self, scene: &Scene, at: Point) -> Vec<String> {
        let Some(tree) = self.tree(scene) else { return Vec::new() };
        let Some(place) = tree.touched(at).or_else(|| tree.seen_at(at)) else { return Vec::new() };
        let mut names = vec![tree.label(place)];
        let node = tree.get(place).cloned().unwrap_or_default();
        names.extend([node.short_id().to_owned(), node.resource_id, node.text, node.description]);
        names.retain(|name| !name.is_empty());
        names
    }

    fn focus_at(&mut self, scene: &Scene, at: Point) {
        let Some(tree) = self.tree(scene) else { return };
        let hit = tree.touched(at).or_else(|| tree.seen_at(at));
        let field = hit.and_then(|place| tree.get(place)).filter(|node| node.is(Flag::Editable));
        if let Some(id) = field.map(Node::short_id) {
            self.typed.focus = Some(id.to_owned());
            self.keyboard_hidden = false;
        }
    }
}

/// All views of a screen, parents first.
fn all(views: &[View]) -> Vec<&View> {
    let mut out = Vec::new();
    let mut waiting: Vec<&View> = views.iter().rev().collect();
    while let Some(view) = waiting.pop() {
        out.push(view);
        waiting.extend(view.children.iter().rev());
    }
    out
}

fn direction(from: Point, to: Point) -> &'static str {
    let (x, y) = (to.x - from.x, to.y - from.y);
    match (x.abs() > y.abs(), x > 0, y > 0) {
        (true, true, _) => "right",
        (true, false, _) => "left",
        (false, _, true) => "down",
        (false, _, false) => "up",
    }
}

fn failure(code: &str) -> DeviceError {
    let code = DeviceCode::from_name(code).unwrap_or(DeviceCode::CommandFailed);
    DeviceError::new(code, "the scene says that this call fails", "look at the scene file")
}
