//! `platform`: the development platform, and the check of somebody's platform.

mod check;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use repertoire::platform::{
    Fault, PlatformOptions, Service, Signer, StartError, UnknownFault, WebhookTarget,
};
use repertoire::sync::Secret;
use repertoire::sync::webhook::WebhookSecrets;
use serde::Serialize;

use self::check::Check;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::page::Tone;
use crate::cli::watch::until_asked;

/// Arguments of `platform`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Platform {
    /// What to do in the place of serving a folder.
    #[command(subcommand)]
    action: Option<Action>,
    /// A folder with a folder of skills for each subscription, and `entitlements.json`
    #[arg(required = true, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// File with the token that clients must show; one is made up and printed unless stated
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Sign documents with the key in this file
    #[arg(
        long,
        value_name = "FILE",
        help = "Sign documents with the key in this file: one line, KEY_ID:BASE64 of 32 random bytes"
    )]
    sign_key: Option<PathBuf>,
    /// Tell this address of changes
    #[arg(long, value_name = "URL", requires = "webhook_secret_file")]
    webhook: Option<String>,
    /// File with the secret that webhooks are signed with
    #[arg(long, value_name = "FILE")]
    webhook_secret_file: Option<PathBuf>,
    /// Do something wrong: NAME or NAME=ARG
    #[arg(long, value_name = "NAME", hide = true)]
    fault: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Test somebody's platform against the protocol
    Check(Check),
}

/// The first line of `--json`.
#[derive(Debug, Serialize)]
struct Started<'a> {
    listening: String,
    token: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
}

impl Platform {
    /// What was typed for it.
    pub(crate) fn action_name(&self) -> &'static str {
        if self.action.is_some() { "platform check" } else { "platform" }
    }

    /// Whether it runs until it is stopped.
    pub(crate) fn serves(&self) -> bool {
        self.action.is_none()
    }

    /// Serves until the process is asked to end, or checks.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        if let Some(Action::Check(check)) = &self.action {
            return check.run(context);
        }
        let Some(folder) = &self.folder else {
            return Err(Failure::usage("there is no folder to serve", ""));
        };
        let options = self.options(context, folder)?;
        let public_key = options.signer.as_ref().map(Signer::public);
        let service = Service::start(options).map_err(|error| refused(&error))?;
        let started = Started { listening: service.url(), token: service.token().expose(), public_key };
        if context.output.is_json() {
            Output::line(&started)?;
        } else {
            context.output.page(|page| {
                page.put(Tone::Strong, "listening  ").line(Tone::Name, &started.listening);
                page.put(Tone::Strong, "token      ").line(Tone::Plain, started.token);
                if let Some(key) = &started.public_key {
                    page.put(Tone::Strong, "public key ").line(Tone::Plain, key);
                }
            })?;
        }
        context.output.note("this is a development server, for tests and demonstrations; ^C ends it");
        until_asked().map_err(|cause| {
            let message = format!("cannot listen for the end of the platform: {cause}");
            Failure::new(Exit::Negative, "watch_failed", message, "check the limits of this process")
        })?;
        service.stop();
        Ok(Exit::Done)
    }

    fn options(&self, context: &Context, folder: &Path) -> Result<PlatformOptions, Failure> {
        let faults = self.fault.iter().map(|text| text.parse::<Fault>()).collect::<Result<Vec<_>, _>>();
        let faults = faults.map_err(|unknown: UnknownFault| Failure::usage(unknown.to_string(), ""))?;
        let mut options =
            PlatformOptions::new(folder).listen(self.listen).faults(faults).registry(context.registry()?);
        if let Some(path) = &self.token_file {
            options = options.token(read_secret(path)?);
        }
        if let Some(path) = &self.sign_key {
            options = options.signer(Signer::read(path).map_err(|error| refused(&error))?);
        }
        if let (Some(url), Some(path)) = (&self.webhook, &self.webhook_secret_file) {
            let secrets = WebhookSecrets::read(path);
            let secrets = secrets.map_err(|error| wrong_file(&error.to_string()))?;
            options = options.webhook(WebhookTarget::new(url, secrets).map_err(|error| refused(&error))?);
        }
        Ok(options)
    }
}

/// A secret from a file, which must hold one.
fn read_secret(path: &Path) -> Result<Secret, Failure> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|cause| Failure::file(Exit::Configuration, "read", path, &cause))?;
    let secret = Secret::new(&text);
    if secret.is_empty() {
        return Err(wrong_file(&format!("there is no token in {}; write one into it", path.display())));
    }
    Ok(secret)
}

fn wrong_file(said: &str) -> Failure {
    let (message, hint) = said.split_once("; ").unwrap_or((said, ""));
    Failure::configuration(message, hint)
}

fn refused(error: &StartError) -> Failure {
    let (exit, code) = match error {
        StartError::Folder { .. } => (Exit::Usage, "usage"),
        StartError::File { .. } | StartError::SignKey { .. } | StartError::Webhook { .. } => {
            (Exit::Configuration, "configuration")
        }
        _ => (Exit::Network, "listen_failed"),
    };
    let said = error.to_string();
    let (message, hint) = said.split_once("; ").unwrap_or((said.as_str(), ""));
    Failure::new(exit, code, message, hint)
}
