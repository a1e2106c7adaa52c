use repertoire::model::{Layer, Origin};
use repertoire::{Catalog, Error, Filter, Narrowing, SkillRef};
use serde_json::Map;

use crate::support::{deprecated, flow, ids, knowledge, open, put, sees, with};

#[test]
fn a_local_skill_is_found_by_every_query_and_survives_a_reopen() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    assert!(catalog.view(Narrowing::default()).pin().unwrap().is_empty());
    put(
        &catalog,
        Layer::Local,
        &[knowledge("camera", "Take a picture."), knowledge("maps", "Find a place.")],
    );
    drop(catalog);
    let catalog = open(dir.path());
    assert_eq!(ids(&catalog), ["camera", "maps"]);
    assert!(sees(&catalog, "camera"));
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    let skill = pin.get("camera").unwrap().unwrap();
    assert_eq!(skill.content().unwrap(), "# camera\n\nTake a picture.\n");
    assert_eq!(skill.to_skill().unwrap(), knowledge("camera", "Take a picture.").skill);
    assert_eq!(skill.digest(), &knowledge("camera", "Take a picture.").skill.digest());
}

#[test]
fn source_text_origin_and_body_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let mut entry = knowledge("camera", "Take a picture.");
    let text = format!("---\nname: camera\n---\n{}", entry.skill.content);
    entry.source_text = Some(text.as_bytes().into());
    entry.origin = Some(Origin::new("/skills", "camera/SKILL.md"));
    put(&catalog, Layer::Local, std::slice::from_ref(&entry));
    assert_eq!(catalog.entries(Layer::Local).unwrap(), [entry]);
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    assert_eq!(pin.get("camera").unwrap().unwrap().source_text().unwrap(), Some(text.as_bytes()));
}

#[test]
fn the_same_content_again_is_no_new_generation() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let entries = [knowledge("b", "B."), knowledge("a", "A.")];
    let first = catalog.update(Layer::Local, &mut |_| Ok(Some(entries.to_vec()))).unwrap();
    let mut reversed = entries.to_vec();
    reversed.reverse();
    let second = catalog.update(Layer::Local, &mut |_| Ok(Some(reversed.clone()))).unwrap();
    assert!(first.changed && !second.changed);
    assert_eq!(first.generation, second.generation);
}

#[test]
fn the_first_visible_copy_wins_and_an_unusable_one_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    put(&catalog, Layer::Local, &[knowledge("x", "The local one.")]);
    put(&catalog, Layer::Synced, &[with(knowledge("x", "The synced one."), &["s"])]);
    let layer_of = |catalog: &Catalog| {
        let mut view = catalog.view(Narrowing::default());
        let pin = view.pin().unwrap();
        pin.get("x").unwrap().map(|skill| skill.layer())
    };
    assert_eq!(layer_of(&catalog), Some(Layer::Local), "the synced copy is not granted");
    catalog.declare(repertoire::LocalStatement::Grant("s".into())).unwrap();
    assert_eq!(layer_of(&catalog), Some(Layer::Synced));
    assert_eq!(ids(&catalog), ["x"], "an id is listed once");
    put(&catalog, Layer::Synced, &[with(flow("x", "no_such_tool"), &["s"])]);
    assert_eq!(layer_of(&catalog), Some(Layer::Local), "a broken copy never hides a good one");
}

#[test]
fn an_unavailable_flow_is_got_with_reasons_but_not_listed() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    put(&catalog, Layer::Local, &[flow("broken", "no_such_tool"), flow("fine", "list_devices")]);
    assert_eq!(ids(&catalog), ["fine"]);
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    let broken = pin.get("broken").unwrap().unwrap();
    assert!(!broken.is_available());
    assert!(broken.unavailable().iter().any(|problem| problem.to_string().contains("no_such_tool")));
    assert!(matches!(pin.resolve("broken", &Map::new()), Err(Error::SkillUnavailable { .. })));
    let steps = pin.resolve("fine", &Map::new()).unwrap();
    assert_eq!(steps.len(), 1);
    let text = pin.resolve_text("fine", &Map::new()).unwrap();
    let read: Vec<repertoire::flow::ResolvedStep> = serde_json::from_str(text.json()).unwrap();
    assert_eq!(read, steps);
    assert!(matches!(pin.resolve_text("broken", &Map::new()), Err(Error::SkillUnavailable { .. })));
    assert!(matches!(pin.resolve("none", &Map::new()), Err(Error::SkillNotFound { .. })));
}

