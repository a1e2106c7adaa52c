//! A platform in memory: truth, paging, deltas, and a network between that does what the seed says.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::model::{ContentRoot, Digest};
use crate::sync::clock::Dice;
use crate::sync::{
    CatalogPage, CatalogRequest, DocumentKind, EntitlementsDocument, Failure, Fetched, Platform,
    StatusReport, sign,
};

/// What the network does to one request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Weather {
    Fails(Failure),
    /// The document as it arrives.
    Garbled(Value),
    /// The answer of an earlier moment, once more.
    Replayed,
}

/// The truth about one subscription.
#[derive(Clone, Debug, Default)]
pub(super) struct Truth {
    pub(super) items: BTreeMap<String, (u64, Value)>,
    pub(super) gone: BTreeMap<String, u64>,
    pub(super) seq: u64,
    pub(super) ent_seq: u64,
    pub(super) status: String,
    pub(super) grants: Option<BTreeSet<String>>,
    pub(super) revoked: BTreeMap<String, u64>,
    pub(super) extra: Value,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) truths: BTreeMap<String, Truth>,
    pub(super) history: (u64, String),
    pub(super) page_items: usize,
    /// Order and repetition of items in an answer.
    pub(super) shuffle: Option<u64>,
    /// Never deltas, no counters, no root.
    pub(super) full_only: bool,
    /// Deltas are never given.
    pub(super) forgets: bool,
    pub(super) weather: VecDeque<Weather>,
    pub(super) requests: u64,
    pub(super) asked_since: Vec<Option<String>>,
    pub(super) asked_etag: Vec<Option<String>>,
    pub(super) key: Option<(String, [u8; 32])>,
    pub(super) replays: Vec<(CatalogRequest, Value, Option<String>)>,
    pub(super) entitlement_replays: BTreeMap<String, Value>,
}

/// The platform.
#[derive(Debug)]
pub(super) struct Simulated(pub(super) Mutex<Inner>);

/// A skill as a platform sends it.
pub(super) fn skill(id: &str, text: &str) -> Value {
    json!({"id": id, "kind": "knowledge", "name": format!("The {id}"), "description": text,
        "content": format!("# {id}\n\n{text}\n")})
}

impl Simulated {
    pub(super) fn new(subscriptions: &[String]) -> Self {
        let truth = Truth { ent_seq: 1, status: "active".to_owned(), extra: json!({}), ..Truth::default() };
        let truths = subscriptions.iter().map(|name| (name.clone(), truth.clone())).collect();
        let inner = Inner { truths, history: (1, "a".to_owned()), page_items: 3, ..Inner::default() };
        Self(Mutex::new(inner))
    }

    /// Puts a skill in.
    pub(super) fn put(&self, subscription: &str, value: Value) {
        let mut inner = self.0.lock();
        let truth = inner.truths.get_mut(subscription).unwrap();
        truth.seq += 1;
        let id = value["id"].as_str().unwrap().to_owned();
        truth.gone.remove(&id);
        truth.items.insert(id, (truth.seq, value));
    }

    /// Takes a skill out.
    pub(super) fn take(&self, subscription: &str, id: &str) {
        let mut inner = self.0.lock();
        let truth = inner.truths.get_mut(subscription).unwrap();
        if truth.items.remove(id).is_some() {
            truth.seq += 1;
            truth.gone.insert(id.to_owned(), truth.seq);
        }
    }

    /// Changes the entitlements.
    pub(super) fn entitle(&self, subscription: &str, change: impl FnOnce(&mut Truth)) -> u64 {
        let mut inner = self.0.lock();
        let truth = inner.truths.get_mut(subscription).unwrap();
        truth.ent_seq += 1;
        change(truth);
        truth.ent_seq
    }

    pub(super) fn weather(&self, weather: Weather) {
        self.0.lock().weather.push_back(weather);
    }

    pub(super) fn truth(&self, subscription: &str) -> Truth {
        self.0.lock().truths[subscription].clone()
    }
}

impl Inner {
    fn history(&self) -> String {
        format!("{}:{}", self.history.0, self.history.1)
    }

    fn signed(&self, kind: DocumentKind, mut document: Value) -> Value {
        if let Some((id, secret)) = &self.key {
            document["signature"] = sign(kind, &document, id, secret).unwrap().to_json();
        }
        document
    }

    fn etag(&self, truth: &Truth) -> String {
        format!("\"{}-{}\"", self.history(), truth.seq)
    }

