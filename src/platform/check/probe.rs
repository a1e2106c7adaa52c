//! Asks the platform, and keeps what it answered for the rules that look at it again.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName};
use reqwest::{Client, Method, Url};
use serde_json::Value;

use crate::limits::{PLATFORM_PAGE_ITEMS_MAX, SYNC_PAGE_BYTES_MAX};
use crate::platform::check::rule::Verdict;
use crate::platform::check::{CheckError, CheckOptions, Rule};
use crate::sync::Secret;
use crate::sync::http::{self, BodyError, TlsFiles};

/// What is known about the platform so far.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) options: CheckOptions,
    client: Client,
    base: Url,
    pub(super) keys: Vec<(String, VerifyingKey)>,
    /// The first answer to the first question.
    pub(super) first: Option<Reply>,
    /// How many items a page is asked for.
    pub(super) limit: usize,
    /// Pages of the whole catalog.
    pub(super) pages: Vec<Value>,
    /// What the catalog holds, if its pages can be read.
    pub(super) items: Option<Vec<Item>>,
    pub(super) entitlements: Option<Value>,
}

/// One answer.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// One item of the catalog.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) seq: Option<u64>,
    /// As it is written, without `sha256:`.
    pub(super) digest: Option<String>,
    pub(super) skill: Option<Value>,
    /// Of a blob.
    pub(super) size: Option<u64>,
}

/// One question.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    url: Url,
    method: Method,
    headers: Vec<(HeaderName, String)>,
    token: Option<Secret>,
    wait: Duration,
    body: Option<String>,
}

impl Ask {
    /// With one header more.
    pub(super) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With another part of the query.
    pub(super) fn query(mut self, key: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(key, value);
        self
    }

    /// With another token, or none.
    pub(super) fn token(mut self, token: Option<Secret>) -> Self {
        self.token = token;
        self
    }

    /// Takes only this encoding.
    pub(super) fn encoding(self, encoding: &str) -> Self {
        self.header(ACCEPT_ENCODING, encoding)
    }

    /// May take that much longer.
    pub(super) fn wait(mut self, seconds: u64) -> Self {
        self.wait = Duration::from_secs(seconds);
        self.header(HeaderName::from_static("prefer"), format!("wait={seconds}"))
    }

    /// Posts a JSON text.
    pub(super) fn post(mut self, body: &Value) -> Self {
        self.method = Method::POST;
        self.body = Some(body.to_string());
        self.header(CONTENT_TYPE, "application/json")
    }
}

impl Reply {
    /// A header as text.
    pub(super) fn header(&self, name: impl reqwest::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as a JSON object.
    pub(super) fn document(&self) -> Result<Value, String> {
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(value) if value.is_object() => Ok(value),
            Ok(_) => Err("the body is JSON, but no object".to_owned()),
            Err(cause) => Err(format!("the body is no JSON: {cause}")),
        }
    }
}

