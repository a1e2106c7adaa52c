//! What a phone is, how its screen is turned, and which app is in front.

use super::cache::Identity;
use super::client::Client;
use super::failure;
use crate::device::{DeviceInfo, DeviceResult, Foreground};

/// One call for everything that stays as it is; each part begins with a line of its own.
const IDENTITY: &str = "for p in ro.product.manufacturer ro.product.model ro.build.version.release ro.build.version.sdk \
                        ro.serialno ro.boot.serialno; do echo \"$p=$(getprop $p)\"; done; wm size; wm density";

/// Facts of a phone, remembered while the list of phones stays as it is.
pub(super) async fn identity(client: &Client, device: &str) -> DeviceResult<Identity> {
    let changes = client.changes().await?;
    if let Some(identity) = client.cache.with(changes, device, |facts| facts.identity.clone()) {
        return Ok(identity);
    }
    let output = client.shell(device, IDENTITY, client.timeout()).await?;
    let identity = read_identity(&output.text())
        .ok_or_else(|| failure::failed("asking for the size of the screen", &output.said(), output.code))?;
    client.cache.with(changes, device, |facts| facts.identity = Some(identity.clone()));
    Ok(identity)
}

/// Screen and system of a phone.
pub(super) async fn info(client: &Client, device: &str) -> DeviceResult<DeviceInfo> {
    let identity = identity(client, device).await?;
    let displays = client.run(device, &["dumpsys", "window", "displays"]).await?.text();
    let rotation = match rotation(&displays) {
        Some(rotation) => rotation,
        None => rotation_of_input(&client.run(device, &["dumpsys", "input"]).await?.text()).unwrap_or(0),
    };
    let turned = rotation % 2 == 1;
    let (width, height) =
        if turned { (identity.height, identity.width) } else { (identity.width, identity.height) };
    Ok(DeviceInfo {
        serial: device.to_owned(),
        model: identity.model,
        android: identity.android,
        sdk: identity.sdk,
        width,
        height,
        rotation,
        density: identity.density,
    })
}

/// The app in front.
pub(super) async fn foreground(client: &Client, device: &str) -> DeviceResult<Foreground> {
    // The focused window stands in one of these, by version.
    for words in [["dumpsys", "window", "displays"], ["dumpsys", "window", "windows"]] {
        let text = client.run(device, &words).await?.text();
        if let Some(found) = focused(&text) {
            return Ok(found);
        }
    }
    let text = client.run(device, &["dumpsys", "activity", "activities"]).await?.text();
    Ok(resumed(&text).unwrap_or_default())
}

fn read_identity(text: &str) -> Option<Identity> {
    let property = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().trim().to_owned()
    };
    // The override stands behind the physical size and wins.
    let measure = |over: &str, physical: &str| {
        let find = |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name).map(str::trim));
        find(over).or_else(|| find(physical))
    };
    let (width, height) = measure("Override size:", "Physical size:")?.split_once('x')?;
    let density = measure("Override density:", "Physical density:").and_then(|text| text.parse().ok());
    let (maker, model) = (property("ro.product.manufacturer"), property("ro.product.model"));
    let named = model.to_lowercase().starts_with(&maker.to_lowercase());
    let hardware = Some(property("ro.serialno")).filter(|serial| !serial.is_empty());
    Some(Identity {
        model: if named { model } else { format!("{maker} {model}").trim().to_owned() },
        android: property("ro.build.version.release"),
        sdk: property("ro.build.version.sdk").parse().unwrap_or(0),
        width: width.trim().parse().ok()?,
        height: height.trim().parse().ok()?,
        density: density.unwrap_or(0),
        hardware: hardware.unwrap_or_else(|| property("ro.boot.serialno")),
    })
}

/// Quarter turns: `mCurrentRotation=ROTATION_90`, `mCurrentRotation=1` or, in older versions, `mRotation=1`.
fn rotation(text: &str) -> Option<u8> {
    ["mCurrentRotation=", "mRotation="].iter().find_map(|name| {
        text.match_indices(name).find_map(|(at, _)| {
            let value: String = text[at + name.len()..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            match value.as_str() {
                "ROTATION_0" | "0" => Some(0),
                "ROTATION_90" | "1" => Some(1),
                "ROTATION_180" | "2" => Some(2),
                "ROTATION_270" | "3" => Some(3),
                _ => None,
            }
        })
    })
}

fn rotation_of_input(text: &str) -> Option<u8> {
    let (_, rest) = text.split_once("SurfaceOrientation:")?;
    let turns: u8 = rest.split_ascii_whitespace().next()?.parse().ok()?;
    (turns < 4).then_some(turns)
}

/// The focused window; where that is no activity (a menu, a keyboard), the focused app. `None` if the text names
/// neither.
fn focused(text: &str) -> Option<Foreground> {
    let windows: Vec<&str> = values(text, "mCurrentFocus=");
    let apps: Vec<&str> = values(text, "mFocusedApp=");
    let window = windows.iter().rev().find_map(|value| component(value));
    if let Some(found) = window {
        return Some(found);
    }
    // The shade and the lock screen belong to the system: they have no activity.
    if windows
        .iter()
        .any(|value| ["NotificationShade", "StatusBar", "Keyguard"].iter().any(|name| value.contains(name)))
    {
        return Some(Foreground { package: "com.android.systemui".to_owned(), activity: String::new() });
    }
    apps.iter().rev().find_map(|value| component(value))
}

/// The rest of each line behind a name.
fn values<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.split_once(name).map(|(_, value)| value)).collect()
}

