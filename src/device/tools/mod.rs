//! The device tools over any driver: one function each, called with checked arguments at a phone's turn.
//!
//! Every call goes the same way: wait for the turn, find out what it would hit ([`Aim`]), let the judge decide, act
//! once, wait until the screen rests, tell what changed. Looking is tried again where an error passes; acting never.

mod aim;
mod apps;
mod args;
mod observe;
mod picture;
mod scroll;
mod text;
mod touch;
mod wait;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::device::call::{Aim, CallEnd, Outcome, Stop, Watch};
use crate::device::desk::{Devices, Seat};
use crate::device::diff::SceneDiff;
use crate::device::options::FileAccess;
use crate::device::screen::Screen;
use crate::error::{DeviceCode, DeviceError, shorten};
use crate::limits::DEVICE_CALL_MS_MAX;
use crate::tools::{Call, Effect};

use self::args::Args;

/// What a tool function answers.
type Done = Result<Outcome, Stop>;

/// One call at its phone.
#[derive(Debug)]
struct Turn<'a> {
    seat: Seat,
    args: Args<'a>,
    watch: &'a Watch,
    files: &'a FileAccess,
    aim: Aim,
}

impl Devices {
    /// Runs one checked call ([`ToolRegistry::check_call`](crate::tools::ToolRegistry::check_call)).
    ///
    /// Dropping the future cancels the call: a wait ends at once, and what was begun on the phone ends there by
    /// itself before the next call of that phone is served. A call takes at most two minutes.
    pub async fn call(&self, call: &Call<'_>, watch: &Watch) -> CallEnd {
        let args = Args::new(call.spec, &call.args);
        if call.spec.name == "list_devices" {
            let result = observe::list_devices(self, args).await;
            return CallEnd { aim: Aim::default(), result };
        }
        let seat = match self.seat(args.text("device")).await {
            Ok(seat) => seat,
            Err(error) => return CallEnd { aim: Aim::default(), result: Err(error.into()) },
        };
        let aim = Aim { device: seat.serial.clone(), ..Aim::default() };
        let mut turn = Turn { seat, args, watch, files: &self.options.files, aim };
        let limit = Duration::from_millis(DEVICE_CALL_MS_MAX);
        let result = match timeout(limit, turn.run(call)).await {
            Ok(result) => result,
            Err(_) => Err(Stop::Failed(DeviceError::new(
                DeviceCode::TimedOut,
                format!("{} took longer than {} s", call.spec.name, limit.as_secs()),
                "look at the screen; the phone may be busy or the connection slow",
            ))),
        };
        CallEnd { aim: turn.aim, result }
    }
}

impl Turn<'_> {
    async fn run(&mut self, call: &Call<'_>) -> Done {
        if call.spec.effect == Effect::Mutate || self.watch.wants_app() {
            let foreground = self.seat.driver.foreground(&self.seat.serial).await?;
            self.aim.app = foreground.package;
        }
        match call.spec.name.as_str() {
            "device_info" => observe::device_info(self).await,
            "describe_screen" => observe::describe_screen(self).await,
            "ui_tree" => observe::ui_tree(self).await,
            "screenshot" => picture::screenshot(self).await,
            "current_app" => observe::current_app(self).await,
            "find_element" => observe::find_element(self).await,
            "list_apps" => apps::list_apps(self).await,
            "wait_for" => wait::wait_for(self).await,
            "wait_for_idle" => wait::wait_for_idle(self).await,
            "tap" => touch::tap(self).await,
            "double_tap" => touch::double_tap(self).await,
            "long_press" => touch::long_press(self).await,
            "drag_and_drop" => touch::drag_and_drop(self).await,
            "swipe" => scroll::swipe(self).await,
            "scroll" => scroll::scroll(self).await,
            "scroll_to_element" => scroll::scroll_to_element(self).await,
            "input_text" => text::input_text(self).await,
            "clear_text" => text::clear_text(self).await,
            "focus_input" => text::focus_input(self).await,
            "dismiss_keyboard" => text::dismiss_keyboard(self).await,
            "press_key" => text::press_key(self).await,
            "launch_app" => apps::launch_app(self).await,
            "open_url" => apps::open_url(self).await,
            "open_settings_panel" => apps::open_settings_panel(self).await,
            "stop_app" => apps::stop_app(self).await,
            "set_orientation" => apps::set_orientation(self).await,
            other => Err(Stop::Failed(DeviceError::new(
                DeviceCode::NotSupported,
                format!("the tool {:?} belongs to another server", shorten(other)),
                "call it there; `repertoire device --help` lists the tools of this one",
            ))),
        }
    }

    /// Asks the judge. From here on the call may act.
    fn permit(&self) -> Result<(), Stop> {
        if self.watch.permits(&self.aim) { Ok(()) } else { Err(Stop::Judged) }
    }

    /// The answer of a call that acted: what it did, and what that changed. The act is done; a screen that cannot be
    /// read after it is told, not failed.
    async fn finish(&mut self, did: String, before: Option<Arc<Screen>>) -> Done {
        let before = before.or_else(|| self.seat.desk.last.clone());
        let after = match self.seat.settle(before.as_deref()).await {
            Ok(after) => after,
            Err(error) if error.code == DeviceCode::Lost => return Err(error.into()),
            Err(error) => {
                let text =
                    format!("{did}; the screen after it cannot be read: {} ({})", error.message, error.code);
                return Ok(Outcome::new(text, json!({"done": did, "screen": error.code.name()})));
            }
        };
        let snapshot = self.seat.desk.remember(&after);
        let app = after.tree.app().to_owned();
        let (change, data) = match before {
            Some(before) => {
                let diff = SceneDiff::new(&before, &after);
                (diff.text(), diff.to_json())
            }
            None => (format!("{} elements", after.elements.len()), Value::Null),
        };
        let text = format!("{did}; {app} snapshot={snapshot}; {change}");
        Ok(Outcome::new(text, json!({"done": did, "app": app, "snapshot": snapshot, "change": data})))
    }
}
