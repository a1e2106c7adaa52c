//! What clients did: requests and reports, for tests and for people who look why something does not work.

use std::collections::{BTreeMap, VecDeque};

use axum::http::{HeaderMap, Method, Uri, header};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::limits::PLATFORM_REQUESTS_KEPT_MAX;

/// The last requests and reports.
#[derive(Debug, Default)]
pub(crate) struct Record {
    requests: Mutex<VecDeque<Value>>,
    reports: Mutex<BTreeMap<String, Value>>,
}

impl Record {
    /// Remembers a request. Of the token only whether it is right.
    pub(crate) fn request(&self, method: &Method, uri: &Uri, headers: &HeaderMap, authorized: bool) {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let request = json!({
            "method": method.as_str(),
            "path": uri.path(),
            "query": uri.query().unwrap_or_default(),
            "authorized": authorized,
            "if_none_match": text(header::IF_NONE_MATCH),
            "prefer": text(header::HeaderName::from_static("prefer")),
            "accept_encoding": text(header::ACCEPT_ENCODING),
            "user_agent": text(header::USER_AGENT),
        });
        let mut requests = self.requests.lock();
        if requests.len() == PLATFORM_REQUESTS_KEPT_MAX {
            requests.pop_front();
        }
        requests.push_back(request);
    }

    pub(crate) fn report(&self, subscription: String, report: Value) {
        self.reports.lock().insert(subscription, report);
    }

    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().iter().cloned().collect()
    }

    pub(crate) fn reports(&self) -> Vec<Value> {
        self.reports.lock().values().cloned().collect()
    }
}
