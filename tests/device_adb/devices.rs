//! The list of phones, in every state.

use repertoire::device::adb::{AdbDriver, AdbOptions, ServerAddress};
use repertoire::device::{DeviceState, Driver as _};
use repertoire::error::DeviceCode;

use crate::phone::{Manner, Model, Phone};
use crate::server::{ask, command, free_port};
use crate::world::{World, is_equipped, listed};

#[tokio::test]
async fn an_offline_ghost_harms_nobody() {
    let Some(world) = World::start(Model::default()) else { return };
    let ghost = Phone::start(Model::default(), Manner::Offline);
    world.connect(&ghost);
    let driver = world.driver();
    let seen = listed(&driver, &ghost.serial(), DeviceState::Offline).await;
    assert!(seen.hint.contains("adb connect"), "{seen:?}");
    assert_eq!(driver.info(&ghost.serial()).await.unwrap_err().code, DeviceCode::Offline);
    assert!(driver.info(&world.serial()).await.is_ok());
    let ready = listed(&driver, &world.serial(), DeviceState::Device).await;
    assert_eq!((ready.model.as_str(), ready.hint.as_str()), ("Test Phone", ""));
}

#[tokio::test]
async fn an_unauthorized_phone_says_what_to_tap() {
    let Some(world) = World::with(Model::default(), Manner::Unauthorized) else { return };
    let driver = world.driver();
    let seen = listed(&driver, &world.serial(), DeviceState::Unauthorized).await;
    assert!(seen.hint.contains("tap Allow"), "{seen:?}");
    let error = driver.foreground(&world.serial()).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::Unauthorized);
    assert!(error.hint.contains("tap Allow"), "{error}");
}

#[tokio::test]
async fn the_same_phone_twice_is_told() {
    let Some(world) = World::start(Model::default()) else { return };
    let second = Phone::start(Model::default(), Manner::Good);
    world.connect(&second);
    let driver = world.driver();
    listed(&driver, &second.serial(), DeviceState::Device).await;
    let devices = driver.devices().await.unwrap();
    assert_eq!(devices.len(), 2);
    // Neither hangs on a cable, so that none is the better way.
    assert!(devices.iter().all(|device| device.hint.is_empty()), "{devices:?}");
}

#[tokio::test]
async fn a_phone_that_nobody_has_is_not_found() {
    let Some(world) = World::start(Model::default()) else { return };
    let error = world.driver().info("NOWHERE").await.unwrap_err();
    assert_eq!(error.code, DeviceCode::NotFound);
}

#[tokio::test]
async fn what_is_known_of_a_phone_is_forgotten_when_the_list_changes() {
    let Some(world) = World::start(Model::default()) else { return };
    let driver = world.driver();
    assert_eq!(driver.info(&world.serial()).await.unwrap().width, 720);
    world.phone.model().override_size = Some((360, 800));
    assert_eq!(driver.info(&world.serial()).await.unwrap().width, 720);
    world.phone.unplug();
    world.plug();
    // The stream tells it in its own time.
    let began = std::time::Instant::now();
    while driver.info(&world.serial()).await.map_or(0, |info| info.width) != 360 {
        assert!(began.elapsed() < crate::server::PATIENCE, "the old size is still remembered");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_server_that_nobody_started_is_started_and_one_that_died_is_started_again() {
    if !is_equipped() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let port = free_port();
    // The program as a user has it, with a home that is not the user's.
    let program = home.path().join("adb");
    let script = format!(
        "#!/bin/sh\nHOME={0} ADB_LOCAL_TRANSPORT_MAX_PORT=5553 exec adb \"$@\"\n",
        home.path().display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let address = ServerAddress::parse(&port.to_string()).unwrap();
    let options = AdbOptions::default().server(address.clone());
    let without = AdbDriver::new(options.clone().program(None));
    let error = without.devices().await.unwrap_err();
    assert_eq!(error.code, DeviceCode::ServerUnavailable);
    let driver = AdbDriver::new(options.clone().program(Some(program)));
    assert_eq!(driver.devices().await.unwrap(), []);
    assert!(ask(port, "host:version").is_ok());
    let status = command(home.path(), port).arg("kill-server").status().unwrap();
    assert!(status.success());
    let began = std::time::Instant::now();
    while ask(port, "host:version").is_ok() {
        assert!(began.elapsed() < crate::server::PATIENCE);
    }
    assert_eq!(driver.devices().await.unwrap(), []);
    assert!(command(home.path(), port).arg("kill-server").status().unwrap().success());
    let broken = AdbDriver::new(options.program(Some(home.path().join("none"))));
    // The server may take a moment to go.
    let mut answer = broken.devices().await;
    while answer.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        answer = AdbDriver::new(
            AdbOptions::default().server(address.clone()).program(Some(home.path().join("none"))),
        )
        .devices()
        .await;
    }
    assert!(answer.unwrap_err().message.contains("cannot be run"));
}
