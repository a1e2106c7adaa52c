//! The receiver of the platform's webhooks, as Standard Webhooks has them.
//!
//! A message is a hint that wakes the poller, or takes skills away at once; it never brings any. `signature` says who
//! it is from, `message` what it says, `receiver` listens.
//!
//! Invariant: nothing of a body is looked at before its signature is right, and 202 is never answered before a removal
//! is in effect.

mod message;
mod receiver;
mod signature;

pub use message::{Envelope, Message, Refusal, read};
pub use receiver::{Receiver, ReceiverOptions, Remover};
pub use signature::{SecretsError, WebhookSecrets};
