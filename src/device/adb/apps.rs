//! Apps: which there are, starting, stopping, opening addresses and pages of the settings.

use std::collections::BTreeSet;
use std::time::Duration;

use super::client::Client;
use super::failure;
use super::quote::line;
use super::screen;
use crate::device::{App, DeviceResult, Orientation, SettingsPanel};
use crate::error::{DeviceCode, DeviceError, shorten};

/// What `am start -W` itself waits for the first picture of an app.
const START: Duration = Duration::from_secs(20);
const MAIN: &str = "android.intent.action.MAIN";
const LAUNCHER: &str = "android.intent.category.LAUNCHER";
/// As a launcher starts apps: a task that is there comes to the front.
const AS_LAUNCHER: &str = "0x10200000";

/// Installed apps. The first user is named: a phone with a second space refuses to list all of them.
pub(super) async fn list(client: &Client, device: &str, system: bool) -> DeviceResult<Vec<App>> {
    let own = packages(client, device, "-3").await?;
    let mut apps: Vec<App> = own.iter().map(|package| app(package, false)).collect();
    if system {
        let system = packages(client, device, "-s").await?;
        apps.extend(system.difference(&own).map(|package| app(package, true)));
    }
    Ok(apps)
}

fn app(package: &str, system: bool) -> App {
    App { package: package.to_owned(), label: None, system }
}

async fn packages(client: &Client, device: &str, which: &str) -> DeviceResult<BTreeSet<String>> {
    let words = ["list", "packages", "--user", "0", which];
    let said = if client.features(device).await?.contains("cmd") {
        client.service(device, &[&["package"], &words[..]].concat()).await?
    } else {
        client.run(device, &[&["pm"], &words[..]].concat()).await?.said()
    };
    let found: BTreeSet<String> =
        said.lines().filter_map(|line| line.trim().strip_prefix("package:")).map(str::to_owned).collect();
    if found.is_empty() && said.contains("Exception") {
        return Err(failure::failed("listing the apps", &said, 0));
    }
    Ok(found)
}

/// Starts an app.
pub(super) async fn launch(
    client: &Client,
    device: &str,
    package: &str,
    activity: Option<&str>,
) -> DeviceResult<()> {
    if let Some(activity) = activity {
        let component =
            if activity.contains('/') { activity.to_owned() } else { format!("{package}/{activity}") };
        return match start(client, device, &component).await? {
            Started::Yes => Ok(()),
            Started::NoSuch(_) if !installed(client, device, package).await? => Err(not_installed(package)),
            Started::NoSuch(said) | Started::Failed(said) => Err(not_started(package, &said)),
        };
    }
    let Some(component) = launcher(client, device, package).await? else {
        return by_monkey(client, device, package, "it has no launcher activity").await;
    };
    match start(client, device, &component).await? {
        Started::Yes => Ok(()),
        Started::NoSuch(said) | Started::Failed(said) => {
            // An update may have renamed it.
            let changes = client.changes().await?;
            client.cache.with(changes, device, |facts| facts.launchers.remove(package));
            by_monkey(client, device, package, &said).await
        }
    }
}

/// The component that the launcher starts; `None` if the phone cannot tell.
async fn launcher(client: &Client, device: &str, package: &str) -> DeviceResult<Option<String>> {
    let changes = client.changes().await?;
    if let Some(known) = client.cache.with(changes, device, |facts| facts.launchers.get(package).cloned()) {
        return Ok(Some(known));
    }
    if !client.features(device).await?.contains("cmd") {
        return Ok(None);
    }
    let words =
        ["package", "resolve-activity", "--brief", "--user", "0", "-a", MAIN, "-c", LAUNCHER, package];
    let said = client.service(device, &words).await?;
    let prefix = format!("{package}/");
    let found = said.lines().map(str::trim).rfind(|line| line.starts_with(&prefix) && !line.contains(' '));
    if let Some(component) = found {
        let (key, value) = (package.to_owned(), component.to_owned());
        client.cache.with(changes, device, |facts| facts.launchers.insert(key, value));
    }
    Ok(found.map(str::to_owned))
}

