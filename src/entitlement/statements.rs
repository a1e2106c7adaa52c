//! Everything that has been said about entitlements and still stands.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::entitlement::{LocalStatement, Statement};

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
}

/// A platform's entitlements document for one subscription, with the removals pushed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    /// Counter of the document; removals at or below it are folded or lifted by it.
    pub(crate) ent_seq: u64,
    /// Whether the subscription is paid for.
    pub(crate) status: Standing,
    /// Which of its skills are granted.
    pub(crate) grants: Grants,
    /// Ids whose grant by this subscription is withdrawn, with the counter that said so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) revoked: BTreeMap<String, u64>,
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
                // A removal for a subscription without a document must mask too: it waits in an active document
                // that the first fetch replaces.
                let document = self.platform.entry(subscription.clone()).or_insert_with(|| Document {
                    ent_seq: 0,
                    status: Standing::Active,
                    grants: Grants::All,
                    revoked: BTreeMap::new(),
                });
                if *ent_seq <= document.ent_seq
                    || document.revoked.get(id).is_some_and(|known| known >= ent_seq)
                {
                    return false;
                }
                document.revoked.insert(id.clone(), *ent_seq);
                true
            }
        }
    }

    /// Whether a subscription is in force on this deployment.
    pub(crate) fn is_active(&self, subscription: &str) -> bool {
        if self.revoked.contains(subscription) {
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

    #[test]
    fn a_local_revoke_wins_over_the_platform_until_a_grant_ends_it() {
        let mut all = Statements::default();
        all.platform.insert(
            "s".into(),
            Document { ent_seq: 3, status: Standing::Active, grants: Grants::All, revoked: BTreeMap::new() },
        );
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
        all.platform.insert(
            "s".into(),
            Document { ent_seq: 1, status: Standing::Expired, grants: Grants::All, revoked: BTreeMap::new() },
        );
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
}
