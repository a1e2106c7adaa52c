//! The compact form: small, and an index that taps what its line says.

use repertoire::device::tree::read_tree;
use repertoire::device::{DeviceInfo, Screen};

use crate::support::Phone;

fn info() -> DeviceInfo {
    DeviceInfo {
        serial: "p".to_owned(),
        model: String::new(),
        android: String::new(),
        sdk: 34,
        width: 540,
        height: 1200,
        rotation: 0,
        density: 240,
    }
}

/// Dumps of the shared scene, as a phone would write them.
async fn dumps() -> Vec<String> {
    let mut out = Vec::new();
    for launch in ["com.xingin.xhs", "com.example.shop"] {
        let phone = Phone::shared();
        out.push(phone.text("ui_tree", serde_json::json!({})).await);
        phone.text("launch_app", serde_json::json!({"package": launch})).await;
        phone.text("wait_for_idle", serde_json::json!({"stable_ms": 200})).await;
        out.push(phone.text("ui_tree", serde_json::json!({})).await);
    }
    out
}

#[tokio::test]
async fn every_listed_point_is_inside_of_its_element_and_not_covered() {
    for dump in dumps().await {
        let screen = Screen::new(read_tree(dump.as_bytes(), None).unwrap(), &info(), dump.len());
        assert!(!screen.elements.is_empty());
        for element in &screen.elements {
            assert!(screen.tree.reaches(element.place, element.point), "{element:?}");
        }
    }
}

#[tokio::test]
async fn a_description_takes_a_small_part_of_the_tree() {
    let mut parts = Vec::new();
    for dump in dumps().await {
        let screen = Screen::new(read_tree(dump.as_bytes(), None).unwrap(), &info(), dump.len());
        let lines: usize = (0..screen.elements.len()).map(|index| screen.line(index).len() + 1).sum();
        parts.push((screen.head("s1", "").len() + lines) * 1_000 / dump.len());
    }
    parts.sort_unstable();
    // These made-up screens have hardly a node without words; those of real apps are below five percent.
    assert!(parts[parts.len() / 2] <= 80, "per mille: {parts:?}");
}
