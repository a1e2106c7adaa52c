//! Bytes of a dump into a tree.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::device::DeviceResult;
use crate::device::tree::{Bounds, Flag, Node, Tree};
use crate::error::{DeviceCode, DeviceError};
use crate::limits::{UI_DEPTH_MAX, UI_NODES_MAX, UI_TREE_BYTES_MAX};

const OPENING: &[u8] = b"<hierarchy";
const CLOSING: &[u8] = b"</hierarchy>";

/// Views that draw their content themselves, by the end of their class.
const OPAQUE_CLASSES: [&str; 8] = [
    "WebView",
    "SurfaceView",
    "TextureView",
    "FlutterView",
    "FlutterSurfaceView",
    "UnityPlayer",
    "GLSurfaceView",
    "XWalkView",
];

/// Reads a dump: from `<hierarchy` on, leniently. `screen` clips what is visible.
///
/// Linear in the bytes. What cannot be read any further leaves the nodes before it, and [`Tree::cut`] set.
///
/// # Errors
/// [`DeviceCode::UiUnavailable`] where there is no `<hierarchy` or it is larger than [`UI_TREE_BYTES_MAX`];
/// [`DeviceCode::UiRootMissing`] where there is no node in it.
pub fn read_tree(dump: &[u8], screen: Option<Bounds>) -> DeviceResult<Tree> {
    let text = hierarchy(dump)?;
    let mut building = Building::default();
    let mut reader = Reader::from_str(&text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => building.open(&tag),
            Ok(Event::Empty(tag)) => {
                building.open(&tag);
                building.close();
            }
            Ok(Event::End(_)) => building.close(),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                building.tree.cut = true;
                break;
            }
        }
    }
    building.finish(screen)
}

/// The part of a dump that is the tree, as text.
pub(crate) fn hierarchy(dump: &[u8]) -> DeviceResult<String> {
    let hint = "call again in a moment; if it stays, no other program may hold the accessibility connection";
    let Some(begin) = find(dump, OPENING) else {
        let said: String = String::from_utf8_lossy(dump).chars().take(200).collect();
        let message = format!("the phone wrote no UI tree but {:?}", said.trim());
        return Err(DeviceError::new(DeviceCode::UiUnavailable, message, hint));
    };
    let tail = dump.get(begin..).unwrap_or_default();
    let end = rfind(tail, CLOSING).map_or(tail.len(), |at| at + CLOSING.len());
    let tree = tail.get(..end).unwrap_or_default();
    if tree.len() > UI_TREE_BYTES_MAX {
        let message = format!("the UI tree has {} bytes, at most {UI_TREE_BYTES_MAX} are read", tree.len());
        return Err(DeviceError::new(DeviceCode::UiUnavailable, message, "use screenshot on this screen"));
    }
    Ok(String::from_utf8_lossy(tree).into_owned())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn rfind(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).rposition(|window| window == wanted)
}

/// A tree while it is read.
#[derive(Default)]
struct Building {
    tree: Tree,
    /// Open elements: the place of the node, or `None` where it is left out or no node.
    open: Vec<Option<usize>>,
    /// Those of them that are nodes.
    kept: Vec<usize>,
}

impl Building {
    fn open(&mut self, tag: &BytesStart<'_>) {
        let name = tag.name();
        // Some dumps name elements by their class instead of `node`.
        let is_node = name.as_ref() != "hierarchy";
        let parent = self.kept.last().copied();
        let fits = self.tree.nodes.len() < UI_NODES_MAX && self.open.len() <= UI_DEPTH_MAX;
        if !is_node {
            self.tree.rotation = attribute(tag, "rotation").and_then(|text| text.parse().ok());
            self.open.push(None);
        } else if fits {
            let place = self.tree.nodes.len();
            self.tree.nodes.push(Node { parent, end: place + 1, ..node(tag) });
            self.open.push(Some(place));
            self.kept.push(place);
        } else {
            self.tree.cut = true;
            // Depth is counted, so that ends still match; far below the limit nothing is kept.
            self.open.push(None);
        }
    }

    fn close(&mut self) {
        if let Some(Some(place)) = self.open.pop() {
            self.kept.pop();
            let end = self.tree.nodes.len();
            if let Some(node) = self.tree.nodes.get_mut(place) {
                node.end = end;
            }
        }
    }