/// The activity on top, as the activity manager of any version writes it.
fn resumed(text: &str) -> Option<Foreground> {
    let names = ["topResumedActivity=", "mResumedActivity:", "ResumedActivity:", "mFocusedActivity:"];
    names.iter().find_map(|name| values(text, name).into_iter().find_map(component))
}

/// `... u0 com.x/.Main t7}` or `... u0 com.x/com.x.Main}`.
fn component(value: &str) -> Option<Foreground> {
    let word = value.split([' ', '{', '}']).find(|word| word.contains('/'))?;
    let (package, activity) = word.split_once('/')?;
    let name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._$".contains(c));
    (name(package) && name(activity))
        .then(|| Foreground { package: package.to_owned(), activity: activity.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_override_of_size_and_density_wins() {
        let text = "ro.product.manufacturer=Google\nro.product.model=Pixel 7\nro.build.version.release=14\n\
                    ro.build.version.sdk=34\nro.serialno=S1\nPhysical size: 1080x2400\nOverride size: 720x1600\n\
                    Physical density: 420\nOverride density: 280\n";
        let read = read_identity(text).unwrap();
        assert_eq!((read.width, read.height, read.density, read.sdk), (720, 1600, 280, 34));
        assert_eq!((read.model.as_str(), read.hardware.as_str()), ("Google Pixel 7", "S1"));
        let plain = text.replace("Override size: 720x1600\n", "").replace("Override density: 280\n", "");
        let read = read_identity(&plain).unwrap();
        assert_eq!((read.width, read.height, read.density), (1080, 2400, 420));
        assert_eq!(read_identity("wm: not found"), None);
        let named = text.replace("model=Pixel", "model=GOOGLE Pixel");
        assert_eq!(read_identity(&named).unwrap().model, "GOOGLE Pixel 7");
    }

    #[test]
    fn the_rotation_is_read_from_every_version() {
        for (text, expect) in [
            ("  mCurrentRotation=ROTATION_90\n", Some(1)),
            ("x mCurrentRotation=3 y", Some(3)),
            ("mRotation=2 mAltOrientation=false", Some(2)),
            ("mCurrentRotation=UNKNOWN mRotation=1", Some(1)),
            ("nothing", None),
        ] {
            assert_eq!(rotation(text), expect, "{text}");
        }
        assert_eq!(rotation_of_input("  SurfaceOrientation: 1\n"), Some(1));
    }

    #[test]
    fn the_focused_window_names_the_app_in_front() {
        let app = |package: &str, activity: &str| {
            Some(Foreground { package: package.to_owned(), activity: activity.to_owned() })
        };
        let main = "mCurrentFocus=Window{1a2b u0 com.x/com.x.Main}\n mFocusedApp=ActivityRecord{9 u0 com.y/.Other t7}";
        assert_eq!(focused(main), app("com.x", "com.x.Main"));
        let menu = "mCurrentFocus=Window{1a2b u0 PopupWindow:9}\n mFocusedApp=AppWindowToken{3 token=Token{4 ActivityRecord{9 u0 com.y/.Other t7}}}";
        assert_eq!(focused(menu), app("com.y", ".Other"));
        assert_eq!(focused("mCurrentFocus=null\nmFocusedApp=null"), None);
        let locked =
            "mCurrentFocus=Window{1 u0 NotificationShade}\nmFocusedApp=ActivityRecord{9 u0 com.y/.Other t7}";
        assert_eq!(focused(locked), app("com.android.systemui", ""));
        let second = "mCurrentFocus=null\nmCurrentFocus=Window{1 u0 com.x/.A}";
        assert_eq!(focused(second), app("com.x", ".A"));
        assert_eq!(resumed(" mResumedActivity: ActivityRecord{1 u0 com.z/.M t1}"), app("com.z", ".M"));
    }
}
