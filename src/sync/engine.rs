//! The engine: one round of questions, and what becomes of the answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

use crate::catalog::{Catalog, RejectedItem, SyncBase, Taken};
use crate::entitlement::{Document, Grants, Standing};
use crate::error::Problem;
use crate::limits::{
    SUBSCRIPTION_BYTES_MAX, SYNC_ERROR_CHARS_MAX, SYNC_PAGE_LIMIT, SYNC_SUBSCRIPTIONS_MAX,
    UPDATE_ATTEMPTS_MAX,
};
use crate::sync::clock::Clock;
use crate::sync::fetch::Question;
use crate::sync::plan::{Plan, plan};
use crate::sync::refusal::SyncError;
use crate::sync::schedule::{Due, Ended};
use crate::sync::{
    DocumentKind, EntitlementsDocument, Failure, History, OnExpiry, Platform, PublicKeys, StatusReport,
    WireStatus,
};

/// What is synced, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The subscriptions.
    pub subscriptions: Vec<String>,
    /// Keys whose signatures count; with none, documents need none.
    pub keys: PublicKeys,
    /// Seconds between two looks at the catalog.
    pub interval_s: u64,
    /// Seconds between two looks at the entitlements.
    pub entitlements_interval_s: u64,
    /// Items of a page at first.
    pub page_limit: u32,
}

impl Settings {
    /// These subscriptions, with the usual intervals and no pinned key.
    ///
    /// # Errors
    /// Every subscription that cannot be one; too many.
    pub fn new<S: Into<String>>(subscriptions: impl IntoIterator<Item = S>) -> Result<Self, Vec<Problem>> {
        let mut subscriptions: Vec<String> = subscriptions.into_iter().map(Into::into).collect();
        subscriptions.sort_unstable();
        subscriptions.dedup();
        let mut problems = Vec::new();
        let mut refuse = |message: String, got: &str| {
            problems.push(Problem::new("invalid_value", "sync.subscriptions", message).got(got));
        };
        if subscriptions.is_empty() {
            refuse("no subscription is named; name at least one".to_owned(), "none");
        }
        if subscriptions.len() > SYNC_SUBSCRIPTIONS_MAX {
            let count = subscriptions.len().to_string();
            refuse(format!("there are more than {SYNC_SUBSCRIPTIONS_MAX} subscriptions"), &count);
        }
        for name in &subscriptions {
            if name.is_empty() || name.len() > SUBSCRIPTION_BYTES_MAX || name.chars().any(char::is_control) {
                refuse("the subscription is empty, too long or holds a control character".to_owned(), name);
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            subscriptions,
            keys: PublicKeys::default(),
            interval_s: 60,
            entitlements_interval_s: 15,
            page_limit: SYNC_PAGE_LIMIT,
        })
    }

    /// Pins keys.
    #[must_use]
    pub fn keys(mut self, keys: PublicKeys) -> Self {
        self.keys = keys;
        self
    }

    /// Sets the two intervals, in seconds.
    #[must_use]
    pub fn intervals_s(mut self, catalog: u64, entitlements: u64) -> Self {
        (self.interval_s, self.entitlements_interval_s) = (catalog.max(1), entitlements.max(1));
        self
    }
}

/// How a round ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Everything was as the platform has it.
    #[default]
    Unchanged,
    /// Something new is in effect.
    Activated,
    /// A catalog waits for a second one like it, or for `--resume`.
    Held,
    /// Something failed; what was served stays.
    Failed,
}

/// What a round did.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Round {
    /// How it ended; the worst of all subscriptions.
    pub result: Outcome,
    /// Content counter afterwards, the highest.
    pub seq: Option<u64>,
    /// Entitlement counter afterwards, the highest.
    pub ent_seq: Option<u64>,
    /// Items put in.
    pub items: u64,
    /// Items taken out.
    pub removed: u64,
    /// Items that stand rejected.
    pub rejected: Vec<RejectedItem>,
    /// What failed, by subscription.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, String>,
    /// The data directory failed, not the platform.
    #[serde(skip)]
    pub is_data_failure: bool,
    /// For the schedule.
    #[serde(skip)]
    pub ended: Ended,
}

/// The engine of one catalog. It decides; platform and clock are passed in, and the disk is the catalog's.
#[derive(Debug)]
pub struct Engine {
    pub(crate) catalog: Catalog,
    pub(crate) platform: Arc<dyn Platform>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    base: Mutex<Option<SyncBase>>,
    /// What failed last of each subscription: entitlements, catalog.
    failing: Mutex<BTreeMap<String, [Option<String>; 2]>>,
}

