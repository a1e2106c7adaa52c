//! Each tool by what it answers and by what the phone got.

use repertoire::device::ScriptedDriver;
use serde_json::{Value, json};

use crate::support::{Phone, scene_with};

#[tokio::test]
async fn looking_tells_devices_apps_and_elements_with_their_indexes() {
    let phone = Phone::shared();
    assert_eq!(phone.text("list_devices", json!({})).await, "phone-1 device; Scripted phone");
    assert!(phone.text("device_info", json!({})).await.contains("540x1200"));
    assert_eq!(phone.text("get_foreground_app", json!({})).await, "com.example.launcher/.Home");
    let apps = phone.text("list_apps", json!({"filter": "小红"})).await;
    assert_eq!(apps, "com.xingin.xhs 小红书");
    let screen = phone.text("observe_screen_context", json!({})).await;
    assert_eq!(screen, "com.example.launcher 540x1200 snapshot=s1\n0|c|小红书||80,170\n1|c|Shop||220,170");
    let one = phone.text("describe_screen", json!({"filter": "shop"})).await;
    assert!(one.ends_with("1|c|Shop||220,170") && one.lines().count() == 2, "{one}");
    let cut = phone.text("describe_screen", json!({"max_elements": 1})).await;
    assert!(cut.ends_with("... 1 more; use filter or max_elements"), "{cut}");
    assert!(phone.text("ui_tree", json!({})).await.starts_with("<hierarchy"));
    let found = phone.text("find_element", json!({"text": "shop button", "match": "semantic"})).await;
    assert!(found.contains("1|Button|Shop|icon_shop|220,170"), "{found}");
}

