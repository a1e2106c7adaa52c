//! The port to a Subscription Platform: what the engine asks, and every way in which an answer can fail.
//!
//! The platform's real interface is not final; an implementation translates it into these documents. What to do about a
//! failure is the engine's business alone, so that an implementation never retries, waits or falls back by itself,
//! with one exception: after a 401 it reads its credential again and tries once more.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::Problem;
use crate::sync::{CatalogPage, Digest, EntitlementsDocument, StatusReport};

/// A Subscription Platform.
#[async_trait]
pub trait Platform: Debug + Send + Sync {
    /// One page of the catalog of a subscription. An implementation aborts at
    /// [`SYNC_PAGE_BYTES_MAX`](crate::limits::SYNC_PAGE_BYTES_MAX) of the decoded body.
    async fn fetch_entitled_skills(&self, request: &CatalogRequest) -> Result<Fetched<CatalogPage>, Failure>;

    /// What the platform says of the rights of a subscription.
    async fn fetch_entitlements(&self, subscription: &str) -> Result<EntitlementsDocument, Failure>;

    /// The bytes of one large item, at most `size_max` of them. The caller checks digest and size.
    async fn fetch_blob(&self, digest: &Digest, size_max: u64) -> Result<Vec<u8>, Failure>;

    /// Tells the platform what stands here: best effort, one try. A platform without such a place answers
    /// [`Failure::NotFound`], which nobody minds.
    async fn report(&self, subscription: &str, report: &StatusReport) -> Result<(), Failure>;
}

/// What is asked of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CatalogRequest {
    /// The subscription.
    pub subscription: String,
    /// Cursor of what is activated: only what changed since is wanted. `None` for everything.
    pub since: Option<String>,
    /// Most items of a page.
    pub limit: Option<u32>,
    /// Token of the page, from the page before; `None` for the first.
    pub page: Option<String>,
    /// The `ETag` of what is activated, verbatim with its quotes; only with the first page.
    pub etag: Option<String>,
    /// The answer may wait so long for a change (`Prefer: wait`), in seconds.
    pub wait_s: Option<u32>,
}

impl CatalogRequest {
    /// The whole catalog of a subscription.
    #[must_use]
    pub fn of(subscription: impl Into<String>) -> Self {
        Self { subscription: subscription.into(), ..Self::default() }
    }
}

/// An answer that is no failure.
#[derive(Clone, Debug, PartialEq)]
pub enum Fetched<T> {
    /// 304: what the `ETag` names is still current.
    NotModified,
    /// 200.
    Document {
        /// The document.
        document: T,
        /// Its `ETag`, verbatim, if it has one.
        etag: Option<String>,
    },
}

/// Why there is no answer that could be used. Texts never hold a credential, a query or content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// 401, also after the credential was read again.
    #[error("the platform does not accept the credential (401); renew the token")]
    Unauthorized,
    /// 403.
    #[error("the platform refuses this subscription (403); ask its operator")]
    Forbidden,
    /// 404.
    #[error("the platform does not know this subscription (404); check sync.url and sync.subscriptions")]
    NotFound,
    /// 409 `page_expired`: the pages changed while they were fetched.
    #[error("the pages expired while they were fetched (409)")]
    PageExpired,
    /// 410 `since_too_old`: only the whole catalog can be had.
    #[error("the platform no longer knows the changes since our cursor (410)")]
    SinceTooOld,
    /// 413: a page of that limit is too large.
    #[error("a page of this limit is too large for the platform (413)")]
    PageTooLarge,
    /// 429 or 503.
    #[error("the platform is busy ({status})")]
    Busy {
        /// The status.
        status: u16,
        /// `Retry-After` in seconds from now, if it was there and could be read.
        retry_after_s: Option<u64>,
    },
    /// Another status of the 5xx.
    #[error("the platform failed ({status})")]
    Server {
        /// The status.
        status: u16,
    },
    /// A status that means nothing in this protocol; redirects are among them.
    #[error("the platform answered {status}, which means nothing here; check sync.url and any proxy between")]
    Unexpected {
        /// The status.
        status: u16,
    },
    /// No answer in time.
    #[error("no answer within {after_ms} ms")]
    Timeout {
        /// How long it was waited.
        after_ms: u64,
    },
    /// The host cannot be reached: name, route, connection.
    #[error("the platform cannot be reached: {detail}")]
    Unreachable {
        /// Why.
        detail: String,
    },
    /// The connection is not safe: certificate, TLS version.
    #[error("no safe connection to the platform: {detail}; check sync.ca_file and the clock of this machine")]
    Tls {
        /// Why.
        detail: String,
    },
    /// The body ended early, or cannot be decompressed.
    #[error("the answer was cut off: {detail}")]
    CutOff {
        /// Where.
        detail: String,
    },
    /// The body is beyond a limit, before or after decompression.
    #[error("the answer is beyond the limit of {limit} bytes")]
    OverLimit {
        /// The limit.
        limit: u64,
    },
    /// The body is of another kind: a proxy's page, say.
    #[error("the answer is {content_type:?}, not application/json; a proxy may stand between")]
    WrongContentType {
        /// What it says, shortened.
        content_type: String,
    },
    /// The body is JSON, but no document of this protocol.
    #[error("the answer is no document of this protocol: {}", said(problems))]
    Malformed {
        /// Everything that is wrong with it.
        problems: Vec<Problem>,
    },
}

fn said(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
