//! Listening: the sockets, TLS, the connections, the end.

use std::fs::File;
use std::io::{self, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{any, get};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::ServerHandler;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::catalog::{Catalog, Subscription};
use crate::limits::{
    MCP_HTTP_CONNECTIONS_MAX, MCP_HTTP_HEAD_BYTES_MAX, MCP_HTTP_HEADERS_MAX, MCP_HTTP_LAST_ANSWERS_MS,
    MCP_HTTP_RELOAD_MS,
};
use crate::mcp::http::callers::{Callers, Make};
use crate::mcp::http::error::HttpError;
use crate::mcp::http::gate::{self, Gate};
use crate::mcp::http::hosts::Hosts;
use crate::mcp::http::options::{HttpOptions, TlsFiles};
use crate::mcp::http::principals::Principal;
use crate::mcp::http::token::Token;
use crate::mcp::server::Server;
use crate::observe::{Family, count};

/// How long the server waits after the system refused to accept: it is out of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server over Streamable HTTP that listens already and answers once it runs.
#[must_use = "it answers nothing until it runs"]
pub struct HttpServer<H = Server> {
    gate: Arc<Gate<H>>,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    new_token: Option<Token>,
    patience: Duration,
    swaps: Subscription,
}

impl<H> std::fmt::Debug for HttpServer<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServer")
            .field("address", &self.address)
            .field("tls", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}

impl HttpServer<Server> {
    /// Begins to listen, with the [`Server`] of this crate for every caller.
    ///
    /// # Errors
    /// As [`HttpServer::bind_with`].
    pub async fn bind(catalog: &Catalog, options: HttpOptions) -> Result<Self, HttpError> {
        Self::bind_with(catalog, options, |_, server| server).await
    }
}

impl<H: ServerHandler + Send + 'static> HttpServer<H> {
    /// Begins to listen, with a handler of the embedder's own: `make` is called for each session (for each request of
    /// the stateless lifecycle) with the caller and the [`Server`] that has the caller's sight, to delegate to.
    ///
    /// # Errors
    /// Wrong settings; an address that is not loopback without TLS; an address that cannot be listened on; files of
    /// tokens or TLS that are of no use; a catalog that cannot be opened.
    pub async fn bind_with(
        catalog: &Catalog,
        options: HttpOptions,
        make: impl Fn(&Principal, Server) -> H + Send + Sync + 'static,
    ) -> Result<Self, HttpError> {
        let listen = options.listen;
        if !listen.ip().is_loopback() && options.tls.is_none() && !options.behind_proxy {
            return Err(HttpError::Unprotected { listen });
        }
        let mut allowed = options.allowed_hosts.clone();
        if !listen.ip().is_unspecified() {
            allowed.push(listen.ip().to_string());
        }
        let hosts = Hosts::new(&allowed, &options.allowed_origins)
            .map_err(|problems| HttpError::Settings { problems })?;
        let tls = options.tls.as_ref().map(acceptor).transpose()?;
        let seats = Arc::new(Semaphore::new(options.max_sessions.min(Semaphore::MAX_PERMITS)));
        let in_flight = Arc::new(Semaphore::new(options.max_in_flight.min(Semaphore::MAX_PERMITS)));
        let (max_sessions, max_in_flight) = (seats.available_permits(), in_flight.available_permits());
        let patience = options.patience;
        let base = Server::new(catalog, options.server.clone());
        let make: Arc<Make<H>> = Arc::new(make);
        let (callers, new_token) = Callers::new(base, options, Arc::clone(&seats), make)?;
        let swaps = catalog
            .subscribe(|change| {
                count(Family::Swaps, if change.layers.is_empty() { "entitlements" } else { "layers" });
            })
            .map_err(|error| HttpError::Runtime(io::Error::other(error.to_string())))?;
        let bound = TcpListener::bind(listen).await;
        let listener = bound.map_err(|source| HttpError::Listen { listen, source })?;
        let address = listener.local_addr().map_err(|source| HttpError::Listen { listen, source })?;
        let gate = Arc::new(Gate {
            catalog: catalog.clone(),
            callers,
            hosts,
            seats,
            max_sessions,
            in_flight,
            max_in_flight,
            patience,
        });
        Ok(Self { gate, listener, address, tls, new_token, patience, swaps })
    }

    /// The address that is listened on, with its real port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the MCP endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}/mcp", if self.tls.is_some() { "https" } else { "http" }, self.address)
    }

    /// The operator's token, if it was made at this start.
    #[must_use]
    pub fn made_token(&self) -> Option<&Token> {
        self.new_token.as_ref()
    }

    /// Answers until `stop` is done; then accepts nothing more and gives answers on their way a moment.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { gate, listener, tls, patience, swaps, .. } = self;
        let router = Router::new()
            .route("/mcp", any(gate::mcp::<H>))
            .route("/healthz", get(gate::healthz::<H>))
            .route("/readyz", get(gate::readyz::<H>))
            .route("/metrics", get(gate::shown_metrics::<H>))
            .fallback(gate::nothing::<H>)
            .with_state(Arc::clone(&gate));
        let ending = CancellationToken::new();
        let connections = TaskTracker::new();
        let room = Arc::new(Semaphore::new(MCP_HTTP_CONNECTIONS_MAX));
        let reload = tokio::spawn(reload(Arc::clone(&gate), ending.clone()));
        let mut stop = pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = accept(&listener, &room) => accepted,
            };
            let Some((stream, permit)) = accepted else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let connection = Connection { router: router.clone(), tls: tls.clone(), patience };
            let ending = ending.clone();
            connections.spawn(async move {
                connection.serve(stream, ending).await;
                drop(permit);
            });
        }
        drop(listener);
        ending.cancel();
        connections.close();
        // Streams without an end must not hold the process.
        if tokio::time::timeout(Duration::from_millis(MCP_HTTP_LAST_ANSWERS_MS), connections.wait())
            .await
            .is_err()
        {
            tracing::debug!("connections that were still open are dropped");
        }
        reload.abort();
        drop(swaps);
    }
}

