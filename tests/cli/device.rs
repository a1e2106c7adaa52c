//! Device tools by hand, on a scripted phone.

use crate::program::Program;

fn driver() -> String {
    format!("scripted:{}/tests/fixtures/scenes/xiaohongshu.json", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn tools_are_called_by_short_names_words_and_indexes() {
    let program = Program::new();
    let driver = driver();
    let run = |words: &[&str]| {
        let all: Vec<&str> =
            ["device"].iter().chain(words).chain(&["--driver", driver.as_str()]).copied().collect();
        program.run(&all).code(0).stdout
    };
    assert!(run(&["list"]).starts_with("phone-1 device"));
    assert!(run(&["describe"]).contains("1|c|Shop||220,170"));
    assert!(run(&["tap", "Shop"]).contains("app changed to com.example.shop"));
    assert!(run(&["tap", "index=1"]).contains("app changed to com.example.shop"));
    assert!(run(&["launch-app", "com.xingin.xhs"]).contains("launched com.xingin.xhs"));
    let picture = program.path("screen.png").display().to_string();
    assert!(run(&["screenshot", &picture, "annotate=true"]).contains("saved to"));
    assert!(std::fs::read(&picture).expect("a file").starts_with(b"\x89PNG"));
    let json = program.json(&["device", "info", "--driver", &driver], 0);
    assert_eq!((json["width"].as_u64(), json["sdk"].as_u64()), (Some(540), Some(34)));
}

#[test]
fn mistakes_are_usage_and_what_the_phone_refuses_is_exit_code_6() {
    let program = Program::new();
    let driver = driver();
    let driver = ["--driver", driver.as_str()];
    let said = program.run(&[&["device", "tap", "Nothing"], &driver[..]].concat()).code(6).stderr;
    assert!(said.contains("Nothing") && said.contains("describe_screen"), "{said}");
    let json = program.json(&[&["device", "tap", "Nothing"], &driver[..]].concat(), 6);
    assert_eq!(json["error"]["code"], "element_not_found");
    let said = program.run(&[&["device", "tapp"], &driver[..]].concat()).code(2).stderr;
    assert!(said.contains("\"tap\""), "{said}");
    program.run(&[&["device", "tap"], &driver[..]].concat()).code(2);
    program.run(&[&["device", "screenshot"], &driver[..]].concat()).code(2);
    program.run(&["device", "list", "--driver", "nosuch"]).code(2);
    let said = program.run(&["device", "list", "--driver", "scripted:nowhere.json"]).code(6).stderr;
    assert!(said.contains("nowhere.json"), "{said}");
}
