//! `rollback`: a layer's previous content again, under a new generation.

use clap::Args;
use repertoire::model::Layer;
use serde::Serialize;

use crate::cli::args::layer_parser;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::Tone;

/// Arguments of `rollback`.
#[derive(Debug, Args)]
pub(crate) struct Rollback {
    /// Which layer
    #[arg(value_parser = layer_parser())]
    layer: Layer,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer {
    layer: Layer,
    generation: u64,
    changed: bool,
}

impl Rollback {
    /// Goes back.
    ///
    /// # Errors
    /// Negative if there is no earlier generation.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let done = context.catalog()?.rollback(self.layer)?;
        let answer = Answer { layer: self.layer, generation: done.generation, changed: done.changed };
        let said = if done.changed {
            format!(
                "{} holds its earlier content again, as generation {}",
                self.layer.name(),
                done.generation
            )
        } else {
            format!("{} already holds that content, generation {}", self.layer.name(), done.generation)
        };
        context.output.answer(&answer, |out| out.line(Tone::Good, &said))?;
        Ok(Exit::Done)
    }
}
