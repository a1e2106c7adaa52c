//! Phones that go away, hang, or are given up in the middle of a call.

use std::time::Duration;

use repertoire::device::adb::AdbDriver;
use repertoire::device::{DeviceState, Driver as _, Gesture, Point};
use repertoire::error::DeviceCode;

use crate::phone::Model;
use crate::server::PATIENCE;
use crate::world::{World, listed};

/// Waits until the phone has begun a call.
async fn begun(world: &World, name: &str) {
    let began = std::time::Instant::now();
    while world.phone.model().calls(name).is_empty() {
        assert!(began.elapsed() < PATIENCE, "{name} was never called");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn slow(name: &str, pause_ms: u64) -> Model {
    let mut model = Model::with_field();
    model.slow.insert(name.to_owned(), Duration::from_millis(pause_ms));
    model
}

#[tokio::test]
async fn a_phone_that_drops_off_in_the_middle_is_lost_and_works_again_when_it_is_back() {
    let Some(world) = World::start(slow("wm", 2_000)) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let (answer, ()) = tokio::join!(driver.info(&serial), async {
        begun(&world, "wm").await;
        world.phone.unplug();
    });
    let error = answer.unwrap_err();
    assert_eq!(error.code, DeviceCode::Lost, "{error}");
    assert!(error.hint.contains("may have taken effect"), "{error}");
    world.phone.model().slow.clear();
    world.plug();
    listed(&driver, &serial, DeviceState::Device).await;
    assert_eq!(driver.info(&serial).await.unwrap().width, 720);
}

#[tokio::test]
async fn an_end_without_an_exit_code_is_no_success_for_bytes_either() {
    let Some(world) = World::start(slow("screencap", 2_000)) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let (answer, ()) = tokio::join!(driver.screenshot(&serial), async {
        begun(&world, "screencap").await;
        world.phone.unplug();
    });
    assert_eq!(answer.unwrap_err().code, DeviceCode::Lost);
}

#[tokio::test]
async fn a_list_that_ends_early_is_no_short_list() {
    let Some(world) = World::start(slow("cmd", 2_000)) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let (answer, ()) = tokio::join!(driver.apps(&serial, false), async {
        begun(&world, "cmd").await;
        world.phone.unplug();
    });
    let code = answer.unwrap_err().code;
    assert!(matches!(code, DeviceCode::Lost | DeviceCode::Offline | DeviceCode::NotFound), "{code}");
}

#[tokio::test]
async fn a_phone_that_hangs_runs_into_the_time_out() {
    let Some(world) = World::start(slow("dumpsys", 60_000)) else { return };
    let driver = AdbDriver::new(world.options().timeout(Duration::from_millis(500)));
    let error = driver.foreground(&world.serial()).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::TimedOut);
    assert!(error.message.contains("500 ms"), "{error}");
}

#[tokio::test]
async fn a_call_that_is_given_up_ends_on_the_phone_and_the_next_one_waits_for_it() {
    let Some(world) = World::start(slow("input", 400)) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let given_up = tokio::time::timeout(Duration::from_millis(100), driver.text(&serial, "a\nb")).await;
    assert!(given_up.is_err());
    driver.gesture(&serial, Gesture::Tap { at: Point { x: 1, y: 1 } }).await.unwrap();
    let calls = world.phone.model().calls("input");
    let order: Vec<&str> = calls.iter().map(|call| call[0].as_str()).collect();
    assert_eq!(order, ["text", "keyevent", "text", "tap"]);
    assert_eq!(world.phone.model().take_body(), "a\nb");
}

#[tokio::test]
async fn a_call_that_is_given_up_before_its_turn_is_never_made() {
    let Some(world) = World::start(slow("input", 400)) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let second = async {
        begun(&world, "input").await;
        tokio::time::timeout(Duration::from_millis(50), driver.text(&serial, "second")).await
    };
    let (first, second) = tokio::join!(driver.text(&serial, "first"), second);
    first.unwrap();
    assert!(second.is_err());
    driver.text(&serial, " third").await.unwrap();
    assert_eq!(world.phone.model().take_body(), "first third");
}

#[tokio::test]
async fn the_list_is_fed_by_one_stream_and_survives_the_end_of_the_server() {
    let Some(mut world) = World::start(Model::default()) else { return };
    let driver = world.driver();
    listed(&driver, &world.serial(), DeviceState::Device).await;
    world.phone.unplug();
    let began = std::time::Instant::now();
    // It goes offline or from the list, without anybody asking the server.
    while driver.devices().await.unwrap().iter().any(|device| device.state == DeviceState::Device) {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.server = crate::server::AdbServer::start();
    let began = std::time::Instant::now();
    loop {
        if let Err(error) = driver.devices().await {
            assert_eq!(error.code, DeviceCode::ServerUnavailable);
            break;
        }
        assert!(began.elapsed() < PATIENCE, "the list outlives its server");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
