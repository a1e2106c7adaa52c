//! Calls to one phone through the server: commands, raw outputs, files. Each is one connection and one try.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::cache::Cache;
use super::failure;
use super::frame::Listed;
use super::packet::{CLOSE_STDIN, Output, Packets, keep};
use super::quote::{carries, line, quote};
use super::server::Server;
use super::sync;
use super::track::Tracker;
use crate::device::DeviceResult;
use crate::error::DeviceCode;
use crate::limits::{ADB_COMMAND_BYTES_MAX, ADB_OUTPUT_BYTES_MAX};

/// Bytes read from a socket at once.
const READ_BYTES: usize = 64 * 1024;

/// The client of one adb server.
#[derive(Debug)]
pub(super) struct Client {
    /// The server.
    pub(super) server: Server,
    /// Facts and turns of the phones.
    pub(super) cache: Cache,
    tracker: Tracker,
    timeout: Duration,
    /// Folder on the phone for files that live as long as a call.
    folder: String,
}

impl Client {
    /// A client whose calls take at most so long; connects at the first call.
    pub(super) fn new(server: Server, timeout: Duration, folder: String) -> Self {
        Self { server, cache: Cache::default(), tracker: Tracker::default(), timeout, folder }
    }

    /// How long a call may take.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The phones of this moment.
    pub(super) async fn list(&self) -> DeviceResult<Vec<Listed>> {
        // The first call may have to start the server, which has a limit of its own.
        self.tracker.list(&self.server).await
    }

    /// Makes sure that changes of the list are seen, and answers the number of the list as it is now.
    pub(super) async fn changes(&self) -> DeviceResult<u64> {
        self.list().await?;
        Ok(self.tracker.changes())
    }

    /// Runs a future within a time.
    async fn within<T>(
        &self,
        device: &str,
        timeout: Duration,
        work: impl Future<Output = DeviceResult<T>>,
    ) -> DeviceResult<T> {
        match tokio::time::timeout(timeout, work).await {
            Ok(result) => result,
            Err(_) => Err(failure::timed_out(device, timeout.as_millis())),
        }
    }

    /// What the phone's adb daemon can do.
    pub(super) async fn features(&self, device: &str) -> DeviceResult<Arc<BTreeSet<String>>> {
        let changes = self.changes().await?;
        if let Some(features) = self.cache.with(changes, device, |facts| facts.features.clone()) {
            return Ok(features);
        }
        let asked = self.server.ask_of(device, "features");
        let text = self.within(device, self.timeout, asked).await?;
        let features: BTreeSet<String> =
            text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
        let features = Arc::new(features);
        self.cache.with(changes, device, |facts| facts.features = Some(Arc::clone(&features)));
        Ok(features)
    }

    /// Runs words as a command, each of them quoted.
    pub(super) async fn run(&self, device: &str, words: &[&str]) -> DeviceResult<Output> {
        self.shell(device, &line(words), self.timeout).await
    }

    /// Runs a command line in the phone's shell, to its exit code.
    ///
    /// # Errors
    /// [`DeviceCode::Lost`] if the connection ends before the exit code came, whatever was written until then.
    pub(super) async fn shell(&self, device: &str, command: &str, timeout: Duration) -> DeviceResult<Output> {
        carries(command)?;
        let features = self.features(device).await?;
        if features.contains("shell_v2") {
            self.within(device, timeout, self.shell_v2(device, command)).await
        } else {
            self.within(device, timeout, self.shell_v1(device, command)).await
        }
    }

