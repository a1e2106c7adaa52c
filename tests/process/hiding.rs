//! Hiding in one process while another queries: the other's first query that began after the command returned does
//! not see the skill.

use std::thread;
use std::time::{Duration, Instant};

use repertoire::LocalStatement;

use crate::program::{Program, text};
use crate::random::{Random, Scale, now};
use crate::skills::{skill, target, target_id, write_lines};
use crate::watcher::{QUERIES, Watcher};

/// What a hide command may take while others import: the whole process on a loaded machine, not the engine's part of it.
const HIDE_MAX: Duration = Duration::from_millis(1_500);

/// What a revocation may take within a process while another one imports.
const REVOKE_MAX: Duration = Duration::from_millis(200);

/// A catalog with so many targets among some other skills, and a watcher on it.
fn watched(targets: usize) -> (Program, Watcher) {
    let program = Program::new();
    let file = program.path("targets.skill.jsonl");
    let others = (0..50).map(|number| skill(&format!("other-{number}"), "Stands beside."));
    write_lines(&file, (0..targets).map(target).chain(others));
    program.import(&file);
    let watcher = Watcher::start(program.data());
    (program, watcher)
}

/// Hides a target that the watcher sees, with a first try that is killed after `killed_after`; how long the command
/// took.
fn hide(program: &Program, watcher: &mut Watcher, id: &str, killed_after: Option<Duration>) -> Duration {
    watcher.watch(id);
    let words = ["entitlements", "hide", id];
    if let Some(after) = killed_after {
        let mut first = program.start(&words);
        thread::sleep(after);
        first.kill().expect("the first try can be killed");
        first.wait().expect("the first try ends");
    }
    let began = Instant::now();
    let answer = program.run(&words);
    let took = began.elapsed();
    let returned = now();
    answer.code(0);
    let report = watcher.report();
    assert!(report.last_round > returned, "{id}: no query began afterwards: {report:?}");
    for (kind, seen) in QUERIES.iter().zip(report.seen_by) {
        assert!(
            seen < returned,
            "{id}, first try killed after {killed_after:?}: a {kind} that began {} ns after the command returned \
             still saw it",
            seen.saturating_sub(returned)
        );
    }
    took
}

#[test]
fn a_query_that_begins_after_hide_returned_does_not_see_the_skill() {
    let targets = Scale::of_this_run().pick(40, 200, 2_000);
    let (program, mut watcher) = watched(targets);
    let worst = (0..targets).map(|number| hide(&program, &mut watcher, &target_id(number), None)).max();
    eprintln!(
        "hide while another process queries: the slowest of {targets} commands took {:?}",
        worst.unwrap_or_default()
    );
    watcher.end();
    assert!(!program.list().keys().any(|id| id.starts_with("target-")));
}

#[test]
fn a_hide_that_was_killed_and_repeated_is_effective_when_the_repetition_returns() {
    let mut random = Random::new("killed hide");
    let targets = Scale::of_this_run().pick(40, 200, 2_000);
    let (program, mut watcher) = watched(targets + 1);
    let whole = hide(&program, &mut watcher, &target_id(targets), None);
    for number in 0..targets {
        let after = random.time(whole.mul_f32(1.2));
        hide(&program, &mut watcher, &target_id(number), Some(after));
    }
    watcher.end();
    assert!(!program.list().keys().any(|id| id.starts_with("target-")));
    program.run(&["verify"]).code(0);
}

#[test]
fn hiding_is_prompt_and_effective_while_a_third_process_imports_a_large_set() {
    let mut random = Random::new("hide during an import");
    let targets = 400;
    let large = Scale::of_this_run().pick(20_000, 100_000, 100_000);
    let (program, mut watcher) = watched(targets);
    let file = program.path("large.skill.jsonl");
    let many = (0..large).map(|number| {
        let mut one = skill(&format!("large-{number}"), "One of very many.");
        one["content"] = "Tap what is there.".into();
        one
    });
    write_lines(&file, many);
    // The engine's part alone, without the start of a process.
    let engine = repertoire::Catalog::open(program.data()).expect("the catalog opens");
    let mut acknowledged = Vec::new();
    let mut import = program.start(&["import", text(&file)]);
    let began = Instant::now();
    let mut hidden = Vec::new();
    for number in 0..targets {
        let killed_after = (number % 3 == 2).then(|| random.time(Duration::from_millis(20)));
        let id = target_id(number);
        let took = hide(&program, &mut watcher, &id, killed_after);
        assert!(took <= HIDE_MAX, "{id}: hide took {took:?} while an import ran");
        hidden.push((took, began.elapsed(), id));
        let asked = Instant::now();
        engine.declare(LocalStatement::Revoke(format!("nobody-{number}"))).expect("a revocation");
        acknowledged.push(asked.elapsed());
        if import.try_wait().expect("the import can be asked").is_some() {
            break;
        }
        // Spread over the whole import.
        thread::sleep(Duration::from_millis(50));
    }
    let import_took = began.elapsed();
    acknowledged.sort();
    let (half, all) = (acknowledged[acknowledged.len() / 2], acknowledged[acknowledged.len() - 1]);
    eprintln!("revoked within the process: half of them within {half:?}, all within {all:?}");
    // The long run has the machine for itself; elsewhere single ones may wait for a processor.
    assert!(Scale::of_this_run().pick(half, half, all) <= REVOKE_MAX, "half {half:?}, all {all:?}");
    hidden.sort();
    let (median, slowest) = (&hidden[hidden.len() / 2], &hidden[hidden.len() - 1]);
    eprintln!(
        "hide while {large} skills are imported: {} commands, half of them within {:?}, the slowest took {:?}, {:?} after \
         the import began, which took {import_took:?}",
        hidden.len(),
        median.0,
        slowest.0,
        slowest.1
    );
    assert!(hidden.len() > 2, "the import was over before anything could be hidden");
    assert!(import.wait().expect("the import ends").success());
    let set = program.list();
    assert!(
        hidden.iter().all(|(_, _, id)| !set.contains_key(id)),
        "the import's commit brought something back"
    );
    assert_eq!(set.len(), large + 50 + targets - hidden.len(), "something was lost");
    watcher.end();
}
