//! A scripted phone and calls to it.

use std::path::PathBuf;
use std::sync::Arc;

use repertoire::device::{DeviceOptions, Devices, FileAccess, Outcome, ScriptedDriver, Stop, Watch};
use repertoire::tools::ToolRegistry;
use serde_json::Value;

/// A scene and the layer above it.
pub(crate) struct Phone {
    pub(crate) driver: Arc<ScriptedDriver>,
    pub(crate) devices: Arc<Devices>,
}

impl Phone {
    /// The phone of the scene that the tests share.
    pub(crate) fn shared() -> Self {
        Self::of(&scene())
    }

    pub(crate) fn of(scene: &str) -> Self {
        let driver = Arc::new(ScriptedDriver::new(scene).expect("a scene"));
        let folder = std::env::temp_dir().join(format!("repertoire-{}", std::process::id()));
        let options = DeviceOptions::default().files(FileAccess::Below(folder));
        let devices = Arc::new(Devices::new(Arc::clone(&driver) as _, options));
        Self { driver, devices }
    }

    /// Calls a tool; the error is its code.
    pub(crate) async fn call(&self, tool: &str, args: Value) -> Result<Outcome, String> {
        let registry = ToolRegistry::builtin();
        let args = args.as_object().expect("an object").clone();
        let call = registry.check_call(tool, &args).map_err(|problems| problems[0].to_string())?;
        match self.devices.call(&call, &Watch::default()).await.result {
            Ok(outcome) => Ok(outcome),
            Err(Stop::Failed(error)) => Err(error.code.name().to_owned()),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    /// The text of a call that works.
    pub(crate) async fn text(&self, tool: &str, args: Value) -> String {
        self.call(tool, args).await.unwrap_or_else(|code| panic!("{tool}: {code}")).text
    }
}

/// The text of the shared scene.
pub(crate) fn scene() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scenes/xiaohongshu.json");
    std::fs::read_to_string(path).expect("the scene")
}

/// The shared scene with members replaced.
pub(crate) fn scene_with(members: Value) -> String {
    let mut scene: Value = serde_json::from_str(&scene()).expect("JSON");
    for (name, value) in members.as_object().expect("an object") {
        scene[name] = value.clone();
    }
    scene.to_string()
}
