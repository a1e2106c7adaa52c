//! Authoring on storages in memory that stop and fail, and on real directories.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::authoring::{Authoring, LearnOutcome, Promoted, Recorder};
use crate::catalog::{BundledMode, Catalog, Options};
use crate::entitlement::{LocalStatement, Narrowing};
use crate::error::Error;
use crate::learn::{Event, TaskStatus, Timeline};
use crate::model::{Entry, Layer, Skill};
use crate::snapshot::storage::{Fault, MemoryStorage, Storage};
use crate::snapshot::{DataDir, OpenOptions};

fn open(storage: &Arc<MemoryStorage>) -> Catalog {
    let storage = Arc::clone(storage) as Arc<dyn Storage>;
    let options = OpenOptions { storage: Some(storage), ..OpenOptions::default() };
    let dir = DataDir::open(Path::new("memory"), &options).expect("a directory");
    Catalog::on(dir, Options::default().bundled(BundledMode::Never))
}

fn memory() -> (Arc<MemoryStorage>, Authoring) {
    let storage = Arc::new(MemoryStorage::new());
    let authoring = Authoring::new(&open(&storage));
    (storage, authoring)
}

/// A task in an app that types a text.
fn task(app: &str, goal: &str, text: &str) -> Timeline {
    let value = json!({"goal": goal, "status": "succeeded", "events": [
        {"tool": "launch_app", "args": {"package": app}},
        {"tool": "tap", "args": {"text": "New"}},
        {"tool": "input_text", "args": {"field": "Title", "text": text}},
        {"tool": "tap", "args": {"text": "Save"}},
    ]});
    Timeline::from_json(&value).expect("a timeline")
}

const NOTES: &str = "com.example.notes";

fn note(text: &str) -> Timeline {
    task(NOTES, &format!("Write a note {text}"), text)
}

/// Id, steps and tasks of everything learned.
fn content(catalog: &Catalog) -> Vec<(String, String, u64)> {
    let lines = Authoring::new(catalog).list().expect("a list");
    let skills = Authoring::new(catalog).export().expect("skills");
    let steps = |skill: &Skill| serde_json::to_string(&skill.steps).expect("JSON");
    lines.into_iter().zip(&skills).map(|(line, skill)| (line.id, steps(skill), line.tasks)).collect()
}

#[test]
fn a_skill_is_made_changed_confirmed_and_found() {
    let (_storage, authoring) = memory();
    let first = authoring.learn(&note("eggs")).expect("learned");
    assert_eq!((first.outcome, first.parameters), (LearnOutcome::Added, 0));
    let second = authoring.learn(&note("milk")).expect("learned");
    assert_eq!((second.outcome, second.parameters), (LearnOutcome::Changed, 1));
    let third = authoring.learn(&note("milk")).expect("learned");
    assert_eq!(third.outcome, LearnOutcome::Unchanged);
    assert_eq!((&first.id, &second.id), (&second.id, &third.id));
    let id = first.id.expect("an id");
    let line = authoring.list().expect("a list").remove(0);
    assert_eq!((line.tasks, line.parameters.as_slice()), (3, ["note".to_owned()].as_slice()));
    let mut view = authoring.catalog.view(Narrowing::default());
    let pin = view.pin().expect("a pin");
    let skill = pin.get(&id).expect("read").expect("the skill");
    assert_eq!(skill.layer(), Layer::Learned);
    let hit = pin.match_request("please write a note about butter").expect("matched").skill.expect("a skill");
    assert_eq!(hit.id(), id);
    let values = Map::from_iter([("note".to_owned(), json!("butter"))]);
    let steps = pin.resolve(&id, &values).expect("steps");
    assert_eq!(steps[2].args, json!({"field": "Title", "text": "butter"}));
}

