//! The fault table and the promises, one named test each.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::platform::{Weather, skill};
use super::{BOTH, World, now};
use crate::entitlement::Removal;
use crate::limits::SYNC_RETRIES_MAX;
use crate::model::Layer;
use crate::sync::{Due, Failure, Outcome, PublicKeys, Settings, public_key_text};

const CATALOG: Due = Due { entitlements: false, catalog: true };

/// A world with some skills, synced.
fn filled(count: usize) -> World {
    let world = World::new(&["a"]);
    for number in 0..count {
        world.platform.put("a", skill(&format!("skill-{number}"), "the first text"));
    }
    let round = world.round();
    assert_eq!((round.result, round.items), (Outcome::Activated, count as u64), "{:?}", round.errors);
    assert_eq!(world.ids().len(), count);
    world
}

fn last_since(world: &World) -> Option<String> {
    world.platform.0.lock().asked_since.last().cloned().flatten()
}

#[test]
fn p6_a_second_round_asks_conditionally_and_changes_nothing() {
    let world = filled(7);
    let before = world.catalog.status().unwrap();
    assert_eq!(world.round().result, Outcome::Unchanged);
    assert_eq!(world.platform.0.lock().asked_etag.last().unwrap().as_deref(), Some("\"1:a-7\""));
    assert_eq!(world.catalog.status().unwrap().layers, before.layers);
    assert_eq!(world.state(), "READY");
}

#[test]
fn p7_a_deletion_that_was_missed_while_offline_is_repaired() {
    let world = filled(4);
    world.platform.weather(Weather::Fails(Failure::Timeout { after_ms: 1 }));
    world.platform.take("a", "skill-2");
    world.storage.advance_clock(86_400_000);
    assert_eq!(now(world.engine.round(CATALOG, false)).result, Outcome::Failed);
    assert_eq!((world.ids().len(), world.state().as_str()), (4, "STALE"));
    assert_eq!(world.round().removed, 1);
    assert_eq!((world.ids().len(), world.state().as_str()), (3, "READY"));
    assert!(last_since(&world).is_some(), "a delta was enough");
}

#[test]
fn p10_no_error_and_no_strange_body_removes_anything() {
    let world = filled(6);
    let failures = [
        Failure::Unauthorized,
        Failure::Forbidden,
        Failure::NotFound,
        Failure::PageTooLarge,
        Failure::Busy { status: 429, retry_after_s: Some(9) },
        Failure::Server { status: 500 },
        Failure::Unexpected { status: 302 },
        Failure::Unreachable { detail: "no route".to_owned() },
        Failure::Tls { detail: "expired".to_owned() },
        Failure::OverLimit { limit: 5 },
        Failure::WrongContentType { content_type: "text/html".to_owned() },
    ];
    for failure in failures {
        // Halving a page goes on until one item is asked for.
        for _ in 0..12 {
            world.platform.weather(Weather::Fails(failure.clone()));
        }
        let round = now(world.engine.round(CATALOG, false));
        assert_eq!((round.result, world.ids().len()), (Outcome::Failed, 6), "{failure:?}");
        assert!(round.errors["a"].len() > 10);
        world.platform.0.lock().weather.clear();
        assert_eq!(world.state(), "STALE");
    }
    for body in
        [json!({}), json!([]), json!(null), json!({"spp": 2}), json!({"spp": 1}), json!({"error": "x"})]
    {
        world.platform.weather(Weather::Garbled(body));
        assert_eq!(now(world.engine.round(CATALOG, false)).result, Outcome::Failed);
        assert_eq!(world.ids().len(), 6);
    }
    assert_eq!(world.round().result, Outcome::Unchanged);
}

#[test]
fn p11_the_etag_moves_only_with_activation() {
    let world = filled(3);
    world.platform.put("a", skill("new", "text"));
    world.platform.weather(Weather::Garbled(json!({"spp": 1, "items": [], "kind": "full", "history": "1:a",
        "seq": 99, "count_total": 5})));
    let round = now(world.engine.round(CATALOG, false));
    assert_eq!(
        round.result,
        Outcome::Activated,
        "after the mismatch the whole catalog is asked for: {round:?}"
    );
    world.platform.put("a", skill("newer", "text"));
    world.storage.fault_at(0, crate::snapshot::storage::Fault::Fail(std::io::ErrorKind::StorageFull));
    let etags = |world: &World| world.platform.0.lock().asked_etag.last().cloned().flatten();
    drop(now(world.engine.round(CATALOG, false)));
    let asked = etags(&world);
    drop(now(world.engine.round(CATALOG, false)));
    assert!(etags(&world) == asked || world.ids().len() == 5);
    drop(now(world.engine.round(CATALOG, false)));
    assert_eq!(world.ids().len(), 5);
}

