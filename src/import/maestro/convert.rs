//! One Maestro command as calls of device tools.

use serde_json::{Map, Number, Value, json};

use crate::error::Problem;
use crate::import::maestro::fields::{Fields, boolean, misshapen};
use crate::import::maestro::words::{self, Piece};
use crate::import::text::Position;
use crate::import::tree::{Node, Value as Yaml};

/// Commands that change how a flow goes on, or compute something: no template can hold them.
const NOT_LINEAR: [&str; 5] = ["evalScript", "runScript", "assertTrue", "repeat", "retry"];
/// Commands that have a counterpart, and `runFlow`.
const KNOWN: [&str; 20] = [
    "launchApp",
    "stopApp",
    "killApp",
    "tapOn",
    "doubleTapOn",
    "longPressOn",
    "inputText",
    "eraseText",
    "assertVisible",
    "assertNotVisible",
    "extendedWaitUntil",
    "waitForAnimationToEnd",
    "scroll",
    "swipe",
    "scrollUntilVisible",
    "back",
    "pressKey",
    "hideKeyboard",
    "openLink",
    "runFlow",
];
/// Values that tune how Maestro goes about a command, not what the command does.
const HINTS: [&str; 10] = [
    "retryTapIfNoChange",
    "waitToSettleTimeoutMs",
    "waitUntilVisible",
    "speed",
    "visibilityPercentage",
    "centerElement",
    "delay",
    "autoVerify",
    "browser",
    "enabledTimeout",
];
/// What a wait may last: `wait_for` and `wait_for_idle`, in milliseconds.
const WAIT_MS: (i64, i64) = (250, 30_000);
const IDLE_MS: (i64, i64) = (500, 15_000);
/// What a swipe may last, in milliseconds.
const SWIPE_MS: (i64, i64) = (50, 10_000);

/// What a command needs to know about where it stands.
pub(crate) trait Place {
    /// The text of a scalar with the variables of this place.
    ///
    /// # Errors
    /// It holds an expression, or is no text.
    fn pieces(&mut self, node: &Node) -> Result<Vec<Piece>, Miss>;
    /// The app that the flow drives.
    fn app(&self) -> Option<Vec<Piece>>;
    /// Tells of something that was accepted.
    fn warn(&mut self, code: &str, field: &str, message: &str, position: Position);
}

/// Why a command is no call.
#[derive(Debug)]
pub(crate) enum Miss {
    /// No tool does it; the name of the value, empty for the command itself.
    Feature(String),
    /// It is refused.
    Refused(Box<Problem>),
}

impl From<Box<Problem>> for Miss {
    fn from(problem: Box<Problem>) -> Self {
        Self::Refused(problem)
    }
}

/// A command of the list.
pub(crate) struct Command<'n> {
    pub(crate) name: &'n str,
    pub(crate) value: Option<&'n Node>,
    pub(crate) position: Position,
}

/// A tool with its arguments.
pub(crate) type Call = (&'static str, Map<String, Value>);

/// What became of a command.
#[derive(Default)]
pub(crate) struct Converted {
    pub(crate) calls: Vec<Call>,
    /// The agent may skip it.
    pub(crate) optional: bool,
    /// What the screen shows afterwards.
    pub(crate) shows: Option<String>,
}

/// Whether a word is a command of Maestro.
pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name) || NOT_LINEAR.contains(&name) || is_observation(name) || is_random(name)
}

/// Commands that only record or judge what is there.
pub(crate) fn is_observation(name: &str) -> bool {
    matches!(name, "takeScreenshot" | "startRecording" | "stopRecording")
        || (name.starts_with("assert") && name.ends_with("WithAI"))
}

fn is_random(name: &str) -> bool {
    name.starts_with("inputRandom")
}

