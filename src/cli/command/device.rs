//! `device`: every device tool by hand.

use std::sync::Arc;

use clap::Args;
use repertoire::Error;
use repertoire::device::{DeviceResult, Devices, FileAccess, Outcome, Stop, Watch};
use repertoire::error::{DeviceCode, DeviceError};
use repertoire::model::parse_json;
use repertoire::tools::{Call, ToolRegistry, ToolSpec};
use serde_json::{Map, Value};

use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};

/// Arguments of `device`.
#[derive(Debug, Args)]
pub(crate) struct Device {
    /// The tool: list, info, describe, tap, swipe, ... or any name that `repertoire tools` lists; `-` for `_` will do.
    /// `doctor` checks everything from adb to the screen
    tool: String,
    /// Its arguments as NAME=VALUE; a word without a name is the tool's main argument (what to tap, type, open)
    #[arg(value_name = "NAME=VALUE")]
    words: Vec<String>,
    /// All arguments as a JSON object; the words win over it
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// Serial of the phone
    #[arg(short = 's', long, value_name = "SERIAL")]
    serial: Option<String>,
    /// Another driver than adb
    #[arg(long, value_name = "DRIVER", hide = true)]
    driver: Option<String>,
}

/// Short names of tools.
const SHORT: [(&str, &str); 3] =
    [("list", "list_devices"), ("info", "device_info"), ("describe", "describe_screen")];

/// What a word without a name is, by tool.
const MAIN: [(&str, &str); 20] = [
    ("describe_screen", "filter"),
    ("screenshot", "save_to"),
    ("find_element", "text"),
    ("list_apps", "filter"),
    ("wait_for", "text"),
    ("tap", "text"),
    ("double_tap", "text"),
    ("long_press", "text"),
    ("focus_input", "text"),
    ("clear_text", "text"),
    ("scroll_to_element", "text"),
    ("swipe", "direction"),
    ("scroll", "direction"),
    ("input_text", "text"),
    ("press_key", "key"),
    ("launch_app", "app"),
    ("open_url", "url"),
    ("open_settings_panel", "panel"),
    ("stop_app", "package"),
    ("set_orientation", "orientation"),
];

impl Device {
    /// What was typed for it.
    pub(crate) fn name(&self) -> String {
        format!("device {}", self.tool)
    }

    /// Makes the call. A person who types it has decided: no policy is asked.
    pub(crate) fn run(&self, context: &Context) -> Result<Exit, Failure> {
        if self.tool == "doctor" {
            return self.doctor(context);
        }
        let registry = ToolRegistry::builtin();
        let name = self.tool.replace('-', "_");
        let name = SHORT.iter().find(|(short, _)| *short == name).map_or(name.as_str(), |(_, full)| *full);
        let spec = registry.require(name, "").map_err(|problem| {
            Failure::usage(
                format!("there is no device tool {:?}: {}", self.tool, problem.message),
                "see `repertoire tools`",
            )
        })?;
        let args = self.arguments(spec.spec)?;
        let call =
            registry.check_call(name, &args).map_err(|problems| Error::InvalidArguments { problems })?;
        if call.spec.name == "screenshot" && !call.args.contains_key("save_to") {
            return Err(Failure::usage(
                "a picture needs a file",
                "write `repertoire device screenshot screen.png`",
            ));
        }
        let devices = context.devices(self.driver.as_deref(), FileAccess::Anywhere)?;
        let runtime = runtime()?;
        let outcome = runtime.block_on(make(&devices, &registry, &call))?;
        runtime.shutdown_background();
        context.output.answer(&outcome.data, |out| out.block(&outcome.text))?;
        Ok(Exit::Done)
    }

    /// Checks instead of a call.
    fn doctor(&self, context: &Context) -> Result<Exit, Failure> {
        if !self.words.is_empty() || self.args.is_some() || self.driver.is_some() {
            return Err(Failure::usage(
                "the doctor takes no arguments",
                "name a phone with --serial, or nothing",
            ));
        }
        super::doctor::run(context, self.serial.as_deref())
    }