/// How a start ended.
#[derive(Debug, PartialEq, Eq)]
enum Started {
    Yes,
    /// There is no such activity; what the phone said.
    NoSuch(String),
    /// It is there and did not start; what the phone said.
    Failed(String),
}

async fn start(client: &Client, device: &str, component: &str) -> DeviceResult<Started> {
    let words = ["am", "start", "-W", "-a", MAIN, "-c", LAUNCHER, "-f", AS_LAUNCHER, "-n", component];
    let output = client.shell(device, &line(&words), client.timeout() + START).await?;
    Ok(started(&output.said(), output.code))
}

/// Reads what `am start -W` wrote: its exit code is 0 for most errors.
fn started(said: &str, code: u8) -> Started {
    let error = said.lines().map(str::trim).find(|line| {
        line.starts_with("Error") || line.contains("Exception") || line.starts_with("Permission Denial")
    });
    if let Some(line) = error {
        let no_such = said.contains("does not exist") || said.contains("unable to resolve");
        return if no_such { Started::NoSuch(line.to_owned()) } else { Started::Failed(line.to_owned()) };
    }
    if said.lines().any(|line| line.trim() == "Status: timeout") {
        return Started::Failed("it drew nothing in time".to_owned());
    }
    if code != 0 {
        return Started::Failed(format!("am start ended with exit code {code}"));
    }
    Started::Yes
}

/// The way that needs no name of an activity.
async fn by_monkey(client: &Client, device: &str, package: &str, before: &str) -> DeviceResult<()> {
    if !installed(client, device, package).await? {
        return Err(not_installed(package));
    }
    let words = ["monkey", "-p", package, "-c", LAUNCHER, "1"];
    let output = client.shell(device, &line(&words), client.timeout() + START).await?;
    let said = output.said();
    let done =
        said.contains("Events injected: 1") && !said.contains("No activities found") && output.code == 0;
    if done { Ok(()) } else { Err(not_started(package, before)) }
}

async fn installed(client: &Client, device: &str, package: &str) -> DeviceResult<bool> {
    let output = client.run(device, &["pm", "path", "--user", "0", package]).await?;
    Ok(output.text().lines().any(|line| line.starts_with("package:")))
}

fn not_installed(package: &str) -> DeviceError {
    DeviceError::new(
        DeviceCode::AppNotFound,
        format!("no app {:?} is installed", shorten(package)),
        "list_apps shows the packages there are",
    )
}

fn not_started(package: &str, said: &str) -> DeviceError {
    DeviceError::new(
        DeviceCode::AppNotStarted,
        format!("the app {:?} did not start: {}", shorten(package), shorten(said)),
        "look at the screen: it may still come up, or ask something first",
    )
}

/// Stops an app.
pub(super) async fn stop(client: &Client, device: &str, package: &str) -> DeviceResult<()> {
    // Stopping something that does not exist would succeed as well.
    if !installed(client, device, package).await? {
        return Err(not_installed(package));
    }
    let output = client.run(device, &["am", "force-stop", package]).await?;
    if output.code != 0 || output.said().contains("Exception") {
        return Err(failure::failed("stopping the app", &output.said(), output.code));
    }
    Ok(())
}

/// Opens an address.
pub(super) async fn open_url(
    client: &Client,
    device: &str,
    url: &str,
    package: Option<&str>,
) -> DeviceResult<()> {
    let mut words = vec!["-a", "android.intent.action.VIEW", "-d", url];
    if let Some(package) = package {
        words.extend(["-p", package]);
    }
    open(client, device, &words, "the address", "check the address, or name an app that opens it").await
}

