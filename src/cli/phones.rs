//! The phones that commands work with: settings into a driver, the policy file into rules.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use repertoire::device::adb::{AdbDriver, AdbOptions, ServerAddress};
use repertoire::device::{DeviceOptions, Devices, Driver, FileAccess, ScriptedDriver};
use repertoire::limits::POLICY_BYTES_MAX;
use repertoire::policy::Policy;
use repertoire::tools::ToolRegistry;

use super::config::{Key, Origin};
use super::context::Context;
use super::exit::{Exit, Failure};
use super::input::Purpose;

/// What a driver is named by that plays a scene file: `scripted:FILE`.
const SCRIPTED: &str = "scripted:";

impl Context {
    /// The phones of the settings, or of a scene file where a driver is named. Connects to nothing yet.
    pub(crate) fn devices(&self, named: Option<&str>, files: FileAccess) -> Result<Arc<Devices>, Failure> {
        let mut options = DeviceOptions::default().files(files);
        if let Some(serial) = self.settings.text(Key::DEVICE_SERIAL) {
            options = options.serial(serial);
        }
        let driver: Arc<dyn Driver> = match named {
            None => Arc::new(AdbDriver::new(self.adb()?)),
            Some(named) => {
                let Some(path) = named.strip_prefix(SCRIPTED) else {
                    let message = format!("there is no driver {named:?}");
                    return Err(Failure::usage(message, "use scripted:FILE, or leave --driver out for adb"));
                };
                Arc::new(ScriptedDriver::open(Path::new(path))?)
            }
        };
        Ok(Arc::new(Devices::new(driver, options)))
    }

    /// How the settings say that phones are reached.
    pub(super) fn adb(&self) -> Result<AdbOptions, Failure> {
        let (_, origin) = self.settings.get(Key::DEVICE_ADB_SERVER);
        // What adb itself goes by counts where nothing else was said.
        let server = if matches!(origin, Origin::Default) {
            ServerAddress::from_variables(|name| std::env::var(name).ok())
        } else {
            ServerAddress::parse(self.settings.text(Key::DEVICE_ADB_SERVER).unwrap_or_default())
        };
        let server = server.map_err(|problem| {
            Failure::configuration(
                format!("the address of the adb server is wrong: {problem}"),
                "write it as HOST:PORT in [device] adb_server, or unset it",
            )
        })?;
        let timeout = Duration::from_millis(self.settings.number(Key::DEVICE_TIMEOUT_MS));
        Ok(AdbOptions::default().server(server).timeout(timeout))
    }

    /// The rules of the policy file, or the starter set.
    pub(crate) fn policy(&self, registry: &Arc<ToolRegistry>) -> Result<Policy, Failure> {
        let Some(path) = self.settings.path(Key::POLICY_FILE) else { return Ok(Policy::starter()) };
        let purpose = Purpose {
            exit: Exit::Configuration,
            what: "the policy file",
            smaller: "keep only the rules that are needed",
        };
        let text = purpose.read_text(&path, POLICY_BYTES_MAX)?;
        Policy::from_toml(&text, registry).map_err(|problems| {
            let told: Vec<String> = problems
                .iter()
                .map(|problem| match problem.line {
                    Some(line) => format!("line {line}: {problem}"),
                    None => problem.to_string(),
                })
                .collect();
            Failure::configuration(
                format!("the policy file {} is rejected: {}", path.display(), told.join("; ")),
                "correct what is named, or unset [policy] file for the starter rules",
            )
            .with_problems(&problems)
        })
    }
}
