//! Every byte of every file of a small catalog changed, every truncation, splices and foreign files: an error or a state
//! that was published, never a panic, never a mix, and nothing that was hidden is shown.
//!
//! `REPERTOIRE_TEST_SCALE=long` takes every byte; the smaller runs take a part of them, the larger one of headers.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::{amount, knowledge, open, process};
use crate::catalog::{Catalog, Filter, SkillRef};
use crate::entitlement::{LocalStatement, Narrowing};
use crate::error::{Error, Result};
use crate::model::{Entry, Layer};
use crate::snapshot::names;
use crate::snapshot::storage::{MemoryStorage, Storage as _};

/// Bytes at the beginning of a file of which more are tried.
const HEAD: usize = 448;
/// Hidden, and folded into both manifests.
const SECRET: &str = "secret";
/// Hidden by a statement that stands in the ring alone.
const SECRET_SYNCED: &str = "secret-synced";
/// How often a query may find damage before it is healed.
const TRIES: usize = 4;

/// Id and description of what a layer shows.
type Shown = BTreeSet<(String, String)>;

/// A catalog, and what was ever published of its layers.
struct Prepared {
    storage: Arc<MemoryStorage>,
    synced: Vec<Shown>,
    local: Vec<Shown>,
}

/// A file and what stands in its place.
struct Twin {
    what: String,
    name: String,
    bytes: Option<Vec<u8>>,
}

fn prepared() -> &'static Prepared {
    static ONCE: OnceLock<Prepared> = OnceLock::new();
    ONCE.get_or_init(|| prepare().unwrap())
}

fn synced(id: &str, description: &str) -> Entry {
    let mut entry = knowledge(id, description);
    entry.subscriptions = vec!["s".to_owned()];
    entry
}

fn prepare() -> Result<Prepared> {
    let storage = Arc::new(MemoryStorage::new());
    let catalog = open(&storage)?;
    let put = |layer, entries: Vec<Entry>| catalog.update(layer, &mut |_| Ok(Some(entries.clone())));
    catalog.declare(LocalStatement::Grant("s".to_owned()))?;
    catalog.declare(LocalStatement::Hide(SECRET.to_owned()))?;
    put(Layer::Synced, vec![synced("one", "The first one."), synced(SECRET_SYNCED, "Not for you.")])?;
    let local: Vec<Entry> = (0..6).map(|n| knowledge(&format!("local-{n}"), "Stands beside.")).collect();
    put(Layer::Local, local)?;
    put(
        Layer::Synced,
        vec![
            synced("one", "The second one."),
            synced("two", "Another one."),
            synced(SECRET_SYNCED, "Not yours."),
        ],
    )?;
    let changed = vec![knowledge("local-2", "Changed later."), knowledge(SECRET, "Hidden by the operator.")];
    catalog.apply(Layer::Local, changed, &BTreeSet::from(["local-4".to_owned()]))?;
    catalog.compact()?;
    catalog.declare(LocalStatement::Hide(SECRET_SYNCED.to_owned()))?;
    let shown = |pairs: &[(&str, &str)]| -> Shown {
        pairs.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
    };
    let beside = "Stands beside.";
    let before: Vec<(String, &str)> = (0..6).map(|n| (format!("local-{n}"), beside)).collect();
    let before: Vec<(&str, &str)> = before.iter().map(|(id, text)| (id.as_str(), *text)).collect();
    let after: Vec<(&str, &str)> = before
        .iter()
        .filter(|(id, _)| *id != "local-4")
        .map(|(id, text)| (*id, if *id == "local-2" { "Changed later." } else { text }))
        .collect();
    Ok(Prepared {
        storage,
        synced: vec![
            shown(&[("one", "The second one."), ("two", "Another one.")]),
            shown(&[("one", "The first one.")]),
            Shown::new(),
        ],
        local: vec![shown(&after), shown(&before)],
    })
}

/// Every way to ask; an answer of one must not contradict that of another.
fn ask(catalog: &Catalog) -> Result<[Shown; 2]> {
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin()?;
    let mut all = [Shown::new(), Shown::new()];
    let page = pin.list(&Filter::default(), 50, None)?;
    for skill in &page.skills {
        let place = usize::from(skill.layer() != Layer::Synced);
        assert_eq!(skill.content()?, format!("# {}\n\n{}\n", skill.id(), skill.description()));
        assert_eq!(skill.to_skill()?.name, format!("The {}", skill.id()));
        all[place].insert((skill.id().to_owned(), skill.description().to_owned()));
    }
    let listed: BTreeSet<&str> = page.skills.iter().map(SkillRef::id).collect();
    for id in ["one", "two", "local-2", "local-4", SECRET, SECRET_SYNCED] {
        let there = listed.contains(id);
        assert_eq!(pin.get(id)?.is_some(), there, "get {id}");
        assert_eq!(pin.lookup(id)?.iter().any(|skill| skill.id() == id), there, "lookup {id}");
        assert_eq!(pin.prefix(id, 20)?.iter().any(|skill| skill.id() == id), there, "prefix {id}");
    }
    for (word, ids) in [("stands", &listed), ("another", &listed), ("not", &listed), ("hidden", &listed)] {
        for hit in &pin.search(word, &Filter::default(), 20)?.hits {
            assert!(ids.contains(hit.skill.id()), "search for {word} found {}", hit.skill.id());
        }
    }
    for secret in [SECRET, SECRET_SYNCED] {
        assert!(!listed.contains(secret), "{secret} is shown");
    }
    Ok(all)
}

