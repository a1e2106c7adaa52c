//! The list of phones, as one stream that the server feeds at every change.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::frame::{self, Listed};
use super::server::{Link, Server};
use crate::device::{DeviceResult, DeviceState};
use crate::error::DeviceCode;

/// The phones of this moment.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    known: Arc<Known>,
    stream: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Known {
    /// `None` while no stream feeds it.
    list: Mutex<Option<Vec<Listed>>>,
    /// Moves at every change of the list.
    changes: AtomicU64,
}

impl Known {
    fn set(&self, list: Option<Vec<Listed>>) {
        let mut known = self.list.lock();
        if *known != list {
            *known = list;
            self.changes.fetch_add(1, Ordering::Release);
        }
    }
}

impl Tracker {
    /// The phones; opens the stream if there is none.
    pub(super) async fn list(&self, server: &Server) -> DeviceResult<Vec<Listed>> {
        let mut stream = self.stream.lock().await;
        let running = stream.as_ref().is_some_and(|task| !task.is_finished());
        let known = self.known.list.lock().clone();
        if running && let Some(list) = known {
            // The server tells of phones that come, go and become ready, but not of every change in between: one that
            // waits for somebody to tap Allow stays offline in the stream.
            if list.iter().all(|one| one.device.state == DeviceState::Device) {
                return Ok(list);
            }
            return Ok(frame::devices(&server.ask("host:devices-l").await?));
        }
        let (link, first) = subscribe(server).await?;
        self.known.set(Some(first.clone()));
        *stream = Some(tokio::spawn(follow(link, Arc::clone(&self.known))));
        Ok(first)
    }

    /// A number that moves at every change of the list.
    pub(super) fn changes(&self) -> u64 {
        self.known.changes.load(Ordering::Acquire)
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        if let Some(task) = self.stream.get_mut() {
            task.abort();
        }
    }
}

/// Opens the stream and reads the first list: with models where the server has that form.
async fn subscribe(server: &Server) -> DeviceResult<(Link, Vec<Listed>)> {
    let mut link = server.connect().await?;
    match link.request(b"host:track-devices-l").await {
        // A server that does not know the long form says so.
        Err(error) if error.code == DeviceCode::CommandFailed => {
            link = server.connect().await?;
            link.request(b"host:track-devices").await?;
        }
        other => other?,
    }
    let first = link.text().await?;
    Ok((link, frame::devices(&first)))
}

/// Takes lists until the server ends the stream; the next caller opens another.
async fn follow(mut link: Link, known: Arc<Known>) {
    while let Ok(text) = link.text().await {
        known.set(Some(frame::devices(&text)));
    }
    tracing::debug!("the stream of the device list has ended");
    known.set(None);
}
