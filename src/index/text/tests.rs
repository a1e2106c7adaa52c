//! Properties of the whole module: the naive reference, non-interference, hostile bytes.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::analysis::Analyzer;
use super::features::{Class, features, only_grammar};
use super::hash::TermHash;
use super::search::Found;
use super::weights;
use super::{Fields, Part, Scratch, Sight, TextBuilder, TextIndex, search};

/// A small skill as owned text.
#[derive(Clone, Debug)]
struct Doc {
    name: String,
    description: String,
    alias: String,
    example: String,
    tag: String,
    body: String,
    deprecated: bool,
    visible: bool,
}

const WORDS: [&str; 24] = [
    "open",
    "opens",
    "camera",
    "Camera",
    "wifi",
    "settings",
    "the",
    "of",
    "send",
    "message",
    "photo",
    "photos",
    "openCamera",
    "打开",
    "相机",
    "的",
    "カメラ",
    "카메라를",
    "Fotos",
    "schön",
    "Настройки",
    "كاميرا",
    "mp3",
    "x",
];

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), words).prop_map(|words| words.join(" "))
}

fn doc() -> impl Strategy<Value = Doc> {
    (
        text(1..3),
        text(0..6),
        text(0..2),
        text(0..5),
        text(0..2),
        text(0..20),
        prop::bool::weighted(0.2),
        any::<bool>(),
    )
        .prop_map(|(name, description, alias, example, tag, body, deprecated, visible)| Doc {
            name,
            description,
            alias,
            example,
            tag,
            body,
            deprecated,
            visible,
        })
}

/// Ids whose order is not the order of insertion.
fn id(part: usize, doc: usize) -> String {
    format!("{:02}-{part}-{doc}", (doc * 7 + part * 3) % 11)
}

fn built(part: usize, docs: &[Doc]) -> Vec<u8> {
    let mut builder = TextBuilder::new();
    for (number, doc) in docs.iter().enumerate() {
        builder.add(&Fields {
            id: &id(part, number),
            deprecated: doc.deprecated,
            name: &doc.name,
            description: &doc.description,
            tags: &[&doc.tag],
            aliases: &[&doc.alias],
            examples: &[&doc.example],
            body: &doc.body,
        });
    }
    builder.finish()
}

fn bits(docs: &[Doc]) -> Vec<u64> {
    let mut bits = vec![0; docs.len().div_ceil(64)];
    for (number, _) in docs.iter().enumerate().filter(|(_, doc)| doc.visible) {
        bits[number / 64] |= 1 << (number % 64);
    }
    bits
}

/// What the engine answers: hits, total, confidence.
fn answer(world: &[Vec<Doc>], query: &str, limit: usize) -> (Vec<Found>, u32, f32) {
    let bytes: Vec<_> = world.iter().enumerate().map(|(part, docs)| built(part, docs)).collect();
    let visible: Vec<_> = world.iter().map(|docs| bits(docs)).collect();
    let indexes: Vec<_> = bytes.iter().map(|bytes| TextIndex::open(bytes).expect("own bytes")).collect();
    let sights: Vec<_> =
        indexes.iter().zip(&visible).map(|(index, bits)| Sight::new(bits, index.docs())).collect();
    let parts: Vec<_> = indexes
        .iter()
        .zip(&visible)
        .zip(&sights)
        .map(|((index, visible), sight)| Part { index: *index, visible, sight, filter: None })
        .collect();
    let mut scratch = Scratch::new();
    let tie = |a: (u32, u32), b: (u32, u32)| {
        (a.0, id(a.0 as usize, a.1 as usize)).cmp(&(b.0, id(b.0 as usize, b.1 as usize)))
    };
    let answer = search(&parts, query, limit, &tie, &mut scratch);
    (answer.hits.to_vec(), answer.total, answer.confidence)
}

/// Weighted frequencies and length of one document, straight from the definition.
fn frequencies(doc: &Doc) -> (HashMap<TermHash, u32>, u32) {
    let mut analyzer = Analyzer::new();
    let (mut found, mut length) = (HashMap::new(), 0);
    let mut words = 0;
    features(&mut analyzer, &doc.body, false, &mut |feature| {
        words += u32::from(feature.counts);
        if feature.class != Class::Function {
            *found.entry(feature.term).or_insert(0) += 1;
        }
    });
    for count in found.values_mut() {
        *count = weights::body_frequency(*count, words);
    }
    let grammar = only_grammar(&mut analyzer, &doc.name);
    for (text, weight, functions) in [
        (&doc.name, weights::NAME, grammar),
        (&doc.description, weights::DESCRIPTION, false),
        (&doc.tag, weights::TAG, false),
        (&doc.alias, weights::ALIAS, true),
        (&doc.example, weights::EXAMPLE, true),
    ] {
        features(&mut analyzer, text, true, &mut |feature| {
            if feature.class == Class::Function && !functions {
                return;
            }
            length += if feature.counts { weight } else { 0 };
            *found.entry(feature.term).or_insert(0) += weight;
        });
    }
    (found, length)
}

