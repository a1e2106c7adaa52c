//! A scene's screen as the dump of a phone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::scene::{Shot, View};

/// Where the focus is and what was typed.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed {
    /// Short id of the focused field, where a touch has moved the focus.
    pub(super) focus: Option<String>,
    /// Text of each field by its short id.
    pub(super) fields: BTreeMap<String, String>,
}

/// The dump of a screen.
pub(super) fn write(shot: &Shot, typed: &Typed, rotation: u8) -> String {
    if let Some(xml) = &shot.xml {
        return fill(xml, typed, true);
    }
    let mut out = format!(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"{rotation}\">"
    );
    for (index, view) in shot.nodes.iter().enumerate() {
        node(&mut out, index, view, &shot.app, typed);
    }
    out.push_str("</hierarchy>");
    out
}

/// Text of a view: what was typed into it, else as written.
pub(super) fn text_of(view: &View, typed: &Typed) -> String {
    match typed.fields.get(&view.id).filter(|_| is_field(view)) {
        // A phone shows dots for what a hidden field holds.
        Some(text) if view.password => "\u{2022}".repeat(text.chars().count()),
        Some(text) => text.clone(),
        None => fill(&view.text, typed, false),
    }
}

/// Whether text can be typed into a view.
pub(super) fn is_field(view: &View) -> bool {
    view.class.ends_with("EditText")
}

fn node(out: &mut String, index: usize, view: &View, app: &str, typed: &Typed) {
    let package = if view.package.is_empty() { app } else { &view.package };
    let id = if view.id.is_empty() || view.id.contains('/') {
        view.id.clone()
    } else {
        format!("{package}:id/{}", view.id)
    };
    let class = match (view.class.as_str(), view.clickable, view.text.is_empty()) {
        ("", true, _) => "android.widget.Button",
        ("", false, false) => "android.widget.TextView",
        ("", false, true) => "android.view.View",
        (class, _, _) => class,
    };
    let focused = match &typed.focus {
        Some(focus) => !view.id.is_empty() && *focus == view.id,
        None => view.focused,
    };
    let [left, top, right, bottom] = view.bounds;
    let texts = [
        ("text", text_of(view, typed)),
        ("resource-id", id),
        ("class", class.to_owned()),
        ("package", package.to_owned()),
        ("content-desc", view.description.clone()),
        ("hint", view.hint.clone()),
    ];
    // Writing into a String cannot fail.
    let _ = write!(out, "<node index=\"{index}\"");
    for (name, value) in texts {
        let _ = write!(out, " {name}=\"{}\"", escape(&value));
    }
    let flags = [
        ("checkable", view.checkable),
        ("checked", view.checked),
        ("clickable", view.clickable),
        ("enabled", !view.disabled),
        ("focusable", view.clickable || is_field(view)),
        ("focused", focused),
        ("scrollable", view.scrollable),
        ("long-clickable", view.long_clickable),
        ("password", view.password),
        ("selected", view.selected),
    ];
    for (name, on) in flags {
        let _ = write!(out, " {name}=\"{on}\"");
    }
    let _ = write!(out, " bounds=\"[{left},{top}][{right},{bottom}]\"");
    if view.children.is_empty() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    for (index, child) in view.children.iter().enumerate() {
        node(out, index, child, package, typed);
    }
    out.push_str("</node>");
}

/// Replaces `${id}` by what was typed into the field of that id.
fn fill(text: &str, typed: &Typed, escaped: bool) -> String {
    let mut out = text.to_owned();
    for (id, value) in &typed.fields {
        let value = if escaped { escape(value) } else { value.clone() };
        out = out.replace(&format!("${{{id}}}"), &value);
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            other => out.push(other),
        }
    }
    out
}
