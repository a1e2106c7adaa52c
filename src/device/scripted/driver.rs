//! The driver over a scene.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::json;

use crate::device::{
    App, Device, DeviceInfo, DeviceResult, Driver, Foreground, Gesture, Orientation, SettingsPanel,
};
use crate::error::{DeviceCode, DeviceError};

use super::scene::{self, Scene};
use super::state::State;
use super::{picture, xml};

/// Plays a scene file. Deterministic: the same calls lead to the same screens.
pub struct ScriptedDriver {
    scene: Scene,
    state: Mutex<State>,
}

impl fmt::Debug for ScriptedDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedDriver").field("screen", &self.screen()).finish_non_exhaustive()
    }
}

impl ScriptedDriver {
    /// A phone of the text of a scene file.
    ///
    /// # Errors
    /// `device_answer_malformed`: no scene, or one that leads to screens that are not there.
    pub fn new(text: &str) -> DeviceResult<Self> {
        let scene = scene::read(text)?;
        let state = Mutex::new(State::new(&scene));
        Ok(Self { scene, state })
    }

    /// A phone of a scene file.
    ///
    /// # Errors
    /// `file_failed`, and as [`ScriptedDriver::new`].
    pub fn open(path: &Path) -> DeviceResult<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            DeviceError::new(
                DeviceCode::FileFailed,
                format!("cannot read the scene file {}: {error}", path.display()),
                "check the path",
            )
        })?;
        Self::new(&text)
    }

    /// Name of the screen that is shown.
    #[must_use]
    pub fn screen(&self) -> String {
        self.state.lock().screen.clone()
    }

    /// What was done to the phone so far, one line each: `tap 540,120`, `text hello`, `key 66`, `launch com.app`.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.state.lock().log.clone()
    }

    /// The time that a call takes, then its turn at the state.
    async fn call<T>(
        &self,
        device: &str,
        name: &'static str,
        act: impl FnOnce(&Scene, &mut State) -> DeviceResult<T> + Send,
    ) -> DeviceResult<T> {
        if self.scene.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(self.scene.delay_ms)).await;
        }
        if device != self.scene.device.serial {
            return Err(DeviceError::new(
                DeviceCode::NotFound,
                format!("no phone {device:?} is in the scene"),
                "use the serial of the scene",
            ));
        }
        // Nothing is awaited from here on: an act is done whole, or was never begun.
        let mut state = self.state.lock();
        state.begin(&self.scene, name)?;
        act(&self.scene, &mut state)
    }
}

#[async_trait]
impl Driver for ScriptedDriver {
    async fn devices(&self) -> DeviceResult<Vec<Device>> {
        let phone = &self.scene.device;
        self.state.lock().begin(&self.scene, "devices")?;
        Ok(vec![Device {
            serial: phone.serial.clone(),
            state: phone.state,
            model: phone.model.clone(),
            product: String::new(),
            same_as: String::new(),
            hint: String::new(),
        }])
    }

    async fn info(&self, device: &str) -> DeviceResult<DeviceInfo> {
        self.call(device, "info", |scene, _| {
            let phone = &scene.device;
            Ok(DeviceInfo {
                serial: phone.serial.clone(),
                model: phone.model.clone(),
                android: phone.android.clone(),
                sdk: phone.sdk,
                width: phone.width,
                height: phone.height,
                rotation: phone.rotation,
                density: phone.density,
            })
        })
        .await
    }

    async fn foreground(&self, device: &str) -> DeviceResult<Foreground> {
        self.call(device, "foreground", |scene, state| {
            let shot = state.shot(scene);
            Ok(Foreground { package: shot.app.clone(), activity: shot.activity.clone() })
        })
        .await
    }

    async fn ui_tree(&self, device: &str, _compressed: bool) -> DeviceResult<Vec<u8>> {
        self.call(device, "ui_tree", |scene, state| {
            Ok(xml::write(state.shot(scene), &state.typed, scene.device.rotation).into_bytes())
        })
        .await
    }

    async fn screenshot(&self, device: &str) -> DeviceResult<Vec<u8>> {
        self.call(device, "screenshot", |scene, state| picture::draw(state.shot(scene), &scene.device)).await
    }

    async fn gesture(&self, device: &str, gesture: Gesture) -> DeviceResult<()> {
        self.call(device, "gesture", |scene, state| state.gesture(scene, gesture)).await
    }

    async fn text(&self, device: &str, text: &str) -> DeviceResult<()> {
        self.call(device, "text", |scene, state| state.text(scene, text)).await
    }

    async fn keys(&self, device: &str, codes: &[u16]) -> DeviceResult<()> {
        self.call(device, "keys", |scene, state| codes.iter().try_for_each(|code| state.key(scene, *code)))
            .await
    }

    async fn keyboard_shown(&self, device: &str) -> DeviceResult<bool> {
        self.call(device, "keyboard_shown", |scene, state| Ok(state.keyboard(scene))).await
    }

    async fn apps(&self, device: &str, system: bool) -> DeviceResult<Vec<App>> {
        self.call(device, "apps", |scene, _| {
            Ok(scene.apps.iter().filter(|app| system || !app.system).cloned().collect())
        })
        .await
    }

    async fn launch(&self, device: &str, package: &str, _activity: Option<&str>) -> DeviceResult<()> {
        self.call(device, "launch", |scene, state| {
            state.log.push(format!("launch {package}"));
            if state.fire(scene, |event| event.launch.as_deref() == Some(package))? {
                return Ok(());
            }
            Err(DeviceError::new(
                DeviceCode::AppNotFound,
                format!("the app {package:?} is not in the scene"),
                "use list_apps to see which apps there are",
            ))
        })
        .await
    }

    async fn stop(&self, device: &str, package: &str) -> DeviceResult<()> {
        self.call(device, "stop", |scene, state| {
            state.log.push(format!("stop {package}"));
            state.fire(scene, |event| event.stop.as_deref() == Some(package)).map(|_| ())
        })
        .await
    }

    async fn open_url(&self, device: &str, url: &str, _package: Option<&str>) -> DeviceResult<()> {
        self.call(device, "open_url", |scene, state| {
            state.log.push(format!("url {url}"));
            let fits =
                |wanted: &str| wanted.strip_suffix('*').map_or(wanted == url, |start| url.starts_with(start));
            if state.fire(scene, |event| event.url.as_deref().is_some_and(fits))? {
                return Ok(());
            }
            Err(DeviceError::new(DeviceCode::NotOpened, "nothing opens this address", "check the address"))
        })
        .await
    }

    async fn open_settings(
        &self,
        device: &str,
        panel: SettingsPanel,
        _package: Option<&str>,
    ) -> DeviceResult<()> {
        self.call(device, "open_settings", |scene, state| {
            let name = json!(panel);
            let name = name.as_str().unwrap_or_default();
            state.log.push(format!("settings {name}"));
            if state.fire(scene, |event| event.settings.as_deref() == Some(name))? {
                return Ok(());
            }
            Err(DeviceError::new(DeviceCode::NotOpened, "the scene has no such page", "use another panel"))
        })
        .await
    }

    async fn set_orientation(&self, device: &str, orientation: Orientation) -> DeviceResult<()> {
        self.call(device, "set_orientation", |_, state| {
            state.log.push(format!("orientation {}", json!(orientation).as_str().unwrap_or_default()));
            Ok(())
        })
        .await
    }
}
