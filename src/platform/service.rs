//! The running platform: its threads, what it serves, and the switches for tests.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use crate::catalog::hex;
use crate::intake::Settling;
use crate::limits::{PLATFORM_STOP_MS_MAX, PLATFORM_WATCH_INTERVAL_MS};
use crate::platform::alter;
use crate::platform::connection::Door;
use crate::platform::fault::{Fault, FaultKind, Switches};
use crate::platform::folder;
use crate::platform::notify::{self, WebhookTarget};
use crate::platform::record::Record;
use crate::platform::routes;
use crate::platform::sign::Signer;
use crate::platform::start_error::StartError;
use crate::platform::store::{Change, Store};
use crate::sync::Secret;
use crate::tools::ToolRegistry;

/// How to run the development platform.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlatformOptions {
    /// A folder with a folder of skills for each subscription.
    pub folder: PathBuf,
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What clients must show; made up if there is none.
    pub token: Option<Secret>,
    /// Signs the documents.
    pub signer: Option<Signer>,
    /// Who is told of changes.
    pub webhook: Option<WebhookTarget>,
    /// Switches that are on from the start.
    pub faults: Vec<Fault>,
    /// Against which tools the skills are read.
    pub registry: Arc<ToolRegistry>,
}

impl PlatformOptions {
    /// On a free port of this machine.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: None,
            signer: None,
            webhook: None,
            faults: Vec::new(),
            registry: ToolRegistry::builtin(),
        }
    }

    /// Listens there.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// Takes this token in the place of a made-up one.
    #[must_use]
    pub fn token(mut self, token: Secret) -> Self {
        self.token = Some(token);
        self
    }

    /// Signs the documents.
    #[must_use]
    pub fn signer(mut self, signer: Signer) -> Self {
        self.signer = Some(signer);
        self
    }

    /// Tells a webhook of changes.
    #[must_use]
    pub fn webhook(mut self, webhook: WebhookTarget) -> Self {
        self.webhook = Some(webhook);
        self
    }

    /// Begins with these switches on.
    #[must_use]
    pub fn faults(mut self, faults: Vec<Fault>) -> Self {
        self.faults = faults;
        self
    }

    /// Reads the skills against these tools.
    #[must_use]
    pub fn registry(mut self, registry: Arc<ToolRegistry>) -> Self {
        self.registry = registry;
        self
    }
}

/// The development platform, running on threads of its own until it is stopped or dropped.
pub struct Service {
    /// Taken when it stops.
    runtime: Option<Runtime>,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What the routes and the watcher share.
pub(crate) struct Shared {
    folder: PathBuf,
    registry: Arc<ToolRegistry>,
    pub(crate) token: Secret,
    pub(crate) signer: Option<Signer>,
    pub(crate) store: RwLock<Store>,
    pub(crate) switches: Switches,
    pub(crate) record: Record,
    /// Moves at every change, for those who wait.
    pub(crate) moved: watch::Sender<u64>,
    told: Option<mpsc::UnboundedSender<Vec<Change>>>,
    /// Held while the folder is read, so that an older reading never replaces a newer one.
    reading: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

impl Service {
    /// Reads the folder and begins to serve it.
    ///
    /// # Errors
    /// The folder cannot be read, the address is taken, or the system gives no threads.
    pub fn start(options: PlatformOptions) -> Result<Self, StartError> {
        let token = options.token.map_or_else(random_token, Ok)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("platform")
            .enable_all()
            .build()
            .map_err(StartError::Runtime)?;
        let listen = options.listen;
        let refused = |cause| StartError::Listen { address: listen, cause };
        let listener = runtime.block_on(tokio::net::TcpListener::bind(listen)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let random = random_hex::<4>()?;
        let store = RwLock::new(Store::new(random));
        let told = options.webhook.map(|target| notify::start(&runtime, target)).transpose()?;
        let shared = Arc::new(Shared {
            folder: options.folder,
            registry: options.registry,
            token,
            signer: options.signer,
            store,
            switches: Switches::new(options.faults),
            record: Record::default(),
            moved: watch::Sender::new(0),
            told,
            reading: Mutex::new(Vec::new()),
            stopped: AtomicBool::new(false),
        });
        shared.reload().map_err(|cause| StartError::Folder { folder: shared.folder.clone(), cause })?;
        watch_folder(&shared).map_err(StartError::Runtime)?;
        let app = routes::router(&shared);
        runtime.spawn(async move {
            // It ends with the runtime.
            let _ = axum::serve(Door::new(listener), app).await;
        });
        Ok(Self { runtime: Some(runtime), address, shared })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as clients are given it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What clients must show.
    #[must_use]
    pub fn token(&self) -> &Secret {
        &self.shared.token
    }

    /// Puts exactly these switches on.
    pub fn set_faults(&self, faults: &[Fault]) {
        self.shared.set_faults(faults.to_vec());
    }

    /// Reads the folder now, in the place of within half a second.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub fn reload(&self) -> std::io::Result<()> {
        self.shared.reload()
    }

    /// The requests of clients so far, the last thousand of them.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.shared.record.requests()
    }

