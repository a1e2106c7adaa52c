//! Rules about what a catalog holds.

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::catalog::hex;
use crate::flow::compile;
use crate::import::hex_sha256;
use crate::limits::{CHECK_BLOBS_MAX, CHECK_PAGES_MAX};
use crate::model::Skill;
use crate::platform::check::probe::{Item, Probe};
use crate::platform::check::rule::Verdict;

impl Probe {
    /// Reads the pages of the whole catalog.
    pub(super) async fn document(&mut self) -> Verdict {
        let Some(first) = &self.first else { return Verdict::skip("the catalog does not answer") };
        let advice = "send the page that docs/platform.md shows";
        let mut page = match first.document() {
            Ok(page) => page,
            Err(found) => return Verdict::fail(found, advice),
        };
        let mut seen = BTreeSet::new();
        let mut pages = Vec::new();
        loop {
            let faults = self.page_faults(&page);
            if !faults.is_empty() {
                return Verdict::of(&faults, advice);
            }
            let next = page["next_page"].as_str().map(str::to_owned);
            pages.push(page);
            let Some(next) = next else { break };
            if !seen.insert(next.clone()) || seen.len() > CHECK_PAGES_MAX {
                // The rule about paging says so.
                break;
            }
            page = match self.send(self.page(self.limit, Some(&next))).await {
                Ok(reply) if reply.status == 200 => match reply.document() {
                    Ok(page) => page,
                    Err(found) => return Verdict::fail(format!("a later page: {found}"), advice),
                },
                Ok(reply) => {
                    return Verdict::fail(format!("a later page is answered with {}", reply.status), advice);
                }
                Err(found) => return Verdict::fail(format!("a later page: {found}"), advice),
            };
        }
        self.items = pages.iter().map(items_of).collect::<Option<Vec<_>>>().map(|lists| lists.concat());
        self.pages = pages;
        Verdict::Pass
    }

    fn page_faults(&self, page: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let mut want = |good: bool, said: &str| {
            if !good {
                faults.push(said.to_owned());
            }
        };
        want(page["spp"] == 1, "`spp` is not 1");
        want(page["subscription"] == *self.options.subscription, "`subscription` is not the one asked for");
        want(page["kind"] == "full", "`kind` is not \"full\", although no cursor was sent");
        want(page["items"].is_array(), "`items` is no array");
        for key in ["next_page", "cursor", "history"] {
            want(page[key].is_null() || page[key].is_string(), &format!("`{key}` is no text"));
        }
        for key in ["seq", "ent_seq", "count_total"] {
            want(page[key].is_null() || page[key].is_u64(), &format!("`{key}` is no whole number"));
        }
        faults
    }

    pub(super) fn items(&self) -> Verdict {
        let advice = "an item is {\"seq\", \"digest\", \"skill\"} or {\"seq\", \"digest\", \"size\", \"id\", \"blob\": true}";
        let Some(items) = &self.items else {
            return if self.pages.is_empty() {
                Verdict::skip("the document cannot be read")
            } else {
                Verdict::fail(
                    "an item has neither a skill with an id nor id, size and digest of a blob",
                    advice,
                )
            };
        };
        let mut seen = BTreeSet::new();
        let twice = items.iter().filter(|item| !seen.insert(item.id.as_str()));
        let faults: Vec<String> = twice.map(|item| format!("the id {:?} stands twice", item.id)).collect();
        Verdict::of(&faults, "send every skill once, on one page")
    }

    pub(super) fn digests(&self) -> Verdict {
        let mut any = false;
        let mut faults = Vec::new();
        for item in self.items.iter().flatten() {
            let (Some(digest), Some(skill)) = (&item.digest, &item.skill) else { continue };
            any = true;
            let canonical = serde_json_canonicalizer::to_vec(skill).unwrap_or_default();
            let right = hex_sha256(&canonical);
            if *digest != right {
                faults.push(format!("{:?} says {digest}, and is {right}", item.id));
            }
        }
        if !any {
            return Verdict::skip("no item has a digest; with digests a client notices damage");
        }
        Verdict::of(
            &faults,
            "hash the skill as it is sent, serialised by RFC 8785: \"sha256:\" and lower-case hexadecimal",
        )
    }

    pub(super) fn skills(&self) -> Verdict {
        let mut faults = Vec::new();
        for item in self.items.iter().flatten() {
            let Some(skill) = &item.skill else { continue };
            if let Err(problems) = Skill::from_json(skill) {
                let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
                faults.push(format!("{:?}: {}", item.id, said.join(", ")));
            }
        }
        Verdict::of(&faults, "correct these skills; a client rejects each of them alone and reports it")
    }

    pub(super) fn tools(&self) -> Verdict {
        let mut faults = Vec::new();
        for item in self.items.iter().flatten() {
            let Some(Ok(reading)) = item.skill.as_ref().map(Skill::from_json) else { continue };
            let unavailable = compile(&reading.skill, &self.options.registry).unavailable;
            faults.extend(unavailable.iter().map(|problem| format!("{:?}: {problem}", item.id)));
        }
        Verdict::of(
            &faults,
            "name tools of `repertoire tools`, or extend them with [tools] file as the deployment does; until then these \
             skills are unavailable",
        )
    }

