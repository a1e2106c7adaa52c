//! The documents of the protocol, read leniently: unknown members are ignored, optional ones may be missing or null.
//!
//! What is wrong with a document as a whole refuses it; what is wrong with one item leaves the others alone.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::catalog::RejectedItem;
use crate::error::Problem;
use crate::limits::{
    SUBSCRIPTION_BYTES_MAX, SYNC_GRANTS_MAX, SYNC_ITEM_ID_BYTES_MAX, SYNC_PAGE_ITEMS_MAX,
    SYNC_TOKEN_BYTES_MAX,
};
use crate::sync::{Digest, History, Signature, unsigned_digest};

/// One page of a catalog.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CatalogPage {
    /// The subscription that it is of, if it says so.
    pub subscription: Option<String>,
    /// The platform's timeline.
    pub history: History,
    /// Whole catalog or changes.
    pub kind: PageKind,
    /// Of changes: the cursor that they are on top of.
    pub base: Option<String>,
    /// Where the next changes begin.
    pub cursor: Option<String>,
    /// Counter of the content.
    pub seq: Option<u64>,
    /// Counter of the entitlements at that moment: a hint.
    pub ent_seq: Option<u64>,
    /// The items of this page.
    pub items: Vec<WireItem>,
    /// What is gone.
    pub removed: Vec<Tombstone>,
    /// Token of the next page.
    pub next_page: Option<String>,
    /// When it was made, as written.
    pub generated_at: Option<String>,
    /// Items of the whole catalog.
    pub count_total: Option<u64>,
    /// Root over the whole catalog.
    pub content_root: Option<Digest>,
    /// Digest that a signature is over.
    pub unsigned_digest: Digest,
    /// The signature, if there is one.
    pub signature: Option<Signature>,
}

/// Whether a page is of a whole catalog or of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// What is not there is gone.
    Full,
    /// What is not there stays.
    Delta,
}

/// One item of a page.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WireItem {
    /// The id as written, also if it breaks the rules; `None` if there is no text.
    pub id: Option<String>,
    /// Its counter.
    pub seq: Option<u64>,
    /// Its digest as sent.
    pub digest: Option<Digest>,
    /// The content.
    pub body: ItemBody,
}

/// Where the content of an item is.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemBody {
    /// Here.
    Inline(Value),
    /// To be fetched by the digest.
    Blob {
        /// Bytes of it.
        size: u64,
    },
    /// Nowhere: the item is broken.
    Broken(Problem),
}

/// Something that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Its id.
    pub id: String,
    /// The counter of its removal.
    pub seq: Option<u64>,
}

impl CatalogPage {
    /// Reads a page.
    ///
    /// # Errors
    /// Everything that is wrong with it as a whole.
    pub fn from_json(document: &Value) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader::new(document)?;
        let kind = match reader.text("kind", SYNC_TOKEN_BYTES_MAX).as_deref() {
            None | Some("full") => PageKind::Full,
            Some("delta") => PageKind::Delta,
            Some(other) => {
                reader.refuse("kind", "is neither full nor delta", other);
                PageKind::Delta
            }
        };
        let items = reader.list("items", true).iter().map(WireItem::read).collect();
        let removed = reader.tombstones();
        let page = Self {
            subscription: reader.text("subscription", SUBSCRIPTION_BYTES_MAX),
            history: reader.history(),
            kind,
            base: reader.text("base", SYNC_TOKEN_BYTES_MAX),
            cursor: reader.text("cursor", SYNC_TOKEN_BYTES_MAX),
            seq: reader.number("seq"),
            ent_seq: reader.number("ent_seq"),
            items,
            removed,
            next_page: reader.text("next_page", SYNC_TOKEN_BYTES_MAX),
            generated_at: reader.text("generated_at", SYNC_TOKEN_BYTES_MAX),
            count_total: reader.number("count_total"),
            content_root: reader.digest("content_root"),
            unsigned_digest: reader.unsigned_digest(),
            signature: reader.signature(),
        };
        reader.finish(page)
    }
}

impl WireItem {
    /// Reads an item; a fault of it is part of the answer.
    fn read(value: &Value) -> Self {
        let broken = |id: Option<String>, seq, digest, message: &str| {
            let problem = Problem::new("invalid_value", "", message);
            Self { id, seq, digest, body: ItemBody::Broken(problem) }
        };
        let Value::Object(members) = value else { return broken(None, None, None, "the item is no object") };
        let skill = members.get("skill").filter(|skill| !skill.is_null());
        let named = skill.and_then(|skill| skill.get("id")).or_else(|| members.get("id"));
        let id =
            named.and_then(Value::as_str).filter(|id| id.len() <= SYNC_ITEM_ID_BYTES_MAX).map(str::to_owned);
        let seq = present(members, "seq").map(Value::as_u64);
        let digest =
            present(members, "digest").map(|value| value.as_str().and_then(|text| text.parse().ok()));
        let (Some(seq), Some(digest)) = (all(seq), all(digest)) else {
            return broken(id, seq.flatten(), digest.flatten(), "seq or digest of the item cannot be read");
        };
        let is_blob = members.get("blob").and_then(Value::as_bool).unwrap_or(false);
        let body = match (skill, is_blob, members.get("size").and_then(Value::as_u64)) {
            (Some(skill), ..) => ItemBody::Inline(skill.clone()),
            (None, true, Some(size)) if digest.is_some() && id.is_some() => ItemBody::Blob { size },
            (None, true, _) => return broken(id, seq, digest, "a blob needs id, size and digest"),
            (None, false, _) => return broken(id, seq, digest, "the item has no skill"),
        };
        Self { id, seq, digest, body }
    }
}

