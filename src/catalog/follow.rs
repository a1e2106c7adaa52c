//! Being told of changes that this process or another one made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::catalog::{Catalog, Change};
use crate::error::Result;

/// How long one wait of a subscription lasts before it looks whether it should end.
const PATIENCE: Duration = Duration::from_millis(200);

impl Catalog {
    /// A token for the state of this moment, for [`Catalog::wait`]. It means nothing outside of this process.
    ///
    /// # Errors
    /// The state cannot be opened.
    pub fn token(&self) -> Result<u64> {
        Ok(self.current()?.epoch)
    }

    /// Waits until layers or entitlements differ from those of a token, in whatever process the change was made;
    /// `None` when the time is up. A change is told within 100 ms.
    ///
    /// # Errors
    /// The new state cannot be opened.
    pub fn wait(&self, since: u64, timeout: Duration) -> Result<Option<Change>> {
        let end = Instant::now().checked_add(timeout);
        loop {
            let state = self.current()?;
            if let Some(change) = self.inner.history.lock().since(since, &state) {
                return Ok(Some(change));
            }
            let left = end.map_or(PATIENCE, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            self.inner.dir.wait_for_change(state.epoch, left);
        }
    }

    /// Calls back after every change until the answered [`Subscription`] is dropped. The callback runs on a thread of
    /// its own, one call at a time; changes in quick succession may be told together.
    ///
    /// # Errors
    /// The state cannot be opened, or no thread can be started.
    pub fn subscribe(&self, callback: impl Fn(&Change) + Send + 'static) -> Result<Subscription> {
        let over = Arc::new(AtomicBool::new(false));
        let (catalog, ended) = (self.clone(), Arc::clone(&over));
        let mut token = self.token()?;
        std::thread::Builder::new()
            .name("repertoire-follow".to_owned())
            .spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    match catalog.wait(token, PATIENCE) {
                        Ok(Some(change)) => {
                            token = change.token;
                            callback(&change);
                        }
                        Ok(None) => {}
                        Err(error) => {
                            tracing::warn!(%error, "cannot follow the catalog; trying again");
                            std::thread::sleep(PATIENCE);
                        }
                    }
                }
            })
            .map_err(|error| crate::error::StorageError::io("start a thread for", self.path(), error))?;
        Ok(Subscription { over })
    }
}

/// Ends the calls of [`Catalog::subscribe`] when dropped.
#[derive(Debug)]
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    over: Arc<AtomicBool>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
