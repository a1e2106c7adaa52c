//! `config`: effective settings and where each came from.

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::cli::config::{Key, Origin, Value};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::Tone;
use crate::cli::place::Place;
use crate::cli::table::Table;

/// Arguments of `config`.
#[derive(Debug, Args)]
pub(crate) struct Config {
    /// What to do.
    #[command(subcommand)]
    action: Action,
}

/// What to do with settings.
#[derive(Debug, Subcommand)]
enum Action {
    /// Show effective settings, secrets masked
    Show,
}

/// One setting in the JSON form.
#[derive(Debug, Serialize)]
struct Shown {
    value: Value,
    from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

impl Shown {
    fn new(value: Value, origin: &Origin) -> Self {
        Self { value, from: origin.name(), place: origin.place() }
    }

    fn of_place(place: &Place) -> Self {
        Self::new(Value::Text(place.path.display().to_string()), &place.origin)
    }
}

impl Config {
    /// Shows.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let Action::Show = self.action;
        let mut shown = vec![("data".to_owned(), Shown::of_place(&context.data))];
        let config = context
            .config
            .as_ref()
            .map_or_else(|| Shown::new(Value::Text(String::new()), &Origin::Default), Shown::of_place);
        shown.push(("config".to_owned(), config));
        for key in Key::all() {
            let (value, origin) = context.settings.get(key);
            shown.push((key.row().key(), Shown::new(value.masked(key), origin)));
        }
        let values: Map<String, Json> =
            shown.iter().map(|(key, setting)| (key.clone(), json!(setting))).collect();
        context.output.answer(&json!({ "values": values }), |out| {
            let mut table = Table::new(&["SETTING", "FROM", "VALUE"]);
            for (key, setting) in &shown {
                let from = setting.place.as_deref().unwrap_or(setting.from);
                table.row([(Tone::Name, key), (Tone::Faint, from), (Tone::Plain, &setting.value.shown())]);
            }
            out.table(&table);
        })?;
        Ok(Exit::Done)
    }
}