/// An absent member is fine, one that cannot be read is not.
#[expect(clippy::option_option, reason = "the three cases are absent, unreadable and read")]
fn all<T: Copy>(member: Option<Option<T>>) -> Option<Option<T>> {
    match member {
        None => Some(None),
        Some(None) => None,
        Some(read) => Some(read),
    }
}

/// An entitlements document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntitlementsDocument {
    /// The subscription that it is of, if it says so.
    pub subscription: Option<String>,
    /// The platform's timeline.
    pub history: History,
    /// Counter of the entitlements.
    pub ent_seq: u64,
    /// Whether the subscription is in force.
    pub status: WireStatus,
    /// The ids that are granted; `None` for all that it brings.
    pub grants: Option<BTreeSet<String>>,
    /// Withdrawn ids with the counter that withdrew them: the complete list.
    pub revoked: BTreeMap<String, u64>,
    /// How long the skills may be used without a successful check, in seconds.
    pub max_offline_s: Option<u64>,
    /// What happens then.
    pub on_expiry: OnExpiry,
    /// Digest that a signature is over.
    pub unsigned_digest: Digest,
    /// The signature, if there is one.
    pub signature: Option<Signature>,
}

/// The platform's word on a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireStatus {
    /// In force.
    Active,
    /// Interrupted.
    Suspended,
    /// Over.
    Expired,
}

/// What happens when `max_offline_s` is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExpiry {
    /// Skills stay, the state says how old they are.
    #[default]
    ServeStale,
    /// Skills are hidden until the next successful check.
    Deny,
}

impl EntitlementsDocument {
    /// Reads a document.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_json(document: &Value) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader::new(document)?;
        let status = match reader.text("status", SYNC_TOKEN_BYTES_MAX).as_deref() {
            Some("active") => WireStatus::Active,
            Some("suspended") => WireStatus::Suspended,
            Some("expired") => WireStatus::Expired,
            other => {
                reader.refuse("status", "is none of active, suspended, expired", other.unwrap_or("nothing"));
                WireStatus::Suspended
            }
        };
        let ent_seq = reader.number("ent_seq");
        if ent_seq.is_none() {
            reader.refuse("ent_seq", "is missing", "nothing");
        }
        let on_expiry = match reader.text("on_expiry", SYNC_TOKEN_BYTES_MAX).as_deref() {
            None | Some("serve_stale") => OnExpiry::ServeStale,
            Some("deny") => OnExpiry::Deny,
            Some(other) => {
                reader.refuse("on_expiry", "is neither serve_stale nor deny", other);
                OnExpiry::Deny
            }
        };
        let document = Self {
            subscription: reader.text("subscription", SUBSCRIPTION_BYTES_MAX),
            history: reader.history(),
            ent_seq: ent_seq.unwrap_or_default(),
            status,
            grants: reader.grants(),
            revoked: reader.revoked(ent_seq.unwrap_or_default()),
            max_offline_s: reader.number("max_offline_s"),
            on_expiry,
            unsigned_digest: reader.unsigned_digest(),
            signature: reader.signature(),
        };
        reader.finish(document)
    }
}

/// What a deployment tells the platform: what is activated, how old it is, what was rejected. No content, no queries,
/// no secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatusReport {
    /// Version of the protocol.
    pub spp: u32,
    /// The timeline of what is activated.
    pub history: Option<History>,
    /// Its counter.
    pub seq: Option<u64>,
    /// Counter of the entitlements in force.
    pub ent_seq: Option<u64>,
    /// Seconds since the last successful check.
    pub age_s: Option<u64>,
    /// EMPTY, READY, STALE, EXPIRED or SUSPENDED.
    pub state: String,
    /// Items that were rejected, with reasons.
    pub rejected: Vec<RejectedItem>,
}

fn present<'v>(members: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    members.get(key).filter(|value| !value.is_null())
}

/// Reads members and collects what is wrong.
struct Reader<'v> {
    document: &'v Value,
    members: &'v Map<String, Value>,
    problems: Vec<Problem>,
}

