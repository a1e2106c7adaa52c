//! Times of our own operations at 10,000 skills: `cargo bench --bench own`.
//!
//! What takes less than 300 ns is chained: which question comes next depends on the answer before, so that the processor
//! cannot work on two at once, and what is seen is latency, not throughput. Every operation begins a query (a pin), as
//! a server does it, so that the check of epoch and entitlements is in all of them.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench that cannot go on should stop")]

mod support;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use repertoire::{Catalog, Filter, LocalStatement, Narrowing, SkillRef, View};

use support::questions::template_values;
use support::synthetic::TEMPLATE_ID;
use support::{Asked, asked, fill, open};

const SKILLS: usize = 10_000;
const QUESTIONS: usize = 4_096;

/// Calls with the number of a question; the next number depends on the answer.
fn chain(bencher: &mut Bencher<'_>, mut call: impl FnMut(usize) -> usize) {
    let zero = black_box(0_usize);
    let mut at = 0;
    bencher.iter(|| {
        let answer = call(at);
        at = (at + 1 + (answer & zero)) % QUESTIONS;
        answer
    });
}

fn got(view: &mut View, id: &str, read: impl FnOnce(SkillRef<'_>) -> usize) -> usize {
    view.pin().unwrap().get(id).unwrap().map_or(0, read)
}

fn benches(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let catalog = fill(&data, SKILLS).unwrap();
    let asked = asked(SKILLS, QUESTIONS);
    point_queries(criterion, &catalog, &asked);
    searches(criterion, &catalog, &asked);
    openings(criterion, &data, &asked);
}

fn point_queries(criterion: &mut Criterion, catalog: &Catalog, asked: &Asked) {
    let mut group = criterion.benchmark_group("10k");
    let mut view = catalog.view(Narrowing::default());
    group.bench_function("get by id", |b| {
        chain(b, |at| got(&mut view, &asked.ids[at], |skill| skill.kind() as usize + 1));
    });
    group.bench_function("get touching the record", |b| {
        chain(b, |at| got(&mut view, &asked.ids[at], |skill| skill.name().len() + skill.version().len()));
    });
    group.bench_function("alias, exact", |b| {
        chain(b, |at| view.pin().unwrap().lookup(&asked.aliases[at]).unwrap().len());
    });
    group.bench_function("prefix, ten skills", |b| {
        chain(b, |at| view.pin().unwrap().prefix(&asked.prefixes[at], 10).unwrap().len());
    });
    group.bench_function("fuzzy, ten skills", |b| {
        chain(b, |at| view.pin().unwrap().fuzzy(&asked.typos[at], 10).unwrap().len());
    });
    let values = template_values();
    group.bench_function("resolve ten steps, five parameters", |b| {
        b.iter(|| view.pin().unwrap().resolve_text(TEMPLATE_ID, &values).unwrap());
    });
    group.finish();
}

fn searches(criterion: &mut Criterion, catalog: &Catalog, asked: &Asked) {
    let mut group = criterion.benchmark_group("10k");
    let mut view = catalog.view(Narrowing::default());
    let all = Filter::default();
    group.bench_function("search, ten best", |b| {
        chain(b, |at| view.pin().unwrap().search(&asked.requests[at], &all, 10).unwrap().hits.len());
    });
    group.bench_function("match", |b| {
        chain(b, |at| {
            usize::from(view.pin().unwrap().match_request(&asked.requests[at]).unwrap().skill.is_some())
        });
    });
    group.bench_function("list, a page of 50", |b| {
        let mut cursor: Option<String> = None;
        b.iter(|| {
            let pin = view.pin().unwrap();
            let page = pin.list(&all, 50, cursor.as_deref()).unwrap();
            cursor.clone_from(&page.next_cursor);
            page.skills.len()
        });
    });
    group.finish();
}

/// What happens once a process, a revocation, or a caller.
fn openings(criterion: &mut Criterion, data: &std::path::Path, asked: &Asked) {
    let mut group = criterion.benchmark_group("10k");
    group.sample_size(20);
    group.bench_function("cold open to first get", |b| {
        // Closing is no part of it.
        b.iter_with_large_drop(|| {
            let mut view = open(data).unwrap().view(Narrowing::default());
            got(&mut view, &asked.ids[0], |skill| skill.name().len());
            view
        });
    });
    let (writer, reader) = (open(data).unwrap(), open(data).unwrap());
    let mut view = reader.view(Narrowing::default());
    group.bench_function("first query after a revocation", |b| {
        b.iter_custom(|times| {
            let mut sum = Duration::ZERO;
            for _ in 0..times {
                writer.declare(LocalStatement::Hide(asked.ids[1].clone())).unwrap();
                let begun = Instant::now();
                let hidden = got(&mut view, &asked.ids[1], |_| 1);
                sum += begun.elapsed();
                assert_eq!(hidden, 0);
                writer.declare(LocalStatement::Unhide(asked.ids[1].clone())).unwrap();
                view.pin().unwrap();
            }
            sum
        });
    });
    let mut number = 0_u32;
    group.bench_function("a view for a new caller", |b| {
        b.iter(|| {
            number += 1;
            // Another set each time, since equal ones are shared.
            let named = BTreeSet::from(["sub-03".to_owned(), format!("other-{number}")]);
            let mut view = reader.view(Narrowing::default().subscriptions(named));
            view.pin().unwrap().is_current()
        });
    });
    group.finish();
}

criterion_group!(own, benches);
criterion_main!(own);
