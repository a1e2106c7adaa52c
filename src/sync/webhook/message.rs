//! What a webhook says, once it is known to be genuine.

use serde_json::Value;

use crate::entitlement::{History, Removal};
use crate::error::Problem;
use crate::limits::WEBHOOK_SKEW_S_MAX;
use crate::sync::webhook::WebhookSecrets;

/// The three headers of Standard Webhooks, as they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Envelope<'h> {
    /// `webhook-id`.
    pub id: Option<&'h str>,
    /// `webhook-timestamp`.
    pub timestamp: Option<&'h str>,
    /// `webhook-signature`.
    pub signature: Option<&'h str>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// `catalog.changed` or `entitlement.changed`: there is something to fetch.
    Changed,
    /// `skills.removed`: something has to be gone now.
    Removed(Removal),
    /// Of a type that says nothing here.
    Other,
}

/// Why a message is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A header is missing or empty.
    #[error("the header {name} is missing; send the three headers of Standard Webhooks")]
    MissingHeader {
        /// Its name.
        name: &'static str,
    },
    /// The time is none, or too far from now.
    #[error("webhook-timestamp is not within {WEBHOOK_SKEW_S_MAX} s of now; set the clocks and send again")]
    Time,
    /// No signature is right under any secret.
    #[error("no signature is right; sign `id.timestamp.body` with a secret of this receiver")]
    Signature,
    /// The body is none.
    #[error("the body cannot be used: {}", said(problems))]
    Body {
        /// Everything that is wrong with it.
        problems: Vec<Problem>,
    },
}

impl Refusal {
    /// The status of HTTP.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Signature => 401,
            _ => 400,
        }
    }
}

/// Reads a message that came at `now` (seconds since 1970). Nothing in the body counts before the signature is right.
///
/// # Errors
/// It is not genuine, too old, or says something that cannot be understood.
pub fn read(
    secrets: &WebhookSecrets,
    envelope: Envelope<'_>,
    body: &[u8],
    now: u64,
) -> Result<Message, Refusal> {
    let present = |value: Option<&'_ str>, name| {
        value.filter(|text| !text.is_empty()).map(str::to_owned).ok_or(Refusal::MissingHeader { name })
    };
    let id = present(envelope.id, "webhook-id")?;
    let timestamp = present(envelope.timestamp, "webhook-timestamp")?;
    let signature = present(envelope.signature, "webhook-signature")?;
    let sent: u64 = timestamp.parse().map_err(|_| Refusal::Time)?;
    if now.abs_diff(sent) > WEBHOOK_SKEW_S_MAX {
        return Err(Refusal::Time);
    }
    if !secrets.verify(&id, &timestamp, body, &signature) {
        return Err(Refusal::Signature);
    }
    let refused = |problems| Refusal::Body { problems };
    let value: Value = serde_json::from_slice(body)
        .map_err(|_| refused(vec![Problem::new("json_invalid", "", "the body is no JSON")]))?;
    match value["type"].as_str() {
        Some("catalog.changed" | "entitlement.changed") => Ok(Message::Changed),
        Some("skills.removed") => {
            // Standard Webhooks puts the members into `data`; beside the type they are understood, too.
            let members = if value["data"].is_object() { &value["data"] } else { &value };
            removal(members).map(Message::Removed).map_err(refused)
        }
        Some(_) => Ok(Message::Other),
        None => Err(refused(vec![Problem::new("missing_field", "type", "the message has no type")])),
    }
}

fn removal(members: &Value) -> Result<Removal, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut wrong = |field: &str, message: &str| problems.push(Problem::new("type_mismatch", field, message));
    let subscription = members["subscription"].as_str();
    if subscription.is_none() {
        wrong("subscription", "is missing or no text");
    }
    let ids: Option<Vec<&str>> =
        members["ids"].as_array().and_then(|ids| ids.iter().map(Value::as_str).collect());
    if ids.as_ref().is_none_or(Vec::is_empty) {
        wrong("ids", "is missing, empty, or no list of texts");
    }
    let history = match &members["history"] {
        Value::Null => None,
        written => {
            let history = written.as_str().and_then(|text| text.parse::<History>().ok());
            if history.is_none() {
                wrong("history", "is not COUNTER:RANDOM");
            }
            history
        }
    };
    let ent_seq = members["ent_seq"].as_u64();
    if ent_seq.is_none() && !members["ent_seq"].is_null() {
        wrong("ent_seq", "is no whole number");
    }
    let mut removal = Removal::new(subscription.unwrap_or_default(), ids.unwrap_or_default());
    removal.history = history;
    removal.ent_seq = ent_seq;
    if problems.is_empty() {
        removal.check()?;
        return Ok(removal);
    }
    Err(problems)
}

