//! The platform's word on rights: documents that were fetched, and removals that were pushed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::catalog::Catalog;
use crate::catalog::state::{Kept, kept};
use crate::catalog::synced::Moment;
use crate::catalog::synced::trust::Standing;
use crate::catalog::update::folded;
use crate::entitlement::{Document, Removal, Statements};
use crate::error::{Error, Result};
use crate::limits::RING_REMOVALS_MAX;
use crate::snapshot::{Denial, Edit, Outcome};

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is in effect now.
    Changed,
    /// It says what stands already.
    Unchanged,
    /// It is older than what was taken before, or of another timeline: refused.
    Older,
    /// It has the counter of the one before and says something else: refused.
    Conflicting,
}

impl Catalog {
    /// Takes an entitlements document, durably and at once. `asked_with` are the suspensions that stood when it was asked
    /// for.
    ///
    /// # Errors
    /// A failure of the disk, after which nothing has changed.
    pub(crate) fn take_entitlements(
        &self,
        subscription: &str,
        document: &Document,
        asked_with: &BTreeMap<String, u64>,
        checked: Option<&Moment>,
    ) -> Result<Taken> {
        let state = self.current()?;
        let mut statements = Statements::clone(&state.statements);
        match judge(&state.base, &statements, subscription, document) {
            Taken::Changed => {}
            Taken::Unchanged if statements.take(subscription, document.clone(), asked_with) => {}
            other => return Ok(other),
        }
        let mut taken = Taken::Unchanged;
        let outcome = self.inner.dir.commit_then(
            &mut |loaded| {
                let known = kept(loaded)?;
                taken = judge(&known, &known.statements, subscription, document);
                if matches!(taken, Taken::Older | Taken::Conflicting) {
                    return Ok(Edit::Unchanged);
                }
                taken = Taken::Changed;
                let manifest = folded(loaded, |kept| {
                    let trust = kept.sync.entry(subscription.to_owned()).or_default();
                    trust.follow(&document.history);
                    trust.ent_seq = document.ent_seq;
                    trust.checked = checked.cloned().or(trust.checked.take());
                    kept.statements.take(subscription, document.clone(), asked_with);
                })?;
                Ok(Edit::Install(Box::new(manifest)))
            },
            &mut |loaded| self.install(loaded, None),
        )?;
        debug_assert!(!matches!(outcome, Outcome::Rebase));
        Ok(taken)
    }

    /// Makes a removal that the platform pushed durable and effective, as [`Catalog::declare`] does for the operator's
    /// words: no query that begins after this has returned, in any process, sees these skills through this subscription.
    /// Answers whether it said anything new; replays and removals of an earlier timeline change nothing, and are
    /// announced all the same.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] if a text cannot be an id or a subscription;
    /// [`StorageError::Locked`](crate::error::StorageError::Locked); a failure of the disk, after which every synced skill
    /// is hidden until the platform has been asked again.
    pub fn removed(&self, removal: &Removal) -> Result<bool> {
        removal.check().map_err(|problems| Error::InvalidArguments { problems })?;
        let state = self.current()?;
        let known = state.base.sync.get(&removal.subscription).map(|trust| &trust.history);
        let mut probe = Statements::clone(&state.statements);
        let mut fresh = removal.statements(known);
        fresh.retain(|statement| probe.apply(statement));
        if fresh.is_empty() {
            self.inner.dir.announce()?;
            return Ok(false);
        }
        if fresh.len() > RING_REMOVALS_MAX {
            // Many at once go into the manifest; if it cannot be written, as many as fit go into the ring.
            let committed = self.commit(&mut |loaded| {
                folded(loaded, |kept| {
                    for statement in &fresh {
                        kept.statements.apply(statement);
                    }
                })
            });
            match committed {
                Ok(()) => return Ok(true),
                Err(error) => {
                    tracing::warn!(%error, "CURRENT cannot be written; the ring takes the removals");
                }
            }
        }
        for statement in &fresh {
            let state = self.current()?;
            self.make_room(&state);
            let (kind, payload) = statement.encode();
            self.inner.dir.append_removal(kind, &payload)?;
        }
        self.inner.unfolded.store(true, Ordering::Relaxed);
        Ok(true)
    }

    /// Ends a suspension that lasts until the platform has been asked: its documents of all subscriptions were taken,
    /// each asked for after the suspension began.
    ///
    /// # Errors
    /// The disk cannot be written.
    pub(crate) fn entitlements_are_known(&self) -> Result<()> {
        if !self.current()?.is_unsure() {
            return Ok(());
        }
        // In this order, as in `resume`: until the last step the manifest says that something may be missing.
        self.fold_now()?;
        if self.inner.dir.load()?.deny_all == Denial::UntilFetched {
            self.inner.dir.set_deny_all(Denial::No)?;
        }
        self.commit(&mut |loaded| folded(loaded, |kept| kept.unsure = false))
    }
}

/// How a document stands to what was taken before.
fn judge(kept: &Kept, statements: &Statements, subscription: &str, document: &Document) -> Taken {
    let trust = kept.sync.get(subscription).cloned().unwrap_or_default();
    match trust.compare(&document.history) {
        Standing::Later => Taken::Changed,
        Standing::Older => Taken::Older,
        Standing::Same if document.ent_seq < trust.ent_seq => Taken::Older,
        Standing::Same => match statements.platform.get(subscription) {
            Some(known) if known == document => Taken::Unchanged,
            Some(known) if known.ent_seq == document.ent_seq && known.history == document.history => {
                Taken::Conflicting
            }
            _ => Taken::Changed,
        },
    }
}
