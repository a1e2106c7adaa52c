//! Everything that has been said about entitlements and still stands.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::entitlement::{History, LocalStatement, Statement};

/// The durable statements: part of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Statements {
    /// Subscriptions that the operator switched on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) granted: BTreeSet<String>,
    /// Subscriptions that the operator switched off.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) revoked: BTreeSet<String>,
    /// Ids that the operator masked.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) hidden: BTreeSet<String>,
    /// What the platform said, by subscription.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) platform: BTreeMap<String, Document>,
    /// Removals that the platform pushed and no document has caught up with, by subscription.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) pushed: BTreeMap<String, Pushed>,
    /// Subscriptions that do not count now because nobody could ask the platform for too long. It follows from the
    /// clock, so that it is not kept.
    #[serde(skip)]
    pub(crate) lapsed: BTreeSet<String>,
}

/// Removals pushed for one subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pushed {
    /// Ids with the counter that withdrew them: above that of the document.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) removed: BTreeMap<String, u64>,
    /// Ids that are withdrawn until a later document comes, with how often that was said.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) suspended: BTreeMap<String, u64>,
}

/// A platform's entitlements document for one subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// The platform's timeline that the counter is of.
    #[serde(default)]
    pub(crate) history: History,
    /// Counter of the document; removals at or below it are folded or lifted by it.
    pub(crate) ent_seq: u64,
    /// Whether the subscription is paid for.
    pub(crate) status: Standing,
    /// Which of its skills are granted.
    pub(crate) grants: Grants,
    /// Ids whose grant by this subscription is withdrawn, with the counter that said so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) revoked: BTreeMap<String, u64>,
    /// How long the skills may be used without a successful check, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_offline_s: Option<u64>,
    /// Whether they are hidden then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) denies_on_expiry: bool,
}

/// The platform's word on a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Standing {
    /// In force.
    Active,
    /// Interrupted.
    Suspended,
    /// Over.
    Expired,
}

/// Which skills of a subscription are granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", content = "ids", rename_all = "lowercase")]
pub(crate) enum Grants {
    /// All that it brings.
    All,
    /// Only these ids.
    List(BTreeSet<String>),
}

