//! `docs/platform.md` says what the code does: its examples are computed here, its list of checks is that of the code.

use std::fs;
use std::path::Path;

use repertoire::platform::check::Rule;
use repertoire::sync::webhook::WebhookSecrets;
use repertoire::sync::{
    ContentRoot, Digest, DocumentKind, public_key_text, sign, signed_text, unsigned_digest,
};
use serde_json::{Value, json};

use crate::support::WEBHOOK_SECRET;

const BEGIN: &str = "<!-- computed by tests/platform/docs.rs -->\n";
const END: &str = "<!-- end -->\n";

/// The parts of the page that are computed, in order.
fn computed() -> [String; 2] {
    [vectors(), checks()]
}

fn vectors() -> String {
    let skill = json!({"name": "Wi-Fi", "id": "wifi", "kind": "knowledge", "description": "Open \u{8bbe}\u{7f6e}.", "content": "Tap."});
    let canonical = serde_json_canonicalizer::to_string(&skill).unwrap();
    let digest = Digest::of(canonical.as_bytes());
    let mut root = ContentRoot::default();
    root.add("camera", 3, None);
    root.add("wifi", 7, Some(&digest));
    let document: Value = json!({"spp": 1, "subscription": "sub_7", "history": "3:9f2c", "ent_seq": 12, "status": "active",
                                 "grants": {"mode": "all"}, "revoked": [{"id": "old-skill", "ent_seq": 11}]});
    let seed = [7; 32];
    let kind = DocumentKind::Entitlements;
    let unsigned = unsigned_digest(&document).unwrap();
    let body = r#"{"type":"skills.removed","data":{"subscription":"sub_7","history":"3:9f2c","ids":["wifi"],"ent_seq":13}}"#;
    let webhook = WebhookSecrets::parse(WEBHOOK_SECRET).unwrap().sign("msg_1", "1796040000", body.as_bytes());
    let lines = [
        "Digest of an item:".to_owned(),
        String::new(),
        "```text".to_owned(),
        format!("RFC 8785 form  {canonical}"),
        format!("digest         {digest}"),
        "```".to_owned(),
        String::new(),
        "Content root of a catalog with `camera` (seq 3, no digest) and that `wifi` (seq 7):".to_owned(),
        String::new(),
        "```text".to_owned(),
        format!("content_root   {}", root.finish()),
        "```".to_owned(),
        String::new(),
        "Signature with the key made of 32 bytes of 7 (keys for tests only):".to_owned(),
        String::new(),
        "```text".to_owned(),
        format!("RFC 8785 form  {}", serde_json_canonicalizer::to_string(&document).unwrap()),
        format!("signed text    {}", signed_text(kind, &unsigned).replace('\n', "\\n")),
        format!("public key     {}", public_key_text("k1", &seed)),
        format!("sig            {}", sign(kind, &document, "k1", &seed).unwrap().sig),
        "```".to_owned(),
        String::new(),
        "Webhook:".to_owned(),
        String::new(),
        "```text".to_owned(),
        format!("secret             {WEBHOOK_SECRET}"),
        "webhook-id         msg_1".to_owned(),
        "webhook-timestamp  1796040000".to_owned(),
        format!("webhook-signature  {webhook}"),
        format!("body               {body}"),
        "```".to_owned(),
    ];
    lines.join("\n") + "\n"
}

fn checks() -> String {
    let rows = Rule::ALL.iter().map(|rule| format!("| `{}` | {} |\n", rule.name(), rule.about()));
    format!("| check | a platform passes if |\n| --- | --- |\n{}", rows.collect::<String>())
}

#[test]
fn the_page_for_platform_teams_holds_what_the_code_computes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/platform.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut pieces = page.split(BEGIN);
    let mut expected = pieces.next().unwrap().to_owned();
    for part in computed() {
        let (_, after) = pieces.next().and_then(|piece| piece.split_once(END)).expect("a computed part");
        expected.extend([BEGIN, "\n", &part, "\n", END, after]);
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert_eq!(page, expected, "run the test with UPDATE_GOLDEN=1 and look at the change");
    }
}
