//! Scope, policy and approval as a client meets them, on both lifecycles.

use repertoire::entitlement::LocalStatement;
use repertoire::guard::GuardOptions;
use repertoire::policy::Policy;
use repertoire::tools::ToolRegistry;
use rmcp::ClientLifecycleMode;
use rmcp::model::ElicitationAction::{Accept, Cancel, Decline};
use serde_json::json;

use crate::flow::{Desk, HANDSHAKE, Person, stateless};

/// A desk in front of the pay button.
async fn at_the_till(mode: ClientLifecycleMode, person: Person) -> Desk {
    let desk = Desk::new(mode, person, GuardOptions::default()).await;
    desk.text("launch_app", json!({"package": "com.example.shop"})).await;
    desk
}

#[tokio::test]
async fn an_approved_payment_is_made_and_told_to_the_person_before() {
    for mode in [HANDSHAKE, stateless()] {
        let desk = at_the_till(mode, Person::Says(Accept, "once")).await;
        let answer = desk.text("tap", json!({"text": "Pay now"})).await;
        assert!(answer.contains("Thank you"), "{answer}");
        assert_eq!(desk.phone.driver.screen(), "paid");
        let asked = desk.asked.lock().expect("a lock").join("\n");
        for part in ["tap", "Pay now", "com.example.shop", "payments"] {
            assert!(asked.contains(part), "{part}: {asked}");
        }
        let records = desk.records.lock().expect("a lock");
        let tap = records.last().expect("a record");
        assert_eq!(
            (tap.decision.as_str(), tap.rule.as_str(), tap.approval),
            ("ask", "payments", Some("approved"))
        );
    }
}

#[tokio::test]
async fn a_declined_or_cancelled_payment_is_not_made() {
    for action in [Decline, Cancel] {
        for mode in [HANDSHAKE, stateless()] {
            let desk = at_the_till(mode, Person::Says(action.clone(), "once")).await;
            assert_eq!(desk.code("tap", json!({"text": "Pay now"})).await, "approval_declined");
            assert_eq!(desk.phone.driver.screen(), "shop");
            let records = desk.records.lock().expect("a lock");
            assert_eq!(records.last().and_then(|record| record.approval), Some("declined"));
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_the_way_out() {
    for mode in [HANDSHAKE, stateless()] {
        let desk = at_the_till(mode, Person::Nobody).await;
        assert_eq!(desk.code("tap", json!({"text": "Pay now"})).await, "approval_required");
        assert_eq!(desk.phone.driver.screen(), "shop");
        // By its place on the screen it is the same button.
        assert_eq!(desk.code("tap", json!({"x": 270, "y": 1050})).await, "approval_required");
        assert_eq!(
            desk.code("input_text", json!({"field": "Password", "text": "hunter2"})).await,
            "approval_required"
        );
        let told = serde_json::to_string(&*desk.records.lock().expect("a lock")).expect("serialises");
        assert!(!told.contains("hunter2") && told.contains("[secret]"), "{told}");
    }
}

#[tokio::test]
async fn the_policy_of_the_operator_can_forbid() {
    let rules = "[[rule]]\nname = \"no shopping\"\napps = [\"*.shop\"]\ndecide = \"deny\"\n";
    let policy = Policy::from_toml(rules, &ToolRegistry::builtin()).expect("a policy");
    let desk =
        Desk::new(HANDSHAKE, Person::Says(Accept, "once"), GuardOptions::default().policy(policy)).await;
    assert_eq!(desk.code("launch_app", json!({"package": "com.example.shop"})).await, "policy_denied");
    assert_eq!(desk.phone.driver.log(), Vec::<String>::new());
    assert!(desk.asked.lock().expect("a lock").is_empty());
}

#[tokio::test]
async fn the_active_skill_limits_the_tools_until_a_person_lets_the_agent_go() {
    let desk = Desk::new(HANDSHAKE, Person::Says(Decline, "once"), GuardOptions::default()).await;
    let used =
        desk.call("use_skill", json!({"id": "xiaohongshu"})).await.structured_content.expect("structure");
    assert_eq!(used["active"], "xiaohongshu");
    assert!(used["skill"]["content"].as_str().is_some_and(|text| !text.is_empty()), "{used}");
    desk.text("describe_screen", json!({})).await;
    assert_eq!(desk.code("stop_app", json!({"package": "a.b"})).await, "tool_not_allowed");
    assert_eq!(desk.code("press_key", json!({"key": "enter"})).await, "tool_not_allowed");
    desk.text("press_key", json!({"key": "back"})).await;
    let listed: Vec<_> =
        desk.client.list_all_tools().await.expect("lists").into_iter().map(|tool| tool.name).collect();
    assert!(
        listed.iter().any(|name| name == "tap") && !listed.iter().any(|name| name == "stop_app"),
        "{listed:?}"
    );
    assert_eq!(desk.code("use_skill", json!({})).await, "approval_declined");
    assert_eq!(desk.code("stop_app", json!({"package": "a.b"})).await, "tool_not_allowed");
}

#[tokio::test]
async fn leaving_a_skill_works_with_approval_on_both_lifecycles() {
    for mode in [HANDSHAKE, stateless()] {
        let desk = Desk::new(mode, Person::Says(Accept, "once"), GuardOptions::default()).await;
        desk.text("use_skill", json!({"id": "xiaohongshu"})).await;
        desk.text("use_skill", json!({})).await;
        desk.text("press_key", json!({"key": "home"})).await;
        assert_eq!(desk.asked.lock().expect("a lock").len(), 1);
    }
}

#[tokio::test]
async fn a_skill_that_is_hidden_while_it_is_active_closes_its_scope() {
    let desk = Desk::new(HANDSHAKE, Person::Nobody, GuardOptions::default().pinned("xiaohongshu")).await;
    desk.text("describe_screen", json!({})).await;
    assert_eq!(desk.code("stop_app", json!({})).await, "tool_not_allowed");
    desk.catalog.declare(LocalStatement::Hide("xiaohongshu".to_owned())).expect("hides");
    assert_eq!(desk.code("describe_screen", json!({})).await, "skill_no_longer_available");
    assert_eq!(desk.code("use_skill", json!({"id": "xiaohongshu"})).await, "skill_not_found");
    assert_eq!(desk.code("use_skill", json!({"id": "xhs-search"})).await, "approval_required");
}

#[tokio::test]
async fn an_approval_for_the_skill_is_asked_once() {
    let desk = Desk::new(HANDSHAKE, Person::Says(Accept, "skill"), GuardOptions::default()).await;
    desk.text("use_skill", json!({"id": "xiaohongshu"})).await;
    for _ in 0..2 {
        desk.text("launch_app", json!({"package": "com.example.shop"})).await;
        desk.text("tap", json!({"text": "Pay now"})).await;
    }
    assert_eq!(desk.asked.lock().expect("a lock").len(), 1);
    let records = desk.records.lock().expect("a lock");
    assert_eq!(records.last().and_then(|record| record.approval), Some("standing"));
}

#[tokio::test]
async fn wrong_arguments_are_named_before_anything_is_decided() {
    let desk = Desk::new(HANDSHAKE, Person::Nobody, GuardOptions::default()).await;
    assert_eq!(desk.code("tap", json!({"index": "one", "colour": 3})).await, "invalid_arguments");
    assert_eq!(desk.code("tap", json!({})).await, "invalid_arguments");
    assert!(desk.records.lock().expect("a lock").is_empty());
}
