//! The engine against a platform, a network, a clock and a disk that are all made up, from a seed.

mod faults;
mod platform;
mod simulation;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;

use crate::catalog::Catalog;
use crate::catalog::tests::open;
use crate::entitlement::Narrowing;
use crate::snapshot::storage::MemoryStorage;
use crate::sync::clock::Clock;
use crate::sync::{Due, Engine, Round, Settings};
use platform::Simulated;

/// Everything at once.
const BOTH: Due = Due { entitlements: true, catalog: true };

/// Runs a future that never really waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a made-up world never waits"),
    }
}

/// The clock of a storage in memory; sleeping moves it.
#[derive(Debug)]
struct SimulatedClock(Arc<MemoryStorage>);

#[async_trait]
impl Clock for SimulatedClock {
    fn now_ms(&self) -> u64 {
        crate::snapshot::storage::Storage::boot_ms(self.0.as_ref())
    }

    async fn sleep(&self, ms: u64) {
        self.0.advance_clock(ms);
    }
}

/// One deployment and its platform.
struct World {
    storage: Arc<MemoryStorage>,
    platform: Arc<Simulated>,
    catalog: Catalog,
    engine: Engine,
    settings: Settings,
}

impl World {
    fn new(subscriptions: &[&str]) -> Self {
        Self::with(Settings::new(subscriptions.iter().copied()).unwrap())
    }

    fn with(settings: Settings) -> Self {
        let storage = Arc::new(MemoryStorage::new());
        storage.advance_clock(1_000_000);
        let platform = Arc::new(Simulated::new(&settings.subscriptions));
        let catalog = open(&storage).unwrap();
        let engine = engine(&catalog, &platform, &storage, &settings);
        Self { storage, platform, catalog, engine, settings }
    }

    /// Another process on the files of another storage (after a power cut, say), or on the same.
    fn reopen(&mut self, storage: MemoryStorage) {
        self.storage = Arc::new(storage);
        self.catalog = open(&self.storage).unwrap();
        self.engine = engine(&self.catalog, &self.platform, &self.storage, &self.settings);
    }

    fn round(&self) -> Round {
        now(self.engine.round(BOTH, false))
    }

    /// Ids and descriptions that a caller sees.
    fn seen(&self) -> Vec<(String, String)> {
        self.seen_by(Narrowing::default())
    }

    fn seen_by(&self, narrowing: Narrowing) -> Vec<(String, String)> {
        let mut view = self.catalog.view(narrowing);
        let pin = view.pin().unwrap();
        let page = pin.list(&crate::catalog::Filter::default(), 10_000, None).unwrap();
        page.skills.iter().map(|skill| (skill.id().to_owned(), skill.description().to_owned())).collect()
    }

    fn ids(&self) -> Vec<String> {
        self.seen().into_iter().map(|(id, _)| id).collect()
    }

    fn state(&self) -> String {
        self.catalog.status().unwrap().sync.state
    }
}

fn engine(
    catalog: &Catalog,
    platform: &Arc<Simulated>,
    storage: &Arc<MemoryStorage>,
    settings: &Settings,
) -> Engine {
    let clock = Arc::new(SimulatedClock(Arc::clone(storage)));
    let platform = Arc::clone(platform) as Arc<dyn crate::sync::Platform>;
    Engine::new(catalog.clone(), platform, clock, settings.clone())
}
