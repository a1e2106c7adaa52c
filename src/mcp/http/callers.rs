//! Who may call: the operator's token and the principals, read again whenever their files change.
//!
//! Each caller has a mount of its own: a [`Server`] with its sight, its tools and whatever is kept for a token, and
//! rmcp's service with its sessions. A caller that is gone takes its mount with it: sessions end, streams break off.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::ServerHandler;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::StreamableHttpService;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::limits::MCP_HTTP_BODY_BYTES_MAX;
use crate::mcp::http::error::HttpError;
use crate::mcp::http::options::{HttpOptions, TokenSource};
use crate::mcp::http::principals::{OPERATOR, Principal};
use crate::mcp::http::principals_file::read_principals;
use crate::mcp::http::sessions::Sessions;
use crate::mcp::http::token::{Token, TokenHash, read_or_make};
use crate::mcp::server::Server;

/// Makes the handler of one session.
pub(crate) type Make<H> = dyn Fn(&Principal, Server) -> H + Send + Sync;

/// One caller's way in.
pub(crate) struct Mount<H> {
    pub(crate) principal: Principal,
    pub(crate) service: StreamableHttpService<H, Sessions>,
    server: Server,
    end: CancellationToken,
}

impl<H> Drop for Mount<H> {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

/// Whom a token belongs to.
pub(crate) enum Found<H> {
    /// This caller.
    Caller(Arc<Mount<H>>),
    /// Nobody.
    Nobody,
    /// It cannot be said: the file of principals is wrong, so that it may have been revoked.
    Unsure,
}

/// All callers.
pub(crate) struct Callers<H> {
    base: Server,
    options: HttpOptions,
    seats: Arc<Semaphore>,
    make: Arc<Make<H>>,
    state: Mutex<State<H>>,
}

struct State<H> {
    operator: Option<Arc<Mount<H>>>,
    operator_stamp: Stamp,
    principals: Vec<Arc<Mount<H>>>,
    principals_stamp: Stamp,
    /// The file of principals is there and wrong.
    unsure: bool,
}

/// What tells one state of a file from another; `None` where there is no file.
type Stamp = Option<(u64, u64, i64, i64, i64, i64)>;

fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok()?;
    Some((data.ino(), data.size(), data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec()))
}

