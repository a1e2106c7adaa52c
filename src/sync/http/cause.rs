//! What lies behind an error of the HTTP client, without the address, which may hold a secret.

use std::error::Error;
use std::io;

use crate::sync::Failure;

/// The failure of a request that took at most `timeout_ms`.
pub(crate) fn failure(error: &reqwest::Error, timeout_ms: u64) -> Failure {
    if error.is_timeout() {
        return Failure::Timeout { after_ms: timeout_ms };
    }
    let detail = innermost(error);
    if tls(error) {
        return Failure::Tls { detail };
    }
    if error.is_connect() {
        return Failure::Unreachable { detail };
    }
    Failure::CutOff { detail }
}

/// The text of the last cause.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = behind(last) {
        last = cause;
    }
    last.to_string()
}

/// Whether a cause is one of TLS.
fn tls(error: &(dyn Error + 'static)) -> bool {
    let mut last = Some(error);
    while let Some(error) = last {
        if error.is::<rustls::Error>() {
            return true;
        }
        last = behind(error);
    }
    false
}

/// The next cause. An error of input or output hides its own one behind itself.
fn behind<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    if let Some(io) = error.downcast_ref::<io::Error>()
        && let Some(inner) = io.get_ref()
    {
        return Some(inner);
    }
    error.source()
}
