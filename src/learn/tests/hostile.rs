//! Arbitrary timelines.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::learn::hostile::learn_all;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "a", "{x}", "}}", "{{a}} b", "Ana", "hello there", "1234567", "7654321", "", " ", "[secret:1]", "[secret]",
            "geo:0,0?q=a&z=1", "\u{5bc6}\u{7801}", "password", "\u{202e}x\u{0}", "a\u{301}b c", "%41", "-1,2,3,4",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::String), 1 => any::<i64>().prop_map(|n| json!(n)),
        1 => any::<f64>().prop_map(|n| json!(n)), 1 => any::<bool>().prop_map(|flag| json!(flag)), 1 => Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((key(), inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "text", "field", "x", "y", "x1", "bounds", "package", "a/b~c", "password", "target", "index",
        "snapshot",
    ])
    .prop_map(str::to_owned)
}

fn event() -> impl Strategy<Value = Value> {
    let tool = prop::sample::select(vec![
        "tap",
        "input_text",
        "launch_app",
        "press_back",
        "nobody",
        "swipe",
        "screenshot",
    ]);
    let args = prop::collection::btree_map(key(), value(), 0..4);
    let element =
        prop::option::of((text(), text()).prop_map(|(id, text)| json!({"resource_id": id, "text": text})));
    (tool, args, any::<bool>(), element).prop_map(|(tool, args, secret, element)| {
        json!({"tool": tool, "args": args, "secret": secret, "element": element, "app": "com.example.a"})
    })
}

/// Some executions with the same calls and, here and there, other texts.
fn timelines() -> impl Strategy<Value = Value> {
    let changes = prop::collection::vec((0..6_usize, key(), text()), 0..4);
    (prop::collection::vec(event(), 1..5), prop::collection::vec((text(), changes), 1..5)).prop_map(
        |(events, runs)| {
            let runs = runs.into_iter().map(|(goal, changes)| {
                let mut events = events.clone();
                for (at, key, text) in changes {
                    if let Some(Value::String(place)) =
                        events.get_mut(at).and_then(|event| event["args"].get_mut(&key))
                    {
                        *place = text;
                    }
                }
                json!({"goal": format!("do {goal}"), "status": "succeeded", "events": events})
            });
            Value::Array(runs.collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::amount(200, 5_000), ..ProptestConfig::default() })]

    #[test]
    fn any_timelines_are_learned_from_without_a_panic_and_without_a_secret(timelines in timelines()) {
        learn_all(&timelines);
    }
}
