//! The real adb server, on a port and in a home of its own.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes that long; whoever waits longer has found a hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server that ends with the test.
pub(crate) struct AdbServer {
    child: Child,
    port: u16,
    home: tempfile::TempDir,
}

impl AdbServer {
    /// Starts one; a port that somebody took meanwhile is given up for another.
    pub(crate) fn start() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        for _ in 0..5 {
            let port = free_port();
            let mut child =
                command(home.path(), port).args(["nodaemon", "server"]).spawn().expect("adb starts");
            let began = Instant::now();
            while began.elapsed() < PATIENCE {
                if child.try_wait().expect("a child").is_some() {
                    break;
                }
                if ask(port, "host:version").is_ok() {
                    return Self { child, port, home };
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        panic!("no adb server could be started");
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The `adb` program for this server.
    pub(crate) fn command(&self) -> Command {
        command(self.home.path(), self.port)
    }

    /// Asks it something that has a text for an answer.
    pub(crate) fn ask(&self, service: &str) -> io::Result<String> {
        ask(self.port, service)
    }
}

impl Drop for AdbServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listened on a moment ago, outside of those that adb looks for emulators on.
pub(crate) fn free_port() -> u16 {
    loop {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        if !(5_500..5_700).contains(&port) {
            return port;
        }
    }
}

/// The program with nothing of the user's around it; it dies with this process where that can be arranged.
pub(crate) fn command(home: &Path, port: u16) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "adb", "-P"]).arg(port.to_string());
    for name in
        ["ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_SERIAL"]
    {
        command.env_remove(name);
    }
    // No emulator of this computer belongs to the test.
    command.env("HOME", home).env("ANDROID_SDK_HOME", home).env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5553");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// One question to a server.
pub(crate) fn ask(port: u16, service: &str) -> io::Result<String> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.write_all(format!("{:04x}{service}", service.len()).as_bytes())?;
    let mut status = [0; 4];
    socket.read_exact(&mut status)?;
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = usize::from_str_radix(&String::from_utf8_lossy(&length), 16).map_err(io::Error::other)?;
    let mut text = vec![0; length];
    socket.read_exact(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    if &status == b"OKAY" { Ok(text) } else { Err(io::Error::other(text)) }
}