impl<H: ServerHandler + Send + 'static> Callers<H> {
    /// Reads both files. Also answers the operator's token if it was made just now.
    pub(crate) fn new(
        base: Server,
        options: HttpOptions,
        seats: Arc<Semaphore>,
        make: Arc<Make<H>>,
    ) -> Result<(Self, Option<Token>), HttpError> {
        let state = State {
            operator: None,
            operator_stamp: None,
            principals: Vec::new(),
            principals_stamp: None,
            unsure: false,
        };
        let callers = Self { base, options, seats, make, state: Mutex::new(state) };
        let new_token = callers.first_look()?;
        Ok((callers, new_token))
    }

    fn first_look(&self) -> Result<Option<Token>, HttpError> {
        let mut state = self.state.lock();
        let (token, made) = match &self.options.token {
            TokenSource::Given(token) => (token.clone(), false),
            TokenSource::File(path) => {
                let read = read_or_make(path)
                    .map_err(|source| HttpError::TokenFile { path: path.clone(), source })?;
                state.operator_stamp = stamp(path);
                read
            }
        };
        state.operator = Some(self.mount(operator(&token), None));
        let path = &self.options.principals;
        state.principals_stamp = stamp(path);
        if state.principals_stamp.is_some() {
            let read = read_principals(path)
                .map_err(|problems| HttpError::Principals { path: path.clone(), problems })?;
            self.replace(&mut state, read);
        }
        Ok(made.then_some(token))
    }

    /// The caller whose token this is, by the files as they are now. Compares with every known token, in a time that
    /// does not depend on how much of one is right.
    pub(crate) fn find(&self, token: &str) -> Found<H> {
        let presented = TokenHash::of(token);
        let mut state = self.state.lock();
        self.refresh(&mut state);
        let mut found = None;
        for mount in state.operator.iter().chain(&state.principals) {
            if bool::from(mount.principal.token.matches(&presented)) {
                found = Some(mount);
            }
        }
        match found {
            Some(mount) if state.unsure && mount.principal.name != OPERATOR => Found::Unsure,
            Some(mount) => Found::Caller(Arc::clone(mount)),
            None if state.unsure => Found::Unsure,
            None => Found::Nobody,
        }
    }

    /// Reads again what changed; for the time between requests.
    pub(crate) fn reload(&self) {
        self.refresh(&mut self.state.lock());
    }

    /// Whether every token can be told from a revoked one.
    pub(crate) fn is_sure(&self) -> bool {
        let mut state = self.state.lock();
        self.refresh(&mut state);
        !state.unsure
    }

    fn refresh(&self, state: &mut State<H>) {
        if let TokenSource::File(path) = &self.options.token {
            let now = stamp(path);
            if now != state.operator_stamp {
                state.operator_stamp = now;
                self.refresh_operator(state, path);
            }
        }
        let path = &self.options.principals;
        let now = stamp(path);
        if now == state.principals_stamp {
            return;
        }
        state.principals_stamp = now;
        let read = if now.is_some() { read_principals(path) } else { Ok(Vec::new()) };
        match read {
            Ok(principals) => {
                tracing::info!(principals = principals.len(), "the file of principals was read again");
                state.unsure = false;
                self.replace(state, principals);
            }
            Err(problems) => {
                let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
                tracing::error!(
                    problems = problems.join("; "),
                    "the file of principals is wrong; until it is mended only the operator's token is taken"
                );
                state.unsure = true;
            }
        }
    }

    fn refresh_operator(&self, state: &mut State<H>, path: &Path) {
        // No new token is made for a file that was taken away: that is how one is revoked.
        let read = if path.exists() { read_or_make(path).map(|(token, _)| Some(token)) } else { Ok(None) };
        let token = read.unwrap_or_else(|error| {
            tracing::error!(%error, "the token file is of no use; the operator's token is not taken");
            None
        });
        let principal = token.as_ref().map(operator);
        let former = state.operator.take();
        if former.as_ref().map(|mount| &mount.principal) == principal.as_ref() {
            state.operator = former;
            return;
        }
        if let Some(former) = former {
            former.end.cancel();
        }
        // Another token: its sessions are not those of the old one.
        state.operator = principal.map(|principal| self.mount(principal, None));
        tracing::info!(taken = state.operator.is_some(), "the operator's token was read again");
    }

    /// Takes over a list of principals: who is unchanged keeps sessions and state, who changed keeps the state.
    fn replace(&self, state: &mut State<H>, principals: Vec<Principal>) {
        let former = std::mem::take(&mut state.principals);
        state.principals = principals
            .into_iter()
            .map(|principal| match former.iter().find(|mount| mount.principal.token == principal.token) {
                Some(mount) if mount.principal == principal => Arc::clone(mount),
                Some(mount) => self.mount(principal, Some(&mount.server)),
                None => self.mount(principal, None),
            })
            .collect();
        for mount in former {
            if !state.principals.iter().any(|kept| Arc::ptr_eq(kept, &mount)) {
                // A request in flight still holds the mount; its session must end now all the same.
                mount.end.cancel();
            }
        }
    }

    fn mount(&self, principal: Principal, former: Option<&Server>) -> Arc<Mount<H>> {
        let mut options = self.options.server.clone();
        options.narrowing = options.narrowing.and(&principal.narrowing);
        if let Some(tools) = &principal.tools {
            options.tools = options.tools.and(tools);
        }
        let server = former.unwrap_or(&self.base).for_caller(options);
        let end = CancellationToken::new();
        // Host and Origin were checked before a token was looked at.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_max_request_body_bytes(MCP_HTTP_BODY_BYTES_MAX)
            .with_cancellation_token(end.clone());
        let (make, of_sessions, of) = (Arc::clone(&self.make), server.clone(), principal.clone());
        let service = StreamableHttpService::new(
            move || Ok(make(&of, of_sessions.session())),
            Arc::new(Sessions::new(Arc::clone(&self.seats))),
            config,
        );
        Arc::new(Mount { principal, service, server, end })
    }
}

fn operator(token: &Token) -> Principal {
    Principal { metrics: true, ..Principal::new(OPERATOR, token.hash()) }
}
