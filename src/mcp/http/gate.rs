//! The way of a request to a tool: host, origin, token, room, body, each refused with its own status.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::ServerHandler;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::catalog::Catalog;
use crate::limits::MCP_HTTP_BODY_BYTES_MAX;
use crate::mcp::http::callers::{Callers, Found, Mount};
use crate::mcp::http::hosts::{Hosts, Stranger};
use crate::mcp::http::metrics;
use crate::observe::{Family, count};

/// Header of a session of the `initialize` lifecycle.
const SESSION_HEADER: &str = "mcp-session-id";

/// Everything that requests share.
pub(crate) struct Gate<H> {
    pub(crate) catalog: Catalog,
    pub(crate) callers: Callers<H>,
    pub(crate) hosts: Hosts,
    pub(crate) seats: Arc<Semaphore>,
    pub(crate) max_sessions: usize,
    pub(crate) in_flight: Arc<Semaphore>,
    pub(crate) max_in_flight: usize,
    pub(crate) patience: std::time::Duration,
}

/// A refusal: the reason is a label of the metrics.
pub(crate) struct Refusal {
    status: StatusCode,
    reason: &'static str,
    message: &'static str,
    header: Option<(http::HeaderName, HeaderValue)>,
}

impl Refusal {
    fn new(status: StatusCode, reason: &'static str, message: &'static str) -> Self {
        Self { status, reason, message, header: None }
    }

    fn busy(reason: &'static str, message: &'static str) -> Self {
        let header = Some((RETRY_AFTER, HeaderValue::from_static("1")));
        Self { header, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, reason, message) }
    }

    fn unauthorized(reason: &'static str, message: &'static str) -> Self {
        let header = Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        Self { header, ..Self::new(StatusCode::UNAUTHORIZED, reason, message) }
    }

    fn into_response(self) -> Response {
        count(Family::HttpRefusals, self.reason);
        tracing::debug!(status = self.status.as_u16(), reason = self.reason, "a request is refused");
        let body = json!({"error": self.reason, "message": self.message}).to_string();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// `/mcp`
pub(crate) async fn mcp<H: ServerHandler + Send + 'static>(
    State(gate): State<Arc<Gate<H>>>,
    request: Request,
) -> Response {
    gate.serve(request).await.unwrap_or_else(Refusal::into_response)
}

/// `/healthz`: the process answers.
pub(crate) async fn healthz<H: ServerHandler + Send + 'static>(
    State(gate): State<Arc<Gate<H>>>,
    request: Request,
) -> Response {
    match gate.known_host(&request) {
        Ok(()) => text(StatusCode::OK, "ok\n".to_owned()),
        Err(refusal) => refusal.into_response(),
    }
}

/// `/readyz`: the catalog can be read and tokens can be told apart.
pub(crate) async fn readyz<H: ServerHandler + Send + 'static>(
    State(gate): State<Arc<Gate<H>>>,
    request: Request,
) -> Response {
    if let Err(refusal) = gate.known_host(&request) {
        return refusal.into_response();
    }
    match (gate.catalog.token(), gate.callers.is_sure()) {
        (Ok(_), true) => text(StatusCode::OK, "ready\n".to_owned()),
        (Ok(_), false) => text(StatusCode::SERVICE_UNAVAILABLE, "principals\n".to_owned()),
        (Err(error), _) => {
            tracing::error!(%error, "the catalog cannot be read");
            text(StatusCode::SERVICE_UNAVAILABLE, "catalog\n".to_owned())
        }
    }
}