#[tokio::test]
async fn a_tap_by_every_kind_of_target_hits_the_same_element() {
    let targets = [
        json!({"text": "Shop"}),
        json!({"target": "shop"}),
        json!({"view_id": "icon_shop"}),
        json!({"resource_id": "com.example.launcher:id/icon_shop"}),
        json!({"bounds": "160,100,280,240"}),
        json!({"x": 220, "y": 170}),
        json!({"x": 0.4, "y": 0.15}),
        json!({"text": "o", "text_match": "contains", "x": 200, "y": 160}),
    ];
    for target in targets {
        let phone = Phone::shared();
        let answer = phone.text("tap", target.clone()).await;
        assert_eq!(phone.driver.screen(), "shop", "{target}");
        assert!(
            answer.contains("app changed to com.example.shop") && answer.contains("|c|Pay now|"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn an_index_is_good_for_its_snapshot_and_stale_when_its_element_is_gone() {
    let phone = Phone::shared();
    assert_eq!(phone.call("tap", json!({"index": 1})).await, Err("stale_element".to_owned()));
    phone.text("describe_screen", json!({})).await;
    phone.text("tap", json!({"index": 1, "snapshot": "s1"})).await;
    assert_eq!(phone.driver.screen(), "shop");
    assert_eq!(
        phone.call("tap", json!({"index": 1, "snapshot": "s1"})).await,
        Err("stale_element".to_owned())
    );
    assert_eq!(
        phone.call("tap", json!({"index": 1, "snapshot": "s99"})).await,
        Err("stale_element".to_owned())
    );
    assert_eq!(phone.call("tap", json!({"index": 99})).await, Err("stale_element".to_owned()));
}

#[tokio::test]
async fn what_cannot_be_hit_has_an_error_of_its_own() {
    let phone = Phone::shared();
    let codes = [
        (json!({"text": "Nothing"}), "element_not_found"),
        (json!({"x": 5000, "y": 10}), "out_of_screen"),
        (json!({"bounds": "900,900,950,950"}), "out_of_screen"),
        (json!({"text": "o", "text_match": "contains", "device": "other"}), "device_not_found"),
    ];
    for (target, code) in codes {
        assert_eq!(phone.call("tap", target.clone()).await, Err(code.to_owned()), "{target}");
    }
    let two = json!([{"text": "Ok", "bounds": [0, 0, 100, 100], "clickable": true}, {"text": "Ok", "bounds": [0, 200, 100, 300], "clickable": true}]);
    let phone = Phone::of(&scene_with(
        json!({"start": "a", "screens": {"a": {"app": "a.b", "nodes": two}}, "on": []}),
    ));
    assert_eq!(phone.call("tap", json!({"text": "Ok"})).await, Err("element_ambiguous".to_owned()));
    phone.text("tap", json!({"text": "Ok", "x": 50, "y": 250})).await;
    assert_eq!(phone.driver.log(), ["tap 50,250"]);
    assert!(phone.driver.log().len() == 1, "a refused call touches nothing");
}

#[tokio::test]
async fn text_goes_into_the_field_that_is_named_or_focused() {
    let phone = Phone::shared();
    assert_eq!(phone.call("input_text", json!({"text": "x"})).await, Err("element_not_found".to_owned()));
    phone.text("launch_app", json!({"app": "小红书"})).await;
    phone.text("wait_for", json!({"content_description": "搜索"})).await;
    phone.text("tap", json!({"content_description": "搜索"})).await;
    let typed =
        phone.text("type_text", json!({"text": "成都 100% 'x' & %s", "clear": true, "submit": true})).await;
    assert!(typed.starts_with("typed") && typed.contains("submitted"), "{typed}");
    assert_eq!(phone.driver.screen(), "results");
    assert!(phone.driver.log().contains(&"text 成都 100% 'x' & %s".to_owned()));
    let screen = phone.text("describe_screen", json!({})).await;
    assert!(screen.contains("成都 100% 'x' & %s 必吃榜") && !screen.contains("热门话题"), "{screen}");
}

#[tokio::test]
async fn a_hidden_field_keeps_what_is_typed_to_itself() {
    let phone = Phone::shared();
    phone.text("launch_app", json!({"package": "com.example.shop"})).await;
    let typed = phone.text("input_text", json!({"field": "Password", "text": "hunter2"})).await;
    assert!(typed.contains("typed 7 characters") && !typed.contains("hunter2"), "{typed}");
    phone.text("clear_text", json!({"resource_id": "password"})).await;
    let tree = phone.text("ui_tree", json!({})).await;
    assert!(!tree.contains('\u{2022}'), "the field is empty again");
}

#[tokio::test]
async fn waits_end_when_it_is_there_gone_or_too_late() {
    let phone = Phone::shared();
    phone.text("open_app", json!({"target": "com.xingin.xhs"})).await;
    phone.text("wait_for_app", json!({"package": "com.xingin.xhs"})).await;
    phone.text("wait_for", json!({"text": "发现", "timeout_ms": 5000})).await;
    phone.text("wait_for_element_gone", json!({"text": "没有这个", "timeout_ms": 300})).await;
    assert_eq!(
        phone.call("wait_for", json!({"text": "没有这个", "timeout_ms": 300})).await,
        Err("wait_timeout".to_owned())
    );
    phone.text("wait_for_idle", json!({"stable_ms": 100})).await;
}

#[tokio::test]
async fn scrolling_looks_further_until_the_element_or_the_end() {
    let phone = Phone::shared();
    phone.text("launch_app", json!({"package": "com.xingin.xhs"})).await;
    phone.text("wait_for", json!({"text": "发现"})).await;
    let found = phone.text("scroll_to_element", json!({"text": "口红推荐"})).await;
    assert!(found.starts_with("found after 1 scrolls"), "{found}");
    assert_eq!(
        phone.call("scroll_to_element", json!({"text": "没有这个"})).await,
        Err("element_not_found".to_owned())
    );
    phone.text("scroll", json!({"direction": "up"})).await;
    assert_eq!(phone.driver.screen(), "feed");
    phone.text("swipe", json!({"direction": "up"})).await;
    assert_eq!(phone.driver.screen(), "feed_2");
    phone.text("swipe", json!({"start_x": 270, "start_y": 300, "end_x": 270, "end_y": 900})).await;
    assert_eq!(phone.driver.screen(), "feed");
}

#[tokio::test]
async fn keys_addresses_settings_and_orientation_reach_the_phone() {
    let phone = Phone::shared();
    phone.text("launch_app", json!({"package": "com.example.shop"})).await;
    phone.text("press_home", json!({})).await;
    assert_eq!(phone.driver.screen(), "home");
    phone.text("set_orientation", json!({"orientation": "landscape"})).await;
    phone.text("stop_app", json!({"package": "com.example.shop"})).await;
    phone
        .text("drag_and_drop", json!({"source_text": "Shop", "destination_x": 0.5, "destination_y": 0.9}))
        .await;
    phone.text("long_press", json!({"text": "Shop"})).await;
    phone.text("double_tap", json!({"text": "Shop"})).await;
    assert_eq!(
        phone.call("open_settings_panel", json!({"panel": "wifi"})).await,
        Err("not_opened".to_owned())
    );
    assert_eq!(phone.call("open_url", json!({"url": "no scheme"})).await, Err("not_opened".to_owned()));
    assert_eq!(phone.call("launch_app", json!({"app": "Nobody"})).await, Err("app_not_found".to_owned()));
    assert_eq!(
        phone.driver.log(),
        [
            "launch com.example.shop",
            "key 3",
            "orientation landscape",
            "stop com.example.shop",
            "drag 220,170 270,1080",
            "long_press 220,170",
            "double_tap 220,170",
            "settings wifi"
        ]
    );
}

#[tokio::test]
async fn the_keyboard_is_hidden_only_if_it_is_shown() {
    let phone = Phone::shared();
    assert_eq!(phone.text("dismiss_keyboard", json!({})).await, "the keyboard was not shown");
    phone.text("launch_app", json!({"package": "com.example.shop"})).await;
    phone.text("focus_input", json!({"text": "Password"})).await;
    assert!(phone.text("hide_keyboard", json!({})).await.starts_with("hid the keyboard"));
    assert_eq!(phone.driver.screen(), "shop");
}

#[tokio::test]
async fn pictures_are_marked_saved_and_refused_where_a_window_is_secure() {
    let phone = Phone::shared();
    let picture = phone.call("screenshot", json!({"annotate": true, "scale": 0.5})).await.unwrap();
    assert!(
        picture.text.starts_with("270x600 image/png, numbers are indexes of snapshot="),
        "{}",
        picture.text
    );
    assert!(picture.picture.unwrap().bytes.starts_with(b"\x89PNG"));
    let saved = phone.call("screenshot", json!({"save_to": "a.jpg", "format": "jpeg"})).await.unwrap();
    assert!(saved.picture.is_none() && saved.data["saved_to"] == "a.jpg", "{}", saved.data);
    assert_eq!(phone.call("screenshot", json!({"save_to": "../a.png"})).await, Err("file_failed".to_owned()));
    phone.text("open_url", json!({"url": "bank://balance"})).await;
    assert_eq!(phone.call("screenshot", json!({})).await, Err("secure_window".to_owned()));
    assert!(phone.text("describe_screen", json!({})).await.contains("Balance"));
}

#[tokio::test]
async fn looking_again_helps_against_errors_that_pass_and_acting_is_never_repeated() {
    let faults = json!({"faults": [
        {"call": "ui_tree", "code": "device_ui_not_idle", "times": 1},
        {"call": "ui_tree", "code": "device_ui_root_missing", "after": 2, "times": 2},
        {"call": "gesture", "code": "device_timeout", "times": 1}
    ]});
    let phone = Phone::of(&scene_with(faults));
    phone.text("describe_screen", json!({})).await;
    assert_eq!(phone.call("tap", json!({"text": "Shop"})).await, Err("device_timeout".to_owned()));
    assert_eq!(phone.driver.log(), Vec::<String>::new(), "one try, and nothing reached the phone");
    phone.text("tap", json!({"text": "Shop"})).await;
    let lost =
        Phone::of(&scene_with(json!({"faults": [{"call": "ui_tree", "code": "device_lost", "times": 1}]})));
    assert_eq!(lost.call("describe_screen", json!({})).await, Err("device_lost".to_owned()));
    lost.text("describe_screen", json!({})).await;
}

#[test]
fn a_scene_that_leads_nowhere_is_refused_with_every_reason() {
    let scene = json!({
        "start": "a", "screens": {"b": {"nodes": [], "on": [{"tap": "x", "go": "c"}, {"key": "nosuch", "go": "b"}]}},
        "faults": [{"call": "text", "code": "no_such_code"}]
    });
    let error = ScriptedDriver::new(&scene.to_string()).unwrap_err();
    for part in ["\"a\"", "\"c\"", "nosuch", "no_such_code"] {
        assert!(error.message.contains(part), "{error}");
    }
    let typo: Value = json!({"start": "a", "screens": {}, "colour": 1});
    assert!(ScriptedDriver::new(&typo.to_string()).unwrap_err().message.contains("colour"));
}
