//! Waiting for changes below paths, and for the signal that ends the wait.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use repertoire::intake::Fingerprint;
use repertoire::limits::{WATCH_INTERVAL_MS, WATCH_SETTLE_MS_MAX};

/// How many times longer than a look the pause after it is, so that large trees do not keep a processor busy.
const PAUSE_PER_LOOK: u32 = 10;

/// Files that are watched, and a listener for the end.
#[derive(Debug)]
pub(crate) struct Watch {
    paths: Vec<PathBuf>,
    stop: Receiver<()>,
    /// What was there before what was last handed on.
    seen: Option<Fingerprint>,
    pause: Duration,
}

impl Watch {
    /// Listens for the end from now on. Fails where signals cannot be received.
    pub(crate) fn start(paths: &[PathBuf]) -> io::Result<Self> {
        let (send, stop) = channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let guard = runtime.enter();
        let end = ends()?;
        drop(guard);
        thread::spawn(move || {
            runtime.block_on(end);
            // Nobody listens any more if the watch ended by itself.
            let _ = send.send(());
        });
        Ok(Self { paths: paths.to_vec(), stop, seen: None, pause: Duration::from_millis(WATCH_INTERVAL_MS) })
    }

    /// Remembers what is there, before it is read.
    pub(crate) fn look(&mut self) {
        self.seen = Some(Fingerprint::of(&self.paths));
    }

    /// Forgets it, so that the next wait ends soon.
    pub(crate) fn again(&mut self) {
        self.seen = None;
    }

    /// Waits until something changed and then stayed for a moment, or until a change has lasted too long to wait for
    /// its end. False if the watch is to end.
    pub(crate) fn wait(&mut self) -> bool {
        let mut last = self.seen;
        let mut changing_since: Option<Instant> = None;
        loop {
            match self.stop.recv_timeout(self.pause) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
            }
            let start = Instant::now();
            let now = Some(Fingerprint::of(&self.paths));
            self.pause = Duration::from_millis(WATCH_INTERVAL_MS).max(start.elapsed() * PAUSE_PER_LOOK);
            if now == self.seen {
                changing_since = None;
            } else {
                let since = *changing_since.get_or_insert(start);
                if now == last || since.elapsed() >= Duration::from_millis(WATCH_SETTLE_MS_MAX) {
                    return true;
                }
            }
            last = now;
        }
    }
}

/// Resolves when the process is asked to end.
#[cfg(unix)]
pub(crate) fn ends() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Resolves when the process is asked to end.
#[cfg(not(unix))]
pub(crate) fn ends() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        // An error here means that no signal can come; the process can still be ended from outside.
        let _ = tokio::signal::ctrl_c().await;
    })
}