    pub(super) fn not_empty(&self) -> Verdict {
        if self.items.as_ref().is_some_and(Vec::is_empty) {
            let advice = "put a skill into the subscription; a client with skills holds an empty catalog back until a later \
                          poll repeats it";
            return Verdict::fail("the catalog is empty", advice);
        }
        Verdict::Pass
    }

    pub(super) fn count(&self) -> Verdict {
        let items = self.items.as_ref().map_or(0, Vec::len) as u64;
        let counted: Vec<u64> = self.pages.iter().filter_map(|page| page["count_total"].as_u64()).collect();
        if counted.is_empty() {
            return Verdict::skip("there is no count_total; with it a client notices what is missing");
        }
        match counted.iter().find(|count| **count != items) {
            Some(count) => Verdict::fail(
                format!("count_total is {count}, and there are {items} items"),
                "count the items of the whole catalog, on every page and in every delta",
            ),
            None => Verdict::Pass,
        }
    }

    pub(super) fn root(&self) -> Verdict {
        let stated: Vec<&str> = self.pages.iter().filter_map(|page| page["content_root"].as_str()).collect();
        if stated.is_empty() {
            return Verdict::skip("there is no content_root; with it a client knows that it has everything");
        }
        let mut items: Vec<&Item> = self.items.iter().flatten().collect();
        items.sort_by(|a, b| a.id.cmp(&b.id));
        let mut hash = Sha256::new();
        for item in items {
            hash.update(u32::try_from(item.id.len()).unwrap_or(u32::MAX).to_be_bytes());
            hash.update(item.id.as_bytes());
            hash.update(item.seq.unwrap_or(0).to_be_bytes());
            hash.update(item.digest.as_deref().and_then(digest_bytes).unwrap_or([0; 32]));
        }
        let digest: [u8; 32] = hash.finalize().into();
        let right = format!("sha256:{}", hex(&digest));
        match stated.iter().find(|root| **root != right) {
            Some(root) => Verdict::fail(
                format!("content_root is {root}, and that of the items is {right}"),
                "hash, for each item in the order of ids: u32be length of id, id, u64be seq, 32 bytes of digest (zeros if \
                 none); see docs/platform.md for an example",
            ),
            None => Verdict::Pass,
        }
    }

    pub(super) fn seq(&self) -> Verdict {
        let Some(seq) = self.pages.first().and_then(|page| page["seq"].as_u64()) else {
            return Verdict::skip("there is no seq; a client then fetches the full catalog every time");
        };
        let mut faults: Vec<String> = self
            .items
            .iter()
            .flatten()
            .filter(|item| item.seq.is_some_and(|item| item > seq))
            .map(|item| format!("{:?} has a higher seq than the catalog's {seq}", item.id))
            .collect();
        faults.extend(
            self.items
                .iter()
                .flatten()
                .filter(|item| item.seq.is_none())
                .map(|item| format!("{:?} has no seq, although the catalog has one", item.id)),
        );
        Verdict::of(&faults, "give every change the next number, and the catalog that of its last change")
    }

    /// Fetches every blob of the first few, and one that there cannot be.
    pub(super) async fn blobs(&self) -> Verdict {
        let advice = "serve the RFC 8785 form of the skill under the SHA-256 of these bytes";
        let blobs: Vec<&Item> = self.items.iter().flatten().filter(|item| item.skill.is_none()).collect();
        let mut faults = Vec::new();
        for item in blobs.iter().take(CHECK_BLOBS_MAX) {
            let digest = item.digest.clone().unwrap_or_default();
            match self.send(self.at(&["blobs", "sha256", &digest])).await {
                Ok(reply) if reply.status != 200 => {
                    faults.push(format!("{:?} is answered with {}", item.id, reply.status));
                }
                Ok(reply) if hex_sha256(&reply.body) != digest => {
                    faults.push(format!("{:?} has another digest", item.id));
                }
                Ok(reply) if Some(reply.body.len() as u64) != item.size => {
                    faults.push(format!("{:?} has {} bytes", item.id, reply.body.len()));
                }
                Ok(_) => {}
                Err(found) => faults.push(format!("{:?}: {found}", item.id)),
            }
        }
        match self.send(self.at(&["blobs", "sha256", &"0".repeat(64)])).await {
            Ok(reply) if reply.status == 200 => {
                faults.push("a digest of nothing is answered with 200".to_owned());
            }
            _ if blobs.is_empty() && faults.is_empty() => return Verdict::skip("no item is a blob"),
            _ => {}
        }
        Verdict::of(&faults, advice)
    }
}

/// The items of a page; `None` if one of them is neither a skill nor a blob.
pub(super) fn items_of(page: &Value) -> Option<Vec<Item>> {
    page["items"].as_array()?.iter().map(item).collect()
}

fn item(value: &Value) -> Option<Item> {
    let digest =
        value["digest"].as_str().map(|digest| digest.strip_prefix("sha256:").unwrap_or(digest).to_owned());
    let seq = value["seq"].as_u64();
    if value["blob"] == true {
        let (id, size) = (value["id"].as_str()?.to_owned(), value["size"].as_u64()?);
        return digest.is_some().then_some(Item { id, seq, digest, skill: None, size: Some(size) });
    }
    let skill = value.get("skill")?;
    let id = skill["id"].as_str()?.to_owned();
    Some(Item { id, seq, digest, skill: Some(skill.clone()), size: None })
}

fn digest_bytes(digest: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digest.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    (digest.len() == 64).then_some(bytes)
}
