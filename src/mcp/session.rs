//! How a session can end before its time.

use std::io;

use parking_lot::Mutex;

/// Why a session ended although neither side wanted it to. A client that leaves is no failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The runtime of the server could not be started.
    #[error("cannot start the server's runtime: {0}; check the limits of processes and open files")]
    Start(#[source] io::Error),
    /// Requests could not be read.
    #[error("cannot read requests: {0}; check what the input is connected to")]
    Input(#[source] io::Error),
    /// An answer could not be written, while the other side had not closed it.
    #[error("cannot write answers: {0}; check the disk or the program that reads them")]
    Output(#[source] io::Error),
    /// The first messages of the client cannot be answered, or the session broke off inside.
    #[error("the session cannot go on; check what the client sends")]
    Protocol(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The first thing that went wrong with the streams of a session, for whoever waits for its end.
#[derive(Debug, Default)]
pub(super) struct Trouble(Mutex<Option<SessionError>>);

impl Trouble {
    /// Notes a failed read.
    pub(super) fn input(&self, error: io::Error) {
        self.0.lock().get_or_insert(SessionError::Input(error));
    }

    /// Notes a failed write, unless it only says that the client left.
    pub(super) fn output(&self, error: &io::Error) {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
        if !matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected) {
            let same = error.raw_os_error().map_or_else(
                || io::Error::new(error.kind(), error.to_string()),
                io::Error::from_raw_os_error,
            );
            self.0.lock().get_or_insert(SessionError::Output(same));
        }
    }

    /// What was noted.
    pub(super) fn take(&self) -> Option<SessionError> {
        self.0.lock().take()
    }
}