    /// The arguments that the command line gives.
    fn arguments(&self, spec: &ToolSpec) -> Result<Map<String, Value>, Failure> {
        let mut args = match &self.args {
            None => Map::new(),
            Some(text) => {
                let Ok(Value::Object(args)) = parse_json(text) else {
                    let hint = "write it as --args '{\"name\": \"value\"}'";
                    return Err(Failure::usage("--args is not a JSON object", hint));
                };
                args
            }
        };
        let main = MAIN.iter().find(|(tool, _)| *tool == spec.name).map(|(_, argument)| *argument);
        for word in &self.words {
            let named =
                word.split_once('=').filter(|(name, _)| spec.argument(spec.argument_name(name)).is_some());
            let (name, value) = match (named, main) {
                (Some((name, value)), _) => (spec.argument_name(name), value),
                // What looks like a name that the tool does not have would be typed or tapped otherwise.
                (None, Some(main)) if !args.contains_key(main) => (main, word.as_str()),
                (None, _) => {
                    return Err(Failure::usage(
                        format!("{:?} is no argument of {}", word, spec.name),
                        format!("it has {}", names(spec).join(", ")),
                    ));
                }
            };
            args.insert(name.to_owned(), typed(spec.argument(name), value));
        }
        if let Some(serial) = &self.serial {
            args.insert("device".to_owned(), Value::from(serial.as_str()));
        }
        Ok(args)
    }
}

/// The runtime of one command.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::new(
            Exit::Device,
            "device_failed",
            format!("cannot start a runtime: {error}"),
            "check the limits of processes",
        )
    })
}

fn names(spec: &ToolSpec) -> Vec<String> {
    let properties = spec.parameters.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).cloned().collect()
}

/// A word as the schema of its argument wants it: numbers and switches are read, everything else is text.
fn typed(schema: Option<&Value>, word: &str) -> Value {
    let wanted = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    match wanted {
        Some("integer" | "number" | "boolean") => {
            serde_json::from_str(word).unwrap_or_else(|_| Value::from(word))
        }
        _ => Value::from(word),
    }
}

/// Makes one call; an index is one of the screen as it is now.
async fn make(devices: &Arc<Devices>, registry: &ToolRegistry, call: &Call<'_>) -> DeviceResult<Outcome> {
    let watch = Watch::default();
    let by_index = call.args.keys().any(|name| name == "index" || name.ends_with("_index"));
    if by_index && !call.args.contains_key("snapshot") {
        let mut args = Map::new();
        args.extend(call.args.get("device").map(|device| ("device".to_owned(), device.clone())));
        if let Ok(look) = registry.check_call("describe_screen", &args) {
            finished(devices.call(&look, &watch).await.result)?;
        }
    }
    finished(devices.call(call, &watch).await.result)
}

fn finished(result: Result<Outcome, Stop>) -> DeviceResult<Outcome> {
    result.map_err(|stop| match stop {
        Stop::Failed(error) => error,
        // Nobody judges here.
        _ => DeviceError::new(DeviceCode::Cancelled, "the call was stopped", "call again"),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::json;

    use super::*;
    use crate::cli::args::{Arguments, Command};

    fn arguments(words: &[&str]) -> Result<Value, Exit> {
        let all = ["repertoire", "device"].iter().chain(words);
        let Command::Device(device) = Arguments::try_parse_from(all).unwrap().command else {
            panic!("not device")
        };
        let registry = ToolRegistry::builtin();
        let spec = registry.resolve(&device.tool).unwrap().spec;
        device.arguments(spec).map(Value::Object).map_err(|failure| failure.exit)
    }

    #[test]
    fn words_become_arguments_of_their_types() {
        let rows: [(&[&str], Value); 6] = [
            (&["tap", "Wi-Fi"], json!({"text": "Wi-Fi"})),
            (&["tap", "index=3", "snapshot=s1"], json!({"index": 3, "snapshot": "s1"})),
            (&["open_url", "https://a.example/?q=1"], json!({"url": "https://a.example/?q=1"})),
            (
                &["type_text", "a=b", "submit=true", "-s", "x"],
                json!({"text": "a=b", "submit": true, "device": "x"}),
            ),
            (&["press_key", "27"], json!({"key": "27"})),
            (&["tap", "--args", "{\"x\": 1}", "y=2"], json!({"x": 1, "y": 2})),
        ];
        for (words, expect) in rows {
            assert_eq!(arguments(words), Ok(expect), "{words:?}");
        }
        assert_eq!(arguments(&["dismiss_keyboard", "now"]), Err(Exit::Usage));
        assert_eq!(arguments(&["tap", "a", "b"]), Err(Exit::Usage));
        assert_eq!(arguments(&["tap", "--args", "[]"]), Err(Exit::Usage));
    }

    #[test]
    fn every_main_argument_is_one_of_its_tool() {
        let registry = ToolRegistry::builtin();
        for (tool, argument) in MAIN {
            assert!(registry.resolve(tool).unwrap().spec.argument(argument).is_some(), "{tool}");
        }
        assert!(SHORT.iter().all(|(_, tool)| registry.resolve(tool).is_some()));
    }
}