#[test]
fn p22_one_bad_item_blocks_no_other_and_its_last_good_version_stays() {
    let world = filled(3);
    world.platform.put("a", json!({"id": "skill-1", "kind": "knowledge", "name": 7, "description": ""}));
    world.platform.put("a", json!({"id": "NOT an id", "kind": "knowledge", "name": "x", "description": "x"}));
    world.platform.put("a", skill("skill-2", "the second text"));
    let round = world.round();
    assert_eq!(round.result, Outcome::Activated, "{:?}", round.errors);
    let told: Vec<(&str, bool)> =
        round.rejected.iter().map(|item| (item.id.as_str(), item.kept_previous)).collect();
    assert_eq!(told, [("NOT an id", false), ("skill-1", true)]);
    assert!(round.rejected[1].problems.len() >= 2, "every problem at once");
    let seen = world.seen();
    assert_eq!(seen[1], ("skill-1".to_owned(), "the first text".to_owned()));
    assert_eq!(seen[2].1, "the second text");
    // The rejected ones count: the root still fits, so that deltas go on.
    world.platform.put("a", skill("skill-1", "mended"));
    let round = world.round();
    assert_eq!((round.rejected.len(), world.seen()[1].1.as_str()), (1, "mended"));
    assert!(last_since(&world).is_some());
}

#[test]
fn an_empty_or_halved_unsigned_catalog_waits_for_a_later_one_like_it() {
    for keep in [0, 2] {
        let world = filled(4);
        world.platform.0.lock().full_only = true;
        let ids: Vec<String> = (keep..4).map(|number| format!("skill-{number}")).collect();
        for id in &ids {
            world.platform.take("a", id);
        }
        // The platform restarts as one without counters: another body, no ETag that we know.
        world.platform.entitle("a", |truth| truth.status = "active".to_owned());
        assert_eq!(world.round().result, Outcome::Held);
        assert_eq!(world.ids().len(), 4);
        let status = world.catalog.status().unwrap().sync;
        assert!(status.subscriptions[0].waits_for_second);
        assert_eq!(status.ent_seq, Some(2), "entitlements apply");
        assert_eq!(world.round().result, Outcome::Activated);
        assert_eq!(world.ids().len(), keep);
    }
}

#[test]
fn a_full_only_platform_is_followed_by_difference() {
    let world = World::new(&["a"]);
    world.platform.0.lock().full_only = true;
    for number in 0..5 {
        world.platform.put("a", skill(&format!("skill-{number}"), "one"));
    }
    assert_eq!(world.round().result, Outcome::Activated);
    world.platform.take("a", "skill-0");
    world.platform.put("a", skill("skill-3", "two"));
    let round = world.round();
    assert_eq!((round.result, round.removed), (Outcome::Activated, 1), "{round:?}");
    assert_eq!(world.ids().len(), 4);
    assert_eq!(round.seq, Some(2), "our own counter");
    assert_eq!(world.round().result, Outcome::Unchanged);
}

#[test]
fn p9_a_platform_that_goes_back_is_refused_until_it_has_caught_up() {
    let world = filled(3);
    let early = world.platform.0.lock().truths.clone();
    world.platform.put("a", skill("late", "text"));
    world.platform.entitle("a", |truth| truth.status = "active".to_owned());
    assert_eq!(world.round().result, Outcome::Activated);
    let late = std::mem::replace(&mut world.platform.0.lock().truths, early);
    let round = world.round();
    assert_eq!((round.result, world.ids().len()), (Outcome::Failed, 4));
    assert!(round.errors["a"].contains("went back"), "{:?}", round.errors);
    world.platform.0.lock().truths = late;
    assert_eq!(world.round().result, Outcome::Unchanged);
    // A lower timeline, and another one of the same number.
    for history in [(0, "a"), (1, "b")] {
        world.platform.0.lock().history = (history.0, history.1.to_owned());
        world.platform.put("a", skill("never", "text"));
        assert_eq!(world.round().result, Outcome::Failed, "{history:?}");
        assert_eq!(world.ids().len(), 4);
    }
    // A higher one is the truth from now on, with counters of its own.
    world.platform.0.lock().history = (2, "c".to_owned());
    world.platform.0.lock().truths.get_mut("a").unwrap().ent_seq = 1;
    assert_eq!(world.round().result, Outcome::Activated);
    assert_eq!(world.ids().len(), 5);
}

