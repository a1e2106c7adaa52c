//! Secrets never leave the tape.

use serde_json::{Value, json};

use super::{args, full, learn, names};
use crate::learn::{Element, Event, Secrecy, Tape, TaskStatus, Timeline};

const SECRET: &str = "Tr0ub4dor&3";

fn task(goal: &str, events: &Value) -> Timeline {
    full(&json!({"goal": goal, "status": "succeeded", "note": format!("typed {SECRET}"), "events": events}))
}

/// Everything that is left of a timeline.
fn text(timeline: &Timeline) -> String {
    serde_json::to_string(timeline).expect("JSON")
}

#[test]
fn every_sign_of_a_secret_hides_it_everywhere() {
    let element = |name: &str, value: Value| json!({name: value, "text": SECRET});
    for event in [
        json!({"tool": "input_text", "args": {"field": "Password", "text": SECRET}}),
        json!({"tool": "input_text", "args": {"field": "\u{652f}\u{4ed8}\u{5bc6}\u{7801}", "text": SECRET}}),
        json!({"tool": "type_text", "args": {"target": "Enter your PIN", "text": SECRET}}),
        json!({"tool": "input_text", "args": {"text": SECRET}, "element": element("password", json!(true))}),
        json!({"tool": "input_text", "args": {"text": SECRET}, "element": element("input_type", json!("textPassword"))}),
        json!({"tool": "input_text", "args": {"text": SECRET}, "element": element("resource_id", json!("com.x:id/userPassword"))}),
        json!({"tool": "input_text", "args": {"text": SECRET}, "element": element("hint", json!("Mot de passe"))}),
        json!({"tool": "input_text", "args": {"text": SECRET, "secret": true}}),
        json!({"tool": "input_text", "args": {"text": SECRET}, "secret": true}),
        json!({"tool": "anything", "args": {"value": SECRET}, "secret": ["value"]}),
        json!({"tool": "login", "args": {"user": "al", "password": SECRET}}),
        json!({"tool": "enter_text", "args": {"selector": {"label": "x"}, "label": "one-time code", "value": SECRET}}),
    ] {
        let before = json!({"tool": "open_url", "args": {"url": format!("https://x.example/?q={SECRET}&e=Tr0ub4dor%263")}});
        let after = json!({"tool": "fill_form", "args": {"again": [SECRET, {"deep": format!("<{SECRET}>")}]}, "error": SECRET, "ok": true});
        let timeline = task(&format!("Log in as al with {SECRET} please"), &json!([before, event, after]));
        let text = text(&timeline);
        assert!(!text.contains(SECRET) && !text.contains("Tr0ub4dor%263"), "{event}\n{text}");
        assert!(timeline.goal.contains("as al with [secret] please"), "{}", timeline.goal);
        let skill = learn(&[timeline]).expect("a skill");
        assert!(!skill.canonical_json().contains(SECRET), "{event}");
        let secrets: Vec<_> = skill.parameters.iter().filter(|parameter| parameter.secret).collect();
        assert_eq!(secrets.len(), 1, "{event}: one value is one parameter: {}", skill.canonical_json());
        assert!(secrets[0].examples.is_empty());
    }
}

#[test]
fn a_field_that_was_touched_before_says_what_is_typed() {
    let timeline = task(
        "sign in",
        &json!([
            {"tool": "tap", "args": {"target": "Password"}},
            {"tool": "describe_screen", "args": {}},
            {"tool": "input_text", "args": {"text": SECRET}},
        ]),
    );
    assert!(!text(&timeline).contains(SECRET));
    let skill = learn(&[timeline]).expect("a skill");
    assert_eq!(args(&skill)[1], json!({"text": "{password}"}));
    // The next text goes elsewhere.
    let timeline = task(
        "sign in",
        &json!([
            {"tool": "tap", "args": {"target": "Password"}},
            {"tool": "input_text", "args": {"text": SECRET}},
            {"tool": "tap", "args": {"target": "City"}},
            {"tool": "input_text", "args": {"text": "Vaduz"}},
        ]),
    );
    assert!(text(&timeline).contains("Vaduz"));
}

