//! The example of a host with tools of its own.

#[path = "../../examples/mount.rs"]
#[expect(dead_code, unreachable_pub, reason = "an example is a program of its own")]
mod mount;

use serde_json::json;

use crate::support::{Wire, filled};

#[tokio::test]
async fn a_host_offers_its_own_tools_beside_those_of_the_skills() {
    let (_folder, catalog) = filled();
    let mut wire = Wire::over(|input, output| async move {
        let served = rmcp::ServiceExt::serve(mount::Host::new(&catalog), (input, output)).await;
        drop(served.expect("serves").waiting().await);
        Ok(())
    });
    wire.initialize("2025-11-25").await;
    let tools = wire.request("tools/list", None).await;
    let names: Vec<_> =
        tools["result"]["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.contains(&json!("battery")) && names.contains(&json!("get_skill")), "{names:?}");
    assert_eq!(wire.call("battery", json!({})).await["content"][0]["text"], "80 %");
    let skill = wire.call("get_skill", json!({"id": "android/wifi"})).await;
    assert_eq!(skill["structuredContent"]["skill"]["name"], "Wi-Fi");
    wire.end().await;
}
