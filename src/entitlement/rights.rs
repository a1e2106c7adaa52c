//! The rights of one caller: which subscriptions count, which ids are masked.

use std::collections::BTreeSet;

use crate::entitlement::Statements;
use crate::entitlement::statements::{Document, Grants};
use crate::model::Layer;

/// How a caller's sight is narrower than the deployment's. The default narrows nothing. Fields may come with any version.
///
/// ```
/// use repertoire::{Layer, Narrowing};
///
/// let narrowing = Narrowing::default().subscriptions(["sub_7"]).layers([Layer::Synced]);
/// assert!(narrowing.subscriptions.is_some_and(|set| set.contains("sub_7")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Narrowing {
    /// Only these subscriptions; `None` is all that the deployment has.
    pub subscriptions: Option<BTreeSet<String>>,
    /// Only these layers; `None` is all.
    pub layers: Option<BTreeSet<Layer>>,
}

impl Narrowing {
    /// Only these subscriptions; none at all sees no synced skill.
    #[must_use]
    pub fn subscriptions<S: Into<String>>(mut self, subscriptions: impl IntoIterator<Item = S>) -> Self {
        self.subscriptions = Some(subscriptions.into_iter().map(Into::into).collect());
        self
    }

    /// What passes both: never wider than either.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        fn both<T: Ord + Clone>(one: Option<&BTreeSet<T>>, two: Option<&BTreeSet<T>>) -> Option<BTreeSet<T>> {
            match (one, two) {
                (Some(one), Some(two)) => Some(one & two),
                (one, two) => one.or(two).cloned(),
            }
        }
        Self {
            subscriptions: both(self.subscriptions.as_ref(), other.subscriptions.as_ref()),
            layers: both(self.layers.as_ref(), other.layers.as_ref()),
        }
    }

    /// Only these layers.
    #[must_use]
    pub fn layers(mut self, layers: impl IntoIterator<Item = Layer>) -> Self {
        self.layers = Some(layers.into_iter().collect());
        self
    }
}

/// What follows from the statements for one caller.
#[derive(Debug)]
pub(crate) struct Rights<'a> {
    statements: &'a Statements,
    narrowing: &'a Narrowing,
}

impl<'a> Rights<'a> {
    /// Rights under these statements, narrowed.
    pub(crate) fn new(statements: &'a Statements, narrowing: &'a Narrowing) -> Self {
        Self { statements, narrowing }
    }

    /// Whether the caller sees this layer at all.
    pub(crate) fn sees_layer(&self, layer: Layer) -> bool {
        self.narrowing.layers.as_ref().is_none_or(|layers| layers.contains(&layer))
    }