    fn finish(mut self, screen: Option<Bounds>) -> DeviceResult<Tree> {
        self.tree.cut |= self.open.iter().any(Option::is_some);
        while !self.open.is_empty() {
            self.close();
        }
        if self.tree.nodes.is_empty() {
            return Err(DeviceError::new(
                DeviceCode::UiRootMissing,
                "the phone has no window to describe at this moment",
                "call again in a moment; wake the phone if its screen is dark",
            ));
        }
        let screen = screen.unwrap_or_else(|| extent(&self.tree));
        for place in 0..self.tree.nodes.len() {
            let clip = match self.tree.nodes.get(place).and_then(|node| node.parent) {
                Some(parent) => self.tree.nodes.get(parent).map_or(screen, |parent| parent.visible),
                None => screen,
            };
            if let Some(node) = self.tree.nodes.get_mut(place) {
                node.visible = node.bounds.intersect(clip);
            }
        }
        Ok(self.tree)
    }
}

/// What the windows cover, where nobody knows the screen.
fn extent(tree: &Tree) -> Bounds {
    let roots = tree.nodes.iter().filter(|node| node.parent.is_none() && !node.bounds.is_empty());
    roots.fold(Bounds::default(), |all, node| {
        Bounds::new(0, 0, all.right.max(node.bounds.right), all.bottom.max(node.bounds.bottom))
    })
}

/// One element's attributes. What is not there is empty or off; a node that says nothing is enabled.
fn node(tag: &BytesStart<'_>) -> Node {
    let mut node = Node::default();
    node.set(Flag::Enabled, true);
    let mut attributes = tag.attributes();
    attributes.with_checks(false);
    for attribute in attributes.flatten() {
        let value = || decode(&attribute.value);
        let on = attribute.value.as_ref() == "true";
        match attribute.key.as_ref() {
            "text" => node.text = value(),
            "content-desc" => node.description = value(),
            "resource-id" => node.resource_id = value(),
            "class" => node.class = value(),
            "package" => node.package = value(),
            "hint" => node.hint = value(),
            "bounds" => node.bounds = Bounds::parse(&value()).unwrap_or_default(),
            "clickable" => node.set(Flag::Clickable, on),
            "long-clickable" => node.set(Flag::LongClickable, on),
            "scrollable" => node.set(Flag::Scrollable, on),
            "checkable" => node.set(Flag::Checkable, on),
            "checked" => node.set(Flag::Checked, on),
            "focusable" => node.set(Flag::Focusable, on),
            "focused" => node.set(Flag::Focused, on),
            "selected" => node.set(Flag::Selected, on),
            "password" => node.set(Flag::Password, on),
            "enabled" if !on => node.flags &= !(Flag::Enabled as u16),
            _ => {}
        }
    }
    if node.class.is_empty() {
        node.class = tag.name().as_ref().to_owned();
    }
    node.set(
        Flag::Editable,
        node.class.ends_with("EditText") || node.class.ends_with("AutoCompleteTextView"),
    );
    node.set(Flag::Opaque, OPAQUE_CLASSES.contains(&node.short_class()));
    node
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    attributes.with_checks(false);
    let found = attributes.flatten().find(|attribute| attribute.key.as_ref() == name)?;
    Some(decode(&found.value))
}