#[test]
fn one_time_codes_and_announced_secrets_are_hidden() {
    for (goal, event, secret) in [
        ("confirm", json!({"tool": "input_text", "args": {"field": "Code", "text": "493817"}}), "493817"),
        (
            "confirm",
            json!({"tool": "input_text", "args": {"field": "Verification code", "text": "A9-3F"}}),
            "A9-3F",
        ),
        (
            "log in with password sesame1",
            json!({"tool": "input_text", "args": {"text": "sesame1"}}),
            "sesame1",
        ),
        ("the PIN is 4711", json!({"tool": "input_text", "args": {"text": "4711"}}), "4711"),
        (
            "\u{5bc6}\u{7801}\u{662f}abc123",
            json!({"tool": "input_text", "args": {"text": "abc123"}}),
            "abc123",
        ),
        ("unlock", json!({"tool": "set_value", "args": {"pin": 7391}}), "7391"),
    ] {
        let timeline = task(goal, &json!([event]));
        assert!(!text(&timeline).contains(secret), "{event}");
    }
    for (goal, event, plain) in [
        (
            "trails near 98110",
            json!({"tool": "input_text", "args": {"field": "Zip code", "text": "98110"}}),
            "98110",
        ),
        (
            "boarding pass",
            json!({"tool": "input_text", "args": {"field": "Shopping pinboard", "text": "boarding pass"}}),
            "boarding pass",
        ),
        ("open password settings", json!({"tool": "tap", "args": {"text": "Password"}}), "Password"),
        (
            "reset it",
            json!({"tool": "input_text", "args": {"field": "Forgot password? Your email", "text": "a@b.example"}}),
            "a@b.example",
        ),
    ] {
        assert!(text(&task(goal, &json!([event]))).contains(plain), "{event}");
    }
}

#[test]
fn a_secret_is_a_parameter_at_once_and_stays_one() {
    let login = |user: &str, password: &str, marked: bool| {
        let field = if marked { "Password" } else { "Key" };
        full(&json!({"goal": format!("log in as {user}"), "status": "succeeded", "events": [
            {"tool": "launch_app", "args": {"package": "com.example.bank"}},
            {"tool": "input_text", "args": {"field": "User", "text": user}},
            {"tool": "input_text", "args": {"field": field, "text": password}},
        ]}))
    };
    let first = learn(&[login("alice", "one1one1", true)]).expect("a skill");
    assert_eq!(names(&first), ["password"]);
    assert_eq!(args(&first)[2], json!({"field": "Password", "text": "{password}"}));
    // The field has another label once: what another execution knows hides the value all the same.
    let both = learn(&[login("alice", "one1one1", true), login("bob", "two2two2", false)]).expect("a skill");
    assert!(!both.canonical_json().contains("two2two2"), "{}", both.canonical_json());
    assert!(both.parameters.iter().any(|parameter| parameter.secret));
    let turned =
        learn(&[login("alice", "one1one1", false), login("bob", "two2two2", true)]).expect("a skill");
    assert!(!turned.canonical_json().contains("one1one1"), "{}", turned.canonical_json());
}

#[test]
fn a_tape_is_clean_after_every_call() {
    let mut tape = Tape::new("use sesame to open");
    tape.push(Event::new("tap", serde_json::from_value(json!({"text": "say sesame"})).expect("args")));
    let element = Element { hint: Some("Passcode".to_owned()), ..Element::default() };
    let args = serde_json::from_value(json!({"text": "sesame"})).expect("args");
    tape.push(Event::new("input_text", args).element(element));
    assert!(!format!("{tape:?}").contains("sesame"), "{tape:?}");
    let args = serde_json::from_value(json!({"text": "x"})).expect("args");
    tape.push(Event::new("input_text", args).secret(Secrecy::Typed));
    let timeline = tape.end(TaskStatus::Succeeded, Some("it was sesame"));
    assert!(!text(&timeline).contains("sesame"));
    assert_eq!(timeline.events[2].args["text"], "[secret:2]");
}

#[test]
fn odd_secrets_end() {
    for secret in ["secret", "[secret", "[secret:1]", "1", "s", "]", "\u{5bc6}"] {
        let timeline = full(&json!({"goal": format!("a {secret} b"), "status": "succeeded", "events": [
            {"tool": "input_text", "args": {"field": "Password", "text": secret}},
            {"tool": "tap", "args": {"text": format!("{secret}{secret} {secret}")}},
            {"tool": "input_text", "args": {"field": "Password", "text": format!("{secret}{secret}")}},
        ]}));
        assert!(text(&timeline).len() < 1_000, "{secret}: {}", text(&timeline));
    }
}
