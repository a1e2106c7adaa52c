//! Settings: defaults, then the TOML file, then the environment, then flags; the later one wins, and each value
//! remembers where it came from.
//!
//! Everything that is wrong is reported at once, with its line; an unknown key names the nearest known one. Keys of
//! parts that this build does not have are known all the same, so that one file serves several builds.

mod file;
mod keys;
mod value;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use repertoire::Problem;
use repertoire::error::shorten;

pub(crate) use self::keys::Key;
pub(crate) use self::value::Value;

use self::keys::{PREFIX, TABLE};
use super::exit::Failure;

/// Variables with our prefix that are not settings.
const OTHER_VARIABLES: [&str; 3] = ["REPERTOIRE_DATA", "REPERTOIRE_CONFIG", "REPERTOIRE_LOG"];

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody said anything.
    Default,
    /// The file, with the line.
    File(PathBuf, u32),
    /// The environment variable of that name.
    Environment(String),
    /// A flag of this command.
    Flag(&'static str),
}

impl Origin {
    /// One word, as JSON shows it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File(..) => "file",
            Self::Environment(_) => "environment",
            Self::Flag(_) => "flag",
        }
    }

    /// The exact place, where there is one.
    pub(crate) fn place(&self) -> Option<String> {
        match self {
            Self::Default => None,
            Self::File(path, line) => Some(format!("{}:{line}", path.display())),
            Self::Environment(name) => Some(name.clone()),
            Self::Flag(flag) => Some((*flag).to_owned()),
        }
    }
}

/// All settings with their values and origins.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    values: Vec<(Value, Origin)>,
}

