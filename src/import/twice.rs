//! Keys that stand twice in JSON: the last one counts, with a warning, unless the key decides what the skill is or may
//! do. Then nobody can say which one holds, and the skill is refused.

use crate::error::Problem;
use crate::model::Duplicate;

/// Members that decide identity or permission, with those of workflows; `*` stands for any number in a list.
///
/// What an author keeps as data of his own (metadata, arguments, values of parameters) is none of them, whatever it
/// calls its keys.
const DECIDING: [&str; 13] = [
    "/id",
    "/name",
    "/kind",
    "/risk",
    "/allowed_tools",
    "/allowed-tools",
    "/preapproved_tools",
    "/skill_scope",
    "/skill_scope/allowed_tools",
    "/steps/*/tool",
    "/steps/*/policy",
    "/steps/*/policy/requires_approval",
    "/parameters/*/secret",
];

/// Whether the skill has to be refused for it.
pub(crate) fn decides(twice: Duplicate<'_>) -> bool {
    let is = |pattern: &str| {
        let (mut parts, mut path) = (pattern.split('/'), twice.pointer.split('/'));
        let same = parts.by_ref().all(|part| path.next().is_some_and(|key| part == "*" || part == key));
        same && path.next().is_none()
    };
    DECIDING.iter().any(|pattern| is(pattern))
}

/// The problem of a key that decides.
pub(crate) fn refused(twice: Duplicate<'_>) -> Problem {
    let message = "the member stands here twice; which one holds cannot be guessed: keep one";
    Problem::new("duplicate_key", twice.field(), message)
}

/// The warning for any other.
pub(crate) fn accepted(twice: Duplicate<'_>) -> Problem {
    Problem::new(
        "duplicate_key",
        twice.field(),
        "the member stands here twice; the last one counts: keep one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_decides_identity_or_permission_is_refused() {
        for (pointer, expected) in [
            ("/risk", true),
            ("/allowed_tools", true),
            ("/steps/12/tool", true),
            ("/skill_scope/allowed_tools", true),
            ("/metadata/risk", false),
            ("/steps/0/args_template/tool", false),
            ("/steps/0", false),
            ("/description", false),
            ("/tags", false),
        ] {
            assert_eq!(decides(Duplicate { pointer, offset: 0 }), expected, "{pointer}");
        }
    }
}
