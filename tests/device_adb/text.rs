//! Text from the driver to a field, through the real adb and the real Android shell, byte for byte.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use repertoire::device::Driver as _;
use repertoire::error::DeviceCode;

use crate::phone::{Manner, Model};
use crate::world::{World, amount};

const HELPER: &str = "com.android.adbkeyboard/.AdbIME";

fn with_helper() -> Model {
    let mut model = Model::with_field();
    model.keyboards.push(HELPER.to_owned());
    model
}

#[tokio::test]
async fn every_printable_character_and_every_word_of_the_shell_arrives_as_it_is() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    let printable: String = (' '..='~').collect();
    let texts = [
        printable.as_str(),
        "' \" \\ $ ` ; & | < > ( ) { } [ ] * ? ~ # % ! \n \t",
        "$(reboot)`reboot`${HOME}$HOME$$",
        "'; rm -rf / #",
        "a && input keyevent 3 || true",
        "\\n \\t \\\\ \\' \\\" %n",
        "  two  spaces  at  both  ends  ",
        "*",
        "~",
        "!!",
        "=x",
        "\u{20}",
    ];
    for text in texts {
        driver.text(&world.serial(), text).await.unwrap();
        assert_eq!(world.phone.model().take_body(), text);
    }
}

#[tokio::test]
async fn a_literal_percent_s_is_no_space() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    for text in ["%s", "100%s", "%%s", "% s", "%s%s %s", "%", "s%", "%\ns", "50% sale, 20%score"] {
        driver.text(&world.serial(), text).await.unwrap();
        assert_eq!(world.phone.model().take_body(), text);
    }
}

#[tokio::test]
async fn a_leading_dash_is_text() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    for text in ["-", "--", "-n", "--help", "-5 degrees", "-d 0"] {
        driver.text(&world.serial(), text).await.unwrap();
        assert_eq!(world.phone.model().take_body(), text);
    }
}

#[tokio::test]
async fn a_newline_is_enter_and_a_tab_is_tab() {
    let Some(world) = World::start(Model::with_field()) else { return };
    world.driver().text(&world.serial(), "a\n\tb\r\n").await.unwrap();
    let mut model = world.phone.model();
    assert_eq!(model.take_body(), "a\n\tb\n");
    let keys: Vec<String> =
        model.calls("input").into_iter().filter(|call| call[0] == "keyevent").flatten().collect();
    assert_eq!(keys, ["keyevent", "66", "keyevent", "61", "keyevent", "66"]);
}

#[tokio::test]
async fn long_text_goes_in_pieces_and_arrives_whole() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let text: String = (0..20_480u32).map(|n| char::from(b' ' + u8::try_from(n * 7 % 95).unwrap())).collect();
    world.driver().text(&world.serial(), &text).await.unwrap();
    let mut model = world.phone.model();
    assert_eq!(model.take_body(), text);
    assert!(model.calls("input").iter().all(|call| call[1].chars().count() <= 300));
    drop(model);
    // The script that carried it has removed itself.
    assert_eq!(std::fs::read_dir(world.phone.temporary()).unwrap().count(), 0);
}

#[tokio::test]
async fn random_texts_arrive_as_they_are() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    let cases = u32::try_from(amount(60, 300, 1_000)).unwrap();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let strategy = prop::collection::vec(
        prop_oneof![
            3 => prop::char::range(' ', '~'),
            2 => prop::sample::select(vec!['\'', '"', '\\', '$', '`', '%', 's', '\n', '\t', ' ', '-', '&', ';', '*']),
        ],
        1..60,
    );
    let texts: Vec<String> = (0..cases)
        .map(|_| strategy.new_tree(&mut runner).expect("a text").current().into_iter().collect())
        .collect();
    for text in &texts {
        driver.text(&world.serial(), text).await.unwrap();
        assert_eq!(world.phone.model().take_body(), *text, "{text:?}");
    }
}

