//! How the device layer is set up.

use std::path::PathBuf;

/// Options of [`Devices`](crate::device::Devices).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// The phone that is meant when a call names none; without it a call needs exactly one ready phone.
    pub serial: Option<String>,
    /// Where `screenshot` may write.
    pub files: FileAccess,
}

/// Where `screenshot` with `save_to` may write files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileAccess {
    /// Nowhere.
    #[default]
    None,
    /// Below one folder, which is made when it is needed: for callers that are not trusted with the whole computer.
    Below(PathBuf),
    /// Anywhere: for a person at the command line.
    Anywhere,
}

impl DeviceOptions {
    /// Sets the phone that is meant when a call names none.
    #[must_use]
    pub fn serial(mut self, serial: impl Into<String>) -> Self {
        self.serial = Some(serial.into());
        self
    }

    /// Sets where screenshots may be written.
    #[must_use]
    pub fn files(mut self, files: FileAccess) -> Self {
        self.files = files;
        self
    }
}
