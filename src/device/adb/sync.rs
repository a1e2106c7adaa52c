//! `sync:`, the file service of a phone.

use super::failure;
use super::server::{Link, Server};
use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError, shorten};
use crate::limits::{ADB_FILE_BYTES_MAX, ADB_PATH_BYTES_MAX};

/// Bytes of one packet of data, given by the protocol.
const PIECE_BYTES: usize = 64 * 1024;
/// A regular file, in the mode of an answer to `STAT`.
const REGULAR: u32 = 0o100_000;
const KIND: u32 = 0o170_000;

/// Writes a file with the permissions of `mode`.
pub(super) async fn push(
    server: &Server,
    device: &str,
    bytes: &[u8],
    path: &str,
    mode: u32,
) -> DeviceResult<()> {
    if bytes.len() > ADB_FILE_BYTES_MAX {
        return Err(too_large(path, bytes.len()));
    }
    let target = format!("{path},{}", REGULAR | mode & 0o777);
    let mut link = open(server, device, path).await?;
    link.write(&packet(*b"SEND", target.as_bytes())?).await?;
    for piece in bytes.chunks(PIECE_BYTES) {
        link.write(&packet(*b"DATA", piece)?).await?;
    }
    // The time of the last change, in seconds; 0 is as good as any for a file that is read and removed.
    link.write(&header(*b"DONE", 0)).await?;
    let (id, length) = answer(&mut link).await?;
    match &id {
        b"OKAY" => Ok(()),
        b"FAIL" => Err(refused(&mut link, length, path).await?),
        _ => Err(strange(id)),
    }
}

/// Looks at a file and answers its size, and the connection to read it from.
pub(super) async fn stat(server: &Server, device: &str, path: &str) -> DeviceResult<(usize, Link)> {
    let mut link = open(server, device, path).await?;
    link.write(&packet(*b"STAT", path.as_bytes())?).await?;
    let id = link.four().await?;
    if &id != b"STAT" {
        return Err(strange(id));
    }
    let mode = u32::from_le_bytes(link.four().await?);
    let size = usize::try_from(u32::from_le_bytes(link.four().await?)).unwrap_or(usize::MAX);
    let _changed = link.four().await?;
    if mode & KIND != REGULAR {
        let what = if mode == 0 { "there is no file" } else { "no regular file is" };
        let message = format!("{what} {:?} on the phone", shorten(path));
        return Err(DeviceError::new(DeviceCode::FileFailed, message, "check the path"));
    }
    if size > ADB_FILE_BYTES_MAX {
        return Err(too_large(path, size));
    }
    Ok((size, link))
}

/// Reads the file that was looked at.
pub(super) async fn receive(link: &mut Link, path: &str) -> DeviceResult<Vec<u8>> {
    link.write(&packet(*b"RECV", path.as_bytes())?).await?;
    let mut bytes = Vec::new();
    loop {
        let (id, length) = answer(link).await?;
        match &id {
            b"DATA" if length <= PIECE_BYTES => {
                let begin = bytes.len();
                if begin + length > ADB_FILE_BYTES_MAX {
                    return Err(too_large(path, begin + length));
                }
                bytes.resize(begin + length, 0);
                link.fill(&mut bytes[begin..]).await?;
            }
            b"DONE" => return Ok(bytes),
            b"FAIL" => return Err(refused(link, length, path).await?),
            _ => return Err(strange(id)),
        }
    }
}

async fn open(server: &Server, device: &str, path: &str) -> DeviceResult<Link> {
    if path.len() > ADB_PATH_BYTES_MAX || path.contains('\0') {
        let message = format!("the path {:?} is no path on a phone", shorten(path));
        return Err(DeviceError::new(DeviceCode::FileFailed, message, "check the path"));
    }
    server.open(device, b"sync:").await
}

fn header(id: [u8; 4], length: u32) -> [u8; 8] {
    let [a, b, c, d] = length.to_le_bytes();
    [id[0], id[1], id[2], id[3], a, b, c, d]
}

fn packet(id: [u8; 4], data: &[u8]) -> DeviceResult<Vec<u8>> {
    let length = u32::try_from(data.len()).map_err(|_| failure::malformed("a packet is too long"))?;
    let mut bytes = header(id, length).to_vec();
    bytes.extend_from_slice(data);
    Ok(bytes)
}

async fn answer(link: &mut Link) -> DeviceResult<([u8; 4], usize)> {
    let id = link.four().await?;
    let length = u32::from_le_bytes(link.four().await?);
    Ok((id, usize::try_from(length).unwrap_or(usize::MAX)))
}

/// The text of a refusal.
async fn refused(link: &mut Link, length: usize, path: &str) -> DeviceResult<DeviceError> {
    let mut text = vec![0; length.min(PIECE_BYTES)];
    link.fill(&mut text).await?;
    let said = String::from_utf8_lossy(&text);
    let message = format!("the phone refuses the file {:?}: {}", shorten(path), shorten(&said));
    Ok(DeviceError::new(DeviceCode::FileFailed, message, "check the path and who may write there"))
}

fn too_large(path: &str, size: usize) -> DeviceError {
    let message = format!("the file {:?} of {size} bytes is larger than {ADB_FILE_BYTES_MAX}", shorten(path));
    DeviceError::new(DeviceCode::FileFailed, message, "copy it with `adb`")
}

fn strange(id: [u8; 4]) -> DeviceError {
    failure::malformed(format!("the file service answered {:?}", String::from_utf8_lossy(&id)))
}
