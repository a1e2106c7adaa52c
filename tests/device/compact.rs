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

/// A dump in the manner of real phones: layout nodes around everything, long class and package names.
fn as_a_phone_writes_it(rows: usize) -> String {
    let node = |class: &str, id: &str, text: &str, clickable: bool, bounds: [usize; 4], inside: &str| {
        let [l, t, r, b] = bounds;
        format!(
            "<node index=\"0\" text=\"{text}\" resource-id=\"{id}\" class=\"{class}\" package=\"com.google.android.apps.example\" \
             content-desc=\"\" checkable=\"false\" checked=\"false\" clickable=\"{clickable}\" enabled=\"true\" focusable=\"{clickable}\" \
             focused=\"false\" scrollable=\"false\" long-clickable=\"false\" password=\"false\" selected=\"false\" \
             bounds=\"[{l},{t}][{r},{b}]\">{inside}</node>"
        )
    };
    let mut list = String::new();
    for row in 0..rows {
        let (top, bottom) = (row * 100, row * 100 + 100);
        let title = node(
            "android.widget.TextView",
            "android:id/title",
            &format!("Setting {row}"),
            false,
            [80, top, 500, top + 50],
            "",
        );
        let summary = node(
            "android.widget.TextView",
            "android:id/summary",
            "On",
            false,
            [80, top + 50, 500, bottom],
            "",
        );
        let icon = node("android.widget.ImageView", "android:id/icon", "", false, [0, top, 80, bottom], "");
        let frame = node(
            "android.widget.LinearLayout",
            "android:id/icon_frame",
            "",
            false,
            [0, top, 80, bottom],
            &icon,
        );
        let column = node(
            "android.widget.RelativeLayout",
            "",
            "",
            false,
            [80, top, 540, bottom],
            &format!("{title}{summary}"),
        );
        list.push_str(&node(
            "android.widget.LinearLayout",
            "",
            "",
            true,
            [0, top, 540, bottom],
            &format!("{frame}{column}"),
        ));
    }
    let mut all = list;
    for _ in 0..5 {
        all = node("android.widget.FrameLayout", "android:id/content", "", false, [0, 0, 540, 1200], &all);
    }
    format!(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">{all}</hierarchy>"
    )
}

#[test]
fn the_description_of_a_list_as_phones_write_it_is_below_five_percent() {
    for rows in [3, 8, 12] {
        let dump = as_a_phone_writes_it(rows);
        let screen = Screen::new(read_tree(dump.as_bytes(), None).unwrap(), &info(), dump.len());
        assert_eq!(screen.elements.len(), rows);
        assert_eq!(screen.line(0), "0|c|Setting 0 On||270,50");
        let bytes: usize =
            (0..rows).map(|index| screen.line(index).len() + 1).sum::<usize>() + screen.head("s1", "").len();
        assert!(bytes * 20 <= dump.len(), "{bytes} of {}", dump.len());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
    #[test]
    fn a_broken_dump_never_panics_and_lists_only_what_can_be_touched(
        changes in proptest::collection::vec((0_usize..20_000, proptest::prelude::any::<u8>()), 0..24),
        cut in 0_usize..20_000,
    ) {
        let mut dump = as_a_phone_writes_it(3).into_bytes();
        for (place, byte) in changes {
            let place = place % dump.len();
            dump[place] = byte;
        }
        dump.truncate(cut % dump.len() + 1);
        if let Ok(tree) = read_tree(&dump, None) {
            let screen = Screen::new(tree, &info(), dump.len());
            for (index, element) in screen.elements.iter().enumerate() {
                assert!(screen.tree.reaches(element.place, element.point));
                assert!(!screen.line(index).contains('\n'));
            }
        }
    }
}
