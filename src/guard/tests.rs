//! Scopes over a real catalog.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::*;
use crate::catalog::{BundledMode, Catalog, Options, Snapshot};
use crate::device::{Aim, Permit};
use crate::entitlement::{LocalStatement, Narrowing};
use crate::model::{Entry, Layer, Skill};
use crate::policy::Policy;
use crate::tools::ToolRegistry;

struct Desk {
    _folder: tempfile::TempDir,
    catalog: Catalog,
}

fn knowledge(id: &str, tools: Option<&[&str]>, content: &str) -> Value {
    let mut skill =
        json!({"id": id, "kind": "knowledge", "name": id, "description": "d", "content": content});
    if let Some(tools) = tools {
        skill["allowed_tools"] = json!(tools);
    }
    skill
}

fn desk(skills: &[Value]) -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default().bundled(BundledMode::Never);
    let catalog = Catalog::open_with(folder.path(), options).unwrap();
    let desk = Desk { _folder: folder, catalog };
    desk.put(skills);
    desk
}

impl Desk {
    fn put(&self, skills: &[Value]) {
        let entries: Vec<_> =
            skills.iter().map(|skill| Entry::new(Skill::from_json(skill).unwrap().skill)).collect();
        self.catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).unwrap();
    }

    fn look(&self) -> Snapshot {
        self.catalog.view(Narrowing::default()).snapshot().unwrap()
    }
}

/// `ok`, or the code of the refusal, of each call.
fn answers(guard: &Guard, look: &Snapshot, calls: &[(&str, Value)]) -> Vec<String> {
    let registry = ToolRegistry::builtin();
    calls
        .iter()
        .map(|(tool, args)| {
            let call = registry.check_call(tool, args.as_object().unwrap()).unwrap();
            guard
                .admit(look, &call)
                .unwrap()
                .map_or_else(|refusal| refusal.code.to_owned(), |_| "ok".to_owned())
        })
        .collect()
}

fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("tap", json!({"index": 1})),
        ("press_back", json!({})),
        ("press_key", json!({"key": "enter"})),
        ("describe_screen", json!({})),
    ]
}

fn guard(options: GuardOptions) -> Arc<Guard> {
    Arc::new(Guard::new(ToolRegistry::builtin(), options))
}

fn set() -> Vec<Value> {
    vec![
        knowledge("a", Some(&["tap", "press_back", "describe_screen"]), "x"),
        knowledge("b", Some(&["press_key", "describe_screen"]), "x"),
        knowledge("free", None, "x"),
        knowledge("small", Some(&["tap"]), "x"),
    ]
}

#[test]
fn a_scope_permits_its_tools_and_the_fixed_arguments_of_aliases() {
    let desk = desk(&set());
    let guard = guard(GuardOptions::default());
    let look = desk.look();
    assert_eq!(answers(&guard, &look, &calls()), ["ok", "ok", "ok", "ok"]);
    let change = guard.change(&look, Some("a")).unwrap();
    assert!(!change.needs_approval && guard.apply(change, false));
    assert_eq!(answers(&guard, &look, &calls()), ["ok", "ok", "tool_not_allowed", "ok"]);
    assert_eq!(guard.active_skill().as_deref(), Some("a"));
}

#[test]
fn changing_to_other_tools_intersects_without_approval_and_clearing_needs_it() {
    let desk = desk(&set());
    let guard = guard(GuardOptions::default());
    let look = desk.look();
    guard.apply(guard.change(&look, Some("a")).unwrap(), false);
    let change = guard.change(&look, Some("b")).unwrap();
    assert!(change.needs_approval);
    guard.apply(change, false);
    assert_eq!(answers(&guard, &look, &calls()), ["tool_not_allowed", "ok", "tool_not_allowed", "ok"]);
    let clear = guard.change(&look, None).unwrap();
    assert!(clear.needs_approval && !guard.apply(clear.clone(), false));
    assert_eq!(answers(&guard, &look, &calls())[0], "tool_not_allowed");
    let free = guard.change(&look, Some("free")).unwrap();
    assert!(free.needs_approval, "a skill without a list is wider than any list");
    let widened = guard.change(&look, Some("b")).unwrap();
    assert!(widened.needs_approval && guard.apply(widened, true));
    assert_eq!(answers(&guard, &look, &calls()), ["tool_not_allowed", "ok", "ok", "ok"]);
    assert!(guard.apply(clear, true));
    assert_eq!(answers(&guard, &look, &calls()), ["ok", "ok", "ok", "ok"]);
    guard.apply(guard.change(&look, Some("a")).unwrap(), false);
    assert!(!guard.change(&look, Some("small")).unwrap().needs_approval, "a narrower skill needs nobody");
}

