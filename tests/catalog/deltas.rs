//! Small changes: whatever their order, the answers are those of a layer that was built at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use repertoire::model::{Entry, Layer};
use repertoire::{Catalog, Filter, LocalStatement, Look, Narrowing};

use crate::support::{deprecated, flow, knowledge, open, put, with};

const WORDS: [&str; 8] = ["camera", "flash", "maps", "route", "相机", "wifi", "alarm", "photo"];

/// A skill of a small world: the number chooses the id, the variant what it says.
fn skill(number: u8, variant: u8) -> Entry {
    let word = |i: u8| WORDS[usize::from(i) % WORDS.len()];
    let text = format!("{} {} the {}.", word(variant), word(variant / 3), word(number));
    let mut entry = knowledge(&format!("skill-{number:02}"), &text);
    entry.skill.name = format!("{} {}", word(number), word(variant));
    entry.skill.aliases = vec![format!("{} {number}", word(variant / 2))];
    entry.skill.examples = vec![format!("please {} {}", word(variant), variant % 5)];
    entry.skill.tags = vec![word(variant / 5).to_owned()];
    match variant % 7 {
        0 => deprecated(entry),
        1 => {
            let mut changed =
                flow(&entry.skill.id, if variant.is_multiple_of(2) { "tap" } else { "no_such_tool" });
            changed.skill.name = entry.skill.name;
            changed
        }
        _ => entry,
    }
}

fn subscribed(entry: Entry, variant: u8) -> Entry {
    match variant % 4 {
        0 => with(entry, &["a"]),
        1 => with(entry, &["a", "b"]),
        _ => with(entry, &["b"]),
    }
}

/// Everything that a caller can ask, as text.
fn answers(look: &Look) -> Vec<String> {
    let mut all = Vec::new();
    let place = |skill: &repertoire::SkillRef<'_>| {
        format!("{} {:?} {:?};", skill.id(), skill.is_available(), &skill.digest()[..4])
    };
    let filters = [
        Filter::default(),
        Filter::default().tag("camera"),
        Filter::default().kind(repertoire::Kind::FlowTemplate),
    ];
    for filter in &filters {
        let mut cursor: Option<String> = None;
        loop {
            let page = look.list(filter, 3, cursor.as_deref()).unwrap();
            all.push(format!("{} of {}", page.skills.iter().map(place).collect::<String>(), page.total));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    for word in WORDS {
        for filter in &filters {
            let page = look.search(word, filter, 5).unwrap();
            let hits: Vec<_> = page
                .hits
                .iter()
                .map(|hit| (place(&hit.skill), hit.score.to_bits(), hit.skill.why(word).unwrap()))
                .collect();
            all.push(format!("{hits:?} {} {}", page.total, page.confidence));
        }
        all.push(look.prefix(word.split_at(3).0, 9).unwrap().iter().map(place).collect());
        all.push(look.fuzzy(word, 9).unwrap().iter().map(place).collect());
        for number in 0..5 {
            all.push(look.lookup(&format!("{word} {number}")).unwrap().iter().map(place).collect());
            let answer = look.match_request(&format!("please {word} {number}")).unwrap();
            all.push(format!("{:?} {}", answer.skill.map(|skill| place(&skill)), answer.confidence));
        }
    }
    for number in 0..30 {
        let id = format!("skill-{number:02}");
        let skill = look.get(&id).unwrap();
        all.push(skill.as_ref().map(|skill| skill.content().unwrap().to_owned()).unwrap_or_default());
        assert_eq!(look.find(&id).unwrap().is_some(), skill.is_some());
        if let (Some(handle), Some(skill)) = (look.find(&id).unwrap(), skill) {
            assert_eq!(
                (handle.kind(), handle.risk(), handle.effective_risk(), handle.is_available()),
                (skill.kind(), skill.risk(), skill.effective_risk(), skill.is_available())
            );
            assert_eq!(handle.open(&id).unwrap().unwrap().digest(), skill.digest());
        }
    }
    all
}

fn asked(catalog: &Catalog) -> Vec<String> {
    answers(&catalog.view(Narrowing::default()).pin().unwrap())
}

/// Compares answers; says which one differs.
fn same(found: &[String], expected: &[String], when: &str) {
    let differs = found.iter().zip(expected).position(|(a, b)| a != b);
    if let Some(at) = differs {
        assert_eq!(found[at], expected[at], "{when}: answer {at}");
    }
    assert_eq!(found.len(), expected.len(), "{when}");
}

fn segments(data: &Path) -> usize {
    let current = fs::read(data.join("CURRENT")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&current[64..]).unwrap();
    let layers = manifest["layers"].as_object().unwrap();
    layers.values().map(|layer| layer["current"]["files"].as_array().unwrap().len()).sum()
}

/// One step: skills put in (number, variant) and numbers taken out.
type Step = (Vec<(u8, u8)>, Vec<u8>);

fn check(layer: Layer, first: &[(u8, u8)], steps: &[Step]) {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    catalog.declare(LocalStatement::Grant("b".to_owned())).unwrap();
    let make = |(number, variant): (u8, u8)| {
        let entry = skill(number, variant);
        if layer == Layer::Synced { subscribed(entry, variant) } else { entry }
    };
    let mut world: BTreeMap<u8, Entry> = first.iter().map(|pair| (pair.0, make(*pair))).collect();
    put(&catalog, layer, &world.values().cloned().collect::<Vec<_>>());
    for (puts, removes) in steps {
        let changed: BTreeMap<u8, Entry> = puts.iter().map(|pair| (pair.0, make(*pair))).collect();
        let removes: BTreeSet<u8> = removes.iter().copied().filter(|n| !changed.contains_key(n)).collect();
        for number in &removes {
            world.remove(number);
        }
        world.extend(changed.clone());
        let gone = removes.iter().map(|number| format!("skill-{number:02}")).collect();
        catalog.apply(layer, changed.into_values().collect(), &gone).unwrap();
        assert!(segments(&data) <= 6, "a directory and at most five segments");
    }
    let whole = dir.path().join("whole");
    let other = open(&whole);
    other.declare(LocalStatement::Grant("b".to_owned())).unwrap();
    put(&other, layer, &world.values().cloned().collect::<Vec<_>>());
    let expected = asked(&other);
    same(&asked(&catalog), &expected, "in one process");
    let digest = |catalog: &Catalog| {
        catalog.status().unwrap().layers.first().map(|layer| (layer.digest.clone(), layer.skills))
    };
    assert_eq!(digest(&catalog), digest(&other));
    let kept = |catalog: &Catalog| catalog.entries(layer).unwrap();
    assert_eq!(kept(&catalog), kept(&other), "what the next import works from");
    assert!(catalog.verify(None).unwrap().iter().all(|file| file.ok));
    drop(catalog);
    let reopened = open(&data);
    same(&asked(&reopened), &expected, "in another process");
    if layer == Layer::Local {
        // The sources alone give the same again.
        drop(reopened);
        for entry in fs::read_dir(&data).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("local-") || name == "CURRENT" || name == "PREVIOUS" {
                fs::remove_file(path).unwrap();
            }
        }
        let rebuilt = open(&data);
        rebuilt.declare(LocalStatement::Grant("b".to_owned())).unwrap();
        same(&asked(&rebuilt), &expected, "rebuilt from the sources");
    }
}

