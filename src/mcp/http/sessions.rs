//! Sessions of one principal, counted together with those of all others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::MCP_HTTP_SESSION_IDLE_MS;

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionsError {
    /// As many are open as may be.
    #[error("as many sessions are open as may be")]
    Full,
    /// rmcp's own trouble.
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

/// rmcp's sessions in memory, each holding one of the seats that all principals share. Another principal's session
/// id is unknown here, so that a stolen one is of no use without the token.
pub(crate) struct Sessions {
    local: LocalSessionManager,
    seats: Arc<Semaphore>,
    taken: Mutex<HashMap<SessionId, OwnedSemaphorePermit>>,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("open", &self.taken.lock().len()).finish_non_exhaustive()
    }
}

impl Sessions {
    /// No session yet; `seats` are those of the whole server.
    pub(crate) fn new(seats: Arc<Semaphore>) -> Self {
        let mut local = LocalSessionManager::default();
        let mut config = SessionConfig::default();
        config.keep_alive = Some(Duration::from_millis(MCP_HTTP_SESSION_IDLE_MS));
        local.session_config = config;
        Self { local, seats, taken: Mutex::default() }
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let seat = Arc::clone(&self.seats).try_acquire_owned().map_err(|_| SessionsError::Full)?;
        let (id, transport) = self.local.create_session().await?;
        self.taken.lock().insert(id.clone(), seat);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        // rmcp calls this at the end of every session, however it ended.
        let seat = self.taken.lock().remove(id);
        let closed = self.local.close_session(id).await;
        drop(seat);
        Ok(closed?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
