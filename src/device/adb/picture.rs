//! Pictures of the screen.

use super::client::Client;
use super::failure;
use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError, shorten};
use crate::limits::ADB_PICTURE_BYTES_MAX;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The last chunk of every PNG: no data, its name, its checksum.
const END: &[u8] = b"\0\0\0\0IEND\xae\x42\x60\x82";

/// Takes a picture; the bytes of the PNG.
pub(super) async fn take(client: &Client, device: &str) -> DeviceResult<Vec<u8>> {
    let bytes = client.exec(device, &["screencap", "-p"], ADB_PICTURE_BYTES_MAX, client.timeout()).await?;
    cut(bytes, device)
}

/// The PNG in what was written. A warning about several displays may stand in front of it; the bytes behind the
/// signature are never touched, since what looks like a broken line end is picture.
fn cut(mut bytes: Vec<u8>, device: &str) -> DeviceResult<Vec<u8>> {
    let Some(begin) = bytes.windows(SIGNATURE.len()).position(|part| part == SIGNATURE) else {
        let said = String::from_utf8_lossy(&bytes[..bytes.len().min(1_024)]).into_owned();
        let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it wrote nothing");
        return Err(DeviceError::new(
            DeviceCode::CommandFailed,
            format!("the phone gave no picture: {}", shorten(line)),
            "wake the phone; a protected window cannot be taken: read the screen with describe_screen",
        ));
    };
    let end = bytes.windows(END.len()).rposition(|part| part == END).ok_or_else(|| failure::lost(device))?;
    bytes.truncate(end + END.len());
    bytes.drain(..begin);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(data: &[u8]) -> Vec<u8> {
        [SIGNATURE, data, END].concat()
    }

    #[test]
    fn a_warning_in_front_of_the_signature_is_dropped_and_nothing_else() {
        let picture = png(b"\r\n\n\r\r\n");
        let noisy = [&b"[Warning] Multiple displays were found\r\n"[..], &picture].concat();
        assert_eq!(cut(noisy, "A").unwrap(), picture);
        assert_eq!(cut(picture.clone(), "A").unwrap(), picture);
    }

    #[test]
    fn half_a_picture_is_a_broken_connection() {
        let mut half = png(b"data");
        half.truncate(half.len() - 1);
        assert_eq!(cut(half, "A").unwrap_err().code, DeviceCode::Lost);
    }

    #[test]
    fn a_picture_that_was_refused_points_to_the_tree() {
        for said in [&b""[..], b"Failed to take screenshot. Status: -1\n"] {
            let error = cut(said.to_vec(), "A").unwrap_err();
            assert_eq!(error.code, DeviceCode::CommandFailed);
            assert!(error.hint.contains("describe_screen"));
        }
    }
}
