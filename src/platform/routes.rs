//! What can be asked: the four parts of SPP/1, and the switches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::routing::{get, post, put};
use reqwest::Url;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

use crate::limits::{PLATFORM_REPORT_BYTES_MAX, PLATFORM_WAIT_S_MAX};
use crate::platform::alter::{alter, hides};
use crate::platform::connection::Breaker;
use crate::platform::delivery::Answer;
use crate::platform::document::{self, Question, Refusal};
use crate::platform::fault::{Fault, FaultKind};
use crate::platform::service::Shared;
use crate::platform::store::{Store, Subscription};

type Service = axum::extract::connect_info::IntoMakeServiceWithConnectInfo<Router, Breaker>;

/// The routes with everything around them.
pub(crate) fn router(shared: &Arc<Shared>) -> Service {
    let subscription = "/spp/v1/subscriptions/{subscription}";
    let spp = Router::new()
        .route(&format!("{subscription}/catalog"), get(catalog))
        .route(&format!("{subscription}/entitlements"), get(entitlements))
        .route(&format!("{subscription}/status"), post(status))
        .route("/spp/v1/blobs/sha256/{digest}", get(blob))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), faults));
    let control = Router::new()
        .route("/control/faults", put(set_faults))
        .route("/control/reload", post(reload))
        .route("/control/requests", get(requests))
        .route("/control/reports", get(reports));
    spp.merge(control)
        .fallback(async || refuse(StatusCode::NOT_FOUND, "unknown_path", "there is nothing here"))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), authorize))
        .layer(DefaultBodyLimit::max(PLATFORM_REPORT_BYTES_MAX))
        .with_state(Arc::clone(shared))
        .into_make_service_with_connect_info::<Breaker>()
}

fn refuse(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    Answer::refusal(status, code, message).whole(&HeaderMap::new())
}

/// Lets nobody in without the token.
async fn authorize(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response<Body> {
    let given = request.headers().get(header::AUTHORIZATION).map_or(&b""[..], HeaderValue::as_bytes);
    let given = given.strip_prefix(b"Bearer ").unwrap_or_default();
    let right: bool = given.ct_eq(shared.token.expose().as_bytes()).into();
    if !request.uri().path().starts_with("/control/") {
        shared.record.request(request.method(), request.uri(), request.headers(), right);
    }
    if right {
        return next.run(request).await;
    }
    let message = "show the token that the platform printed at its start: Authorization: Bearer TOKEN";
    let answer = Answer::refusal(StatusCode::UNAUTHORIZED, "unauthorized", message);
    answer.with(header::WWW_AUTHENTICATE, "Bearer").whole(&HeaderMap::new())
}

/// Switches that answer in the place of a document.
async fn faults(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(breaker): ConnectInfo<Breaker>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let switches = &shared.switches;
    let part = part_of(request.uri());
    if switches.on_for(FaultKind::Reset, part) {
        breaker.reset();
    }
    if switches.used(FaultKind::Unauthorized) {
        return refuse(StatusCode::UNAUTHORIZED, "unauthorized", "a switch says so");
    }
    for (kind, status) in [
        (FaultKind::Forbidden, StatusCode::FORBIDDEN),
        (FaultKind::NotFound, StatusCode::NOT_FOUND),
        (FaultKind::ServerError, StatusCode::INTERNAL_SERVER_ERROR),
    ] {
        if switches.on_for(kind, part) {
            return refuse(status, kind.name(), "a switch says so");
        }
    }
    let late = [
        (FaultKind::TooManyRequests, StatusCode::TOO_MANY_REQUESTS),
        (FaultKind::Unavailable, StatusCode::SERVICE_UNAVAILABLE),
        (FaultKind::UnavailableUntil, StatusCode::SERVICE_UNAVAILABLE),
    ];
    for (kind, status) in late {
        if let Some(seconds) = switches.number(kind, 1) {
            let after = if kind == FaultKind::UnavailableUntil {
                httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(seconds))
            } else {
                seconds.to_string()
            };
            let answer = Answer::refusal(status, kind.name(), "a switch says so");
            return answer.with(header::RETRY_AFTER, after).whole(&HeaderMap::new());
        }
    }
    if switches.on(FaultKind::Redirect) {
        let target = switches.text(FaultKind::Redirect).unwrap_or_default();
        let target = format!("{target}{}", request.uri());
        return Answer::empty(StatusCode::FOUND).with(header::LOCATION, target).whole(&HeaderMap::new());
    }
    let moved = query(request.uri()).any(|(key, _)| key == "moved");
    if switches.on(FaultKind::RedirectHere) && !moved {
        let join = if request.uri().query().is_some() { '&' } else { '?' };
        let target = format!("{}{join}moved=1", request.uri());
        let answer = Answer::empty(StatusCode::TEMPORARY_REDIRECT);
        return answer.with(header::LOCATION, target).whole(&HeaderMap::new());
    }
    if switches.on(FaultKind::UnaskedNotModified) && part == "catalog" {
        return Answer::empty(StatusCode::NOT_MODIFIED).whole(&HeaderMap::new());
    }
    next.run(request).await
}

