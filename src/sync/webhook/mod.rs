//! The receiver of the platform's webhooks.

mod signature;

pub use signature::{SecretsError, WebhookSecrets};
