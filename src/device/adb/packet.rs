//! The packets of `shell,v2`: a byte, a length, data, in any pieces the network makes of them.

use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError};
use crate::limits::ADB_STDERR_BYTES_MAX;

const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const EXIT: u8 = 3;
/// Tells the command that nothing will be written to it.
pub(super) const CLOSE_STDIN: [u8; 5] = [4, 0, 0, 0, 0];

/// What a command wrote, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    /// Standard output.
    pub(super) stdout: Vec<u8>,
    /// The beginning of standard error; empty where the phone cannot tell the two apart.
    pub(super) stderr: Vec<u8>,
    /// Exit code.
    pub(super) code: u8,
}

impl Output {
    /// Standard output as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Both outputs as text: tools of phones write their errors on either.
    pub(super) fn said(&self) -> String {
        let mut text = self.text();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&String::from_utf8_lossy(&self.stderr));
        text
    }
}

/// Reads packets as they come; holds at most what the limit allows, whatever lengths are claimed.
#[derive(Debug)]
pub(super) struct Packets {
    output: Output,
    limit: usize,
    header: [u8; 5],
    header_len: usize,
    left: usize,
    ended: Option<u8>,
}

impl Packets {
    /// For a command whose standard output may be so long.
    pub(super) fn new(limit: usize) -> Self {
        Self { output: Output::default(), limit, header: [0; 5], header_len: 0, left: 0, ended: None }
    }

    /// Takes bytes; true once the exit packet was read.
    ///
    /// # Errors
    /// More output than the limit allows.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> DeviceResult<bool> {
        while !bytes.is_empty() && self.ended.is_none() {
            if self.header_len < self.header.len() {
                self.header[self.header_len] = bytes[0];
                self.header_len += 1;
                bytes = &bytes[1..];
                if self.header_len < self.header.len() {
                    continue;
                }
                let [_, a, b, c, d] = self.header;
                self.left = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
            }
            let (data, rest) = bytes.split_at(self.left.min(bytes.len()));
            self.take(data)?;
            bytes = rest;
            self.left -= data.len();
            if self.left == 0 {
                self.header_len = 0;
            }
        }
        Ok(self.ended.is_some())
    }

    fn take(&mut self, data: &[u8]) -> DeviceResult<()> {
        match self.header[0] {
            STDOUT => keep(&mut self.output.stdout, data, self.limit)?,
            STDERR => {
                let room = ADB_STDERR_BYTES_MAX.saturating_sub(self.output.stderr.len());
                self.output.stderr.extend_from_slice(&data[..data.len().min(room)]);
            }
            EXIT => self.ended = data.first().copied(),
            // Packets of later versions are for those who asked for them.
            _ => {}
        }
        Ok(())
    }

    /// The output, if the exit packet was read: without it nobody knows whether the command ran to its end.
    pub(super) fn finish(self) -> Option<Output> {
        let code = self.ended?;
        Some(Output { code, ..self.output })
    }
}

/// Appends within a limit.
///
/// # Errors
/// The limit would be crossed.
pub(super) fn keep(kept: &mut Vec<u8>, data: &[u8], limit: usize) -> DeviceResult<()> {
    if kept.len() + data.len() > limit {
        return Err(DeviceError::new(
            DeviceCode::CommandFailed,
            format!("the phone wrote more than {limit} bytes"),
            "ask for less at once",
        ));
    }
    kept.extend_from_slice(data);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u8, data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![id];
        bytes.extend_from_slice(&u32::try_from(data.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn packets_are_read_however_they_are_cut() {
        let stream = [
            packet(STDOUT, b"out"),
            packet(STDERR, b"err"),
            packet(STDOUT, b""),
            packet(9, b"later"),
            packet(STDOUT, b"put"),
            packet(EXIT, &[7]),
        ]
        .concat();
        for piece in 1..=stream.len() {
            let mut packets = Packets::new(1_000);
            let ends: Vec<bool> = stream.chunks(piece).map(|part| packets.push(part).unwrap()).collect();
            assert_eq!(ends.last(), Some(&true));
            let output = packets.finish().unwrap();
            assert_eq!(
                (output.stdout.as_slice(), output.stderr.as_slice(), output.code),
                (&b"output"[..], &b"err"[..], 7)
            );
        }
    }

    #[test]
    fn an_end_without_the_exit_packet_is_no_success() {
        let mut packets = Packets::new(1_000);
        assert!(!packets.push(&packet(STDOUT, b"all of it")).unwrap());
        assert_eq!(packets.finish(), None);
    }

    #[test]
    fn a_claimed_length_reserves_no_memory_and_too_much_output_is_an_error() {
        let mut packets = Packets::new(4);
        assert!(!packets.push(&[STDOUT, 0xff, 0xff, 0xff, 0xff]).unwrap());
        assert!(packets.output.stdout.capacity() < 64);
        assert!(!packets.push(b"1234").unwrap());
        assert_eq!(packets.push(b"5").unwrap_err().code, DeviceCode::CommandFailed);
        let mut packets = Packets::new(4);
        packets.push(&packet(STDERR, &vec![b'e'; ADB_STDERR_BYTES_MAX + 10])).unwrap();
        packets.push(&packet(EXIT, &[0])).unwrap();
        assert_eq!(packets.finish().unwrap().stderr.len(), ADB_STDERR_BYTES_MAX);
    }
}
