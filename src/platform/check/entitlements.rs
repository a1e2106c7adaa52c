//! Rules about entitlements and signatures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::Signature;
use serde_json::Value;

use crate::import::hex_sha256;
use crate::platform::check::probe::Probe;
use crate::platform::check::rule::Verdict;

impl Probe {
    pub(super) async fn read_entitlements(&mut self) -> Verdict {
        let advice = "send the document that docs/platform.md shows";
        let reply = match self.send(self.ask("entitlements")).await {
            Ok(reply) => reply,
            Err(found) => return Verdict::fail(found, "serve `/spp/v1/subscriptions/{sub}/entitlements`"),
        };
        if reply.status != 200 {
            return Verdict::fail(
                format!("it is answered with {}", reply.status),
                "serve `/spp/v1/subscriptions/{sub}/entitlements`; without it a revocation is only a removed skill",
            );
        }
        let document = match reply.document() {
            Ok(document) => document,
            Err(found) => return Verdict::fail(found, advice),
        };
        let faults = faults_of(&document);
        let verdict = Verdict::of(&faults, advice);
        self.entitlements = Some(document);
        verdict
    }

    pub(super) fn agreement(&self) -> Verdict {
        let (Some(page), Some(document)) = (self.pages.first(), &self.entitlements) else {
            return Verdict::skip("one of the two documents cannot be read");
        };
        let mut faults = Vec::new();
        let known = |value: &Value| !value.is_null();
        if known(&page["history"]) && page["history"] != document["history"] {
            faults.push(format!("the histories are {} and {}", page["history"], document["history"]));
        }
        if let (Some(one), Some(other)) = (page["ent_seq"].as_u64(), document["ent_seq"].as_u64())
            && one > other
        {
            faults
                .push(format!("the catalog says ent_seq {one}, the entitlements, asked for later, {other}"));
        }
        if document["subscription"].as_str().is_some_and(|name| name != self.options.subscription) {
            faults.push("the entitlements name another subscription".to_owned());
        }
        Verdict::of(&faults, "take history and counters of both documents from one place")
    }

    pub(super) fn signature(&self) -> Verdict {
        if self.keys.is_empty() {
            let signed = self.pages.first().is_some_and(|page| !page["signature"].is_null());
            return Verdict::skip(if signed {
                "no key is given, so that the signatures were not looked at; name it with --public-key"
            } else {
                "no key is given, and nothing is signed"
            });
        }
        if self.pages.is_empty() {
            return Verdict::skip("the document cannot be read");
        }
        let mut faults = Vec::new();
        for (number, page) in (1..).zip(&self.pages) {
            faults.extend(self.unsigned(page, "catalog").map(|why| format!("page {number} {why}")));
        }
        if let Some(document) = &self.entitlements {
            faults.extend(
                self.unsigned(document, "entitlements").map(|why| format!("the entitlements document {why}")),
            );
        }
        Verdict::of(
            &faults,
            "sign `spp1\\n`, `catalog` or `entitlements`, `\\n` and the hexadecimal SHA-256 of the document's RFC 8785 form \
             without `signature` with Ed25519; see docs/platform.md for an example",
        )
    }

    /// Why a document does not count as signed.
    fn unsigned(&self, document: &Value, part: &str) -> Option<String> {
        let signature = &document["signature"];
        if signature.is_null() {
            return Some("has no signature".to_owned());
        }
        if signature["alg"] != "ed25519" {
            return Some(format!("is signed with {}, not ed25519", signature["alg"]));
        }
        let key_id = signature["key_id"].as_str().unwrap_or_default();
        let Some((_, key)) = self.keys.iter().find(|(id, _)| id == key_id) else {
            return Some(format!("is signed with the key {key_id:?}, which is not known"));
        };
        let sig = signature["sig"].as_str().and_then(|sig| STANDARD.decode(sig).ok());
        let Some(sig) = sig.and_then(|sig| Signature::from_slice(&sig).ok()) else {
            return Some("has a signature that is not the base64 of 64 bytes".to_owned());
        };
        let mut bare = document.clone();
        bare.as_object_mut()?.remove("signature");
        let canonical = serde_json_canonicalizer::to_vec(&bare).unwrap_or_default();
        let message = format!("spp1\n{part}\n{}", hex_sha256(&canonical));
        let right = key.verify_strict(message.as_bytes(), &sig).is_ok();
        (!right).then(|| "has a signature of something else".to_owned())
    }
}

fn faults_of(document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut want = |good: bool, said: &str| {
        if !good {
            faults.push(said.to_owned());
        }
    };
    want(document["spp"] == 1, "`spp` is not 1");
    let ent_seq = document["ent_seq"].as_u64();
    want(ent_seq.is_some(), "`ent_seq` is no whole number");
    want(
        matches!(document["status"].as_str(), Some("active" | "suspended" | "expired")),
        "`status` is none of active, suspended, expired",
    );
    let grants = &document["grants"];
    match grants["mode"].as_str() {
        Some("all") => {}
        Some("list") => want(
            grants["ids"].as_array().is_some_and(|ids| ids.iter().all(Value::is_string)),
            "`grants.ids` is no list of texts, although the mode is \"list\"",
        ),
        _ => want(false, "`grants.mode` is neither \"all\" nor \"list\""),
    }
    let revoked = document["revoked"].as_array();
    want(document["revoked"].is_null() || revoked.is_some(), "`revoked` is no list");
    for entry in revoked.into_iter().flatten() {
        want(entry["id"].is_string(), "an entry of `revoked` has no `id`");
        let seq = entry["ent_seq"].as_u64();
        want(seq.is_some(), "an entry of `revoked` has no `ent_seq`");
        want(
            seq.zip(ent_seq).is_none_or(|(entry, document)| entry <= document),
            "an entry of `revoked` has a higher `ent_seq` than the document",
        );
    }
    let limit = &document["max_offline_s"];
    want(limit.is_null() || limit.is_u64(), "`max_offline_s` is no whole number");
    want(
        document["on_expiry"].is_null()
            || matches!(document["on_expiry"].as_str(), Some("serve_stale" | "deny")),
        "`on_expiry` is neither \"serve_stale\" nor \"deny\"",
    );
    faults
}
