//! `man`: the manual page, with every command in it.

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;
use serde_json::json;

use crate::cli::args::Arguments;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;

/// Arguments of `man`: none.
#[derive(Debug, Args)]
pub(crate) struct Man {}

impl Man {
    /// Writes the page in roff.
    #[expect(clippy::unused_self, reason = "every command is called the same way")]
    pub(crate) fn run(&self, output: &Output) -> Result<Exit, Failure> {
        let page = page().map_err(|cause| {
            Failure::new(
                Exit::Negative,
                "output_failed",
                format!("cannot make the manual page: {cause}"),
                "see `repertoire --help` instead",
            )
        })?;
        if output.is_json() {
            output.answer(&json!({ "page": page }), |_| ())?;
        } else {
            Output::own_text(&page)?;
        }
        Ok(Exit::Done)
    }
}

/// The page: the program's sections, then a section for each command with its options.
fn page() -> std::io::Result<String> {
    let mut command = Arguments::command();
    command.build();
    let mut bytes = Vec::new();
    let whole = Page::new(command.clone());
    whole.render_title(&mut bytes)?;
    whole.render_name_section(&mut bytes)?;
    whole.render_synopsis_section(&mut bytes)?;
    whole.render_description_section(&mut bytes)?;
    whole.render_options_section(&mut bytes)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        bytes.extend_from_slice(format!(".SH \"COMMAND {}\"\n", sub.get_name().to_uppercase()).as_bytes());
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        bytes.extend_from_slice(format!("{}\n", roff(&about)).as_bytes());
        let section = Page::new(sub.clone());
        let mut options = Vec::new();
        section.render_synopsis_section(&mut options)?;
        section.render_options_section(&mut options)?;
        // The parts of a command stand one level below its own section.
        bytes.extend_from_slice(String::from_utf8_lossy(&options).replace(".SH ", ".SS ").as_bytes());
    }
    whole.render_extra_section(&mut bytes)?;
    whole.render_version_section(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Text as a paragraph of the page.
fn roff(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}