    fn page(&self, request: &CatalogRequest) -> Result<(Value, Option<String>), Failure> {
        let truth = self.truths.get(&request.subscription).ok_or(Failure::NotFound)?;
        let cursor = |seq: u64| format!("{}/{seq}", self.history());
        let since = request
            .since
            .as_ref()
            .and_then(|since| since.strip_prefix(&format!("{}/", self.history()))?.parse::<u64>().ok());
        let is_delta = since.is_some() && !self.full_only && !self.forgets;
        if self.forgets && request.since.is_some() && !self.full_only {
            return Err(Failure::SinceTooOld);
        }
        let after = if is_delta { since.unwrap_or(0) } else { 0 };
        let mut said: Vec<(Option<Value>, Option<Value>)> = Vec::new();
        let mut root = ContentRoot::default();
        for (id, (seq, value)) in &truth.items {
            let digest = Digest::of_json(value).unwrap();
            root.add(id, *seq, Some(&digest));
            if *seq > after {
                let item = if self.full_only {
                    json!({"skill": value})
                } else {
                    json!({"seq": seq, "digest": digest.to_string(), "skill": value})
                };
                said.push((Some(item), None));
            }
        }
        if is_delta {
            let gone = truth.gone.iter().filter(|(_, seq)| **seq > after);
            said.extend(gone.map(|(id, seq)| (None, Some(json!({"id": id, "seq": seq})))));
        }
        if let Some(seed) = self.shuffle {
            let mut dice = Dice::new(seed ^ truth.seq);
            if let Some(again) = said.get(usize::try_from(dice.between(0, 9)).unwrap()).cloned() {
                said.push(again);
            }
            for at in (1..said.len()).rev() {
                said.swap(at, usize::try_from(dice.between(0, at as u64)).unwrap());
            }
        }
        let start: usize = request.page.as_deref().map_or(0, |page| page.parse().unwrap());
        let size = self.page_items.min(request.limit.unwrap_or(1_000) as usize).max(1);
        let end = (start + size).min(said.len());
        let part = &said[start.min(end)..end];
        let items: Vec<&Value> = part.iter().filter_map(|(item, _)| item.as_ref()).collect();
        let removed: Vec<&Value> = part.iter().filter_map(|(_, gone)| gone.as_ref()).collect();
        let next = (end < said.len()).then(|| end.to_string());
        let document = if self.full_only {
            json!({"spp": 1, "kind": "full", "items": items, "next_page": next})
        } else {
            json!({"spp": 1, "subscription": request.subscription, "history": self.history(),
                "kind": if is_delta { "delta" } else { "full" }, "base": is_delta.then(|| cursor(after)),
                "cursor": cursor(truth.seq), "seq": truth.seq, "items": items, "removed": removed, "next_page": next,
                "count_total": truth.items.len(), "content_root": root.finish().to_string()})
        };
        Ok((self.signed(DocumentKind::Catalog, document), Some(self.etag(truth))))
    }

    fn rights(&self, subscription: &str) -> Value {
        let truth = &self.truths[subscription];
        let grants = match &truth.grants {
            Some(ids) => json!({"mode": "list", "ids": ids}),
            None => json!({"mode": "all"}),
        };
        let revoked: Vec<Value> =
            truth.revoked.iter().map(|(id, ent_seq)| json!({"id": id, "ent_seq": ent_seq})).collect();
        let mut document = json!({"spp": 1, "history": self.history(), "ent_seq": truth.ent_seq,
            "status": truth.status, "grants": grants, "revoked": revoked});
        document.as_object_mut().unwrap().extend(truth.extra.as_object().unwrap().clone());
        self.signed(DocumentKind::Entitlements, document)
    }
}

#[async_trait]
impl Platform for Simulated {
    async fn fetch_entitled_skills(&self, request: &CatalogRequest) -> Result<Fetched<CatalogPage>, Failure> {
        let mut inner = self.0.lock();
        inner.requests += 1;
        if request.page.is_none() {
            inner.asked_since.push(request.since.clone());
            inner.asked_etag.push(request.etag.clone());
        }
        let weather = inner.weather.pop_front();
        let (document, etag) = match weather {
            Some(Weather::Fails(failure)) => return Err(failure),
            Some(Weather::Garbled(document)) => (document, Some("\"garbled\"".to_owned())),
            Some(Weather::Replayed) => {
                let old =
                    inner.replays.iter().find(|(asked, _, _)| asked.subscription == request.subscription);
                let Some((_, document, etag)) = old.cloned() else {
                    return Err(Failure::Server { status: 500 });
                };
                (document, etag)
            }
            None => {
                let truth = inner.truths.get(&request.subscription).ok_or(Failure::NotFound)?;
                if request.etag.as_ref() == Some(&inner.etag(truth)) {
                    return Ok(Fetched::NotModified);
                }
                let (document, etag) = inner.page(request)?;
                inner.replays.push((request.clone(), document.clone(), etag.clone()));
                (document, etag)
            }
        };
        let document =
            CatalogPage::from_json(&document).map_err(|problems| Failure::Malformed { problems })?;
        Ok(Fetched::Document { document, etag })
    }

    async fn fetch_entitlements(&self, subscription: &str) -> Result<EntitlementsDocument, Failure> {
        let mut inner = self.0.lock();
        inner.requests += 1;
        let document = match inner.weather.pop_front() {
            Some(Weather::Fails(failure)) => return Err(failure),
            Some(Weather::Garbled(document)) => document,
            Some(Weather::Replayed) if inner.entitlement_replays.contains_key(subscription) => {
                inner.entitlement_replays[subscription].clone()
            }
            _ => {
                let document = inner.rights(subscription);
                let first = inner.entitlement_replays.entry(subscription.to_owned());
                first.or_insert_with(|| document.clone());
                document
            }
        };
        EntitlementsDocument::from_json(&document).map_err(|problems| Failure::Malformed { problems })
    }

    async fn fetch_blob(&self, _digest: &Digest, _size_max: u64) -> Result<Vec<u8>, Failure> {
        Err(Failure::NotFound)
    }

    async fn report(&self, _subscription: &str, _report: &StatusReport) -> Result<(), Failure> {
        Err(Failure::NotFound)
    }
}