#[test]
fn a_digest_that_is_wrong_is_asked_for_a_few_times_and_then_given_up() {
    let world = filled(2);
    let bad = json!({"spp": 1, "history": "1:a", "kind": "delta", "base": "1:a/2", "cursor": "1:a/3", "seq": 3,
        "items": [{"seq": 3, "digest": crate::model::Digest::of(b"other").to_string(), "skill": skill("x", "y")}]});
    for _ in 0..=SYNC_RETRIES_MAX {
        world.platform.weather(Weather::Garbled(bad.clone()));
    }
    let before = world.platform.0.lock().requests;
    let round = now(world.engine.round(CATALOG, false));
    assert_eq!(round.result, Outcome::Failed);
    assert_eq!(world.platform.0.lock().requests - before, u64::from(SYNC_RETRIES_MAX) + 1);
    assert_eq!(world.ids().len(), 2);
}

#[test]
fn expired_pages_begin_again_and_too_large_ones_are_asked_for_in_halves() {
    let world = World::new(&["a"]);
    for number in 0..7 {
        world.platform.put("a", skill(&format!("skill-{number}"), "one"));
    }
    world.platform.weather(Weather::Fails(Failure::PageExpired));
    world.platform.weather(Weather::Fails(Failure::PageTooLarge));
    world.platform.weather(Weather::Fails(Failure::PageExpired));
    let round = now(world.engine.round(CATALOG, false));
    assert_eq!((round.result, round.items), (Outcome::Activated, 7), "{:?}", round.errors);
}

#[test]
fn signatures_are_asked_for_once_a_key_is_pinned_and_keys_can_be_exchanged() {
    let (old, new) = ([1; 32], [2; 32]);
    let keys = |ids: &[(&str, &[u8; 32])]| {
        let texts: Vec<String> = ids.iter().map(|(id, secret)| public_key_text(id, secret)).collect();
        PublicKeys::parse(&texts).unwrap()
    };
    let settings = |keys| Settings::new(["a"]).unwrap().keys(keys);
    let mut world = World::with(settings(keys(&[("old", &old), ("new", &new)])));
    world.platform.put("a", skill("one", "text"));
    assert_eq!(world.round().result, Outcome::Failed, "unsigned");
    for (id, secret) in [("old", old), ("new", new)] {
        world.platform.0.lock().key = Some((id.to_owned(), secret));
        world.platform.put("a", skill(id, "text"));
        assert_eq!(world.round().result, Outcome::Activated);
    }
    assert_eq!(world.ids().len(), 3);
    world.settings = settings(keys(&[("new", &new)]));
    let twin = world.storage.another_process();
    world.reopen(twin);
    world.platform.0.lock().key = Some(("old".to_owned(), old));
    world.platform.put("a", skill("more", "text"));
    let round = world.round();
    assert_eq!((round.result, world.ids().len()), (Outcome::Failed, 3));
    // A signed catalog needs no second one like it.
    world.platform.0.lock().key = Some(("new".to_owned(), new));
    for id in ["one", "old", "new", "more"] {
        world.platform.take("a", id);
    }
    assert_eq!(now(world.engine.round(BOTH, true)).result, Outcome::Activated);
    assert_eq!(world.ids().len(), 0);
}

#[test]
fn p4_a_pushed_removal_hides_at_once_and_a_document_ends_it() {
    let mut world = filled(3);
    let removal = Removal::new("a", ["skill-1"]).ent_seq(5);
    assert!(world.catalog.removed(&removal).unwrap());
    assert!(!world.catalog.removed(&removal).unwrap(), "P8: a replay changes nothing");
    assert_eq!(world.ids(), ["skill-0", "skill-2"]);
    let twin = world.storage.another_process().cut_power(3);
    world.reopen(twin);
    assert_eq!(world.ids(), ["skill-0", "skill-2"], "also after a power cut");
    world.platform.put("a", skill("skill-1", "changed"));
    world.round();
    assert_eq!(world.ids(), ["skill-0", "skill-2"], "also over an activation: the document is older");
    world.platform.entitle("a", |truth| truth.ent_seq = 5);
    world.round();
    assert_eq!(world.ids().len(), 3);
    assert!(!world.catalog.removed(&removal).unwrap(), "a replay is harmless for ever");
    assert_eq!(world.ids().len(), 3);
    // Without a counter it holds until a document that was asked for later.
    assert!(world.catalog.removed(&Removal::new("a", ["skill-0"])).unwrap());
    assert_eq!(world.ids(), ["skill-1", "skill-2"]);
    world.round();
    assert_eq!(world.ids().len(), 3);
}