/// Refuses what is no straight line of steps.
pub(crate) fn check_linear(command: &Command<'_>) -> Result<(), Box<Problem>> {
    let name = command.name;
    if NOT_LINEAR.contains(&name) || is_random(name) {
        let message = format!(
            "`{name}` decides, repeats or computes; a flow template is a list of fixed steps: take it out"
        );
        return Err(Box::new(command.position.mark(Problem::new("not_linear", name, message))));
    }
    let when = match command.value {
        Some(Node { value: Yaml::Mapping(pairs), .. }) => {
            pairs.iter().find(|(key, _)| matches!(key.scalar(), Some("when" | "while")))
        }
        _ => None,
    };
    let Some((key, _)) = when else { return Ok(()) };
    let message = "a step under a condition is no fixed step; take the condition out, or make two flows";
    Err(Box::new(key.position.mark(Problem::new("not_linear", name, message))))
}

/// Translates a command. Fails with a feature where no tool does it.
pub(crate) fn convert(command: &Command<'_>, place: &mut dyn Place) -> Result<Converted, Miss> {
    let short = match command.name {
        "launchApp" | "stopApp" | "killApp" => "appId",
        "openLink" => "link",
        "pressKey" => "key",
        "eraseText" => "charactersToErase",
        "scroll" | "swipe" => "direction",
        "scrollUntilVisible" => "element",
        "waitForAnimationToEnd" => "timeout",
        _ => "text",
    };
    if !KNOWN.contains(&command.name) {
        return Err(Miss::Feature(String::new()));
    }
    let mut one = One { command, place, optional: false };
    let mut fields = one.fields(command.value, short)?;
    one.optional(&mut fields)?;
    let mut shows = None;
    let calls = match command.name {
        "launchApp" => one.launch(&mut fields)?,
        "stopApp" | "killApp" => {
            let app = one.app(&mut fields)?;
            let package = app.map(|app| ("package".to_owned(), json!(app)));
            vec![("stop_app", package.into_iter().collect())]
        }
        "tapOn" => vec![("tap", one.target(&mut fields, true)?)],
        "doubleTapOn" => vec![("double_tap", one.target(&mut fields, true)?)],
        "longPressOn" => vec![("long_press", one.target(&mut fields, true)?)],
        "inputText" => vec![("input_text", one.member(&mut fields, "text", "text")?)],
        "eraseText" => vec![one.erase(&mut fields)],
        "assertVisible" => {
            let args = one.target(&mut fields, false)?;
            shows = criterion(&args);
            vec![("wait_for", args)]
        }
        "assertNotVisible" => vec![("wait_for", gone(one.target(&mut fields, false)?))],
        "extendedWaitUntil" => {
            let args = one.wait(&mut fields)?;
            shows = criterion(&args).filter(|_| !args.contains_key("gone"));
            vec![("wait_for", args)]
        }
        "waitForAnimationToEnd" => {
            let time = one.number(&mut fields, "timeout", IDLE_MS)?;
            vec![("wait_for_idle", time.map(|time| ("timeout_ms".to_owned(), time)).into_iter().collect())]
        }
        "scroll" => vec![("scroll", one.direction(&mut fields)?)],
        "swipe" => vec![("swipe", one.swipe(&mut fields)?)],
        "scrollUntilVisible" => vec![("scroll_to_element", one.scroll_until(&mut fields)?)],
        "back" => vec![("press_key", Map::from_iter([("key".to_owned(), json!("back"))]))],
        "pressKey" => vec![("press_key", one.key(&mut fields)?)],
        "hideKeyboard" => vec![("dismiss_keyboard", Map::new())],
        "openLink" => vec![("open_url", one.member(&mut fields, "link", "url")?)],
        _ => return Err(Miss::Feature(String::new())),
    };
    one.finish(fields)?;
    Ok(Converted { calls, optional: one.optional, shows })
}

/// One command on its way.
struct One<'c, 'p> {
    command: &'c Command<'c>,
    place: &'p mut dyn Place,
    optional: bool,
}

