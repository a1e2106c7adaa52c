//! How a command ends: exit codes, and failures with a cause and a next step.

use std::borrow::Cow;
use std::path::Path;

use repertoire::device::adb::quote;
use repertoire::error::{DeviceError, StorageError, shorten};
use repertoire::{Error, Problem};
use serde_json::{Map, Value, json};

/// Exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command did what it says; an empty list is done.
    Done = 0,
    /// It ran, but the answer is negative.
    Negative = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A setting is wrong or missing.
    Configuration = 3,
    /// The data directory cannot be used.
    Data = 4,
    /// The network or the platform failed.
    Network = 5,
    /// A phone, or what reaches it, failed.
    Device = 6,
}

/// Characters of a message that are shown: room for every problem of a usual mistake, not for a file in its place. JSON
/// lists the problems in full beside it.
const MESSAGE_CHARS_MAX: usize = 8_192;

impl Exit {
    /// [`Exit::Done`] if `good`, else [`Exit::Negative`].
    pub(crate) fn done_if(good: bool) -> Self {
        if good { Self::Done } else { Self::Negative }
    }
}

/// Why a command could not answer: printed as `error: message; hint`, or as JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// What the process exits with.
    pub(crate) exit: Exit,
    /// Stable machine-readable code.
    pub(crate) code: Cow<'static, str>,
    /// The cause, one sentence without a full stop.
    pub(crate) message: String,
    /// What to do about it; empty where that is to look at the command's own help.
    pub(crate) hint: String,
    /// Further members of the JSON form.
    pub(crate) details: Map<String, Value>,
}

impl Failure {
    /// A failure without details.
    pub(crate) fn new(
        exit: Exit,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            exit,
            code: Cow::Borrowed(code),
            message: message.into(),
            hint: hint.into(),
            details: Map::new(),
        }
    }

    /// A wrong command line.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message, hint)
    }

    /// A wrong or missing setting.
    pub(crate) fn configuration(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Configuration, "configuration", message, hint)
    }

    /// A file named by the user that cannot be read or written.
    pub(crate) fn file(exit: Exit, action: &str, path: &Path, cause: &std::io::Error) -> Self {
        Self::new(
            exit,
            "file_failed",
            format!("cannot {action} {}: {cause}", path.display()),
            "check the path and its permissions",
        )
    }

    /// Adds the list of everything that is wrong.
    pub(crate) fn with_problems(mut self, problems: &[Problem]) -> Self {
        self.details.insert("problems".to_owned(), json!(problems));
        self
    }

    /// The failure of a command of that name: a missing next step is that command's help, and what was echoed into
    /// the message does not make it endless.
    pub(crate) fn of_command(mut self, command: &str) -> Self {
        if self.hint.is_empty() {
            self.hint = format!("see `repertoire {command} --help`");
        }
        if let Some((end, _)) = self.message.char_indices().nth(MESSAGE_CHARS_MAX) {
            self.message.truncate(end);
            self.message.push_str("...");
        }
        self
    }

    /// The JSON form.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), json!(self.code));
        error.insert("message".to_owned(), json!(self.message));
        error.insert("hint".to_owned(), json!(self.hint));
        error.extend(self.details.clone());
        json!({ "error": error })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if let Error::Device(DeviceError { code, message, hint, .. }) = error {
            return Self::new(Exit::Device, code.name(), message, hint);
        }
        let exit = exit_of(&error);
        let text = error.to_string();
        let (message, hint) = match hint_of(&error) {
            Some((hint, ending)) => {
                (text.strip_suffix(ending).unwrap_or(&text).to_owned(), hint.into_owned())
            }
            // Storage messages end with their next step.
            None => match text.rsplit_once("; ") {
                Some((cause, step)) => (cause.to_owned(), step.to_owned()),
                None => (text, "run `repertoire verify` to see the state of the data directory".to_owned()),
            },
        };
        let mut failure =
            Self { exit, code: Cow::Borrowed(error.code()), message, hint, details: Map::new() };
        add_details(&mut failure.details, &error);
        failure
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        Error::from(error).into()
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Error::from(error).into()
    }
}

/// Exit code of a library error.
fn exit_of(error: &Error) -> Exit {
    match error {
        Error::Storage(StorageError::NoEarlierGeneration { .. })
        | Error::SkillNotFound { .. }
        | Error::SkillUnavailable { .. }
        | Error::InvalidParameters { .. }
        | Error::Rejected { .. } => Exit::Negative,
        Error::InvalidArguments { .. } => Exit::Usage,
        Error::Device(_) => Exit::Device,
        _ => Exit::Data,
    }
}

