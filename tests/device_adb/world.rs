//! A server, phones that are connected to it, and the driver.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use repertoire::device::DeviceState;
use repertoire::device::adb::{AdbDriver, AdbOptions, ServerAddress};

use crate::phone::{Manner, Model, Phone};
use crate::server::{AdbServer, PATIENCE};

/// One phone behind one server.
pub(crate) struct World {
    pub(crate) phone: Phone,
    pub(crate) server: AdbServer,
}

impl World {
    /// A good phone; `None`, and a line that says so, where something is not installed.
    pub(crate) fn start(model: Model) -> Option<Self> {
        Self::with(model, Manner::Good)
    }

    /// A phone of some manner.
    pub(crate) fn with(model: Model, manner: Manner) -> Option<Self> {
        if !is_equipped() {
            return None;
        }
        let world = Self { server: AdbServer::start(), phone: Phone::start(model, manner) };
        world.connect(&world.phone);
        if matches!(manner, Manner::Good | Manner::Old) {
            world.wait_for(&world.phone.serial(), "device");
        }
        Some(world)
    }

    /// Lets the server connect to a phone; a silent one keeps it busy, so that nobody waits for that.
    pub(crate) fn connect(&self, phone: &Phone) {
        let (port, serial) = (self.server.port(), phone.serial());
        let _ = crate::server::ask(port, &format!("host:disconnect:{serial}"));
        std::thread::spawn(move || crate::server::ask(port, &format!("host:connect:{serial}")));
    }

    /// Waits until the server calls a phone's state so.
    pub(crate) fn wait_for(&self, serial: &str, state: &str) {
        let began = Instant::now();
        loop {
            let listed = self.server.ask("host:devices").unwrap_or_default();
            if listed.lines().any(|line| line == format!("{serial}\t{state}")) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{serial} never was {state}: {listed}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Plugs a phone in again that was unplugged.
    pub(crate) fn plug(&self) {
        self.phone.plug();
        let serial = self.phone.serial();
        let began = Instant::now();
        // The server may still be taking the connection of before down, and refuses another until then.
        while !self.server.ask("host:devices").unwrap_or_default().contains(&format!("{serial}\tdevice")) {
            assert!(began.elapsed() < PATIENCE, "{serial} did not come back");
            let _ = self.server.ask(&format!("host:disconnect:{serial}"));
            let _ = self.server.ask(&format!("host:connect:{serial}"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn serial(&self) -> String {
        self.phone.serial()
    }

    pub(crate) fn options(&self) -> AdbOptions {
        let address = ServerAddress::parse(&self.server.port().to_string()).expect("an address");
        let options = AdbOptions::default().server(address).program(None);
        options.timeout(PATIENCE).folder(self.phone.temporary())
    }

    pub(crate) fn driver(&self) -> AdbDriver {
        AdbDriver::new(self.options())
    }
}

/// Waits until the driver lists a phone in a state.
pub(crate) async fn listed(
    driver: &AdbDriver,
    serial: &str,
    state: DeviceState,
) -> repertoire::device::Device {
    use repertoire::device::Driver as _;
    let began = Instant::now();
    loop {
        let devices = driver.devices().await.expect("a list");
        if let Some(device) = devices.iter().find(|device| device.serial == serial && device.state == state) {
            return device.clone();
        }
        assert!(began.elapsed() < PATIENCE, "{serial} never was {state:?}: {devices:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether everything is installed; says what is not.
pub(crate) fn is_equipped() -> bool {
    let runs = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let wanted: [(&str, &[&str]); 5] = [
        ("adb", &["version"]),
        ("mksh", &["-c", "true"]),
        ("toybox", &["--version"]),
        ("setsid", &["--version"]),
        ("setpriv", &["--version"]),
    ];
    let missing: Vec<&str> =
        wanted.iter().filter(|(program, words)| !runs(program, words)).map(|(program, _)| *program).collect();
    if !missing.is_empty() {
        eprintln!(
            "SKIPPED: {} is not there (apt-get install adb mksh toybox util-linux)",
            missing.join(", ")
        );
    }
    missing.is_empty()
}

/// An amount by `REPERTOIRE_TEST_SCALE`.
pub(crate) fn amount(default: usize, ci: usize, long: usize) -> usize {
    match std::env::var("REPERTOIRE_TEST_SCALE").as_deref() {
        Ok("ci") => ci,
        Ok("long") => long,
        _ => default,
    }
}
