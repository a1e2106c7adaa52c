//! All pages of one answer, or nothing.

use crate::error::Problem;
use crate::limits::{
    SYNC_BLOB_BYTES_MAX, SYNC_PAGES_MAX, SYNC_RESTARTS_MAX, SYNC_RETRIES_MAX, SYNC_RETRY_PAUSE_MS,
};
use crate::model::Digest;
use crate::sync::engine::Engine;
use crate::sync::refusal::SyncError;
use crate::sync::{
    CatalogPage, CatalogRequest, DocumentKind, Failure, Fetched, History, ItemBody, PageKind, Tombstone,
    WireItem,
};

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) history: History,
    pub(crate) kind: PageKind,
    pub(crate) base: Option<String>,
    pub(crate) cursor: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) seq: Option<u64>,
    pub(crate) items: Vec<WireItem>,
    pub(crate) removed: Vec<Tombstone>,
    pub(crate) count_total: Option<u64>,
    pub(crate) content_root: Option<Digest>,
    /// Keys are pinned, so that every page was signed.
    pub(crate) is_signed: bool,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) subscription: String,
    pub(crate) since: Option<String>,
    pub(crate) etag: Option<String>,
}

impl Engine {
    /// Asks until the whole answer is there; `None` for 304. Damaged answers are asked for again a few times, expired
    /// pages too, and a page that is too large in halves.
    pub(crate) async fn fetch(&self, question: &Question) -> Result<Option<Batch>, SyncError> {
        let mut limit = self.settings.page_limit;
        let (mut restarts, mut retries) = (0, 0);
        loop {
            let error = match self.fetch_once(question, limit).await {
                Ok(batch) => return Ok(batch),
                Err(error) => error,
            };
            match &error {
                SyncError::Platform(Failure::PageExpired) | SyncError::Pages
                    if restarts < SYNC_RESTARTS_MAX =>
                {
                    restarts += 1;
                }
                SyncError::Platform(Failure::PageTooLarge) if limit > 1 => limit /= 2,
                passing if passing.is_passing() && retries < SYNC_RETRIES_MAX => {
                    self.clock.sleep(SYNC_RETRY_PAUSE_MS << retries).await;
                    retries += 1;
                }
                _ => return Err(error),
            }
            tracing::debug!(%error, limit, "asking again");
        }
    }

    async fn fetch_once(&self, question: &Question, limit: u32) -> Result<Option<Batch>, SyncError> {
        let mut request = CatalogRequest {
            since: question.since.clone(),
            etag: question.etag.clone(),
            limit: Some(limit),
            ..CatalogRequest::of(&question.subscription)
        };
        let mut whole: Option<Batch> = None;
        for _ in 0..SYNC_PAGES_MAX {
            let (page, etag) = match self.platform.fetch_entitled_skills(&request).await? {
                Fetched::NotModified if whole.is_none() && request.etag.is_some() => return Ok(None),
                Fetched::NotModified => return Err(SyncError::Pages),
                Fetched::Document { document, etag } => (document, etag),
            };
            self.check_page(&question.subscription, &page)?;
            let next = page.next_page.clone();
            match &mut whole {
                None => whole = Some(Batch::begin(page, etag, !self.settings.keys.is_empty())),
                Some(batch) => batch.add(page)?,
            }
            // Only the first page is conditional.
            request.etag = None;
            let Some(next) = next else {
                let mut batch = whole.ok_or(SyncError::Pages)?;
                self.fetch_blobs(&mut batch).await?;
                return Ok(Some(batch));
            };
            if request.page.as_ref() == Some(&next) {
                return Err(SyncError::Pages);
            }
            request.page = Some(next);
        }
        Err(SyncError::Platform(Failure::OverLimit { limit: SYNC_PAGES_MAX }))
    }

    fn check_page(&self, subscription: &str, page: &CatalogPage) -> Result<(), SyncError> {
        self.settings
            .keys
            .check(DocumentKind::Catalog, &page.unsigned_digest, page.signature.as_ref())
            .map_err(|cause| SyncError::Signature { what: "catalog", cause })?;
        if let Some(got) = page.subscription.as_ref().filter(|got| *got != subscription) {
            return Err(SyncError::OtherSubscription { got: got.clone() });
        }
        for item in &page.items {
            if let (Some(digest), ItemBody::Inline(skill)) = (&item.digest, &item.body)
                && Digest::of_json(skill) != Some(*digest)
            {
                return Err(SyncError::WrongDigest { id: item.id.clone().unwrap_or_default() });
            }
        }
        Ok(())
    }

    /// Puts the bytes of large items in the place of their digests.
    async fn fetch_blobs(&self, batch: &mut Batch) -> Result<(), SyncError> {
        for item in &mut batch.items {
            let (ItemBody::Blob { size }, Some(digest)) = (&item.body, &item.digest) else { continue };
            let size = *size;
            let broken = |message: String| ItemBody::Broken(Problem::new("too_large", "size", message));
            if size > SYNC_BLOB_BYTES_MAX {
                item.body = broken(format!("the item is larger than {SYNC_BLOB_BYTES_MAX} bytes"));
                continue;
            }
            let bytes = match self.platform.fetch_blob(digest, size).await {
                Err(Failure::NotFound) => {
                    let message = "the platform does not have the bytes of this item (404)";
                    item.body = ItemBody::Broken(Problem::new("missing_blob", "digest", message));
                    continue;
                }
                other => other?,
            };
            if bytes.len() as u64 != size || Digest::of(&bytes) != *digest {
                return Err(SyncError::WrongDigest { id: item.id.clone().unwrap_or_default() });
            }
            item.body = match serde_json::from_slice(&bytes) {
                Ok(skill) => ItemBody::Inline(skill),
                Err(error) => ItemBody::Broken(Problem::new(
                    "invalid_json",
                    "",
                    format!("the item is no JSON: {error}"),
                )),
            };
        }
        Ok(())
    }
}

impl Batch {
    fn begin(page: CatalogPage, etag: Option<String>, is_signed: bool) -> Self {
        Self {
            history: page.history,
            kind: page.kind,
            base: page.base,
            cursor: page.cursor,
            etag,
            seq: page.seq,
            items: page.items,
            removed: page.removed,
            count_total: page.count_total,
            content_root: page.content_root,
            is_signed,
        }
    }

    fn add(&mut self, page: CatalogPage) -> Result<(), SyncError> {
        let same = self.history == page.history
            && self.kind == page.kind
            && self.base == page.base
            && self.cursor == page.cursor
            && self.seq == page.seq
            && self.count_total == page.count_total
            && self.content_root == page.content_root;
        if !same {
            return Err(SyncError::Pages);
        }
        self.items.extend(page.items);
        self.removed.extend(page.removed);
        Ok(())
    }
}