impl One<'_, '_> {
    /// The members of a value; a single text stands for one of them.
    fn fields(&mut self, value: Option<&Node>, short: &str) -> Result<Fields, Miss> {
        let Some(node) = value else { return Ok(Fields::of(None)) };
        let node = match &node.value {
            Yaml::Mapping(_) => node.clone(),
            Yaml::Scalar { .. } if node.is_missing() => return Ok(Fields::of(None)),
            Yaml::Scalar { .. } => {
                let key = Yaml::Scalar { text: short.to_owned(), plain: true };
                let key = Node { value: key, span: node.span.clone(), position: node.position };
                Node { value: Yaml::Mapping(vec![(key, node.clone())]), ..node.clone() }
            }
            Yaml::Sequence(_) => {
                let message = format!("`{}` takes a text or `key: value` lines, no list", self.command.name);
                return Err(misshapen(node.position, message).into());
            }
        };
        let fields = Fields::of(Some(node));
        for (key, position) in &fields.doubled {
            self.place.warn(
                "duplicate_key",
                key,
                "the value stands here twice; the last one counts",
                *position,
            );
        }
        Ok(fields)
    }

    fn optional(&mut self, fields: &mut Fields) -> Result<(), Miss> {
        if let Some(node) = fields.take("optional") {
            self.optional |= boolean(&node).ok_or_else(|| Miss::Feature("optional".to_owned()))?;
        }
        fields.take("label");
        Ok(())
    }

    /// Everything must have been understood by now.
    fn finish(&mut self, fields: Fields) -> Result<(), Miss> {
        for (key, node) in fields.rest() {
            if !HINTS.contains(&key.as_str()) {
                return Err(Miss::Feature(key));
            }
            let message = "this only tunes how Maestro does it; it was left out";
            self.place.warn("argument_dropped", &key, message, node.position);
        }
        Ok(())
    }

    /// A text that must be there, as an argument.
    fn member(&mut self, fields: &mut Fields, key: &str, argument: &str) -> Result<Map<String, Value>, Miss> {
        let Some(node) = fields.take(key) else { return Err(self.missing(key)) };
        let text = words::template(&self.place.pieces(&node)?);
        Ok(Map::from_iter([(argument.to_owned(), json!(text))]))
    }

    fn missing(&self, key: &str) -> Miss {
        misshapen(self.command.position, format!("`{}` needs a `{key}`; add it", self.command.name)).into()
    }

    fn app(&mut self, fields: &mut Fields) -> Result<Option<String>, Miss> {
        let pieces = match fields.take("appId") {
            Some(node) => Some(self.place.pieces(&node)?),
            None => self.place.app(),
        };
        Ok(pieces.map(|pieces| words::template(&pieces)))
    }

    /// `launchApp`: stops the app first only where the flow says so.
    fn launch(&mut self, fields: &mut Fields) -> Result<Vec<Call>, Miss> {
        let app = self.app(fields)?.ok_or_else(|| self.missing("appId"))?;
        let args = Map::from_iter([("package".to_owned(), json!(app))]);
        for state in ["clearState", "clearKeychain"] {
            if fields.peek(state) == Some("false") {
                fields.take(state);
            }
        }
        let stops = match fields.take("stopApp") {
            Some(node) => boolean(&node).ok_or_else(|| Miss::Feature("stopApp".to_owned()))?,
            None => false,
        };
        let stop = stops.then(|| ("stop_app", args.clone()));
        Ok(stop.into_iter().chain([("launch_app", args)]).collect())
    }

    /// The element that a selector names, or the point.
    fn target(&mut self, fields: &mut Fields, points: bool) -> Result<Map<String, Value>, Miss> {
        let mut args = Map::new();
        for (key, argument) in [("text", "text"), ("id", "resource_id")] {
            let Some(node) = fields.take(key) else { continue };
            if !args.is_empty() {
                return Err(Miss::Feature("text_and_id".to_owned()));
            }
            let pieces = words::selector(self.place.pieces(&node)?);
            let pieces = pieces.ok_or_else(|| Miss::Feature("regex".to_owned()))?;
            args.insert(argument.to_owned(), json!(words::template(&pieces)));
        }
        if fields.has("point") && args.is_empty() && points {
            let node = fields.take("point").ok_or_else(|| self.missing("point"))?;
            let (x, y) = self.point(&node)?;
            args.extend([("x".to_owned(), x), ("y".to_owned(), y)]);
        }
        if args.is_empty() {
            // Whatever else it is found by has no counterpart; nothing at all is a mistake.
            let by =
                ["point", "index", "below", "above", "leftOf", "rightOf", "childOf", "containsChild", "css"];
            let by = by.into_iter().find(|key| fields.has(key));
            return Err(by.map_or_else(|| self.missing("text` or `id"), |key| Miss::Feature(key.to_owned())));
        }
        Ok(args)
    }

