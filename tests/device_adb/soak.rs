//! A thousand calls leave nothing behind.

use repertoire::device::Driver as _;

use crate::phone::{Model, Phone};
use crate::world::{World, amount};

#[tokio::test]
async fn many_calls_leave_no_descriptor_open() {
    let mut model = Model::with_field();
    model.override_size = Some((60, 100));
    let Some(world) = World::start(model) else { return };
    let driver = world.driver();
    let serial = world.serial();
    let round = async |calls: usize| {
        for call in 0..calls {
            match call % 8 {
                0 => drop(driver.screenshot(&serial).await.unwrap()),
                1 => drop(driver.ui_tree(&serial, true).await.unwrap()),
                2 => driver.text(&serial, "a").await.unwrap(),
                3 => drop(driver.apps(&serial, false).await.unwrap()),
                4 => drop(driver.info("NOWHERE").await.unwrap_err()),
                _ => drop(driver.keyboard_shown(&serial).await.unwrap()),
            }
        }
    };
    round(16).await;
    let before = Phone::descriptors();
    let calls = amount(200, 1_200, 5_000);
    round(calls).await;
    // What was closed last may still be on its way.
    let began = std::time::Instant::now();
    while Phone::descriptors() > before + 8 {
        assert!(
            began.elapsed() < crate::server::PATIENCE,
            "{before} descriptors became {}",
            Phone::descriptors()
        );
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    eprintln!("{calls} calls: {before} descriptors before, {} after", Phone::descriptors());
}
