//! The transport protocol: 24 bytes of header, one write in flight for each direction of a stream.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use super::{Manner, Shared, shell, sync, tools};

const CNXN: u32 = 0x4e58_4e43;
const AUTH: u32 = 0x4854_5541;
const OPEN: u32 = 0x4e45_504f;
const OKAY: u32 = 0x5941_4b4f;
const WRTE: u32 = 0x4554_5257;
const CLSE: u32 = 0x4553_4c43;

const VERSION: u32 = 0x0100_0001;
const VERSION_OLD: u32 = 0x0100_0000;
const PAYLOAD_BYTES_MAX: u32 = 1024 * 1024;
const PAYLOAD_BYTES_MAX_OLD: u32 = 4_096;
/// What the protocol calls the two things of a token and a key.
const TOKEN: u32 = 1;

/// One connection of a server.
pub(super) struct Wire {
    socket: TcpStream,
    out: Mutex<TcpStream>,
    shared: Arc<Shared>,
    state: Mutex<State>,
}

struct State {
    streams: HashMap<u32, Entry>,
    next: u32,
    payload_max: usize,
}

struct Entry {
    stream: Arc<Stream>,
    input: Sender<Vec<u8>>,
}

/// One service that was opened.
pub(super) struct Stream {
    wire: Arc<Wire>,
    local: u32,
    remote: u32,
    /// Whether the next write may go, and whether the other side has closed.
    flow: Mutex<Flow>,
    moved: Condvar,
    /// Held for a whole write, so that the pieces of two writers do not mix.
    writing: Mutex<()>,
}

#[derive(Clone, Copy)]
struct Flow {
    may_write: bool,
    closed: bool,
}

impl Wire {
    pub(super) fn new(socket: TcpStream, shared: Arc<Shared>) -> Self {
        // Small answers follow each other: none waits until the one before was acknowledged.
        socket.set_nodelay(true).expect("a socket");
        let out = Mutex::new(socket.try_clone().expect("a second handle of the socket"));
        let state = State { streams: HashMap::new(), next: 1, payload_max: 4_096 };
        Self { socket, out, shared, state: Mutex::new(state) }
    }

    /// Ends the connection in the middle of whatever goes on.
    pub(super) fn cut(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// Reads until the connection ends.
    pub(super) fn serve(self: Arc<Self>) {
        let mut input = self.socket.try_clone().expect("a handle of the socket");
        while let Ok((command, arg0, arg1, data)) = read_message(&mut input) {
            if self.take(command, arg0, arg1, data).is_err() {
                break;
            }
        }
        let streams: Vec<Entry> = {
            let mut state = self.state.lock().expect("the state");
            state.streams.drain().map(|(_, entry)| entry).collect()
        };
        for entry in streams {
            entry.stream.other_side_closed();
        }
        self.cut();
    }

    fn take(self: &Arc<Self>, command: u32, arg0: u32, arg1: u32, data: Vec<u8>) -> io::Result<()> {
        match command {
            CNXN => self.greet(arg1),
            // A signature is never right; the key that follows waits for somebody who taps "Allow".
            AUTH if arg0 == 2 => self.send(AUTH, TOKEN, 0, &[7; 20]),
            AUTH => Ok(()),
            OPEN => self.open(arg0, &data),
            OKAY => {
                if let Some(stream) = self.stream(arg1) {
                    stream.flow.lock().expect("the flow").may_write = true;
                    stream.moved.notify_all();
                }
                Ok(())
            }
            WRTE => {
                let sender = {
                    let state = self.state.lock().expect("the state");
                    state.streams.get(&arg1).map(|entry| entry.input.clone())
                };
                if let Some(sender) = sender {
                    // A service that reads no more is no reason to stop the stream.
                    let _ = sender.send(data);
                    self.send(OKAY, arg1, arg0, &[])?;
                }
                Ok(())
            }
            CLSE => {
                let entry = self.state.lock().expect("the state").streams.remove(&arg1);
                if let Some(entry) = entry {
                    entry.stream.other_side_closed();
                    self.send(CLSE, arg1, arg0, &[])?;
                }
                Ok(())
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn greet(&self, payload_max: u32) -> io::Result<()> {
        let manner = self.shared.manner();
        match manner {
            Manner::Offline => return Ok(()),
            Manner::Unauthorized => return self.send(AUTH, TOKEN, 0, &[7; 20]),
            Manner::Good | Manner::Old => {}
        }
        let (version, own, features) = match manner {
            Manner::Old => (VERSION_OLD, PAYLOAD_BYTES_MAX_OLD, ""),
            _ => (VERSION, PAYLOAD_BYTES_MAX, "features=shell_v2,cmd,stat_v2,ls_v2,abb,abb_exec"),
        };
        let agreed = own.min(payload_max);
        self.state.lock().expect("the state").payload_max = agreed as usize;
        let banner = format!(
            "device::ro.product.name=test_phone;ro.product.model=Test_Phone;ro.product.device=test;{features}"
        );
        self.send(CNXN, version, own, banner.as_bytes())
    }

    fn open(self: &Arc<Self>, remote: u32, service: &[u8]) -> io::Result<()> {
        let service = String::from_utf8_lossy(service).trim_end_matches('\0').to_owned();
        let old = self.shared.manner() == Manner::Old;
        let known = ["shell:", "exec:", "sync:"].iter().any(|name| service.starts_with(name))
            || !old && ["shell,v2,", "abb_exec:"].iter().any(|name| service.starts_with(name));
        let refused = service.starts_with("abb_exec:") && self.shared.model().refuses_abb;
        if !known || refused {
            return self.send(CLSE, 0, remote, &[]);
        }
        let (input, received) = channel();
        let stream = {
            let mut state = self.state.lock().expect("the state");
            let local = state.next;
            state.next += 1;
            let stream = Arc::new(Stream {
                wire: Arc::clone(self),
                local,
                remote,
                flow: Mutex::new(Flow { may_write: true, closed: false }),
                moved: Condvar::new(),
                writing: Mutex::new(()),
            });
            state.streams.insert(local, Entry { stream: Arc::clone(&stream), input });
            stream
        };
        self.send(OKAY, stream.local, remote, &[])?;
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || {
            run(&shared, &stream, &service, received);
            stream.close();
        });
        Ok(())
    }

    fn stream(&self, local: u32) -> Option<Arc<Stream>> {
        self.state.lock().expect("the state").streams.get(&local).map(|entry| Arc::clone(&entry.stream))
    }

    fn send(&self, command: u32, arg0: u32, arg1: u32, data: &[u8]) -> io::Result<()> {
        let sum = data.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)));
        let length = u32::try_from(data.len()).expect("a payload is short");
        let mut bytes = Vec::with_capacity(24 + data.len());
        for word in [command, arg0, arg1, length, sum, command ^ u32::MAX] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(data);
        self.out.lock().expect("the socket").write_all(&bytes)
    }
}

