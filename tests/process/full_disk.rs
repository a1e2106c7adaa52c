//! A full disk: revocations work, an import fails and leaves the catalog as it was.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Program, text};
use crate::skills::{skill, target, target_id, version, write_folder, write_lines};
use crate::watcher::Watcher;

/// A small file system in memory, gone when dropped.
struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Mounts one; `None`, with a message, where that is not possible.
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).expect("a folder");
        let said = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m,mode=0700", "repertoire-test"])
            .arg(at)
            .output();
        match said {
            Ok(output) if output.status.success() => Some(Self { at: at.to_owned() }),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).into_owned();
                eprintln!("SKIPPED: a small disk cannot be mounted here: {}", why.trim());
                None
            }
            Err(error) => {
                eprintln!("SKIPPED: a small disk cannot be mounted here: {error}");
                None
            }
        }
    }

    /// Writes until there is no byte left.
    fn fill(&self) -> PathBuf {
        let path = self.at.join("filler");
        let mut file = File::create(&path).expect("a file");
        for size in [65_536, 4_096, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
        drop(file);
        assert!(fs::write(self.at.join("one-more"), "x").is_err(), "the disk has room");
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whatever the test left open is closed by now; a lazy unmount cannot be refused.
        drop(Command::new("umount").arg("-l").arg(&self.at).status());
    }
}

#[test]
fn on_a_full_disk_hiding_works_and_an_import_leaves_the_old_catalog() {
    let program = Program::new();
    let at = program.path("small");
    let Some(disk) = SmallDisk::mount(&at) else { return };
    let program = program.with_data(&at.join("data"));
    let file = program.path("targets.skill.jsonl");
    write_lines(&file, (0..20).map(target).chain([skill("other", "Stays.")]));
    program.import(&file);
    let mut watcher = Watcher::start(program.data());
    watcher.watch(&target_id(0));
    let filler = disk.fill();

    let old = program.list();
    assert_eq!(old.len(), 21);
    let folder = program.path("in");
    write_folder(&folder, &version(1, 40));
    let answer = program.run(&["import", text(&folder)]).code(4).one_error_line();
    assert!(answer.stderr.contains("No space left"), "{}", answer.stderr);
    let json = program.run(&["import", text(&folder), "--json"]).code(4);
    assert!(json.stdout.contains("\"storage_failed\""), "{}", json.stdout);
    assert!(program.list() == old, "the failed import changed the catalog");
    program.run(&["verify"]).code(0);

    for number in 0..20 {
        let id = target_id(number);
        program.run(&["entitlements", "hide", &id]).code(0);
        program.run(&["get", &id]).code(1);
        assert_eq!(program.list().len(), 20 - number, "after {id}");
    }
    program.run(&["entitlements", "revoke", "some-subscription"]).code(0);
    let said = program.json(&["entitlements", "show"]);
    assert_eq!(said["hidden"].as_array().expect("ids").len(), 20, "{said}");
    assert_eq!(said["subscriptions"][0]["active"], false, "{said}");
    let returned = crate::random::now();
    let report = watcher.report();
    assert!(
        report.seen_by.iter().all(|moment| *moment < returned) && report.last_round > returned,
        "{report:?}"
    );
    watcher.end();

    fs::remove_file(filler).expect("the filler goes");
    program.import(&folder);
    assert_eq!(program.list().len(), 41, "with room the import works, and what was hidden stays hidden");
}

#[test]
fn when_ring_and_disk_are_full_a_statement_fails_loudly_and_works_again_with_room() {
    let program = Program::new();
    let at = program.path("small");
    let Some(disk) = SmallDisk::mount(&at) else { return };
    let program = program.with_data(&at.join("data"));
    let file = program.path("in.skill.jsonl");
    write_lines(&file, [target(0), target(1)].into_iter());
    program.import(&file);
    let filler = disk.fill();
    // By the library: a thousand processes would take long.
    let catalog = repertoire::Catalog::open(program.data()).expect("the catalog opens");
    let hide = |id: String| catalog.declare(repertoire::LocalStatement::Hide(id));
    let long = "long".repeat(30);
    let taken = (0..2_000).position(|number| hide(format!("{number}/{long}")).is_err());
    let taken = taken.expect("the ring is finite");
    assert!(taken > 300, "only {taken} statements found room");
    // Where a long statement does not fit, a short one may.
    let more = (0..3).position(|number| hide(format!("short-{number}")).is_err());
    let all = taken + more.expect("a long statement takes three records");
    let answer = program.run(&["entitlements", "hide", &target_id(0)]).code(4);
    let errors: Vec<&str> = answer.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(errors.len() == 1 && errors[0].contains("room on the disk"), "{}", answer.stderr);
    assert_eq!(program.json(&["entitlements", "show"])["hidden"].as_array().expect("ids").len(), all);
    assert_eq!(program.json(&["status"])["sync"]["state"], "SUSPENDED");
    program.run(&["get", &target_id(1)]).code(0);

    fs::remove_file(filler).expect("the filler goes");
    program.run(&["entitlements", "hide", &target_id(0)]).code(0);
    program.run(&["get", &target_id(0)]).code(1);
    program.run(&["get", &target_id(1)]).code(0);
    let status = program.json(&["status"]);
    assert_ne!(status["sync"]["state"], "SUSPENDED", "{status}");
}
