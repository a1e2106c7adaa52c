//! Changing `principals.toml` without disturbing what people wrote in it: a principal is a block of lines.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::Problem;
use crate::limits::PRINCIPALS_BYTES_MAX;
use crate::mcp::http::principals::{Principal, parse_principals};

/// The line that begins a principal.
const HEADER: &str = "[[principal]]";

/// Why the file was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrincipalsError {
    /// The file, or what it would become, breaks the rules.
    #[error("the principals are rejected: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Rejected(Vec<Problem>),
    /// The file cannot be written.
    #[error("the file cannot be written: {0}; check its folder")]
    Io(#[from] io::Error),
    /// Another change is under way, or one was cut off.
    #[error("another change is under way; if none is, remove {0}")]
    Busy(String),
}

/// Reads the principals of a file; none where there is no file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_principals(path: &Path) -> Result<Vec<Principal>, Vec<Problem>> {
    parse_principals(&read_text(path)?, folder(path))
}

/// Adds a principal at the end of a file, which is made if it is not there. In effect at the next request of every
/// server that reads the file.
///
/// # Errors
/// The file is wrong, or would be: the name or the token is there already.
pub fn add_principal(path: &Path, principal: &Principal) -> Result<(), PrincipalsError> {
    change(path, |text| {
        let mut text = text.to_owned();
        if !text.is_empty() {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push('\n');
        }
        text.push_str(&principal.to_toml());
        Some(text)
    })
    .map(drop)
}

/// Removes a principal with the lines that belong to it; `false` where there is none of that name. Its token is refused
/// from the next request on.
///
/// # Errors
/// The file is wrong, or its lines cannot be told apart.
pub fn remove_principal(path: &Path, name: &str) -> Result<bool, PrincipalsError> {
    let before = read_principals(path).map_err(PrincipalsError::Rejected)?;
    if !before.iter().any(|principal| principal.name == name) {
        return Ok(false);
    }
    change(path, |text| {
        let blocks = blocks(text);
        let (before_all, blocks) = blocks.split_first()?;
        let kept = blocks.iter().filter(|block| name_of(block).as_deref() != Some(name));
        let kept: String = std::iter::once(before_all).chain(kept).map(String::as_str).collect();
        let left = parse_principals(&kept, folder(path)).ok()?;
        let wanted = before.iter().filter(|principal| principal.name != name);
        left.iter().eq(wanted).then_some(kept)
    })
}

/// Writes what `edit` makes of the text, if that is a valid file; `None` of `edit` changes nothing and is an error.
fn change(path: &Path, edit: impl FnOnce(&str) -> Option<String>) -> Result<bool, PrincipalsError> {
    let next = path.with_extension("toml.new");
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&next);
    let mut file = match opened {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(PrincipalsError::Busy(next.display().to_string()));
        }
        opened => opened?,
    };
    let written = (|| {
        let text = read_text(path).map_err(PrincipalsError::Rejected)?;
        parse_principals(&text, folder(path)).map_err(PrincipalsError::Rejected)?;
        let text = edit(&text).ok_or_else(|| {
            let message =
                format!("the file is not written as blocks that begin with {HEADER}; edit it by hand");
            PrincipalsError::Rejected(vec![Problem::new("unknown_form", "", message)])
        })?;
        parse_principals(&text, folder(path)).map_err(PrincipalsError::Rejected)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&next, path)?;
        File::open(folder(path))?.sync_all()?;
        Ok(true)
    })();
    if written.is_err() {
        // The next change must not find it.
        let _ = fs::remove_file(&next);
    }
    written
}

fn read_text(path: &Path) -> Result<String, Vec<Problem>> {
    let unreadable =
        |error: io::Error| vec![Problem::new("unreadable", "", format!("the file cannot be read: {error}"))];
    let size = match fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(unreadable(error)),
    };
    if size > PRINCIPALS_BYTES_MAX {
        let problem = Problem::new("too_large", "", "the file is too large");
        return Err(vec![problem.got(size).allowed(format!("at most {PRINCIPALS_BYTES_MAX} bytes"))]);
    }
    fs::read_to_string(path).map_err(unreadable)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The text cut before each header; what stands before the first one is a block as well.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.trim() == HEADER {
            blocks.push(String::new());
        }
        if let Some(last) = blocks.last_mut() {
            last.push_str(line);
        }
    }
    blocks
}

/// The name in a block.
fn name_of(block: &str) -> Option<String> {
    let table: toml::Table = block.parse().ok()?;
    let name = table.get("principal")?.as_array()?.first()?.get("name")?.as_str()?;
    Some(name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::mcp::http::token::Token;

    fn principal(name: &str) -> Principal {
        Principal::new(name, Token::generate().expect("random").hash())
    }

    #[test]
    fn principals_come_and_go_and_comments_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("principals.toml");
        assert_eq!(read_principals(&path), Ok(vec![]));
        assert!(!remove_principal(&path, "a").expect("nothing to do"));
        fs::write(&path, "# ours\n").expect("writes");
        for name in ["a", "b", "c"] {
            add_principal(&path, &principal(name)).expect("adds");
        }
        assert!(matches!(add_principal(&path, &principal("b")), Err(PrincipalsError::Rejected(_))));
        assert!(remove_principal(&path, "b").expect("removes"));
        let left: Vec<_> = read_principals(&path).expect("reads").into_iter().map(|p| p.name).collect();
        assert_eq!(left, ["a", "c"]);
        assert!(fs::read_to_string(&path).expect("reads").starts_with("# ours\n"));
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_file_of_another_form_is_not_guessed_at() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("principals.toml");
        let one = principal("a");
        let text = format!("principal = [{{name = \"a\", token_sha256 = \"{}\"}}]\n", one.token.to_hex());
        fs::write(&path, &text).expect("writes");
        assert!(matches!(remove_principal(&path, "a"), Err(PrincipalsError::Rejected(_))));
        assert_eq!(fs::read_to_string(&path).expect("reads"), text);
    }

    #[test]
    fn a_change_under_way_is_waited_for_by_nobody_and_overwritten_by_nobody() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("principals.toml");
        fs::write(path.with_extension("toml.new"), "").expect("writes");
        assert!(matches!(add_principal(&path, &principal("a")), Err(PrincipalsError::Busy(_))));
        assert!(!path.exists());
    }
}
