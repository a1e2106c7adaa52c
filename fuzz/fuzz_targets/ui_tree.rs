//! A dump of any bytes: a tree whose listed elements can be touched, or a device error; never a panic, never a line that
//! is more than one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use repertoire::device::tree::read_tree;
use repertoire::device::{DeviceInfo, SceneDiff, Screen, Selector, TextMatch};

fuzz_target!(|bytes: &[u8]| {
    let Ok(tree) = read_tree(bytes, None) else { return };
    assert!(!tree.nodes.is_empty());
    for (place, node) in tree.nodes.iter().enumerate() {
        assert!(node.parent.is_none_or(|parent| parent < place) && node.end > place && node.end <= tree.nodes.len());
    }
    let info = DeviceInfo {
        serial: String::new(),
        model: String::new(),
        android: String::new(),
        sdk: 34,
        width: 1080,
        height: 2400,
        rotation: 0,
        density: 420,
    };
    let screen = Screen::new(tree, &info, bytes.len());
    for (index, element) in screen.elements.iter().enumerate() {
        assert!(screen.tree.reaches(element.place, element.point));
        assert!(!screen.line(index).contains('\n'));
    }
    assert!(SceneDiff::new(&screen, &screen).is_empty());
    let selector = Selector { text: Some("a".to_owned()), text_match: TextMatch::Contains, ..Selector::default() };
    if let Ok(place) = selector.one(&screen, None) {
        assert!(screen.tree.touch_point(place).is_some());
    }
});