#[test]
fn pages_of_a_list_neither_repeat_nor_skip_what_stays_over_a_swap() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let entries: Vec<_> = (0..25).map(|n| knowledge(&format!("skill-{n:02}"), "One of many.")).collect();
    put(&catalog, Layer::Local, &entries);
    let mut view = catalog.view(Narrowing::default());
    let (first, cursor) = {
        let pin = view.pin().unwrap();
        let page = pin.list(&Filter::default(), 10, None).unwrap();
        assert_eq!(page.total, 25);
        (page.skills.iter().map(|s| s.id().to_owned()).collect::<Vec<_>>(), page.next_cursor.unwrap())
    };
    let kept: Vec<_> = entries.iter().filter(|e| e.skill.id != "skill-09").cloned().collect();
    put(&catalog, Layer::Local, &kept);
    let pin = view.pin().unwrap();
    let page = pin.list(&Filter::default(), 100, Some(&cursor)).unwrap();
    let rest: Vec<_> = page.skills.iter().map(|s| s.id().to_owned()).collect();
    assert_eq!(first.last().map(String::as_str), Some("skill-09"));
    assert_eq!(rest.first().map(String::as_str), Some("skill-10"));
    assert_eq!(rest.len(), 15);
    assert!(page.next_cursor.is_none());
    assert!(pin.list(&Filter::default(), 10, Some("not a cursor!")).is_err());
    assert!(pin.list(&Filter::default(), 0, None).is_err());
}

#[test]
fn filters_narrow_lists_and_searches() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let mut tagged = knowledge("tagged", "Share a picture.");
    tagged.skill.tags = vec!["Photo Album".into()];
    put(
        &catalog,
        Layer::Local,
        &[tagged, flow("flow", "list_devices"), deprecated(knowledge("old", "Share a picture."))],
    );
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    let list = |filter: Filter| {
        let page = pin.list(&filter, 10, None).unwrap();
        page.skills.iter().map(SkillRef::id).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(list(Filter::default().tag("photo  album")), "tagged");
    assert_eq!(list(Filter::default().tag("none")), "");
    assert_eq!(list(Filter::default().kind(repertoire::model::Kind::FlowTemplate)), "flow");
    assert_eq!(list(Filter::default().layer(Layer::Synced)), "");
    let hits = pin.search("share a picture", &Filter::default(), 5).unwrap().hits;
    let found: Vec<_> = hits.iter().map(|hit| hit.skill.id()).collect();
    assert_eq!(found, ["tagged", "old"], "deprecated skills come after active ones");
    assert!(
        hits[0]
            .skill
            .why("picture")
            .unwrap()
            .iter()
            .any(|why| why.field == "description" && why.words.contains(&"picture".to_owned()))
    );
}

#[test]
fn rollback_publishes_the_former_content_under_a_new_generation() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    assert!(catalog.rollback(Layer::Local).is_err());
    put(&catalog, Layer::Local, &[knowledge("one", "First.")]);
    put(&catalog, Layer::Local, &[knowledge("two", "Second.")]);
    let back = catalog.rollback(Layer::Local).unwrap();
    assert_eq!((back.generation, back.changed), (3, true));
    assert_eq!(ids(&catalog), ["one"]);
    assert_eq!(catalog.entries(Layer::Local).unwrap().len(), 1);
    catalog.compact().unwrap();
    assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok));
}