    /// A selector inside of a command, such as `element`.
    fn inner(&mut self, node: &Node) -> Result<Map<String, Value>, Miss> {
        let mut fields = self.fields(Some(node), "text")?;
        self.optional(&mut fields)?;
        let args = self.target(&mut fields, false)?;
        self.finish(fields)?;
        Ok(args)
    }

    /// `50%,20%` as parts of the screen, `100,200` as pixels.
    fn point(&mut self, node: &Node) -> Result<(Value, Value), Miss> {
        let missed = || Miss::Feature("point".to_owned());
        let text = words::literal(&self.place.pieces(node)?).ok_or_else(missed)?;
        let (x, y) = text.split_once(',').ok_or_else(missed)?;
        let number = |text: &str| coordinate(text.trim()).ok_or_else(missed);
        Ok((number(x)?, number(y)?))
    }

    /// A whole number within bounds: a text of digits, or a variable.
    fn number(&mut self, fields: &mut Fields, key: &str, bounds: (i64, i64)) -> Result<Option<Value>, Miss> {
        let Some(node) = fields.take(key) else { return Ok(None) };
        let pieces = self.place.pieces(&node)?;
        if let [Piece::Variable(_)] = pieces.as_slice() {
            return Ok(Some(json!(words::template(&pieces))));
        }
        let digits = words::literal(&pieces).map(|text| text.trim().replace('_', ""));
        let given = digits.and_then(|digits| digits.parse::<i64>().ok());
        let given = given.ok_or_else(|| Miss::Feature(key.to_owned()))?;
        let kept = given.clamp(bounds.0, bounds.1);
        if kept != given {
            let message =
                format!("the tool takes {} to {}; {kept} stands instead of {given}", bounds.0, bounds.1);
            self.place.warn("value_clamped", key, &message, node.position);
        }
        Ok(Some(json!(kept)))
    }

    fn erase(&mut self, fields: &mut Fields) -> Call {
        if let Some(node) = fields.take("charactersToErase") {
            let message = "no tool erases a number of characters; the whole field is emptied";
            self.place.warn("argument_dropped", "charactersToErase", message, node.position);
        }
        ("clear_text", Map::new())
    }

    /// `extendedWaitUntil`: until something is there, or is gone.
    fn wait(&mut self, fields: &mut Fields) -> Result<Map<String, Value>, Miss> {
        let mut args = match (fields.take("visible"), fields.take("notVisible")) {
            (Some(node), None) => self.inner(&node)?,
            (None, Some(node)) => gone(self.inner(&node)?),
            (Some(_), Some(_)) => return Err(Miss::Feature("visible_and_notVisible".to_owned())),
            (None, None) => return Err(self.missing("visible")),
        };
        let time = self.number(fields, "timeout", WAIT_MS)?;
        args.extend(time.map(|time| ("timeout_ms".to_owned(), time)));
        Ok(args)
    }

    fn direction(&mut self, fields: &mut Fields) -> Result<Map<String, Value>, Miss> {
        let mut direction = "down".to_owned();
        if let Some(node) = fields.take("direction") {
            let text = words::literal(&self.place.pieces(&node)?).unwrap_or_default().to_lowercase();
            if !["up", "down", "left", "right"].contains(&text.as_str()) {
                return Err(Miss::Feature("direction".to_owned()));
            }
            direction = text;
        }
        Ok(Map::from_iter([("direction".to_owned(), json!(direction))]))
    }