/// `/metrics`: for tokens that may see the whole deployment's numbers.
pub(crate) async fn shown_metrics<H: ServerHandler + Send + 'static>(
    State(gate): State<Arc<Gate<H>>>,
    request: Request,
) -> Response {
    let allowed = gate.known_host(&request).and_then(|()| gate.caller(request.headers()));
    match allowed {
        Err(refusal) => refusal.into_response(),
        Ok(mount) if !mount.principal.metrics => {
            let message = "this token may not read the metrics";
            Refusal::new(StatusCode::FORBIDDEN, "metrics_not_allowed", message).into_response()
        }
        Ok(_) => {
            let sessions = gate.max_sessions.saturating_sub(gate.seats.available_permits());
            let in_flight = gate.max_in_flight.saturating_sub(gate.in_flight.available_permits());
            let mut response = text(StatusCode::OK, metrics::text(&gate.catalog, sessions, in_flight));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(metrics::MEDIA_TYPE));
            response
        }
    }
}

/// Every other path.
pub(crate) async fn nothing<H: ServerHandler + Send + 'static>(
    State(gate): State<Arc<Gate<H>>>,
    request: Request,
) -> Response {
    match gate.known_host(&request) {
        Ok(()) => {
            Refusal::new(StatusCode::NOT_FOUND, "no_such_path", "the MCP endpoint is /mcp").into_response()
        }
        Err(refusal) => refusal.into_response(),
    }
}

fn text(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

impl<H: ServerHandler + Send + 'static> Gate<H> {
    async fn serve(&self, request: Request) -> Result<Response, Refusal> {
        self.known_host(&request)?;
        let mount = self.caller(request.headers())?;
        let room = Arc::clone(&self.in_flight).try_acquire_owned().map_err(|_| {
            Refusal::busy("too_many_requests", "as many requests are answered as may be; try again")
        })?;
        let begins_session =
            request.method() == Method::POST && !request.headers().contains_key(SESSION_HEADER);
        let (head, body) = request.into_parts();
        let body = self.read(body).await?;
        let response = mount.service.handle(http::Request::from_parts(head, Full::new(body))).await;
        // rmcp has one status for all trouble with a new session.
        let full = begins_session && self.seats.available_permits() == 0;
        if full && response.status() == StatusCode::INTERNAL_SERVER_ERROR {
            return Err(Refusal::busy("too_many_sessions", "as many sessions are open as may be; try again"));
        }
        // The request takes its room until the last byte of the answer, or until the client has left.
        Ok(response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _held = &room;
                frame
            }))
        }))
    }

    fn known_host(&self, request: &Request) -> Result<(), Refusal> {
        self.hosts.check(request.uri(), request.headers()).map_err(|stranger| match stranger {
            Stranger::Host => {
                let message = "the Host header names no host of this server; the operator can allow it";
                Refusal::new(StatusCode::FORBIDDEN, "host_not_allowed", message)
            }
            Stranger::Origin => {
                let message = "pages of this origin may not call; the operator can allow it";
                Refusal::new(StatusCode::FORBIDDEN, "origin_not_allowed", message)
            }
        })
    }

    /// The caller whose token the request brings.
    fn caller(&self, headers: &HeaderMap) -> Result<Arc<Mount<H>>, Refusal> {
        let token = bearer(headers).ok_or_else(|| {
            Refusal::unauthorized("token_missing", "send a token as `Authorization: Bearer TOKEN`")
        })?;
        match self.callers.find(token) {
            Found::Caller(mount) => Ok(mount),
            Found::Nobody => {
                Err(Refusal::unauthorized("token_unknown", "the token is not or no longer known"))
            }
            Found::Unsure => Err(Refusal::busy(
                "principals_unreadable",
                "the file of principals is wrong; the operator finds why in the log",
            )),
        }
    }

    async fn read(&self, body: Body) -> Result<Bytes, Refusal> {
        let whole = Limited::new(body, MCP_HTTP_BODY_BYTES_MAX).collect();
        match tokio::time::timeout(self.patience, whole).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "body_too_large",
                "a request is at most 4 MiB",
            )),
            Ok(Err(_)) => Err(Refusal::new(StatusCode::BAD_REQUEST, "body_broken", "the body broke off")),
            Err(_) => {
                Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", "the body came too slowly"))
            }
        }
    }
}

/// The token of the one `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