impl Engine {
    /// An engine.
    #[must_use]
    pub fn new(
        catalog: Catalog,
        platform: Arc<dyn Platform>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        Self { catalog, platform, clock, settings, base: Mutex::default(), failing: Mutex::default() }
    }

    /// One round: the questions that are due, for every subscription. `full` asks for whole catalogs, whatever is here.
    ///
    /// Nothing is activated but whole answers, each as one commit; what fails leaves everything as it was.
    pub async fn round(&self, due: Due, full: bool) -> Round {
        let mut round = Round::default();
        let was_unsure = self.base().is_ok_and(|base| base.is_unsure());
        let mut all_known = due.entitlements;
        for name in &self.settings.subscriptions {
            if due.entitlements {
                let done = self.check_entitlements(name).await;
                all_known &= done.is_ok();
                self.note(name, 0, &mut round, done.map(|outcome| (outcome, false)));
            }
            if due.catalog {
                let done = self.check_catalog(name, full, &mut round).await;
                self.note(name, 1, &mut round, done);
            }
        }
        if was_unsure
            && all_known
            && let Err(error) = self.catalog.entitlements_are_known()
        {
            self.note("", 0, &mut round, Err::<(Outcome, bool), _>(error.into()));
        }
        if let Ok(status) = self.catalog.status() {
            (round.seq, round.ent_seq) = (status.sync.seq, status.sync.ent_seq);
            round.rejected = status.sync.rejected;
            if round.result == Outcome::Activated {
                self.report(&round, &status.sync.state).await;
            }
        }
        round
    }

    /// Lets content come in again after a rollback.
    ///
    /// # Errors
    /// The disk cannot be written.
    pub fn resume(&self) -> crate::error::Result<()> {
        self.catalog.resume_sync()
    }

    fn base(&self) -> Result<SyncBase, SyncError> {
        let mut slot = self.base.lock();
        let base = self.catalog.sync_base(slot.as_ref())?;
        *slot = Some(base.clone());
        Ok(base)
    }

    /// Asks for the entitlements; whether something changed.
    async fn check_entitlements(&self, name: &str) -> Result<Outcome, SyncError> {
        let asked_with = self.base()?.suspensions(name);
        let asked_at = self.catalog.moment();
        let document = self.platform.fetch_entitlements(name).await?;
        self.settings
            .keys
            .check(DocumentKind::Entitlements, &document.unsigned_digest, document.signature.as_ref())
            .map_err(|cause| SyncError::Signature { what: "entitlements document", cause })?;
        if let Some(got) = document.subscription.as_ref().filter(|got| *got != name) {
            return Err(SyncError::OtherSubscription { got: got.clone() });
        }
        let mut kept = kept(&document);
        if kept.history == History::default() {
            // A platform that names no timeline goes on with the one that is known.
            kept.history = self.base()?.trust(name).history;
        }
        match self.catalog.take_entitlements(name, &kept, &asked_with, asked_at.as_ref())? {
            Taken::Changed => Ok(Outcome::Activated),
            Taken::Unchanged => Ok(Outcome::Unchanged),
            Taken::Conflicting => Err(SyncError::SameCounter { ent_seq: kept.ent_seq }),
            Taken::Older => {
                let trust = self.base()?.trust(name);
                Err(SyncError::Rollback {
                    what: "ent_seq",
                    got: format!("{} in history {}", kept.ent_seq, kept.history),
                    known: format!("{} in history {}", trust.ent_seq, trust.history),
                })
            }
        }
    }

