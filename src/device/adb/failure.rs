//! What the adb server and the tools of a phone write when something fails, as codes.

use std::fmt;
use std::io;

use super::address::ServerAddress;
use super::frame::{CONNECTING, NO_PERMISSIONS, OFFLINE, UNAUTHORIZED};
use crate::error::{DeviceCode, DeviceError, shorten};

/// The text after `FAIL`, as the code it means. `device` is the phone that was asked for, empty for the server itself.
pub(super) fn refused(text: &str, device: &str) -> DeviceError {
    let name = shorten(device);
    let first = text.lines().next().unwrap_or_default().trim();
    let known = |code, message: String, hint: &str| DeviceError::new(code, message, hint);
    match first {
        "no devices/emulators found" | "no devices found" => {
            known(DeviceCode::NoDevice, "no phone is connected".into(), CONNECT)
        }
        "more than one device/emulator" | "more than one device" | "more than one emulator" => known(
            DeviceCode::SeveralDevices,
            "several phones are connected".into(),
            "name one with `device`, or set [device] serial",
        ),
        _ if first.starts_with("device '") && first.ends_with("not found") => known(
            DeviceCode::NotFound,
            format!("no phone {name:?} is connected"),
            "list the devices to see which there are",
        ),
        _ if first.starts_with("device unauthorized") => known(
            DeviceCode::Unauthorized,
            format!("the phone {name:?} does not trust this computer"),
            UNAUTHORIZED,
        ),
        _ if first.starts_with("device still ") => known(
            DeviceCode::Offline,
            format!("the phone {name:?} is {}", first.trim_start_matches("device ")),
            CONNECTING,
        ),
        _ if first.starts_with("device offline") => {
            known(DeviceCode::Offline, format!("the phone {name:?} is offline"), OFFLINE)
        }
        _ if first.starts_with("insufficient permissions") || first.starts_with("no permissions") => known(
            DeviceCode::Offline,
            format!("this computer may not open the phone {name:?}"),
            NO_PERMISSIONS,
        ),
        "closed" => lost(device),
        _ => known(
            DeviceCode::CommandFailed,
            format!("the adb server refused: {}", shorten(first)),
            "run `repertoire device doctor`",
        ),
    }
}

/// How to connect a phone.
pub(super) const CONNECT: &str = "plug a phone in with USB debugging turned on in its developer options, or use `adb connect HOST:PORT`; \
     `repertoire device doctor` checks every step";

/// The connection ended in the middle.
pub(super) fn lost(device: &str) -> DeviceError {
    DeviceError::new(
        DeviceCode::Lost,
        format!("the connection to the phone {:?} broke in the middle of the call", shorten(device)),
        "check the cable or the network; look at the screen before you repeat the call, it may have taken effect",
    )
}

/// A call that took too long.
pub(super) fn timed_out(device: &str, timeout_ms: u128) -> DeviceError {
    DeviceError::new(
        DeviceCode::TimedOut,
        format!("the phone {:?} did not answer within {timeout_ms} ms", shorten(device)),
        "try again, unlock the phone, or raise [device] timeout_ms",
    )
}

/// The server cannot be reached.
pub(super) fn unreachable(address: &ServerAddress, cause: &impl fmt::Display, hint: &str) -> DeviceError {
    DeviceError::new(
        DeviceCode::ServerUnavailable,
        format!("no adb server answers at {address}: {cause}"),
        hint,
    )
}

/// An answer that is none.
pub(super) fn malformed(what: impl Into<String>) -> DeviceError {
    DeviceError::new(
        DeviceCode::Malformed,
        what,
        "check that an adb server listens there, and that it is not older than 1.0.39",
    )
}

/// A socket that fails while a phone is being asked.
pub(super) fn broken(device: &str, cause: &io::Error) -> DeviceError {
    let mut error = lost(device);
    if !matches!(cause.kind(), io::ErrorKind::UnexpectedEof) {
        error.message = format!("{}: {cause}", error.message);
    }
    error
}

/// A command that failed without a code of its own.
pub(super) fn failed(what: &str, said: &str, code: u8) -> DeviceError {
    let mut message = format!("{what} failed");
    if code != 0 {
        message = format!("{message} with exit code {code}");
    }
    let line = said.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("Starting:"));
    if let Some(line) = line {
        message = format!("{message}: {}", shorten(line));
    }
    DeviceError::new(DeviceCode::CommandFailed, message, "look at the screen, then try again or another way")
}

/// The switch that some vendors put in front of input from a computer.
pub(super) fn blocked(said: &str) -> Option<DeviceError> {
    let refused = said.contains("INJECT_EVENTS") || said.contains("WRITE_SECURE_SETTINGS");
    refused.then(|| {
        DeviceError::new(
            DeviceCode::InputBlocked,
            "the phone refuses input from a computer",
            "turn on \"USB debugging (Security settings)\" in the developer options (Xiaomi, Redmi, POCO), or \"Disable permission \
             monitoring\" (OPPO, OnePlus, realme), then plug the cable in again",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_of_the_server_becomes_its_code() {
        let unauthorized =
            "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\nTry 'adb kill-server'";
        for (text, code) in [
            ("more than one device/emulator", DeviceCode::SeveralDevices),
            ("device 'X' not found", DeviceCode::NotFound),
            (unauthorized, DeviceCode::Unauthorized),
            ("device offline", DeviceCode::Offline),
            ("device offline (no transport)", DeviceCode::Offline),
            ("device still authorizing", DeviceCode::Offline),
            ("device still connecting", DeviceCode::Offline),
            ("insufficient permissions for device: user in plugdev", DeviceCode::Offline),
            ("no devices/emulators found", DeviceCode::NoDevice),
            ("closed", DeviceCode::Lost),
            ("something new", DeviceCode::CommandFailed),
        ] {
            let error = refused(text, "X");
            assert_eq!(error.code, code, "{text}");
            assert!(!error.hint.is_empty() && !error.message.ends_with('.'), "{error}");
        }
    }

    #[test]
    fn the_switch_of_a_vendor_is_told_from_other_failures() {
        let xiaomi =
            "java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission";
        assert_eq!(blocked(xiaomi).unwrap().code, DeviceCode::InputBlocked);
        assert_eq!(blocked("Error: no such key"), None);
        let failed = failed("input", "\n  first\nsecond", 3);
        assert_eq!(failed.message, "input failed with exit code 3: first");
    }
}
