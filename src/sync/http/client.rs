//! The client: one question, one answer, nothing remembered but the token.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH, RETRY_AFTER};
use reqwest::{Client, Method, Request, Response, Url};
use serde_json::Value;

use crate::error::shorten;
use crate::limits::{SYNC_CONNECT_MS_MAX, SYNC_PAGE_BYTES_MAX, SYNC_REQUEST_MS_MAX, SYNC_TOKEN_BYTES_MAX};
use crate::sync::http::body::{self, BodyError};
use crate::sync::http::credential::{Credential, TokenSource};
use crate::sync::http::{cause, redirect, tls};
use crate::sync::{
    CatalogPage, CatalogRequest, Digest, EntitlementsDocument, Failure, Fetched, Platform, StatusReport,
};

use super::tls::{TlsError, TlsFiles};

/// How to reach a platform.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Its token.
    pub token: TokenSource,
    /// Whom to trust, and who we are.
    pub tls: TlsFiles,
    /// Longest time of one request, its body included.
    pub timeout: Duration,
    /// Longest time until there is a connection.
    pub connect_timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            token: TokenSource::None,
            tls: TlsFiles::default(),
            timeout: Duration::from_millis(SYNC_REQUEST_MS_MAX),
            connect_timeout: Duration::from_millis(SYNC_CONNECT_MS_MAX),
        }
    }
}

impl HttpOptions {
    /// Shows this token.
    #[must_use]
    pub fn token(mut self, token: TokenSource) -> Self {
        self.token = token;
        self
    }

    /// With these certificates.
    #[must_use]
    pub fn tls(mut self, tls: TlsFiles) -> Self {
        self.tls = tls;
        self
    }

    /// Waits that long for one answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// Why there is no client. Nothing of a secret is told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The address is none.
    #[error("the platform's address is no http or https URL; write it as https://platform.example")]
    Url,
    /// The address carries a password.
    #[error("the platform's address holds a user or a password; put the credential into sync.token_file")]
    UrlWithPassword,
    /// The token's file cannot be read.
    #[error("cannot read the token in {}: {cause}; check the path and its permissions", path.display())]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The token is none.
    #[error(
        "the platform's token is empty or holds what no HTTP header takes; write the token alone, in one line"
    )]
    Token,
    /// TLS cannot be used as it is configured.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A platform that is reached over HTTP, by SPP/1.
///
/// It follows proxies that the environment names, packs answers with gzip and zstd, and never shows its credential to
/// another origin.
pub struct HttpPlatform {
    client: Client,
    base: Url,
    credential: Credential,
    timeout: Duration,
}

