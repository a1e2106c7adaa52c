//! How the HTTP server is set up.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::limits::MCP_HTTP_PATIENCE_MS;
use crate::mcp::http::token::Token;
use crate::mcp::options::ServerOptions;

/// Settings of the server over HTTP; the default listens on loopback and takes one token.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What is offered, and the sight of the operator's token. A principal's own settings can only make both narrower.
    pub server: ServerOptions,
    /// The operator's token.
    pub token: TokenSource,
    /// `principals.toml`; need not be there.
    pub principals: PathBuf,
    /// Certificate chain and private key, PEM files.
    pub tls: Option<TlsFiles>,
    /// Something in front of this server does TLS: another address than loopback is taken without it.
    pub behind_proxy: bool,
    /// Names in the `Host` header beside those of loopback and the address that is listened on.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call. There is no CORS: a browser only reaches the server through its own origin.
    pub allowed_origins: Vec<String>,
    /// Most sessions of the `initialize` lifecycle at a time.
    pub max_sessions: usize,
    /// Most requests that are answered at a time, open streams included.
    pub max_in_flight: usize,
    /// Longest time that a client may take for the head of a request (idle time between two requests included), for
    /// its body, and for the TLS handshake.
    pub patience: Duration,
}

/// Where the operator's token is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TokenSource {
    /// In a file, made at the first start and read again whenever it changes.
    File(PathBuf),
    /// Given.
    Given(Token),
}

/// The files of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

impl HttpOptions {
    /// Listens on an address, with the token and the principals in files.
    #[must_use]
    pub fn new(listen: SocketAddr, token: TokenSource, principals: impl Into<PathBuf>) -> Self {
        Self {
            listen,
            server: ServerOptions::default(),
            token,
            principals: principals.into(),
            tls: None,
            behind_proxy: false,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_sessions: 64,
            max_in_flight: 256,
            patience: Duration::from_millis(MCP_HTTP_PATIENCE_MS),
        }
    }

    /// Sets what is offered.
    #[must_use]
    pub fn server(mut self, server: ServerOptions) -> Self {
        self.server = server;
        self
    }

    /// Sets the files of TLS.
    #[must_use]
    pub fn tls(mut self, files: Option<TlsFiles>) -> Self {
        self.tls = files;
        self
    }

    /// Sets whether something in front does TLS.
    #[must_use]
    pub fn behind_proxy(mut self, behind_proxy: bool) -> Self {
        self.behind_proxy = behind_proxy;
        self
    }

    /// Sets further names for the `Host` header.
    #[must_use]
    pub fn allowed_hosts(mut self, hosts: Vec<String>) -> Self {
        self.allowed_hosts = hosts;
        self
    }

    /// Sets the origins of pages that may call.
    #[must_use]
    pub fn allowed_origins(mut self, origins: Vec<String>) -> Self {
        self.allowed_origins = origins;
        self
    }

    /// Sets how many sessions there may be.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions;
        self
    }

    /// Sets how many requests may be answered at a time.
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets how long a client may take to send a request.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}
