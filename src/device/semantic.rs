//! Elements by what they are for: `find_element` with `match` semantic.

use std::collections::BTreeSet;

use crate::device::screen::Screen;
use crate::device::selector::Selector;
use crate::device::tree::{Flag, Node};
use crate::model::normalise;

/// Words that mean the same on a phone's screen. A row holds normalised words and phrases.
const SAME: &[&[&str]] = &[
    &["search", "find", "magnifier", "lookup", "\u{641c}\u{7d22}", "\u{67e5}\u{627e}"],
    &["back", "return", "up", "\u{8fd4}\u{56de}"],
    &["close", "dismiss", "cancel", "exit", "\u{5173}\u{95ed}", "\u{53d6}\u{6d88}"],
    &["send", "submit", "post", "publish", "\u{53d1}\u{9001}", "\u{53d1}\u{5e03}", "\u{63d0}\u{4ea4}"],
    &["settings", "preferences", "options", "gear", "\u{8bbe}\u{7f6e}"],
    &[
        "ok",
        "okay",
        "confirm",
        "done",
        "yes",
        "accept",
        "\u{786e}\u{5b9a}",
        "\u{786e}\u{8ba4}",
        "\u{5b8c}\u{6210}",
        "\u{597d}",
    ],
    &["next", "continue", "forward", "\u{4e0b}\u{4e00}\u{6b65}", "\u{7ee7}\u{7eed}"],
    &["menu", "more", "overflow", "hamburger", "\u{66f4}\u{591a}", "\u{83dc}\u{5355}"],
    &["like", "favorite", "favourite", "heart", "star", "\u{8d5e}", "\u{6536}\u{85cf}"],
    &["share", "\u{5206}\u{4eab}"],
    &["delete", "remove", "trash", "bin", "\u{5220}\u{9664}"],
    &["add", "new", "create", "plus", "compose", "\u{6dfb}\u{52a0}", "\u{65b0}\u{5efa}"],
    &["edit", "change", "modify", "pencil", "\u{7f16}\u{8f91}", "\u{4fee}\u{6539}"],
    &["save", "keep", "\u{4fdd}\u{5b58}"],
    &["home", "main", "start", "\u{9996}\u{9875}"],
    &["profile", "account", "me", "avatar", "\u{6211}", "\u{6211}\u{7684}", "\u{8d26}\u{53f7}"],
    &["login", "signin", "\u{767b}\u{5f55}"],
    &["camera", "photo", "picture", "shutter", "\u{62cd}\u{7167}", "\u{76f8}\u{673a}"],
    &["message", "chat", "inbox", "\u{6d88}\u{606f}", "\u{804a}\u{5929}"],
    &["field", "input", "box", "edittext", "\u{8f93}\u{5165}\u{6846}"],
    &["button", "\u{6309}\u{94ae}"],
    &["switch", "toggle", "checkbox", "\u{5f00}\u{5173}"],
];

/// A found node with how well it fits, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) place: usize,
    pub(crate) score: f32,
}

/// Nodes whose words, id and kind fit the words of a selector, best first. Deterministic: equal scores stay in the
/// order of the screen.
pub(crate) fn search(selector: &Selector, screen: &Screen) -> Vec<Hit> {
    let asked = [&selector.text, &selector.description, &selector.resource_id, &selector.class];
    let asked: BTreeSet<String> =
        asked.iter().filter_map(|part| part.as_ref()).flat_map(|part| concepts(part)).collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let mut hits: Vec<Hit> = screen
        .elements
        .iter()
        .filter_map(|element| {
            let node = screen.tree.get(element.place)?;
            let score = score(&asked, &element.label, node);
            (score >= 0.3).then_some(Hit { place: element.place, score })
        })
        .collect();
    hits.sort_by(|left, right| right.score.total_cmp(&left.score));
    hits
}

fn score(asked: &BTreeSet<String>, label: &str, node: &Node) -> f32 {
    let mut words: BTreeSet<String> = concepts(label).into_iter().collect();
    words.extend(concepts(&node.description));
    words.extend(concepts(&node.hint));
    let strong = words.len();
    words.extend(concepts(node.short_id()));
    words.extend(concepts(node.short_class()));
    if node.is(Flag::Editable) {
        words.extend(concepts("input"));
    }
    let common = asked.iter().filter(|word| words.contains(*word)).count();
    let (common, asked, strong) = (as_f32(common), as_f32(asked.len()), as_f32(strong));
    // Whoever has few other words is meant rather than a long text that happens to hold them.
    (common / asked) * (0.7 + 0.3 * (common / strong.max(common).max(1.0)))
}

fn as_f32(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

/// The words of a text, each replaced by the first of its row where it has one.
fn concepts(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        // Ids are written in one word: searchButton, search_button.
        if (c.is_uppercase() && before.is_lowercase()) || c == '_' {
            spaced.push(' ');
        }
        if c != '_' {
            spaced.push(c);
        }
        before = c;
    }
    let normal = normalise(&spaced);
    let mut out = Vec::new();
    for word in normal.split(' ').filter(|word| !word.is_empty() && !is_filler(word)) {
        match SAME.iter().find(|row| row.contains(&word)) {
            Some(row) => out.extend(row.first().map(|first| (*first).to_owned())),
            None => out.push(word.to_owned()),
        }
        // Chinese has no spaces: a known word inside of a longer one counts, too.
        if !word.is_ascii() {
            let inside = SAME.iter().filter(|row| {
                row.iter().any(|known| !known.is_ascii() && word.contains(known) && *known != word)
            });
            out.extend(inside.filter_map(|row| row.first()).map(|first| (*first).to_owned()));
        }
    }
    out
}

fn is_filler(word: &str) -> bool {
    ["the", "a", "an", "of", "to", "for", "in", "on", "icon", "btn", "iv", "tv", "img", "view", "\u{7684}"]
        .contains(&word)
}