#[test]
fn a_removal_masks_its_subscription_only() {
    let world = World::new(&["a", "b"]);
    for sub in ["a", "b"] {
        world.platform.put(sub, skill("both", "text"));
    }
    world.round();
    world.catalog.removed(&Removal::new("a", ["both"]).ent_seq(9)).unwrap();
    assert_eq!(world.ids(), ["both"]);
    world.catalog.removed(&Removal::new("b", ["both"]).ent_seq(9)).unwrap();
    assert_eq!(world.ids().len(), 0);
}

#[test]
fn of_two_subscriptions_the_higher_version_shows_and_the_other_comes_back() {
    let world = World::new(&["a", "b"]);
    let versioned = |text: &str, version: &str| {
        let mut value = skill("both", text);
        value["version"] = json!(version);
        value
    };
    world.platform.put("a", versioned("old", "1.0.0"));
    world.platform.put("b", versioned("new", "1.10.0"));
    assert_eq!(world.round().result, Outcome::Activated);
    assert_eq!(world.seen(), [("both".to_owned(), "new".to_owned())]);
    world.platform.take("b", "both");
    world.round();
    assert_eq!(world.seen(), [("both".to_owned(), "old".to_owned())]);
    world.platform.take("a", "both");
    // The only one that went: it waits, as deltas name it, no.
    world.round();
    assert_eq!(world.ids().len(), 0);
}

#[test]
fn suspended_and_expired_are_in_effect_at_once() {
    let world = filled(2);
    for (status, state, seen) in
        [("suspended", "SUSPENDED", 0), ("expired", "EXPIRED", 0), ("active", "READY", 2)]
    {
        world.platform.entitle("a", |truth| truth.status = status.to_owned());
        world.round();
        assert_eq!((world.state().as_str(), world.ids().len()), (state, seen));
    }
    world.platform.entitle("a", |truth| truth.grants = Some(BTreeSet::from(["skill-1".to_owned()])));
    now(world.engine.round(Due { entitlements: true, catalog: false }, false));
    assert_eq!(world.ids(), ["skill-1"]);
}

#[test]
fn p21_ages_follow_the_boot_clock_and_a_deployment_that_may_not_be_offline_longer_hides() {
    let mut world = filled(2);
    world.platform.entitle("a", |truth| truth.extra = json!({"max_offline_s": 3_600, "on_expiry": "deny"}));
    world.round();
    world.storage.set_wall_clock(5);
    world.storage.advance_clock(90_000);
    assert_eq!(world.catalog.status().unwrap().sync.age_s, Some(90));
    world.storage.set_wall_clock(4_000_000_000_000);
    assert_eq!(world.catalog.status().unwrap().sync.age_s, Some(90));
    assert_eq!(world.ids().len(), 2);
    world.storage.advance_clock(3_600_000);
    world.catalog.tick_sync();
    assert_eq!((world.ids().len(), world.state().as_str()), (0, "EXPIRED"));
    world.round();
    assert_eq!((world.ids().len(), world.state().as_str()), (2, "READY"));
    // After a restart of the machine the age is a lower bound.
    world.storage.advance_clock(60_000);
    let twin = world.storage.cut_power(1);
    world.reopen(twin);
    world.storage.advance_clock(7_000);
    let status = world.catalog.status().unwrap().sync;
    assert!(status.age_at_least && status.age_s >= Some(7), "{status:?}");
}

#[test]
fn p20_a_start_without_a_network_serves_the_last_good_state() {
    let mut world = filled(3);
    let twin = world.storage.another_process();
    world.reopen(twin);
    world.platform.weather(Weather::Fails(Failure::Unreachable { detail: "down".to_owned() }));
    assert_eq!(world.ids().len(), 3);
    assert_eq!(now(world.engine.round(CATALOG, false)).result, Outcome::Failed);
    assert_eq!((world.ids().len(), world.state().as_str()), (3, "STALE"));
}

#[test]
fn a_rollback_holds_content_until_it_is_resumed_and_lifts_no_removal() {
    let world = filled(3);
    world.platform.put("a", skill("new", "text"));
    world.round();
    world.catalog.removed(&Removal::new("a", ["skill-0"]).ent_seq(7)).unwrap();
    world.catalog.rollback(Layer::Synced).unwrap();
    assert_eq!(world.ids(), ["skill-1", "skill-2"]);
    world.platform.entitle("a", |truth| truth.ent_seq = 3);
    let round = world.round();
    assert_eq!((round.result, round.ent_seq), (Outcome::Held, Some(3)), "{round:?}");
    assert_eq!(world.ids(), ["skill-1", "skill-2"]);
    world.engine.resume().unwrap();
    assert_eq!(world.round().result, Outcome::Activated);
    assert_eq!(world.ids(), ["new", "skill-1", "skill-2"]);
}

