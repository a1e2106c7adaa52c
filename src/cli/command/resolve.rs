//! `resolve`: the steps of a flow template with all values in place, or everything that is wrong with the values.

use std::io;
use std::path::Path;

use clap::Args;
use repertoire::Problem;
use repertoire::error::shorten;
use repertoire::flow::ResolvedStep;
use repertoire::limits::PARAMS_BYTES_MAX;
use repertoire::model::parse_json;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::args::Narrowed;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, word};
use crate::cli::input::Purpose;
use crate::cli::page::{Page, Tone};

/// Arguments of `resolve`.
#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// Id of the flow template
    id: String,
    /// A parameter's value; may be repeated. Numbers and booleans are understood where the parameter is one
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// All values as a JSON object; `@FILE` reads it from a file, `@-` from standard input. `-p` wins over it
    #[arg(long, value_name = "JSON")]
    params: Option<String>,
    /// Whose skills.
    #[command(flatten)]
    narrowed: Narrowed,
}

/// The JSON form.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    steps: &'a [ResolvedStep],
}

impl Resolve {
    /// Resolves.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        let values = self.values()?;
        let mut view = context.view(self.narrowed.subscriptions())?;
        let steps = view.pin()?.resolve(&self.id, &values)?;
        context.output.answer(&Answer { steps: &steps }, |out| write_steps(out, &steps))?;
        Ok(Exit::Done)
    }

    /// The values that the command line gives.
    fn values(&self) -> Result<Map<String, Value>, Failure> {
        let mut values = match &self.params {
            Some(text) => object(text)?,
            None => Map::new(),
        };
        let mut named = Vec::new();
        for pair in &self.param {
            let Some((name, value)) = pair.split_once('=') else {
                let pair = shorten(pair);
                let hint = format!("write it as -p {}=VALUE", word(&pair));
                return Err(Failure::usage(format!("-p {pair:?} has no `=`"), hint));
            };
            if named.contains(&name) {
                let message = format!("-p {} is given twice", shorten(name));
                return Err(Failure::usage(message, "give each parameter once"));
            }
            named.push(name);
            values.insert(name.to_owned(), Value::String(value.to_owned()));
        }
        Ok(values)
    }
}

/// Reads `--params`.
fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    let purpose = Purpose { exit: Exit::Usage, what: "", smaller: "give smaller values" };
    let read = match text.strip_prefix('@') {
        Some("-") => purpose.read_stream(io::stdin().lock(), "standard input", PARAMS_BYTES_MAX)?,
        Some(path) => purpose.read_text(Path::new(path), PARAMS_BYTES_MAX)?,
        None => text.to_owned(),
    };
    let hint = "write it as --params '{\"name\": \"value\"}'";
    let value = parse_json(&read).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(placed).collect();
        Failure::usage(format!("--params cannot be taken: {}", told.join("; ")), hint)
    })?;
    match value {
        Value::Object(values) => Ok(values),
        _ => Err(Failure::usage("--params is not a JSON object".to_owned(), hint)),
    }
}

/// A problem with its place in the text.
fn placed(problem: &Problem) -> String {
    match (problem.line, problem.column) {
        (Some(line), Some(column)) => format!("{problem} (line {line}, column {column})"),
        _ => problem.to_string(),
    }
}

/// Writes resolved steps, numbered.
pub(crate) fn write_steps(out: &mut Page, steps: &[ResolvedStep]) {
    for (index, step) in steps.iter().enumerate() {
        out.put(Tone::Faint, &format!("{:>3}. ", index + 1))
            .put(Tone::Name, &step.tool)
            .put(Tone::Plain, &format!(" {}", step.args));
        if step.optional {
            out.put(Tone::Faint, "  (optional)");
        }
        if step.secret {
            out.put(Tone::Careful, "  (holds a secret)");
        }
        out.end();
        if let Some(note) = &step.note {
            out.put(Tone::Plain, "     ").line(Tone::Faint, note);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::cli::args::{Arguments, Command};
    use crate::cli::exit::Exit;

    fn values(words: &[&str]) -> Result<String, Exit> {
        let all = ["repertoire", "resolve", "a"].iter().chain(words);
        let Command::Resolve(resolve) = Arguments::try_parse_from(all).unwrap().command else {
            panic!("not resolve")
        };
        resolve.values().map(|map| serde_json::Value::from(map).to_string()).map_err(|failure| failure.exit)
    }

    #[test]
    fn values_come_from_pairs_over_the_object() {
        let rows: [(&[&str], &str); 5] = [
            (&[], "{}"),
            (&["-p", "a=1", "-p", "b=x=y"], r#"{"a":"1","b":"x=y"}"#),
            (&["--params", r#"{"a":1,"b":2}"#, "-p", "a=3"], r#"{"a":"3","b":2}"#),
            (&["-p", "a="], r#"{"a":""}"#),
            (&["-p", "=a"], r#"{"":"a"}"#),
        ];
        for (words, expect) in rows {
            assert_eq!(values(words).as_deref(), Ok(expect), "{words:?}");
        }
    }

    #[test]
    fn wrong_pairs_and_objects_are_usage_errors() {
        let rows: [&[&str]; 7] = [
            &["--params", r#"{"a": 1, "b": 2, "a": 1}"#],
            &["--params", r#"{"a": {"b": 1, "b": 2}}"#],
            &["-p", "a"],
            &["-p", "a=1", "-p", "a=2"],
            &["--params", "[1]"],
            &["--params", "{"],
            &["--params", "@/nowhere/at/all"],
        ];
        for words in rows {
            assert_eq!(values(words), Err(Exit::Usage), "{words:?}");
        }
    }
}