fn said(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const NOW: u64 = 1_800_000_000;

    fn take(body: &str, sent: u64) -> Result<Message, Refusal> {
        let secrets = WebhookSecrets::parse(SECRET).unwrap();
        let sent = sent.to_string();
        let signature = secrets.sign("msg_1", &sent, body.as_bytes());
        let envelope = Envelope { id: Some("msg_1"), timestamp: Some(&sent), signature: Some(&signature) };
        read(&secrets, envelope, body.as_bytes(), NOW)
    }

    #[test]
    fn the_three_types_are_understood_and_others_are_let_be() {
        for body in [r#"{"type":"catalog.changed"}"#, r#"{"type":"entitlement.changed","data":{"x":1}}"#] {
            assert_eq!(take(body, NOW), Ok(Message::Changed));
        }
        assert_eq!(take(r#"{"type":"invoice.paid","data":{}}"#, NOW), Ok(Message::Other));
        let members = r#""subscription":"s","history":"3:x","ids":["a","b"],"ent_seq":12"#;
        let removal = Removal::new("s", ["a", "b"]).history("3:x".parse().unwrap()).ent_seq(12);
        for body in [
            format!(r#"{{"type":"skills.removed","data":{{{members}}}}}"#),
            format!(r#"{{"type":"skills.removed",{members}}}"#),
        ] {
            assert_eq!(take(&body, NOW), Ok(Message::Removed(removal.clone())));
        }
        let bare = take(r#"{"type":"skills.removed","subscription":"s","ids":["a"]}"#, NOW);
        assert_eq!(bare, Ok(Message::Removed(Removal::new("s", ["a"]))));
    }

    #[test]
    fn a_message_counts_for_five_minutes_before_and_after_its_time() {
        let body = r#"{"type":"catalog.changed"}"#;
        for sent in [NOW - WEBHOOK_SKEW_S_MAX, NOW + WEBHOOK_SKEW_S_MAX] {
            assert_eq!(take(body, sent), Ok(Message::Changed));
        }
        for sent in [NOW - WEBHOOK_SKEW_S_MAX - 1, NOW + WEBHOOK_SKEW_S_MAX + 1, 0, u64::MAX] {
            assert_eq!(take(body, sent), Err(Refusal::Time));
        }
    }

    #[test]
    fn what_is_not_signed_is_never_looked_into() {
        let secrets = WebhookSecrets::parse(SECRET).unwrap();
        let now = NOW.to_string();
        let whole = Envelope { id: Some("m"), timestamp: Some(&now), signature: Some("v1,AAAA") };
        for (envelope, status) in [
            (whole, 401),
            (Envelope { id: None, ..whole }, 400),
            (Envelope { timestamp: None, ..whole }, 400),
            (Envelope { timestamp: Some("now"), ..whole }, 400),
            (Envelope { signature: Some(""), ..whole }, 400),
        ] {
            let refusal = read(&secrets, envelope, b"\xff no JSON", NOW).unwrap_err();
            assert_eq!(refusal.status(), status, "{refusal}");
            assert!(!matches!(refusal, Refusal::Body { .. }));
        }
    }

    #[test]
    fn everything_that_is_wrong_with_a_removal_is_named_at_once() {
        for (body, fields) in [
            ("[", vec![""]),
            ("{}", vec!["type"]),
            (r#"{"type":"skills.removed"}"#, vec!["subscription", "ids"]),
            (
                r#"{"type":"skills.removed","data":{"subscription":7,"ids":[1],"history":"x","ent_seq":-1}}"#,
                vec!["subscription", "ids", "history", "ent_seq"],
            ),
            (
                r#"{"type":"skills.removed","data":{"subscription":"","ids":["a\u0000"]}}"#,
                vec!["subscription", "ids"],
            ),
        ] {
            let Err(Refusal::Body { problems }) = take(body, NOW) else { panic!("{body} is taken") };
            let named: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
            assert_eq!(named, fields, "{body}");
        }
    }
}
