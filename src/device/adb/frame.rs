//! The words of the adb server: requests, answers and lists, as pure functions over bytes.

use crate::device::{Device, DeviceResult, DeviceState};
use crate::error::{DeviceCode, DeviceError};
use crate::limits::ADB_REQUEST_BYTES_MAX;

/// A request: four hexadecimal digits of length, then the service.
pub(super) fn request(service: &[u8]) -> DeviceResult<Vec<u8>> {
    if service.len() > ADB_REQUEST_BYTES_MAX {
        return Err(DeviceError::new(
            DeviceCode::NotSupported,
            format!("a command of {} bytes is longer than {ADB_REQUEST_BYTES_MAX}", service.len()),
            "send less at once",
        ));
    }
    let mut bytes = format!("{:04x}", service.len()).into_bytes();
    bytes.extend_from_slice(service);
    Ok(bytes)
}

/// The first four bytes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// The request is served.
    Okay,
    /// It is refused; a text follows.
    Fail,
}

/// Reads a status; `None` for anything else.
pub(super) fn status(bytes: [u8; 4]) -> Option<Status> {
    match &bytes {
        b"OKAY" => Some(Status::Okay),
        b"FAIL" => Some(Status::Fail),
        _ => None,
    }
}

/// Reads the length in front of a text; `None` if it is not four hexadecimal digits.
pub(super) fn length(bytes: [u8; 4]) -> Option<usize> {
    if !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    usize::from_str_radix(std::str::from_utf8(&bytes).ok()?, 16).ok()
}

/// One phone as the server lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// What the port calls a phone.
    pub(super) device: Device,
    /// Number of the connection, 0 where the server does not say; another one is another connection.
    pub(super) transport: u64,
    /// Whether it hangs on a cable.
    pub(super) usb: bool,
}

/// Reads a list of the server, in the short form or the long one; a line that cannot be read is left out.
pub(super) fn devices(text: &str) -> Vec<Listed> {
    text.lines().filter_map(listed).collect()
}

fn listed(line: &str) -> Option<Listed> {
    let (serial, rest) = line.split_once([' ', '\t'])?;
    let rest = rest.trim_start();
    if serial.is_empty() || rest.is_empty() {
        return None;
    }
    let member = |name: &str| {
        let found = rest.split_ascii_whitespace().find_map(|word| word.strip_prefix(name));
        found.unwrap_or_default().replace('_', " ")
    };
    let (state, hint) = state(rest);
    let device = Device {
        serial: serial.to_owned(),
        state,
        model: member("model:"),
        product: member("product:"),
        same_as: String::new(),
        hint,
    };
    let transport = member("transport_id:").parse().unwrap_or(0);
    // A cable has a path of ports; a serial with a port or a service name came over the network.
    let usb = rest.contains("usb:") || !serial.contains([':', '.']) && !serial.starts_with("emulator-");
    Some(Listed { device, transport, usb })
}

/// The state and what to do about it.
fn state(text: &str) -> (DeviceState, String) {
    let word = text.split_ascii_whitespace().next().unwrap_or_default();
    if text.starts_with("no permissions") {
        return (DeviceState::NoPermissions, NO_PERMISSIONS.to_owned());
    }
    let (state, hint) = match word {
        "device" => (DeviceState::Device, ""),
        "offline" => (DeviceState::Offline, OFFLINE),
        "unauthorized" => (DeviceState::Unauthorized, UNAUTHORIZED),
        "authorizing" | "connecting" | "host" => (DeviceState::Connecting, CONNECTING),
        _ => (DeviceState::Other, OTHER),
    };
    (state, hint.to_owned())
}

/// What to do about a phone that does not trust this computer.
pub(super) const UNAUTHORIZED: &str = "unlock the phone and tap Allow in the dialog \"Allow USB debugging?\"; if there is no dialog, revoke the \
     USB debugging authorisations in the developer options and plug the cable in again";
/// What to do about a phone that is listed and silent.
pub(super) const OFFLINE: &str =
    "plug the cable in again, or connect it anew with `adb connect`; `adb reconnect offline` often helps";
/// What to do about a phone that is on its way.
pub(super) const CONNECTING: &str = "wait a few seconds; unlock the phone and look for a dialog";
/// What to do where the operating system is in the way.
pub(super) const NO_PERMISSIONS: &str = "this computer may not open the USB device: install the udev rules of Android phones, then plug the cable in \
     again";
const OTHER: &str = "start the phone into its normal system";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_carry_their_length() {
        assert_eq!(request(b"host:version").unwrap(), b"000chost:version");
        assert!(request(&vec![b'a'; ADB_REQUEST_BYTES_MAX]).unwrap().starts_with(b"ffff"));
        assert_eq!(
            request(&vec![b'a'; ADB_REQUEST_BYTES_MAX + 1]).unwrap_err().code,
            DeviceCode::NotSupported
        );
    }

    #[test]
    fn a_length_is_four_hexadecimal_digits() {
        assert_eq!((length(*b"000c"), length(*b"FFff")), (Some(12), Some(65_535)));
        for wrong in [b"+00c", b" 00c", b"00x0", b"\xff\xff\xff\xff"] {
            assert_eq!(length(*wrong), None);
        }
        assert_eq!((status(*b"OKAY"), status(*b"FAIL")), (Some(Status::Okay), Some(Status::Fail)));
        assert_eq!(status(*b"okay"), None);
    }

    #[test]
    fn lists_are_read_in_both_forms() {
        let long = "emulator-5554          device product:sdk model:Pixel_7 device:emu64 transport_id:3\n\
                    192.168.1.7:5555       offline transport_id:12\n\
                    R58M                   unauthorized usb:1-4 transport_id:2\n\
                    X1                     no permissions (user in plugdev group); see [http://x] usb:1-2 transport_id:4\n";
        let read = devices(long);
        let states: Vec<_> = read.iter().map(|one| (one.device.serial.as_str(), one.device.state)).collect();
        assert_eq!(
            states,
            [
                ("emulator-5554", DeviceState::Device),
                ("192.168.1.7:5555", DeviceState::Offline),
                ("R58M", DeviceState::Unauthorized),
                ("X1", DeviceState::NoPermissions)
            ]
        );
        assert_eq!((read[0].device.model.as_str(), read[0].transport), ("Pixel 7", 3));
        assert_eq!(read.iter().map(|one| one.usb).collect::<Vec<_>>(), [false, false, true, true]);
        let short = devices("R58M\tdevice\nX1\trecovery\n\nbroken\n");
        assert_eq!(short.len(), 2);
        assert_eq!((short[0].transport, short[1].device.state), (0, DeviceState::Other));
    }

    #[test]
    fn every_state_but_ready_says_what_to_do() {
        for word in
            ["offline", "unauthorized", "authorizing", "connecting", "no permissions", "recovery", "sideload"]
        {
            let (state, hint) = state(word);
            assert!(state != DeviceState::Device && !hint.is_empty(), "{word}");
        }
        assert!(state("unauthorized").1.contains("tap Allow"));
    }
}