    /// The last report of each subscription's client.
    #[must_use]
    pub fn reports(&self) -> Vec<Value> {
        self.shared.record.reports()
    }

    /// Closes every connection, and answers when they are closed. Not to be called from asynchronous code.
    pub fn stop(mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_millis(PLATFORM_STOP_MS_MAX));
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    /// Reads the folder and publishes what changed. What is to be noted is logged once.
    pub(crate) fn reload(&self) -> std::io::Result<()> {
        let mut noted = self.reading.lock();
        let mut reading = folder::read(&self.folder, &self.registry)?;
        for (id, skill) in alter::extra(&self.switches) {
            for shelf in reading.shelves.values_mut() {
                shelf.put("", id.clone(), &skill);
            }
        }
        for note in reading.notes.iter().filter(|note| !noted.contains(note)) {
            tracing::warn!("{note}");
        }
        noted.clone_from(&reading.notes);
        let changes = self.store.write().take(reading);
        drop(noted);
        self.publish(changes);
        Ok(())
    }

    /// Wakes those who wait and tells the webhook.
    fn publish(&self, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        self.moved.send_modify(|version| *version += 1);
        if let Some(told) = &self.told
            && !self.switches.on(FaultKind::NoWebhook)
        {
            // The other end is gone only when everything ends.
            let _ = told.send(changes);
        }
    }

    /// Puts exactly these switches on. Those that change which skills there are count as a change of every catalog.
    pub(crate) fn set_faults(&self, faults: Vec<Fault>) {
        let shape = || [FaultKind::EmptyFull, FaultKind::HalvedFull].map(|kind| self.switches.on(kind));
        let before = shape();
        self.switches.set(faults);
        if shape() != before {
            for subscription in self.store.write().subscriptions.values_mut() {
                subscription.seq += 1;
            }
        }
        if let Err(cause) = self.reload() {
            tracing::warn!("the folder cannot be read: {cause}");
        }
        self.moved.send_modify(|version| *version += 1);
    }
}

/// Looks at the folder until the platform is gone.
fn watch_folder(shared: &Arc<Shared>) -> std::io::Result<()> {
    let paths = [shared.folder.clone()];
    let mut settling = Settling::new(&paths, Duration::from_millis(PLATFORM_WATCH_INTERVAL_MS));
    settling.look();
    let weak = Arc::downgrade(shared);
    std::thread::Builder::new().name("platform-watch".to_owned()).spawn(move || {
        loop {
            std::thread::sleep(settling.pause());
            let Some(shared) = weak.upgrade().filter(|shared| !shared.stopped.load(Ordering::Acquire)) else {
                return;
            };
            if settling.settled() {
                settling.look();
                if let Err(cause) = shared.reload() {
                    tracing::warn!("the folder cannot be read: {cause}; what was there is served");
                }
            }
        }
    })?;
    Ok(())
}

fn random_token() -> Result<Secret, StartError> {
    Ok(Secret::new(&random_hex::<16>()?))
}

/// Random bytes in hexadecimal.
pub(crate) fn random_hex<const BYTES: usize>() -> Result<String, StartError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|_| StartError::Random)?;
    Ok(hex(&bytes))
}
