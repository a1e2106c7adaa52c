//! The scene file as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::device::{App, DeviceResult, DeviceState, keys};
use crate::error::{DeviceCode, DeviceError};
use crate::limits::SCENE_BYTES_MAX;

/// A scene.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scene {
    #[serde(default)]
    pub(super) device: Phone,
    #[serde(default)]
    pub(super) apps: Vec<App>,
    pub(super) start: String,
    pub(super) screens: BTreeMap<String, Shot>,
    #[serde(default)]
    pub(super) on: Vec<Event>,
    #[serde(default)]
    pub(super) faults: Vec<Fault>,
    #[serde(default)]
    pub(super) delay_ms: u64,
}

/// The phone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Phone {
    pub(super) serial: String,
    pub(super) state: DeviceState,
    pub(super) model: String,
    pub(super) android: String,
    pub(super) sdk: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) density: u32,
    pub(super) rotation: u8,
}

impl Default for Phone {
    fn default() -> Self {
        Self {
            serial: "scripted".to_owned(),
            state: DeviceState::Device,
            model: "Scripted phone".to_owned(),
            android: "14".to_owned(),
            sdk: 34,
            width: 1_080,
            height: 2_400,
            density: 420,
            rotation: 0,
        }
    }
}

/// One screen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shot {
    #[serde(default)]
    pub(super) app: String,
    #[serde(default)]
    pub(super) activity: String,
    #[serde(default)]
    pub(super) nodes: Vec<View>,
    #[serde(default)]
    pub(super) xml: Option<String>,
    #[serde(default)]
    pub(super) keyboard: bool,
    #[serde(default)]
    pub(super) secure: bool,
    #[serde(default)]
    pub(super) on: Vec<Event>,
}

/// One view of a screen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the attributes of a dump are independent of each other")]
pub(super) struct View {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) hint: String,
    #[serde(default)]
    pub(super) class: String,
    #[serde(default)]
    pub(super) package: String,
    pub(super) bounds: [i32; 4],
    #[serde(default)]
    pub(super) clickable: bool,
    #[serde(default)]
    pub(super) long_clickable: bool,
    #[serde(default)]
    pub(super) scrollable: bool,
    #[serde(default)]
    pub(super) checkable: bool,
    #[serde(default)]
    pub(super) checked: bool,
    #[serde(default)]
    pub(super) focused: bool,
    #[serde(default)]
    pub(super) selected: bool,
    #[serde(default)]
    pub(super) password: bool,
    #[serde(default)]
    pub(super) disabled: bool,
    #[serde(default)]
    pub(super) children: Vec<View>,
}

/// What leads to another screen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    #[serde(default)]
    pub(super) tap: Option<String>,
    #[serde(default)]
    pub(super) double_tap: Option<String>,
    #[serde(default)]
    pub(super) long_press: Option<String>,
    #[serde(default)]
    pub(super) swipe: Option<String>,
    #[serde(default)]
    pub(super) key: Option<Value>,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) launch: Option<String>,
    #[serde(default)]
    pub(super) stop: Option<String>,
    #[serde(default)]
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) settings: Option<String>,
    #[serde(default)]
    pub(super) after_ms: Option<u64>,
    #[serde(default)]
    pub(super) go: Option<String>,
    #[serde(default)]
    pub(super) fail: Option<String>,
}

/// Calls that fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    /// Name of the driver's method.
    pub(super) call: String,
    pub(super) code: String,
    #[serde(default)]
    pub(super) after: u32,
    #[serde(default = "once")]
    pub(super) times: u32,
}

fn once() -> u32 {
    1
}

/// Reads a scene file; everything that leads nowhere is named at once.
pub(super) fn read(text: &str) -> DeviceResult<Scene> {
    let refuse = |message: String| {
        DeviceError::new(DeviceCode::Malformed, message, "see the format of scene files in docs/device.md")
    };
    if text.len() > SCENE_BYTES_MAX {
        return Err(refuse(format!(
            "the scene file has {} bytes, at most {SCENE_BYTES_MAX} are read",
            text.len()
        )));
    }
    let scene: Scene =
        serde_json::from_str(text).map_err(|error| refuse(format!("the scene file is none: {error}")))?;
    let mut wrong = Vec::new();
    let mut lead = |from: &str, to: &str| {
        if !scene.screens.contains_key(to) {
            wrong.push(format!("{from} leads to the screen {to:?}, which is not there"));
        }
    };
    lead("start", &scene.start);
    let own = std::iter::once(("on", &scene.on));
    let all = own.chain(scene.screens.iter().map(|(name, shot)| (name.as_str(), &shot.on)));
    let mut codes: Vec<(String, &str)> = Vec::new();
    for (place, events) in all {
        for event in events {
            if let Some(go) = &event.go {
                lead(place, go);
            }
            codes.extend(event.fail.as_deref().map(|code| (place.to_owned(), code)));
            if let Some(Err(error)) = event.key.as_ref().map(keys::code) {
                codes.push((format!("{place}: {}", error.message), ""));
            }
        }
    }
    codes.extend(scene.faults.iter().map(|fault| (format!("faults of {}", fault.call), fault.code.as_str())));
    for (place, code) in codes {
        if DeviceCode::from_name(code).is_none() {
            wrong.push(format!("{place}: there is no error code {code:?}"));
        }
    }
    if wrong.is_empty() { Ok(scene) } else { Err(refuse(wrong.join("; "))) }
}
