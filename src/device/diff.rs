//! What an action changed on the screen, in a few lines.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::device::screen::{Screen, shown};
use crate::device::tree::Flag;
use crate::limits::SCENE_DIFF_LINES_MAX;

/// The difference of two screens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SceneDiff {
    /// The app that came to the foreground, if it is another one.
    pub app: Option<String>,
    /// Lines of elements that are new, with their indexes in the new screen.
    pub added: Vec<String>,
    /// Labels of elements that are gone.
    pub removed: Vec<String>,
}

impl SceneDiff {
    /// Compares two screens by what a person would tell apart: words, ids, states; not by where things moved.
    #[must_use]
    pub fn new(before: &Screen, after: &Screen) -> Self {
        let mut left: HashMap<String, usize> = HashMap::new();
        for index in 0..before.elements.len() {
            *left.entry(key(before, index)).or_default() += 1;
        }
        let mut added = Vec::new();
        for index in 0..after.elements.len() {
            match left.get_mut(&key(after, index)) {
                Some(count) if *count > 0 => *count -= 1,
                _ => added.push(after.line(index)),
            }
        }
        let mut removed = Vec::new();
        for index in 0..before.elements.len() {
            if let Some(count) = left.get_mut(&key(before, index)).filter(|count| **count > 0) {
                *count -= 1;
                removed.push(name(before, index));
            }
        }
        let app = (before.tree.app() != after.tree.app()).then(|| after.tree.app().to_owned());
        Self { app, added, removed }
    }

    /// Whether nothing changed that a person would see.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.app.is_none() && self.added.is_empty() && self.removed.is_empty()
    }

    /// The difference in words, ending with lines of what is new.
    #[must_use]
    pub fn text(&self) -> String {
        if self.is_empty() {
            return "nothing visible changed".to_owned();
        }
        let app = self.app.as_ref().map(|app| format!("app changed to {app}; ")).unwrap_or_default();
        let mut text = format!("{app}+{} -{} elements", self.added.len(), self.removed.len());
        for line in self.added.iter().take(SCENE_DIFF_LINES_MAX) {
            text.push_str("\n+ ");
            text.push_str(line);
        }
        if self.added.len() > SCENE_DIFF_LINES_MAX {
            text.push_str("\n+ ...");
        }
        text
    }

    /// The difference as data.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let most = |lines: &[String]| lines.iter().take(SCENE_DIFF_LINES_MAX).cloned().collect::<Vec<_>>();
        json!({
            "app": self.app,
            "added": self.added.len(),
            "removed": self.removed.len(),
            "new": most(&self.added),
            "gone": most(&self.removed),
        })
    }
}

fn key(screen: &Screen, index: usize) -> String {
    let Some(element) = screen.elements.get(index) else { return String::new() };
    let Some(node) = screen.tree.get(element.place) else { return String::new() };
    let states =
        [Flag::Checked, Flag::Selected, Flag::Focused, Flag::Enabled].map(|flag| u8::from(node.is(flag)));
    format!("{}\u{1}{}\u{1}{}\u{1}{states:?}", node.resource_id, node.class, element.label)
}

fn name(screen: &Screen, index: usize) -> String {
    let Some(element) = screen.elements.get(index) else { return String::new() };
    if !element.label.is_empty() {
        return shown(&element.label);
    }
    screen.tree.get(element.place).map(|node| node.short_id().to_owned()).unwrap_or_default()
}