impl fmt::Debug for HttpPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpPlatform")
            .field("origin", &self.base.origin().ascii_serialization())
            .field("credential", &self.credential)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl HttpPlatform {
    /// A client of the platform at an address: scheme, host, port, perhaps a path before `/spp/v1`. Connects to nothing
    /// yet; reads the token and the certificates.
    ///
    /// # Errors
    /// The address, the token or a certificate cannot be used.
    pub fn new(url: &str, options: &HttpOptions) -> Result<Self, HttpError> {
        let base = Url::parse(url).map_err(|_| HttpError::Url)?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(HttpError::Url);
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(HttpError::UrlWithPassword);
        }
        let client = tls::builder(base.scheme() == "https", &options.tls)?
            .redirect(redirect::policy())
            .referer(false)
            .connect_timeout(options.connect_timeout)
            .user_agent(concat!("repertoire/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(TlsError::Client)?;
        let credential = Credential::new(options.token.clone())?;
        Ok(Self { client, base, credential, timeout: options.timeout })
    }

    /// An address below `/spp/v1`.
    fn at(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["spp", "v1"]).extend(path);
        }
        url.set_query(None);
        url.set_fragment(None);
        url
    }

    fn get(&self, url: Url, wait_s: u32) -> Request {
        let mut request = Request::new(Method::GET, url);
        *request.timeout_mut() = Some(self.timeout + Duration::from_secs(wait_s.into()));
        request
    }

    /// Sends a request, once more with the renewed credential after a 401. Answers whatever is no failure of the
    /// protocol: 200, 2xx and 304.
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let again = request.try_clone();
        let mut answer = self.once(request).await?;
        if answer.status().as_u16() == 401
            && let Some(again) = again
            && self.credential.renew()
        {
            answer = self.once(again).await?;
        }
        let status = answer.status().as_u16();
        match status {
            200..=299 | 304 => Ok(answer),
            401 => Err(Failure::Unauthorized),
            403 => Err(Failure::Forbidden),
            404 => Err(Failure::NotFound),
            409 => Err(Failure::PageExpired),
            410 => Err(Failure::SinceTooOld),
            413 => Err(Failure::PageTooLarge),
            429 | 503 => {
                Err(Failure::Busy { status, retry_after_s: retry_after(answer.headers(), SystemTime::now()) })
            }
            500..=599 => Err(Failure::Server { status }),
            _ => Err(Failure::Unexpected { status }),
        }
    }

    async fn once(&self, mut request: Request) -> Result<Response, Failure> {
        if let Some(header) = self.credential.header() {
            request.headers_mut().insert(AUTHORIZATION, header);
        }
        let timeout_ms = milliseconds(request.timeout().copied().unwrap_or_default());
        self.client.execute(request).await.map_err(|error| cause::failure(&error, timeout_ms))
    }

    async fn body(&self, answer: Response, limit: u64) -> Result<Vec<u8>, Failure> {
        body::read(answer, limit).await.map_err(|error| match error {
            BodyError::TooLarge { limit } => Failure::OverLimit { limit },
            BodyError::Broken(error) => cause::failure(&error, milliseconds(self.timeout)),
        })
    }

    /// A document, whatever it says.
    async fn document(&self, answer: Response) -> Result<Value, Failure> {
        if answer.status().as_u16() != 200 {
            return Err(Failure::Unexpected { status: answer.status().as_u16() });
        }
        let content_type = essence(answer.headers());
        if content_type != "application/json" && !content_type.ends_with("+json") {
            return Err(Failure::WrongContentType { content_type: shorten(&content_type).into_owned() });
        }
        let body = self.body(answer, SYNC_PAGE_BYTES_MAX).await?;
        serde_json::from_slice(&body).map_err(|error| {
            // What stands there is not told: it may be anything.
            let message = format!("the body is no JSON at line {}, column {}", error.line(), error.column());
            Failure::Malformed { problems: vec![crate::Problem::new("json_invalid", "", message)] }
        })
    }
}

#[async_trait]
impl Platform for HttpPlatform {
    async fn fetch_entitled_skills(&self, request: &CatalogRequest) -> Result<Fetched<CatalogPage>, Failure> {
        let mut url = self.at(&["subscriptions", &request.subscription, "catalog"]);
        let limit = request.limit.map(|limit| limit.to_string());
        for (key, value) in [("since", &request.since), ("limit", &limit), ("page", &request.page)] {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(key, value);
            }
        }
        let wait_s = request.wait_s.unwrap_or(0);
        let mut asked = self.get(url, wait_s);
        let headers = asked.headers_mut();
        headers.insert(ACCEPT, JSON);
        // An ETag that no header takes was never one.
        let etag = request.etag.as_deref().and_then(|etag| etag.parse().ok());
        let conditional = etag.is_some();
        if let Some(etag) = etag {
            headers.insert(IF_NONE_MATCH, etag);
        }
        if wait_s > 0
            && let Ok(prefer) = format!("wait={wait_s}").parse()
        {
            headers.insert("prefer", prefer);
        }
        let answer = self.send(asked).await?;
        if answer.status().as_u16() == 304 && conditional {
            return Ok(Fetched::NotModified);
        }
        let etag = answer.headers().get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        let etag = etag.filter(|etag| etag.len() <= SYNC_TOKEN_BYTES_MAX);
        let document = self.document(answer).await?;
        let document =
            CatalogPage::from_json(&document).map_err(|problems| Failure::Malformed { problems })?;
        Ok(Fetched::Document { document, etag })
    }

    async fn fetch_entitlements(&self, subscription: &str) -> Result<EntitlementsDocument, Failure> {
        let mut asked = self.get(self.at(&["subscriptions", subscription, "entitlements"]), 0);
        asked.headers_mut().insert(ACCEPT, JSON);
        let document = self.document(self.send(asked).await?).await?;
        EntitlementsDocument::from_json(&document).map_err(|problems| Failure::Malformed { problems })
    }

    async fn fetch_blob(&self, digest: &Digest, size_max: u64) -> Result<Vec<u8>, Failure> {
        let answer = self.send(self.get(self.at(&["blobs", "sha256", &digest.hex()]), 0)).await?;
        if answer.status().as_u16() != 200 {
            return Err(Failure::Unexpected { status: answer.status().as_u16() });
        }
        let content_type = essence(answer.headers());
        if content_type == "text/html" {
            return Err(Failure::WrongContentType { content_type });
        }
        self.body(answer, size_max).await
    }

    async fn report(&self, subscription: &str, report: &StatusReport) -> Result<(), Failure> {
        let url = self.at(&["subscriptions", subscription, "status"]);
        let mut asked = self.get(url, 0);
        *asked.method_mut() = Method::POST;
        asked.headers_mut().insert(CONTENT_TYPE, JSON);
        // A report is made of texts and numbers.
        *asked.body_mut() = Some(serde_json::to_vec(report).unwrap_or_default().into());
        match self.send(asked).await {
            Ok(_) => Ok(()),
            Err(Failure::Unexpected { status: 405 } | Failure::Server { status: 501 }) => {
                Err(Failure::NotFound)
            }
            Err(failure) => Err(failure),
        }
    }
}

