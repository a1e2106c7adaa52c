//! The platform's signatures.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use serde_json::{Map, Value, json};

use crate::import::hex_sha256;
use crate::platform::fault::{FaultKind, Switches};
use crate::platform::start_error::StartError;

/// Signs documents with one key.
#[derive(Clone)]
pub struct Signer {
    key_id: String,
    key: SigningKey,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl Signer {
    /// A key by its id and the 32 bytes it is derived from.
    #[must_use]
    pub fn new(key_id: impl Into<String>, seed: [u8; 32]) -> Self {
        Self { key_id: key_id.into(), key: SigningKey::from_bytes(&seed) }
    }

    /// Reads a key file: one line `KEY_ID:BASE64` of 32 random bytes.
    ///
    /// # Errors
    /// The file cannot be read or holds something else; what it holds is not told.
    pub fn read(path: &Path) -> Result<Self, StartError> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| StartError::File { path: path.to_owned(), cause })?;
        let wrong = || StartError::SignKey { path: path.to_owned() };
        let (key_id, seed) = text.trim().split_once(':').ok_or_else(wrong)?;
        let seed = STANDARD.decode(seed.trim()).map_err(|_| wrong())?;
        let seed = seed.try_into().map_err(|_| wrong())?;
        if key_id.is_empty() {
            return Err(wrong());
        }
        Ok(Self::new(key_id, seed))
    }

    /// The public key as clients are configured with it: `KEY_ID:BASE64`.
    #[must_use]
    pub fn public(&self) -> String {
        format!("{}:{}", self.key_id, STANDARD.encode(self.key.verifying_key().as_bytes()))
    }

    /// Puts the signature into a document; `part` is `catalog` or `entitlements`.
    pub(crate) fn sign(&self, document: &mut Map<String, Value>, part: &str, switches: &Switches) {
        document.remove("signature");
        if switches.on(FaultKind::Unsigned) {
            return;
        }
        // A document of plain JSON has an RFC 8785 form.
        let canonical = serde_json_canonicalizer::to_vec(document).unwrap_or_default();
        let mut message = format!("spp1\n{part}\n{}", hex_sha256(&canonical));
        if switches.on_for(FaultKind::BadSignature, part) {
            message.push('x');
        }
        let key_id = if switches.on(FaultKind::UnknownKey) { "nobody" } else { &self.key_id };
        let sig = STANDARD.encode(self.key.sign(message.as_bytes()).to_bytes());
        document.insert("signature".to_owned(), json!({"alg": "ed25519", "key_id": key_id, "sig": sig}));
    }
}