/// `catalog`, `entitlements`, `status` or `blobs`.
fn part_of(uri: &Uri) -> &'static str {
    let path = uri.path();
    let parts = ["catalog", "entitlements", "status"];
    parts.into_iter().find(|part| path.ends_with(part)).unwrap_or("blobs")
}

fn query(uri: &Uri) -> impl Iterator<Item = (String, String)> {
    // A URL is only needed around the query to read it.
    let url = Url::parse(&format!("http://localhost/?{}", uri.query().unwrap_or_default())).ok();
    let pairs: Vec<(String, String)> = url
        .iter()
        .flat_map(Url::query_pairs)
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect();
    pairs.into_iter()
}

fn question(uri: &Uri) -> Result<Question, &'static str> {
    let mut question = Question::default();
    for (key, value) in query(uri) {
        match key.as_str() {
            "since" => question.since = Some(value),
            "page" if !value.is_empty() => question.page = Some(value),
            "limit" if !value.is_empty() => {
                question.limit =
                    Some(value.parse().ok().filter(|limit| *limit > 0).ok_or("limit is no number above 0")?);
            }
            _ => {}
        }
    }
    Ok(question)
}

/// A page of a catalog; with `Prefer: wait` after the next change, if the client knows this one.
async fn catalog(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let question = match question(&uri) {
        Ok(question) => question,
        Err(message) => return refuse(StatusCode::BAD_REQUEST, "invalid_query", message),
    };
    let switches = &shared.switches;
    if let Some(most) = switches.number(FaultKind::TooLarge, 10)
        && question.limit.unwrap_or(usize::MAX) as u64 > most
    {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "ask for fewer items");
    }
    if switches.on(FaultKind::PageExpired) && question.page.is_some() {
        return refusal(Refusal::PageExpired);
    }
    if switches.on(FaultKind::TooOld) && question.since.is_some() {
        return refusal(Refusal::SinceTooOld);
    }
    let etag = |store: &Store, subscription: &Subscription| {
        format!("\"{}\"", document::cursor(&store.history, subscription.seq))
    };
    if let Some(answer) = unchanged(&shared, &name, &headers, etag).await {
        return answer;
    }
    let made = {
        let store = shared.store.read();
        let Some(subscription) = store.subscriptions.get(&name) else { return unknown_subscription() };
        let page = document::catalog(&store, &name, subscription, &question, switches);
        page.map(|page| (page, etag(&store, subscription)))
    };
    let (mut page, etag) = match made {
        Ok(made) => made,
        Err(why) => return refusal(why),
    };
    let here = question.page.unwrap_or_else(|| document::first_place(&page));
    alter(&mut page, "catalog", &here, switches);
    finish(&shared, page, "catalog", etag, &headers)
}

async fn entitlements(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    let etag = |store: &Store, subscription: &Subscription| {
        format!("\"e{}\"", document::cursor(&store.history, subscription.ent_seq))
    };
    if let Some(answer) = unchanged(&shared, &name, &headers, etag).await {
        return answer;
    }
    let made = {
        let store = shared.store.read();
        let subscription = store.subscriptions.get(&name);
        subscription.map(|known| (known.entitlements(&name, &store.history), etag(&store, known)))
    };
    let Some((mut document, etag)) = made else { return unknown_subscription() };
    alter(&mut document, "entitlements", "", &shared.switches);
    finish(&shared, document, "entitlements", etag, &headers)
}

/// Signs and sends a document.
fn finish(
    shared: &Shared,
    mut document: serde_json::Map<String, Value>,
    part: &str,
    etag: String,
    headers: &HeaderMap,
) -> Response<Body> {
    let switches = &shared.switches;
    if let Some(signer) = &shared.signer
        && !switches.on(FaultKind::FullOnly)
    {
        signer.sign(&mut document, part, switches);
    }
    let mut answer = Answer::json(StatusCode::OK, &document);
    if !switches.on(FaultKind::NoEtag) {
        answer = answer.with(header::ETAG, etag);
    }
    answer.deliver(part, headers, switches)
}

