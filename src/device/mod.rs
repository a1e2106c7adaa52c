//! The device layer: phones behind a small port, and everything that is the same for all of them above it.
//!
//! ```text
//! checked call -> Devices (which phone, its queue) -> tools (one function each) -> Driver -> phone
//!                                  tree (lenient reading) -> screen (elements, indexes) -> selector, diff, waits
//! ```
//!
//! * [`Driver`] is the port; its calls are single tries. [`ScriptedDriver`] plays a scene file.
//! * [`Devices`] runs checked calls, those of one phone strictly one after another.
//! * [`Watch`] is how a caller hears of progress and decides, once it is known what a call would hit ([`Aim`]).
//!
//! Invariant: nothing here opens a socket, knows a skill, or retries an act; text is never interpreted.

#[cfg(feature = "adb")]
pub mod adb;
mod call;
mod desk;
mod diff;
mod driver;
mod identity;
mod keys;
mod look;
mod options;
mod screen;
mod scripted;
mod selector;
mod semantic;
mod tools;
pub mod tree;

pub use call::{Aim, CallEnd, Outcome, Permit, Picture, Progress, Stop, Watch};
pub use desk::Devices;
pub use diff::SceneDiff;
pub use driver::{
    App, Device, DeviceInfo, DeviceResult, DeviceState, Driver, Foreground, Gesture, Orientation, Point,
    SettingsPanel,
};
pub use options::{DeviceOptions, FileAccess};
pub use screen::{Element, Screen};
pub use scripted::ScriptedDriver;
pub use selector::{ElementSelector, Selector, Target, TextMatch};