/// The next connection and its place among those that may be open; `None` where the system refuses one.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // An answer is small and complete: waiting for more to send would only delay it.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY cannot be set");
            }
            Some((stream, permit))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection cannot be accepted");
            None
        }
    }
}

/// Looks at the files of tokens while no request does: a stream that is open must end when its token is revoked.
async fn reload<H: ServerHandler + Send + 'static>(gate: Arc<Gate<H>>, ending: CancellationToken) {
    let mut tick = tokio::time::interval(Duration::from_millis(MCP_HTTP_RELOAD_MS));
    loop {
        tokio::select! {
            () = ending.cancelled() => return,
            _ = tick.tick() => gate.callers.reload(),
        }
    }
}

/// What one connection needs.
struct Connection {
    router: Router,
    tls: Option<TlsAcceptor>,
    patience: Duration,
}

impl Connection {
    async fn serve(self, stream: TcpStream, ending: CancellationToken) {
        match self.tls.clone() {
            None => self.speak(stream, ending).await,
            Some(tls) => match tokio::time::timeout(self.patience, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.speak(stream, ending).await,
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            },
        }
    }

    async fn speak<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        self,
        stream: S,
        ending: CancellationToken,
    ) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(self.patience)
            .max_headers(MCP_HTTP_HEADERS_MAX)
            .max_buf_size(MCP_HTTP_HEAD_BYTES_MAX);
        let service = TowerToHyperService::new(self.router);
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = ending.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended before its time");
        }
    }
}

/// TLS 1.2 and 1.3 with the files of the operator.
fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, HttpError> {
    let wrong = |path: &Path, reason: &dyn std::fmt::Display| HttpError::Tls {
        path: path.to_owned(),
        reason: reason.to_string(),
    };
    let open = |path: &Path| File::open(path).map(BufReader::new).map_err(|error| wrong(path, &error));
    let path = &files.certificate;
    let chain = CertificateDer::pem_reader_iter(open(path)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| wrong(path, &error))?;
    if chain.is_empty() {
        return Err(wrong(path, &"there is no certificate in it"));
    }
    let path = &files.key;
    let key = PrivateKeyDer::from_pem_reader(open(path)?).map_err(|error| wrong(path, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| wrong(path, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
