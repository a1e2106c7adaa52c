//! Which redirects are followed: those that stay where they are, so that no credential goes anywhere else.

use reqwest::Url;
use reqwest::redirect::Policy;

use crate::limits::SYNC_REDIRECTS_MAX;

/// Follows a few redirects within one origin; any other is the answer itself.
pub(crate) fn policy() -> Policy {
    Policy::custom(|attempt| {
        let here = attempt.previous().first().map(Url::origin);
        if here == Some(attempt.url().origin()) && attempt.previous().len() <= SYNC_REDIRECTS_MAX {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}
