//! What a command works with: output, settings, data directory, and the catalog when it asks for it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use repertoire::catalog::{BundledMode, Catalog, FollowMode, MapMode, Options, View};
use repertoire::entitlement::Narrowing;
use repertoire::limits::REGISTRY_BYTES_MAX;
use repertoire::tools::ToolRegistry;

use super::args::Globals;
use super::config::{Key, Settings};
use super::exit::{Exit, Failure};
use super::output::Output;
use super::place::{self, Place};

/// One command's surroundings.
#[derive(Debug)]
pub(crate) struct Context {
    /// Where results go.
    pub(crate) output: Output,
    /// Effective settings.
    pub(crate) settings: Settings,
    /// The data directory.
    pub(crate) data: Place,
    /// The configuration file, where there is one.
    pub(crate) config: Option<Place>,
}

impl Context {
    /// Finds the data directory and reads the settings; touches no data.
    pub(crate) fn load(globals: &Globals, output: Output) -> Result<Self, Failure> {
        let variable = |name: &str| std::env::var_os(name);
        let data = place::data(globals.data.as_deref(), variable)?;
        let config = place::config(globals.config.as_deref(), variable, &data.path);
        let mut warnings = Vec::new();
        let file = config.as_ref().map(|place| place.path.as_path());
        let settings = Settings::load(file, std::env::vars_os(), &mut warnings)?;
        for warning in warnings {
            output.warn(&warning);
        }
        Ok(Self { output, settings, data, config })
    }

    /// The tool registry of this deployment: the built-in table, extended by `[tools] file`.
    pub(crate) fn registry(&self) -> Result<Arc<ToolRegistry>, Failure> {
        let builtin = ToolRegistry::builtin();
        let Some(path) = self.settings.path(Key::TOOLS_FILE) else { return Ok(builtin) };
        let fail =
            |cause: &std::io::Error| Failure::file(Exit::Configuration, "read the tool file", &path, cause);
        let mut text = String::new();
        let file = File::open(&path).map_err(|cause| fail(&cause))?;
        file.take(REGISTRY_BYTES_MAX + 1).read_to_string(&mut text).map_err(|cause| fail(&cause))?;
        if text.len() as u64 > REGISTRY_BYTES_MAX {
            return Err(Failure::configuration(
                format!("the tool file {} is larger than {REGISTRY_BYTES_MAX} bytes", path.display()),
                "keep only the tools that skills need",
            ));
        }
        builtin.with_json(&text).map_err(|problems| {
            let said = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            Failure::configuration(
                format!("the tool file {} is rejected: {said}", path.display()),
                "correct what is named, or unset [tools] file",
            )
            .with_problems(&problems)
        })
    }

    /// Opens the catalog as the settings say; creates the data directory if it is not there.
    pub(crate) fn catalog(&self) -> Result<Catalog, Failure> {
        let settings = &self.settings;
        let options = Options {
            registry: self.registry()?,
            bundled: match settings.text(Key::BUNDLED_MODE) {
                Some("always") => BundledMode::Always,
                Some("never") => BundledMode::Never,
                _ => BundledMode::Auto,
            },
            sync_configured: settings.text(Key::SYNC_URL).is_some(),
            map: match settings.text(Key::STORAGE_MAP) {
                Some("memory") => MapMode::Memory,
                _ => MapMode::File,
            },
            follow: match settings.text(Key::STORAGE_FOLLOW) {
                Some("pread") => FollowMode::Pread,
                _ => FollowMode::Auto,
            },
            keep_generations: u32::try_from(settings.number(Key::STORAGE_KEEP_GENERATIONS))
                .unwrap_or(u32::MAX),
            learned_visible: settings.text(Key::AUTHORING_VISIBLE) == Some("all"),
        };
        Ok(Catalog::open_with(&self.data.path, options)?)
    }

    /// Opens the catalog for queries, narrowed to some subscriptions where the command says so.
    pub(crate) fn view(&self, subscriptions: Option<BTreeSet<String>>) -> Result<View, Failure> {
        let narrowing = Narrowing { subscriptions, layers: None };
        Ok(self.catalog()?.view(narrowing))
    }
}