/// Opens a twin and asks until it answers.
fn check(twin: &Twin) {
    let prepared = prepared();
    let storage = Arc::new(prepared.storage.copy());
    storage.poke(&twin.name, twin.bytes.as_deref());
    let catalog = open(&process(&storage)).expect(&twin.what);
    // A query may find damage at its first touch; the next one finds it healed.
    let answer = (0..TRIES).find_map(|_| match ask(&catalog) {
        Ok(found) => Some(found),
        Err(Error::Storage(_)) => None,
        Err(error) => panic!("{}: {error}", twin.what),
    });
    let Some([synced, local]) = answer else { panic!("{}: never healed", twin.what) };
    assert!(prepared.synced.contains(&synced), "{}: {synced:?}", twin.what);
    assert!(prepared.local.contains(&local), "{}: {local:?}", twin.what);
    if synced.is_empty() {
        // Nothing synced is an answer only together with the word for it.
        assert_eq!(catalog.status().unwrap().sync.state, "SUSPENDED", "{}", twin.what);
    }
    // Life goes on, and what was hidden stays so over the next changes.
    catalog.apply(Layer::Local, vec![knowledge("new", "Comes later.")], &BTreeSet::new()).unwrap();
    catalog.fold().unwrap();
    let [_, local] = ask(&catalog).unwrap();
    assert!(local.contains(&("new".to_owned(), "Comes later.".to_owned())), "{}", twin.what);
}

fn check_all(twins: &[Twin]) {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for part in twins.chunks(twins.len().div_ceil(threads).max(1)) {
            scope.spawn(|| part.iter().for_each(check_loudly));
        }
    });
}

/// Says which twin it was if something goes wrong.
fn check_loudly(twin: &Twin) {
    let done = std::panic::catch_unwind(|| check(twin));
    if let Err(panic) = done {
        eprintln!("at {}", twin.what);
        std::panic::resume_unwind(panic);
    }
}

/// Names and bytes of all files that hold something.
fn files() -> Vec<(String, Vec<u8>)> {
    let storage = &prepared().storage;
    let names = storage.list().unwrap();
    let each = names.into_iter().filter_map(|name| {
        let bytes = storage.peek(&name)?;
        (!bytes.is_empty()).then_some((name, bytes))
    });
    each.collect()
}

/// The offsets of a file that are tried: one in so many, in each file others.
fn offsets(name: &str, bytes: &[u8], (in_head, stride): (usize, usize)) -> Vec<usize> {
    // The ring and the page are zeros behind what is used.
    let sparse = matches!(name, names::RING | names::EPOCH);
    let stride = if sparse { stride.saturating_mul(31) } else { stride };
    let first = HEAD.min(bytes.len());
    let shift = name.bytes().map(usize::from).sum::<usize>() % stride;
    (shift % in_head..first).step_by(in_head).chain((first + shift..bytes.len()).step_by(stride)).collect()
}

#[test]
fn any_changed_byte_of_any_file_is_noticed_or_harmless() {
    let mut twins = Vec::new();
    for (name, bytes) in files() {
        for at in offsets(&name, &bytes, (amount(11, 2, 1) as usize, amount(149, 23, 1) as usize)) {
            let mut twin = bytes.clone();
            twin[at] ^= 1 << (at % 8);
            twins.push(Twin { what: format!("{name}: byte {at}"), name: name.clone(), bytes: Some(twin) });
        }
    }
    eprintln!("{} changed bytes", twins.len());
    check_all(&twins);
}

#[test]
fn any_truncation_of_any_file_is_noticed() {
    let mut twins = Vec::new();
    for (name, bytes) in files() {
        for at in offsets(&name, &bytes, (amount(31, 5, 1) as usize, amount(397, 61, 1) as usize)) {
            let what = format!("{name}: cut to {at}");
            twins.push(Twin { what, name: name.clone(), bytes: Some(bytes[..at].to_vec()) });
        }
    }
    eprintln!("{} truncations", twins.len());
    check_all(&twins);
}

#[test]
fn spliced_swapped_foreign_and_missing_files_are_noticed() {
    let files = files();
    let mut twins = Vec::new();
    for (name, bytes) in &files {
        twins.push(Twin { what: format!("{name} is missing"), name: name.clone(), bytes: None });
        let foreign =
            [b"not ours".to_vec(), vec![0; 5_000], vec![0xff; 70_000], b"{\"layers\":{}}\n".to_vec()];
        for foreign in foreign {
            let what = format!("{name}: {} foreign bytes", foreign.len());
            twins.push(Twin { what, name: name.clone(), bytes: Some(foreign) });
        }
        for (other, others) in files.iter().filter(|(other, _)| other != name) {
            let whole = format!("{other} in the place of {name}");
            twins.push(Twin { what: whole, name: name.clone(), bytes: Some(others.clone()) });
            let parts = amount(2, 6, 40) as usize;
            for part in 1..parts {
                let cut = bytes.len().min(others.len()) * part / parts;
                let spliced = [&bytes[..cut], &others[cut..]].concat();
                let what = format!("{name} up to {cut}, then {other}");
                twins.push(Twin { what, name: name.clone(), bytes: Some(spliced) });
            }
        }
    }
    eprintln!("{} splices and foreign files", twins.len());
    check_all(&twins);
}