#[test]
fn an_update_with_broken_skills_names_all_of_them_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    put(&catalog, Layer::Local, &[knowledge("one", "First.")]);
    let (mut a, mut b) = (knowledge("a", "A."), knowledge("b", "B."));
    a.skill.name = String::new();
    b.skill.tags = vec!["t".repeat(65)];
    let error = catalog.update(Layer::Local, &mut |_| Ok(Some(vec![a.clone(), b.clone()]))).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a: name") && text.contains("b: /tags/0"), "{text}");
    let twice =
        catalog.update(Layer::Local, &mut |_| Ok(Some(vec![knowledge("x", "X."), knowledge("x", "Y.")])));
    assert!(matches!(twice, Err(Error::Rejected { .. })));
    assert!(catalog.update(Layer::Bundled, &mut |_| Ok(Some(Vec::new()))).is_err());
    assert_eq!(ids(&catalog), ["one"]);
}

#[test]
fn a_second_handle_follows_and_a_wait_tells_what_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, reader) = (open(dir.path()), open(dir.path()));
    let token = reader.token().unwrap();
    assert_eq!(reader.wait(token, std::time::Duration::from_millis(30)).unwrap(), None);
    put(&writer, Layer::Local, &[knowledge("one", "First.")]);
    let change = reader.wait(token, std::time::Duration::from_secs(5)).unwrap().expect("a change");
    assert_eq!((change.layers, change.entitlements), (vec![Layer::Local], false));
    assert_eq!(ids(&reader), ["one"]);
}

#[test]
fn a_flow_that_the_tools_of_today_allow_is_available_and_resolves_without_a_new_import() {
    let dir = tempfile::tempdir().unwrap();
    put(&open(dir.path()), Layer::Local, &[flow("robot", "wave_arm")]);
    assert!(ids(&open(dir.path())).is_empty());
    let file = r#"[{"name": "wave_arm", "summary": "Wave.", "parameters": {"type": "object", "properties": {}},
        "effect": "mutate", "risk": "high"}]"#;
    let registry = repertoire::ToolRegistry::builtin().with_json(file).expect("a sound registry");
    let options =
        repertoire::Options::default().registry(registry).bundled(repertoire::catalog::BundledMode::Never);
    let catalog = Catalog::open_with(dir.path(), options).unwrap();
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    assert_eq!(pin.resolve("robot", &Map::new()).unwrap()[0].tool, "wave_arm");
    let high = Filter::default().risk(repertoire::Risk::High);
    assert_eq!(pin.list(&high, 10, None).unwrap().total, 1);
    let other = high.kind(repertoire::Kind::Knowledge);
    assert_eq!(pin.list(&other, 10, None).unwrap().total, 0);
}

#[test]
fn a_wait_without_an_end_does_not_panic() {
    let dir = tempfile::tempdir().unwrap();
    let (writer, reader) = (open(dir.path()), open(dir.path()));
    let token = reader.token().unwrap();
    let waiting = std::thread::spawn(move || reader.wait(token, std::time::Duration::MAX).unwrap());
    put(&writer, Layer::Local, &[knowledge("one", "First.")]);
    assert!(waiting.join().unwrap().is_some());
}

#[test]
fn a_name_that_many_skills_share_is_looked_up_and_matched_quickly() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let entries: Vec<_> = (0..3_000)
        .map(|n| {
            let mut entry = knowledge(&format!("skill-{n:04}"), "One of many.");
            entry.skill.name = "Untitled".into();
            entry
        })
        .collect();
    put(&catalog, Layer::Local, &entries);
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    assert_eq!(pin.lookup("untitled").unwrap().len(), repertoire::limits::NAMED_MAX);
    assert_eq!(pin.match_request("open the untitled one").unwrap().skill.map(|s| s.id()), Some("skill-0000"));
    assert_eq!(pin.prefix("untit", 5).unwrap().len(), 5);
}
