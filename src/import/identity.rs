//! Names and ids: how a written name becomes an id, and which names are refused.

use unicode_normalization::UnicodeNormalization;

use crate::error::Problem;
use crate::import::front::Front;
use crate::model::{is_invisible, slug};

/// Longest name of the Agent Skills standard, in characters; above it is a warning.
const STANDARD_NAME_CHARS_MAX: usize = 64;

/// An id with the name that people read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Identity {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// Takes `name` (and `id`) of an Agent Skills file; the folder's name stands in for a missing one.
pub(crate) fn agent(front: &mut Front, directory: &str, problems: &mut Vec<Problem>) -> Identity {
    let stated = front.text("id").map(|written| written.text);
    let Some(written) = front.prose("name") else {
        let name = stated.unwrap_or_else(|| directory.to_owned());
        front.warn(
            "name_defaulted_from_directory",
            "name",
            "the file states no name; its folder's name is taken",
        );
        let id = id_of(&name, "name", front, problems);
        return Identity { id, name: one_line(&name) };
    };
    let name = one_line(&written.text);
    let id = id_of(&name, "name", front, problems);
    if let Some(stated) = stated.filter(|stated| slug(stated) != id) {
        let message = "`id` and `name` say different things; keep one of them";
        problems.push(front.problem("conflicting_identity", "id", message).got(stated).allowed(id.clone()));
    }
    warn_about(front, &name, &id, directory);
    Identity { id, name }
}

/// Takes `id` and `title` of a Skills v2 file.
pub(crate) fn touchpilot(front: &mut Front, directory: &str, problems: &mut Vec<Problem>) -> Identity {
    let id = front.text("id").map(|written| written.text);
    let title = front.prose("title").map(|written| one_line(&written.text));
    if let Some(name) = front.text("name").map(|written| written.text)
        && let Some(id) = &id
        && slug(&name) != *id
    {
        let message =
            "`id` and `name` say different things; Skills v2 has `id` and `title` only: remove `name`";
        problems.push(front.problem("conflicting_identity", "name", message).got(name).allowed(id.clone()));
    }
    match &id {
        None => problems.push(missing(front, "id", "a Skills v2 file needs an `id`, the name of its folder")),
        Some(id) => problems.extend(v2_id_problem(front, id, directory)),
    }
    if title.is_none() {
        problems.push(missing(front, "title", "a Skills v2 file needs a `title`, a short name for people"));
    }
    Identity { id: id.unwrap_or_default(), name: title.unwrap_or_default() }
}

/// The first fault of a Skills v2 id.
fn v2_id_problem(front: &Front, id: &str, directory: &str) -> Option<Problem> {
    if id.chars().any(is_invisible) {
        let message = "the id holds an invisible character; remove it";
        return Some(front.problem("invisible_character_in_name", "id", message).got(id));
    }
    if let Some(why) = unsafe_because(id) {
        return Some(front.problem("unsafe_name", "id", why).got(id));
    }
    if id.nfkc().ne(directory.nfkc()) {
        let message = "the id is not the name of the folder; make them equal";
        return Some(front.problem("id_directory_mismatch", "id", message).got(id).allowed(directory));
    }
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (!id.bytes().all(good)).then(|| {
        let problem = front.problem("invalid_id", "id", "a Skills v2 id has other characters than it may");
        problem.got(id).allowed("a-z, 0-9 and -")
    })
}

/// The problem for a required field that is absent or empty.
pub(crate) fn missing(front: &Front, field: &str, message: &str) -> Problem {
    let code = if field == "description" { "missing_description" } else { "missing_field" };
    front.problem(code, field, message)
}

/// The id that a written name makes; refuses names that are unsafe.
fn id_of(name: &str, field: &str, front: &Front, problems: &mut Vec<Problem>) -> String {
    if let Some(why) = unsafe_because(name) {
        problems.push(front.problem("unsafe_name", field, why).got(name));
        return String::new();
    }
    let id = slug(name);
    if id.is_empty() {
        let message =
            "the name holds no letter and no digit that an id could be made of; write one with words";
        problems.push(front.problem("unsafe_name", field, message).got(name));
    }
    id
}

/// Why a name could be mistaken for a path or for markup.
fn unsafe_because(name: &str) -> Option<&'static str> {
    let path_like = name.starts_with(['/', '~', '.'])
        || name.contains('\\')
        || name.split('/').any(|part| part.trim() == ".." || part.trim() == ".");
    if path_like {
        return Some("the name looks like a path; write a plain name");
    }
    has_markup(name).then_some("the name holds markup; write a plain name")
}

/// Whether a text holds something like `<tag>` or `</tag>`.
pub(crate) fn has_markup(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let inner = text[at + 1..].trim_start_matches(['/', '!', '?']);
        inner.starts_with(|c: char| c.is_ascii_alphabetic())
            && inner.find(['<', '>']).is_some_and(|end| inner[end..].starts_with('>'))
    })
}

fn warn_about(front: &mut Front, name: &str, id: &str, directory: &str) {
    if id.is_empty() {
        return;
    }
    if id != name {
        let message = format!("an id has lower-case letters, digits and joints only; {id:?} became the id");
        front.warn("name_normalised", "name", message);
    }
    if !name.is_ascii() {
        front.warn("name_not_ascii", "name", "some loaders accept ASCII names only");
    }
    let chars = name.chars().count();
    if chars > STANDARD_NAME_CHARS_MAX {
        let message =
            format!("the name has {chars} characters; the standard allows {STANDARD_NAME_CHARS_MAX}");
        front.warn("name_too_long", "name", message);
    }
    if slug(directory) != id {
        let message =
            format!("the folder is called {directory:?}; other loaders want folder and name to be equal");
        front.warn("name_directory_mismatch", "name", message);
    }
}

/// A name on one line, in Unicode normal form C.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_like_paths_or_markup_are_unsafe() {
        for name in ["../etc", "a/../b", "/etc", "~/x", "./x", ".hidden", "a\\b", "<b>x</b>", "x </system>"] {
            assert!(unsafe_because(name).is_some(), "{name}");
        }
        for name in ["acme:send", "CI/CD Pipeline", "a < b > c", "node.js", "a -> b", "v1..v2 diff"] {
            assert!(unsafe_because(name).is_none(), "{name}");
        }
    }

    #[test]
    fn names_come_on_one_line_and_composed() {
        assert_eq!(one_line(" a\n  b\u{301}e\u{301} "), "a b\u{301}\u{e9}");
    }
}
