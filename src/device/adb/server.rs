//! The adb server: a socket for each question, and the `adb` program only where nobody listens.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use super::address::ServerAddress;
use super::failure;
use super::frame::{self, Status};
use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError};
use crate::limits::ADB_START_TIMEOUT_MS;

/// How to reach the server.
#[derive(Debug)]
pub(super) struct Server {
    address: ServerAddress,
    program: Option<PathBuf>,
    /// Held while the server is started, so that one caller does it and the others wait.
    starting: Mutex<()>,
}

impl Server {
    /// A server that is started by `program` where none answers; never started without one.
    pub(super) fn new(address: ServerAddress, program: Option<PathBuf>) -> Self {
        Self { address, program, starting: Mutex::new(()) }
    }

    /// Where it listens.
    pub(super) fn address(&self) -> &ServerAddress {
        &self.address
    }

    /// Connects; starts the server first if nobody listens.
    pub(super) async fn connect(&self) -> DeviceResult<Link> {
        match self.dial().await {
            Ok(link) => Ok(link),
            Err(cause) if cause.kind() == io::ErrorKind::ConnectionRefused => {
                let _starting = self.starting.lock().await;
                // Somebody else may have started it while this call waited.
                if let Ok(link) = self.dial().await {
                    return Ok(link);
                }
                self.start(&cause).await?;
                self.dial().await.map_err(|cause| failure::unreachable(&self.address, &cause, SEE_ADB))
            }
            Err(cause) => {
                Err(failure::unreachable(&self.address, &cause, "check the address and the network"))
            }
        }
    }

    /// Connects, never starts anything.
    pub(super) async fn dial(&self) -> io::Result<Link> {
        let stream = TcpStream::connect((self.address.host(), self.address.port())).await?;
        // Requests are small and wait for their answer.
        stream.set_nodelay(true)?;
        Ok(Link { stream, device: String::new() })
    }

    async fn start(&self, cause: &io::Error) -> DeviceResult<()> {
        if !self.address.is_local() {
            let hint = "start it on that computer with `adb -a start-server`, or set [device] adb_server";
            return Err(failure::unreachable(&self.address, cause, hint));
        }
        let Some(program) = &self.program else {
            let hint = "install the Android platform tools (package `adb`) or start the server yourself with `adb start-server`";
            return Err(failure::unreachable(&self.address, cause, hint));
        };
        tracing::info!(address = %self.address, "starting the adb server");
        let mut command = tokio::process::Command::new(program);
        command.arg("-P").arg(self.address.port().to_string()).arg("start-server");
        // The variable would win over the port. The server lives on and must not hold pipes of ours.
        command.env_remove("ADB_SERVER_SOCKET");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let limit = Duration::from_millis(ADB_START_TIMEOUT_MS);
        let failed = match tokio::time::timeout(limit, command.status()).await {
            Ok(Ok(status)) if status.success() => return Ok(()),
            Ok(Ok(status)) => format!("`{} start-server` ended with {status}", program.display()),
            Ok(Err(cause)) => format!("`{}` cannot be run: {cause}", program.display()),
            Err(_) => {
                format!("`{} start-server` took more than {ADB_START_TIMEOUT_MS} ms", program.display())
            }
        };
        Err(failure::unreachable(&self.address, &failed, SEE_ADB))
    }

    /// Asks the server itself for a text.
    pub(super) async fn ask(&self, service: &str) -> DeviceResult<String> {
        let mut link = self.connect().await?;
        link.request(service.as_bytes()).await?;
        link.text().await
    }

    /// Asks the server something about a phone: `features`, `get-state`.
    pub(super) async fn ask_of(&self, device: &str, what: &str) -> DeviceResult<String> {
        let mut link = self.connect().await?;
        device.clone_into(&mut link.device);
        link.request(format!("host-serial:{device}:{what}").as_bytes()).await?;
        link.text().await
    }

    /// Opens a service of a phone.
    pub(super) async fn open(&self, device: &str, service: &[u8]) -> DeviceResult<Link> {
        let mut link = self.connect().await?;
        device.clone_into(&mut link.device);
        link.request(format!("host:transport:{device}").as_bytes()).await?;
        link.request(service).await?;
        Ok(link)
    }
}

const SEE_ADB: &str = "run `adb start-server` by hand to see why";

/// One connection to the server.
#[derive(Debug)]
pub(super) struct Link {
    stream: TcpStream,
    /// The phone behind it, for messages; empty for the server itself.
    device: String,
}

impl Link {
    /// Sends a request and reads whether it is served.
    pub(super) async fn request(&mut self, service: &[u8]) -> DeviceResult<()> {
        self.write(&frame::request(service)?).await?;
        self.served().await
    }

    /// Reads whether something is served.
    pub(super) async fn served(&mut self) -> DeviceResult<()> {
        let bytes = self.four().await?;
        match frame::status(bytes) {
            Some(Status::Okay) => Ok(()),
            Some(Status::Fail) => {
                let text = self.text().await?;
                Err(failure::refused(&text, &self.device))
            }
            None => Err(failure::malformed(format!(
                "the adb server answered {:?}",
                String::from_utf8_lossy(&bytes)
            ))),
        }
    }

    /// Reads a text with its length in front.
    pub(super) async fn text(&mut self) -> DeviceResult<String> {
        let bytes = self.four().await?;
        let Some(length) = frame::length(bytes) else {
            return Err(failure::malformed(format!(
                "the adb server wrote {:?} for a length",
                String::from_utf8_lossy(&bytes)
            )));
        };
        let mut text = vec![0; length];
        self.fill(&mut text).await?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads four bytes.
    pub(super) async fn four(&mut self) -> DeviceResult<[u8; 4]> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes).await?;
        Ok(bytes)
    }

    /// Reads bytes until the buffer is full.
    pub(super) async fn fill(&mut self, buffer: &mut [u8]) -> DeviceResult<()> {
        self.stream.read_exact(buffer).await.map(|_| ()).map_err(|cause| self.broken(&cause))
    }

    /// Reads what is there; 0 at the end.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> DeviceResult<usize> {
        self.stream.read(buffer).await.map_err(|cause| self.broken(&cause))
    }

    /// Writes everything.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> DeviceResult<()> {
        self.stream.write_all(bytes).await.map_err(|cause| self.broken(&cause))
    }

    fn broken(&self, cause: &io::Error) -> DeviceError {
        if self.device.is_empty() {
            let what = "the adb server closed the connection";
            return DeviceError::new(
                DeviceCode::ServerUnavailable,
                format!("{what}: {cause}"),
                "try again: the server is started anew where that is possible",
            );
        }
        failure::broken(&self.device, cause)
    }
}

/// The `adb` program: on the path, or in the folder that the SDK variables name.
#[must_use]
pub fn find_program() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let name = format!("adb{}", std::env::consts::EXE_SUFFIX);
    let path = variable("PATH").unwrap_or_default();
    let sdk = ["ANDROID_HOME", "ANDROID_SDK_ROOT"].into_iter().filter_map(variable);
    std::env::split_paths(&path)
        .chain(sdk.map(|folder| PathBuf::from(folder).join("platform-tools")))
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
}
