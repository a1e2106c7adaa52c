//! What can go wrong with a phone: a stable code, one sentence, what to try.

use std::fmt;

/// The stable code of a device error. Decisions (retry, exit code, what an agent tries next) are made by it, never by
/// the words of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceCode {
    /// No phone is connected.
    NoDevice,
    /// Several phones could be meant and none was named.
    SeveralDevices,
    /// No phone of that name is connected.
    NotFound,
    /// The phone does not trust this computer yet.
    Unauthorized,
    /// The phone is listed but does not answer.
    Offline,
    /// The connection broke in the middle of a call: whether the call took effect is unknown.
    Lost,
    /// The phone did not answer in time.
    TimedOut,
    /// What talks to phones (the adb server) cannot be reached.
    ServerUnavailable,
    /// The phone refused or failed a command in a way that has no code of its own.
    CommandFailed,
    /// The phone or this driver cannot do that at all.
    NotSupported,
    /// The call was cancelled before it began.
    Cancelled,
    /// The screen did not come to rest for a dump; passes by itself.
    UiNotIdle,
    /// There was no window to dump yet; passes by itself.
    UiRootMissing,
    /// Another program holds the accessibility connection; passes when it ends.
    UiBusy,
    /// No usable UI tree came back.
    UiUnavailable,
    /// The app forbids pictures of its window.
    SecureWindow,
    /// Some characters cannot be typed on this phone as it is set up.
    TextNotTypable,
    /// The vendor's system refuses input from a computer until a switch is turned on.
    InputBlocked,
    /// No app of that name is installed.
    AppNotFound,
    /// The app is there but did not start.
    AppNotStarted,
    /// Nothing on the phone opens that address or page.
    NotOpened,
    /// The element of an index is not there any more.
    StaleElement,
    /// No element fits the selector.
    ElementNotFound,
    /// Several elements fit the selector.
    SeveralElements,
    /// The element is there, but something else covers it or it is outside of the screen.
    NotReachable,
    /// A point is outside of the screen.
    OutOfScreen,
    /// What was waited for did not happen.
    WaitTimedOut,
    /// A file could not be written.
    FileFailed,
    /// A scene file or another answer could not be understood.
    Malformed,
}

impl DeviceCode {
    /// Every code.
    pub const ALL: [Self; 29] = [
        Self::NoDevice,
        Self::SeveralDevices,
        Self::NotFound,
        Self::Unauthorized,
        Self::Offline,
        Self::Lost,
        Self::TimedOut,
        Self::ServerUnavailable,
        Self::CommandFailed,
        Self::NotSupported,
        Self::Cancelled,
        Self::UiNotIdle,
        Self::UiRootMissing,
        Self::UiBusy,
        Self::UiUnavailable,
        Self::SecureWindow,
        Self::TextNotTypable,
        Self::InputBlocked,
        Self::AppNotFound,
        Self::AppNotStarted,
        Self::NotOpened,
        Self::StaleElement,
        Self::ElementNotFound,
        Self::SeveralElements,
        Self::NotReachable,
        Self::OutOfScreen,
        Self::WaitTimedOut,
        Self::FileFailed,
        Self::Malformed,
    ];

    /// The code of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// The code as clients see it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoDevice => "device_none",
            Self::SeveralDevices => "device_ambiguous",
            Self::NotFound => "device_not_found",
            Self::Unauthorized => "device_unauthorized",
            Self::Offline => "device_offline",
            Self::Lost => "device_lost",
            Self::TimedOut => "device_timeout",
            Self::ServerUnavailable => "device_server_unavailable",
            Self::CommandFailed => "device_command_failed",
            Self::NotSupported => "device_not_supported",
            Self::Cancelled => "device_call_cancelled",
            Self::UiNotIdle => "device_ui_not_idle",
            Self::UiRootMissing => "device_ui_root_missing",
            Self::UiBusy => "device_ui_busy",
            Self::UiUnavailable => "device_ui_unavailable",
            Self::SecureWindow => "secure_window",
            Self::TextNotTypable => "text_not_typable",
            Self::InputBlocked => "input_blocked_by_vendor",
            Self::AppNotFound => "app_not_found",
            Self::AppNotStarted => "app_not_started",
            Self::NotOpened => "not_opened",
            Self::StaleElement => "stale_element",
            Self::ElementNotFound => "element_not_found",
            Self::SeveralElements => "element_ambiguous",
            Self::NotReachable => "element_not_reachable",
            Self::OutOfScreen => "out_of_screen",
            Self::WaitTimedOut => "wait_timeout",
            Self::FileFailed => "file_failed",
            Self::Malformed => "device_answer_malformed",
        }
    }

    /// What it means, one sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::NoDevice => "No phone is connected.",
            Self::SeveralDevices => "Several phones could be meant and none was named.",
            Self::NotFound => "No phone of that name is connected.",
            Self::Unauthorized => "The phone does not trust this computer yet.",
            Self::Offline => "The phone is listed but does not answer.",
            Self::Lost => {
                "The connection broke in the middle of a call: whether the call took effect is unknown."
            }
            Self::TimedOut => "The phone did not answer in time.",
            Self::ServerUnavailable => "What talks to phones (the adb server) cannot be reached.",
            Self::CommandFailed => {
                "The phone refused or failed a command in a way that has no code of its own."
            }
            Self::NotSupported => "The phone or this driver cannot do that at all.",
            Self::Cancelled => "The call was cancelled before it began.",
            Self::UiNotIdle => "The screen did not come to rest for a dump; passes by itself.",
            Self::UiRootMissing => "There was no window to dump yet; passes by itself.",
            Self::UiBusy => "Another program holds the accessibility connection; passes when it ends.",
            Self::UiUnavailable => "No usable UI tree came back.",
            Self::SecureWindow => "The app forbids pictures of its window.",
            Self::TextNotTypable => "Some characters cannot be typed on this phone as it is set up.",
            Self::InputBlocked => {
                "The vendor's system refuses input from a computer until a switch is turned on."
            }
            Self::AppNotFound => "No app of that name is installed.",
            Self::AppNotStarted => "The app is there but did not start.",
            Self::NotOpened => "Nothing on the phone opens that address or page.",
            Self::StaleElement => "The element of an index is not there any more.",
            Self::ElementNotFound => "No element fits the selector.",
            Self::SeveralElements => "Several elements fit the selector.",
            Self::NotReachable => {
                "The element is there, but something else covers it or it is outside of the screen."
            }
            Self::OutOfScreen => "A point is outside of the screen.",
            Self::WaitTimedOut => "What was waited for did not happen.",
            Self::FileFailed => "A file could not be written.",
            Self::Malformed => "A scene file or another answer could not be understood.",
        }
    }

    /// Whether the same *observing* call may succeed when it is made again a moment later.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self, Self::UiNotIdle | Self::UiRootMissing | Self::UiBusy)
    }
}

impl fmt::Display for DeviceCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failed device call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {hint}")]
#[non_exhaustive]
pub struct DeviceError {
    /// Stable code.
    pub code: DeviceCode,
    /// The cause: one sentence without a full stop.
    pub message: String,
    /// What to try.
    pub hint: String,
}

impl DeviceError {
    /// An error of a code with its cause and what to try, both without a full stop.
    #[must_use]
    pub fn new(code: DeviceCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }
}
