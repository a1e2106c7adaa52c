//! One statement about entitlements, and its bytes in the revocation ring.

use crate::error::Problem;
use crate::limits::{ID_BYTES_MAX, SUBSCRIPTION_BYTES_MAX};

/// What an operator says about entitlements on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalStatement {
    /// Activate a subscription that no platform document speaks of; ends an earlier `Revoke` of it.
    Grant(String),
    /// Switch a subscription off, whatever the platform says.
    Revoke(String),
    /// Mask an id in every layer.
    Hide(String),
    /// End a `Hide`.
    Unhide(String),
}

impl LocalStatement {
    /// Checks the text that the statement carries.
    ///
    /// # Errors
    /// The id or subscription is empty, too long, or holds control characters.
    pub fn check(&self) -> Result<(), Problem> {
        let (field, text, limit) = match self {
            Self::Grant(text) | Self::Revoke(text) => ("subscription", text, SUBSCRIPTION_BYTES_MAX),
            Self::Hide(text) | Self::Unhide(text) => ("id", text, ID_BYTES_MAX),
        };
        if text.is_empty() {
            return Err(Problem::new("missing_field", field, format!("the {field} is empty; name one")));
        }
        if text.len() > limit {
            return Err(Problem::new(
                "too_large",
                field,
                format!("the {field} is longer than {limit} bytes"),
            )
            .got(format!("{} bytes", text.len())));
        }
        if text.chars().any(char::is_control) {
            return Err(Problem::new(
                "control_character",
                field,
                format!("the {field} holds a control character; write it without"),
            ));
        }
        Ok(())
    }
}

/// A statement as the ring keeps it: local words, or a removal that a platform pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// From the operator.
    Local(LocalStatement),
    /// A platform's `skills.removed` for one id of one subscription.
    Removed {
        /// The subscription.
        subscription: String,
        /// Its entitlement counter.
        ent_seq: u64,
        /// The id.
        id: String,
    },
    /// A platform's removal that names no counter (or one of a timeline that no document here is of): it holds until a
    /// document comes that was asked for later.
    Suspended {
        /// The subscription.
        subscription: String,
        /// The id.
        id: String,
    },
}

const GRANT: u8 = 1;
const REVOKE: u8 = 2;
const HIDE: u8 = 3;
const UNHIDE: u8 = 4;
const REMOVED: u8 = 5;
const SUSPENDED: u8 = 6;

impl Statement {
    /// Whether the statement takes something away.
    pub(crate) fn masks(&self) -> bool {
        match self {
            Self::Local(LocalStatement::Revoke(_) | LocalStatement::Hide(_))
            | Self::Removed { .. }
            | Self::Suspended { .. } => true,
            Self::Local(LocalStatement::Grant(_) | LocalStatement::Unhide(_)) => false,
        }
    }

    /// Kind byte and payload for the ring.
    pub(crate) fn encode(&self) -> (u8, Vec<u8>) {
        match self {
            Self::Local(LocalStatement::Grant(text)) => (GRANT, text.as_bytes().to_vec()),
            Self::Local(LocalStatement::Revoke(text)) => (REVOKE, text.as_bytes().to_vec()),
            Self::Local(LocalStatement::Hide(text)) => (HIDE, text.as_bytes().to_vec()),
            Self::Local(LocalStatement::Unhide(text)) => (UNHIDE, text.as_bytes().to_vec()),
            Self::Removed { subscription, ent_seq, id } => {
                let mut bytes = ent_seq.to_le_bytes().to_vec();
                put_pair(&mut bytes, subscription, id);
                (REMOVED, bytes)
            }
            Self::Suspended { subscription, id } => {
                let mut bytes = Vec::new();
                put_pair(&mut bytes, subscription, id);
                (SUSPENDED, bytes)
            }
        }
    }

    /// Reads what [`Statement::encode`] wrote; `None` if the bytes are of no known form.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        Some(match kind {
            GRANT => Self::Local(LocalStatement::Grant(text(payload)?)),
            REVOKE => Self::Local(LocalStatement::Revoke(text(payload)?)),
            HIDE => Self::Local(LocalStatement::Hide(text(payload)?)),
            UNHIDE => Self::Local(LocalStatement::Unhide(text(payload)?)),
            REMOVED => {
                let (counter, rest) = payload.split_first_chunk::<8>()?;
                let (subscription, id) = pair(rest)?;
                Self::Removed { subscription, ent_seq: u64::from_le_bytes(*counter), id }
            }
            SUSPENDED => {
                let (subscription, id) = pair(payload)?;
                Self::Suspended { subscription, id }
            }
            _ => return None,
        })
    }
}

/// Length of the subscription (u16), subscription, id.
fn put_pair(bytes: &mut Vec<u8>, subscription: &str, id: &str) {
    bytes.extend_from_slice(&u16::try_from(subscription.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend_from_slice(subscription.as_bytes());
    bytes.extend_from_slice(id.as_bytes());
}

fn pair(bytes: &[u8]) -> Option<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_le_bytes(*length));
    Some((text(rest.get(..length)?)?, text(rest.get(length..)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_survives_the_ring() {
        for statement in [
            Statement::Local(LocalStatement::Grant("sub_7".into())),
            Statement::Local(LocalStatement::Revoke("x".repeat(128))),
            Statement::Local(LocalStatement::Hide("a/b".into())),
            Statement::Local(LocalStatement::Unhide("\u{5c0f}".into())),
            Statement::Removed { subscription: "s".repeat(128), ent_seq: u64::MAX, id: "i".repeat(128) },
            Statement::Suspended { subscription: "s".into(), id: "\u{5c0f}".into() },
        ] {
            let (kind, payload) = statement.encode();
            assert_eq!(Statement::decode(kind, &payload), Some(statement));
        }
    }

    #[test]
    fn bytes_of_no_known_form_are_none_and_never_panic() {
        for (kind, payload) in
            [(0, &b"x"[..]), (9, b""), (REMOVED, b"short"), (REMOVED, &[0xff; 12]), (HIDE, &[0xff])]
        {
            assert_eq!(Statement::decode(kind, payload), None);
        }
    }

    #[test]
    fn an_empty_too_long_or_controlling_text_is_refused() {
        for bad in [String::new(), "x".repeat(129), "a\nb".to_owned()] {
            assert!(LocalStatement::Hide(bad.clone()).check().is_err(), "{bad:?}");
            assert!(LocalStatement::Grant(bad).check().is_err());
        }
        assert!(LocalStatement::Revoke("sub_7".into()).check().is_ok());
    }
}