#[test]
fn what_does_not_teach_writes_nothing() {
    let (storage, authoring) = memory();
    let failed = json!({"goal": "g", "status": "failed", "events": [{"tool": "tap", "args": {"text": "a"}}]});
    let before = storage.list().expect("files");
    let answer = authoring.learn(&Timeline::from_json(&failed).expect("a timeline")).expect("refused");
    assert_eq!((answer.outcome, answer.id.as_ref()), (LearnOutcome::Refused, None));
    assert!(answer.line().contains("failed"), "{}", answer.line());
    let files = |names: &[String]| -> Vec<(String, Option<Vec<u8>>)> {
        names.iter().map(|name| (name.clone(), storage.peek(name))).collect()
    };
    assert_eq!(files(&before), files(&storage.list().expect("files")));
    assert!(!storage.list().expect("files").iter().any(|name| name.contains("learned")));
}

const FAULTS: [Fault; 4] = [
    Fault::Stop,
    Fault::StopHalfway,
    Fault::Fail(io::ErrorKind::StorageFull),
    Fault::Fail(io::ErrorKind::Other),
];

/// Every step in the larger runs; in the smallest one in seven, for each fault others.
fn stride() -> usize {
    match std::env::var("REPERTOIRE_TEST_SCALE").as_deref() {
        Ok("ci" | "long") => 1,
        _ => 7,
    }
}

#[test]
fn a_stop_or_failure_at_any_step_of_learning_leaves_the_old_or_the_new_layer() {
    type Work = fn(&Authoring) -> Result<(), Error>;
    let operations: [(&str, Work); 3] = [
        ("learn", |authoring| authoring.learn(&note("milk")).map(drop)),
        ("another", |authoring| authoring.learn(&task("com.example.mail", "write mail a", "a")).map(drop)),
        ("forget", |authoring| match authoring.forget(&authoring.list()?[0].id) {
            // The retry finds it done.
            Err(Error::SkillNotFound { .. }) => Ok(()),
            done => done,
        }),
    ];
    for (name, operation) in operations {
        let (prepared, authoring) = memory();
        authoring.learn(&note("eggs")).expect("learned");
        authoring.learn(&task("com.example.list", "add a to the list", "a")).expect("learned");
        let old = content(&authoring.catalog);
        let twin = Arc::new(prepared.copy());
        operation(&Authoring::new(&open(&twin))).expect(name);
        let new = content(&open(&Arc::new(twin.another_process())));
        assert_ne!(old, new);
        for (first, fault) in FAULTS.into_iter().enumerate() {
            for step in (first as u64 % stride() as u64..).step_by(stride()) {
                let storage = Arc::new(prepared.copy());
                let victim = Arc::new(storage.another_process());
                let author = Authoring::new(&open(&victim));
                author.list().expect("a list");
                let began = victim.steps();
                victim.fault_at(step, fault);
                let result = operation(&author);
                let reached = victim.steps() - began > step;
                let at = format!("{name}, {fault:?} at step {step}: {result:?}");
                let after = content(&open(&Arc::new(storage.another_process())));
                assert!(after == old || after == new, "{at}: {after:?}");
                if result.is_ok() {
                    assert_eq!(after, new, "{at}");
                }
                if !reached {
                    assert!(step > 3, "{name} has steps");
                    break;
                }
            }
        }
        for seed in 0..4 {
            for step in (seed % stride() as u64..).step_by(stride()) {
                let storage = Arc::new(prepared.copy());
                let author = Authoring::new(&open(&storage));
                author.list().expect("a list");
                let began = storage.steps();
                storage.fault_at(step, Fault::Stop);
                let done = operation(&author).is_ok();
                let reached = storage.steps() - began > step;
                let after = content(&open(&Arc::new(storage.cut_power(seed))));
                assert!(
                    after == new || (!done && after == old),
                    "{name}, power cut at step {step}: {after:?}"
                );
                if !reached {
                    break;
                }
            }
        }
    }
}

