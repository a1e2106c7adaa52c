//! Tools that only wait.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::device::Outcome;
use crate::device::call::Stop;
use crate::device::look::fingerprint;
use crate::device::selector::{Selector, Target};
use crate::error::{DeviceCode, DeviceError, shorten};
use crate::limits::WAIT_PAUSE_MS;

use super::{Done, Turn};

/// `wait_for`
pub(super) async fn wait_for(turn: &mut Turn<'_>) -> Done {
    turn.permit()?;
    let gone = turn.args.flag("gone");
    let selector = match Target::from_args(turn.args.all(), "") {
        Some(Target::Element { selector, .. }) => selector,
        _ => Selector::default(),
    };
    let app = turn.args.text("app").map(str::to_owned);
    let package = match &app {
        Some(app) => Some(turn.package_of(app).await?),
        None => None,
    };
    let what = [package.as_ref().map(|package| format!("app {package}")), Some(selector.words())]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" and ");
    let limit = turn.args.duration("timeout_ms", 5_000);
    let begun = Instant::now();
    loop {
        let seen = turn.sees(&selector, package.as_deref()).await?;
        let waited = begun.elapsed();
        if seen != gone {
            let state = if gone { "gone" } else { "there" };
            let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
            let text = format!("{what} is {state} after {waited_ms} ms");
            return Ok(Outcome::new(text, json!({"waited_ms": waited_ms, "gone": gone})));
        }
        if waited >= limit {
            let state = if gone { "still there" } else { "not there" };
            return Err(Stop::Failed(DeviceError::new(
                DeviceCode::WaitTimedOut,
                format!("{what} is {state} after {} ms", limit.as_millis()),
                "look with describe_screen at what is there instead, or wait longer",
            )));
        }
        turn.watch.tell(waited.as_secs_f64(), limit.as_secs_f64(), &format!("waiting for {what}"));
        sleep(Duration::from_millis(WAIT_PAUSE_MS).min(limit.saturating_sub(waited))).await;
    }
}

/// `wait_for_idle`
pub(super) async fn wait_for_idle(turn: &mut Turn<'_>) -> Done {
    turn.permit()?;
    let stable = turn.args.duration("stable_ms", 500);
    let limit = turn.args.duration("timeout_ms", 5_000);
    let begun = Instant::now();
    let mut print = fingerprint(&*turn.seat.look().await?);
    let mut since = Instant::now();
    loop {
        if since.elapsed() >= stable {
            let waited_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            let text = format!("the screen rests since {} ms", since.elapsed().as_millis());
            return Ok(Outcome::new(text, json!({"waited_ms": waited_ms})));
        }
        let waited = begun.elapsed();
        if waited >= limit {
            return Err(Stop::Failed(DeviceError::new(
                DeviceCode::WaitTimedOut,
                format!("the screen still changes after {} ms", limit.as_millis()),
                "something on it moves by itself (a video, an animation): go on with describe_screen",
            )));
        }
        turn.watch.tell(waited.as_secs_f64(), limit.as_secs_f64(), "waiting for the screen to rest");
        let pause = Duration::from_millis(WAIT_PAUSE_MS / 2).min(stable.saturating_sub(since.elapsed()));
        sleep(pause.min(limit.saturating_sub(waited))).await;
        let next = fingerprint(&*turn.seat.look().await?);
        if next != print {
            print = next;
            since = Instant::now();
        }
    }
}

impl Turn<'_> {
    /// Whether an app is in the foreground and an element on the screen, as far as either is asked for.
    async fn sees(&mut self, selector: &Selector, package: Option<&str>) -> Result<bool, Stop> {
        if let Some(package) = package {
            let foreground = self.seat.driver.foreground(&self.seat.serial).await?;
            self.aim.app.clone_from(&foreground.package);
            if foreground.package != package {
                return Ok(false);
            }
        }
        if selector.is_empty() {
            return Ok(true);
        }
        let screen = self.seat.look().await?;
        self.aim.app = screen.tree.app().to_owned();
        Ok(!selector.find(&screen.tree).is_empty())
    }

    /// The package of an app that is named by package or by label.
    pub(super) async fn package_of(&mut self, app: &str) -> Result<String, Stop> {
        let apps = self.seat.driver.apps(&self.seat.serial, true).await?;
        if let Some(found) = apps.iter().find(|known| known.package == app) {
            return Ok(found.package.clone());
        }
        let wanted = crate::model::normalise(app);
        let label = |known: &crate::device::App| {
            known.label.as_deref().map(crate::model::normalise).unwrap_or_default()
        };
        let exact: Vec<_> =
            apps.iter().filter(|known| !wanted.is_empty() && label(known) == wanted).collect();
        let part: Vec<_> =
            apps.iter().filter(|known| !wanted.is_empty() && label(known).contains(&wanted)).collect();
        let found = if exact.is_empty() { &part } else { &exact };
        match found.as_slice() {
            [only] => Ok(only.package.clone()),
            [] => Err(Stop::Failed(DeviceError::new(
                DeviceCode::AppNotFound,
                format!("no app {:?} is installed", shorten(app)),
                "use list_apps to see which apps there are",
            ))),
            several => {
                let names: Vec<_> = several.iter().take(5).map(|known| known.package.as_str()).collect();
                Err(Stop::Failed(DeviceError::new(
                    DeviceCode::AppNotFound,
                    format!("several apps are called {:?}: {}", shorten(app), names.join(", ")),
                    "name one by its package",
                )))
            }
        }
    }
}
