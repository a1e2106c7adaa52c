//! Waiting for changes below paths, and for the signal that ends the wait.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use repertoire::intake::Settling;
use repertoire::limits::WATCH_INTERVAL_MS;

/// Waits until the process is asked to end.
pub(crate) fn until_asked() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let guard = runtime.enter();
    let end = ends()?;
    drop(guard);
    runtime.block_on(end);
    Ok(())
}

/// Files that are watched, and a listener for the end.
#[derive(Debug)]
pub(crate) struct Watch {
    settling: Settling,
    stop: Receiver<()>,
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
        Ok(Self { settling: Settling::new(paths, Duration::from_millis(WATCH_INTERVAL_MS)), stop })
    }

    /// Remembers what is there, before it is read.
    pub(crate) fn look(&mut self) {
        self.settling.look();
    }

    /// Forgets it, so that the next wait ends soon.
    pub(crate) fn again(&mut self) {
        self.settling.again();
    }

    /// Waits until something changed and then stayed for a moment, or until a change has lasted too long to wait for
    /// its end. False if the watch is to end.
    pub(crate) fn wait(&mut self) -> bool {
        loop {
            match self.stop.recv_timeout(self.settling.pause()) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return false,
            }
            if self.settling.settled() {
                return true;
            }
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
