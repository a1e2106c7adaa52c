//! The port to phones: small, platform-neutral, one call each, no retries, no waiting for elements.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::DeviceError;

/// Result of a device call.
pub type DeviceResult<T> = std::result::Result<T, DeviceError>;

/// What a phone can do, as a port: `AdbDriver` reaches real phones, `ScriptedDriver`
/// plays a scene file, and an embedder may bring another.
///
/// The contract of every implementation:
/// * **One try.** A call does its work once and answers the truth; whether to try again is decided above, by code.
///   [`DeviceCode::passes`](crate::error::DeviceCode::passes) names the codes that may be tried again.
/// * **A time-out on each call**, of the driver's own; a phone that hangs is
///   [`DeviceCode::TimedOut`](crate::error::DeviceCode::TimedOut).
/// * **Cancellation is safe.** Dropping a returned future at any await point never leaves a gesture or a text half
///   done: what was begun on the phone runs to its end there (the driver detaches it), and the next call to that phone
///   waits for it.
/// * **Nothing is interpreted.** `text` is typed as it is and `url` is one argument, whatever characters are in them.
/// * **Calls of one device come one after another** from this crate; a driver need not order them. Calls of different
///   devices come at once.
/// * **Values are secret.** No text, url or argument is ever logged by a driver.
///
/// `device` is always the serial of one entry of [`Driver::devices`]; choosing one when none is named happens above.
#[async_trait]
pub trait Driver: Send + Sync + fmt::Debug {
    /// Every connected phone in every state, in the order in which they are known. Empty if there is none.
    async fn devices(&self) -> DeviceResult<Vec<Device>>;

    /// Screen and system of a phone as they are now.
    async fn info(&self, device: &str) -> DeviceResult<DeviceInfo>;

    /// App and activity in the foreground; both empty if there is none (a locked or dark screen).
    async fn foreground(&self, device: &str) -> DeviceResult<Foreground>;

    /// The accessibility tree as the phone wrote it: bytes that hold `<hierarchy ...>...</hierarchy>`, possibly with
    /// other text around it and invalid characters in it; the reader above is lenient. Bytes without `<hierarchy` are
    /// an error here, never an answer. `compressed` asks for the form without layout nodes, which also does without
    /// an idle screen where the phone has it.
    async fn ui_tree(&self, device: &str, compressed: bool) -> DeviceResult<Vec<u8>>;

    /// A picture of the screen: the bytes of a PNG, from its signature on.
    async fn screenshot(&self, device: &str) -> DeviceResult<Vec<u8>>;

    /// One gesture, from its beginning to its end. Points are pixels of the screen as it is turned now and were checked
    /// to be on it.
    async fn gesture(&self, device: &str, gesture: Gesture) -> DeviceResult<()>;

    /// Types text into the focused field. Never called with an empty text. A newline is ENTER, a tab is TAB. Either
    /// all of it is typed or nothing: characters that cannot be typed are
    /// [`DeviceCode::TextNotTypable`](crate::error::DeviceCode::TextNotTypable), found out before the first one.
    async fn text(&self, device: &str, text: &str) -> DeviceResult<()>;

    /// Presses keys one after another, by Android key code. Never called with none or with more than 1,000.
    async fn keys(&self, device: &str, codes: &[u16]) -> DeviceResult<()>;

    /// Whether the on-screen keyboard is shown.
    async fn keyboard_shown(&self, device: &str) -> DeviceResult<bool>;

    /// Installed apps of the current user, in any order; those of the system only if asked for.
    async fn apps(&self, device: &str, system: bool) -> DeviceResult<Vec<App>>;

    /// Starts an app by its package, at its launcher activity or the one that is named, and returns when the phone
    /// says that it has started.
    async fn launch(&self, device: &str, package: &str, activity: Option<&str>) -> DeviceResult<()>;

    /// Stops an app by its package. An app that does not run is no error.
    async fn stop(&self, device: &str, package: &str) -> DeviceResult<()>;

