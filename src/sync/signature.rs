//! Signatures of documents: Ed25519 by a pinned key, over the digest of the document without its signature.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde_json::Value;

use crate::error::Problem;
use crate::limits::{SYNC_KEY_ID_BYTES_MAX, SYNC_PUBLIC_KEYS_MAX};
use crate::sync::Digest;

/// What a signature is about: a catalog cannot pass for entitlements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentKind {
    /// A page of a catalog.
    Catalog,
    /// An entitlements document.
    Entitlements,
}

impl DocumentKind {
    /// The word in the signed text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Entitlements => "entitlements",
        }
    }
}

/// The `signature` member of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Algorithm; only `ed25519` is known.
    pub alg: String,
    /// Which key made it.
    pub key_id: String,
    /// The 64 bytes in base64.
    pub sig: String,
}

impl Signature {
    /// The member as it stands in a document.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({"alg": self.alg, "key_id": self.key_id, "sig": self.sig})
    }
}

/// The digest that a signature is over: of the RFC 8785 form of the document without its `signature`. `None` if the
/// document is no object, or has no such form.
#[must_use]
pub fn unsigned_digest(document: &Value) -> Option<Digest> {
    let mut members = document.as_object()?.clone();
    members.remove("signature");
    Digest::of_json(&Value::Object(members))
}

/// The text that is signed: `spp1`, the kind and the digest in hexadecimal, with a line feed between them.
#[must_use]
pub fn signed_text(kind: DocumentKind, digest: &Digest) -> String {
    format!("spp1\n{}\n{}", kind.name(), digest.hex())
}

/// Signs a document that has no signature yet, as a platform does. `secret` is the 32-byte seed of the key. `None` as in
/// [`unsigned_digest`].
#[must_use]
pub fn sign(kind: DocumentKind, document: &Value, key_id: &str, secret: &[u8; 32]) -> Option<Signature> {
    let text = signed_text(kind, &unsigned_digest(document)?);
    let signature = SigningKey::from_bytes(secret).sign(text.as_bytes());
    Some(Signature {
        alg: ALGORITHM.to_owned(),
        key_id: key_id.to_owned(),
        sig: BASE64.encode(signature.to_bytes()),
    })
}

/// The public key of a secret one as configurations write it: `key_id:base64`.
#[must_use]
pub fn public_key_text(key_id: &str, secret: &[u8; 32]) -> String {
    let key = SigningKey::from_bytes(secret).verifying_key();
    format!("{key_id}:{}", BASE64.encode(key.as_bytes()))
}

const ALGORITHM: &str = "ed25519";

/// The keys whose signatures count. With none, documents need no signature; with at least one, each needs a good one.
/// Keys are exchanged by pinning the new one beside the old one for a while.
///
/// ```
/// use repertoire::sync::{DocumentKind, PublicKeys, public_key_text, sign, unsigned_digest};
///
/// let document = serde_json::json!({"spp": 1, "items": []});
/// let secret = [7; 32];
/// let keys = PublicKeys::parse(&[public_key_text("k2", &secret)]).expect("a good key");
/// let signature = sign(DocumentKind::Catalog, &document, "k2", &secret);
/// let digest = unsigned_digest(&document).expect("an object");
/// assert!(keys.check(DocumentKind::Catalog, &digest, signature.as_ref()).is_ok());
/// assert!(keys.check(DocumentKind::Entitlements, &digest, signature.as_ref()).is_err());
/// assert!(keys.check(DocumentKind::Catalog, &digest, None).is_err());
/// ```
#[derive(Clone, Default)]
pub struct PublicKeys {
    keys: BTreeMap<String, VerifyingKey>,
}

/// Why a document is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// There is none, and keys are pinned.
    #[error("the document is not signed, but sync.public_keys asks for it")]
    Missing,
    /// The algorithm is not ours.
    #[error("the signature is of algorithm {alg:?}; only ed25519 is known")]
    UnknownAlgorithm {
        /// What it says.
        alg: String,
    },
    /// The key is not pinned.
    #[error(
        "the signature is by key {key_id:?}, which is not pinned; add it to sync.public_keys if it is genuine"
    )]
    UnknownKey {
        /// What it says.
        key_id: String,
    },
    /// It does not fit.
    #[error("the signature by key {key_id:?} does not fit the document")]
    Wrong {
        /// The key.
        key_id: String,
    },
}