    /// Asks for the catalog and activates what comes; whether something changed, and whether the check counts.
    async fn check_catalog(
        &self,
        name: &str,
        full: bool,
        round: &mut Round,
    ) -> Result<(Outcome, bool), SyncError> {
        let mut full = full;
        let mut fulls_left = 2_u32;
        for _ in 0..UPDATE_ATTEMPTS_MAX {
            let base = self.base()?;
            if base.is_held() {
                return Err(SyncError::HeldAfterRollback);
            }
            let head = base.journal.shelves.get(name).map(|shelf| shelf.head.clone()).unwrap_or_default();
            let (since, etag) = if full { (None, None) } else { (head.cursor, head.etag) };
            let asked_at = self.catalog.moment();
            let question = Question { subscription: name.to_owned(), since, etag };
            let was_full = question.since.is_none();
            let planned = match self.fetch(&question).await {
                Ok(None) => return Ok((Outcome::Unchanged, true)),
                Ok(Some(batch)) => plan(name, &base, batch, self.catalog.waiting_root(name)),
                Err(error) => Err(error),
            };
            match planned {
                Ok(Plan::Nothing) => return Ok((Outcome::Unchanged, true)),
                Ok(Plan::Hold(root)) => {
                    self.catalog.note_sync(name, |note| note.held = Some(root));
                    return Ok((Outcome::Held, false));
                }
                Ok(Plan::Change(planned)) => {
                    let mut planned = *planned;
                    planned.change.checked = asked_at;
                    if self.catalog.activate(&base, planned.change)?.is_some() {
                        round.items += planned.items;
                        round.removed += planned.removed;
                        return Ok((Outcome::Activated, true));
                    }
                }
                Err(
                    SyncError::OtherBase
                    | SyncError::Mismatch { .. }
                    | SyncError::Platform(Failure::SinceTooOld),
                ) if !was_full && fulls_left > 0 => {
                    fulls_left -= 1;
                    full = true;
                }
                Err(error) => return Err(error),
            }
        }
        Err(SyncError::Contended)
    }

    /// Writes down how a question ended, for every process and for the schedule.
    fn note(&self, name: &str, which: usize, round: &mut Round, done: Result<impl Into<Checked>, SyncError>) {
        let ended = &mut round.ended;
        let (outcome, checked, error) = match done.map(Into::into) {
            Ok(Checked(outcome, checked)) => (outcome, checked, None),
            Err(error) => {
                let outcome = match &error {
                    SyncError::HeldAfterRollback => Outcome::Held,
                    _ => Outcome::Failed,
                };
                ended.failed = true;
                round.is_data_failure |= matches!(error, SyncError::Catalog(_));
                match &error {
                    SyncError::Platform(Failure::Busy { retry_after_s, .. }) => {
                        ended.retry_after_s = ended.retry_after_s.max(*retry_after_s);
                    }
                    SyncError::Platform(Failure::Forbidden | Failure::NotFound | Failure::Unauthorized) => {
                        ended.refused = true;
                    }
                    _ => {}
                }
                tracing::warn!(subscription = name, %error, "sync");
                let text: String = error.to_string().chars().take(SYNC_ERROR_CHARS_MAX).collect();
                round.errors.insert(name.to_owned(), text.clone());
                (outcome, false, Some(text))
            }
        };
        round.result = round.result.max(outcome);
        let error = {
            let mut failing = self.failing.lock();
            let slots = failing.entry(name.to_owned()).or_default();
            slots[which.min(1)] = error;
            slots[1].clone().or_else(|| slots[0].clone())
        };
        let interval_s = self.settings.interval_s;
        self.catalog.note_check(name, checked, |note| {
            note.error = error;
            note.interval_s = interval_s;
            if checked {
                note.held = None;
            }
        });
    }

    /// Tells the platform, once, whatever comes of it.
    async fn report(&self, round: &Round, state: &str) {
        for name in &self.settings.subscriptions {
            let rejected = round.rejected.iter().filter(|item| item.subscription == *name).cloned().collect();
            let report = StatusReport {
                spp: 1,
                seq: round.seq,
                ent_seq: round.ent_seq,
                age_s: Some(0),
                state: state.to_owned(),
                rejected,
                ..StatusReport::default()
            };
            if let Err(error) = self.platform.report(name, &report).await {
                tracing::debug!(%error, "the platform was not told");
            }
        }
    }
}

/// How a question ended well, and whether that counts as a check of the content.
struct Checked(Outcome, bool);

impl From<(Outcome, bool)> for Checked {
    fn from((outcome, checked): (Outcome, bool)) -> Self {
        Self(outcome, checked)
    }
}

/// What is kept of a document.
fn kept(document: &EntitlementsDocument) -> Document {
    Document {
        history: document.history.clone(),
        ent_seq: document.ent_seq,
        status: match document.status {
            WireStatus::Active => Standing::Active,
            WireStatus::Suspended => Standing::Suspended,
            WireStatus::Expired => Standing::Expired,
        },
        grants: document.grants.clone().map_or(Grants::All, Grants::List),
        revoked: document.revoked.clone(),
        max_offline_s: document.max_offline_s,
        denies_on_expiry: document.on_expiry == OnExpiry::Deny,
    }
}