    async fn shell_v2(&self, device: &str, command: &str) -> DeviceResult<Output> {
        let mut link = self.server.open(device, format!("shell,v2,raw:{command}").as_bytes()).await?;
        link.write(&CLOSE_STDIN).await?;
        let mut packets = Packets::new(ADB_OUTPUT_BYTES_MAX);
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = link.read(&mut buffer).await?;
            if read == 0 || packets.push(&buffer[..read])? {
                return packets.finish().ok_or_else(|| failure::lost(device));
            }
        }
    }

    /// For phones before Android 7: one stream without exit code, so that the shell writes it behind a mark.
    async fn shell_v1(&self, device: &str, command: &str) -> DeviceResult<Output> {
        let mark = format!("={}=", unique());
        let service = format!("shell:{command}\necho \"{mark}$?\"");
        let mut link = self.server.open(device, service.as_bytes()).await?;
        let mut stdout = Vec::new();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = link.read(&mut buffer).await?;
            if read == 0 {
                break;
            }
            keep(&mut stdout, &buffer[..read], ADB_OUTPUT_BYTES_MAX)?;
        }
        // A terminal was in between and made each line end two characters.
        let text = String::from_utf8_lossy(&stdout).replace("\r\n", "\n");
        let (text, code) = text.rsplit_once(&mark).ok_or_else(|| failure::lost(device))?;
        let code = code.trim().parse().map_err(|_| failure::lost(device))?;
        Ok(Output { stdout: text.as_bytes().to_vec(), stderr: Vec::new(), code })
    }

    /// Runs words as a command and answers its bytes as they are; there is no exit code, errors stand in the bytes.
    pub(super) async fn exec(
        &self,
        device: &str,
        words: &[&str],
        limit: usize,
        timeout: Duration,
    ) -> DeviceResult<Vec<u8>> {
        self.raw(device, &format!("exec:{}", line(words)), limit, timeout).await
    }

    /// Calls a system service with arguments: without any shell in between where the phone can do that.
    pub(super) async fn service(&self, device: &str, words: &[&str]) -> DeviceResult<String> {
        if self.features(device).await?.contains("abb_exec") {
            words.iter().try_for_each(|word| carries(word))?;
            let service = format!("abb_exec:{}", words.join("\0"));
            match self.raw(device, &service, ADB_OUTPUT_BYTES_MAX, self.timeout).await {
                // The phone has the feature and refuses it: some vendors took the program away.
                Err(error) if error.code == DeviceCode::Lost => {}
                other => return other.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            }
        }
        Ok(self.run(device, &[&["cmd"], words].concat()).await?.said())
    }

    async fn raw(
        &self,
        device: &str,
        service: &str,
        limit: usize,
        timeout: Duration,
    ) -> DeviceResult<Vec<u8>> {
        self.changes().await?;
        self.within(device, timeout, async {
            let mut link = self.server.open(device, service.as_bytes()).await?;
            let mut bytes = Vec::new();
            let mut buffer = vec![0; READ_BYTES];
            loop {
                let read = link.read(&mut buffer).await?;
                if read == 0 {
                    break;
                }
                keep(&mut bytes, &buffer[..read], limit)?;
            }
            // Such a stream has no mark at its end: it looks the same when the phone went away.
            let state = self.server.ask_of(device, "get-state").await;
            if state.is_ok_and(|state| state == "device") { Ok(bytes) } else { Err(failure::lost(device)) }
        })
        .await
    }

    /// Runs a script of any length in the phone's shell. One that is too long for a command line goes there as a file
    /// that removes itself before it does anything.
    pub(super) async fn script(&self, device: &str, script: &str, timeout: Duration) -> DeviceResult<Output> {
        if script.len() <= ADB_COMMAND_BYTES_MAX {
            return self.shell(device, script, timeout).await;
        }
        let path = self.temporary("sh");
        let whole = format!("rm -f {}\n{script}\n", quote(&path));
        self.push(device, whole.as_bytes(), &path, 0o600).await?;
        self.shell(device, &line(&["sh", &path]), timeout).await
    }

    /// A path on the phone that nobody else uses.
    pub(super) fn temporary(&self, ending: &str) -> String {
        format!("{}/repertoire-{}.{ending}", self.folder, unique())
    }

    /// Writes a file on the phone.
    pub(super) async fn push(&self, device: &str, bytes: &[u8], path: &str, mode: u32) -> DeviceResult<()> {
        self.changes().await?;
        let timeout = self.timeout + transfer_time(bytes.len());
        self.within(device, timeout, sync::push(&self.server, device, bytes, path, mode)).await
    }

    /// Reads a file of the phone.
    pub(super) async fn pull(&self, device: &str, path: &str) -> DeviceResult<Vec<u8>> {
        self.changes().await?;
        let (size, mut link) =
            self.within(device, self.timeout, sync::stat(&self.server, device, path)).await?;
        self.within(device, self.timeout + transfer_time(size), sync::receive(&mut link, path)).await
    }
}

/// What a file of that size may take on top: a slow wireless network moves 1 MiB a second.
fn transfer_time(bytes: usize) -> Duration {
    Duration::from_secs((bytes / (1024 * 1024)) as u64)
}

/// Letters and digits that no output holds by chance and no other process uses.
pub(super) fn unique() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Each state of the standard hasher is seeded anew.
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}", std::process::id())
}