/// Opens a page of the settings.
pub(super) async fn open_settings(
    client: &Client,
    device: &str,
    panel: SettingsPanel,
    package: Option<&str>,
) -> DeviceResult<()> {
    let of_app = matches!(panel, SettingsPanel::AppInfo | SettingsPanel::Notifications);
    let package = match package {
        Some(package) => package.to_owned(),
        None if of_app => screen::foreground(client, device).await?.package,
        None => String::new(),
    };
    if of_app && package.is_empty() {
        return Err(DeviceError::new(
            DeviceCode::AppNotFound,
            "no app is in the foreground whose page could be opened",
            "name the package",
        ));
    }
    let address = format!("package:{package}");
    let words = match panel {
        SettingsPanel::Wifi => vec!["-a", "android.settings.WIFI_SETTINGS"],
        SettingsPanel::Bluetooth => vec!["-a", "android.settings.BLUETOOTH_SETTINGS"],
        SettingsPanel::Accessibility => vec!["-a", "android.settings.ACCESSIBILITY_SETTINGS"],
        SettingsPanel::SystemSettings => vec!["-a", "android.settings.SETTINGS"],
        SettingsPanel::AppInfo => vec!["-a", "android.settings.APPLICATION_DETAILS_SETTINGS", "-d", &address],
        SettingsPanel::Notifications => vec![
            "-a",
            "android.settings.APP_NOTIFICATION_SETTINGS",
            "--es",
            "android.provider.extra.APP_PACKAGE",
            &package,
        ],
    };
    open(client, device, &words, "the page of the settings", "open the settings app and look for it there")
        .await
}

async fn open(client: &Client, device: &str, intent: &[&str], what: &str, hint: &str) -> DeviceResult<()> {
    let words = [&["am", "start", "-W"], intent].concat();
    let output = client.shell(device, &line(&words), client.timeout() + START).await?;
    match started(&output.said(), output.code) {
        Started::Yes => Ok(()),
        Started::NoSuch(_) => {
            Err(DeviceError::new(DeviceCode::NotOpened, format!("nothing on the phone opens {what}"), hint))
        }
        // The intent stands in most messages, and the address in it may be secret.
        Started::Failed(_) => {
            Err(DeviceError::new(DeviceCode::NotOpened, format!("{what} could not be opened"), hint))
        }
    }
}

/// Turns the screen.
pub(super) async fn turn(client: &Client, device: &str, orientation: Orientation) -> DeviceResult<()> {
    let turns = match orientation {
        Orientation::Portrait => Some("0"),
        Orientation::Landscape => Some("1"),
        Orientation::ReversePortrait => Some("2"),
        Orientation::ReverseLandscape => Some("3"),
        Orientation::Auto => None,
    };
    let put = |name: &str, value: &str| line(&["settings", "put", "system", name, value]);
    let command = match turns {
        Some(turns) => format!("{} && {}", put("accelerometer_rotation", "0"), put("user_rotation", turns)),
        None => put("accelerometer_rotation", "1"),
    };
    let output = client.shell(device, &command, client.timeout()).await?;
    super::text::checked("turning the screen", &output.said(), output.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_am_start_tell_what_its_exit_code_does_not() {
        let no_class = "Starting: Intent { cmp=com.x/.Y }\nError type 3\nError: Activity class {com.x/.Y} does not exist.";
        let denied = "java.lang.SecurityException: Permission Denial: starting Intent { cmp=com.x/.Y }";
        assert_eq!(started("Starting: Intent { }\nStatus: ok\nComplete", 0), Started::Yes);
        let front = "Warning: Activity not started, its current task has been brought to the front\nStatus: ok\nComplete";
        assert_eq!(started(front, 0), Started::Yes);
        assert!(matches!(started(no_class, 0), Started::NoSuch(_)));
        let unresolved =
            "Error: Activity not started, unable to resolve Intent { act=android.intent.action.VIEW }";
        assert!(matches!(started(unresolved, 0), Started::NoSuch(_)));
        assert!(matches!(started(denied, 0), Started::Failed(_)));
        assert!(matches!(started("Status: timeout\nComplete", 0), Started::Failed(_)));
        assert!(matches!(started("", 1), Started::Failed(_)));
    }
}