impl Settings {
    /// Reads the file (where there is one) and the environment. `warnings` gets what looks like a mistake but
    /// may be none.
    ///
    /// # Errors
    /// Everything that is wrong with either, in one failure.
    pub(crate) fn load(
        file: Option<&Path>,
        environment: impl Iterator<Item = (OsString, OsString)>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Failure> {
        let mut settings = Self::defaults()?;
        let mut wrong = Vec::new();
        if let Some(path) = file {
            let text = file::read(path)?;
            settings.take_file(path, &text, &mut wrong);
        }
        settings.take_environment(environment, &mut wrong, warnings);
        if wrong.is_empty() { Ok(settings) } else { Err(refusal(&wrong)) }
    }

    /// The defaults alone.
    fn defaults() -> Result<Self, Failure> {
        let read = |key: Key| Value::from_text(key, key.row().default).map(|value| (value, Origin::Default));
        let values = Key::all().map(read).collect::<Result<_, _>>();
        values.map(|values| Self { values }).map_err(|problem| refusal(&[(String::new(), problem)]))
    }

    /// A value and where it came from.
    pub(crate) fn get(&self, key: Key) -> (&Value, &Origin) {
        let (value, from) = &self.values[key.index()];
        (value, from)
    }

    /// A text; `None` if not set.
    pub(crate) fn text(&self, key: Key) -> Option<&str> {
        match &self.values[key.index()].0 {
            Value::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A path; `None` if not set. What the file says starts at the file's folder.
    pub(crate) fn path(&self, key: Key) -> Option<PathBuf> {
        let text = self.text(key)?;
        match &self.values[key.index()].1 {
            Origin::File(file, _) => {
                Some(file.parent().map_or_else(|| text.into(), |folder| folder.join(text)))
            }
            _ => Some(text.into()),
        }
    }

    /// A list; empty if not set.
    pub(crate) fn list(&self, key: Key) -> &[String] {
        match &self.values[key.index()].0 {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// A number; 0 for a setting that is none.
    pub(crate) fn number(&self, key: Key) -> u64 {
        match &self.values[key.index()].0 {
            Value::Number(number) => *number,
            _ => 0,
        }
    }

    /// A switch.
    pub(crate) fn flag(&self, key: Key) -> bool {
        matches!(&self.values[key.index()].0, Value::Flag(true))
    }

    /// Takes a value that a flag gave.
    pub(crate) fn set_flag(&mut self, key: Key, flag: &'static str, text: &str) -> Result<(), Failure> {
        let value = Value::from_text(key, text).map_err(|problem| {
            // The next step is the help of the command that has the flag.
            Failure::usage(format!("{flag}: {problem}"), "")
        })?;
        self.values[key.index()] = (value, Origin::Flag(flag));
        Ok(())
    }

    fn take_file(&mut self, path: &Path, text: &str, wrong: &mut Vec<(String, Problem)>) {
        let mut problems = Vec::new();
        for (key, value, line) in file::parse(text, &mut problems) {
            self.values[key.index()] = (value, Origin::File(path.to_owned(), line));
        }
        let place = |problem: &Problem| match problem.line {
            Some(line) => format!("{}:{line}", path.display()),
            None => path.display().to_string(),
        };
        wrong.extend(problems.into_iter().map(|problem| (place(&problem), problem)));
    }

    fn take_environment(
        &mut self,
        environment: impl Iterator<Item = (OsString, OsString)>,
        wrong: &mut Vec<(String, Problem)>,
        warnings: &mut Vec<String>,
    ) {
        let mut ours: Vec<_> = environment
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| name.starts_with(PREFIX) && !OTHER_VARIABLES.contains(&name.as_str()))
            .collect();
        ours.sort();
        for (name, value) in ours {
            let read = match (Key::of_variable(&name), value.into_string()) {
                (Some(key), Ok(text)) => Value::from_text(key, &text).map(|value| (key, value)),
                (Some(key), Err(_)) => {
                    Err(Problem::new("invalid_value", key.row().key(), "is not valid UTF-8"))
                }
                (None, _) if names_a_section(&name) => Err(unknown_variable(&name)),
                (None, _) => {
                    warnings.push(format!("{}; it is ignored", unknown_variable(&name).message));
                    continue;
                }
            };
            match read {
                Ok((key, value)) => self.values[key.index()] = (value, Origin::Environment(name)),
                Err(problem) => wrong.push((name, problem)),
            }
        }
    }
}

/// Whether a variable begins like those of a section, so that it can only be meant for us.
fn names_a_section(variable: &str) -> bool {
    TABLE.iter().any(|row| {
        variable
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.strip_prefix(&row.section.to_ascii_uppercase()))
            .is_some_and(|rest| rest.starts_with('_'))
    })
}

fn unknown_variable(name: &str) -> Problem {
    let name = &*shorten(name);
    let known = Key::all().map(|key| key.row().variable()).chain(OTHER_VARIABLES.map(str::to_owned));
    let near = nearest(name, known);
    Problem::new("unknown_key", name, format!("no setting has the variable {name}; the nearest is {near}"))
}

/// The known name that is most like a written one.
fn nearest(written: &str, known: impl Iterator<Item = String>) -> String {
    known.min_by_key(|name| strsim::damerau_levenshtein(written, name)).unwrap_or_default()
}

/// One failure for all that is wrong.
fn refusal(wrong: &[(String, Problem)]) -> Failure {
    let said: Vec<String> = wrong.iter().map(|(place, problem)| format!("{place}: {problem}")).collect();
    let problems: Vec<Problem> = wrong.iter().map(|(_, problem)| problem.clone()).collect();
    Failure::configuration(said.join("; "), "see docs/cli.md for all settings").with_problems(&problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, environment: &[(&str, &str)]) -> Result<(Settings, Vec<String>), Failure> {
        let mut settings = Settings::defaults()?;
        let mut wrong = Vec::new();
        let mut warnings = Vec::new();
        settings.take_file(Path::new("/etc/r/config.toml"), text, &mut wrong);
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into()));
        settings.take_environment(environment, &mut wrong, &mut warnings);
        if wrong.is_empty() { Ok((settings, warnings)) } else { Err(refusal(&wrong)) }
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
        let text = "[bundled]\nmode = \"never\"\n[storage]\nkeep_generations = 3\n";
        let (settings, _) = load(text, &[("REPERTOIRE_BUNDLED_MODE", "always")]).unwrap();
        assert_eq!(settings.text(Key::BUNDLED_MODE), Some("always"));
        assert_eq!(settings.get(Key::BUNDLED_MODE).1.name(), "environment");
        assert_eq!(settings.number(Key::STORAGE_KEEP_GENERATIONS), 3);
        assert_eq!(settings.get(Key::STORAGE_KEEP_GENERATIONS).1.place().unwrap(), "/etc/r/config.toml:4");
        assert_eq!(settings.get(Key::STORAGE_MAP).1, &Origin::Default);
    }

    #[test]
    fn paths_of_the_file_start_at_its_folder_and_others_do_not() {
        let (settings, _) = load("[tools]\nfile = \"t.json\"\n", &[]).unwrap();
        assert_eq!(settings.path(Key::TOOLS_FILE), Some("/etc/r/t.json".into()));
        let (settings, _) = load("", &[("REPERTOIRE_TOOLS_FILE", "t.json")]).unwrap();
        assert_eq!(settings.path(Key::TOOLS_FILE), Some("t.json".into()));
        assert_eq!(load("", &[]).unwrap().0.path(Key::TOOLS_FILE), None);
    }

    #[test]
    fn everything_wrong_is_named_at_once_with_line_and_nearest_key() {
        let text = "[sync]\nurl = 3\nintervall_s = 5\n\n[stoarge]\nmap = \"file\"\n";
        let failure = load(text, &[("REPERTOIRE_SYNC_URLL", "x")]).unwrap_err();
        for part in [
            "config.toml:2: sync.url",
            "config.toml:3: sync.intervall_s",
            "nearest is sync.interval_s",
            "config.toml:5: stoarge",
            "nearest is [storage]",
            "REPERTOIRE_SYNC_URLL",
            "nearest is REPERTOIRE_SYNC_URL",
        ] {
            assert!(failure.message.contains(part), "{part} in {}", failure.message);
        }
        assert_eq!(failure.details["problems"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn a_variable_that_may_belong_to_somebody_else_is_only_a_warning() {
        let (_, warnings) = load("", &[("REPERTOIRE_HOME", "/x"), ("REPERTOIRE_LOG", "debug")]).unwrap();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("REPERTOIRE_HOME"));
    }

    #[test]
    fn secrets_come_from_the_environment_only() {
        let failure = load("[sync]\ntoken = \"x\"\n", &[]).unwrap_err();
        assert!(failure.message.contains("REPERTOIRE_SYNC_TOKEN"), "{}", failure.message);
        assert!(load("", &[("REPERTOIRE_SYNC_TOKEN", "x")]).is_ok());
    }
}
