//! Apps, addresses, pages of the settings.

use repertoire::device::{Driver as _, SettingsPanel};
use repertoire::error::DeviceCode;

use crate::phone::{Installed, Manner, Model, Scene};
use crate::world::World;

fn phone() -> Model {
    let mut model = Model::default().scene("x", Scene::new("com.x", ".Main")).app("com.x", ".Main", "x").app(
        "com.hidden",
        "",
        "x",
    );
    let other = |package: &str, activity: &str, system: bool, broken: bool| Installed {
        package: package.to_owned(),
        activity: activity.to_owned(),
        scene: "x".to_owned(),
        system,
        broken,
    };
    model.apps.push(other("com.broken", ".Main", false, true));
    model.apps.push(other("com.android.settings", ".Settings", true, false));
    model
}

#[tokio::test]
async fn an_app_starts_at_its_launcher_activity_which_is_remembered() {
    let Some(world) = World::start(phone()) else { return };
    let driver = world.driver();
    for _ in 0..2 {
        world.phone.model().show("launcher");
        driver.launch(&world.serial(), "com.x", None).await.unwrap();
        assert_eq!(world.phone.model().in_front(), ("com.x", ".Main"));
    }
    let model = world.phone.model();
    let starts = model.calls("am");
    assert!(
        starts.iter().all(|call| call[..2] == ["start", "-W"] && call.contains(&"com.x/.Main".to_owned()))
    );
    let asked = model.calls("cmd").iter().filter(|call| call[1] == "resolve-activity").count();
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn an_error_line_is_a_failure_although_the_exit_code_is_0() {
    let Some(world) = World::start(phone()) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let error = driver.launch(&serial, "com.x", Some(".Nowhere")).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::AppNotStarted);
    assert!(error.message.contains("Error type 3") || error.message.contains("does not exist"), "{error}");
    let error = driver.launch(&serial, "com.broken", None).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::AppNotStarted);
    assert!(error.message.contains("Permission Denial"), "{error}");
    for activity in [None, Some(".Main")] {
        let error = driver.launch(&serial, "com.nowhere", activity).await.unwrap_err();
        assert_eq!(error.code, DeviceCode::AppNotFound);
    }
    assert_eq!(driver.stop(&serial, "com.nowhere").await.unwrap_err().code, DeviceCode::AppNotFound);
}

#[tokio::test]
async fn an_app_without_an_activity_that_can_be_resolved_is_started_by_monkey() {
    let Some(world) = World::start(phone()) else { return };
    let driver = world.driver();
    driver.launch(&world.serial(), "com.hidden", None).await.unwrap();
    assert_eq!(world.phone.model().shown(), "x");
    assert_eq!(world.phone.model().calls("monkey").len(), 1);
    // Once more, with a phone that has no way to resolve one.
    let Some(world) = World::with(phone(), Manner::Old) else { return };
    world.driver().launch(&world.serial(), "com.x", None).await.unwrap();
    assert_eq!(world.phone.model().in_front().0, "com.x");
    world.driver().stop(&world.serial(), "com.x").await.unwrap();
    assert_eq!(world.phone.model().shown(), "launcher");
}

#[tokio::test]
async fn apps_of_the_first_user_are_listed_also_where_there_is_a_second_space() {
    let Some(world) = World::start(phone()) else { return };
    let driver = world.driver();
    let names = |apps: Vec<repertoire::device::App>| {
        apps.into_iter().map(|app| (app.package, app.system)).collect::<Vec<_>>()
    };
    let own = names(driver.apps(&world.serial(), false).await.unwrap());
    assert_eq!(own, [("com.broken".into(), false), ("com.hidden".into(), false), ("com.x".into(), false)]);
    let all = names(driver.apps(&world.serial(), true).await.unwrap());
    assert_eq!(all.len(), 4);
    assert!(all.contains(&("com.android.settings".into(), true)));
    // No shell in between, and the shell where the phone refuses that.
    assert_eq!(world.phone.model().calls("pm").len(), 0);
    world.phone.model().refuses_abb = true;
    assert_eq!(driver.apps(&world.serial(), true).await.unwrap().len(), 4);
    let Some(old) = World::with(phone(), Manner::Old) else { return };
    assert_eq!(old.driver().apps(&old.serial(), true).await.unwrap().len(), 4);
}

#[tokio::test]
async fn an_address_with_an_ampersand_is_one_argument_and_an_unknown_scheme_is_said() {
    let Some(world) = World::start(phone()) else { return };
    let driver = world.driver();
    let url = "https://x.example/?a=1&b=2";
    driver.open_url(&world.serial(), url, Some("com.x")).await.unwrap();
    let call = world.phone.model().calls("am").pop().unwrap();
    assert!(
        call.windows(2).any(|pair| pair == ["-d", url])
            && call.windows(2).any(|pair| pair == ["-p", "com.x"])
    );
    let error = driver.open_url(&world.serial(), "weird:secret", None).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::NotOpened);
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn pages_of_the_settings_open_and_those_of_an_app_are_of_the_one_in_front() {
    let Some(world) = World::start(phone()) else { return };
    let driver = world.driver();
    let serial = world.serial();
    driver.open_settings(&serial, SettingsPanel::Wifi, None).await.unwrap();
    assert!(
        world.phone.model().calls("am").pop().unwrap().contains(&"android.settings.WIFI_SETTINGS".to_owned())
    );
    driver.launch(&serial, "com.x", None).await.unwrap();
    driver.open_settings(&serial, SettingsPanel::AppInfo, None).await.unwrap();
    assert!(world.phone.model().calls("am").pop().unwrap().contains(&"package:com.x".to_owned()));
}
