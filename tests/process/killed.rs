//! `kill -9` at any point of an import: the old catalog or the new one, never a mix.

use std::fs::{self, File};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::program::{Program, text};
use crate::random::{Random, Scale};
use crate::skills::{Set, version, write_folder};

const SKILLS: usize = 300;
/// Files that a directory always has: `CURRENT`, `PREVIOUS`, `LOCK`, `epoch`, `revocations`.
const FIXED_FILES: usize = 5;
/// More than these files hold: a ring, a page and two manifests.
const FIXED_BYTES: u64 = 1024 * 1024;
/// Files that are kept from collection for a minute after they were replaced.
const GRACE: Duration = Duration::from_mins(1);

#[test]
fn an_import_killed_at_any_time_leaves_the_old_or_the_new_catalog() {
    kill_imports("import killed at a time", &|child, _, whole, random| {
        kill_at_a_time(child, random.time(whole.mul_f32(1.1)))
    });
}

#[test]
fn an_import_killed_while_its_files_appear_leaves_the_old_or_the_new_catalog() {
    kill_imports("import killed among its files", &|child, program, _, random| {
        let files = random.below(6) + 1;
        kill_after_new_files(child, program, files, random.time(Duration::from_millis(2)))
    });
}

/// Ends an import at a moment that it chooses, and says when that was. Gets how long a whole import takes.
type Kill = dyn Fn(Child, &Program, Duration, &mut Random) -> String;

fn kill_imports(name: &str, kill: &Kill) {
    let mut random = Random::new(name);
    let program = Program::new();
    let folder = program.path("in");
    let mut old = version(0, SKILLS);
    write_folder(&folder, &old);
    let began = Instant::now();
    program.import(&folder);
    let mut whole = began.elapsed();
    assert!(program.list() == old, "the first import is there");
    let mut per_import =
        Written { files: program.files().len() - FIXED_FILES, bytes: bytes(&program, &program.files()) };
    let mut commits = vec![Instant::now()];
    let (mut kept, mut replaced) = (0, 0);
    for round in 0..Scale::of_this_run().pick(20, 60, 500) {
        let tried = version(2 * round + 1, SKILLS);
        write_folder(&folder, &tried);
        let child = program.start(&["import", text(&folder)]);
        let moment = kill(child, &program, whole, &mut random);
        if check(&program, &old, &tried, &moment) == tried {
            replaced += 1;
            commits.push(Instant::now());
        } else {
            kept += 1;
        }
        // Somebody corrects the files and imports again: what the killed import had written is of no use any more.
        let repeated = version(2 * round + 2, SKILLS);
        write_folder(&folder, &repeated);
        let before = program.files();
        let began = Instant::now();
        program.import(&folder);
        whole = began.elapsed();
        commits.push(Instant::now());
        let new: Vec<String> = program.files().into_iter().filter(|name| !before.contains(name)).collect();
        per_import.files = per_import.files.max(new.len());
        per_import.bytes = per_import.bytes.max(bytes(&program, &new));
        assert!(program.list() == repeated, "{moment}: the repeated import is not what the list says");
        old = repeated;
    }
    eprintln!("{name}: {kept} kept the old catalog, {replaced} had the new one");
    assert!(kept > 0, "no import was killed before its commit");
    check_garbage(&program, name, &commits, per_import);
    assert!(program.list() == old, "compact removed what is in use");
    program.run(&["verify"]).code(0);
}

/// Kills after a time.
fn kill_at_a_time(mut child: Child, after: Duration) -> String {
    thread::sleep(after);
    end(&mut child);
    format!("killed after {after:?}")
}

/// Kills a moment after the data directory has got so many names that it did not have before.
fn kill_after_new_files(mut child: Child, program: &Program, files: u64, later: Duration) -> String {
    let before = program.files();
    let mut seen = std::collections::BTreeSet::new();
    while (seen.len() as u64) < files && child.try_wait().expect("the child can be asked").is_none() {
        seen.extend(program.files().into_iter().filter(|name| !before.contains(name)));
    }
    let began = Instant::now();
    while began.elapsed() < later {
        std::hint::spin_loop();
    }
    end(&mut child);
    format!("killed {later:?} after {seen:?}")
}

fn end(child: &mut Child) {
    child.kill().expect("the child can be killed");
    child.wait().expect("the child ends");
}

/// What the list says, which is one of the two sets; every byte is sound.
fn check(program: &Program, old: &Set, tried: &Set, moment: &str) -> Set {
    let found = program.list();
    let mixed = found != *old && found != *tried;
    assert!(!mixed, "{moment}: {} skills, neither the old nor the new set: {found:?}", found.len());
    program.run(&["verify"]).code(0);
    found
}

/// What killed imports left is collected after an hour, whatever their number.
fn check_garbage(program: &Program, name: &str, commits: &[Instant], per_import: Written) {
    let before = program.files();
    let two_hours_ago = SystemTime::now() - Duration::from_hours(2);
    for name in &before {
        let file = File::open(program.data().join(name)).expect("a file of ours");
        file.set_modified(two_hours_ago).expect("its time can be set");
    }
    program.run(&["compact"]).code(0);
    let after = program.files();
    let recent = commits.iter().filter(|moment| moment.elapsed() < GRACE + Duration::from_secs(1)).count();
    // The current generation, two kept ones, and those that were replaced within the last minute.
    let bound = FIXED_FILES + (recent + 3) * per_import.files;
    eprintln!("{name}: {} files before compact, {} after, bound {bound}", before.len(), after.len());
    assert!(after.len() <= bound, "{after:?}");
    assert!(!after.iter().any(|name| has_end(name, "tmp") || has_end(name, "bad")), "{after:?}");
    // How many commits fall into the last minute is the machine's: the bound counts them, as the one of files does.
    let (bytes, bound) = (bytes(program, &after), FIXED_BYTES + (recent as u64 + 3) * per_import.bytes);
    assert!(bytes <= bound, "{bytes} bytes, bound {bound}");
}

/// The most that one import has put into the directory.
#[derive(Clone, Copy)]
struct Written {
    files: usize,
    bytes: u64,
}

fn bytes(program: &Program, names: &[String]) -> u64 {
    names.iter().map(|name| fs::metadata(program.data().join(name)).map_or(0, |found| found.len())).sum()
}

fn has_end(name: &str, extension: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|found| found == extension)
}
