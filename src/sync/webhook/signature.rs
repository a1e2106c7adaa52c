//! Signatures of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, compared in constant time.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::limits::{WEBHOOK_SECRETS_BYTES_MAX, WEBHOOK_SECRETS_MAX, WEBHOOK_SIGNATURES_MAX};

/// What secrets begin with; it may be left out.
const PREFIX: &str = "whsec_";
/// Version of the signatures that we make and know.
const VERSION: &str = "v1";
/// Fewest bytes of a key that cannot be guessed.
const KEY_BYTES_MIN: usize = 16;

/// The secrets that a sender may sign with: the first is the current one, the others are on their way in or out.
#[derive(Clone)]
pub struct WebhookSecrets(Vec<Vec<u8>>);

/// Why there are no secrets. What was found is never told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// The file cannot be read.
    #[error("cannot read the webhook secrets in {path}: {cause}; check the path and its permissions")]
    File {
        /// The file.
        path: String,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// A line is no secret.
    #[error(
        "line {line} of the webhook secrets is none; write one a line, `whsec_` and the base64 of {KEY_BYTES_MIN} bytes \
         or more"
    )]
    Line {
        /// The line, from 1.
        line: usize,
    },
    /// There is none, or there are too many.
    #[error("there are {count} webhook secrets; give from 1 to {WEBHOOK_SECRETS_MAX}, one a line")]
    Count {
        /// How many there are.
        count: usize,
    },
}

impl fmt::Debug for WebhookSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookSecrets({} of them)", self.0.len())
    }
}

impl WebhookSecrets {
    /// Reads secrets, one a line; blank lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    /// A line is none, or there are none or too many.
    pub fn parse(text: &str) -> Result<Self, SecretsError> {
        let mut keys = Vec::new();
        for (number, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let key = STANDARD.decode(line.strip_prefix(PREFIX).unwrap_or(line));
            match key {
                Ok(key) if key.len() >= KEY_BYTES_MIN => keys.push(key),
                _ => return Err(SecretsError::Line { line: number }),
            }
        }
        match keys.len() {
            1..=WEBHOOK_SECRETS_MAX => Ok(Self(keys)),
            count => Err(SecretsError::Count { count }),
        }
    }

    /// Reads a file of secrets.
    ///
    /// # Errors
    /// The file cannot be read or is larger than [`WEBHOOK_SECRETS_BYTES_MAX`]; as [`parse`](Self::parse).
    pub fn read(path: &Path) -> Result<Self, SecretsError> {
        let failed = |cause| SecretsError::File { path: path.display().to_string(), cause };
        if std::fs::metadata(path).map_err(failed)?.len() > WEBHOOK_SECRETS_BYTES_MAX {
            return Err(failed(std::io::Error::other("the file is too large")));
        }
        Self::parse(&std::fs::read_to_string(path).map_err(failed)?)
    }

    /// The signature of a message with the first secret, as the header carries it.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        let tag = self
            .0
            .first()
            .and_then(|key| mac(key, id, timestamp, body))
            .map(|mac| mac.finalize().into_bytes());
        format!("{VERSION},{}", tag.map(|tag| STANDARD.encode(tag)).unwrap_or_default())
    }

    /// Whether one of the signatures in a header is right under one of the secrets. The time that this takes tells
    /// nothing about the right one.
    #[must_use]
    pub fn verify(&self, id: &str, timestamp: &str, body: &[u8], header: &str) -> bool {
        let given: Vec<Vec<u8>> = header
            .split(' ')
            .filter_map(|one| one.split_once(','))
            .filter(|(version, _)| *version == VERSION)
            .filter_map(|(_, tag)| STANDARD.decode(tag).ok())
            .take(WEBHOOK_SIGNATURES_MAX)
            .collect();
        self.0.iter().filter_map(|key| mac(key, id, timestamp, body)).fold(false, |fits, mac| {
            given.iter().fold(fits, |fits, tag| mac.clone().verify_slice(tag).is_ok() | fits)
        })
    }
}

fn mac(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    // Keys of every length are fine for an HMAC.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

    #[test]
    fn the_example_of_the_standard_is_signed_as_it_says() {
        let secrets = WebhookSecrets::parse(SECRET).unwrap();
        let signed = secrets.sign(
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            "1649367553",
            br#"{"email":"test@example.com","username":"test_user"}"#,
        );
        assert_eq!(signed, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn another_implementation_agrees() {
        let oracle = standardwebhooks::Webhook::new(SECRET).unwrap();
        let secrets =
            WebhookSecrets::parse(&format!("whsec_{}\n{SECRET}\n", STANDARD.encode([7; 24]))).unwrap();
        for (id, timestamp, body) in [("msg_1", 1_700_000_000, "{}"), ("", 0, ""), ("x.y", 5, "\u{e9}\n")] {
            let signed = oracle.sign(id, timestamp, body.as_bytes()).unwrap();
            let timestamp = timestamp.to_string();
            assert!(secrets.verify(id, &timestamp, body.as_bytes(), &signed), "{id}");
            let several = format!("v1a,xx v1,AAAA {signed}");
            assert!(secrets.verify(id, &timestamp, body.as_bytes(), &several));
            for (id, timestamp, body, signed) in [
                ("other", timestamp.as_str(), body, signed.as_str()),
                (id, "1", body, &signed),
                (id, &timestamp, "{\"x\":1}", &signed),
                (id, &timestamp, body, &signed[..signed.len() - 4]),
                (id, &timestamp, body, "v1,"),
                (id, &timestamp, body, ""),
                (id, &timestamp, body, &signed.replace("v1,", "v2,")),
            ] {
                assert!(!secrets.verify(id, timestamp, body.as_bytes(), signed), "{signed}");
            }
        }
    }

    #[test]
    fn what_is_no_secret_is_refused_without_being_shown() {
        for (text, expect) in [
            ("", "there are 0"),
            ("# none\n\n", "there are 0"),
            ("whsec_canary!", "line 1"),
            ("\nwhsec_Y2FuYXJ5\n", "line 2"),
            (&format!("{SECRET}\n").repeat(WEBHOOK_SECRETS_MAX + 1), "webhook secrets"),
        ] {
            let error = WebhookSecrets::parse(text).unwrap_err();
            assert!(error.to_string().contains(expect), "{error}");
            assert!(!format!("{error:?}{error}").contains("canary"));
        }
        let secrets = WebhookSecrets::parse(SECRET).unwrap();
        assert_eq!(format!("{secrets:?}"), "WebhookSecrets(1 of them)");
    }
}