#[test]
fn the_least_evidence_goes_first_and_among_equals_the_oldest() {
    let (_storage, mut authoring) = memory();
    authoring.skills_max = 3;
    let times =
        ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z"];
    let nows: [fn() -> String; 4] = [
        || "2026-01-01T00:00:00Z".to_owned(),
        || "2026-01-02T00:00:00Z".to_owned(),
        || "2026-01-03T00:00:00Z".to_owned(),
        || "2026-01-04T00:00:00Z".to_owned(),
    ];
    let apps = |authoring: &Authoring| -> Vec<String> {
        authoring.export().expect("skills").iter().map(|skill| skill.apps[0].package.clone()).collect()
    };
    for (app, now) in [("com.a", 0), ("com.a", 0), ("com.b", 2), ("com.c", 1), ("com.d", 3)] {
        authoring.now = nows[now];
        authoring.learn(&task(app, "write it", "text")).expect("learned");
    }
    assert_eq!(apps(&authoring), ["com.a", "com.b", "com.d"], "c was seen once, before b");
    authoring.learn(&task("com.e", "write it", "text")).expect("learned");
    assert_eq!(apps(&authoring), ["com.a", "com.d", "com.e"], "{times:?}");
    authoring.learn(&task("com.a", "write it", "other")).expect("learned");
    assert_eq!(apps(&authoring).len(), 3, "what is there needs no room");
}

#[test]
fn executions_of_several_writers_all_count() {
    let (storage, authoring) = memory();
    authoring.learn(&note("eggs")).expect("learned");
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let storage = Arc::new(storage.another_process());
            scope.spawn(move || {
                let authoring = Authoring::new(&open(&storage));
                for number in 0..4 {
                    authoring.learn(&note(&format!("item{writer}x{number}"))).expect("learned");
                }
            });
        }
    });
    let other = Authoring::new(&open(&Arc::new(storage.another_process())));
    assert_eq!(other.list().expect("a list")[0].tasks, 13);
}

#[test]
fn tasks_without_an_app_are_told_apart_by_what_they_share() {
    let (_storage, authoring) = memory();
    let set = |goal: &str, value: Value| {
        let value = json!({"goal": goal, "status": "succeeded", "events": [
            {"tool": "press_key", "args": {"key": value}}]});
        Timeline::from_json(&value).expect("a timeline")
    };
    let volume = authoring.learn(&set("turn the sound up", json!("up"))).expect("learned");
    let photo = authoring.learn(&set("take photo", json!("camera"))).expect("learned");
    assert_eq!(photo.outcome, LearnOutcome::Added);
    let again = authoring.learn(&set("turn the sound down", json!("down"))).expect("learned");
    assert_eq!((again.id.clone(), again.outcome), (volume.id.clone(), LearnOutcome::Changed));
    assert!(photo.id.as_ref().is_some_and(|id| id.ends_with("-2")), "{photo:?}");
    // A hole in the numbers hides nothing behind it.
    authoring.forget(volume.id.as_deref().expect("an id")).expect("forgotten");
    let third = authoring.learn(&set("take photo again", json!("camera2"))).expect("learned");
    assert_eq!(third.id, photo.id);
}

#[test]
fn a_name_that_a_person_gave_stays() {
    let (_storage, authoring) = memory();
    let id = authoring.learn(&note("eggs")).expect("learned").id.expect("an id");
    authoring.rename(&id, "  My   notes ").expect("renamed");
    authoring.learn(&note("milk")).expect("learned");
    let skill = authoring.show(&id).expect("shown").skill;
    assert_eq!((skill.name.as_str(), skill.parameters.len()), ("My notes", 1));
    assert!(matches!(authoring.rename(&id, " \n"), Err(Error::InvalidArguments { .. })));
    assert!(matches!(authoring.rename("learned/none", "x"), Err(Error::SkillNotFound { .. })));
    assert!(matches!(authoring.forget("learned/none"), Err(Error::SkillNotFound { .. })));
}

