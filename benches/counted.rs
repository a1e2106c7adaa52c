//! One operation many times, for a profiler that counts instructions: see `callgrind.sh`.
//!
//! `counted FOLDER OPERATION [COUNT]` fills the folder with 10,000 skills on its first run. Only what happens in
//! [`measured`] is counted.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on should stop"
)]

mod support;

use std::hint::black_box;
use std::path::Path;

use repertoire::{Filter, Narrowing, View};

use support::questions::template_values;
use support::synthetic::TEMPLATE_ID;
use support::{Asked, asked, fill, open};

const SKILLS: usize = 10_000;
/// Different questions: every one is asked once before it counts, so that first touches are not in the figures.
const QUESTIONS: usize = 256;

type Call = Box<dyn FnMut(&mut View, &Asked, usize) -> usize>;

fn main() {
    // `cargo bench` passes `--bench`; without a folder there is nothing to do.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [folder, operation, rest @ ..] = &words[..] else {
        eprintln!("usage: counted FOLDER OPERATION [COUNT]; run it through benches/callgrind.sh");
        return;
    };
    let count: usize = rest.first().map_or(QUESTIONS, |count| count.parse().unwrap());
    let data = Path::new(folder).join("data");
    let catalog = if data.exists() { open(&data).unwrap() } else { fill(&data, SKILLS).unwrap() };
    if operation == "fill" {
        return;
    }
    let mut call = call(operation).unwrap_or_else(|| panic!("no operation {operation}"));
    let asked = asked(SKILLS, QUESTIONS);
    let mut view = catalog.view(Narrowing::default());
    for at in 0..QUESTIONS {
        black_box(call(&mut view, &asked, at));
    }
    println!("{}", measured(&mut call, &mut view, &asked, count));
}

/// What is counted; a name of its own, which the profiler looks for.
#[inline(never)]
fn measured(call: &mut Call, view: &mut View, asked: &Asked, count: usize) -> usize {
    (0..count).map(|at| call(view, asked, at % QUESTIONS)).sum()
}

fn call(operation: &str) -> Option<Call> {
    let all = Filter::default();
    let values = template_values();
    Some(match operation {
        "get" => Box::new(|view, asked, at| {
            view.pin().unwrap().get(&asked.ids[at]).unwrap().map_or(0, |skill| skill.name().len())
        }),
        "lookup" => Box::new(|view, asked, at| view.pin().unwrap().lookup(&asked.aliases[at]).unwrap().len()),
        "prefix" => {
            Box::new(|view, asked, at| view.pin().unwrap().prefix(&asked.prefixes[at], 10).unwrap().len())
        }
        "fuzzy" => Box::new(|view, asked, at| view.pin().unwrap().fuzzy(&asked.typos[at], 10).unwrap().len()),
        "search" => Box::new(move |view, asked, at| {
            view.pin().unwrap().search(&asked.requests[at], &all, 10).unwrap().hits.len()
        }),
        "match" => Box::new(|view, asked, at| {
            usize::from(view.pin().unwrap().match_request(&asked.requests[at]).unwrap().skill.is_some())
        }),
        "list" => Box::new(move |view, _, _| view.pin().unwrap().list(&all, 50, None).unwrap().skills.len()),
        "resolve" => Box::new(move |view, _, _| {
            view.pin().unwrap().resolve_text(TEMPLATE_ID, &values).unwrap().json().len()
        }),
        _ => return None,
    })
}