fn run(shared: &Arc<Shared>, stream: &Arc<Stream>, service: &str, received: Receiver<Vec<u8>>) {
    if let Some(arguments) = service.strip_prefix("abb_exec:") {
        let words: Vec<Vec<u8>> = std::iter::once("cmd")
            .chain(arguments.split('\0'))
            .map(|word| word.as_bytes().to_vec())
            .collect();
        let reply = tools::call(shared, &words);
        stream.write(&[reply.out, reply.err].concat());
    } else if service.starts_with("sync:") {
        sync::serve(stream, received);
    } else if let Some(command) = service.strip_prefix("exec:") {
        shell::in_terminal(shared, stream, command, true);
    } else if let Some(command) = service.strip_prefix("shell:") {
        shell::in_terminal(shared, stream, command, false);
    } else if let Some((_, command)) = service.split_once("raw:") {
        shell::with_packets(shared, stream, command, received);
    }
}

impl Stream {
    /// Writes all of it; false if nobody reads any more.
    pub(super) fn write(&self, data: &[u8]) -> bool {
        let _writing = self.writing.lock().expect("the writer");
        let piece_max = self.wire.state.lock().expect("the state").payload_max;
        for piece in data.chunks(piece_max) {
            let mut flow = self.flow.lock().expect("the flow");
            while !flow.may_write && !flow.closed {
                flow = self.moved.wait(flow).expect("the flow");
            }
            if flow.closed {
                return false;
            }
            flow.may_write = false;
            drop(flow);
            if self.wire.send(WRTE, self.local, self.remote, piece).is_err() {
                return false;
            }
        }
        true
    }

    fn other_side_closed(&self) {
        self.flow.lock().expect("the flow").closed = true;
        self.moved.notify_all();
    }

    /// Closes after the last write was taken.
    fn close(&self) {
        let mut flow = self.flow.lock().expect("the flow");
        while !flow.may_write && !flow.closed {
            flow = self.moved.wait(flow).expect("the flow");
        }
        let closed = flow.closed;
        flow.closed = true;
        drop(flow);
        if !closed {
            self.wire.state.lock().expect("the state").streams.remove(&self.local);
            let _ = self.wire.send(CLSE, self.local, self.remote, &[]);
        }
    }
}

fn read_message(input: &mut TcpStream) -> io::Result<(u32, u32, u32, Vec<u8>)> {
    let mut header = [0; 24];
    input.read_exact(&mut header)?;
    let word = |at: usize| {
        u32::from_le_bytes([header[at * 4], header[at * 4 + 1], header[at * 4 + 2], header[at * 4 + 3]])
    };
    if word(5) != word(0) ^ u32::MAX || word(3) > PAYLOAD_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut data = vec![0; word(3) as usize];
    input.read_exact(&mut data)?;
    Ok((word(0), word(1), word(2), data))
}