fn steps() -> impl Strategy<Value = (Vec<(u8, u8)>, Vec<Step>)> {
    let pair = (0..30_u8, any::<u8>());
    let step = (prop::collection::vec(pair.clone(), 0..5), prop::collection::vec(0..30_u8, 0..3));
    (prop::collection::vec(pair, 0..30), prop::collection::vec(step, 1..8))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_local_layer_of_small_changes_answers_like_one_built_at_once((first, steps) in steps()) {
        check(Layer::Local, &first, &steps);
    }

    #[test]
    fn a_synced_layer_of_small_changes_answers_like_one_built_at_once((first, steps) in steps()) {
        check(Layer::Synced, &first, &steps);
    }
}

#[test]
fn an_update_of_one_skill_leaves_the_segment_of_the_others_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let catalog = open(&data);
    let mut all: Vec<Entry> = (0..40).map(|number| skill(number, number)).collect();
    put(&catalog, Layer::Local, &all);
    let before: BTreeSet<String> = files(&data);
    all[7] = skill(7, 99);
    all.remove(20);
    put(&catalog, Layer::Local, &all);
    assert_eq!(segments(&data), 3, "a directory and two segments");
    assert!(before.is_subset(&files(&data)), "what was there is used again");
    let generation = catalog.status().unwrap().layers[0].generation;
    put(&catalog, Layer::Local, &all);
    assert_eq!(catalog.status().unwrap().layers[0].generation, generation, "the same set is no change");
    assert_eq!(catalog.entries(Layer::Local).unwrap().len(), 39);
    assert!(catalog.view(Narrowing::default()).pin().unwrap().get("skill-20").unwrap().is_none());
}

fn files(data: &Path) -> BTreeSet<String> {
    let names =
        fs::read_dir(data).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let ours = |name: &String| Path::new(name).extension().is_some_and(|end| end == "seg" || end == "jsonl");
    names.filter(ours).collect()
}