impl<'v> Reader<'v> {
    fn new(document: &'v Value) -> Result<Self, Vec<Problem>> {
        let Value::Object(members) = document else {
            return Err(vec![Problem::new("type_mismatch", "", "the document is no object")]);
        };
        let mut reader = Self { document, members, problems: Vec::new() };
        if reader.number("spp") != Some(1) {
            reader.refuse("spp", "is not 1: another protocol, or another version of it", "something else");
        }
        Ok(reader)
    }

    fn finish<T>(self, document: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(document) } else { Err(self.problems) }
    }

    fn refuse(&mut self, field: &str, message: &str, got: &str) {
        self.problems.push(Problem::new("invalid_value", field, message).got(got));
    }

    fn text(&mut self, key: &str, bytes_max: usize) -> Option<String> {
        let value = present(self.members, key)?;
        match value.as_str() {
            Some(text) if text.len() <= bytes_max && !text.chars().any(char::is_control) => {
                Some(text.to_owned())
            }
            _ => {
                self.refuse(key, "is no short text", "something else");
                None
            }
        }
    }

    fn number(&mut self, key: &str) -> Option<u64> {
        let value = present(self.members, key)?;
        let number = value.as_u64();
        if number.is_none() {
            self.refuse(key, "is no whole number from 0", "something else");
        }
        number
    }

    fn digest(&mut self, key: &str) -> Option<Digest> {
        let text = self.text(key, SYNC_TOKEN_BYTES_MAX)?;
        let digest = text.parse().ok();
        if digest.is_none() {
            self.refuse(key, "is no digest", &text);
        }
        digest
    }

    fn history(&mut self) -> History {
        let Some(text) = self.text("history", SYNC_TOKEN_BYTES_MAX) else { return History::default() };
        text.parse().unwrap_or_else(|error: crate::sync::NotAHistory| {
            self.refuse("history", &error.to_string(), &text);
            History::default()
        })
    }

    fn list(&mut self, key: &str, required: bool) -> &'v [Value] {
        match present(self.members, key) {
            Some(Value::Array(items)) if items.len() <= SYNC_PAGE_ITEMS_MAX => items,
            Some(Value::Array(items)) => {
                self.refuse(key, "holds more than a page may", &items.len().to_string());
                &[]
            }
            None if !required => &[],
            _ => {
                self.refuse(key, "is no list", "something else");
                &[]
            }
        }
    }

    fn tombstones(&mut self) -> Vec<Tombstone> {
        let mut removed = Vec::new();
        for value in self.list("removed", false) {
            let id = value.get("id").and_then(Value::as_str).filter(|id| id.len() <= SYNC_ITEM_ID_BYTES_MAX);
            match id {
                Some(id) => {
                    removed
                        .push(Tombstone { id: id.to_owned(), seq: value.get("seq").and_then(Value::as_u64) });
                }
                None => self.refuse("removed", "holds an entry without an id", "something else"),
            }
        }
        removed
    }

    /// The ids of mode `list`; `None` for mode `all`, and where nothing is said.
    fn grants(&mut self) -> Option<BTreeSet<String>> {
        let grants = present(self.members, "grants")?;
        match grants.get("mode").and_then(Value::as_str) {
            Some("all") => return None,
            Some("list") => {}
            _ => self.refuse("grants", "is of no known mode", "something else"),
        }
        let ids = grants.get("ids").and_then(Value::as_array).filter(|ids| ids.len() <= SYNC_GRANTS_MAX);
        let ids = ids.and_then(|ids| ids.iter().map(|id| id.as_str().map(str::to_owned)).collect());
        if ids.is_none() {
            self.refuse("grants", "has no list of ids within the limit", "something else");
        }
        // Never everything by mistake.
        Some(ids.unwrap_or_default())
    }

    fn revoked(&mut self, ent_seq: u64) -> BTreeMap<String, u64> {
        let mut revoked = BTreeMap::new();
        for value in self.list("revoked", false) {
            match value.get("id").and_then(Value::as_str) {
                Some(id) => {
                    let seq = value.get("ent_seq").and_then(Value::as_u64).unwrap_or(ent_seq);
                    revoked.insert(id.to_owned(), seq);
                }
                None => self.refuse("revoked", "holds an entry without an id", "something else"),
            }
        }
        revoked
    }

    fn unsigned_digest(&mut self) -> Digest {
        unsigned_digest(self.document).unwrap_or_else(|| {
            self.refuse("", "the document has no canonical form", "something else");
            Digest([0; 32])
        })
    }

    fn signature(&mut self) -> Option<Signature> {
        let value = present(self.members, "signature")?;
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .filter(|text| text.len() <= SYNC_TOKEN_BYTES_MAX)
                .map(str::to_owned)
        };
        if let (Some(alg), Some(key_id), Some(sig)) = (text("alg"), text("key_id"), text("sig")) {
            return Some(Signature { alg, key_id, sig });
        }
        self.refuse("signature", "lacks alg, key_id or sig", "something else");
        None
    }
}
