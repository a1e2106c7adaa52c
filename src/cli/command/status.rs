//! `status`: layers, generations, sizes, sync state, entitlements.

use clap::Args;
use repertoire::catalog::Status as Report;

use super::entitlements;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{Page, Tone};
use crate::cli::table::Table;

/// Arguments of `status`: none.
#[derive(Debug, Args)]
pub(crate) struct Status {}

/// Digits of a digest that people see.
const DIGEST_SHOWN: usize = 12;

impl Status {
    /// Shows the state.
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let report = context.catalog()?.status()?;
        let folder = context.data.path.display().to_string();
        context.output.answer(&report, |out| write(out, &report, &folder))?;
        Ok(Exit::Done)
    }
}

fn write(out: &mut Page, report: &Report, folder: &str) {
    out.field("data", folder);
    let mut table = Table::new(&["LAYER", "GENERATION", "SKILLS", "SIZE", "DIGEST"]);
    for layer in &report.layers {
        let digest = layer.digest.get(..DIGEST_SHOWN).unwrap_or(&layer.digest);
        table.row([
            (Tone::Name, layer.layer.name()),
            (Tone::Plain, &layer.generation.to_string()),
            (Tone::Plain, &layer.skills.to_string()),
            (Tone::Plain, &size(layer.bytes)),
            (Tone::Faint, digest),
        ]);
    }
    if table.is_empty() {
        out.line(Tone::Careful, "no layer holds a skill; add some with `repertoire import PATH`");
    } else {
        out.table(&table);
    }
    let sync = &report.sync;
    let mut said = vec![sync.state.clone()];
    said.extend(sync.seq.map(|seq| format!("content {seq}")));
    said.extend(sync.ent_seq.map(|seq| format!("entitlements {seq}")));
    said.extend(sync.age_s.map(|age| format!("checked {age} s ago")));
    out.field("sync", &said.join(", "));
    out.field("last sync error", sync.last_error.as_deref().unwrap_or(""));
    if let Some(recovered) = &report.recovered {
        out.put(Tone::Careful, "recovered: ").line(Tone::Careful, recovered);
    }
    entitlements::write(out, &report.entitlements);
}

/// A number of bytes for people: three digits and a unit.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut scaled = u128::from(bytes) * 10;
    while scaled >= 10_240 && unit + 1 < UNITS.len() {
        scaled /= 1024;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ if scaled >= 1_000 => format!("{} {}", scaled / 10, UNITS[unit]),
        _ => format!("{}.{} {}", scaled / 10, scaled % 10, UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_about_three_digits() {
        let rows = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (150 * 1024, "150 KiB"),
            (u64::MAX, "16777215 TiB"),
        ];
        for (bytes, expect) in rows {
            assert_eq!(size(bytes), expect);
        }
    }
}