    fn swipe(&mut self, fields: &mut Fields) -> Result<Map<String, Value>, Miss> {
        let mut args = match (fields.take("start"), fields.take("end")) {
            (Some(start), Some(end)) => {
                let ((x1, y1), (x2, y2)) = (self.point(&start)?, self.point(&end)?);
                [("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)]
                    .map(|(name, value)| (name.to_owned(), value))
                    .into_iter()
                    .collect()
            }
            (None, None) if fields.has("direction") => {
                let mut args = self.direction(fields)?;
                if let Some(node) = fields.take("from") {
                    args.extend(self.inner(&node)?);
                }
                args
            }
            _ => return Err(self.missing("direction` or a `start` and an `end")),
        };
        let time = self.number(fields, "duration", SWIPE_MS)?;
        args.extend(time.map(|time| ("duration_ms".to_owned(), time)));
        Ok(args)
    }

    fn scroll_until(&mut self, fields: &mut Fields) -> Result<Map<String, Value>, Miss> {
        let Some(node) = fields.take("element") else { return Err(self.missing("element")) };
        let mut args = self.inner(&node)?;
        args.extend(self.direction(fields)?);
        if let Some(node) = fields.take("timeout") {
            let message = "the tool counts scrolls and has no time limit; it was left out";
            self.place.warn("argument_dropped", "timeout", message, node.position);
        }
        Ok(args)
    }

    fn key(&mut self, fields: &mut Fields) -> Result<Map<String, Value>, Miss> {
        let Some(node) = fields.take("key") else { return Err(self.missing("key")) };
        let pieces = self.place.pieces(&node)?;
        let key = match words::literal(&pieces) {
            Some(name) => key_name(&name).ok_or_else(|| Miss::Feature("key".to_owned()))?.to_owned(),
            None => words::template(&pieces),
        };
        Ok(Map::from_iter([("key".to_owned(), json!(key))]))
    }
}

fn gone(mut args: Map<String, Value>) -> Map<String, Value> {
    args.insert("gone".to_owned(), json!(true));
    args
}

/// What the screen shows, in words, where an element was waited for.
fn criterion(args: &Map<String, Value>) -> Option<String> {
    let plain = |text: &str| text.replace("{{", "{").replace("}}", "}");
    match (args.get("text"), args.get("resource_id")) {
        (Some(Value::String(text)), _) => Some(format!("The screen shows \"{}\".", plain(text))),
        (_, Some(Value::String(id))) => Some(format!("The screen shows the element {}.", plain(id))),
        _ => None,
    }
}

/// A coordinate: a share of the screen for a percentage, else pixels. A single pixel reads like the whole screen to the
/// tools, so it is none.
fn coordinate(text: &str) -> Option<Value> {
    let number = |value: f64| Number::from_f64(value).map(Value::Number);
    match text.strip_suffix('%') {
        Some(share) => {
            let share = share.trim().parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share))?;
            number(share / 100.0)
        }
        None => text.parse::<u32>().ok().filter(|pixels| *pixels != 1).map(Value::from),
    }
}

/// A key of Maestro as the tool calls it.
fn key_name(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    Some(match name.as_str() {
        "back" => "back",
        "home" => "home",
        "enter" => "enter",
        "volume up" => "volume_up",
        "volume down" => "volume_down",
        "backspace" => "KEYCODE_DEL",
        "tab" => "KEYCODE_TAB",
        "lock" | "power" => "KEYCODE_POWER",
        "remote dpad up" => "KEYCODE_DPAD_UP",
        "remote dpad down" => "KEYCODE_DPAD_DOWN",
        "remote dpad left" => "KEYCODE_DPAD_LEFT",
        "remote dpad right" => "KEYCODE_DPAD_RIGHT",
        "remote dpad center" => "KEYCODE_DPAD_CENTER",
        "remote media play pause" => "KEYCODE_MEDIA_PLAY_PAUSE",
        "remote media stop" => "KEYCODE_MEDIA_STOP",
        "remote media next" => "KEYCODE_MEDIA_NEXT",
        "remote media previous" => "KEYCODE_MEDIA_PREVIOUS",
        "remote media rewind" => "KEYCODE_MEDIA_REWIND",
        "remote media fast forward" => "KEYCODE_MEDIA_FAST_FORWARD",
        _ => return None,
    })
}