#[test]
fn p17_local_skills_are_untouched_by_sync_and_the_reverse() {
    let world = filled(2);
    let mine = crate::model::Skill::new("mine", crate::model::Kind::Knowledge, "Mine", "My own.");
    world.catalog.apply(Layer::Local, vec![crate::model::Entry::new(mine)], &BTreeSet::new()).unwrap();
    let generation = |layer: Layer| {
        let status = world.catalog.status().unwrap();
        status.layers.iter().find(|one| one.layer == layer).map(|one| (one.generation, one.digest.clone()))
    };
    let (local, synced) = (generation(Layer::Local), generation(Layer::Synced));
    world.platform.put("a", skill("mine", "theirs"));
    world.round();
    assert_eq!(generation(Layer::Local), local);
    assert_ne!(generation(Layer::Synced), synced);
    assert_eq!(world.seen()[0].1, "theirs", "the synced copy wins");
}

#[test]
fn p5_full_and_incremental_give_the_same_bytes_after_compact() {
    let incremental = World::new(&["a"]);
    for number in 0..60 {
        incremental.platform.put("a", skill(&format!("skill-{:02}", number % 40), &format!("text {number}")));
        if number % 7 == 0 {
            incremental.platform.take("a", &format!("skill-{:02}", number / 2));
        }
        let round = incremental.round();
        assert!(round.errors.is_empty(), "{:?}", round.errors);
    }
    let full = World::new(&["a"]);
    let truth = incremental.platform.truth("a");
    full.platform.0.lock().truths.insert("a".to_owned(), truth);
    full.platform.0.lock().shuffle = Some(11);
    full.platform.0.lock().page_items = 13;
    assert_eq!(full.round().result, Outcome::Activated);
    assert_eq!(incremental.seen(), full.seen());
    let files = |world: &World| {
        world.catalog.compact().unwrap();
        let reports = world.catalog.inspect(None).unwrap();
        let current = world.catalog.sync_base(None).unwrap();
        let names: BTreeSet<String> = current.file_names();
        assert!(reports.iter().all(|report| report.ok));
        // The name is the hash of everything but the generation.
        names
    };
    assert_eq!(files(&incremental), files(&full));
}

#[test]
fn a_synced_layer_that_is_lost_is_fetched_whole_again_and_the_counters_stay() {
    let mut world = filled(5);
    let names = world.catalog.sync_base(None).unwrap().file_names();
    for name in names.iter().filter(|name| !name.contains("journal")) {
        world.storage.poke(name, Some(b"damaged"));
    }
    let twin = world.storage.another_process();
    world.reopen(twin);
    assert_eq!((world.ids().len(), world.state().as_str()), (0, "EMPTY"));
    assert_eq!(world.round().result, Outcome::Activated);
    assert_eq!(world.ids().len(), 5);
    assert_eq!(last_since(&world), None);
}

#[test]
fn a_lost_ring_hides_what_is_synced_until_the_platform_was_asked() {
    let mut world = filled(2);
    world.storage.poke("revocations", None);
    let twin = world.storage.another_process();
    world.reopen(twin);
    assert_eq!((world.ids().len(), world.state().as_str()), (0, "SUSPENDED"));
    world.round();
    assert_eq!((world.ids().len(), world.state().as_str()), (2, "READY"));
}

#[test]
fn nothing_is_activated_unless_every_page_came() {
    let world = filled(2);
    for number in 10..20 {
        world.platform.put("a", skill(&format!("skill-{number}"), "text"));
    }
    world.platform.0.lock().page_items = 4;
    let first: Value = json!({"spp": 1, "history": "1:a", "kind": "delta", "base": "1:a/2", "cursor": "1:a/12",
        "seq": 12, "items": [{"seq": 3, "skill": skill("skill-10", "text")}], "next_page": "1"});
    world.platform.weather(Weather::Garbled(first));
    world.platform.weather(Weather::Fails(Failure::Server { status: 500 }));
    assert_eq!(now(world.engine.round(CATALOG, false)).result, Outcome::Failed);
    assert_eq!(world.ids().len(), 2);
    assert_eq!(world.round().result, Outcome::Activated);
    assert_eq!(world.ids().len(), 12);
}
