//! The phones of a driver, each with its queue and what is remembered of its screens.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::device::identity::Identity;
use crate::device::options::DeviceOptions;
use crate::device::screen::Screen;
use crate::device::{Device, DeviceInfo, DeviceResult, DeviceState, Driver};
use crate::error::{DeviceCode, DeviceError, shorten};
use crate::limits::SNAPSHOTS_KEPT_MAX;

/// All phones of one driver. Cheap to share behind an `Arc`; calls of one phone come one after another in the order in
/// which they were begun, calls of several at once.
#[derive(Debug)]
pub struct Devices {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) options: DeviceOptions,
    /// Held while a call finds its phone and takes its place in that phone's queue, so that no later call overtakes it.
    entrance: Mutex<()>,
    desks: parking_lot::Mutex<HashMap<String, Arc<Mutex<Desk>>>>,
}

/// What is remembered of one phone.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    pub(crate) info: Option<DeviceInfo>,
    /// The last screen that was looked at.
    pub(crate) last: Option<Arc<Screen>>,
    snapshots: VecDeque<Snapshot>,
    counter: u64,
}

/// A described screen: what its indexes meant.
#[derive(Debug)]
struct Snapshot {
    id: String,
    elements: Vec<Identity>,
}

/// A call's turn at a phone.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) serial: String,
    pub(crate) desk: OwnedMutexGuard<Desk>,
}

impl Devices {
    /// The phones of a driver. Asks it nothing yet.
    #[must_use]
    pub fn new(driver: Arc<dyn Driver>, options: DeviceOptions) -> Self {
        Self { driver, options, entrance: Mutex::default(), desks: parking_lot::Mutex::default() }
    }

    /// Waits for the turn at a phone. Fair: first come, first served.
    pub(crate) async fn seat(&self, named: Option<&str>) -> DeviceResult<Seat> {
        let entrance = self.entrance.lock().await;
        let serial = self.choose(named).await?;
        let desk = Arc::clone(self.desks.lock().entry(serial.clone()).or_default());
        let mut turn = pin!(desk.lock_owned());
        // The first poll takes the place in the queue; only then may the next call come in.
        let at_once = std::future::poll_fn(|context| match turn.as_mut().poll(context) {
            Poll::Ready(desk) => Poll::Ready(Some(desk)),
            Poll::Pending => Poll::Ready(None),
        })
        .await;
        drop(entrance);
        let desk = match at_once {
            Some(desk) => desk,
            None => turn.await,
        };
        Ok(Seat { driver: Arc::clone(&self.driver), serial, desk })
    }

    /// The phone that is meant: the named one, the configured one, or the only one that is ready.
    async fn choose(&self, named: Option<&str>) -> DeviceResult<String> {
        let devices = self.driver.devices().await?;
        if let Some(wanted) = named.or(self.options.serial.as_deref()) {
            let known = devices.iter().find(|device| device.serial == wanted);
            return known.ok_or_else(|| not_found(wanted, &devices)).and_then(ready);
        }
        // The same phone over a cable and over the network is one phone.
        let mut usable =
            devices.iter().filter(|device| device.state == DeviceState::Device && device.same_as.is_empty());
        match (usable.next(), usable.next()) {
            (Some(only), None) => Ok(only.serial.clone()),
            (Some(_), Some(_)) => Err(DeviceError::new(
                DeviceCode::SeveralDevices,
                format!("several phones are ready: {}", serials(&devices)),
                "name one with `device`",
            )),
            (None, _) => match devices.first() {
                // The only thing there is tells more than "no phone".
                Some(only) if devices.len() == 1 => ready(only),
                Some(_) => Err(DeviceError::new(
                    DeviceCode::NoDevice,
                    format!("no phone is ready: {}", serials(&devices)),
                    "look at list_devices for what to do on each",
                )),
                None => Err(DeviceError::new(
                    DeviceCode::NoDevice,
                    "no phone is connected",
                    "connect one with USB debugging on; `repertoire device doctor` checks the rest",
                )),
            },
        }
    }
}

/// The serial of a phone that can be used.
fn ready(device: &Device) -> DeviceResult<String> {
    let serial = shorten(&device.serial).into_owned();
    let (code, what, hint) = match device.state {
        DeviceState::Device => return Ok(device.serial.clone()),
        DeviceState::Unauthorized => (
            DeviceCode::Unauthorized,
            "does not trust this computer yet",
            "unlock the phone and accept its question about USB debugging",
        ),
        DeviceState::Connecting => (
            DeviceCode::Offline,
            "is still connecting",
            "call again in a moment; unlock the phone if it asks something",
        ),
        DeviceState::NoPermissions => (
            DeviceCode::Unauthorized,
            "is not readable for this user",
            "add a udev rule for it, or ask the operator",
        ),
        DeviceState::Offline => (
            DeviceCode::Offline,
            "is offline",
            "unplug it and plug it in again, or turn USB debugging off and on",
        ),
        DeviceState::Other => (DeviceCode::Offline, "is not started into Android", "start it normally"),
    };
    let hint = if device.hint.is_empty() { hint } else { &device.hint };
    Err(DeviceError::new(code, format!("the phone {serial} {what}"), hint))
}

fn not_found(wanted: &str, devices: &[Device]) -> DeviceError {
    let there =
        if devices.is_empty() { "none is".to_owned() } else { format!("there are {}", serials(devices)) };
    DeviceError::new(
        DeviceCode::NotFound,
        format!("no phone {:?} is connected; {there}", shorten(wanted)),
        "use a serial of list_devices, or leave `device` out",
    )
}

fn serials(devices: &[Device]) -> String {
    devices.iter().take(8).map(|device| shorten(&device.serial)).collect::<Vec<_>>().join(", ")
}

impl Desk {
    /// Remembers a screen under a new id, so that its indexes can be used.
    pub(crate) fn remember(&mut self, screen: &Arc<Screen>) -> String {
        self.counter += 1;
        let id = format!("s{}", self.counter);
        let elements =
            screen.elements.iter().filter_map(|element| Identity::of(&screen.tree, element.place)).collect();
        self.snapshots.push_back(Snapshot { id: id.clone(), elements });
        while self.snapshots.len() > SNAPSHOTS_KEPT_MAX {
            self.snapshots.pop_front();
        }
        self.last = Some(Arc::clone(screen));
        id
    }

    /// What an index of a snapshot meant; the newest snapshot if none is named.
    pub(crate) fn identity(&self, index: usize, snapshot: Option<&str>) -> DeviceResult<&Identity> {
        let found = match snapshot {
            Some(id) => self.snapshots.iter().find(|known| known.id == id),
            None => self.snapshots.back(),
        };
        let Some(found) = found else {
            let message = match snapshot {
                Some(id) => format!("the snapshot {:?} is not known any more", shorten(id)),
                None => "no screen was described yet".to_owned(),
            };
            return Err(DeviceError::new(
                DeviceCode::StaleElement,
                message,
                "call describe_screen and use its indexes",
            ));
        };
        found.elements.get(index).ok_or_else(|| {
            DeviceError::new(
                DeviceCode::StaleElement,
                format!("the snapshot {} has no element {index}, only {}", found.id, found.elements.len()),
                "call describe_screen and use its indexes",
            )
        })
    }
}