/// Next step of an error whose message does not bring one of its own (empty: the command's help), with the ending that
/// the step replaces.
fn hint_of(error: &Error) -> Option<(Cow<'static, str>, &'static str)> {
    let hint = match error {
        Error::SkillNotFound { .. } => {
            let step = "list or search to see which there are";
            return Some((step.into(), "; list or search to see which there are"));
        }
        Error::SkillUnavailable { .. } => {
            "see `repertoire tools` for the tools of this deployment, or extend them with [tools] file".into()
        }
        Error::InvalidParameters { skill, .. } => {
            format!("see `repertoire get {}` for the parameters", word(skill)).into()
        }
        Error::InvalidArguments { .. } => "".into(),
        Error::Rejected { .. } => "correct what is named and try again".into(),
        Error::Storage(StorageError::NoEarlierGeneration { .. }) => {
            "see `repertoire status` for the layers".into()
        }
        Error::Storage(StorageError::UnsafeDirectory { .. }) => {
            "choose another directory with --data, or make this one yours alone".into()
        }
        _ => return None,
    };
    Some((hint, ""))
}

/// A text as one word of a shell's command line, for commands that a hint spells out.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '=' | ':' | ',');
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(quote(text))
}

/// Puts the lists that some errors carry into the JSON form.
fn add_details(details: &mut Map<String, Value>, error: &Error) {
    match error {
        Error::SkillNotFound { id } => {
            details.insert("id".to_owned(), json!(shorten(id)));
        }
        Error::SkillUnavailable { id, reasons } => {
            details.insert("id".to_owned(), json!(id));
            details.insert("reasons".to_owned(), json!(reasons));
        }
        Error::InvalidParameters { skill, problems } => {
            details.insert("skill".to_owned(), json!(skill));
            details.insert("problems".to_owned(), json!(problems));
        }
        Error::InvalidArguments { problems } | Error::Rejected { problems, .. } => {
            details.insert("problems".to_owned(), json!(problems));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use repertoire::error::ParameterProblem;

    use super::*;

    fn problem() -> Problem {
        Problem::new("missing", "query", "no value; give one")
    }

    #[test]
    fn every_error_kind_has_its_exit_code() {
        let rows: Vec<(Error, Exit, &str)> = vec![
            (Error::SkillNotFound { id: "a".into() }, Exit::Negative, "skill_not_found"),
            (
                Error::SkillUnavailable { id: "a".into(), reasons: vec!["x; y".into()] },
                Exit::Negative,
                "skill_unavailable",
            ),
            (
                Error::InvalidParameters {
                    skill: "a".into(),
                    problems: vec![ParameterProblem::new("q", "missing")],
                },
                Exit::Negative,
                "invalid_parameters",
            ),
            (Error::InvalidArguments { problems: vec![problem()] }, Exit::Usage, "invalid_arguments"),
            (Error::Rejected { what: "a".into(), problems: vec![problem()] }, Exit::Negative, "rejected"),
            (StorageError::NoEarlierGeneration { layer: "local" }.into(), Exit::Negative, "storage_failed"),
            (StorageError::Locked { path: "LOCK".into(), waited_ms: 1 }.into(), Exit::Data, "storage_locked"),
            (StorageError::damaged("CURRENT", "crc").into(), Exit::Data, "storage_damaged"),
            (StorageError::Forked.into(), Exit::Data, "storage_failed"),
        ];
        for (error, exit, code) in rows {
            let failure = Failure::from(error).of_command("list");
            assert_eq!((failure.exit, failure.code.as_ref()), (exit, code));
            assert!(!failure.message.is_empty() && !failure.hint.is_empty(), "{failure:?}");
        }
    }

    #[test]
    fn a_message_and_its_next_step_are_told_apart() {
        let failure = Failure::from(Error::SkillNotFound { id: "a; b".into() });
        assert_eq!(failure.message, "no skill \"a; b\"");
        assert_eq!(failure.hint, "list or search to see which there are");
        let failure = Failure::from(Error::from(StorageError::damaged("CURRENT", "crc 1; wanted 2")));
        assert_eq!(failure.message, "CURRENT is damaged: crc 1; wanted 2");
        assert!(failure.hint.starts_with("run `repertoire compact`"));
    }

    #[test]
    fn a_hint_names_the_command_to_type() {
        let failure = Failure::from(Error::InvalidArguments { problems: vec![problem()] });
        assert_eq!(failure.of_command("entitlements hide").hint, "see `repertoire entitlements hide --help`");
        let refused = |skill: &str| {
            let problems = vec![ParameterProblem::new("q", "missing")];
            Failure::from(Error::InvalidParameters { skill: skill.to_owned(), problems }).hint
        };
        assert_eq!(refused("web/page"), "see `repertoire get web/page` for the parameters");
        for (text, expect) in [("a b", "'a b'"), ("it's", r"'it'\''s'"), ("-x", "'-x'"), ("", "''")] {
            assert_eq!(word(text), expect);
        }
    }

    #[test]
    fn a_message_ends_somewhere() {
        let long = Failure::usage("x".repeat(100_000), "").of_command("get");
        assert!(long.message.len() < 10_000 && long.message.ends_with("x..."));
    }

    #[test]
    fn problems_stay_whole_in_message_and_json() {
        let failure = Failure::from(Error::InvalidArguments { problems: vec![problem()] });
        assert!(failure.message.ends_with("query: no value; give one"));
        assert_eq!(failure.to_json()["error"]["problems"][0]["problem"], "no value; give one");
    }
}
