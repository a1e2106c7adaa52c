//! What the switches do to a document before it is signed.

use serde_json::{Map, Value, json};

use crate::platform::fault::{FaultKind, Switches};

/// Members that a platform without counters leaves out.
const COUNTED: [&str; 7] = ["cursor", "seq", "ent_seq", "removed", "base", "count_total", "content_root"];

/// Whether an answer "not modified" would hide what a switch does to a document.
pub(crate) fn hides(switches: &Switches) -> bool {
    FaultKind::ALL.iter().any(|kind| {
        let whole = matches!(
            kind,
            FaultKind::Blobs
                | FaultKind::FullOnly
                | FaultKind::NoWebhook
                | FaultKind::InvalidItem
                | FaultKind::BadId
                | FaultKind::UnknownTool
                | FaultKind::RedirectHere
                | FaultKind::TooLarge
        );
        !whole && switches.on(*kind)
    })
}

/// Skills that the switches add to every subscription, with the id that each is known by.
pub(crate) fn extra(switches: &Switches) -> Vec<(String, Value)> {
    let skill = |id: &str, rest: Value| {
        let mut skill =
            json!({"id": id, "kind": "flow_template", "name": "Extra", "description": "One more."});
        if let (Value::Object(skill), Value::Object(rest)) = (&mut skill, rest) {
            skill.extend(rest);
        }
        (id.to_owned(), skill)
    };
    let step = |tool: &str| json!({"steps": [{"tool": tool, "args_template": {}}]});
    let mut extra = Vec::new();
    if switches.on(FaultKind::InvalidItem) {
        extra.push(skill("extra-invalid", json!({"name": "", "steps": []})));
    }
    if switches.on(FaultKind::BadId) {
        extra.push(skill("Extra//../BAD", step("press_key")));
    }
    if switches.on(FaultKind::UnknownTool) {
        extra.push(skill("extra-unknown-tool", step("no_such_tool")));
    }
    extra
}

/// Changes a document; `part` is `catalog` or `entitlements`, `here` the page that was asked for.
pub(crate) fn alter(document: &mut Map<String, Value>, part: &str, here: &str, switches: &Switches) {
    let mut set = |key: &str, value: Value| {
        document.insert(key.to_owned(), value);
    };
    if switches.on(FaultKind::WrongProtocol) {
        set("spp", json!(2));
    }
    if switches.on(FaultKind::WrongSubscription) {
        set("subscription", json!("somebody-else"));
    }
    if switches.on(FaultKind::OldHistory) {
        set("history", json!("1:old"));
    }
    if switches.on(FaultKind::NewHistory) {
        set("history", json!(format!("{}:new", u64::MAX / 4)));
    }
    if let Some(by) = switches.number(FaultKind::OldEntitlements, 1) {
        lower(document, "ent_seq", by);
    }
    if part == "entitlements" {
        for (kind, status) in [(FaultKind::Suspended, "suspended"), (FaultKind::Expired, "expired")] {
            if switches.on(kind) {
                document.insert("status".to_owned(), json!(status));
            }
        }
        return;
    }
    if let Some(by) = switches.number(FaultKind::OldSeq, 1) {
        lower(document, "seq", by);
    }
    if switches.on(FaultKind::WrongCount) {
        let count = document["count_total"].as_u64().unwrap_or(0);
        document.insert("count_total".to_owned(), json!(count + 1));
    }
    let delta = if document["kind"] == "delta" { "delta" } else { "full" };
    if switches.on_for(FaultKind::WrongRoot, delta) {
        document.insert("content_root".to_owned(), json!(nothing()));
    }
    if switches.on(FaultKind::EndlessPages) {
        document.insert("next_page".to_owned(), json!(here));
    }
    items(document, switches);
    if switches.on(FaultKind::FullOnly) {
        for key in COUNTED {
            document.remove(key);
        }
    }
}

fn items(document: &mut Map<String, Value>, switches: &Switches) {
    let Some(Value::Array(items)) = document.get_mut("items") else { return };
    if switches.on(FaultKind::WrongDigest)
        && let Some(first) = items.first_mut()
    {
        first["digest"] = json!(nothing());
    }
    if switches.on(FaultKind::DoubledItem) {
        items.extend(items.last().cloned());
    }
    if switches.on(FaultKind::FullOnly) {
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.remove("seq");
            item.remove("digest");
        }
    }
}

fn lower(document: &mut Map<String, Value>, key: &str, by: u64) {
    let known = document.get(key).and_then(Value::as_u64).unwrap_or(0);
    document.insert(key.to_owned(), json!(known.saturating_sub(by)));
}

/// A digest of nothing that is ever sent.
fn nothing() -> String {
    format!("sha256:{}", "0".repeat(64))
}
