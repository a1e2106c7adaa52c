//! Arbitrary timelines: nothing panics, no marked secret is stored, what is learned gives back every execution.
#![no_main]

use libfuzzer_sys::fuzz_target;
use repertoire::learn::hostile::learn_all;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    // One timeline stands for two executions of it.
    match value {
        Value::Array(_) => learn_all(&value),
        one => learn_all(&Value::Array(vec![one.clone(), one])),
    }
});