/// References into characters, leniently: halves of a surrogate pair are joined, what is no character becomes the
/// replacement character, an unknown reference stays as it is written. Control characters become spaces.
fn decode(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut high: Option<u32> = None;
    while let Some(at) = rest.find('&') {
        flush(&mut out, &mut high, at > 0);
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let reference = rest.get(1..).and_then(|tail| tail.split_once(';')).map(|(name, _)| name);
        let Some(unit) = reference.filter(|name| name.len() <= 10).and_then(code_unit) else {
            flush(&mut out, &mut high, true);
            out.push('&');
            rest = rest.get(1..).unwrap_or_default();
            continue;
        };
        rest = rest.get(reference.map_or(0, str::len) + 2..).unwrap_or_default();
        match (high.take(), unit) {
            (Some(first), 0xDC00..=0xDFFF) => {
                let joined = 0x1_0000 + ((first - 0xD800) << 10) + (unit - 0xDC00);
                out.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (before, 0xD800..=0xDBFF) => {
                high = before;
                flush(&mut out, &mut high, true);
                high = Some(unit);
            }
            (before, _) => {
                high = before;
                flush(&mut out, &mut high, true);
                out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }
    flush(&mut out, &mut high, true);
    out.push_str(rest);
    if out.chars().any(char::is_control) {
        return out.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    }
    out
}

/// Writes a half that stayed alone.
fn flush(out: &mut String, high: &mut Option<u32>, alone: bool) {
    if alone && high.take().is_some() {
        out.push(char::REPLACEMENT_CHARACTER);
    }
}

/// The number of a reference's character or half.
fn code_unit(name: &str) -> Option<u32> {
    match name {
        "amp" => Some(u32::from('&')),
        "lt" => Some(u32::from('<')),
        "gt" => Some(u32::from('>')),
        "quot" => Some(u32::from('"')),
        "apos" => Some(u32::from('\'')),
        _ => {
            let number = name.strip_prefix('#')?;
            match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
                None => number.parse().ok(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(xml: &str) -> Tree {
        read_tree(xml.as_bytes(), None).unwrap()
    }

    #[test]
    fn text_around_the_tree_is_cut_away() {
        let dump = "WARNING: linker\n<?xml version='1.0'?><hierarchy rotation=\"1\"><node text=\"a\" bounds=\"[0,0][9,9]\"/></hierarchy>UI hierchary dumped to: /dev/tty\n";
        let tree = tree(dump);
        assert_eq!((tree.nodes.len(), tree.rotation, tree.cut), (1, Some(1), false));
        let error = read_tree(b"ERROR: could not get idle state.", None).unwrap_err();
        assert_eq!(error.code, DeviceCode::UiUnavailable);
        assert!(error.message.contains("idle state"), "{error}");
        assert_eq!(
            read_tree(b"<hierarchy rotation=\"0\"></hierarchy>", None).unwrap_err().code,
            DeviceCode::UiRootMissing
        );
    }

    #[test]
    fn halves_of_characters_and_control_characters_are_read_leniently() {
        let cases = [
            ("&#128512;", "\u{1f600}"),
            ("&#55357;&#56832;", "\u{1f600}"),
            ("&#xD83D;", "\u{fffd}"),
            ("&#xD83D;x", "\u{fffd}x"),
            ("&#xDE00;", "\u{fffd}"),
            ("&#xD83D;&#xD83D;&#xDE00;", "\u{fffd}\u{1f600}"),
            ("a&#0;b&#8;c\u{1}d", "a b c d"),
            ("R&D &nosuch; &amp;lt; &lt;&gt;&quot;&apos;", "R&D &nosuch; &lt; <>\"'"),
            ("&#x110000;&#99999999999;", "\u{fffd}&#99999999999;"),
        ];
        for (written, read) in cases {
            assert_eq!(decode(written), read, "{written}");
        }
        let mut raw =
            b"<hierarchy><node text=\"a\xed\xa0\xbd\x00b\" bounds=\"[0,0][9,9]\"/></hierarchy>".to_vec();
        assert!(read_tree(&raw, None).unwrap().nodes[0].text.starts_with('a'));
        raw.truncate(60);
        assert!(read_tree(&raw, None).is_ok() || raw.len() < 61, "a cut tree keeps what came before");
    }

    #[test]
    fn strange_bounds_are_never_visible() {
        let tree = tree(
            "<hierarchy><node bounds=\"[0,0][100,200]\"><node text=\"off\" bounds=\"[-50,-80][-10,-20]\"/>\
             <node text=\"inverted\" bounds=\"[90,90][10,10]\"/><node text=\"empty\" bounds=\"[5,5][5,50]\"/>\
             <node text=\"none\"/><node text=\"half\" bounds=\"[50,150][150,250]\"/></node></hierarchy>",
        );
        let visible: Vec<_> =
            tree.nodes.iter().filter(|n| !n.visible.is_empty()).map(|n| n.text.as_str()).collect();
        assert_eq!(visible, ["", "half"]);
        assert_eq!(tree.nodes[5].visible, Bounds::new(50, 150, 100, 200));
    }

    #[test]
    fn depth_size_and_broken_ends_have_an_end() {
        let deep = format!("<hierarchy>{}</hierarchy>", "<node bounds=\"[0,0][9,9]\">".repeat(100_000));
        let read = read_tree(deep.as_bytes(), None).unwrap();
        assert!(read.cut && read.nodes.len() <= UI_DEPTH_MAX + 1, "{}", read.nodes.len());
        let wide =
            format!("<hierarchy>{}</hierarchy>", "<node bounds=\"[0,0][9,9]\"/>".repeat(UI_NODES_MAX + 5));
        assert_eq!(tree(&wide).nodes.len(), UI_NODES_MAX);
        let broken = tree("<hierarchy><node text=\"a\"></wrong></node></node><node text=\"b\"/></hierarchy>");
        assert_eq!(broken.nodes.len(), 2);
        assert!(tree("<hierarchy><node text=\"a\"><node text=\"b\"").cut);
    }

    #[test]
    fn a_label_is_what_a_person_reads_on_the_element() {
        let tree = tree(
            "<hierarchy><node clickable=\"true\" bounds=\"[0,0][9,9]\"><node text=\"Wi-Fi\"/><node text=\"On\"/>\
             <node clickable=\"true\" text=\"Gear\"/></node><node class=\"android.webkit.WebView\"/></hierarchy>",
        );
        assert_eq!(tree.label(0), "Wi-Fi On");
        assert_eq!(tree.label(3), "Gear");
        assert!(tree.nodes[4].is(Flag::Opaque) && tree.nodes[0].is(Flag::Enabled));
    }
}
