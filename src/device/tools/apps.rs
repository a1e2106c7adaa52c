//! Apps, addresses, settings and the orientation.

use serde_json::{Value, json};

use crate::device::call::Stop;
use crate::device::{Orientation, Outcome, SettingsPanel};
use crate::error::{DeviceCode, DeviceError};
use crate::model::normalise;

use super::{Done, Turn};

/// `list_apps`
pub(super) async fn list_apps(turn: &mut Turn<'_>) -> Done {
    turn.permit()?;
    let mut apps = turn.seat.driver.apps(&turn.seat.serial, turn.args.flag("system")).await?;
    apps.sort();
    if let Some(filter) = turn.args.text("filter").map(normalise) {
        let holds = |text: &str| normalise(text).contains(&filter);
        apps.retain(|app| holds(&app.package) || app.label.as_deref().is_some_and(holds));
    }
    let lines: Vec<String> = apps
        .iter()
        .map(|app| match &app.label {
            Some(label) => format!("{} {label}", app.package),
            None => app.package.clone(),
        })
        .collect();
    let text = if lines.is_empty() { "no app fits".to_owned() } else { lines.join("\n") };
    Ok(Outcome::new(text, json!({"apps": apps})))
}

/// `launch_app`
pub(super) async fn launch_app(turn: &mut Turn<'_>) -> Done {
    let package = match (turn.args.text("package"), turn.args.text("app")) {
        (Some(package), _) => package.to_owned(),
        (None, app) => {
            let app = app.unwrap_or_default().to_owned();
            turn.package_of(&app).await?
        }
    };
    turn.aim.packages.push(package.clone());
    turn.permit()?;
    turn.seat.driver.launch(&turn.seat.serial, &package, turn.args.text("activity")).await?;
    turn.aim.app.clone_from(&package);
    turn.finish(format!("launched {package}"), None).await
}

/// `open_url`
pub(super) async fn open_url(turn: &mut Turn<'_>) -> Done {
    let url = turn.args.text("url").unwrap_or_default().to_owned();
    let package = turn.args.text("package").map(str::to_owned);
    if !url.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty()) {
        return Err(Stop::Failed(DeviceError::new(
            DeviceCode::NotOpened,
            "the address has no scheme",
            "write it in full, https://... or another scheme that an app of the phone opens",
        )));
    }
    turn.aim.packages.extend(package.clone());
    turn.permit()?;
    turn.seat.driver.open_url(&turn.seat.serial, &url, package.as_deref()).await?;
    turn.finish("opened the address".to_owned(), None).await
}

/// Whether a text is the scheme of an address: `https`, `geo`, `market`.
fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// `open_settings_panel`
pub(super) async fn open_settings_panel(turn: &mut Turn<'_>) -> Done {
    let panel: SettingsPanel = turn.choice("panel")?;
    turn.permit()?;
    let package = (panel == SettingsPanel::AppInfo || panel == SettingsPanel::Notifications)
        .then(|| turn.aim.app.clone())
        .filter(|package| !package.is_empty());
    turn.seat.driver.open_settings(&turn.seat.serial, panel, package.as_deref()).await?;
    let name = turn.args.text("panel").unwrap_or_default();
    turn.finish(format!("opened the settings panel {name}"), None).await
}

/// `stop_app`
pub(super) async fn stop_app(turn: &mut Turn<'_>) -> Done {
    let package = match turn.args.text("package") {
        Some(named) if named.contains('.') => named.to_owned(),
        Some(label) => {
            let label = label.to_owned();
            turn.package_of(&label).await?
        }
        None => turn.aim.app.clone(),
    };
    if package.is_empty() {
        return Err(Stop::Failed(DeviceError::new(
            DeviceCode::AppNotFound,
            "no app is in the foreground",
            "name the package",
        )));
    }
    turn.aim.packages.push(package.clone());
    turn.permit()?;
    turn.seat.driver.stop(&turn.seat.serial, &package).await?;
    turn.finish(format!("stopped {package}"), None).await
}

/// `set_orientation`
pub(super) async fn set_orientation(turn: &mut Turn<'_>) -> Done {
    let orientation: Orientation = turn.choice("orientation")?;
    turn.permit()?;
    turn.seat.driver.set_orientation(&turn.seat.serial, orientation).await?;
    turn.seat.desk.info = None;
    let name = turn.args.text("orientation").unwrap_or_default();
    turn.finish(format!("turned the screen to {name}"), None).await
}

impl Turn<'_> {
    /// An argument that is one of a few names.
    fn choice<T: for<'de> serde::Deserialize<'de>>(&self, name: &str) -> Result<T, Stop> {
        let value = self.args.get(name).cloned().unwrap_or(Value::Null);
        T::deserialize(value).map_err(|_| {
            // A deployment's own table may admit what no driver knows.
            Stop::Failed(DeviceError::new(
                DeviceCode::NotSupported,
                format!("this {name} is not known to the device layer"),
                "use one of those that `repertoire tools` lists",
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::is_scheme;

    #[test]
    fn a_scheme_is_a_word_before_the_colon() {
        for good in ["https", "geo", "content", "android-app", "x+y"] {
            assert!(is_scheme(good), "{good}");
        }
        for bad in ["", "1a", "a b", "-a", "\u{4e2d}"] {
            assert!(!is_scheme(bad), "{bad}");
        }
    }
}
