//! The tour.

use crate::program::{bare, is_empty};

#[test]
fn the_tour_shows_what_it_promises_and_leaves_nothing_behind() {
    let place = tempfile::tempdir().expect("a folder");
    let untouched = place.path().join("untouched");
    let run = |words: &[&str]| {
        let done = bare()
            .args(words)
            .env("TMPDIR", place.path())
            .env("REPERTOIRE_DATA", &untouched)
            .env("REPERTOIRE_BUNDLED_MODE", "never")
            .output()
            .expect("it runs");
        let said = String::from_utf8(done.stdout).expect("text");
        assert_eq!(done.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&done.stderr));
        assert!(is_empty(place.path()), "something is left behind");
        said
    };
    let tour: serde_json::Value = serde_json::from_str(&run(&["demo", "--json"])).expect("JSON");
    let steps = tour["steps"].as_array().expect("steps");
    let rows = [
        ("import ./skills", "4 added"),
        ("search \"photos of my last journey\"", "trip-photos"),
        ("search \"\u{5496}\u{5561}\u{5e97}\"", "note-search"),
        ("match \"connect to my home wifi\"", "wifi-panel"),
        ("match \"go home\"", "press_key"),
        ("resolve note-search -p query=\u{5496}\u{5561}\u{5e97}", "launch_app"),
        ("resolve note-search -p wait_ms=0 -p q=1", "query"),
        ("entitlements hide trip-photos", "hidden trip-photos"),
    ];
    for (command, part) in rows {
        let step =
            steps.iter().find(|step| step["command"] == command).unwrap_or_else(|| panic!("{command}"));
        assert!(step["result"].to_string().contains(part), "{step}");
        assert!(step["took_us"].is_u64());
    }
    let gets: Vec<String> = steps
        .iter()
        .filter(|step| step["command"] == "get trip-photos")
        .map(|step| step["result"].to_string())
        .collect();
    assert!(
        gets[0].contains("no skill")
            && gets[1].contains("exit code 1")
            && gets[2].contains("trip-photos  trip-photos")
    );
    assert_eq!(tour["client"]["mcpServers"]["repertoire"]["args"][0], "serve");
    let text = run(&["demo"]);
    assert!(text.contains("mcpServers") && !text.contains('\u{1b}'), "{text}");
}
