use repertoire::model::Layer;
use repertoire::{LocalStatement, Narrowing};

use crate::support::{ids, ids_of, knowledge, list, open, put, sees, with};

#[test]
fn a_synced_skill_shows_only_while_one_of_its_subscriptions_is_active() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, reader) = (open(dir.path()), open(dir.path()));
    let both = with(knowledge("both", "Of two."), &["a", "b"]);
    put(&writer, Layer::Synced, &[both, with(knowledge("only-b", "Of one."), &["b"])]);
    assert!(ids(&reader).is_empty());
    writer.declare(LocalStatement::Grant("b".into())).unwrap();
    assert_eq!(ids(&reader), ["both", "only-b"]);
    writer.declare(LocalStatement::Grant("a".into())).unwrap();
    writer.declare(LocalStatement::Revoke("b".into())).unwrap();
    assert_eq!(ids(&reader), ["both"]);
    let narrowed = Narrowing::default().subscriptions(["b"]);
    assert!(ids_of(&reader, narrowed).is_empty(), "a caller with only b sees nothing");
}

#[test]
fn a_hidden_id_is_gone_from_every_query_of_every_handle_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, reader) = (open(dir.path()), open(dir.path()));
    put(&writer, Layer::Local, &[knowledge("camera", "Take a picture."), knowledge("maps", "Find a place.")]);
    assert!(sees(&reader, "camera"));
    writer.declare(LocalStatement::Hide("camera".into())).unwrap();
    assert!(!sees(&reader, "camera") && !sees(&writer, "camera"));
    assert_eq!(ids(&reader), ["maps"]);
    // The mask outlives the skill, a new generation, and a restart.
    put(&writer, Layer::Local, &[knowledge("camera", "Again.")]);
    drop(writer);
    assert!(!sees(&open(dir.path()), "camera"));
    reader.declare(LocalStatement::Unhide("camera".into())).unwrap();
    assert!(sees(&reader, "camera"));
}

#[test]
fn the_operator_is_told_what_is_there_whoever_may_see_it() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    assert!(!catalog.holds("camera").unwrap() && !catalog.brings("a").unwrap());
    put(&catalog, Layer::Synced, &[with(knowledge("camera", "Take a picture."), &["a", "b"])]);
    put(&catalog, Layer::Local, &[knowledge("maps", "Find a place.")]);
    catalog.declare(LocalStatement::Hide("maps".into())).unwrap();
    assert!(ids(&catalog).is_empty(), "nobody sees anything");
    for (id, there) in [("camera", true), ("maps", true), ("map", false), ("", false)] {
        assert_eq!(catalog.holds(id).unwrap(), there, "{id}");
    }
    assert!(!catalog.holds(&"x".repeat(100_000)).unwrap());
    for (subscription, there) in [("a", true), ("b", true), ("c", false), ("", false)] {
        assert_eq!(catalog.brings(subscription).unwrap(), there, "{subscription}");
    }
}

#[test]
fn a_pin_keeps_its_entitlements_and_says_that_it_is_old() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a picture.")]);
    let mut view = catalog.view(Narrowing::default());
    let snapshot = view.snapshot().unwrap();
    let pin = view.pin().unwrap();
    catalog.declare(LocalStatement::Hide("camera".into())).unwrap();
    assert!(!pin.is_current());
    assert_eq!(list(&pin), ["camera"]);
    assert_eq!(list(&snapshot), ["camera"]);
    assert!(list(&view.pin().unwrap()).is_empty());
}

#[test]
fn a_thousand_statements_fill_no_ring_and_all_stand() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    for n in 0..1_200 {
        catalog.declare(LocalStatement::Hide(format!("skill-{n}"))).unwrap();
    }
    catalog.declare(LocalStatement::Hide("skill-7".into())).unwrap();
    assert_eq!(open(dir.path()).entitlements().unwrap().hidden.len(), 1_200);
}

#[test]
fn a_derived_skill_is_masked_with_what_it_was_made_from() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    put(&catalog, Layer::Synced, &[with(knowledge("origin", "The original."), &["s"])]);
    let mut learned = knowledge("learned-1", "Made from it.");
    learned.skill.derived_from = vec!["origin".into()];
    put(&catalog, Layer::Learned, &[learned]);
    assert!(ids(&catalog).is_empty(), "the origin is not granted");
    catalog.declare(LocalStatement::Grant("s".into())).unwrap();
    assert_eq!(ids(&catalog), ["learned-1", "origin"]);
    catalog.declare(LocalStatement::Hide("origin".into())).unwrap();
    assert!(ids(&catalog).is_empty());
}

#[test]
fn an_id_that_can_be_none_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    assert!(catalog.declare(LocalStatement::Hide(String::new())).is_err());
    assert!(catalog.declare(LocalStatement::Revoke("x".repeat(129))).is_err());
}

#[test]
fn a_chain_of_derived_skills_is_masked_to_its_end_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let derived = |id: &str, from: &str| {
        let mut entry = knowledge(id, "Made from another.");
        entry.skill.derived_from = vec![from.into()];
        entry
    };
    put(&catalog, Layer::Local, &[knowledge("root", "The first.")]);
    put(&catalog, Layer::Learned, &[derived("a", "b"), derived("b", "c"), derived("c", "root")]);
    assert_eq!(ids(&catalog), ["a", "b", "c", "root"]);
    catalog.declare(LocalStatement::Hide("root".into())).unwrap();
    assert!(ids(&catalog).is_empty());
}
