//! The driver: each call of the port as calls of the client, those that act detached from whoever waits for them.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::address::ServerAddress;
use super::client::Client;
use super::failure;
use super::frame::Listed;
use super::server::Server;
use super::{apps, gesture, picture, screen, text, tree};
use crate::device::{
    App, Device, DeviceInfo, DeviceResult, DeviceState, Driver, Foreground, Gesture, Orientation,
    SettingsPanel,
};
use crate::limits::DEVICE_TIMEOUT_MS;

/// Key codes of one call of `input`.
const KEYS_AT_ONCE: usize = 200;

/// How phones are reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdbOptions {
    /// Where the adb server listens.
    pub server: ServerAddress,
    /// The program that starts the server where none answers; without one it is never started.
    pub program: Option<PathBuf>,
    /// How long a call may take; dumps of the screen, starts of apps and long texts get more on top.
    pub timeout: Duration,
    /// Folder on the phone for files that live as long as a call.
    pub folder: String,
}

impl Default for AdbOptions {
    /// The default server, started by the `adb` that is found; ten seconds a call.
    fn default() -> Self {
        Self {
            server: ServerAddress::default(),
            program: super::server::find_program(),
            timeout: Duration::from_millis(DEVICE_TIMEOUT_MS),
            folder: "/data/local/tmp".to_owned(),
        }
    }
}

impl AdbOptions {
    /// Another server.
    #[must_use]
    pub fn server(mut self, server: ServerAddress) -> Self {
        self.server = server;
        self
    }

    /// Another program to start the server with, or none.
    #[must_use]
    pub fn program(mut self, program: Option<PathBuf>) -> Self {
        self.program = program;
        self
    }

    /// Another time-out.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Another folder on the phone.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<String>) -> Self {
        self.folder = folder.into();
        self
    }
}

/// Phones behind an adb server.
///
/// Nothing is connected before the first call. Calls run on the tokio runtime they are made in.
///
/// ```no_run
/// use repertoire::device::Driver as _;
/// use repertoire::device::adb::{AdbDriver, AdbOptions};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = AdbDriver::new(AdbOptions::default());
/// for device in driver.devices().await? {
///     println!("{} {:?} {}", device.serial, device.state, device.hint);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AdbDriver {
    client: Arc<Client>,
}

impl AdbDriver {
    /// A driver.
    #[must_use]
    pub fn new(options: AdbOptions) -> Self {
        let server = Server::new(options.server, options.program);
        Self { client: Arc::new(Client::new(server, options.timeout, options.folder)) }
    }

    /// The client below.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Copies bytes to a file on the phone, with the permissions of `mode`.
    ///
    /// # Errors
    /// [`DeviceCode::FileFailed`](crate::error::DeviceCode::FileFailed) if the phone refuses it.
    pub async fn push(&self, device: &str, bytes: Vec<u8>, path: &str, mode: u32) -> DeviceResult<()> {
        let path = path.to_owned();
        self.act(device, move |client, device| async move { client.push(&device, &bytes, &path, mode).await })
            .await
    }

    /// Reads a file of the phone.
    ///
    /// # Errors
    /// [`DeviceCode::FileFailed`](crate::error::DeviceCode::FileFailed) if it is no file or cannot be read.
    pub async fn pull(&self, device: &str, path: &str) -> DeviceResult<Vec<u8>> {
        self.client.pull(device, path).await
    }

    /// Does something on a phone that runs to its end even if nobody waits any more: whoever gives up must not leave a
    /// finger on the glass. The next call waits for it.
    async fn act<T, F>(&self, device: &str, work: impl FnOnce(Arc<Client>, String) -> F) -> DeviceResult<T>
    where
        T: Send + 'static,
        F: Future<Output = DeviceResult<T>> + Send + 'static,
    {
        let turn = self.client.cache.turn(device).lock_owned().await;
        let work = work(Arc::clone(&self.client), device.to_owned());
        let task = tokio::spawn(async move {
            let result = work.await;
            drop(turn);
            result
        });
        task.await.unwrap_or_else(|_| Err(failure::lost(device)))
    }

    /// Waits until nobody acts on the phone.
    async fn rest(&self, device: &str) {
        let turn = self.client.cache.turn(device);
        drop(turn.lock().await);
    }

    /// Marks the second way to one phone: the cable counts, since it is the faster one.
    async fn mark_twins(&self, listed: &mut [Listed]) {
        let ready: Vec<usize> =
            (0..listed.len()).filter(|at| listed[*at].device.state == DeviceState::Device).collect();
        if ready.len() < 2 || ready.iter().all(|at| listed[*at].usb) {
            return;
        }
        let mut ways = Vec::new();
        for at in ready {
            // A phone that does not answer is told apart by its own serial.
            if let Ok(identity) = screen::identity(&self.client, &listed[at].device.serial).await {
                ways.push(Way { at, usb: listed[at].usb, hardware: identity.hardware });
            }
        }
        for (at, better) in twins(&ways) {
            let serial = listed[better].device.serial.clone();
            listed[at].device.same_as = serial;
        }
    }
}