/// 304 if the client knows the state, after the wait that it asked for.
async fn unchanged(
    shared: &Shared,
    name: &str,
    headers: &HeaderMap,
    etag: impl Fn(&Store, &Subscription) -> String,
) -> Option<Response<Body>> {
    let known = headers.get(header::IF_NONE_MATCH)?.to_str().ok()?;
    let wait = headers.get("prefer").and_then(|value| value.to_str().ok()).and_then(wait_of);
    let until = Instant::now() + Duration::from_secs(wait.unwrap_or(0).min(PLATFORM_WAIT_S_MAX));
    let mut moved = shared.moved.subscribe();
    loop {
        moved.borrow_and_update();
        let current = {
            let store = shared.store.read();
            etag(&store, store.subscriptions.get(name)?)
        };
        let same = known.split(',').any(|one| one.trim().trim_start_matches("W/") == current);
        if !same || hides(&shared.switches) {
            return None;
        }
        let changed = tokio::time::timeout_at(until.into(), moved.changed()).await;
        if !matches!(changed, Ok(Ok(()))) {
            let mut answer = Answer::empty(StatusCode::NOT_MODIFIED).with(header::ETAG, current);
            if let Some(wait) = wait {
                let name = header::HeaderName::from_static("preference-applied");
                answer = answer.with(name, format!("wait={wait}"));
            }
            return Some(answer.whole(headers));
        }
    }
}

/// The seconds of `Prefer: wait=SECONDS`.
fn wait_of(prefer: &str) -> Option<u64> {
    prefer.split([',', ';']).find_map(|one| one.trim().strip_prefix("wait=")?.parse().ok())
}

/// A skill or a file beside one, by its digest.
async fn blob(
    State(shared): State<Arc<Shared>>,
    Path(digest): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    let (skill, file) = {
        let store = shared.store.read();
        (document::blob(&store, &digest), store.files.get(&digest).cloned())
    };
    let bytes = match (skill, file) {
        (Some(bytes), _) => Some(bytes),
        (None, Some(path)) => tokio::fs::read(path).await.ok(),
        (None, None) => None,
    };
    let Some(mut body) = bytes else {
        return refuse(StatusCode::NOT_FOUND, "unknown_blob", "no item of any catalog has this digest");
    };
    if shared.switches.on(FaultKind::WrongBlob)
        && let Some(byte) = body.last_mut()
    {
        *byte ^= 1;
    }
    let answer = Answer { content_type: "application/octet-stream", body, ..Answer::empty(StatusCode::OK) };
    answer.deliver("blobs", &headers, &shared.switches)
}

async fn status(State(shared): State<Arc<Shared>>, Path(name): Path<String>, body: Bytes) -> Response<Body> {
    match serde_json::from_slice::<Value>(&body) {
        Ok(report) => {
            shared.record.report(name.clone(), json!({"subscription": name, "report": report}));
            Answer::empty(StatusCode::NO_CONTENT).whole(&HeaderMap::new())
        }
        Err(_) => refuse(StatusCode::BAD_REQUEST, "invalid_report", "a report is a JSON object"),
    }
}

/// Puts exactly the switches of the body on, one a line.
async fn set_faults(State(shared): State<Arc<Shared>>, body: String) -> Response<Body> {
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    match lines.map(str::parse).collect::<Result<Vec<Fault>, _>>() {
        Ok(faults) => {
            blocking(move || {
                shared.set_faults(faults);
                Ok(())
            })
            .await
        }
        Err(unknown) => refuse(StatusCode::BAD_REQUEST, "unknown_fault", &unknown.to_string()),
    }
}

async fn reload(State(shared): State<Arc<Shared>>) -> Response<Body> {
    blocking(move || shared.reload()).await
}

/// Reads the folder on a thread that may wait for the disk.
async fn blocking(work: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> Response<Body> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(())) => Answer::empty(StatusCode::NO_CONTENT).whole(&HeaderMap::new()),
        Ok(Err(cause)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "unreadable", &cause.to_string()),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "failed", "the folder could not be read"),
    }
}

async fn requests(State(shared): State<Arc<Shared>>) -> Response<Body> {
    Answer::json(StatusCode::OK, &json!({"requests": shared.record.requests()})).whole(&HeaderMap::new())
}

async fn reports(State(shared): State<Arc<Shared>>) -> Response<Body> {
    Answer::json(StatusCode::OK, &json!({"reports": shared.record.reports()})).whole(&HeaderMap::new())
}

fn unknown_subscription() -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, "unknown_subscription", "there is no folder of that name")
}

fn refusal(why: Refusal) -> Response<Body> {
    match why {
        Refusal::UnknownPage => refuse(StatusCode::BAD_REQUEST, "unknown_page", "this page is none of ours"),
        Refusal::PageExpired => {
            refuse(StatusCode::CONFLICT, "page_expired", "the catalog changed; begin again")
        }
        Refusal::SinceTooOld => {
            refuse(StatusCode::GONE, "since_too_old", "ask for the full catalog: leave `since` out")
        }
    }
}
