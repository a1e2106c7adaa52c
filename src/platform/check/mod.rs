//! The conformance check: asks somebody's platform what a client would ask, and says what is not as SPP/1 has it.
//!
//! `rule` lists what is checked, `probe` asks, and `catalog`, `entitlements` and `transport` judge. It
//! reads plain JSON, so that it can say more about what is wrong than that it cannot be read.

mod catalog;
mod entitlements;
mod probe;
mod rule;
mod transport;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::platform::check::probe::Probe;
use crate::sync::Secret;
use crate::sync::http::TlsError;
use crate::tools::ToolRegistry;

pub use rule::Rule;

/// What to check, and how to get in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Address of the platform, without `/spp/v1`.
    pub url: String,
    /// The subscription whose documents are looked at.
    pub subscription: String,
    /// A client's token.
    pub token: Option<Secret>,
    /// Keys that documents must be signed with, `KEY_ID:BASE64`.
    pub public_keys: Vec<String>,
    /// Certificates that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// Longest wait for one answer.
    pub timeout: Duration,
    /// The tools that flows may name.
    pub registry: Arc<ToolRegistry>,
}

impl CheckOptions {
    /// A platform and one of its subscriptions.
    #[must_use]
    pub fn new(url: impl Into<String>, subscription: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            subscription: subscription.into(),
            token: None,
            public_keys: Vec::new(),
            ca_file: None,
            timeout: Duration::from_secs(10),
            registry: ToolRegistry::builtin(),
        }
    }

    /// Shows this token.
    #[must_use]
    pub fn token(mut self, token: Secret) -> Self {
        self.token = Some(token);
        self
    }

    /// Wants signatures of one of these keys.
    #[must_use]
    pub fn public_keys(mut self, keys: Vec<String>) -> Self {
        self.public_keys = keys;
        self
    }

    /// Trusts these certificates, too.
    #[must_use]
    pub fn ca_file(mut self, path: PathBuf) -> Self {
        self.ca_file = Some(path);
        self
    }

    /// Waits that long for one answer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Knows these tools.
    #[must_use]
    pub fn registry(mut self, registry: Arc<ToolRegistry>) -> Self {
        self.registry = registry;
        self
    }
}

/// Why nothing could be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The address is none.
    #[error("the address is no http or https URL; write it as https://platform.example")]
    Url,
    /// A public key is none.
    #[error("a public key is none; write it as KEY_ID:BASE64 with 32 bytes")]
    PublicKey,
    /// TLS cannot be used as it is configured.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The runtime cannot be started.
    #[error("cannot start a runtime: {0}; check the limits of processes and open files")]
    Runtime(#[source] std::io::Error),
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// As it should be.
    Pass,
    /// Not as it should be.
    Fail,
    /// Not looked at.
    Skip,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckLine {
    /// Its name.
    pub check: &'static str,
    /// What a platform must do.
    pub about: &'static str,
    /// How it ended.
    pub outcome: Outcome,
    /// What was found, or why nothing was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// All checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// One line for each check, in the order in which they were made.
    pub checks: Vec<CheckLine>,
    /// How many ended how.
    pub counts: Counts,
}

/// Checks by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// As they should be.
    pub pass: usize,
    /// Not as they should be.
    pub fail: usize,
    /// Not looked at.
    pub skip: usize,
}

/// Checks a platform; `told` hears of each check as it ends. Blocks, on a runtime of its own.
///
/// # Errors
/// Nothing could be checked: the options are wrong. A platform that cannot be reached is a failed check.
pub fn check(options: &CheckOptions, told: &mut dyn FnMut(&CheckLine)) -> Result<Report, CheckError> {
    let mut probe = Probe::new(options)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CheckError::Runtime)?;
    let mut report = Report { checks: Vec::new(), counts: Counts::default() };
    for rule in Rule::ALL {
        let line = runtime.block_on(probe.judge(*rule)).line(*rule);
        *match line.outcome {
            Outcome::Pass => &mut report.counts.pass,
            Outcome::Fail => &mut report.counts.fail,
            Outcome::Skip => &mut report.counts.skip,
        } += 1;
        told(&line);
        report.checks.push(line);
    }
    Ok(report)
}