/// The reference: every visible document scored from its own text, no index.
fn naive(world: &[Vec<Doc>], query: &str, limit: usize) -> (Vec<Found>, u32) {
    let mut terms: Vec<(TermHash, Class, u32)> = Vec::new();
    features(&mut Analyzer::new(), query, true, &mut |feature| match terms
        .iter_mut()
        .find(|term| term.0 == feature.term)
    {
        Some(term) => term.2 += 1,
        None => terms.push((feature.term, feature.class, 1)),
    });
    let mut seen = BTreeMap::new();
    for (part, docs) in world.iter().enumerate() {
        for (number, doc) in docs.iter().enumerate().filter(|(_, doc)| doc.visible) {
            seen.insert((part, number), (doc.deprecated, frequencies(doc)));
        }
    }
    let visible = u32::try_from(seen.len()).expect("small");
    let weights: Vec<u64> = terms
        .iter()
        .map(|(term, class, times)| {
            let holders = seen.values().filter(|(_, (found, _))| found.contains_key(term)).count();
            let holders = u32::try_from(holders).expect("small");
            let common = *class == Class::Piece && holders > (visible / 10).max(50);
            let weight = weights::idf(visible, holders) * weights::class(*class);
            let weight = if *times > 1 { weight * 91 / 64 } else { weight };
            if holders == 0 || common { 0 } else { u64::from(weight) }
        })
        .collect();
    let sum: u64 = weights.iter().sum();
    let mut hits = Vec::new();
    for ((part, number), (deprecated, (found, length))) in &seen {
        let mut score = 0;
        for ((term, ..), weight) in terms.iter().zip(&weights) {
            if let Some(frequency) = found.get(term) {
                let factor = weight * 65_535 * 256 / (sum * 255);
                score += (u64::from(weights::impact(*frequency, *length)) * factor) >> 8;
            }
        }
        if score >= u64::from(weights::SCORE_MIN) {
            let score = u32::try_from(score).expect("at most 65,535");
            hits.push((*deprecated, std::cmp::Reverse(score), *part, id(*part, *number), *number));
        }
    }
    hits.sort();
    let total = u32::try_from(hits.len()).expect("small");
    let found = hits.into_iter().take(limit).map(|(deprecated, score, part, _, number)| Found {
        part: u32::try_from(part).expect("small"),
        doc: u32::try_from(number).expect("small"),
        score: score.0,
        deprecated,
    });
    (found.collect(), total)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_index_answers_what_the_naive_scorer_answers(
        world in prop::collection::vec(prop::collection::vec(doc(), 0..90), 1..4),
        query in text(0..8),
        limit in 0usize..15,
    ) {
        let (hits, total, _) = answer(&world, &query, limit);
        let (expected, expected_total) = naive(&world, &query, limit);
        prop_assert_eq!(hits, expected);
        prop_assert_eq!(total, expected_total);
    }

    #[test]
    fn hidden_documents_change_no_answer(
        world in prop::collection::vec(prop::collection::vec(doc(), 0..90), 1..4),
        others in prop::collection::vec(doc(), 1..40),
        query in text(0..8),
    ) {
        let mut changed = world.clone();
        let mut others = others.iter().cycle();
        for doc in changed.iter_mut().flatten().filter(|doc| !doc.visible) {
            *doc = Doc { visible: false, ..others.next().cloned().unwrap_or_else(|| doc.clone()) };
        }
        prop_assert_eq!(answer(&world, &query, 10), answer(&changed, &query, 10));
        // Nor does their number, nor which part they are in.
        for docs in &mut changed {
            docs.extend(others.by_ref().take(30).map(|doc| Doc { visible: false, ..doc.clone() }));
        }
        prop_assert_eq!(answer(&world, &query, 10), answer(&changed, &query, 10));
    }

    #[test]
    fn changed_bytes_never_panic(
        docs in prop::collection::vec(doc(), 1..20),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
        query in text(1..8),
    ) {
        let mut bytes = built(0, &docs);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let whole = bytes.len();
        for bytes in [&bytes[..], &bytes[..cut.index(whole)]] {
            if let Ok(index) = TextIndex::open(bytes) {
                let visible = vec![u64::MAX; 2];
                let sight = Sight::new(&visible, index.docs().min(128));
                let parts = [Part { index, visible: &visible, sight: &sight, filter: Some(&visible) }];
                let mut scratch = Scratch::new();
                search(&parts, &query, 10, &|a, b| a.cmp(&b), &mut scratch);
                search(&parts, &query, 10, &|a, b| a.cmp(&b), &mut scratch);
            }
        }
    }

    #[test]
    fn any_query_is_answered(query in any::<String>(), docs in prop::collection::vec(doc(), 1..5)) {
        let (hits, ..) = answer(&[docs], &query, 10);
        prop_assert!(hits.len() <= 5);
    }
}

#[test]
fn the_same_documents_give_the_same_bytes_and_no_documents_an_empty_index() {
    let empty = TextBuilder::new().finish();
    assert_eq!(TextIndex::open(&empty).expect("own bytes").docs(), 0);
    let doc = Fields { id: "a", name: "Open camera", body: "shutter", ..Fields::default() };
    let build = || {
        let mut builder = TextBuilder::new();
        builder.add(&doc);
        builder.finish()
    };
    assert_eq!(build(), build());
    assert!(TextIndex::open(b"RTX").is_err());
    assert!(TextIndex::open(&[0; 64]).is_err_and(|error| error.contains("build the snapshot again")));
}
