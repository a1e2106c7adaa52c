//! Digests of the protocol: of an item as it was sent, of a document, of everything that a subscription brings.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256, written `sha256:` and 64 hexadecimal digits.
///
/// ```
/// use repertoire::model::Digest;
///
/// let digest = Digest::of(b"abc");
/// assert!(digest.to_string().starts_with("sha256:ba7816bf"));
/// assert_eq!(digest.to_string().parse::<Digest>(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub [u8; 32]);

/// A text that is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a digest; write sha256: and 64 lower-case hexadecimal digits")]
pub struct NotADigest;

impl Digest {
    /// The digest of bytes: of a blob as it is sent.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a JSON value in its RFC 8785 form: of an item's `skill` as it is sent. `None` if the value has no
    /// such form.
    #[must_use]
    pub fn of_json(value: &Value) -> Option<Self> {
        serde_json_canonicalizer::to_vec(value).ok().map(|bytes| Self::of(&bytes))
    }

    /// The 64 hexadecimal digits alone, as in the address of a blob.
    #[must_use]
    pub fn hex(&self) -> String {
        self.to_string().split_off(PREFIX.len())
    }
}

const PREFIX: &str = "sha256:";

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digits = text.strip_prefix(PREFIX).filter(|digits| digits.len() == 64).ok_or(NotADigest)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let nibble = |digit: Option<&u8>| match digit {
                Some(digit @ b'0'..=b'9') => Ok(digit - b'0'),
                Some(digit @ b'a'..=b'f') => Ok(digit - b'a' + 10),
                _ => Err(NotADigest),
            };
            *byte = nibble(pair.first())? << 4 | nibble(pair.get(1))?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// The `content_root`: SHA-256 over every item of a subscription, added in the order of the ids.
///
/// ```
/// use repertoire::model::{ContentRoot, Digest};
///
/// let mut root = ContentRoot::default();
/// root.add("camera", 3, Some(&Digest::of(b"{}")));
/// root.add("wifi", 7, None);
/// let same = root.clone().finish();
/// assert_eq!(root.finish(), same);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContentRoot {
    sha: Sha256,
}

impl ContentRoot {
    /// Adds the next item: length of the id (u32, big-endian), id, counter (u64, big-endian), 32 bytes of its digest as
    /// it was sent (zeros if it had none).
    pub fn add(&mut self, id: &str, seq: u64, digest: Option<&Digest>) {
        self.sha.update(u32::try_from(id.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.sha.update(id);
        self.sha.update(seq.to_be_bytes());
        self.sha.update(digest.map_or([0; 32], |digest| digest.0));
    }

    /// The root.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.sha.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_digest_is_refused() {
        let good = Digest::of(b"x").to_string();
        for bad in ["", "sha256:", &good[7..], &good[..70], &good.to_uppercase(), &format!("{good}0")] {
            assert_eq!(bad.parse::<Digest>(), Err(NotADigest), "{bad}");
        }
        assert_eq!(serde_json::from_value::<Digest>(good.clone().into()).unwrap().to_string(), good);
    }

    #[test]
    fn the_digest_of_json_does_not_depend_on_the_order_of_members() {
        let a: Value = serde_json::from_str(r#"{"b":1.0,"a":[true]}"#).unwrap();
        let b: Value = serde_json::from_str(r#"{ "a" : [ true ], "b" : 1 }"#).unwrap();
        assert_eq!(Digest::of_json(&a), Digest::of_json(&b));
        assert_eq!(Digest::of_json(&a), Some(Digest::of(br#"{"a":[true],"b":1}"#)));
    }

    #[test]
    fn the_root_is_over_the_bytes_that_the_protocol_names() {
        let mut root = ContentRoot::default();
        root.add("ab", 258, None);
        let mut bytes = vec![0, 0, 0, 2, b'a', b'b', 0, 0, 0, 0, 0, 0, 1, 2];
        bytes.extend([0; 32]);
        assert_eq!(root.finish(), Digest::of(&bytes));
    }
}