const JSON: reqwest::header::HeaderValue = reqwest::header::HeaderValue::from_static("application/json");

/// The media type without its parameters, in lower case; empty if there is none.
fn essence(headers: &HeaderMap) -> String {
    let label = headers.get(CONTENT_TYPE).and_then(|label| label.to_str().ok()).unwrap_or_default();
    label.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// `Retry-After` in seconds from now, in either of its forms.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    text.parse().ok().or_else(|| {
        let then = httpdate::parse_http_date(text).ok()?;
        Some(
            then.duration_since(now)
                .unwrap_or_default()
                .as_millis()
                .div_ceil(1_000)
                .try_into()
                .unwrap_or(u64::MAX),
        )
    })
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_extended_and_its_parts_are_escaped() {
        let at = |url: &str, subscription: &str| {
            let platform = HttpPlatform::new(url, &HttpOptions::default()).unwrap();
            platform.at(&["subscriptions", subscription, "catalog"]).to_string()
        };
        assert_eq!(at("http://h:1", "sub_7"), "http://h:1/spp/v1/subscriptions/sub_7/catalog");
        assert_eq!(
            at("http://h/base/?x=1#y", "a/b c"),
            "http://h/base/spp/v1/subscriptions/a%2Fb%20c/catalog"
        );
    }

    #[test]
    fn what_is_no_address_is_refused_and_a_password_in_it_too() {
        for url in ["", "platform.example", "ftp://h", "mailto:x@y"] {
            assert!(matches!(HttpPlatform::new(url, &HttpOptions::default()), Err(HttpError::Url)), "{url}");
        }
        let error = HttpPlatform::new("http://u:canary@h", &HttpOptions::default()).unwrap_err();
        assert!(matches!(error, HttpError::UrlWithPassword));
        assert!(!format!("{error} {error:?}").contains("canary"));
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_500);
        let after = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(after("120"), Some(120));
        assert_eq!(after("Tue, 14 Nov 2023 22:13:30 GMT"), Some(10));
        assert_eq!(after("Tue, 14 Nov 2023 22:00:00 GMT"), Some(0));
        for text in ["", "-1", "soon", "1.5"] {
            assert_eq!(after(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_of_a_secret_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "canary\n").unwrap();
        for token in [TokenSource::Fixed(crate::sync::Secret::new("canary")), TokenSource::File(file.clone())]
        {
            let options = HttpOptions::default().token(token);
            let platform = HttpPlatform::new("http://127.0.0.1:1/canary?canary", &options).unwrap();
            let shown = format!("{options:?}{platform:?}");
            assert!(!shown.contains("canary"), "{shown}");
        }
        std::fs::write(&file, "canary\nline").unwrap();
        let options = HttpOptions::default().token(TokenSource::File(file));
        let error = HttpPlatform::new("http://127.0.0.1:1", &options).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}
