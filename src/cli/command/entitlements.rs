//! `entitlements`: what this deployment may see, and the local statements about it.

use clap::{Args, Subcommand};
use repertoire::LocalStatement;
use repertoire::catalog::EntitlementsReport;

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::table::Table;

/// Arguments of `entitlements`.
#[derive(Debug, Args)]
pub(crate) struct Entitlements {
    /// What to do.
    #[command(subcommand)]
    action: Action,
}

/// What to do with entitlements.
#[derive(Debug, Subcommand)]
enum Action {
    /// Show subscriptions and hidden skills
    Show,
    /// Activate a subscription that no platform speaks of
    Grant {
        /// Id of the subscription
        #[arg(value_name = "SUB")]
        subscription: String,
    },
    /// Switch a subscription off, whatever the platform says
    Revoke {
        /// Id of the subscription
        #[arg(value_name = "SUB")]
        subscription: String,
    },
    /// Hide a skill, in every layer and every process, from the next query on
    Hide {
        /// Id of the skill
        id: String,
    },
    /// End a `hide`
    Unhide {
        /// Id of the skill
        id: String,
    },
    /// Show synced skills again after a statement could not be written; repeat what was refused before
    Resume,
}

impl Action {
    /// The statement that this makes, and how to say that it is made.
    fn statement(&self) -> Option<(LocalStatement, String)> {
        Some(match self {
            Self::Show | Self::Resume => return None,
            Self::Grant { subscription } => {
                (LocalStatement::Grant(subscription.clone()), format!("granted {subscription}"))
            }
            Self::Revoke { subscription } => {
                (LocalStatement::Revoke(subscription.clone()), format!("revoked {subscription}"))
            }
            Self::Hide { id } => (LocalStatement::Hide(id.clone()), format!("hidden {id}")),
            Self::Unhide { id } => (LocalStatement::Unhide(id.clone()), format!("no longer hidden: {id}")),
        })
    }
}

impl Entitlements {
    /// What was typed for the action.
    pub(crate) fn action_name(&self) -> &'static str {
        match self.action {
            Action::Show => "show",
            Action::Grant { .. } => "grant",
            Action::Revoke { .. } => "revoke",
            Action::Hide { .. } => "hide",
            Action::Unhide { .. } => "unhide",
            Action::Resume => "resume",
        }
    }

    /// Shows, or states and then shows. A statement is durable and effective everywhere before this answers.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let catalog = context.catalog()?;
        let said = self.action.statement();
        if let Some((statement, _)) = &said {
            catalog.declare(statement.clone())?;
        }
        if said.is_some() {
            // It stands already; this keeps it in a second place as well.
            drop(catalog.fold().inspect_err(|error| tracing::debug!(%error, "not folded")));
        }
        if matches!(self.action, Action::Resume) {
            catalog.resume()?;
        }
        let report = catalog.entitlements()?;
        context.output.answer(&report, |out| match &said {
            Some((_, said)) => out.line(Tone::Good, said),
            None => write(out, &report),
        })?;
        match &said {
            Some((LocalStatement::Hide(id), _)) => {
                let stands = "the hiding stands, and holds for one that comes later";
                unknown(context, catalog.holds(id), &format!("no skill has the id {id:?} now; {stands}"));
            }
            Some((LocalStatement::Grant(sub) | LocalStatement::Revoke(sub), _)) => {
                let stands = "the statement stands, and holds for those that come later";
                unknown(context, catalog.brings(sub), &format!("no skill belongs to {sub:?} now; {stands}"));
            }
            _ => {}
        }
        if said.is_none() && report.subscriptions.is_empty() && report.hidden.is_empty() {
            context.output.note("nothing is granted, revoked or hidden");
        }
        Ok(Exit::Done)
    }
}

/// Tells that a statement is about something that is not there, which may be a typing error. The statement stands already,
/// so that not knowing is no failure.
fn unknown(context: &Context, known: repertoire::Result<bool>, note: &str) {
    match known {
        Ok(true) => {}
        Ok(false) => context.output.note(note),
        Err(error) => {
            context.output.warn(&format!("whether a skill is concerned could not be told: {error}"));
        }
    }
}

/// Writes subscriptions and hidden ids; nothing where there are none.
pub(crate) fn write(out: &mut Page, report: &EntitlementsReport) {
    let mut table = Table::new(&["SUBSCRIPTION", "STATE", "BY"]);
    for subscription in &report.subscriptions {
        let state = if subscription.active { (Tone::Good, "active") } else { (Tone::Careful, "off") };
        table.row([(Tone::Name, &subscription.id), state, (Tone::Faint, subscription.by)]);
    }
    if !table.is_empty() {
        out.table(&table);
    }
    for id in &report.hidden {
        out.put(Tone::Careful, "hidden ").line(Tone::Name, id);
    }
}
