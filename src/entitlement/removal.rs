//! A removal that a platform pushed.

use crate::entitlement::{History, Statement};
use crate::error::Problem;
use crate::limits::{ID_BYTES_MAX, SUBSCRIPTION_BYTES_MAX, SYNC_PAGE_ITEMS_MAX};

/// `skills.removed`: ids whose grant by one subscription is withdrawn at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removal {
    /// The subscription.
    pub subscription: String,
    /// The platform's timeline that the counter is of, if it says so.
    pub history: Option<History>,
    /// The ids.
    pub ids: Vec<String>,
    /// Counter of the entitlements that says so. Without one the ids are suspended until a document comes that was asked
    /// for later.
    pub ent_seq: Option<u64>,
}

impl Removal {
    /// A removal of these ids, with no counter.
    #[must_use]
    pub fn new<S: Into<String>>(subscription: impl Into<String>, ids: impl IntoIterator<Item = S>) -> Self {
        let ids = ids.into_iter().map(Into::into).collect();
        Self { subscription: subscription.into(), history: None, ids, ent_seq: None }
    }

    /// Names the timeline.
    #[must_use]
    pub fn history(mut self, history: History) -> Self {
        self.history = Some(history);
        self
    }

    /// Names the counter.
    #[must_use]
    pub fn ent_seq(mut self, ent_seq: u64) -> Self {
        self.ent_seq = Some(ent_seq);
        self
    }

    /// Checks what does not depend on the state.
    ///
    /// # Errors
    /// Every text that cannot be a subscription or an id.
    pub fn check(&self) -> Result<(), Vec<Problem>> {
        let fits = |text: &str, limit: usize| {
            !text.is_empty() && text.len() <= limit && !text.chars().any(char::is_control)
        };
        let mut problems = Vec::new();
        if !fits(&self.subscription, SUBSCRIPTION_BYTES_MAX) {
            let message = "the subscription is empty, too long or holds a control character";
            problems.push(Problem::new("invalid_value", "subscription", message).got(&self.subscription));
        }
        if self.ids.len() > SYNC_PAGE_ITEMS_MAX {
            let message = format!("there are more than {SYNC_PAGE_ITEMS_MAX} ids; push a change instead");
            problems.push(Problem::new("too_large", "ids", message).got(self.ids.len()));
        }
        let wrong = self.ids.iter().filter(|id| !fits(id, ID_BYTES_MAX));
        problems.extend(wrong.map(|id| {
            let message = "the id is empty, too long or holds a control character";
            Problem::new("invalid_value", "ids", message).got(id)
        }));
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// The statements for the ring. `known` is the timeline of the document that stands: a counter of a later one cannot
    /// be compared with it, so that the ids are suspended; an earlier one has nothing to say any more.
    pub(crate) fn statements(&self, known: Option<&History>) -> Vec<Statement> {
        let compared = match (&self.history, known) {
            (Some(ours), Some(known)) => ours.counter.cmp(&known.counter),
            _ => std::cmp::Ordering::Equal,
        };
        let ent_seq = match compared {
            std::cmp::Ordering::Less => return Vec::new(),
            std::cmp::Ordering::Equal => self.ent_seq,
            std::cmp::Ordering::Greater => None,
        };
        let subscription = &self.subscription;
        let statement = |id: &String| match ent_seq {
            Some(ent_seq) => {
                Statement::Removed { subscription: subscription.clone(), ent_seq, id: id.clone() }
            }
            None => Statement::Suspended { subscription: subscription.clone(), id: id.clone() },
        };
        self.ids.iter().map(statement).collect()
    }
}
