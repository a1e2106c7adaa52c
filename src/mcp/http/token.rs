//! Bearer tokens: made from the system's randomness, kept as hashes, compared in constant time.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use crate::mcp::queries::hexadecimal;

/// What a token begins with, so that scanners of repositories find one that leaked.
const PREFIX: &str = "rpt_";
/// Random bytes of a token.
const RANDOM_BYTES: usize = 32;
/// Shortest token that is taken from a file: a guessable one is worse than none.
const TEXT_BYTES_MIN: usize = 16;
/// Longest token.
const TEXT_BYTES_MAX: usize = 512;

/// A bearer token. Never shown by `Debug`, never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// SHA-256 of a token, as `principals.toml` keeps it: tokens are random, so that no salt is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl Token {
    /// A new token of 256 random bits.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn generate() -> io::Result<Self> {
        let mut random = [0_u8; RANDOM_BYTES];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random))))
    }

    /// A token that somebody wrote: 16 to 512 printable ASCII characters without spaces.
    ///
    /// # Errors
    /// What is wrong with it, without showing it.
    pub fn from_text(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a token has printable ASCII characters only and no spaces");
        }
        if text.len() < TEXT_BYTES_MIN {
            return Err("a token has at least 16 characters");
        }
        if text.len() > TEXT_BYTES_MAX {
            return Err("a token has at most 512 characters");
        }
        Ok(Self(text.to_owned()))
    }

    /// The token itself, to be told to whoever is to use it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Its hash.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl TokenHash {
    /// The hash of a presented token.
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Whether both are the same, in a time that does not depend on where they differ.
    pub(crate) fn matches(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }

    /// Reads 64 hexadecimal digits.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// As 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hexadecimal(&self.0)
    }
}

/// Reads the token of a file; where there is no file, makes one with a new token that only its owner can read. Answers
/// whether it was made.
///
/// # Errors
/// The file cannot be read or made, others can read it, or it holds no token.
pub(crate) fn read_or_make(path: &Path) -> io::Result<(Token, bool)> {
    match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other.map(|token| (token, false)),
    }
    let token = Token::generate()?;
    // Written under another name first: nobody ever reads half a token, and of two processes one wins.
    let made = path.with_extension(format!("new-{}", std::process::id()));
    let written = write_new(&made, &token);
    let linked = written.and_then(|()| std::fs::hard_link(&made, path));
    // The other name is not needed whatever became of it.
    let _ = std::fs::remove_file(&made);
    match linked {
        Ok(()) => Ok((token, true)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok((read(path)?, false)),
        Err(error) => Err(error),
    }
}

fn write_new(path: &Path, token: &Token) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", token.reveal())?;
    file.sync_all()
}

fn read(path: &Path) -> io::Result<Token> {
    let file = File::open(path)?;
    refuse_if_shared(&file)?;
    let mut text = String::new();
    file.take(TEXT_BYTES_MAX as u64 * 2).read_to_string(&mut text)?;
    Token::from_text(&text).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Refuses a file that others than its owner can read.
fn refuse_if_shared(file: &File) -> io::Result<()> {
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let message = format!("others can read it (mode {mode:o}); make it yours alone with `chmod 600`");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_long_random_and_not_shown() {
        let (first, second) = (Token::generate().expect("random"), Token::generate().expect("random"));
        assert_ne!(first.reveal(), second.reveal());
        assert!(first.reveal().starts_with(PREFIX) && first.reveal().len() >= 40, "{}", first.reveal());
        assert_eq!(format!("{first:?}"), "Token(..)");
        assert!(bool::from(first.hash().matches(&TokenHash::of(first.reveal()))));
        assert!(!bool::from(first.hash().matches(&second.hash())));
    }

    #[test]
    fn a_hash_is_written_and_read_as_hexadecimal_digits() {
        let hash = TokenHash::of("some token");
        assert_eq!(TokenHash::from_hex(&hash.to_hex()), Some(hash));
        for wrong in ["", "00", &"g".repeat(64), &"\u{e4}".repeat(32), &"0".repeat(65)] {
            assert_eq!(TokenHash::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_that_can_be_guessed_or_is_no_header_value_is_refused() {
        for wrong in ["", "short", "with a space in the middle", "0123456789abcde\u{e4}f", &"x".repeat(513)] {
            assert!(Token::from_text(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(Token::from_text(" 0123456789abcdef\n").expect("a token").reveal(), "0123456789abcdef");
    }

    #[test]
    fn the_first_start_makes_a_file_for_its_owner_alone_and_later_ones_read_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("http-token");
        let (token, made) = read_or_make(&path).expect("made");
        assert!(made);
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let (again, made) = read_or_make(&path).expect("read");
        assert!(!made && again == token);
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_token_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("http-token");
        read_or_make(&path).expect("made");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
        let error = read_or_make(&path).expect_err("refused");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
}
