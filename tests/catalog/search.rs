//! Searches and matches through the whole catalog.

use repertoire::catalog::{LabelledQuery, evaluate};
use repertoire::{Catalog, Filter, Layer, LocalStatement, Narrowing};

use crate::support::{deprecated, knowledge, open, put};

/// Ids and scores of a search, its total and its confidence.
type Found = (Vec<(String, f32)>, u64, f32);

fn found(catalog: &Catalog, query: &str) -> Found {
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    let page = pin.search(query, &Filter::default(), 10).unwrap();
    let hits = page.hits.iter().map(|hit| (hit.skill.id().to_owned(), hit.score)).collect();
    (hits, page.total, page.confidence)
}

#[test]
fn a_search_does_not_depend_on_the_searches_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let (many, few) = (open(&dir.path().join("many")), open(&dir.path().join("few")));
    let words = ["camera", "photo", "map", "mail", "music", "alarm"];
    let entries: Vec<_> = (0..300)
        .map(|n| knowledge(&format!("s{n}"), &format!("{} {}", words[n % 6], words[n / 6 % 6])))
        .collect();
    put(&many, Layer::Local, &entries);
    put(&few, Layer::Local, &[knowledge("camera", "Take a photo."), knowledge("map", "Find places.")]);
    let asked: Vec<(&Catalog, &str)> =
        [(&many, "camera photo"), (&few, "photo"), (&many, "map"), (&few, ""), (&few, "find the map")]
            .into_iter()
            .collect();
    // A new thread has no buffers yet.
    let fresh: Vec<Found> = asked
        .iter()
        .map(|(catalog, query)| {
            std::thread::scope(|scope| scope.spawn(|| found(catalog, query)).join().unwrap())
        })
        .collect();
    assert_eq!(fresh[0].0.len(), 10);
    for _ in 0..2 {
        for ((catalog, query), expect) in asked.iter().zip(&fresh) {
            assert_eq!(&found(catalog, query), expect, "{query:?}");
        }
    }
}

#[test]
fn hidden_skills_leave_the_next_search() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    put(
        &catalog,
        Layer::Local,
        &[knowledge("camera", "Take a photo."), knowledge("gallery", "See a photo.")],
    );
    let mut view = catalog.view(Narrowing::default());
    let search = |pin: &repertoire::Look| pin.search("photo", &Filter::default(), 10).unwrap().hits.len();
    let before = view.snapshot().unwrap();
    assert_eq!(search(&before), 2);
    catalog.declare(LocalStatement::Hide("gallery".to_owned())).unwrap();
    assert_eq!((search(&before), search(&view.pin().unwrap())), (2, 1));
}

#[test]
fn of_skills_with_one_name_the_rest_of_the_request_decides() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    let named = |id: &str, description: &str| {
        let mut entry = knowledge(id, description);
        entry.skill.name = "Shop".to_owned();
        entry
    };
    let mut alias = knowledge("other", "Pay a bill in a shop.");
    alias.skill.aliases = vec!["shop".to_owned()];
    put(
        &catalog,
        Layer::Local,
        &[
            named("a", "Search for shoes."),
            named("b", "Pay a bill."),
            named("c", "Track a parcel."),
            deprecated(named("d", "Return something broken.")),
            alias,
        ],
    );
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    let rows = [
        ("pay my bill in the shop", "b"),
        ("shop: where is my parcel", "c"),
        ("shop", "a"),
        ("return what is broken to the shop", "a"),
    ];
    for (request, expect) in rows {
        let answer = pin.match_request(request).unwrap();
        assert_eq!(answer.skill.map(|skill| skill.id()), Some(expect), "{request}: {}", answer.reason);
        assert!(answer.reason.contains("equally specific"), "{}", answer.reason);
    }
}

#[test]
fn an_evaluation_asks_the_real_search() {
    let dir = tempfile::tempdir().unwrap();
    let catalog = open(dir.path());
    put(&catalog, Layer::Local, &[knowledge("camera", "Take a photo."), knowledge("map", "Find places.")]);
    let mut view = catalog.view(Narrowing::default());
    let pin = view.pin().unwrap();
    let label = |q: &str, relevant: &[&str]| {
        LabelledQuery::new(q, relevant.iter().map(|id| (*id).to_owned()).collect())
    };
    let queries =
        [label("photo", &["camera"]), label("places", &["map", "camera"]), label("camera", &["map"])];
    let figures = evaluate(&pin, &queries).unwrap();
    assert_eq!((figures.queries, figures.misses), (3, vec![2]));
    assert!((figures.recall_at_1 - 2.0 / 3.0).abs() < 1e-9 && (figures.recall_at_5 - 0.5).abs() < 1e-9);
    assert!(figures.by_language.is_empty() && figures.out_of_scope.is_none());
    assert_eq!(evaluate(&pin, &[]).unwrap().queries, 0);
}
