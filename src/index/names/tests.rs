//! Names against naive maps.

use super::{Entry, KeyKind, Names, build};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const KINDS: [KeyKind; 4] = [KeyKind::Id, KeyKind::Name, KeyKind::Alias, KeyKind::Tag];

fn uses() -> impl Strategy<Value = Vec<(String, Entry)>> {
    let key = prop_oneof!["[ab]{1,12}", "[ab\0]{1,4}", "[a-c]{1,4}", "[打开abé]{1,5}", "open the [a-c]{1,3}"];
    let one = (key, 0_usize..4, 0_u32..90)
        .prop_map(|(key, kind, number)| (key, Entry { kind: KINDS[kind], number }));
    proptest::collection::vec(one, 0..120)
}

fn section(uses: &[(String, Entry)]) -> Vec<u8> {
    build(uses.iter().map(|(key, entry)| (key.as_str(), *entry))).unwrap()
}

/// The textbook table.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

proptest! {
    #[test]
    fn look_ups_equal_a_tree_map(uses in uses(), probes in proptest::collection::vec("[abc打开]{0,10}", 5)) {
        let bytes = section(&uses);
        let names = Names::open(&bytes).unwrap();
        names.verify().unwrap();
        let mut map: BTreeMap<&str, BTreeSet<Entry>> = BTreeMap::new();
        for (key, entry) in &uses {
            map.entry(key).or_default().insert(*entry);
        }
        let keys: Vec<&str> = map.keys().copied().collect();
        prop_assert_eq!(names.len(), keys.len());
        for (rank, key) in (0..).zip(&keys) {
            prop_assert_eq!(names.key(rank).unwrap(), *key);
            prop_assert_eq!(names.find(key).unwrap(), Some(rank));
            let entries: Vec<Entry> = names.entries(rank).unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(entries, map[key].iter().copied().collect::<Vec<_>>());
        }
        let cut: Vec<String> = keys.iter().map(|k| k.chars().take(k.chars().count() / 2 + 1).collect()).collect();
        let zeros = keys.iter().map(|k| format!("{}\0", k.chars().take(3).collect::<String>())).collect::<Vec<_>>();
        for text in probes.iter().chain(&cut).chain(&zeros) {
            let found: Vec<&str> = names.prefix(text).unwrap().map(|r| names.key(r.unwrap()).unwrap()).collect();
            prop_assert_eq!(found, keys.iter().copied().filter(|k| k.starts_with(text.as_str())).collect::<Vec<_>>());
            prop_assert_eq!(names.find(text).unwrap().is_some(), map.contains_key(text.as_str()));
        }
    }

    #[test]
    fn fuzzy_equals_the_textbook_table(uses in uses(), probes in proptest::collection::vec("[abc打开é]{0,10}", 5)) {
        let bytes = section(&uses);
        let names = Names::open(&bytes).unwrap();
        let keys: BTreeSet<&str> = uses.iter().map(|(key, _)| key.as_str()).collect();
        for text in probes.iter().map(String::as_str).chain(keys.iter().copied().take(5)) {
            for limit in 0..3_u8 {
                let found: Vec<(u8, &str)> = names
                    .fuzzy(text, limit)
                    .unwrap()
                    .into_iter()
                    .map(|near| (near.distance, names.key(near.rank).unwrap()))
                    .collect();
                let mut expected: Vec<(u8, &str)> =
                    keys.iter().map(|key| (u8::try_from(distance(text, key)).unwrap(), *key)).collect();
                expected.retain(|(distance, _)| *distance <= limit);
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn flipped_bytes_are_never_a_panic(
        uses in uses(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut: prop::sample::Index,
    ) {
        let mut bytes = section(&uses);
        for (at, with) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= with;
        }
        for end in [cut.index(bytes.len() + 1), bytes.len()] {
            let Ok(names) = Names::open(&bytes[..end]) else { continue };
            let _ = names.verify();
            for (key, _) in uses.iter().take(10) {
                let _ = (names.find(key), names.fuzzy(key, 1), names.fuzzy(key, 2));
                if let Ok(found) = names.prefix(key) {
                    for rank in found.flatten() {
                        let _ = names.entries(rank).map(|entries| entries.for_each(drop));
                    }
                }
            }
        }
    }

    #[test]
    fn the_order_of_the_uses_does_not_change_the_bytes(mut uses in uses()) {
        let bytes = section(&uses);
        uses.reverse();
        prop_assert_eq!(section(&uses), bytes);
    }
}

#[test]
fn an_empty_section_answers_nothing() {
    let bytes = build([("", Entry { kind: KeyKind::Name, number: 1 })]).unwrap();
    let names = Names::open(&bytes).unwrap();
    names.verify().unwrap();
    assert_eq!(names.len(), 0);
    assert_eq!(names.find("").unwrap(), None);
    assert_eq!(names.prefix("").unwrap().count(), 0);
    assert_eq!(names.fuzzy("a", 2).unwrap(), []);
}

#[test]
fn a_number_beyond_24_bits_is_refused() {
    assert!(build([("a", Entry { kind: KeyKind::Alias, number: 1 << 24 })]).is_err());
    assert!(build([("a", Entry { kind: KeyKind::Alias, number: (1 << 24) - 1 })]).is_ok());
}

#[test]
fn a_very_long_request_finds_nothing_quickly() {
    let bytes = build([("camera", Entry { kind: KeyKind::Name, number: 0 })]).unwrap();
    let names = Names::open(&bytes).unwrap();
    assert_eq!(names.fuzzy(&"c".repeat(100_000), 2).unwrap(), []);
    assert_eq!(names.prefix(&"camera".repeat(1_000)).unwrap().count(), 0);
}
