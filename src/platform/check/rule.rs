//! What is checked, in order.

use std::fmt::Write as _;

use crate::limits::CHECK_NAMED_MAX;
use crate::platform::check::{CheckLine, Outcome};

macro_rules! rules {
    ($($rule:ident $name:literal $about:literal,)*) => {
        /// One thing that a platform must do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("The check `", $name, "`.")] $rule,)*
        }

        impl Rule {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$rule,)*];

            /// As the report names it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)*
                }
            }

            /// What a platform must do.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$rule => $about,)*
                }
            }
        }
    };
}

rules! {
    Answers "answers" "the catalog comes whole, in time and within the limits of a client",
    ContentType "content-type" "documents are labelled application/json",
    Document "document" "a catalog is a JSON object of SPP/1 about the subscription that was asked for",
    Token "token" "nothing is told to a client without the right token",
    Items "items" "every item is a skill or names a blob, and no id stands twice",
    Digests "digests" "the digest of an item is the SHA-256 of its skill in RFC 8785 form",
    Skills "skills" "every skill keeps the rules of the model",
    Tools "tools" "flows and allowlists name tools that exist",
    NotEmpty "not-empty" "the catalog holds something",
    Count "count" "count_total counts the items of the whole catalog",
    Root "content-root" "content_root is the hash of the items of the whole catalog",
    Seq "seq" "counters only grow, and no item has a higher one than its catalog",
    History "history" "the history is COUNTER:RANDOM and stays the same",
    Paging "paging" "small pages end, and bring the same items",
    UnknownPage "unknown-page" "a page that nobody handed out is refused",
    Etag "etag" "who has the newest state gets 304 and no body",
    Delta "delta" "who asks for changes since the newest cursor gets none",
    UnknownCursor "unknown-cursor" "an unknown cursor leads to 410 or to the full catalog",
    LongPoll "long-poll" "a request that may wait is answered within its wait",
    Encodings "encodings" "gzip, zstd and plain bring the same document",
    Blobs "blobs" "blobs have the size and the digest that their items name",
    UnknownSubscription "unknown-subscription" "a subscription that there is not is 404 or 403",
    Entitlements "entitlements" "the entitlements document says status, grants and revocations under a counter",
    Agreement "agreement" "catalog and entitlements speak of the same history and counter",
    Signature "signature" "every page and the entitlements are signed with a known key",
    Report "report" "a client's report is taken",
}

/// What was found about a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Fail { found: String, advice: String },
    Skip(String),
}

impl Verdict {
    pub(super) fn fail(found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Fail { found: found.into(), advice: advice.into() }
    }

    pub(super) fn skip(why: impl Into<String>) -> Self {
        Self::Skip(why.into())
    }

    /// Fails if there is anything in the list; a few of the faults are named.
    pub(super) fn of(faults: &[String], advice: impl Into<String>) -> Self {
        if faults.is_empty() {
            return Self::Pass;
        }
        let mut found = faults.iter().take(CHECK_NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
        if let Some(more) = faults.len().checked_sub(CHECK_NAMED_MAX).filter(|more| *more > 0) {
            // Writing to a string cannot fail.
            let _ = write!(found, "; and {more} more");
        }
        Self::fail(found, advice)
    }

    pub(super) fn line(self, rule: Rule) -> CheckLine {
        let (outcome, found, advice) = match self {
            Self::Pass => (Outcome::Pass, None, None),
            Self::Fail { found, advice } => (Outcome::Fail, Some(found), Some(advice)),
            Self::Skip(why) => (Outcome::Skip, Some(why), None),
        };
        CheckLine { check: rule.name(), about: rule.about(), outcome, found, advice }
    }
}
