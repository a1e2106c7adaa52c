//! Tells a webhook of changes, as Standard Webhooks says.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::limits::{PLATFORM_WEBHOOK_ATTEMPTS_MAX, PLATFORM_WEBHOOK_WAIT_MS};
use crate::platform::service::random_hex;
use crate::platform::start_error::StartError;
use crate::platform::store::Change;
use crate::sync::http::plain_client;
use crate::sync::webhook::WebhookSecrets;

/// Who is told, and with which secret the messages are signed.
#[derive(Clone, Debug)]
pub struct WebhookTarget {
    url: Url,
    secrets: WebhookSecrets,
}

impl WebhookTarget {
    /// A receiver by its address. Messages are signed with the first secret.
    ///
    /// # Errors
    /// The address is none of HTTP.
    pub fn new(url: &str, secrets: WebhookSecrets) -> Result<Self, StartError> {
        let wrong =
            || StartError::Webhook { reason: "its address is no http or https URL; correct it".to_owned() };
        let url = Url::parse(url).map_err(|_| wrong())?;
        if matches!(url.scheme(), "http" | "https") { Ok(Self { url, secrets }) } else { Err(wrong()) }
    }
}

/// Begins to tell; ends with the runtime.
pub(crate) fn start(
    runtime: &Runtime,
    target: WebhookTarget,
) -> Result<mpsc::UnboundedSender<Vec<Change>>, StartError> {
    let client = plain_client(Duration::from_secs(5))
        .map_err(|cause| StartError::Webhook { reason: format!("{cause}; check the proxy settings") })?;
    let (send, mut changes) = mpsc::unbounded_channel::<Vec<Change>>();
    runtime.spawn(async move {
        while let Some(changes) = changes.recv().await {
            for message in changes.iter().flat_map(messages) {
                tell(&client, &target, &message).await;
            }
        }
    });
    Ok(send)
}

/// The messages about a change: what has to be gone at once comes first.
fn messages(change: &Change) -> Vec<Value> {
    let mut messages = Vec::new();
    let members = |more: Value| {
        let mut members = json!({"subscription": change.subscription, "history": change.history});
        if let (Value::Object(members), Value::Object(more)) = (&mut members, more) {
            members.extend(more);
        }
        members
    };
    if let Some(ent_seq) = change.ent_seq {
        if !change.revoked.is_empty() {
            let data = members(json!({"ids": change.revoked, "ent_seq": ent_seq}));
            messages.push(json!({"type": "skills.removed", "data": data}));
        }
        messages.push(json!({"type": "entitlement.changed", "data": members(json!({"ent_seq": ent_seq}))}));
    }
    if let Some(seq) = change.seq {
        messages.push(json!({"type": "catalog.changed", "data": members(json!({"seq": seq}))}));
    }
    messages
}

/// Sends one message; again a few times where nobody takes it.
async fn tell(client: &reqwest::Client, target: &WebhookTarget, message: &Value) {
    let Ok(id) = random_hex::<12>() else { return };
    let id = format!("msg_{id}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut message = message.clone();
    message["timestamp"] = json!(super::document::rfc3339(now));
    let body = message.to_string();
    for attempt in 1..=PLATFORM_WEBHOOK_ATTEMPTS_MAX {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string();
        let signature = target.secrets.sign(&id, &now, body.as_bytes());
        let sent = client
            .post(target.url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", &now)
            .header("webhook-signature", signature)
            .body(body.clone())
            .send()
            .await;
        match sent {
            Ok(answer) if answer.status().is_success() => return,
            Ok(answer) => tracing::warn!("the webhook answered {} to {}", answer.status(), message["type"]),
            Err(cause) => {
                tracing::warn!("the webhook cannot be told of {}: {}", message["type"], cause.without_url());
            }
        }
        tokio::time::sleep(Duration::from_millis(PLATFORM_WEBHOOK_WAIT_MS) * attempt).await;
    }
}
