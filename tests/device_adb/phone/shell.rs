//! Commands in the real Android shell, with the phone's commands on their path.

use std::io::{Read, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;

use super::stubs::find;
use super::wire::Stream;
use super::{Shared, pty};

/// A shell in a session of its own, so that the terminal of whoever runs the tests is none of its business.
fn shell(shared: &Shared, command: &str, terminal: bool) -> Command {
    let mut process = Command::new(find("setsid"));
    if terminal {
        process.arg("-c");
    }
    process.arg(find("mksh")).arg("-c").arg(command).env_clear();
    let path = format!("{}:{}", shared.root().join("bin").display(), shared.root().join("toybox").display());
    process
        .env("PATH", path)
        .env("PHONE", shared.root())
        .env("HOME", shared.root())
        .current_dir(shared.root());
    process
}

/// `shell,v2`: packets for each output, and the exit code at the end.
pub(super) fn with_packets(
    shared: &Shared,
    stream: &Arc<Stream>,
    command: &str,
    received: Receiver<Vec<u8>>,
) {
    let mut process = shell(shared, command, false);
    let mut child = process
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the shell starts");
    let stdin = child.stdin.take().expect("piped");
    thread::spawn(move || feed(stdin, &received));
    let stderr = pump(child.stderr.take().expect("piped"), Arc::clone(stream), 2);
    let stdout = pump(child.stdout.take().expect("piped"), Arc::clone(stream), 1);
    stdout.join().expect("standard output");
    stderr.join().expect("standard error");
    let status = child.wait().expect("the shell ends");
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(255);
    stream.write(&packet(3, &[code]));
}

fn pump<R: Read + Send + 'static>(mut output: R, stream: Arc<Stream>, id: u8) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        // A stream that nobody reads closes the pipe, as adbd does: the command goes on until it writes.
        while let Ok(read) = output.read(&mut buffer) {
            if read == 0 || !stream.write(&packet(id, &buffer[..read])) {
                break;
            }
        }
    })
}

/// Gives the command what the other side writes, until it says that this was all.
fn feed(mut stdin: ChildStdin, received: &Receiver<Vec<u8>>) {
    let mut bytes = Vec::new();
    while let Ok(more) = received.recv() {
        bytes.extend(more);
        while let Some(header) = bytes.first_chunk::<5>() {
            let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]) as usize;
            let id = header[0];
            if bytes.len() < 5 + length {
                break;
            }
            let data: Vec<u8> = bytes.drain(..5 + length).skip(5).collect();
            match id {
                0 => drop(stdin.write_all(&data)),
                4 => return,
                _ => {}
            }
        }
    }
}

fn packet(id: u8, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("a packet is short");
    [&[id][..], &length.to_le_bytes(), data].concat()
}

/// `exec:` (raw) and the `shell:` of old phones (with the line ends of a terminal): one terminal for everything, no exit
/// code.
pub(super) fn in_terminal(shared: &Shared, stream: &Arc<Stream>, command: &str, raw: bool) {
    let (mut master, slave) = pty::open(raw);
    let mut process = shell(shared, command, true);
    let second = slave.try_clone().expect("a handle of the terminal");
    let third = slave.try_clone().expect("a handle of the terminal");
    let mut child = process
        .stdin(Stdio::from(slave))
        .stdout(Stdio::from(second))
        .stderr(Stdio::from(third))
        .spawn()
        .expect("the shell starts");
    // The handles in the command would keep the terminal open.
    drop(process);
    let mut buffer = [0; 16 * 1024];
    // The end of a terminal is an error.
    while let Ok(read) = master.read(&mut buffer) {
        if read == 0 || !stream.write(&buffer[..read]) {
            break;
        }
    }
    drop(master);
    child.wait().expect("the shell ends");
}
