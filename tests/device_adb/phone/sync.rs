//! The file service: `STAT`, `SEND`, `RECV`, on the files of this computer.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::wire::Stream;

/// What came and was not used yet.
struct Incoming {
    received: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Incoming {
    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.bytes.len() < count {
            self.bytes.extend(self.received.recv().ok()?);
        }
        Some(self.bytes.drain(..count).collect())
    }

    fn header(&mut self) -> Option<(Vec<u8>, usize)> {
        let id = self.take(4)?;
        let length = self.take(4)?;
        Some((id, u32::from_le_bytes(length.try_into().expect("four bytes")) as usize))
    }
}

/// Serves requests until the other side goes.
pub(super) fn serve(stream: &Arc<Stream>, received: Receiver<Vec<u8>>) {
    let mut incoming = Incoming { received, bytes: Vec::new() };
    while let Some((id, length)) = incoming.header() {
        let Some(argument) = incoming.take(length) else { return };
        let argument = String::from_utf8_lossy(&argument).into_owned();
        let goes_on = match id.as_slice() {
            b"STAT" => stat(stream, &argument),
            b"RECV" => receive(stream, &argument),
            b"SEND" => send(stream, &mut incoming, &argument),
            _ => false,
        };
        if !goes_on {
            return;
        }
    }
}

fn packet(id: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("a packet is short");
    [&id[..], &length.to_le_bytes(), data].concat()
}

/// A file that is not there has no mode, no size and no time.
fn stat(stream: &Stream, path: &str) -> bool {
    let found = fs::metadata(path).map(|file| (file.mode(), u32::try_from(file.len()).unwrap_or(u32::MAX)));
    let (mode, size) = found.unwrap_or((0, 0));
    stream.write(&[&b"STAT"[..], &mode.to_le_bytes(), &size.to_le_bytes(), &0u32.to_le_bytes()].concat())
}

fn receive(stream: &Stream, path: &str) -> bool {
    let Ok(bytes) = fs::read(path) else {
        return stream.write(&packet(*b"FAIL", b"No such file or directory"));
    };
    bytes.chunks(64 * 1024).all(|piece| stream.write(&packet(*b"DATA", piece)))
        && stream.write(&packet(*b"DONE", b""))
}

fn send(stream: &Stream, incoming: &mut Incoming, target: &str) -> bool {
    let (path, mode) = target.rsplit_once(',').expect("path,mode");
    let mut bytes = Vec::new();
    loop {
        let Some((id, length)) = incoming.header() else { return false };
        if id == b"DONE" {
            break;
        }
        let Some(data) = incoming.take(length) else { return false };
        bytes.extend(data);
    }
    let written = fs::write(path, bytes).and_then(|()| {
        let mode = mode.parse().unwrap_or(0o644);
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o777))
    });
    match written {
        Ok(()) => stream.write(&packet(*b"OKAY", b"")),
        Err(error) => stream.write(&packet(*b"FAIL", error.to_string().as_bytes())),
    }
}
