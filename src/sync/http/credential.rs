//! The token that is shown to the platform.

use std::fmt;
use std::path::PathBuf;

use parking_lot::RwLock;
use reqwest::header::HeaderValue;

use crate::limits::SYNC_TOKEN_FILE_BYTES_MAX;
use crate::sync::Secret;
use crate::sync::http::HttpError;

/// Where the token comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenSource {
    /// There is none.
    #[default]
    None,
    /// This one.
    Fixed(Secret),
    /// A file; it is read again when the platform refuses what it held.
    File(PathBuf),
}

/// The header with the token, as it is now.
pub(crate) struct Credential {
    source: TokenSource,
    header: RwLock<Option<HeaderValue>>,
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.source {
            TokenSource::None => "no token",
            TokenSource::Fixed(_) => "a token",
            TokenSource::File(_) => "a token from a file",
        })
    }
}

impl Credential {
    /// Reads it.
    pub(crate) fn new(source: TokenSource) -> Result<Self, HttpError> {
        let header = RwLock::new(read(&source)?);
        Ok(Self { source, header })
    }

    /// The value of `Authorization`, marked as a secret.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        self.header.read().clone()
    }

    /// Reads the file again; false if there is none, so that another try would be the same.
    pub(crate) fn renew(&self) -> bool {
        if !matches!(self.source, TokenSource::File(_)) {
            return false;
        }
        match read(&self.source) {
            Ok(header) => *self.header.write() = header,
            Err(error) => tracing::warn!("the token cannot be read again: {error}"),
        }
        true
    }
}

fn read(source: &TokenSource) -> Result<Option<HeaderValue>, HttpError> {
    let secret = match source {
        TokenSource::None => return Ok(None),
        TokenSource::Fixed(secret) => secret.clone(),
        TokenSource::File(path) => {
            let failed = |cause| HttpError::TokenFile { path: path.clone(), cause };
            if std::fs::metadata(path).map_err(failed)?.len() > SYNC_TOKEN_FILE_BYTES_MAX {
                return Err(HttpError::Token);
            }
            Secret::new(&std::fs::read_to_string(path).map_err(failed)?)
        }
    };
    if secret.is_empty() {
        return Err(HttpError::Token);
    }
    let header = HeaderValue::from_str(&format!("Bearer {}", secret.expose()));
    let mut header = header.map_err(|_| HttpError::Token)?;
    header.set_sensitive(true);
    Ok(Some(header))
}