    /// Whether one of these subscriptions grants the caller every skill it brings (single ids of
    /// [`Rights::special_ids`] are decided apart).
    pub(crate) fn grants_all<'s>(&self, mut subscriptions: impl Iterator<Item = &'s str>) -> bool {
        subscriptions
            .any(|sub| self.counts(sub) && !matches!(self.document(sub), Some(d) if d.grants != Grants::All))
    }

    /// Ids for which a rule of a whole subscription is not enough, each once.
    pub(crate) fn special_ids(&self) -> BTreeSet<&'a str> {
        let mut ids: BTreeSet<&str> = self.statements.hidden.iter().map(String::as_str).collect();
        ids.extend(self.statements.withdrawn());
        for document in self.statements.platform.values() {
            if let Grants::List(list) = &document.grants {
                ids.extend(list.iter().map(String::as_str));
            }
        }
        ids
    }

    /// Whether the synced skill `id`, brought by these subscriptions, is granted to the caller and not masked.
    pub(crate) fn grants<'s>(&self, mut subscriptions: impl Iterator<Item = &'s str>, id: &str) -> bool {
        !self.statements.hidden.contains(id)
            && subscriptions.any(|sub| self.counts(sub) && self.names(sub, id))
    }

    /// Whether `id` is masked in every layer. `subscriptions` are those that bring its synced copy, if there is one.
    pub(crate) fn masks<'s>(&self, mut subscriptions: impl Iterator<Item = &'s str>, id: &str) -> bool {
        if self.statements.hidden.contains(id) {
            return true;
        }
        let withdrawn = self.statements.withdrawn().any(|withdrawn| withdrawn == id);
        // Another subscription of the deployment that still grants the id keeps the other layers' copies too.
        withdrawn && !subscriptions.any(|sub| self.statements.is_active(sub) && self.names(sub, id))
    }

    /// Whether a subscription is in force and in the caller's set.
    fn counts(&self, subscription: &str) -> bool {
        self.statements.is_active(subscription)
            && self.narrowing.subscriptions.as_ref().is_none_or(|set| set.contains(subscription))
    }

    /// Whether a subscription's document grants the id.
    fn names(&self, subscription: &str, id: &str) -> bool {
        !self.statements.withdraws(subscription, id)
            && match self.document(subscription).map(|document| &document.grants) {
                None | Some(Grants::All) => true,
                Some(Grants::List(ids)) => ids.contains(id),
            }
    }

    fn document(&self, subscription: &str) -> Option<&Document> {
        self.statements.platform.get(subscription)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::entitlement::{History, Standing};

    fn document(status: Standing, grants: Grants, revoked: &[(&str, u64)]) -> Document {
        let revoked: BTreeMap<String, u64> =
            revoked.iter().map(|(id, seq)| ((*id).to_owned(), *seq)).collect();
        Document {
            history: History::default(),
            ent_seq: 1,
            status,
            grants,
            revoked,
            max_offline_s: None,
            denies_on_expiry: false,
        }
    }

    fn world() -> Statements {
        let mut all = Statements::default();
        all.platform.insert("a".into(), document(Standing::Active, Grants::All, &[("gone", 1)]));
        let list = Grants::List(BTreeSet::from(["one".to_owned(), "gone".to_owned()]));
        all.platform.insert("b".into(), document(Standing::Active, list, &[]));
        all.platform.insert("c".into(), document(Standing::Suspended, Grants::All, &[]));
        all.hidden.insert("secret".into());
        all
    }

    #[test]
    fn a_skill_is_granted_while_one_of_its_subscriptions_grants_it() {
        let (statements, narrowing) = (world(), Narrowing::default());
        let rights = Rights::new(&statements, &narrowing);
        for (subs, id, want) in [
            (&["a"][..], "x", true),
            (&["a"], "gone", false),
            (&["a", "b"], "gone", true),
            (&["b"], "one", true),
            (&["b"], "two", false),
            (&["c"], "x", false),
            (&["a"], "secret", false),
            (&["unknown"], "x", false),
            (&[], "x", false),
        ] {
            assert_eq!(rights.grants(subs.iter().copied(), id), want, "{subs:?} {id}");
        }
        assert!(rights.grants_all(["a"].into_iter()) && !rights.grants_all(["b", "c"].into_iter()));
    }

    #[test]
    fn a_mask_reaches_every_layer_unless_another_subscription_grants_the_id() {
        let (statements, narrowing) = (world(), Narrowing::default());
        let rights = Rights::new(&statements, &narrowing);
        assert!(rights.masks([].into_iter(), "secret"));
        assert!(rights.masks(["a"].into_iter(), "gone"));
        assert!(rights.masks([].into_iter(), "gone"), "no synced copy any more");
        assert!(!rights.masks(["a", "b"].into_iter(), "gone"));
        assert!(!rights.masks(["c"].into_iter(), "x"), "not being granted masks only the synced copy");
    }

    #[test]
    fn two_narrowings_together_are_never_wider_than_either() {
        let (all, one) = (Narrowing::default(), Narrowing::default().subscriptions(["a", "b"]));
        let two = Narrowing::default().subscriptions(["b", "c"]).layers([Layer::Local]);
        assert_eq!(all.and(&one), one);
        assert_eq!(one.and(&all), one);
        assert_eq!(one.and(&two), Narrowing::default().subscriptions(["b"]).layers([Layer::Local]));
        let none = Narrowing::default().subscriptions(Vec::<String>::new());
        assert_eq!(one.and(&none), none);
    }

    #[test]
    fn a_caller_with_fewer_subscriptions_sees_fewer_skills() {
        let statements = world();
        let narrowing = Narrowing::default().subscriptions(["b"]);
        let rights = Rights::new(&statements, &narrowing);
        assert!(!rights.grants(["a"].into_iter(), "x"));
        assert!(rights.grants(["a", "b"].into_iter(), "one"));
        assert_eq!(rights.special_ids().into_iter().collect::<Vec<_>>(), ["gone", "one", "secret"]);
    }
}
