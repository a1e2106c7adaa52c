//! Skills and catalogs for tests.

use std::path::Path;

use repertoire::catalog::BundledMode;
use repertoire::model::{Entry, Kind, Layer, Skill, Status, Step};
use repertoire::{Catalog, Filter, Look, Narrowing, Options};
use serde_json::{Map, json};

pub(crate) fn open(path: &Path) -> Catalog {
    let options = Options::default().bundled(BundledMode::Never);
    Catalog::open_with(path, options).expect("the catalog opens")
}

pub(crate) fn knowledge(id: &str, description: &str) -> Entry {
    let value = json!({"id": id, "kind": "knowledge", "name": id, "description": description,
        "content": format!("# {id}\n\n{description}\n")});
    Entry::new(Skill::from_json(&value).expect("a sound skill").skill)
}

pub(crate) fn flow(id: &str, tool: &str) -> Entry {
    let mut entry = knowledge(id, "A flow for tests.");
    entry.skill.kind = Kind::FlowTemplate;
    entry.skill.content = String::new();
    entry.skill.steps = vec![Step::new(tool, Map::new())];
    entry
}

pub(crate) fn deprecated(mut entry: Entry) -> Entry {
    entry.skill.status = Status::Deprecated { reason: "old".to_owned(), replaced_by: None };
    entry
}

pub(crate) fn with(mut entry: Entry, subscriptions: &[&str]) -> Entry {
    entry.subscriptions = subscriptions.iter().map(|sub| (*sub).to_owned()).collect();
    entry
}

pub(crate) fn put(catalog: &Catalog, layer: Layer, entries: &[Entry]) {
    catalog.update(layer, &mut |_| Ok(Some(entries.to_vec()))).expect("the update commits");
}

pub(crate) fn ids(catalog: &Catalog) -> Vec<String> {
    ids_of(catalog, Narrowing::default())
}

pub(crate) fn ids_of(catalog: &Catalog, narrowing: Narrowing) -> Vec<String> {
    let mut view = catalog.view(narrowing);
    let pin = view.pin().expect("a pin");
    list(&pin)
}

pub(crate) fn list(look: &Look) -> Vec<String> {
    let page = look.list(&Filter::default(), 10_000, None).expect("a list");
    assert_eq!(page.total, page.skills.len() as u64);
    page.skills.iter().map(|skill| skill.id().to_owned()).collect()
}

/// Every way to ask for an id: each must agree.
pub(crate) fn sees(catalog: &Catalog, id: &str) -> bool {
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().expect("a pin");
    let got = pin.get(id).expect("get").is_some();
    let listed = list(&pin).iter().any(|known| known == id);
    let looked_up = pin.lookup(id).expect("lookup").iter().any(|skill| skill.id() == id);
    let prefixed = pin.prefix(id, 10).expect("prefix").iter().any(|skill| skill.id() == id);
    let near = pin.fuzzy(id, 10).expect("fuzzy").iter().any(|skill| skill.id() == id);
    let found =
        pin.search(id, &Filter::default(), 10).expect("search").hits.iter().any(|hit| hit.skill.id() == id);
    let answer = pin.match_request(id).expect("match");
    let matched = answer.skill.is_some_and(|skill| skill.id() == id);
    let all = [got, listed, looked_up, prefixed, near, found, matched];
    assert!(all.iter().all(|seen| *seen == got), "the queries disagree about {id}: {all:?}");
    got
}