#[test]
fn a_promotion_stays_as_it_is_and_hides_the_learned_one() {
    let (_storage, authoring) = memory();
    let id = authoring.learn(&note("eggs")).expect("learned").id.expect("an id");
    assert_eq!(authoring.promote(&id).expect("promoted"), Promoted::Added);
    assert_eq!(authoring.promote(&id).expect("promoted"), Promoted::Unchanged);
    authoring.learn(&note("milk")).expect("learned");
    let catalog = &authoring.catalog;
    let local = catalog.entries(Layer::Local).expect("entries").remove(0);
    assert_eq!(local.skill.metadata["origin"], "local-synthesis");
    assert!(local.skill.parameters.is_empty() && local.source_text.is_none());
    let layer = |id: &str| {
        let mut view = catalog.view(Narrowing::default());
        view.pin().expect("a pin").get(id).expect("read").expect("there").layer()
    };
    assert_eq!(layer(&id), Layer::Local);
    assert!(authoring.list().expect("a list")[0].promoted);
    assert_eq!(authoring.promote(&id).expect("promoted"), Promoted::Changed);
    // A mirror does not take it away.
    let plan = crate::import::plan(
        catalog.entries(Layer::Local).expect("entries"),
        vec![crate::import::RootReading::new("/somewhere", Vec::new())],
        &crate::import::MirrorOptions::default(),
    );
    assert!(!plan.changed && plan.entries.len() == 1);
    authoring.forget(&id).expect("forgotten");
    assert_eq!(layer(&id), Layer::Local);
}

#[test]
fn a_promotion_takes_no_id_of_another_and_revives_nothing_withdrawn() {
    let (_storage, authoring) = memory();
    let id = authoring.learn(&note("eggs")).expect("learned").id.expect("an id");
    let mut own = authoring.show(&id).expect("shown").skill;
    own.name = "Mine".to_owned();
    authoring
        .catalog
        .apply(Layer::Local, vec![Entry::new(own)], &std::collections::BTreeSet::new())
        .expect("applied");
    assert!(matches!(authoring.promote(&id), Err(Error::Rejected { .. })));
    let source = Skill::from_json(
        &json!({"id": "source", "kind": "knowledge", "name": "S", "description": "D", "content": "C"}),
    );
    let source = Entry::new(source.expect("a skill").skill);
    authoring.catalog.apply(Layer::Local, vec![source], &std::collections::BTreeSet::new()).expect("applied");
    let recorder = authoring.recorder();
    recorder.begin("press it");
    recorder.uses("source");
    recorder.record(|| Event::new("press_key", Map::from_iter([("key".to_owned(), json!("home"))])));
    let made =
        recorder.end(TaskStatus::Succeeded, None).expect("learned").expect("a task").id.expect("an id");
    assert_eq!(authoring.show(&made).expect("shown").skill.derived_from, ["source"]);
    authoring.catalog.declare(LocalStatement::Hide("source".to_owned())).expect("hidden");
    assert!(matches!(authoring.promote(&made), Err(Error::Rejected { .. })));
}

#[test]
fn a_recorder_learns_at_the_end_and_forgets_what_is_not_ended() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let (_storage, authoring) = memory();
    let recorder = authoring.recorder();
    is_shared(&recorder);
    let press = |key: &str| Event::new("press_key", Map::from_iter([("key".to_owned(), json!(key))]));
    recorder.record(|| unreachable!("no task goes on"));
    assert!(recorder.end(TaskStatus::Succeeded, None).expect("nothing").is_none());
    assert!(!recorder.begin("go home"));
    recorder.record(|| press("back"));
    assert!(recorder.begin("go home again"), "the first task is cancelled");
    recorder.clone().record(|| press("home"));
    let learnt = recorder.end(TaskStatus::Succeeded, Some("done")).expect("learned").expect("a task");
    assert_eq!(learnt.outcome, LearnOutcome::Added);
    let skill = authoring.show(learnt.id.as_deref().expect("an id")).expect("shown").skill;
    assert_eq!(skill.steps.len(), 1);
    assert!(!recorder.is_recording());
    recorder.begin("another");
    recorder.record(|| press("back"));
    drop(recorder);
    assert_eq!(authoring.list().expect("a list").len(), 1);
    let off = Recorder::off();
    assert!(!off.is_on() && !off.begin("x") && !off.is_recording());
    off.record(|| unreachable!("it is off"));
    assert!(off.end(TaskStatus::Succeeded, None).expect("nothing").is_none());
}

