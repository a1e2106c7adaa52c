//! What a command works with: output, settings, data directory, and the catalog when it asks for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use repertoire::authoring::Authoring;
use repertoire::catalog::{BundledMode, Catalog, FollowMode, MapMode, Options, View};
use repertoire::entitlement::Narrowing;
use repertoire::error::shorten;
use repertoire::limits::REGISTRY_BYTES_MAX;
use repertoire::tools::ToolRegistry;

use super::args::Globals;
use super::config::{Key, Settings};
use super::exit::{Exit, Failure};
use super::input::Purpose;
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
        let purpose = Purpose {
            exit: Exit::Configuration,
            what: "the tool file",
            smaller: "keep only the tools that skills need",
        };
        let text = purpose.read_text(&path, REGISTRY_BYTES_MAX)?;
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
        let keep = settings.number(Key::STORAGE_KEEP_GENERATIONS);
        let options = Options::default()
            .registry(self.registry()?)
            .bundled(match settings.text(Key::BUNDLED_MODE) {
                Some("always") => BundledMode::Always,
                Some("never") => BundledMode::Never,
                _ => BundledMode::Auto,
            })
            .sync_configured(settings.text(Key::SYNC_URL).is_some())
            .map(match settings.text(Key::STORAGE_MAP) {
                Some("memory") => MapMode::Memory,
                _ => MapMode::File,
            })
            .follow(match settings.text(Key::STORAGE_FOLLOW) {
                Some("pread") => FollowMode::Pread,
                _ => FollowMode::Auto,
            })
            .keep_generations(u32::try_from(keep).unwrap_or(u32::MAX))
            .learned_visible(settings.text(Key::AUTHORING_VISIBLE) == Some("all"));
        Ok(Catalog::open_with(&self.data.path, options)?)
    }

    /// Fails unless authoring is switched on.
    pub(crate) fn require_authoring(&self) -> Result<(), Failure> {
        if self.settings.flag(Key::AUTHORING_ENABLED) {
            return Ok(());
        }
        Err(Failure::new(
            Exit::Configuration,
            "authoring_off",
            "skill authoring is off",
            "set [authoring] enabled = true, or REPERTOIRE_AUTHORING_ENABLED=true",
        ))
    }

    /// The author of learned skills, if authoring is switched on.
    pub(crate) fn authoring(&self) -> Result<Authoring, Failure> {
        self.require_authoring()?;
        Ok(Authoring::new(&self.catalog()?))
    }

    /// Tells which of the named subscriptions bring nothing because they are not active: it may be a typing error.
    fn note_inactive(&self, catalog: &Catalog, named: &BTreeSet<String>) -> Result<(), Failure> {
        let report = catalog.entitlements()?;
        for id in named {
            if !report.subscriptions.iter().any(|known| known.active && known.id == *id) {
                let id = shorten(id);
                self.output.note(&format!(
                    "{id:?} is no active subscription and brings nothing; local skills show anyway"
                ));
            }
        }
        Ok(())
    }

    /// Opens the catalog for queries, narrowed to some subscriptions where the command says so.
    pub(crate) fn view(&self, subscriptions: Option<BTreeSet<String>>) -> Result<View, Failure> {
        let catalog = self.catalog()?;
        if let Some(named) = &subscriptions {
            self.note_inactive(&catalog, named)?;
        }
        let narrowing =
            subscriptions.map(|named| Narrowing::default().subscriptions(named)).unwrap_or_default();
        Ok(catalog.view(narrowing))
    }
}
