//! Size, rotation, what is in front, and touches.

use repertoire::device::{Driver as _, Gesture, Orientation, Point};

use crate::phone::{Manner, Model, Node, Scene};
use crate::world::World;

#[tokio::test]
async fn the_override_of_the_size_wins_and_a_turned_screen_swaps_its_sides() {
    let mut model = Model::default();
    model.override_size = Some((360, 800));
    let Some(world) = World::start(model) else { return };
    let driver = world.driver();
    let info = driver.info(&world.serial()).await.unwrap();
    assert_eq!((info.width, info.height, info.rotation, info.sdk, info.density), (360, 800, 0, 34, 320));
    assert_eq!((info.model.as_str(), info.android.as_str()), ("Test Phone", "14"));
    // The size is remembered, the rotation never is.
    driver.set_orientation(&world.serial(), Orientation::Landscape).await.unwrap();
    let info = driver.info(&world.serial()).await.unwrap();
    assert_eq!((info.width, info.height, info.rotation), (800, 360, 1));
    assert_eq!(world.phone.model().settings["accelerometer_rotation"], "0");
    driver.set_orientation(&world.serial(), Orientation::Auto).await.unwrap();
    assert_eq!(world.phone.model().settings["accelerometer_rotation"], "1");
    assert_eq!(world.phone.model().calls("wm").len(), 2);
}

#[tokio::test]
async fn the_app_in_front_is_found_also_behind_the_lock_screen() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    let front = driver.foreground(&world.serial()).await.unwrap();
    assert_eq!(
        (front.package.as_str(), front.activity.as_str()),
        ("com.example.notes", "com.example.notes.Edit")
    );
    world.phone.model().locked = true;
    assert_eq!(driver.foreground(&world.serial()).await.unwrap().package, "com.android.systemui");
    world.phone.model().locked = false;
    world.phone.model().no_focus = true;
    assert_eq!(driver.foreground(&world.serial()).await.unwrap().package, "");
}

#[tokio::test]
async fn a_tap_changes_the_scene_and_a_field_brings_the_keyboard() {
    let first = Scene::new("com.x", ".A").node(Node::at([0, 0, 100, 100]).text("Next").goes("second"));
    let second = Scene::new("com.x", ".B").node(Node::at([0, 200, 720, 300]).field("com.x:id/q", None));
    let mut model = Model::default().scene("first", first).scene("second", second);
    model.show("first");
    let Some(world) = World::start(model) else { return };
    let driver = world.driver();
    driver.gesture(&world.serial(), Gesture::Tap { at: Point { x: 50, y: 50 } }).await.unwrap();
    assert_eq!(world.phone.model().shown(), "second");
    assert!(!driver.keyboard_shown(&world.serial()).await.unwrap());
    driver.gesture(&world.serial(), Gesture::Tap { at: Point { x: 50, y: 250 } }).await.unwrap();
    assert!(driver.keyboard_shown(&world.serial()).await.unwrap());
    driver.keys(&world.serial(), &[4]).await.unwrap();
    assert!(!driver.keyboard_shown(&world.serial()).await.unwrap());
    driver.keys(&world.serial(), &[4]).await.unwrap();
    assert_eq!(world.phone.model().shown(), "first");
}

#[tokio::test]
async fn gestures_of_every_kind_end_on_the_glass() {
    let Some(world) = World::start(Model::default()) else { return };
    let driver = world.driver();
    let (from, to) = (Point { x: 10, y: 20 }, Point { x: 90, y: 20 });
    for gesture in [
        Gesture::DoubleTap { at: from },
        Gesture::LongPress { at: from, duration_ms: 700 },
        Gesture::Swipe { from, to, duration_ms: 200 },
        Gesture::Drag { from, to, hold_ms: 10, duration_ms: 16 },
    ] {
        driver.gesture(&world.serial(), gesture).await.unwrap();
    }
    let touches: Vec<String> = world.phone.model().touches.iter().map(|words| words.join(" ")).collect();
    assert_eq!(
        touches[..5],
        [
            "tap 10 20",
            "tap 10 20",
            "swipe 10 20 10 20 700",
            "swipe 10 20 90 20 200",
            "motionevent DOWN 10 20"
        ]
    );
    assert_eq!(touches.last().unwrap(), "motionevent UP 90 20");
    assert_eq!(touches.len(), 4 + 1 + 8 + 1);
}

#[tokio::test]
async fn a_phone_of_before_android_12_gets_gestures_that_it_knows() {
    let mut model = Model::default();
    model.properties.insert("ro.build.version.sdk".to_owned(), "23".to_owned());
    let Some(world) = World::with(model, Manner::Old) else { return };
    let driver = world.driver();
    let (from, to) = (Point { x: 10, y: 20 }, Point { x: 90, y: 20 });
    driver.gesture(&world.serial(), Gesture::DoubleTap { at: from }).await.unwrap();
    driver
        .gesture(&world.serial(), Gesture::Drag { from, to, hold_ms: 500, duration_ms: 300 })
        .await
        .unwrap();
    let touches: Vec<String> = world.phone.model().touches.iter().map(|words| words.join(" ")).collect();
    assert_eq!(touches, ["tap 10 20", "tap 10 20", "draganddrop 10 20 90 20 300"]);
    assert_eq!(driver.info(&world.serial()).await.unwrap().sdk, 23);
}
