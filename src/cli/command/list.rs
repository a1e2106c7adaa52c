//! `list`: the skills that the deployment may see, page by page.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use repertoire::catalog::{Filter, ListPage};
use repertoire::error::counted;
use repertoire::limits::LIST_LIMIT_MAX;
use repertoire::model::{Kind, Layer, Risk};
use serde::Serialize;

use crate::cli::args::{Narrowed, kind_parser, layer_parser, risk_parser};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::summary::{Summary, kind_word, risk_word};
use crate::cli::table::Table;

/// Arguments of `list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Which skills.
    #[command(flatten)]
    pub(crate) filter: Filters,
    /// Most skills to show
    #[arg(long, value_name = "N", default_value_t = 50,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=LIST_LIMIT_MAX as u64))]
    limit: usize,
    /// Where to go on: `next_cursor` of the page before
    #[arg(long, value_name = "C")]
    cursor: Option<String>,
    /// Whose skills.
    #[command(flatten)]
    narrowed: Narrowed,
}

/// Restrictions that `list` and `search` share.
#[derive(Debug, Args)]
pub(crate) struct Filters {
    /// Only this kind
    #[arg(long, value_parser = kind_parser())]
    kind: Option<Kind>,
    /// Only skills with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only skills about this app
    #[arg(long, value_name = "PACKAGE")]
    app: Option<String>,
    /// Only skills of this effective risk
    #[arg(long, value_parser = risk_parser())]
    risk: Option<Risk>,
    /// Only skills of this layer
    #[arg(long, value_parser = layer_parser())]
    layer: Option<Layer>,
}

impl Filters {
    /// The filter that they make.
    pub(crate) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        (filter.kind, filter.risk, filter.layer) = (self.kind, self.risk, self.layer);
        filter.tag.clone_from(&self.tag);
        filter.app.clone_from(&self.app);
        filter
    }
}

/// The JSON form of a page.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    skills: Vec<Summary<'a>>,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

impl List {
    /// Lists.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let mut view = context.view(self.narrowed.subscriptions())?;
        let pin = view.pin()?;
        let page = pin.list(&self.filter.filter(), self.limit, self.cursor.as_deref())?;
        let answer = Answer {
            skills: page.skills.iter().map(Summary::new).collect(),
            total: page.total,
            next_cursor: page.next_cursor.as_deref(),
        };
        context.output.answer(&answer, |out| write(out, &page))?;
        let shown = page.skills.len();
        if page.total == 0 && pin.is_empty() {
            context.output.note("no skills yet; add some with `repertoire import PATH`");
        } else {
            context.output.note(&format!("{shown} of {}", counted(page.total, "skill")));
        }
        if let Some(cursor) = &page.next_cursor {
            context.output.note(&format!("more with --cursor {cursor}"));
        }
        Ok(Exit::Done)
    }
}

fn write(out: &mut Page, page: &ListPage<'_>) {
    let mut table = Table::new(&["ID", "KIND", "RISK", "LAYER", "NAME"]);
    for skill in &page.skills {
        table.row([
            (Tone::Name, skill.id()),
            (Tone::Plain, kind_word(skill.kind())),
            risk_word(skill.effective_risk()),
            (Tone::Faint, skill.layer().name()),
            (Tone::Plain, skill.name()),
        ]);
    }
    if !table.is_empty() {
        out.table(&table);
    }
}
