//! The receiver on a socket.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::post;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::catalog::Catalog;
use crate::entitlement::Removal;
use crate::error::Result;
use crate::limits::{
    WEBHOOK_BYTES_MAX, WEBHOOK_IN_FLIGHT_MAX, WEBHOOK_READ_MS_MAX, WEBHOOK_REPLAYS_KEPT_MAX,
};
use crate::sync::Wake;
use crate::sync::webhook::WebhookSecrets;
use crate::sync::webhook::message::{self, Envelope, Message};

/// Who takes away what a platform removes. It answers when no query that begins later, in any process, shows it.
pub trait Remover: Send + Sync {
    /// Takes a removal; blocks until it is durable. Must be harmless when it comes again.
    ///
    /// # Errors
    /// It could not be written, so that it may not be in effect.
    fn remove(&self, removal: &Removal) -> Result<()>;
}

impl Remover for Catalog {
    fn remove(&self, removal: &Removal) -> Result<()> {
        self.removed(removal).map(drop)
    }
}

/// What the receiver is for.
#[derive(Clone)]
#[non_exhaustive]
pub struct ReceiverOptions {
    /// The senders' secrets.
    pub secrets: WebhookSecrets,
    /// Woken by changes.
    pub wake: Wake,
    /// Takes removals.
    pub remover: Arc<dyn Remover>,
}

impl ReceiverOptions {
    /// A receiver of genuine messages.
    #[must_use]
    pub fn new(secrets: WebhookSecrets, wake: Wake, remover: Arc<dyn Remover>) -> Self {
        Self { secrets, wake, remover }
    }
}

impl fmt::Debug for ReceiverOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverOptions").field("secrets", &self.secrets).finish_non_exhaustive()
    }
}

/// A receiver that listens.
#[derive(Debug)]
pub struct Receiver {
    listener: TcpListener,
    options: ReceiverOptions,
}

impl Receiver {
    /// Listens from now on; messages wait until [`run`](Self::run).
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn bind(address: SocketAddr, options: ReceiverOptions) -> io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address).await?, options })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Takes messages at `/webhook` (and `/`) until it is dropped.
    ///
    /// # Errors
    /// The socket fails.
    pub async fn run(self) -> io::Result<()> {
        axum::serve(self.listener, router(self.options)).await
    }
}

/// The same as routes, for a server that has more.
pub(crate) fn router(options: ReceiverOptions) -> Router {
    let inbox = Inbox { options, room: Semaphore::new(WEBHOOK_IN_FLIGHT_MAX), taken: Mutex::default() };
    Router::new().route("/webhook", post(take)).route("/", post(take)).with_state(Arc::new(inbox))
}

struct Inbox {
    options: ReceiverOptions,
    room: Semaphore,
    /// Hashes of messages that were taken, so that the same bytes again do nothing.
    taken: Mutex<VecDeque<[u8; 32]>>,
}

/// Takes one message. 202 says that it is in effect.
async fn take(State(inbox): State<Arc<Inbox>>, request: Request) -> Response<Body> {
    let Ok(_permit) = inbox.room.try_acquire() else {
        let mut busy = answer(StatusCode::SERVICE_UNAVAILABLE, "too many messages at once");
        busy.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        return busy;
    };
    let (parts, body) = request.into_parts();
    let limit = Duration::from_millis(WEBHOOK_READ_MS_MAX);
    let body = match tokio::time::timeout(limit, to_bytes(body, WEBHOOK_BYTES_MAX)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let said = format!("a message has at most {WEBHOOK_BYTES_MAX} bytes, all of which must arrive");
            return answer(StatusCode::PAYLOAD_TOO_LARGE, &said);
        }
        Err(_) => return answer(StatusCode::REQUEST_TIMEOUT, "the message did not arrive in time"),
    };
    let envelope = Envelope {
        id: text(&parts.headers, "webhook-id"),
        timestamp: text(&parts.headers, "webhook-timestamp"),
        signature: text(&parts.headers, "webhook-signature"),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let message = match message::read(&inbox.options.secrets, envelope, &body, now) {
        Ok(message) => message,
        Err(refusal) => {
            tracing::warn!("a webhook is refused: {refusal}");
            let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
            return answer(status, &refusal.to_string());
        }
    };
    let hash = hash(envelope, &body);
    if inbox.taken.lock().contains(&hash) {
        return answer(StatusCode::ACCEPTED, "");
    }
    if let Message::Removed(removal) = &message
        && let Err(refused) = inbox.remove(removal.clone()).await
    {
        return refused;
    }
    if message != Message::Other {
        // After a removal there is a document that says the same, and more.
        inbox.options.wake.set();
    }
    let mut taken = inbox.taken.lock();
    if taken.len() == WEBHOOK_REPLAYS_KEPT_MAX {
        taken.pop_front();
    }
    taken.push_back(hash);
    drop(taken);
    answer(StatusCode::ACCEPTED, "")
}

impl Inbox {
    /// Takes a removal on a thread that may wait for the disk.
    async fn remove(&self, removal: Removal) -> Result<(), Response<Body>> {
        let remover = Arc::clone(&self.options.remover);
        let (subscription, count) = (removal.subscription.clone(), removal.ids.len());
        match tokio::task::spawn_blocking(move || remover.remove(&removal)).await {
            Ok(Ok(())) => {
                tracing::info!("a webhook removed {count} skills of {subscription}");
                Ok(())
            }
            Ok(Err(error)) => {
                tracing::error!("a removal by webhook cannot be written: {error}");
                let said = "the removal could not be written, and may not be in effect; send it again";
                Err(answer(StatusCode::INSUFFICIENT_STORAGE, said))
            }
            Err(_) => Err(answer(StatusCode::INTERNAL_SERVER_ERROR, "the removal broke off; send it again")),
        }
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn hash(envelope: Envelope<'_>, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [envelope.id, envelope.timestamp] {
        hash.update(part.unwrap_or_default());
        hash.update([0]);
    }
    hash.update(body);
    hash.finalize().into()
}

fn answer(status: StatusCode, said: &str) -> Response<Body> {
    let body = if said.is_empty() { Body::empty() } else { Body::from(format!("{said}\n")) };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
