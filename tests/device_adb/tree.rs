//! Dumps of the UI tree and pictures of the screen.

use repertoire::device::Driver as _;
use repertoire::error::DeviceCode;

use crate::phone::{Manner, Model};
use crate::world::World;

#[tokio::test]
async fn a_dump_uses_a_path_of_its_own_and_removes_it() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    for _ in 0..2 {
        let tree = driver.ui_tree(&world.serial(), false).await.unwrap();
        assert!(tree.starts_with(b"<hierarchy") && tree.ends_with(b"</hierarchy>"));
    }
    let calls = world.phone.model().calls("uiautomator");
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0], calls[1]);
    assert_eq!(std::fs::read_dir(world.phone.temporary()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_error_on_standard_output_with_exit_code_0_is_no_tree() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    world.phone.model().null_roots = 1;
    let error = driver.ui_tree(&world.serial(), false).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::UiRootMissing);
    assert!(error.code.passes());
    assert!(driver.ui_tree(&world.serial(), false).await.is_ok());
    world.phone.model().dump = Some(b"<hier".to_vec());
    assert_eq!(driver.ui_tree(&world.serial(), false).await.unwrap_err().code, DeviceCode::UiUnavailable);
}

#[tokio::test]
async fn a_screen_that_never_rests_can_be_dumped_compressed() {
    let mut model = Model::with_field();
    model.not_idle = u32::MAX;
    model.idle_when_compressed = true;
    let Some(world) = World::start(model) else { return };
    let driver = world.driver();
    assert_eq!(driver.ui_tree(&world.serial(), false).await.unwrap_err().code, DeviceCode::UiNotIdle);
    assert!(driver.ui_tree(&world.serial(), true).await.is_ok());
}

#[tokio::test]
async fn another_client_of_the_accessibility_connection_is_named() {
    let mut model = Model::with_field();
    model.busy = 1;
    let Some(world) = World::start(model) else { return };
    let error = world.driver().ui_tree(&world.serial(), false).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::UiBusy);
    assert!(error.hint.contains("Appium"), "{error}");
}

#[tokio::test]
async fn a_phone_that_cannot_write_a_dump_writes_it_to_the_terminal_of_a_raw_call() {
    let mut model = Model::with_field();
    model.dump_to_file_fails = true;
    let Some(world) = World::start(model) else { return };
    let tree = world.driver().ui_tree(&world.serial(), false).await.unwrap();
    assert!(tree.starts_with(b"<hierarchy") && tree.ends_with(b"</hierarchy>"));
    let calls = world.phone.model().calls("uiautomator");
    assert_eq!(calls.last().unwrap().last().unwrap(), "/dev/tty");
}

#[tokio::test]
async fn a_tree_with_characters_that_are_none_comes_through_as_it_is() {
    let odd = [
        &b"<hierarchy rotation=\"0\"><node text=\"\xed\xa0\xbd \x01\" bounds=\"[-5,0][0,0]\"/>"[..],
        b"</hierarchy>",
    ]
    .concat();
    let mut model = Model::with_field();
    model.dump = Some(odd.clone());
    let Some(world) = World::start(model) else { return };
    assert_eq!(world.driver().ui_tree(&world.serial(), false).await.unwrap(), odd);
}

#[tokio::test]
async fn a_picture_keeps_every_byte_and_loses_the_warning_before_it() {
    let mut model = Model::with_field();
    model.override_size = Some((120, 200));
    let Some(world) = World::start(model) else { return };
    let driver = world.driver();
    let plain = driver.screenshot(&world.serial()).await.unwrap();
    let picture = image::load_from_memory(&plain).unwrap();
    assert_eq!((picture.width(), picture.height()), (120, 200));
    world.phone.model().warns_before_picture = true;
    assert_eq!(driver.screenshot(&world.serial()).await.unwrap(), plain);
}

#[tokio::test]
async fn a_picture_that_is_refused_points_to_the_tree() {
    let mut model = Model::with_field();
    model.no_picture = true;
    let Some(world) = World::start(model) else { return };
    let error = world.driver().screenshot(&world.serial()).await.unwrap_err();
    assert_eq!(error.code, DeviceCode::CommandFailed);
    assert!(error.message.contains("Status: -1") && error.hint.contains("describe_screen"), "{error}");
}

#[tokio::test]
async fn an_old_phone_gives_trees_and_pictures_as_well() {
    let mut model = Model::with_field();
    model.override_size = Some((120, 200));
    let Some(world) = World::with(model, Manner::Old) else { return };
    let driver = world.driver();
    assert!(driver.ui_tree(&world.serial(), false).await.unwrap().ends_with(b"</hierarchy>"));
    assert!(image::load_from_memory(&driver.screenshot(&world.serial()).await.unwrap()).is_ok());
    world.phone.model().null_roots = 1;
    assert_eq!(driver.ui_tree(&world.serial(), false).await.unwrap_err().code, DeviceCode::UiRootMissing);
}

#[tokio::test]
async fn files_go_to_the_phone_and_come_back() {
    let Some(world) = World::start(Model::default()) else { return };
    let driver = world.driver();
    let path = format!("{}/a file's name", world.phone.temporary());
    let bytes: Vec<u8> = (0..300_000u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
    driver.push(&world.serial(), bytes.clone(), &path, 0o600).await.unwrap();
    assert_eq!(driver.pull(&world.serial(), &path).await.unwrap(), bytes);
    for wrong in ["/no/such/file", &world.phone.temporary()] {
        assert_eq!(driver.pull(&world.serial(), wrong).await.unwrap_err().code, DeviceCode::FileFailed);
    }
    let refused = driver.push(&world.serial(), bytes, "/no/such/folder/x", 0o600).await.unwrap_err();
    assert_eq!(refused.code, DeviceCode::FileFailed);
}