impl Statements {
    /// Applies one statement; answers whether it changed anything.
    pub(crate) fn apply(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::Local(LocalStatement::Grant(sub)) => {
                let ended = self.revoked.remove(sub);
                self.granted.insert(sub.clone()) || ended
            }
            Statement::Local(LocalStatement::Revoke(sub)) => {
                let ended = self.granted.remove(sub);
                self.revoked.insert(sub.clone()) || ended
            }
            Statement::Local(LocalStatement::Hide(id)) => self.hidden.insert(id.clone()),
            Statement::Local(LocalStatement::Unhide(id)) => self.hidden.remove(id),
            Statement::Removed { subscription, ent_seq, id } => {
                if self.platform.get(subscription).is_some_and(|document| *ent_seq <= document.ent_seq) {
                    return false;
                }
                let removed = &mut self.pushed.entry(subscription.clone()).or_default().removed;
                if removed.get(id).is_some_and(|known| known >= ent_seq) {
                    return false;
                }
                removed.insert(id.clone(), *ent_seq);
                true
            }
            Statement::Suspended { subscription, id } => {
                let pushed = self.pushed.entry(subscription.clone()).or_default();
                // Counted, so that a document that was asked for before the last time lifts nothing.
                *pushed.suspended.entry(id.clone()).or_default() += 1;
                true
            }
        }
    }

    /// Takes a document that is not older than the one before. `asked_with` are the suspensions that stood when it was
    /// asked for: it speaks of them, and of no later one. Answers whether anything changed.
    pub(crate) fn take(
        &mut self,
        subscription: &str,
        document: Document,
        asked_with: &BTreeMap<String, u64>,
    ) -> bool {
        let mut changed = false;
        let former = self.platform.get(subscription);
        let other_timeline = former.is_some_and(|former| former.history != document.history);
        if let Some(pushed) = self.pushed.get_mut(subscription) {
            let before = pushed.removed.len() + pushed.suspended.len();
            pushed.removed.retain(|_, ent_seq| !other_timeline && *ent_seq > document.ent_seq);
            pushed.suspended.retain(|id, times| asked_with.get(id).is_none_or(|seen| seen < times));
            changed = pushed.removed.len() + pushed.suspended.len() != before;
            if pushed.removed.is_empty() && pushed.suspended.is_empty() {
                self.pushed.remove(subscription);
            }
        }
        changed |= former != Some(&document);
        self.platform.insert(subscription.to_owned(), document);
        changed
    }

    /// The suspensions of a subscription that stand now.
    pub(crate) fn suspensions(&self, subscription: &str) -> BTreeMap<String, u64> {
        self.pushed.get(subscription).map(|pushed| pushed.suspended.clone()).unwrap_or_default()
    }

    /// Whether the platform has withdrawn the grant of an id by a subscription.
    pub(crate) fn withdraws(&self, subscription: &str, id: &str) -> bool {
        let document =
            self.platform.get(subscription).is_some_and(|document| document.revoked.contains_key(id));
        document
            || self
                .pushed
                .get(subscription)
                .is_some_and(|pushed| pushed.removed.contains_key(id) || pushed.suspended.contains_key(id))
    }

    /// Every id that the platform has withdrawn for some subscription; an id may stand there several times.
    pub(crate) fn withdrawn(&self) -> impl Iterator<Item = &str> {
        let documents = self.platform.values().flat_map(|document| document.revoked.keys());
        let pushed =
            self.pushed.values().flat_map(|pushed| pushed.removed.keys().chain(pushed.suspended.keys()));
        documents.chain(pushed).map(String::as_str)
    }

    /// Whether a subscription is in force on this deployment.
    pub(crate) fn is_active(&self, subscription: &str) -> bool {
        if self.revoked.contains(subscription) || self.lapsed.contains(subscription) {
            return false;
        }
        match self.platform.get(subscription) {
            Some(document) => document.status == Standing::Active,
            None => self.granted.contains(subscription),
        }
    }

    /// Every subscription that anything speaks of, sorted, with whether it is active and who decides.
    pub(crate) fn subscriptions(&self) -> Vec<(&str, bool, &'static str)> {
        let mut names: BTreeSet<&str> = self.platform.keys().map(String::as_str).collect();
        names.extend(self.granted.iter().map(String::as_str));
        names.extend(self.revoked.iter().map(String::as_str));
        names
            .into_iter()
            .map(|name| {
                let local = self.revoked.contains(name) || !self.platform.contains_key(name);
                (name, self.is_active(name), if local { "local" } else { "platform" })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(statement: LocalStatement) -> Statement {
        Statement::Local(statement)
    }

    fn document(ent_seq: u64, status: Standing) -> Document {
        Document {
            history: History::default(),
            ent_seq,
            status,
            grants: Grants::All,
            revoked: BTreeMap::new(),
            max_offline_s: None,
            denies_on_expiry: false,
        }
    }

    #[test]
    fn a_local_revoke_wins_over_the_platform_until_a_grant_ends_it() {
        let mut all = Statements::default();
        all.platform.insert("s".into(), document(3, Standing::Active));
        assert!(all.is_active("s"));
        assert!(all.apply(&local(LocalStatement::Revoke("s".into()))));
        assert!(!all.is_active("s"));
        assert!(
            !all.apply(&local(LocalStatement::Revoke("s".into()))),
            "a repeated statement changes nothing"
        );
        assert!(all.apply(&local(LocalStatement::Grant("s".into()))));
        assert!(all.is_active("s"));
    }

    #[test]
    fn a_local_grant_counts_only_where_no_platform_document_speaks() {
        let mut all = Statements::default();
        all.apply(&local(LocalStatement::Grant("s".into())));
        assert!(all.is_active("s"));
        all.platform.insert("s".into(), document(1, Standing::Expired));
        assert!(!all.is_active("s"));
        assert_eq!(all.subscriptions(), vec![("s", false, "platform")]);
    }

    #[test]
    fn a_replayed_or_older_removal_changes_nothing() {
        let mut all = Statements::default();
        let removal = |ent_seq| Statement::Removed { subscription: "s".into(), ent_seq, id: "x".into() };
        assert!(all.apply(&removal(5)));
        assert!(!all.apply(&removal(5)));
        assert!(!all.apply(&removal(4)));
        assert!(all.apply(&removal(6)));
    }

    #[test]
    fn a_removal_makes_no_subscription_active() {
        let mut all = Statements::default();
        all.apply(&Statement::Removed { subscription: "s".into(), ent_seq: 5, id: "x".into() });
        assert!(!all.is_active("s") && all.withdraws("s", "x"));
    }

    #[test]
    fn a_document_ends_removals_up_to_its_counter_and_suspensions_that_it_was_asked_with() {
        let mut all = Statements::default();
        let removal =
            |ent_seq, id: &str| Statement::Removed { subscription: "s".into(), ent_seq, id: id.into() };
        let suspension = |id: &str| Statement::Suspended { subscription: "s".into(), id: id.into() };
        all.apply(&removal(5, "five"));
        all.apply(&removal(6, "six"));
        all.apply(&suspension("early"));
        all.apply(&suspension("again"));
        let asked_with = all.suspensions("s");
        all.apply(&suspension("again"));
        all.apply(&suspension("late"));
        assert!(all.take("s", document(5, Standing::Active), &asked_with));
        let withdrawn: Vec<&str> = all.withdrawn().collect();
        assert_eq!(withdrawn, ["six", "again", "late"]);
        assert!(!all.apply(&removal(5, "five")), "a replay behind the document");
        let asked_with = all.suspensions("s");
        assert!(all.take("s", document(6, Standing::Active), &asked_with));
        assert!(all.pushed.is_empty());
        assert!(!all.take("s", document(6, Standing::Active), &BTreeMap::new()), "the same again");
    }

    #[test]
    fn a_document_of_another_timeline_ends_what_was_pushed_in_the_former_one() {
        let mut all = Statements::default();
        all.take("s", document(9, Standing::Active), &BTreeMap::new());
        all.apply(&Statement::Removed { subscription: "s".into(), ent_seq: 12, id: "x".into() });
        let history = History { counter: 1, random: "r".into() };
        all.take("s", Document { history, ..document(2, Standing::Active) }, &BTreeMap::new());
        assert!(!all.withdraws("s", "x"));
    }
}
