//! The device layer: phones behind a small port, and everything that is the same for all of them above it.
//!
//! * [`Driver`] is the port; its calls are single tries.

#[cfg(feature = "adb")]
pub mod adb;
mod driver;

pub use driver::{
    App, Device, DeviceInfo, DeviceResult, DeviceState, Driver, Foreground, Gesture, Orientation, Point,
    SettingsPanel,
};
