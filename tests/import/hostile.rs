//! Files that attack the reader: each gets an error of its own, soon, and the rest of the batch is imported.
#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use repertoire::intake::ImportReport;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{agent, check, write};

/// Longest time that a batch of these may take: a second each on a machine that does nothing else.
const PATIENCE: Duration = Duration::from_secs(10);

/// `path code` of every line and of every file passed over, sorted.
fn codes(report: &ImportReport) -> Vec<String> {
    let mut codes: Vec<String> = report
        .skills
        .iter()
        .map(|line| format!("{} {}", line.path, line.error.as_ref().map_or("fine", |error| &error.code)))
        .collect();
    codes.extend(report.passed_over.iter().map(|file| format!("{} ({})", file.path, file.problem.code)));
    codes.sort();
    codes
}

/// Checks a folder that holds one good skill beside what `make` puts there.
fn hostile(make: impl FnOnce(&Path), expected: &[&str]) {
    let folder = tempfile::tempdir().expect("folder");
    write(folder.path(), &[("good/SKILL.md", &agent("good", "Good."))]);
    make(folder.path());
    let start = Instant::now();
    let report = check(&[folder.path()]);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    let mut all: Vec<String> = expected.iter().map(ToString::to_string).collect();
    all.push("good/SKILL.md fine".to_owned());
    all.sort();
    assert_eq!(codes(&report), all);
}

#[test]
fn aliases_that_multiply_are_refused_within_their_budget() {
    let level =
        |level: usize| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", "));
    let levels = (1..12).map(level).collect::<Vec<_>>().concat();
    let bomb = format!(
        "---\nname: bomb\ndescription: Grows.\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n{levels}---\n"
    );
    hostile(|root| write(root, &[("bomb/SKILL.md", &bomb)]), &["bomb/SKILL.md yaml_budget_exceeded"]);
}

#[test]
fn ten_thousand_levels_are_refused_in_every_format() {
    const LEVELS: usize = 10_000;
    let lists = format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS));
    let objects = format!("{}1{}", "{\"steps\":".repeat(LEVELS), "}".repeat(LEVELS));
    let metadata = format!("{{\"id\":\"a\",\"metadata\":{objects}}}");
    let level = |level: usize| format!("{:level$}k:\n", "");
    let maps = (0..LEVELS).map(level).collect::<Vec<_>>().concat();
    let front = |value: &str| format!("---\nname: x\ndescription: {value}\n---\n");
    let nested = format!("---\nname: x\ndescription: d\nm:\n{maps}---\n");
    hostile(
        |root| {
            write(
                root,
                &[
                    ("flow/SKILL.md", &front(&lists)),
                    ("open/SKILL.md", &front(&"[".repeat(LEVELS))),
                    ("block/SKILL.md", &nested),
                    ("a.skill.json", &lists),
                    ("b.skill.json", &format!("[{metadata}]")),
                    ("c.skill.jsonl", &format!("{metadata}\n{lists}\n")),
                    ("d.json", &objects),
                ],
            );
        },
        &[
            "flow/SKILL.md yaml_budget_exceeded",
            "open/SKILL.md yaml_budget_exceeded",
            // A megabyte and more of indentation is too much before anything is read.
            "block/SKILL.md too_large",
            "a.skill.json json_invalid",
            "b.skill.json json_invalid",
            "c.skill.jsonl json_invalid",
            "c.skill.jsonl json_invalid",
            "d.json json_invalid",
        ],
    );
}

#[test]
fn a_gibibyte_of_nothing_is_not_read() {
    hostile(
        |root| {
            fs::create_dir(root.join("huge")).expect("folder");
            for name in ["huge/SKILL.md", "a.skill.json", "b.skill.jsonl", "c.json"] {
                File::create(root.join(name)).and_then(|file| file.set_len(1 << 30)).expect("a sparse file");
            }
            File::create(root.join("d.skill.json"))
                .and_then(|file| file.set_len((1 << 30) + 1))
                .expect("sparse");
        },
        &[
            "huge/SKILL.md too_large",
            "a.skill.json json_invalid",
            "b.skill.jsonl control_character",
            "c.json (too_large)",
            "d.skill.json too_large",
        ],
    );
}

#[test]
fn pipes_and_devices_are_never_waited_for() {
    let mode = Mode::RUSR | Mode::WUSR;
    hostile(
        |root| {
            for folder in ["pipe", "device"] {
                fs::create_dir(root.join(folder)).expect("folder");
            }
            for name in ["pipe/SKILL.md", "a.skill.json", "b.skill.jsonl", "c.json"] {
                mknodat(CWD, root.join(name), FileType::Fifo, mode, 0).expect("a pipe");
            }
            let device = root.join("device/SKILL.md");
            // Only some users may make a device; a link to one is what others can come across.
            let zero = rustix::fs::makedev(1, 5);
            if mknodat(CWD, &device, FileType::CharacterDevice, mode, zero).is_err() {
                mknodat(CWD, &device, FileType::Fifo, mode, 0).expect("a pipe");
            }
            symlink("/dev/zero", root.join("d.skill.json")).expect("a link");
        },
        &[
            "pipe/SKILL.md not_a_file",
            "device/SKILL.md not_a_file",
            "a.skill.json not_a_file",
            "b.skill.jsonl not_a_file",
            "c.json (not_a_file)",
            "d.skill.json symlink_outside_root",
        ],
    );
    let report = check(&[Path::new("/dev/zero"), Path::new("/dev/null")]);
    assert!(report.skills.iter().all(|line| line.error.is_some()) && report.skills.len() == 2);
}

#[test]
fn links_that_lead_nowhere_or_in_circles_are_told() {
    hostile(
        |root| {
            for folder in ["self", "gone"] {
                fs::create_dir(root.join(folder)).expect("folder");
            }
            symlink("SKILL.md", root.join("self/SKILL.md")).expect("link");
            symlink("nowhere", root.join("gone/SKILL.md")).expect("link");
            symlink("two", root.join("one")).expect("link");
            symlink("one", root.join("two")).expect("link");
            symlink("..", root.join("gone/up")).expect("link");
            symlink(".", root.join("here")).expect("link");
            symlink("nowhere", root.join("a.json")).expect("link");
        },
        &["self/SKILL.md unreadable", "gone/SKILL.md unreadable", "a.json (unreadable)"],
    );
}

#[test]
fn what_may_not_be_read_is_told() {
    let closed = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o0)).expect("permissions");
    let folder = tempfile::tempdir().expect("folder");
    write(
        folder.path(),
        &[
            ("good/SKILL.md", &agent("good", "Good.")),
            ("closed/SKILL.md", &agent("closed", "Closed.")),
            ("below/SKILL.md", &agent("below", "Below.")),
            ("a.json", "{}"),
        ],
    );
    closed(&folder.path().join("closed/SKILL.md"));
    closed(&folder.path().join("a.json"));
    closed(&folder.path().join("below"));
    // Who may read everything has nothing to be told.
    let may = File::open(folder.path().join("closed/SKILL.md")).is_ok();
    let report = check(&[folder.path()]);
    fs::set_permissions(folder.path().join("below"), Permissions::from_mode(0o700)).expect("permissions");
    let expected: &[&str] = if may {
        &["below/SKILL.md fine", "closed/SKILL.md fine", "good/SKILL.md fine"]
    } else {
        &["a.json (unreadable)", "below unreadable", "closed/SKILL.md unreadable", "good/SKILL.md fine"]
    };
    assert_eq!(codes(&report), expected);
}
