//! Which redirects are followed: those that stay where they are, so that no credential goes anywhere else.

use reqwest::Url;
use reqwest::redirect::Policy;

use crate::limits::SPP_REDIRECTS_MAX;

/// A redirect that was not followed. It is found behind the error of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// To another scheme, host or port.
    #[error("the platform redirects to another origin, {origin}")]
    OtherOrigin {
        /// Scheme, host and port; nothing else of the address.
        origin: String,
    },
    /// One after the other without an end.
    #[error("the platform redirects more than {SPP_REDIRECTS_MAX} times")]
    TooMany,
}

/// Follows redirects within one origin.
pub(crate) fn policy() -> Policy {
    Policy::custom(|attempt| {
        let same = attempt.previous().first().is_some_and(|first| origin(first) == origin(attempt.url()));
        if !same {
            let origin = origin(attempt.url());
            return attempt.error(Refused::OtherOrigin { origin });
        }
        if attempt.previous().len() > SPP_REDIRECTS_MAX {
            return attempt.error(Refused::TooMany);
        }
        attempt.follow()
    })
}

/// The redirect that an error is about.
pub(crate) fn refused(error: &reqwest::Error) -> Option<Refused> {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return Some(refused.clone());
        }
        cause = error.source();
    }
    None
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
