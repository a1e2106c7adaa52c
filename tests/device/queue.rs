//! Order, cancellation and choice of the phone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use repertoire::device::Watch;
use repertoire::tools::ToolRegistry;
use serde_json::{Map, json};

use crate::support::{Phone, scene_with};

fn named(key: u16) -> Map<String, serde_json::Value> {
    json!({"key": key}).as_object().expect("an object").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_one_phone_come_in_the_order_in_which_they_began() {
    let phone = Phone::of(&scene_with(json!({"delay_ms": 3})));
    let registry = ToolRegistry::builtin();
    let mut running = Vec::new();
    for key in 7..15 {
        let devices = Arc::clone(&phone.devices);
        let registry = Arc::clone(&registry);
        let args = named(key);
        running.push(tokio::spawn(async move {
            let call = registry.check_call("press_key", &args).expect("a call");
            devices.call(&call, &Watch::default()).await.result.expect("works");
        }));
        // Begun one after another; each still runs while the next ones begin.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for task in running {
        task.await.expect("ends");
    }
    let wanted: Vec<String> = (7..15).map(|key| format!("key {key}")).collect();
    assert_eq!(phone.driver.log(), wanted);
}

#[tokio::test]
async fn a_dropped_wait_ends_at_once_and_leaves_the_phone_free() {
    let phone = Phone::shared();
    let registry = ToolRegistry::builtin();
    let args = json!({"text": "never", "timeout_ms": 30_000}).as_object().expect("an object").clone();
    let call = registry.check_call("wait_for", &args).expect("a call");
    let told = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&told);
    let watch = Watch::default().progress(move |progress| {
        assert!(progress.total == Some(30.0) && progress.message.contains("never"));
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let waited = tokio::time::timeout(Duration::from_millis(400), phone.devices.call(&call, &watch)).await;
    assert!(waited.is_err() && told.load(Ordering::Relaxed) > 0);
    let free = tokio::time::timeout(Duration::from_secs(5), phone.text("describe_screen", json!({}))).await;
    assert!(free.is_ok(), "the turn was given back");
}

#[tokio::test]
async fn a_phone_that_is_not_ready_says_what_to_do() {
    for (state, code) in
        [("unauthorized", "device_unauthorized"), ("offline", "device_offline"), ("other", "device_offline")]
    {
        let phone = Phone::of(&scene_with(json!({"device": {"state": state}})));
        assert_eq!(phone.call("describe_screen", json!({})).await, Err(code.to_owned()), "{state}");
    }
}