    /// Opens an address in the app that handles it, or in the package that is named.
    async fn open_url(&self, device: &str, url: &str, package: Option<&str>) -> DeviceResult<()>;

    /// Opens a page of the system settings; `package` is the app for [`SettingsPanel::AppInfo`] and
    /// [`SettingsPanel::Notifications`], the one in the foreground if none is given.
    async fn open_settings(
        &self,
        device: &str,
        panel: SettingsPanel,
        package: Option<&str>,
    ) -> DeviceResult<()>;

    /// Turns the screen.
    async fn set_orientation(&self, device: &str, orientation: Orientation) -> DeviceResult<()>;
}

/// State of a connected phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeviceState {
    /// Ready.
    Device,
    /// Listed, but does not answer.
    Offline,
    /// Does not trust this computer yet.
    Unauthorized,
    /// Being authorised at this moment, or connecting.
    Connecting,
    /// The operating system of this computer refuses access.
    NoPermissions,
    /// Started into a recovery, a boot loader or another state without apps.
    Other,
}

/// One connected phone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// How it is named in every other call.
    pub serial: String,
    /// Its state.
    pub state: DeviceState,
    /// Model, where it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Product name, where it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub product: String,
    /// Serial of the entry that is the same phone over a better connection; this one is used only if it is named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub same_as: String,
    /// What to do on the phone, where the state is not [`DeviceState::Device`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// Screen and system of one phone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Serial of the phone.
    pub serial: String,
    /// Manufacturer and model in words.
    pub model: String,
    /// Android version in words, `14`.
    pub android: String,
    /// API level.
    pub sdk: u32,
    /// Width in pixels as the screen is turned now, overrides included.
    pub width: u32,
    /// Height in pixels as the screen is turned now.
    pub height: u32,
    /// Quarter turns from the natural position, 0-3.
    pub rotation: u8,
    /// Dots per inch, overrides included.
    pub density: u32,
}

/// What is in the foreground.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreground {
    /// Package; empty if nothing is.
    pub package: String,
    /// Activity, a full class name or one that begins with a dot; empty if unknown.
    pub activity: String,
}

/// A point of the screen in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Point {
    /// From the left.
    pub x: i32,
    /// From the top.
    pub y: i32,
}

/// One touch from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gesture {
    /// A short touch.
    Tap {
        /// Where.
        at: Point,
    },
    /// Two short touches, near enough in time to count as one double tap.
    DoubleTap {
        /// Where.
        at: Point,
    },
    /// A long touch.
    LongPress {
        /// Where.
        at: Point,
        /// How long.
        duration_ms: u32,
    },
    /// A movement that begins at once.
    Swipe {
        /// Begin.
        from: Point,
        /// End.
        to: Point,
        /// How long.
        duration_ms: u32,
    },
    /// A long touch, then a movement, then the release.
    Drag {
        /// Begin.
        from: Point,
        /// End.
        to: Point,
        /// How long the finger rests before it moves.
        hold_ms: u32,
        /// How long the movement takes.
        duration_ms: u32,
    },
}

/// One installed app.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct App {
    /// Package.
    pub package: String,
    /// Name that people see, where it can be found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether it belongs to the system.
    #[serde(default)]
    pub system: bool,
}

/// A page of the system settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsPanel {
    /// Wi-Fi networks.
    Wifi,
    /// Bluetooth.
    Bluetooth,
    /// Accessibility services.
    Accessibility,
    /// Details of one app.
    AppInfo,
    /// Notifications of one app.
    Notifications,
    /// The first page.
    SystemSettings,
}

/// How the screen is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orientation {
    /// Upright.
    Portrait,
    /// Turned to the left.
    Landscape,
    /// Upside down.
    ReversePortrait,
    /// Turned to the right.
    ReverseLandscape,
    /// As the phone is held.
    Auto,
}