#[test]
fn a_skill_that_is_replaced_hidden_or_gone_closes_its_scope_for_good() {
    for what in ["replaced", "hidden", "gone"] {
        let desk = desk(&set());
        let guard = guard(GuardOptions::default());
        guard.apply(guard.change(&desk.look(), Some("a")).unwrap(), false);
        match what {
            "replaced" => desk.put(&[knowledge("a", None, "other"), knowledge("b", None, "x")]),
            "hidden" => desk.catalog.declare(LocalStatement::Hide("a".to_owned())).unwrap(),
            _ => desk.put(&[knowledge("b", None, "x")]),
        }
        let look = desk.look();
        assert_eq!(answers(&guard, &look, &calls())[..1], ["skill_no_longer_available"], "{what}");
        let change = guard.change(&look, Some("b")).unwrap();
        assert!(change.needs_approval && !guard.apply(change, false), "{what}");
        assert_eq!(answers(&guard, &look, &calls())[..1], ["skill_no_longer_available"], "{what}");
        if what == "hidden" {
            desk.catalog.declare(LocalStatement::Unhide("a".to_owned())).unwrap();
            assert_eq!(answers(&guard, &desk.look(), &calls())[..1], ["skill_no_longer_available"]);
        }
        let change = guard.change(&look, Some("b")).unwrap();
        assert!(guard.apply(change, true), "{what}");
        assert_eq!(answers(&guard, &look, &calls())[3..], ["ok"], "{what}: {:?}", guard.allowed());
    }
}

#[test]
fn a_pinned_scope_is_never_left() {
    let desk = desk(&set());
    let guard = guard(GuardOptions::default().pinned("a"));
    let look = desk.look();
    assert_eq!(answers(&guard, &look, &calls()), ["ok", "ok", "tool_not_allowed", "ok"]);
    guard.apply(guard.change(&look, Some("b")).unwrap(), true);
    assert_eq!(answers(&guard, &look, &calls()), ["tool_not_allowed", "ok", "tool_not_allowed", "ok"]);
    guard.apply(guard.change(&look, None).unwrap(), true);
    assert_eq!(answers(&guard, &look, &calls()), ["ok", "ok", "tool_not_allowed", "ok"]);
    let missing = super::tests::guard(GuardOptions::default().pinned("nobody"));
    assert_eq!(answers(&missing, &look, &calls())[..1], ["skill_no_longer_available"]);
}

#[test]
fn an_approval_is_good_for_what_was_shown_and_a_standing_one_for_its_skill_and_rule() {
    let desk = desk(&set());
    let guard = guard(GuardOptions::default().policy(Policy::starter()));
    let look = desk.look();
    guard.apply(guard.change(&look, Some("a")).unwrap(), false);
    let registry = ToolRegistry::builtin();
    let args: Map<String, Value> = json!({"index": 1}).as_object().unwrap().clone();
    let call = registry.check_call("tap", &args).unwrap();
    let admitted = guard.admit(&look, &call).unwrap().unwrap();
    let aim = |words: &str| Aim { app: "com.example".to_owned(), words: words.to_owned(), ..Aim::default() };
    let ask = Judge::new(&guard, &call, &admitted, None);
    assert_eq!(ask.permits(&aim("Delete")), Permit::Stop);
    let (decision, standing) = ask.decision().unwrap();
    assert_eq!((decision.rule.as_str(), standing), ("deletion", false));
    let approved = Judge::new(&guard, &call, &admitted, Some(aim("Delete")));
    assert_eq!(approved.permits(&aim("Delete")), Permit::Go);
    assert_eq!(approved.permits(&aim("Delete all")), Permit::Stop);
    guard.stand(&admitted, &decision, "tap");
    assert_eq!(ask.permits(&aim("Delete all")), Permit::Go);
    assert_eq!(ask.permits(&aim("Pay now")), Permit::Stop);
    guard.apply(guard.change(&look, Some("small")).unwrap(), false);
    let other = guard.admit(&look, &call).unwrap().unwrap();
    assert_eq!(Judge::new(&guard, &call, &other, None).permits(&aim("Delete")), Permit::Stop);
}

#[test]
fn an_open_approval_answers_one_request_for_its_call() {
    let guard = guard(GuardOptions::default());
    let aim = Aim { words: "Pay".to_owned(), ..Aim::default() };
    let token = guard.open_approval("tap {}", Some(aim.clone())).unwrap();
    assert_eq!(guard.take_approval(&token, "tap {\"x\":1}"), None);
    assert_eq!(guard.take_approval(&token, "tap {}"), None, "a wrong call used it up");
    let token = guard.open_approval("tap {}", Some(aim.clone())).unwrap();
    assert_eq!(guard.take_approval(&token, "tap {}"), Some(Some(aim)));
    assert_eq!(guard.take_approval(&token, "tap {}"), None);
    assert_eq!(guard.take_approval("forged", "tap {}"), None);
}

#[test]
fn records_hold_no_secret() {
    let skill = json!({
        "id": "login", "kind": "flow_template", "name": "l", "description": "d",
        "parameters": [{"name": "pin", "type": "string", "description": "p", "secret": true}],
        "steps": [{"tool": "input_text", "args_template": {"text": "PIN {pin}"}}]
    });
    let desk = desk(&[skill]);
    let seen: Arc<parking_lot::Mutex<Vec<CallRecord>>> = Arc::default();
    let into = Arc::clone(&seen);
    let observer = move |record: &CallRecord| into.lock().push(record.clone());
    let guard = guard(GuardOptions::default().observer(Arc::new(observer)));
    let look = desk.look();
    let values: Map<String, Value> = json!({"pin": "83155"}).as_object().unwrap().clone();
    guard.learn_secrets(&look.get("login").unwrap().unwrap(), &values).unwrap();
    let args = json!({"text": "PIN 83155"});
    let masked = guard.masked(args.as_object().unwrap(), false);
    guard.record(CallRecord { tool: "input_text".to_owned(), args: masked, ..CallRecord::default() });
    let told = serde_json::to_string(&*seen.lock()).unwrap();
    assert!(told.contains("PIN [secret]") && !told.contains("83155"), "{told}");
}