#[tokio::test]
async fn arguments_reach_a_program_byte_for_byte() {
    let Some(world) = World::start(Model::default()) else { return };
    let driver = world.driver();
    let nasty = "https://x.example/?a=1&b='2'&c=\"3\"&d=$(id)`id`;e=\\f|g<h>i\u{5c0f}\u{1f600}#~!*";
    driver.open_url(&world.serial(), nasty, None).await.unwrap();
    let call = world.phone.model().log.last().cloned().unwrap();
    assert!(call.contains(&nasty.as_bytes().to_vec()), "{:?}", String::from_utf8_lossy(&call.concat()));
}

#[tokio::test]
async fn text_of_any_script_goes_through_the_helper_keyboard_which_is_put_back() {
    let Some(world) = World::start(with_helper()) else { return };
    let driver = world.driver();
    for text in [
        "\u{5c0f}\u{7ea2}\u{4e66}",
        "na\u{ef}ve caf\u{e9} \u{1f600}\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "a\n\u{4e2d}\t\u{6587} '$(id)' %s",
        &"\u{957f}\u{6587}".repeat(2_000),
    ] {
        driver.text(&world.serial(), text).await.unwrap();
        let mut model = world.phone.model();
        assert_eq!(model.take_body(), text);
        assert_eq!(model.keyboard, "com.android.inputmethod.latin/.LatinIME");
        assert_eq!(model.keyboards_set, [HELPER, "com.android.inputmethod.latin/.LatinIME"]);
        model.keyboards_set.clear();
        // Only the helper hears the text.
        assert!(model.calls("am").iter().all(|call| call.contains(&"com.android.adbkeyboard".to_owned())));
    }
}

#[tokio::test]
async fn text_that_no_key_types_is_refused_before_the_first_character() {
    let Some(world) = World::start(Model::with_field()) else { return };
    let driver = world.driver();
    for text in ["abc \u{5c0f}\u{7ea2}\u{4e66}", "\u{1f600}", "a\u{7}b", "\u{e9}"] {
        let error = driver.text(&world.serial(), text).await.unwrap_err();
        assert_eq!(error.code, DeviceCode::TextNotTypable, "{text:?}");
        assert_eq!(world.phone.model().take_body(), "");
    }
    let error = driver.text(&world.serial(), "\u{5c0f}").await.unwrap_err();
    assert!(error.hint.contains("ADB Keyboard"), "{error}");
    assert_eq!(world.phone.model().calls("input").len(), 0);
}

#[tokio::test]
async fn a_helper_that_does_not_come_up_is_said_and_the_keyboard_is_put_back() {
    let mut model = with_helper();
    model.helper_stays_off = true;
    let Some(world) = World::start(model) else { return };
    let error = world.driver().text(&world.serial(), "\u{5c0f}").await.unwrap_err();
    assert_eq!(error.code, DeviceCode::TextNotTypable);
    assert!(error.message.contains("could not be turned on"), "{error}");
    assert_eq!(world.phone.model().keyboard, "com.android.inputmethod.latin/.LatinIME");
    assert_eq!(world.phone.model().take_body(), "");
}

#[tokio::test]
async fn a_vendor_that_blocks_input_is_told_from_a_failure() {
    let mut model = Model::with_field();
    model.blocks_input = true;
    let Some(world) = World::start(model) else { return };
    let driver = world.driver();
    let typed = driver.text(&world.serial(), "a").await.unwrap_err();
    let pressed = driver.keys(&world.serial(), &[3]).await.unwrap_err();
    let at = repertoire::device::Point { x: 1, y: 1 };
    let tapped = driver.gesture(&world.serial(), repertoire::device::Gesture::Tap { at }).await.unwrap_err();
    for error in [typed, pressed, tapped] {
        assert_eq!(error.code, DeviceCode::InputBlocked);
        assert!(error.hint.contains("Security settings"), "{error}");
    }
}

#[tokio::test]
async fn an_old_phone_without_exit_codes_types_the_same() {
    let Some(world) = World::with(Model::with_field(), Manner::Old) else { return };
    let driver = world.driver();
    for text in ["it's $HOME & \"more\" %s", "-n", "a\nb"] {
        driver.text(&world.serial(), text).await.unwrap();
        assert_eq!(world.phone.model().take_body(), text);
    }
    let long = "x y".repeat(3_000);
    driver.text(&world.serial(), &long).await.unwrap();
    assert_eq!(world.phone.model().take_body(), long);
}