#[test]
fn learning_touches_no_file_of_another_layer_and_no_secret_reaches_any() {
    let dir = tempfile::tempdir().expect("a folder");
    let options = Options::default().bundled(BundledMode::Never);
    let catalog = Catalog::open_with(dir.path().join("data"), options).expect("a catalog");
    let skill = |id: &str| {
        let value = json!({"id": id, "kind": "knowledge", "name": id, "description": "D", "content": "C"});
        Entry::new(Skill::from_json(&value).expect("a skill").skill)
    };
    let mut synced = skill("synced");
    synced.subscriptions = vec!["s".to_owned()];
    let none = std::collections::BTreeSet::new();
    catalog.apply(Layer::Synced, vec![synced], &none).expect("applied");
    catalog.apply(Layer::Local, vec![skill("local")], &none).expect("applied");
    let authoring = Authoring::new(&catalog);
    let files = || -> BTreeMap<String, Vec<u8>> {
        let entries =
            std::fs::read_dir(catalog.path()).expect("a folder").map(|entry| entry.expect("an entry"));
        let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
        named
            .filter(|(_, path)| path.is_file())
            .map(|(name, path)| (name, std::fs::read(path).expect("bytes")))
            .collect()
    };
    let before = files();
    for (goal, secret) in
        [("log in with hunter2hunter2", "hunter2hunter2"), ("log in with Pa55&word", "Pa55&word")]
    {
        let value = json!({"goal": goal, "status": "succeeded", "events": [
            {"tool": "launch_app", "args": {"package": "com.example.bank"}},
            {"tool": "input_text", "args": {"field": "Password", "text": secret}},
        ]});
        authoring.learn(&Timeline::from_json(&value).expect("a timeline")).expect("learned");
    }
    authoring.learn(&note("eggs")).expect("learned");
    authoring.forget(&authoring.list().expect("a list")[0].id).expect("forgotten");
    let after = files();
    for (name, bytes) in &before {
        // The manifests and the epoch page move with every commit.
        if ["CURRENT", "PREVIOUS", "epoch", "LOCK"].iter().any(|moves| name.starts_with(moves)) {
            continue;
        }
        assert!(after.get(name) == Some(bytes), "{name} changed");
    }
    assert!(
        before.keys().any(|name| name.contains("synced")) && before.keys().any(|name| name.contains("local"))
    );
    for (name, bytes) in &after {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("hunter2hunter2") && !text.contains("Pa55&word"), "{name}");
    }
    let entries = catalog.entries(Layer::Learned).expect("entries");
    for entry in entries {
        let text = String::from_utf8_lossy(entry.source_text.as_deref().unwrap_or_default()).into_owned();
        assert!(!text.contains("hunter2") && !text.contains("Pa55"), "{text}");
    }
}

#[test]
fn learned_skills_show_as_the_options_say_and_after_equals_of_other_layers() {
    let storage = Arc::new(MemoryStorage::new());
    let authoring = Authoring::new(&open(&storage));
    let id = authoring.learn(&note("eggs")).expect("learned").id.expect("an id");
    let mut twin = authoring.show(&id).expect("shown").skill;
    twin.id = "zz-local".to_owned();
    twin.metadata.clear();
    let none = std::collections::BTreeSet::new();
    authoring.catalog.apply(Layer::Local, vec![Entry::new(twin)], &none).expect("applied");
    let mut view = authoring.catalog.view(Narrowing::default());
    let pin = view.pin().expect("a pin");
    let hits = pin.search("write a note", &crate::catalog::Filter::default(), 5).expect("found").hits;
    let order: Vec<&str> = hits.iter().map(|hit| hit.skill.id()).collect();
    assert_eq!(order, ["zz-local", id.as_str()]);
    assert!((hits[0].score - hits[1].score).abs() < f32::EPSILON, "equals");
    let dir = Arc::new(storage.another_process()) as Arc<dyn Storage>;
    let options = OpenOptions { storage: Some(dir), ..OpenOptions::default() };
    let dir = DataDir::open(Path::new("memory"), &options).expect("a directory");
    let hidden = Catalog::on(dir, Options::default().bundled(BundledMode::Never).learned_visible(false));
    assert!(hidden.view(Narrowing::default()).pin().expect("a pin").get(&id).expect("read").is_none());
}