/// A connection to a phone, as what tells the phone apart.
#[derive(Debug)]
struct Way {
    at: usize,
    usb: bool,
    hardware: String,
}

/// Connections over the network to phones that also hang on a cable, each with the latter.
fn twins(ways: &[Way]) -> Vec<(usize, usize)> {
    let cable = |way: &Way| {
        ways.iter().find(|other| other.usb && !other.hardware.is_empty() && other.hardware == way.hardware)
    };
    ways.iter().filter(|way| !way.usb).filter_map(|way| Some((way.at, cable(way)?.at))).collect()
}

#[async_trait]
impl Driver for AdbDriver {
    async fn devices(&self) -> DeviceResult<Vec<Device>> {
        let mut listed = self.client.list().await?;
        self.mark_twins(&mut listed).await;
        Ok(listed.into_iter().map(|one| one.device).collect())
    }

    async fn info(&self, device: &str) -> DeviceResult<DeviceInfo> {
        self.rest(device).await;
        screen::info(&self.client, device).await
    }

    async fn foreground(&self, device: &str) -> DeviceResult<Foreground> {
        self.rest(device).await;
        screen::foreground(&self.client, device).await
    }

    async fn ui_tree(&self, device: &str, compressed: bool) -> DeviceResult<Vec<u8>> {
        self.rest(device).await;
        tree::dump(&self.client, device, compressed).await
    }

    async fn screenshot(&self, device: &str) -> DeviceResult<Vec<u8>> {
        self.rest(device).await;
        picture::take(&self.client, device).await
    }

    async fn gesture(&self, device: &str, gesture: Gesture) -> DeviceResult<()> {
        self.act(device, move |client, device| async move { gesture::make(&client, &device, gesture).await })
            .await
    }

    async fn text(&self, device: &str, text: &str) -> DeviceResult<()> {
        let text = text.to_owned();
        self.act(device, move |client, device| async move { text::write(&client, &device, &text).await })
            .await
    }

    async fn keys(&self, device: &str, codes: &[u16]) -> DeviceResult<()> {
        let codes = codes.to_vec();
        self.act(device, move |client, device| async move {
            for codes in codes.chunks(KEYS_AT_ONCE) {
                let codes: Vec<String> = codes.iter().map(u16::to_string).collect();
                let words: Vec<&str> =
                    ["input", "keyevent"].into_iter().chain(codes.iter().map(String::as_str)).collect();
                let output = client.run(&device, &words).await?;
                text::checked("pressing keys", &output.said(), output.code)?;
            }
            Ok(())
        })
        .await
    }

    async fn keyboard_shown(&self, device: &str) -> DeviceResult<bool> {
        self.rest(device).await;
        let output = self.client.run(device, &["dumpsys", "input_method"]).await?;
        Ok(output.text().contains("mInputShown=true"))
    }

    async fn apps(&self, device: &str, system: bool) -> DeviceResult<Vec<App>> {
        self.rest(device).await;
        apps::list(&self.client, device, system).await
    }

    async fn launch(&self, device: &str, package: &str, activity: Option<&str>) -> DeviceResult<()> {
        let (package, activity) = (package.to_owned(), activity.map(str::to_owned));
        self.act(device, move |client, device| async move {
            apps::launch(&client, &device, &package, activity.as_deref()).await
        })
        .await
    }

    async fn stop(&self, device: &str, package: &str) -> DeviceResult<()> {
        let package = package.to_owned();
        self.act(device, move |client, device| async move { apps::stop(&client, &device, &package).await })
            .await
    }

    async fn open_url(&self, device: &str, url: &str, package: Option<&str>) -> DeviceResult<()> {
        let (url, package) = (url.to_owned(), package.map(str::to_owned));
        self.act(device, move |client, device| async move {
            apps::open_url(&client, &device, &url, package.as_deref()).await
        })
        .await
    }

    async fn open_settings(
        &self,
        device: &str,
        panel: SettingsPanel,
        package: Option<&str>,
    ) -> DeviceResult<()> {
        let package = package.map(str::to_owned);
        self.act(device, move |client, device| async move {
            apps::open_settings(&client, &device, panel, package.as_deref()).await
        })
        .await
    }

    async fn set_orientation(&self, device: &str, orientation: Orientation) -> DeviceResult<()> {
        self.act(device, move |client, device| async move { apps::turn(&client, &device, orientation).await })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_phone_over_a_cable_and_over_the_network_is_one() {
        let way = |at, usb, hardware: &str| Way { at, usb, hardware: hardware.to_owned() };
        let ways = [
            way(0, false, "S1"),
            way(1, true, "S1"),
            way(2, true, "S2"),
            way(3, false, "S3"),
            way(4, false, ""),
        ];
        assert_eq!(twins(&ways), [(0, 1)]);
        // Without a cable no connection is the better one, and what has no number is no twin.
        assert_eq!(twins(&[way(0, false, "S1"), way(1, false, "S1")]), []);
        assert_eq!(twins(&[way(0, false, ""), way(1, true, "")]), []);
    }
}
