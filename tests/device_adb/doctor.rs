//! `repertoire device list` and `repertoire device doctor`.

use std::process::Command;

use serde_json::Value;

use crate::phone::{Manner, Model};
use crate::world::World;

fn program(world: &World, words: &[&str]) -> (i32, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("REPERTOIRE_") {
            command.env_remove(name);
        }
    }
    command.arg("--data").arg(folder.path().join("data")).args(words).arg("--json");
    command.env("REPERTOIRE_DEVICE_ADB_SERVER", format!("127.0.0.1:{}", world.server.port()));
    let output = command.output().expect("the program runs");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let json = serde_json::from_str(&stdout)
        .unwrap_or_else(|_| panic!("{stdout}{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().expect("it ends by itself"), json)
}

#[test]
fn the_list_shows_every_phone_with_its_state() {
    let Some(world) = World::start(Model::default()) else { return };
    let (code, json) = program(&world, &["device", "list"]);
    assert_eq!(code, 0);
    assert_eq!(json["devices"][0]["serial"], world.serial());
    assert_eq!(json["devices"][0]["state"], "device");
}

#[test]
fn the_doctor_checks_every_step_to_the_screen() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let (code, json) = program(&world, &["device", "doctor"]);
    let verdict = |check: &str| {
        let findings = json["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["check"] == check);
        found.map(|finding| finding["verdict"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    for check in
        ["program", "server", "devices", "authorisation", "features", "screen", "screenshot", "input"]
    {
        assert_eq!(verdict(check), "good", "{check}: {json}");
    }
    // Nothing can be written into the folder of a real phone here, so that this also tries the terminal.
    assert_eq!(verdict("ui tree"), "good", "{json}");
    assert_eq!(verdict("keyboard"), "limited");
    assert_eq!(code, 0);
    assert_eq!(world.phone.model().take_body(), "");
}

#[test]
fn the_doctor_says_what_to_tap_on_a_phone_that_trusts_nobody() {
    let Some(world) = World::with(Model::default(), Manner::Unauthorized) else { return };
    world.wait_for(&world.serial(), "unauthorized");
    let (code, json) = program(&world, &["device", "doctor"]);
    assert_eq!(code, 1);
    let finding = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["check"] == "authorisation")
        .unwrap();
    assert!(finding["hint"].as_str().unwrap().contains("tap Allow"), "{finding}");
}
