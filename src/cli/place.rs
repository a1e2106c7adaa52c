//! Which data directory and which configuration file a command works with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use super::config::Origin;
use super::exit::{Exit, Failure};

/// Environment variable of the data directory.
const DATA_VARIABLE: &str = "REPERTOIRE_DATA";
/// Environment variable of the configuration file.
const CONFIG_VARIABLE: &str = "REPERTOIRE_CONFIG";
/// Configuration file inside the data directory.
const CONFIG_NAME: &str = "config.toml";

/// A path and who named it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// The path.
    pub(crate) path: PathBuf,
    /// Who named it.
    pub(crate) origin: Origin,
}

/// The data directory: the flag, else the environment, else the platform's data folder.
pub(crate) fn data(
    flag: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Place, Failure> {
    if let Some(place) = named(flag, "--data", DATA_VARIABLE, variable) {
        return Ok(place);
    }
    let strategy = etcetera::choose_base_strategy().map_err(|cause| {
        Failure::configuration(
            format!("cannot find the platform's data folder: {cause}"),
            "name a data directory with --data or REPERTOIRE_DATA",
        )
    })?;
    let folder = strategy.data_dir();
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Failure::file(Exit::Data, "create the platform's data folder", &folder, &cause))?;
    Ok(Place { path: folder.join("repertoire"), origin: Origin::Default })
}

/// The configuration file: the flag, else the environment, else the one in the data directory if it is there.
///
/// A file that somebody names must be there; reading it says so if not.
pub(crate) fn config(
    flag: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
    data: &Path,
) -> Option<Place> {
    let usual = || {
        let path = data.join(CONFIG_NAME);
        path.exists().then_some(Place { path, origin: Origin::Default })
    };
    named(flag, "--config", CONFIG_VARIABLE, variable).or_else(usual)
}

/// A path that the flag or the variable names; an empty variable names nothing.
fn named(
    flag: Option<&Path>,
    flag_name: &'static str,
    variable_name: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<Place> {
    if let Some(path) = flag {
        return Some(Place { path: path.to_owned(), origin: Origin::Flag(flag_name) });
    }
    let value = variable(variable_name).filter(|value| !value.is_empty())?;
    Some(Place { path: value.into(), origin: Origin::Environment(variable_name.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(value: &'static str) -> impl Fn(&str) -> Option<OsString> {
        move |_| Some(value.into())
    }

    #[test]
    fn the_flag_wins_over_the_environment_and_an_empty_variable_names_nothing() {
        let place = data(Some(Path::new("/a")), environment("/b")).unwrap();
        assert_eq!((place.path, place.origin.name()), ("/a".into(), "flag"));
        let place = data(None, environment("/b")).unwrap();
        assert_eq!((place.path, place.origin.name()), ("/b".into(), "environment"));
        assert_eq!(config(None, environment(""), Path::new("/nowhere")), None);
    }

    #[test]
    fn a_configuration_in_the_data_directory_is_taken_if_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(config(None, |_| None, folder.path()), None);
        std::fs::write(folder.path().join(CONFIG_NAME), "").unwrap();
        let place = config(None, |_| None, folder.path()).unwrap();
        assert_eq!((place.path, place.origin), (folder.path().join(CONFIG_NAME), Origin::Default));
    }
}
