//! Made-up bytes in place of what a server or a phone writes.

use super::frame;
use super::packet::{Output, Packets};
use super::tree;

/// Output that is kept of a made-up command.
const KEPT_BYTES: usize = 1_024;

/// Reads bytes as a status, a length, a device list, packets of a shell in every cut, and a dump.
///
/// # Panics
/// If an answer depends on how the bytes were cut, or holds more than it may.
pub fn read(bytes: &[u8]) {
    if let Some(first) = bytes.first_chunk::<4>() {
        let _ = frame::status(*first);
        assert!(frame::length(*first).is_none_or(|length| length <= 0xffff));
    }
    for listed in frame::devices(&String::from_utf8_lossy(bytes)) {
        assert!(!listed.device.serial.is_empty());
    }
    let whole = packets(bytes, bytes.len().max(1));
    for piece in [1, 3, 5, 64] {
        assert_eq!(whole, packets(bytes, piece), "the cut matters");
    }
    if let Some(tree) = tree::cut(bytes) {
        assert!(tree.starts_with(b"<hierarchy") && tree.ends_with(b">"));
    }
}

/// The output, `None` without an exit code, or the refusal.
fn packets(bytes: &[u8], piece: usize) -> Result<Option<Output>, ()> {
    let mut packets = Packets::new(KEPT_BYTES);
    for part in bytes.chunks(piece) {
        if packets.push(part).map_err(|_| ())? {
            break;
        }
    }
    Ok(packets.finish().inspect(|output| assert!(output.stdout.len() <= KEPT_BYTES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_kind_are_read_without_harm() {
        for bytes in [
            &b""[..],
            b"OKAY0004abcd",
            b"FAIL000cdevice offline",
            b"A\tdevice\nB no permissions",
            b"\x01\xff\xff\xff\xffdata",
            b"\x01\x03\0\0\0out\x03\x01\0\0\0\x07tail",
            b"<hierarchy/></hierarchy>",
            b"x<hierarchy >",
        ] {
            read(bytes);
        }
    }
}