impl Probe {
    pub(super) fn new(options: &CheckOptions) -> Result<Self, CheckError> {
        let base = Url::parse(&options.url).map_err(|_| CheckError::Url)?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(CheckError::Url);
        }
        let keys = options.public_keys.iter().map(|text| public_key(text).ok_or(CheckError::PublicKey));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let mut files = TlsFiles::default();
        files.ca.clone_from(&options.ca_file);
        let client = http::builder(base.scheme() == "https", &files)?
            .redirect(http::redirect_policy())
            .user_agent(concat!("repertoire-check/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(crate::sync::http::TlsError::Client)?;
        Ok(Self {
            options: options.clone(),
            client,
            base,
            keys,
            first: None,
            limit: PLATFORM_PAGE_ITEMS_MAX,
            pages: Vec::new(),
            items: None,
            entitlements: None,
        })
    }

    /// What there is to say about a rule.
    pub(super) async fn judge(&mut self, rule: Rule) -> Verdict {
        let needs_items = matches!(
            rule,
            Rule::Digests
                | Rule::Skills
                | Rule::Tools
                | Rule::NotEmpty
                | Rule::Count
                | Rule::Root
                | Rule::Seq
                | Rule::History
                | Rule::Paging
                | Rule::Blobs
        );
        if rule != Rule::Answers && self.first.is_none() {
            return Verdict::skip("the catalog does not answer");
        }
        if needs_items && self.items.is_none() {
            return Verdict::skip("the items cannot be read");
        }
        match rule {
            Rule::Answers => self.answers().await,
            Rule::ContentType => self.content_type(),
            Rule::Document => self.document().await,
            Rule::Token => self.token().await,
            Rule::Items => self.items(),
            Rule::Digests => self.digests(),
            Rule::Skills => self.skills(),
            Rule::Tools => self.tools(),
            Rule::NotEmpty => self.not_empty(),
            Rule::Count => self.count(),
            Rule::Root => self.root(),
            Rule::Seq => self.seq(),
            Rule::History => self.history().await,
            Rule::Paging => self.paging().await,
            Rule::UnknownPage => self.unknown_page().await,
            Rule::Etag => self.etag().await,
            Rule::Delta => self.delta().await,
            Rule::UnknownCursor => self.unknown_cursor().await,
            Rule::LongPoll => self.long_poll().await,
            Rule::Encodings => self.encodings().await,
            Rule::Blobs => self.blobs().await,
            Rule::UnknownSubscription => self.unknown_subscription().await,
            Rule::Entitlements => self.read_entitlements().await,
            Rule::Agreement => self.agreement(),
            Rule::Signature => self.signature(),
            Rule::Report => self.report().await,
        }
    }

    /// A question about the subscription.
    pub(super) fn ask(&self, part: &str) -> Ask {
        self.ask_of(&self.options.subscription, part)
    }

    /// A question about another one.
    pub(super) fn ask_of(&self, subscription: &str, part: &str) -> Ask {
        self.at(&["subscriptions", subscription, part])
    }

    /// A page of the catalog, or its beginning.
    pub(super) fn page(&self, limit: usize, page: Option<&str>) -> Ask {
        let ask = self.ask("catalog").query("limit", &limit.to_string());
        page.map_or(ask.clone(), |page| ask.query("page", page))
    }

    /// A question below `/spp/v1`.
    pub(super) fn at(&self, path: &[&str]) -> Ask {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["spp", "v1"]).extend(path);
        }
        Ask {
            url,
            method: Method::GET,
            headers: Vec::new(),
            token: self.options.token.clone(),
            wait: Duration::ZERO,
            body: None,
        }
    }

    /// The answer, or why there is none.
    pub(super) async fn send(&self, ask: Ask) -> Result<Reply, String> {
        let timeout = self.options.timeout + ask.wait;
        let mut request = self.client.request(ask.method, ask.url).timeout(timeout);
        if let Some(token) = &ask.token {
            let mut value = reqwest::header::HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                .map_err(|_| "the token holds characters that no header takes".to_owned())?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        for (name, value) in ask.headers {
            request = request.header(name, value);
        }
        if let Some(body) = ask.body {
            request = request.body(body);
        }
        let answer = request.send().await.map_err(|error| self.told(&error))?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = http::read_body(answer, SYNC_PAGE_BYTES_MAX).await.map_err(|error| match error {
            BodyError::TooLarge { .. } => error.to_string(),
            BodyError::Broken(cause) => self.told(&cause),
        })?;
        Ok(Reply { status, headers, body })
    }

    /// Why a request failed, without its address.
    fn told(&self, error: &reqwest::Error) -> String {
        let timeout_ms = u64::try_from(self.options.timeout.as_millis()).unwrap_or(u64::MAX);
        http::failure(error, timeout_ms).to_string()
    }
}

/// A key as `KEY_ID:BASE64`.
fn public_key(text: &str) -> Option<(String, VerifyingKey)> {
    let (id, key) = text.split_once(':')?;
    let key: [u8; 32] = STANDARD.decode(key.trim()).ok()?.try_into().ok()?;
    Some((id.to_owned(), VerifyingKey::from_bytes(&key).ok()?))
}
