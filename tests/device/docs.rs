//! The documents say what the code says.

use std::path::PathBuf;

use repertoire::device::ScriptedDriver;
use repertoire::error::DeviceCode;

fn document(name: &str) -> String {
    std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name))
        .expect("a document")
}

#[test]
fn every_code_is_documented_with_its_meaning() {
    let text = document("device.md");
    for code in DeviceCode::ALL {
        let row = format!("| `{}` | {} |", code.name(), code.meaning());
        assert!(text.contains(&row), "{row}");
        assert_eq!(DeviceCode::from_name(code.name()), Some(code));
    }
}

#[test]
fn the_scene_of_the_document_can_be_played() {
    let text = document("device.md");
    let scene = text.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a scene");
    let driver = ScriptedDriver::new(scene).expect("a sound scene");
    assert_eq!(driver.screen(), "home");
}