impl PublicKeys {
    /// Reads keys in the form `key_id:base64` (32 bytes).
    ///
    /// # Errors
    /// Every key that cannot be read, or stands there twice, or is too many.
    pub fn parse<S: AsRef<str>>(texts: &[S]) -> Result<Self, Vec<Problem>> {
        let mut keys = BTreeMap::new();
        let mut problems = Vec::new();
        let mut refuse = |text: &str, message: &str| {
            problems.push(Problem::new("invalid_value", "sync.public_keys", message).got(text));
        };
        for text in texts.iter().map(AsRef::as_ref) {
            match read_key(text) {
                Ok((id, key)) => {
                    if keys.insert(id, key).is_some() {
                        refuse(text, "this key id stands there twice; give each key its own");
                    }
                }
                Err(message) => refuse(text, message),
            }
        }
        if keys.len() > SYNC_PUBLIC_KEYS_MAX {
            refuse(&format!("{} keys", keys.len()), "there are more keys than are kept; remove old ones");
        }
        if problems.is_empty() { Ok(Self { keys }) } else { Err(problems) }
    }

    /// Whether no key is pinned, so that signatures are not looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Checks a document by its [`unsigned_digest`].
    ///
    /// # Errors
    /// What is wrong; never with no key pinned.
    pub fn check(
        &self,
        kind: DocumentKind,
        digest: &Digest,
        signature: Option<&Signature>,
    ) -> Result<(), SignatureError> {
        if self.is_empty() {
            return Ok(());
        }
        let signature = signature.ok_or(SignatureError::Missing)?;
        if signature.alg != ALGORITHM {
            return Err(SignatureError::UnknownAlgorithm { alg: signature.alg.clone() });
        }
        let key_id = signature.key_id.clone();
        let Some(key) = self.keys.get(&key_id) else { return Err(SignatureError::UnknownKey { key_id }) };
        let bytes = BASE64.decode(&signature.sig).ok().and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
        let fits = bytes.is_some_and(|bytes| {
            let signature = ed25519_dalek::Signature::from_bytes(&bytes);
            key.verify_strict(signed_text(kind, digest).as_bytes(), &signature).is_ok()
        });
        if fits { Ok(()) } else { Err(SignatureError::Wrong { key_id }) }
    }
}

impl fmt::Debug for PublicKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys.keys()).finish()
    }
}

fn read_key(text: &str) -> Result<(String, VerifyingKey), &'static str> {
    let (id, key) = text.split_once(':').ok_or("a key is written key_id:base64")?;
    if id.is_empty() || id.len() > SYNC_KEY_ID_BYTES_MAX {
        return Err("the key id is empty or too long");
    }
    let bytes = BASE64.decode(key).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let bytes = bytes.ok_or("the key is not 32 bytes in base64")?;
    let key = VerifyingKey::from_bytes(&bytes).ok().filter(|key| !key.is_weak());
    Ok((id.to_owned(), key.ok_or("the bytes are no Ed25519 public key")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(
        keys: &PublicKeys,
        document: &Value,
        signature: Option<&Signature>,
    ) -> Result<(), SignatureError> {
        keys.check(DocumentKind::Catalog, &unsigned_digest(document).unwrap(), signature)
    }

    #[test]
    fn a_signature_counts_only_by_a_pinned_key_over_the_same_document() {
        let document = json!({"spp": 1, "items": [], "seq": 4});
        let (old, new) = ([1; 32], [2; 32]);
        let both = [public_key_text("old", &old), public_key_text("new", &new)];
        let keys = PublicKeys::parse(&both).unwrap();
        for (id, secret) in [("old", &old), ("new", &new)] {
            let signature = sign(DocumentKind::Catalog, &document, id, secret).unwrap();
            assert_eq!(check(&keys, &document, Some(&signature)), Ok(()));
            let mut signed = document.clone();
            signed["signature"] = signature.to_json();
            assert_eq!(unsigned_digest(&signed), unsigned_digest(&document));
            signed["seq"] = json!(5);
            let wrong = SignatureError::Wrong { key_id: id.to_owned() };
            assert_eq!(check(&keys, &signed, Some(&signature)), Err(wrong));
        }
        let retired = PublicKeys::parse(&both[1..]).unwrap();
        let signature = sign(DocumentKind::Catalog, &document, "old", &old).unwrap();
        let unknown = SignatureError::UnknownKey { key_id: "old".to_owned() };
        assert_eq!(check(&retired, &document, Some(&signature)), Err(unknown));
        assert_eq!(check(&retired, &document, None), Err(SignatureError::Missing));
        let other = Signature { alg: "none".to_owned(), ..signature };
        assert!(matches!(
            check(&keys, &document, Some(&other)),
            Err(SignatureError::UnknownAlgorithm { .. })
        ));
        assert_eq!(check(&PublicKeys::default(), &document, None), Ok(()));
    }

    #[test]
    fn every_key_that_cannot_be_read_is_named_at_once() {
        let good = public_key_text("k", &[9; 32]);
        let weak = format!("w:{}", BASE64.encode([0; 32]));
        let bad = ["", "k", ":x", "k:x", &good, &good, &weak];
        let problems = PublicKeys::parse(&bad).unwrap_err();
        assert_eq!(problems.len(), 6, "{problems:?}");
    }
}
