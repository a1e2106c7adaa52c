//! The hint that something changed: any number of hints before the poller looks are one.

use std::sync::Arc;

use tokio::sync::Notify;

/// Wakes the poller. Clones are one flag; setting it is cheap, never blocks and may come from anywhere.
#[derive(Clone, Debug, Default)]
pub struct Wake {
    flag: Arc<Notify>,
}

impl Wake {
    /// Asks for a check soon.
    pub fn set(&self) {
        // Keeps one permit: a hint that comes while nobody waits is not lost, and two are one.
        self.flag.notify_one();
    }

    /// Waits for a hint, and takes it.
    pub async fn wait(&self) {
        self.flag.notified().await;
    }
}
