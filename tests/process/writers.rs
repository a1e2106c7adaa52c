//! Several processes that write at once: nothing is lost.

use std::thread;

use crate::program::Program;
use crate::random::Scale;
use crate::skills::{Set, version, write_folder};

/// A set whose ids begin with the writer's name.
fn set_of(writer: &str, number: usize) -> Set {
    version(number, 40)
        .into_iter()
        .map(|(id, description)| (format!("{writer}/{id}"), format!("{writer}: {description}")))
        .collect()
}

#[test]
fn imports_of_different_folders_at_once_lose_nothing() {
    let rounds = Scale::of_this_run().pick(8, 20, 100);
    let program = Program::new();
    let writers = ["ann", "bob"];
    for number in 0..rounds {
        thread::scope(|scope| {
            for writer in writers {
                let program = &program;
                scope.spawn(move || {
                    // Two changes of each without waiting for the other.
                    for step in 0..2 {
                        let folder = program.path(writer);
                        write_folder(&folder, &set_of(writer, 2 * number + step));
                        program.import(&folder);
                    }
                });
            }
            scope.spawn(|| {
                program.run(&["entitlements", "hide", &format!("nothing-{number}")]).code(0);
            });
        });
        let expected: Set = writers.iter().flat_map(|writer| set_of(writer, 2 * number + 1)).collect();
        assert!(program.list() == expected, "round {number}: {:?}", program.list());
    }
    let said = program.json(&["entitlements", "show"]);
    assert_eq!(said["hidden"].as_array().expect("ids").len(), rounds, "a statement was lost: {said}");
    program.run(&["verify"]).code(0);
}

#[test]
fn the_first_processes_of_a_directory_may_come_at_once() {
    for _ in 0..Scale::of_this_run().pick(4, 10, 50) {
        let program = Program::new();
        thread::scope(|scope| {
            for number in 0..4 {
                let program = &program;
                scope.spawn(move || {
                    let id = format!("nothing-{number}");
                    program.run(&["entitlements", "hide", &id]).code(0);
                });
            }
        });
        let said = program.json(&["entitlements", "show"]);
        assert_eq!(said["hidden"].as_array().expect("ids").len(), 4, "{said}");
    }
}
